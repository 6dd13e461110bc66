//! The call table: slots that are used again, ids that are not.

use alloc::vec::Vec;

use crate::step::CallId;

/// A slot is retired when fewer generations than this are left, so that no single call can use
/// them up.
const RESERVE: u32 = 1 << 24;
const NOBODY: u32 = u32::MAX;

#[derive(Clone, Debug)]
struct Slot<T> {
    generation: u32,
    entry: Content<T>,
}

#[derive(Clone, Debug)]
enum Content<T> {
    Free { next: u32 },
    Retired,
    Used(T),
}

/// Entries named by a slot and a generation. O(1), and no allocation once it has grown.
#[derive(Clone, Debug)]
pub(crate) struct Slots<T> {
    slots: Vec<Slot<T>>,
    free: u32,
    used: u32,
    limit: u32,
}

impl<T> Slots<T> {
    pub fn new(limit: u32) -> Self {
        Self { slots: Vec::new(), free: NOBODY, used: 0, limit }
    }

    /// The new entry's id; `None` when the table is full.
    #[inline]
    pub fn insert(&mut self, value: T) -> Option<CallId> {
        if self.used >= self.limit {
            return None;
        }
        let place = self.free;
        let Some(slot) = self.slots.get_mut(place as usize) else { return self.grow(value) };
        if let Content::Free { next } = slot.entry {
            self.free = next;
        }
        slot.generation += 1;
        slot.entry = Content::Used(value);
        self.used += 1;
        Some(CallId::new(place, slot.generation))
    }

    #[cold]
    fn grow(&mut self, value: T) -> Option<CallId> {
        let place = self.slots.len() as u32;
        if place >= 1 << CallId::SLOT_BITS {
            return None;
        }
        self.slots.push(Slot { generation: 1, entry: Content::Used(value) });
        self.used += 1;
        Some(CallId::new(place, 1))
    }

    #[inline]
    pub fn get(&self, id: CallId) -> Option<&T> {
        let slot = self.slots.get(id.slot() as usize)?;
        match &slot.entry {
            Content::Used(value) if u64::from(slot.generation) == id.generation() => Some(value),
            _ => None,
        }
    }

    #[inline]
    pub fn get_mut(&mut self, id: CallId) -> Option<&mut T> {
        let slot = self.slots.get_mut(id.slot() as usize)?;
        match &mut slot.entry {
            Content::Used(value) if u64::from(slot.generation) == id.generation() => Some(value),
            _ => None,
        }
    }

    /// The id of the entry that stands in this slot now.
    #[inline]
    pub fn id_at(&self, place: u32) -> CallId {
        CallId::new(place, self.slots[place as usize].generation)
    }

    /// A new id for the same entry; the old one names nothing from now on.
    #[inline]
    pub fn renew(&mut self, id: CallId) -> CallId {
        let slot = &mut self.slots[id.slot() as usize];
        slot.generation = slot.generation.saturating_add(1);
        CallId::new(id.slot(), slot.generation)
    }

    #[inline]
    pub fn remove(&mut self, id: CallId) {
        let slot = &mut self.slots[id.slot() as usize];
        self.used -= 1;
        if slot.generation > u32::MAX - RESERVE {
            slot.entry = Content::Retired;
        } else {
            slot.entry = Content::Free { next: self.free };
            self.free = id.slot();
        }
    }

    /// What stands in each used slot.
    #[cfg(feature = "proof")]
    pub fn iter(&self) -> impl Iterator<Item = (u32, &T)> {
        self.slots.iter().enumerate().filter_map(|(place, slot)| match &slot.entry {
            Content::Used(value) => Some((place as u32, value)),
            _ => None,
        })
    }

    pub fn iter_mut(&mut self) -> impl Iterator<Item = &mut T> {
        self.slots.iter_mut().filter_map(|slot| match &mut slot.entry {
            Content::Used(value) => Some(value),
            _ => None,
        })
    }
}

#[cfg(test)]
mod tests {
    use alloc::vec;

    use super::*;

    #[test]
    fn ids_are_never_used_again() {
        let mut slots = Slots::new(2);
        let first = slots.insert('a').unwrap();
        let second = slots.insert('b').unwrap();
        assert_eq!(slots.insert('c'), None);
        let renewed = slots.renew(first);
        assert_eq!((slots.get(first), slots.get(renewed)), (None, Some(&'a')));
        slots.remove(renewed);
        let third = slots.insert('c').unwrap();
        assert!(![first, second, renewed].contains(&third));
        assert_eq!(slots.get(CallId::NONE), None);
        assert_eq!(slots.get(CallId::from_bits(u64::MAX)), None);
        assert_eq!(slots.get_mut(renewed), None);
        assert_eq!(slots.get_mut(third), Some(&mut 'c'));
        slots.remove(third);
        assert_eq!(slots.get_mut(third), None);
    }

    #[test]
    fn a_slot_is_retired_before_its_generations_run_out() {
        let mut slots = Slots::new(1);
        let id = slots.insert('a').unwrap();
        slots.slots[0].generation = u32::MAX - (1 << 24) - 1;
        slots.remove(CallId::new(id.slot(), slots.slots[0].generation));
        let last = slots.insert('b').unwrap();
        assert_eq!((last.slot(), last.generation()), (0, u64::from(u32::MAX) - (1 << 24)));
        slots.remove(last);
        let again = slots.insert('c').unwrap();
        assert_eq!(again.slot(), 0, "as many generations are left as a call may use");
        slots.remove(again);
        assert_eq!(slots.insert('d').unwrap().slot(), 1);
    }

    #[test]
    #[cfg_attr(miri, ignore = "a million slots take an hour")]
    fn the_table_ends_with_the_slots_that_an_id_can_name() {
        let mut slots = Slots::new(u32::MAX);
        let all = 1 << CallId::SLOT_BITS;
        slots.slots = vec![Slot { generation: 1, entry: Content::Used(()) }; all - 1];
        assert_eq!(slots.insert(()).map(CallId::slot), Some(all as u32 - 1));
        assert_eq!(slots.insert(()), None);
    }
}
