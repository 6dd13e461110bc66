//! No attempt begins at or after the deadline of its call.

use crate::log::host::Line;
use crate::story::{EPSILON, Story};

/// From the moment at which the client lets an attempt go until its operation begins, in ms: the
/// permit is handed to a task that has to be woken. In a host that is held up by the machine it is
/// a few turns of its loop, which a look at the client in every turn tells.
const HANDED_OVER: f64 = 1_000.0;
const TURNS: f64 = 3.0;

/// The limit of every attempt is within the deadline, and so is its start; one whose limit has
/// passed as it begins was let go before.
pub fn no_attempt_after_the_deadline(story: &Story) -> Vec<String> {
    let looks = looks(story);
    let mut wrong = Vec::new();
    for (id, call, one) in story.tries() {
        let deadline = call.deadline;
        let name = format!("attempt {id}.{}", one.n);
        match one.until {
            Some([until, _]) if until > deadline + EPSILON => {
                wrong
                    .push(format!("{name} may run until {until} ms, its call until {deadline} ms"));
            }
            None if one.t > deadline + held_up(&looks, deadline, one.t).max(HANDED_OVER) => {
                wrong.push(format!("{name} began at {} ms, its call ends at {deadline} ms", one.t));
            }
            _ => {}
        }
    }
    wrong
}

/// When the host looked at the client.
fn looks(story: &Story) -> Vec<f64> {
    let looks = story.lines.iter().filter_map(|line| match line {
        Line::State { t, .. } => Some(*t),
        _ => None,
    });
    looks.collect()
}

/// What a hand-over may take that begins before `from` and ends at `to`.
fn held_up(looks: &[f64], from: f64, to: f64) -> f64 {
    let pairs = looks.windows(2).filter(|pair| pair[1] >= from - HANDED_OVER && pair[0] <= to);
    TURNS * pairs.map(|pair| pair[1] - pair[0]).fold(0.0, f64::max)
}

#[cfg(test)]
mod tests {
    use super::no_attempt_after_the_deadline as law;
    use crate::story::told::*;

    #[test]
    fn within_is_right() {
        let log = call(1.0, 7, "unsafe") + &attempt(4_001.0, 7, 1);
        assert!(law(&story(&log, vec![])).is_empty());
    }

    #[test]
    fn beyond_is_wrong() {
        let log = call(1.0, 7, "unsafe") + &attempt(4_002.0, 7, 1);
        assert_eq!(law(&story(&log, vec![])).len(), 1);
        let late = r#"{"e":"try","t":6002,"call":7,"n":1,"until":null,"circuit":"closed"}"#;
        assert_eq!(law(&story(&(call(1.0, 7, "unsafe") + late), vec![])).len(), 1);
        let looks = [4_000.0, 5_000.0, 5_300.0, 6_010.0].map(|t| state(t, 0, "closed", "null"));
        let log = call(1.0, 7, "unsafe") + &looks[1..3].concat() + late + "\n";
        assert_eq!(law(&story(&log, vec![])).len(), 1, "its turns are short");
        let log = call(1.0, 7, "unsafe") + &looks.concat() + late;
        assert!(law(&story(&log, vec![])).is_empty(), "the host was held up");
    }
}
