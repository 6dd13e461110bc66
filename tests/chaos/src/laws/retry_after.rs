//! A server that asks for time gets it.

use crate::log::host::How;
use crate::story::{EPSILON, Story};

/// The next attempt of a call begins no earlier than its answer asks for. What it asks for is what
/// the server says that it sent; the distance is one of the host's own clock.
pub fn no_retry_after_is_answered_early(story: &Story) -> Vec<String> {
    let mut wrong = Vec::new();
    for (id, asked, waited) in waits(story) {
        if waited < asked - EPSILON {
            wrong.push(format!("call {id} waited {waited} ms where {asked} ms were asked for"));
        }
    }
    wrong
}

/// How many retries came after a Retry-After.
pub fn retry_afters(story: &Story) -> usize {
    waits(story).count()
}

/// Of each retry that follows one: the call, what was asked for, and what it waited.
fn waits(story: &Story) -> impl Iterator<Item = (u64, f64, f64)> {
    let pairs =
        story.calls.iter().flat_map(|(id, call)| call.tries.windows(2).map(move |pair| (id, pair)));
    pairs.filter_map(|(id, pair)| {
        let ended = pair[0].ends.first().filter(|ended| ended.how == How::Answer)?;
        let asked = story.seen(*id, pair[0].n)?.reply.as_ref()?.retry_after_ms?;
        Some((*id, asked, pair[1].t - ended.t))
    })
}

#[cfg(test)]
mod tests {
    use super::no_retry_after_is_answered_early as law;
    use crate::log::server::{Reply, Seen};
    use crate::story::told::*;

    fn log(again: f64) -> String {
        call(1.0, 7, "unsafe")
            + &attempt(1.0, 7, 1)
            + &ended(10.0, 7, 1, 429)
            + &attempt(again, 7, 2)
    }

    fn busy() -> Seen {
        let reply = Reply {
            status: Some(429),
            whole: true,
            retry_after_ms: Some(1_000.0),
            ..Reply::default()
        };
        Seen { reply: Some(reply), ..request(7, 1, 429) }
    }

    #[test]
    fn in_time_is_right() {
        assert!(law(&story(&log(1_010.0), vec![busy()])).is_empty());
        assert!(law(&story(&log(20.0), vec![request(7, 1, 429)])).is_empty());
    }

    #[test]
    fn early_is_wrong() {
        assert_eq!(law(&story(&log(1_009.0), vec![busy()])).len(), 1);
    }
}
