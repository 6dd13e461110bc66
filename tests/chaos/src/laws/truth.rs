//! What a host says of an attempt is what its server says.

use crate::log::host::How;
use crate::story::Story;

/// No answer without a server, the server's own status, and no body that was cut.
pub fn what_is_reported_is_what_was(story: &Story) -> Vec<String> {
    let mut wrong = Vec::new();
    for (id, _, one) in story.tries().filter(|(_, _, one)| one.how() == Some(How::Answer)) {
        let (name, status) = (format!("attempt {id}.{}", one.n), one.status());
        let reply = story.seen(id, one.n).and_then(|seen| seen.reply.as_ref());
        let Some(reply) = reply else {
            wrong.push(format!("{name} ended with {status:?}, which nobody answered"));
            continue;
        };
        if reply.status != status || status.is_none() {
            wrong.push(format!("{name} ended with {status:?}, answered was {:?}", reply.status));
        }
        if one.ends.iter().any(|ended| ended.read) && !reply.whole {
            wrong.push(format!("{name} has read the whole body of a {}", reply.result));
        }
    }
    wrong
}

#[cfg(test)]
mod tests {
    use super::what_is_reported_is_what_was as law;
    use crate::log::server::{Reply, Seen};
    use crate::story::told::*;

    fn log(status: u16) -> String {
        call(1.0, 7, "unsafe") + &attempt(1.0, 7, 1) + &ended(2.0, 7, 1, status)
    }

    #[test]
    fn the_servers_word_and_a_broken_network_are_right() {
        assert!(law(&story(&log(200), vec![request(7, 1, 200)])).is_empty());
        assert!(law(&story(&log(0), vec![request(7, 1, 200)])).is_empty());
        assert!(law(&story(&log(0), vec![])).is_empty());
    }

    #[test]
    fn answers_of_nobody_of_another_kind_and_in_part_are_wrong() {
        assert_eq!(law(&story(&log(200), vec![])).len(), 1);
        assert_eq!(law(&story(&log(200), vec![request(7, 1, 503)])).len(), 1);
        let lost = Seen { reply: None, ..request(7, 1, 200) };
        assert_eq!(law(&story(&log(200), vec![lost])).len(), 1);
        let cut = Reply { status: Some(200), whole: false, ..Reply::default() };
        let cut = Seen { reply: Some(cut), ..request(7, 1, 200) };
        assert_eq!(law(&story(&log(200), vec![cut])).len(), 1);
    }
}
