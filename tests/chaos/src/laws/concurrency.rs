//! At most so many attempts run.

use crate::log::host::Line;
use crate::story::Story;

/// By the client's own books, and by the operations that the log has running.
pub fn never_more_than_max_concurrent(story: &Story) -> Vec<String> {
    let most = story.policy.bulkhead.max_concurrent;
    // A permit that the time limit gives back may be out while the operation ends.
    let is_counted = story.policy.bulkhead.release == "settled";
    let mut wrong = Vec::new();
    let mut running = 0;
    for line in &story.lines {
        match line {
            Line::State { t, running, .. } if *running > most => {
                wrong.push(format!("at {t} ms {running} run by the books; allowed: {most}"));
            }
            Line::State { t, queued, .. } if *queued > story.policy.bulkhead.max_queue => {
                wrong.push(format!("at {t} ms {queued} wait by the books"));
            }
            Line::Try { t, .. } => {
                running += 1;
                if is_counted && running > i64::from(most) {
                    wrong.push(format!("at {t} ms {running} operations run; allowed: {most}"));
                }
            }
            Line::Ended { .. } => running -= 1,
            _ => {}
        }
    }
    wrong
}

#[cfg(test)]
mod tests {
    use super::never_more_than_max_concurrent as law;
    use crate::story::told::*;

    fn calls() -> String {
        (1..=3).map(|id| call(1.0, id, "unsafe")).collect()
    }

    #[test]
    fn two_of_two_are_right() {
        let log = calls()
            + &attempt(1.0, 1, 1)
            + &attempt(1.0, 2, 1)
            + &state(1.5, 2, "closed", "null")
            + &ended(2.0, 1, 1, 200)
            + &attempt(2.0, 3, 1);
        assert!(law(&story(&log, vec![])).is_empty());
    }

    #[test]
    fn three_of_two_are_wrong() {
        let log = calls() + &(1..=3).map(|id| attempt(1.0, id, 1)).collect::<String>();
        assert_eq!(law(&story(&log, vec![])), ["at 1 ms 3 operations run; allowed: 2"]);
        let log = state(1.5, 3, "closed", "null");
        assert_eq!(law(&story(&log, vec![])), ["at 1.5 ms 3 run by the books; allowed: 2"]);
    }
}
