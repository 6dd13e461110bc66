//! The decision that a call ends with says how many attempts there were.

use crate::story::Story;

/// As many attempts as the log has, and no more than the policy allows.
pub fn decisions_name_the_attempts(story: &Story) -> Vec<String> {
    let mut wrong = Vec::new();
    let most = story.policy.retry.max_attempts;
    for (id, call) in &story.calls {
        let tries = call.tries.len() as u32;
        if tries > most {
            wrong.push(format!("call {id} made {tries} attempts; allowed: {most}"));
        }
        let told = call.ends.first().and_then(|end| end.attempts);
        if let Some(told) = told.filter(|told| *told != tries) {
            wrong.push(format!("call {id} made {tries} attempts, its decision says {told}"));
        }
    }
    wrong
}

#[cfg(test)]
mod tests {
    use super::decisions_name_the_attempts as law;
    use crate::story::told::*;

    fn log(attempts: u32, told: u32) -> String {
        let tries: String = (1..=attempts).map(|n| attempt(f64::from(n), 7, n)).collect();
        call(1.0, 7, "idempotent") + &tries + &end(9.0, 7, "success", told)
    }

    #[test]
    fn the_right_number_is_right() {
        assert!(law(&story(&log(4, 4), vec![])).is_empty());
        let cancelled = r#"{"e":"end","t":9,"call":7,"reason":"cancelled","attempts":null}"#;
        assert!(law(&story(&(call(1.0, 7, "keyed") + cancelled), vec![])).is_empty());
    }

    #[test]
    fn another_number_and_too_many_are_wrong() {
        assert_eq!(law(&story(&log(2, 1), vec![])).len(), 1);
        assert_eq!(law(&story(&log(5, 5), vec![])).len(), 1);
    }
}
