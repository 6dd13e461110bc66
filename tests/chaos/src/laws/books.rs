//! What the client has counted is what the host has done.

use std::collections::BTreeMap;

use crate::log::host::{How, Rest};
use crate::story::Story;

/// Kinds that the log cannot tell apart where two things happen at once: an operation that breaks
/// as its time is over.
const BROKEN: [&str; 3] = ["network", "timeout", "cancelled"];

/// What stormproof itself, or the caller, ends a call with.
pub const REFUSALS: [&str; 5] =
    ["circuit_open", "bulkhead_full", "queue_timeout", "deadline_exceeded", "cancelled"];

/// At rest after the load: calls, attempts, and how each of them ended.
pub fn the_books_agree_with_the_log(story: &Story) -> Vec<String> {
    let Some(rest) = story.rests().find(|rest| rest.stage == "after") else {
        return vec!["the client was not asked after the load".into()];
    };
    let mut wrong = Vec::new();
    let mut compare = |what: &str, log: u64, books: u64| {
        if log != books {
            wrong.push(format!("{what}: {log} in the log, {books} in the books"));
        }
    };
    compare("calls", story.calls.len() as u64, rest.calls);
    let unstarted = unstarted(story, rest);
    compare("attempts", story.tries().count() as u64 + unstarted, rest.attempts);
    let kinds = kinds(story);
    for kind in ["success", "server", "throttled", "client"] {
        compare(kind, count(&kinds, kind), count(&books(rest), kind));
    }
    let broken =
        |counts: &BTreeMap<_, _>| BROKEN.iter().map(|kind| count(counts, kind)).sum::<u64>();
    compare("attempts without an answer", broken(&kinds) + unstarted, broken(&books(rest)));
    for kind in ["business", "contract", "unclassified"] {
        compare(kind, 0, count(&books(rest), kind));
    }
    let ends =
        |kind: &str| story.calls.values().filter(|call| call.reason() == kind).count() as u64;
    let refused = REFUSALS.iter().map(|kind| ends(kind)).sum();
    compare("refused", refused, rest.refusals.values().sum());
    for kind in REFUSALS {
        let (log, books) = (ends(kind), count(&rest.refusals, kind));
        // Who gives up does not hear that it was refused in the line the moment before.
        let unheard = if kind == "cancelled" { books <= log } else { books >= log };
        if !(unheard && story.hears_late()) {
            compare(kind, log, books);
        }
    }
    wrong
}

/// Attempts that were handed to a caller that gave up before its operation began: no more than
/// there are such callers.
fn unstarted(story: &Story, rest: &Rest) -> u64 {
    let cancelled = story.calls.values().filter(|call| call.reason() == "cancelled").count() as u64;
    rest.attempts.saturating_sub(story.tries().count() as u64).min(cancelled)
}

fn kinds(story: &Story) -> BTreeMap<String, u64> {
    let mut kinds = BTreeMap::new();
    for (_, _, one) in story.tries() {
        let kind = match (one.how(), one.status().unwrap_or(0)) {
            (Some(How::Answer), ..400) => "success",
            (Some(How::Answer), 429) => "throttled",
            (Some(How::Answer), 500 | 503) => "server",
            (Some(How::Answer), _) => "client",
            _ => "network",
        };
        *kinds.entry(kind.to_owned()).or_default() += 1;
    }
    kinds
}

fn books(rest: &Rest) -> BTreeMap<String, u64> {
    let success = ("success".to_owned(), rest.successes);
    rest.failures.clone().into_iter().chain([success]).collect()
}

fn count(counts: &BTreeMap<String, u64>, kind: &str) -> u64 {
    counts.get(kind).copied().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::the_books_agree_with_the_log as law;
    use crate::story::told::*;

    fn log(books: &str) -> String {
        call(1.0, 7, "idempotent")
            + &attempt(1.0, 7, 1)
            + &ended(2.0, 7, 1, 503)
            + &attempt(3.0, 7, 2)
            + &ended(4.0, 7, 2, 0)
            + &end(5.0, 7, "circuit_open", 2)
            + &format!(r#"{{"e":"rest","stage":"after",{books}}}"#)
    }

    #[test]
    fn the_same_figures_are_right() {
        let books = r#""calls":1,"attempts":2,"failures":{"server":1,"timeout":1},"refusals":{"circuit_open":1}"#;
        assert!(law(&story(&log(books), vec![])).is_empty());
    }

    #[test]
    fn who_gives_up_may_have_been_refused() {
        let log = call(1.0, 7, "idempotent")
            + &end(5.0, 7, "cancelled", 0)
            + r#"{"e":"rest","stage":"after","calls":1,"refusals":{"circuit_open":1}}"#;
        assert!(law(&story_of("python", &log, vec![])).is_empty());
        assert_eq!(law(&story_of("node", &log, vec![])).len(), 2, "there nothing comes between");
    }

    #[test]
    fn other_figures_and_none_are_wrong() {
        for (books, faults) in [
            (
                r#""calls":2,"attempts":2,"failures":{"server":1,"network":1},"refusals":{"circuit_open":1}"#,
                1,
            ),
            (
                r#""calls":1,"attempts":3,"failures":{"server":1,"network":1},"refusals":{"circuit_open":1}"#,
                1,
            ),
            (
                r#""calls":1,"attempts":2,"failures":{"server":2,"network":1},"refusals":{"circuit_open":1}"#,
                1,
            ),
            (
                r#""calls":1,"attempts":2,"failures":{"server":1,"unclassified":1},"refusals":{"circuit_open":1}"#,
                2,
            ),
            (r#""calls":1,"attempts":2,"failures":{"server":1,"network":1},"refusals":{}"#, 2),
        ] {
            let wrong = law(&story(&log(books), vec![]));
            assert_eq!(wrong.len(), faults, "{books}: {wrong:?}");
        }
        assert_eq!(law(&story("", vec![])).len(), 1);
    }
}
