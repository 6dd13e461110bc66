//! Each call ends in exactly one of `call_succeeded`, `call_failed` and `refused`.

use std::collections::BTreeMap;

use crate::log::host::Told;
use crate::story::Story;

const ENDINGS: [&str; 3] = ["call_succeeded", "call_failed", "refused"];

/// As many endings of each reason as calls that ended so, one each where the host knows the call;
/// as many attempts that started and failed as there were.
pub fn every_stream_has_one_ending(story: &Story) -> Vec<String> {
    if !story.has_events() {
        return Vec::new();
    }
    let mut wrong = twice(story);
    let ends = story.calls.values().flat_map(|call| &call.ends);
    let calls = count(ends.map(|end| end.reason.as_str()));
    let told = count(story.told().filter(|told| is_ending(told)).map(|told| reason(story, told)));
    compare("calls ended in", &calls, &told, &mut wrong);
    let failed = story.tries().filter(|(_, call, one)| {
        let is_last = call.tries.last().is_some_and(|last| last.n == one.n);
        !(call.cancelled(one) || is_last && call.reason() == "success")
    });
    let attempts = BTreeMap::from([
        ("attempt_started", story.tries().count()),
        ("attempt_failed", failed.count()),
    ]);
    let names = story.told().map(|told| told.name.as_str());
    let told = count(names.filter(|name| attempts.contains_key(name)));
    compare("attempts are told as", &attempts, &told, &mut wrong);
    wrong
}

fn is_ending(told: &Told) -> bool {
    ENDINGS.contains(&told.name.as_str())
}

/// Why the call ended, as its caller is to see it: who gives up does not hear that it was refused
/// the moment before.
fn reason<'a>(story: &Story, told: &'a Told) -> &'a str {
    let call = told.call.and_then(|call| story.calls.get(&call));
    match told.reason.as_deref() {
        Some(_)
            if told.name == "refused" && call.is_some_and(|call| call.reason() == "cancelled") =>
        {
            "cancelled"
        }
        reason => reason.unwrap_or("no reason"),
    }
}

/// Calls with two endings, attempts that failed twice.
fn twice(story: &Story) -> Vec<String> {
    let mut heard: BTreeMap<(u64, Option<u32>), u32> = BTreeMap::new();
    for told in story.told() {
        let n = match told.name.as_str() {
            "attempt_failed" => told.n,
            _ if is_ending(told) => None,
            _ => continue,
        };
        if let Some(call) = told.call {
            *heard.entry((call, n)).or_default() += 1;
        }
    }
    let twice = heard.into_iter().filter(|(_, times)| *times > 1);
    twice
        .map(|((call, n), times)| format!("call {call}, attempt {n:?}: ended {times} times"))
        .collect()
}

fn count<'a>(words: impl Iterator<Item = &'a str>) -> BTreeMap<&'a str, usize> {
    let mut counts = BTreeMap::new();
    for word in words {
        *counts.entry(word).or_default() += 1;
    }
    counts
}

fn compare(
    what: &str,
    log: &BTreeMap<&str, usize>,
    told: &BTreeMap<&str, usize>,
    wrong: &mut Vec<String>,
) {
    let names: std::collections::BTreeSet<_> = log.keys().chain(told.keys()).collect();
    for name in names {
        let (log, told) = (log.get(*name).unwrap_or(&0), told.get(*name).unwrap_or(&0));
        if log != told {
            wrong.push(format!("{log} {what} {name}, the events say {told}"));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::every_stream_has_one_ending as law;
    use crate::story::told::*;

    fn event(name: &str, more: &str) -> String {
        format!(r#"{{"e":"event","t":3,"name":"{name}"{more}}}"#) + "\n"
    }

    fn log() -> String {
        call(1.0, 7, "idempotent")
            + &attempt(1.0, 7, 1)
            + &event("attempt_started", "")
            + &ended(2.0, 7, 1, 503)
            + &event("attempt_failed", r#","call":7,"n":1"#)
            + &end(3.0, 7, "budget_exhausted", 1)
    }

    #[test]
    fn one_ending_is_right_and_who_tells_nothing_is_not_asked() {
        let told = log() + &event("call_failed", r#","call":7,"reason":"budget_exhausted""#);
        assert!(law(&story(&told, vec![])).is_empty());
        assert!(law(&story_of("rust", &log(), vec![])).is_empty());
        let cancelled = call(1.0, 7, "idempotent")
            + &attempt(1.0, 7, 1)
            + &event("attempt_started", "")
            + r#"{"e":"cancel","t":2,"call":7}"#
            + "\n"
            + &stopped(2.5, 7, 1)
            + &end(3.0, 7, "cancelled", 1)
            + &event("refused", r#","reason":"cancelled""#);
        assert!(law(&story(&cancelled, vec![])).is_empty());
    }

    #[test]
    fn no_ending_two_and_another_one_are_wrong() {
        let failed = event("call_failed", r#","call":7,"reason":"budget_exhausted""#);
        assert_eq!(law(&story(&log(), vec![])).len(), 1);
        let twice = format!("{}{failed}{failed}", log());
        assert_eq!(law(&story(&twice, vec![])).len(), 2);
        let other = log() + &event("refused", r#","call":7,"reason":"cancelled""#);
        assert_eq!(law(&story(&other, vec![])).len(), 2);
    }

    #[test]
    fn an_attempt_that_fails_twice_is_wrong() {
        let failed = event("call_failed", r#","call":7,"reason":"budget_exhausted""#);
        let twice = log() + &event("attempt_failed", r#","call":7,"n":1"#) + &failed;
        assert_eq!(law(&story(&twice, vec![])).len(), 2);
    }
}
