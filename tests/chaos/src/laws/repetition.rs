//! An unsafe request is sent again only where it certainly had no effect.

use crate::log::host::{How, Safety};
use crate::story::{Story, Try};

/// Before a further attempt of an unsafe call, no server saw the one before, or it refused to act.
pub fn nothing_acts_twice(story: &Story) -> Vec<String> {
    let calls = story.calls.iter().filter(|(_, call)| call.safety == Safety::Unsafe);
    let pairs = calls.flat_map(|(id, call)| call.tries.windows(2).map(move |pair| (*id, &pair[0])));
    let wrong = pairs.filter(|(id, before)| may_have_acted(story, *id, before));
    wrong.map(|(id, before)| format!("call {id} went on after attempt {}", before.n)).collect()
}

fn may_have_acted(story: &Story, id: u64, one: &Try) -> bool {
    let Some(seen) = story.seen(id, one.n) else { return false };
    let asks_to_wait = seen.reply.as_ref().is_some_and(|reply| reply.retry_after_ms.is_some());
    let refused = match one.status() {
        Some(429) => true,
        Some(503) => asks_to_wait,
        _ => false,
    };
    !(one.how() == Some(How::Answer) && refused)
}

#[cfg(test)]
mod tests {
    use super::nothing_acts_twice as law;
    use crate::story::told::*;

    fn log(safety: &str, status: u16) -> String {
        call(1.0, 7, safety) + &attempt(1.0, 7, 1) + &ended(2.0, 7, 1, status) + &attempt(3.0, 7, 2)
    }

    #[test]
    fn unseen_and_refused_are_right() {
        assert!(law(&story(&log("unsafe", 0), vec![])).is_empty());
        assert!(law(&story(&log("unsafe", 429), vec![request(7, 1, 429)])).is_empty());
        assert!(law(&story(&log("keyed", 0), vec![request(7, 1, 0)])).is_empty());
    }

    #[test]
    fn seen_is_wrong() {
        assert_eq!(law(&story(&log("unsafe", 0), vec![request(7, 1, 0)])).len(), 1);
        assert_eq!(law(&story(&log("unsafe", 503), vec![request(7, 1, 503)])).len(), 1);
    }
}
