//! A run that did nothing would break no law.

use crate::log::host::How;
use crate::story::Story;

/// So many calls were open at once, servers died, and calls were retried, cut and refused.
pub fn the_load_is_what_was_asked_for(story: &Story) -> Vec<String> {
    let mut wrong = Vec::new();
    let peak = peak(story);
    if peak < story.calls_wanted {
        wrong.push(format!("{peak} calls were open at once; wanted: {}", story.calls_wanted));
    }
    let some = |what: &str, number: usize, wrong: &mut Vec<String>| {
        if number == 0 {
            wrong.push(format!("there was no {what}"));
        }
    };
    // The first is that of the burst before the load.
    some("server that was killed under load", story.servers.saturating_sub(2), &mut wrong);
    let tries = |how| story.tries().filter(|(_, _, one)| one.how() == Some(how)).count();
    some("answer", tries(How::Answer), &mut wrong);
    some("broken connection", tries(How::Network), &mut wrong);
    some("attempt that was cut", tries(How::Cut), &mut wrong);
    some("retry", story.tries().filter(|(_, _, one)| one.n > 1).count(), &mut wrong);
    let ends = |reason: &str| story.calls.values().filter(|call| call.reason() == reason).count();
    some("call that was cancelled", ends("cancelled"), &mut wrong);
    if load_ms(story) >= EVERY_MOOD_MS {
        some("call that the circuit refused", ends("circuit_open"), &mut wrong);
    }
    some("call whose deadline passed", ends("deadline_exceeded"), &mut wrong);
    wrong
}

/// In so much time every mood of the servers has its turn, those without a listener included.
const EVERY_MOOD_MS: f64 = 55_000.0;

/// From the first call after the first rest to the last.
fn load_ms(story: &Story) -> f64 {
    let rested = story.rests().next().map_or(0.0, |rest| rest.t);
    let calls = story.calls.values().map(|call| call.t).filter(|t| *t > rested);
    let (first, last) =
        calls.fold((f64::INFINITY, 0.0), |(first, last), t| (t.min(first), t.max(last)));
    last - first
}

/// The most calls that were open at once.
pub fn peak(story: &Story) -> usize {
    let begins = story.calls.values().map(|call| (call.t, 1));
    let ends = story.calls.values().flat_map(|call| &call.ends).map(|end| (end.t, -1));
    let mut turns: Vec<(f64, i64)> = begins.chain(ends).collect();
    // Of two at the same instant the end first.
    turns.sort_by(|one, other| one.0.total_cmp(&other.0).then(one.1.cmp(&other.1)));
    let mut open = 0;
    let peak = turns.into_iter().map(|(_, turn)| {
        open += turn;
        open
    });
    peak.max().unwrap_or(0) as usize
}

#[cfg(test)]
mod tests {
    use super::{peak, the_load_is_what_was_asked_for as law};
    use crate::story::told::*;

    fn log() -> String {
        let cancel = r#"{"e":"cancel","t":5,"call":2}"#;
        call(1.0, 1, "unsafe")
            + &attempt(1.0, 1, 1)
            + &ended(2.0, 1, 1, 0)
            + &attempt(3.0, 1, 2)
            + &ended(4.0, 1, 2, 200)
            + &call(3.5, 2, "unsafe")
            + &attempt(4.0, 2, 1)
            + &end(4.0, 1, "success", 2)
            + cancel
            + "\n"
            + &stopped(5.0, 2, 1)
            + &end(5.0, 2, "cancelled", 1)
            + &call(6.0, 3, "keyed")
            + &end(6.0, 3, "circuit_open", 0)
            + &call(6.0, 4, "keyed")
            + &end(6.0, 4, "deadline_exceeded", 0)
    }

    #[test]
    fn a_bit_of_everything_is_right() {
        let mut story = story(&log(), vec![]);
        (story.servers, story.calls_wanted) = (3, 2);
        assert_eq!(peak(&story), 2);
        assert!(law(&story).is_empty());
    }

    #[test]
    fn a_quiet_run_is_wrong() {
        let mut story = story(&log(), vec![]);
        (story.servers, story.calls_wanted) = (2, 3);
        assert_eq!(law(&story).len(), 2);
        assert_eq!(law(&crate::story::told::story("", vec![])).len(), 7);
        let minute = r#"{"e":"rest","t":0,"stage":"before"}"#.to_owned()
            + "\n"
            + &call(1.0, 1, "keyed")
            + &call(59_000.0, 2, "keyed");
        assert_eq!(law(&crate::story::told::story(&minute, vec![])).len(), 8);
    }
}
