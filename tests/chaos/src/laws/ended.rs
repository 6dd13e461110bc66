//! Every call that begins ends, and no call ends twice.

use crate::story::Story;

/// One end for each call, and no line about a call that did not begin.
pub fn every_call_ends_once(story: &Story) -> Vec<String> {
    let strays = story.strays.iter().map(|line| format!("about nothing that began: {line}"));
    let ends = story.calls.iter().filter(|(_, call)| call.ends.len() != 1);
    let ends = ends.map(|(id, call)| format!("call {id} has {} ends", call.ends.len()));
    strays.chain(ends).collect()
}

#[cfg(test)]
mod tests {
    use super::every_call_ends_once as law;
    use crate::story::told::*;

    #[test]
    fn one_end_is_right() {
        let log = call(1.0, 7, "unsafe") + &end(2.0, 7, "cancelled", 0);
        assert!(law(&story(&log, vec![])).is_empty());
    }

    #[test]
    fn none_two_and_that_of_a_stranger_are_wrong() {
        let begun = call(1.0, 7, "unsafe");
        let end = end(2.0, 7, "cancelled", 0);
        assert_eq!(law(&story(&begun, vec![])), ["call 7 has 0 ends"]);
        let twice = format!("{begun}{end}{end}");
        assert_eq!(law(&story(&twice, vec![])), ["call 7 has 2 ends"]);
        assert_eq!(law(&story(&end, vec![])).len(), 1);
        let again = format!("{begun}{end}{begun}{end}");
        assert_eq!(law(&story(&again, vec![])).len(), 1);
    }
}
