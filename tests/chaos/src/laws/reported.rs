//! What a server saw is an attempt of the host, and each attempt is sent and reported once.

use std::collections::HashSet;

use crate::story::Story;

/// How much earlier a request may seem to arrive than its attempt begins, in ms: the two sides read
/// the same clock, which somebody may set in between.
const TOLERANCE: f64 = 100.0;

/// Attempts are numbered from 1, each has one end, and the servers saw none twice and no other.
pub fn every_attempt_is_reported_once(story: &Story) -> Vec<String> {
    let mut wrong = Vec::new();
    for (id, call) in &story.calls {
        let numbers = call.tries.iter().map(|one| one.n);
        if !numbers.eq(1..=call.tries.len() as u32) {
            wrong.push(format!("call {id}: its attempts are not numbered 1, 2, 3"));
        }
    }
    for (id, _, one) in story.tries().filter(|(_, _, one)| one.ends.len() != 1) {
        wrong.push(format!("attempt {id}.{} was reported {} times", one.n, one.ends.len()));
    }
    let mut requests = HashSet::new();
    for seen in &story.seen {
        let (id, n) = (seen.call, seen.n);
        if !requests.insert((id, n)) {
            wrong.push(format!("attempt {id}.{n} was sent twice"));
        }
        let tries = story.calls.get(&id).map_or(&[][..], |call| &call.tries);
        match tries.iter().find(|one| one.n == n) {
            None => wrong.push(format!("attempt {id}.{n} was sent and never begun")),
            Some(one) if seen.wall_ms < story.wall_ms(one.t) - TOLERANCE => {
                wrong.push(format!("attempt {id}.{n} was sent before it began"));
            }
            Some(_) => {}
        }
    }
    wrong
}

#[cfg(test)]
mod tests {
    use super::every_attempt_is_reported_once as law;
    use crate::log::server::Seen;
    use crate::story::told::*;

    fn log() -> String {
        call(1.0, 7, "unsafe") + &attempt(1.0, 7, 1) + &ended(2.0, 7, 1, 503)
    }

    #[test]
    fn an_attempt_that_was_seen_and_one_that_was_not_are_right() {
        assert!(law(&story(&log(), vec![request(7, 1, 503)])).is_empty());
        assert!(law(&story(&log(), vec![])).is_empty());
    }

    #[test]
    fn reports_and_requests_too_many_and_too_few_are_wrong() {
        let twice = log() + &ended(3.0, 7, 1, 503);
        assert_eq!(law(&story(&twice, vec![])), ["attempt 7.1 was reported 2 times"]);
        let never = call(1.0, 7, "unsafe") + &attempt(1.0, 7, 1);
        assert_eq!(law(&story(&never, vec![])), ["attempt 7.1 was reported 0 times"]);
        let sent = vec![request(7, 1, 503), request(7, 1, 503)];
        assert_eq!(law(&story(&log(), sent)), ["attempt 7.1 was sent twice"]);
        let sent = vec![request(7, 2, 503)];
        assert_eq!(law(&story(&log(), sent)), ["attempt 7.2 was sent and never begun"]);
        let early = Seen { wall_ms: 1e6 - 200.0, ..request(7, 1, 503) };
        assert_eq!(law(&story(&log(), vec![early])), ["attempt 7.1 was sent before it began"]);
        let second = call(1.0, 7, "unsafe") + &attempt(1.0, 7, 2) + &ended(2.0, 7, 2, 503);
        assert_eq!(law(&story(&second, vec![])).len(), 1);
    }
}
