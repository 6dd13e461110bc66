//! Retries are paid for.
//!
//! The host cannot see when a token is taken and when one comes back, but between which two of its
//! lines. In every window of the log, the retries that were certainly paid for in it are no more
//! than the bucket can hold and what may have come in.

use std::collections::HashMap;

use super::books::REFUSALS;
use crate::log::host::{How, Line};
use crate::story::{Call, Story, Try};

/// For the sums of thousands of figures, in tokens.
const ROUNDING: f64 = 1e-6;

/// What a line may change.
#[derive(Clone, Copy, Default)]
struct Change {
    /// Tokens that may have been taken at this line or after it.
    taken_from: f64,
    /// Tokens that have been taken by now.
    taken_by: f64,
    /// Tokens that may have come in from here on.
    given_from: f64,
    /// Tokens that have come in by now.
    given_by: f64,
}

/// Retries sent ≤ capacity + refunds of successes + refill by time + tokens given back, in any
/// window.
pub fn retries_stay_within_the_budget(story: &Story) -> Vec<String> {
    let budget = &story.policy.budget;
    let changes = changes(story);
    let mut sum = Change::default();
    let mut t = story.lines.first().map_or(0.0, time);
    // The least that the window may have begun with, over all windows.
    let mut least = (-budget.refill_per_second * t / 1e3, t);
    for (line, change) in story.lines.iter().zip(changes) {
        t = t.max(time(line));
        let time = budget.refill_per_second * t / 1e3;
        sum.taken_from += change.taken_from;
        sum.taken_by += change.taken_by;
        sum.given_from += change.given_from;
        sum.given_by += change.given_by;
        let spent = sum.taken_by - sum.given_from - time - least.0;
        if spent > budget.capacity + ROUNDING {
            let (from, held) = (least.1, budget.capacity);
            return vec![format!("from {from} to {t} ms {spent:.1} tokens were spent of {held}")];
        }
        let begun = sum.taken_from - sum.given_by - time;
        if begun < least.0 {
            least = (begun, t);
        }
    }
    Vec::new()
}

fn changes(story: &Story) -> Vec<Change> {
    let times: Vec<f64> = story.lines.iter().map(time).collect();
    let mut changes = vec![Change::default(); story.lines.len()];
    let unsent = scheduled(story);
    for (id, call) in &story.calls {
        for pair in call.tries.windows(2) {
            changes[earliest(&pair[0], &times)].taken_from += 1.0;
            changes[pair[1].at].taken_by += 1.0;
        }
        if let (Some(one), Some(end)) = (call.tries.last(), call.ends.first()) {
            let from = earliest(one, &times);
            let tokens = comes_back(story, call, one);
            changes[from].given_from += tokens;
            changes[end.at].given_by += tokens;
            if let Some(at) = unsent.get(&(*id, one.n + 1)) {
                changes[from].taken_from += 1.0;
                changes[*at].taken_by += 1.0;
            }
        }
    }
    changes
}

/// The first line at which the client may have heard of the end of this attempt.
fn earliest(one: &Try, times: &[f64]) -> usize {
    match (one.ends.first(), one.until) {
        // The client cuts first, and then the operation ends.
        (Some(ended), Some([limit, _])) if ended.how == How::Cut => {
            let place = times[one.at..ended.at].partition_point(|t| *t < limit);
            one.at + place
        }
        (Some(ended), _) if ended.how != How::Cut => ended.at,
        _ => one.at,
    }
}

/// Where the client told of a retry, by its call and its number, in hosts that know of which call.
fn scheduled(story: &Story) -> HashMap<(u64, u32), usize> {
    let told = story.lines.iter().enumerate().filter_map(|(at, line)| match line {
        Line::Event(told) if told.name == "retry_scheduled" => Some(((told.call?, told.n?), at)),
        _ => None,
    });
    told.collect()
}

/// What the end of a call brings: a success its share, every sign of life the token of the retry,
/// and a refusal the token of a retry that was not sent, if there was one.
fn comes_back(story: &Story, call: &Call, one: &Try) -> f64 {
    let token = if one.n > 1 { 1.0 } else { 0.0 };
    match call.reason() {
        "success" => story.policy.budget.refill_per_success + token,
        "permanent" => token,
        reason if REFUSALS.contains(&reason) => 1.0,
        _ => 0.0,
    }
}

fn time(line: &Line) -> f64 {
    match line {
        Line::Start { t, .. }
        | Line::Call { t, .. }
        | Line::Cancel { t, .. }
        | Line::Try { t, .. }
        | Line::Ended { t, .. }
        | Line::Cut { t, .. }
        | Line::End { t, .. }
        | Line::State { t, .. } => *t,
        Line::Event(told) => told.t,
        Line::Rest(rest) => rest.t,
    }
}

#[cfg(test)]
mod tests {
    use super::retries_stay_within_the_budget as law;
    use crate::story::told::*;

    /// A call whose first attempt fails at `t` and whose second ends with this status.
    fn retried(t: f64, id: u64, status: u16) -> String {
        let (reason, last) = match status {
            200 => ("success", 200),
            status => ("attempts_exhausted", status),
        };
        call(t, id, "idempotent")
            + &attempt(t, id, 1)
            + &ended(t, id, 1, 503)
            + &attempt(t, id, 2)
            + &ended(t, id, 2, last)
            + &end(t, id, reason, 2)
    }

    #[test]
    fn what_the_bucket_holds_and_what_comes_in_is_right() {
        let two = retried(1.0, 1, 503) + &retried(2.0, 2, 503);
        assert!(law(&story(&two, vec![])).is_empty());
        let later = two.clone() + &retried(1_002.0, 3, 503);
        assert!(law(&story(&later, vec![])).is_empty(), "a second brings a token");
        let healthy: String = (1..=20).map(|id| retried(1.0, id, 200)).collect();
        assert!(law(&story(&healthy, vec![])).is_empty(), "signs of life give tokens back");
    }

    #[test]
    fn a_retry_that_is_not_sent_gives_its_token_to_another() {
        // Its token was taken long before, and the bucket has been filled since.
        let waits = call(1.0, 1, "keyed") + &attempt(1.0, 1, 1) + &ended(1.0, 1, 1, 503);
        let two: String = (2..=3).map(|id| retried(4_000.0, id, 503)).collect();
        let gone = end(4_000.0, 1, "circuit_open", 1);
        let third = retried(4_000.0, 4, 503);
        assert!(law(&story(&format!("{waits}{two}{gone}{third}"), vec![])).is_empty());
        let told = r#"{"e":"event","t":4000,"name":"retry_scheduled","call":1,"n":2}"#;
        let waits = format!("{waits}{told}\n");
        let late = waits.replace("\"t\":1,", "\"t\":4000,");
        let all = format!("{late}{two}{gone}{third}");
        assert_eq!(law(&story(&all, vec![])).len(), 1, "it was taken in the same window");
    }

    #[test]
    fn more_is_wrong() {
        let three: String = (1..=3).map(|id| retried(1.0, id, 503)).collect();
        assert_eq!(law(&story(&three, vec![])).len(), 1);
    }

    #[test]
    fn what_came_in_before_is_lost_where_the_bucket_is_full() {
        let first: String = (1..=9)
            .map(|id| {
                call(1.0, id, "keyed")
                    + &attempt(1.0, id, 1)
                    + &ended(1.0, id, 1, 200)
                    + &end(1.0, id, "success", 1)
            })
            .collect();
        let three: String = (11..=13).map(|id| retried(1.0, id, 503)).collect();
        assert_eq!(law(&story(&(first + &three), vec![])).len(), 1);
    }
}
