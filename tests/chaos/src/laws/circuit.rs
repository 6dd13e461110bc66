//! An open circuit lets nobody go.

use crate::log::host::Line;
use crate::story::{EPSILON, Story};

/// No attempt was admitted between an instant at which the circuit was seen open and the one until
/// which it was to stay so.
pub fn nothing_is_sent_while_open(story: &Story) -> Vec<String> {
    let spells = spells(story);
    let mut wrong = Vec::new();
    for (id, call, one) in story.tries() {
        let Some([early, late]) = one.admitted(call, &story.policy) else { continue };
        let after = spells.partition_point(|(from, _)| *from < early);
        let Some((from, until)) = after.checked_sub(1).map(|place| spells[place]) else { continue };
        if late < until - EPSILON {
            let name = format!("attempt {id}.{}", one.n);
            wrong.push(format!("{name} was admitted at {late} ms: open from {from} to {until} ms"));
        }
    }
    wrong
}

/// From the first look at an open circuit until it may be asked again.
fn spells(story: &Story) -> Vec<(f64, f64)> {
    let mut spells: Vec<(f64, f64)> = Vec::new();
    let mut was_open = false;
    for line in &story.lines {
        let Line::State { t, circuit, open_until, .. } = line else { continue };
        let is_open = circuit == "open";
        if let (true, false, Some(until)) = (is_open, was_open, open_until) {
            spells.push((*t, *until));
        }
        was_open = is_open;
    }
    spells.sort_by(|one, other| one.0.total_cmp(&other.0));
    spells
}

#[cfg(test)]
mod tests {
    use super::nothing_is_sent_while_open as law;
    use crate::story::told::*;

    fn log(starts: f64) -> String {
        call(1.0, 7, "unsafe")
            + &state(99.0, 0, "closed", "null")
            + &state(100.0, 0, "open", "600")
            + &state(120.0, 0, "open", "600")
            + &attempt(starts, 7, 1)
    }

    #[test]
    fn before_and_after_are_right() {
        assert!(law(&story(&log(99.5), vec![])).is_empty());
        assert!(law(&story(&log(600.0), vec![])).is_empty());
    }

    #[test]
    fn within_is_wrong() {
        assert_eq!(law(&story(&log(100.5), vec![])).len(), 1);
        assert_eq!(law(&story(&log(599.0), vec![])).len(), 1);
    }
}
