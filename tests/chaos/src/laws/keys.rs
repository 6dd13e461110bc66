//! Idempotency keys, as the servers saw them.

use std::collections::HashMap;

use crate::log::host::Safety;
use crate::story::Story;

/// A keyed call has one key for all its attempts and shares it with no other; the others have none.
pub fn one_key_for_all_attempts(story: &Story) -> Vec<String> {
    let mut wrong = Vec::new();
    let mut by_call: HashMap<u64, &str> = HashMap::new();
    let mut by_key: HashMap<&str, u64> = HashMap::new();
    for seen in &story.seen {
        let Some(call) = story.calls.get(&seen.call) else { continue };
        let name = format!("attempt {}.{}", seen.call, seen.n);
        match (&seen.key, call.safety) {
            (Some(key), Safety::Keyed) => {
                let first = *by_call.entry(seen.call).or_insert(key);
                let owner = *by_key.entry(key).or_insert(seen.call);
                if first != key {
                    wrong.push(format!("{name} has the key {key}, the first had {first}"));
                }
                if owner != seen.call {
                    wrong.push(format!("{name} has the key of call {owner}"));
                }
            }
            (None, Safety::Keyed) => wrong.push(format!("{name} has no key")),
            (Some(key), _) => wrong.push(format!("{name} has the key {key} and none is due")),
            (None, _) => {}
        }
    }
    wrong
}

#[cfg(test)]
mod tests {
    use super::one_key_for_all_attempts as law;
    use crate::log::server::Seen;
    use crate::story::told::*;

    fn with(call: u64, n: u32, key: Option<&str>) -> Seen {
        Seen { key: key.map(str::to_owned), ..request(call, n, 503) }
    }

    fn log() -> String {
        call(1.0, 7, "keyed") + &call(1.0, 8, "keyed") + &call(1.0, 9, "unsafe")
    }

    #[test]
    fn one_each_is_right() {
        let seen = vec![
            with(7, 1, Some("a")),
            with(7, 2, Some("a")),
            with(8, 1, Some("b")),
            with(9, 1, None),
        ];
        assert!(law(&story(&log(), seen)).is_empty());
    }

    #[test]
    fn another_none_a_strangers_and_one_too_many_are_wrong() {
        for (seen, faults) in [
            (vec![with(7, 1, Some("a")), with(7, 2, Some("b"))], 1),
            (vec![with(7, 1, None)], 1),
            (vec![with(7, 1, Some("a")), with(8, 1, Some("a"))], 1),
            (vec![with(9, 1, Some("a"))], 1),
        ] {
            assert_eq!(law(&story(&log(), seen)).len(), faults);
        }
    }
}
