//! A server that asks for time gets it.

use std::collections::HashMap;

use crate::log::host::How;
use crate::story::{Call, EPSILON, Story, Try};

/// The next attempt of a call begins no earlier than its answer asks for, and is planned so: a line of
/// thousands before the bulkhead hides a wait that is too short. What an answer asks for is what the
/// server says that it sent; distances are those of the host's own clock.
pub fn no_retry_after_is_answered_early(story: &Story) -> Vec<String> {
    let plans = plans(story);
    let mut wrong = Vec::new();
    for (id, call, one) in story.tries() {
        let Some((asked, since)) = asked(story, id, one) else { continue };
        let next = call.tries.iter().find(|next| next.n == one.n + 1).map(|next| next.t);
        let plan = plans.get(&(id, one.n + 1)).copied();
        for (what, at) in [("went on", next), ("was to go on", plan)] {
            if let Some(after) = at.map(|at| at - since).filter(|after| *after < asked - EPSILON) {
                wrong.push(format!("call {id} {what} after {after} ms, asked were {asked} ms"));
            }
        }
    }
    wrong
}

/// How many retries came after a Retry-After.
pub fn retry_afters(story: &Story) -> usize {
    let before = |call: &Call, one: &Try| call.tries.iter().any(|next| next.n == one.n + 1);
    let tries = story
        .tries()
        .filter(|(id, call, one)| before(call, one) && asked(story, *id, one).is_some());
    tries.count()
}

/// The wait that the answer to an attempt asks for, and from when on.
fn asked(story: &Story, call: u64, one: &Try) -> Option<(f64, f64)> {
    let ended = one.ends.first().filter(|ended| ended.how == How::Answer)?;
    let asked = story.seen(call, one.n)?.reply.as_ref()?.retry_after_ms?;
    Some((asked, ended.t))
}

/// For when each retry was planned at first: the circuit may move it further.
fn plans(story: &Story) -> HashMap<(u64, u32), f64> {
    let mut plans = HashMap::new();
    for told in story.told().filter(|told| told.name == "retry_scheduled") {
        if let (Some(call), Some(n), Some(wait)) = (told.call, told.n, told.wait) {
            plans.entry((call, n)).or_insert(told.t + wait);
        }
    }
    plans
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
        let plan = |wait: f64| {
            format!(
                r#"{{"e":"event","t":11,"name":"retry_scheduled","call":7,"n":2,"wait":{wait}}}"#
            )
        };
        assert_eq!(law(&story(&(log(9_000.0) + &plan(998.0)), vec![busy()])).len(), 1);
        assert!(law(&story(&(log(9_000.0) + &plan(999.0)), vec![busy()])).is_empty());
    }
}
