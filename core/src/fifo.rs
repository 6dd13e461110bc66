//! A first-in, first-out line of small keys that anybody can leave at once.

use alloc::vec::Vec;

const NOBODY: u32 = u32::MAX;

#[derive(Clone, Copy, Debug)]
struct Links {
    before: u32,
    behind: u32,
}

/// A doubly linked line over keys: joining, leaving and handing over are O(1). A key stands in
/// the line at most once.
#[derive(Clone, Debug)]
pub(crate) struct Fifo {
    links: Vec<Links>,
    first: u32,
    last: u32,
    len: u32,
}

impl Default for Fifo {
    fn default() -> Self {
        Self { links: Vec::new(), first: NOBODY, last: NOBODY, len: 0 }
    }
}

impl Fifo {
    pub fn len(&self) -> u32 {
        self.len
    }

    #[inline]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    #[inline]
    pub fn first(&self) -> Option<u32> {
        (self.first != NOBODY).then_some(self.first)
    }

    pub fn iter(&self) -> impl Iterator<Item = u32> {
        core::iter::successors(self.first(), |key| {
            let behind = self.links[*key as usize].behind;
            (behind != NOBODY).then_some(behind)
        })
    }

    pub fn contains(&self, key: u32) -> bool {
        let linked = |links: &Links| links.before != NOBODY || links.behind != NOBODY;
        self.first == key || self.links.get(key as usize).is_some_and(linked)
    }

    pub fn join(&mut self, key: u32) {
        let place = key as usize;
        if place >= self.links.len() {
            self.links.resize(place + 1, Links { before: NOBODY, behind: NOBODY });
        }
        self.links[place] = Links { before: self.last, behind: NOBODY };
        match self.last {
            NOBODY => self.first = key,
            last => self.links[last as usize].behind = key,
        }
        self.last = key;
        self.len += 1;
    }

    /// Says whether the key stood in the line.
    pub fn leave(&mut self, key: u32) -> bool {
        if !self.contains(key) {
            return false;
        }
        let unlinked = Links { before: NOBODY, behind: NOBODY };
        let links = core::mem::replace(&mut self.links[key as usize], unlinked);
        match links.before {
            NOBODY => self.first = links.behind,
            before => self.links[before as usize].behind = links.behind,
        }
        match links.behind {
            NOBODY => self.last = links.before,
            behind => self.links[behind as usize].before = links.before,
        }
        self.len -= 1;
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn order_survives_leaving() {
        let mut line = Fifo::default();
        for key in [4, 0, 2, 9] {
            line.join(key);
        }
        assert_eq!([0, 0, 7].map(|key| line.leave(key)), [true, false, false]);
        assert!(line.leave(9));
        line.join(0);
        assert_eq!(line.iter().collect::<Vec<_>>(), [4, 2, 0]);
        assert_eq!((line.len(), line.first()), (3, Some(4)));
    }
}
