//! After the load a host holds what it held before.

use crate::log::host::Rest;
use crate::story::Story;

/// Nothing is under way, and files, sockets, timers, tasks and memory are back where they were after
/// a first burst of as many calls.
pub fn everything_is_back_where_it_was(story: &Story) -> Vec<String> {
    let find = |stage| story.rests().find(|rest| rest.stage == stage);
    let (Some(before), Some(after)) = (find("before"), find("after")) else {
        return vec!["the host was not measured before and after".into()];
    };
    let mut wrong = Vec::new();
    if story.goes_on {
        wrong.push("something keeps the host alive".to_owned());
    }
    for rest in [before, after] {
        let Rest { running, queued, abandoned, stage, .. } = rest;
        if (running, queued, abandoned) != (&0, &0, &0) {
            wrong.push(format!(
                "{stage} the load: running {running}, queued {queued}, abandoned {abandoned}"
            ));
        }
    }
    let mut grown = |what: &str, before: u64, after: u64| {
        if after > before {
            wrong.push(format!("{what}: {before} before, {after} after"));
        }
    };
    grown("files", before.files.unwrap_or(0), after.files.unwrap_or(0));
    grown("sockets", before.sockets.unwrap_or(0), after.sockets.unwrap_or(0));
    grown("timers", before.timers, after.timers);
    grown("tasks", before.tasks, after.tasks);
    if after.memory > before.memory + after.memory_slack {
        wrong.push(format!("memory: {} before, {} after", before.memory, after.memory));
    }
    wrong
}

#[cfg(test)]
mod tests {
    use super::everything_is_back_where_it_was as law;
    use crate::story::told::story;

    fn rest(stage: &str, more: &str) -> String {
        let common = r#""files":9,"sockets":0,"timers":0,"tasks":1,"memory":100,"memory_slack":50"#;
        // Of a field that comes twice the reader takes neither.
        let mut fields: serde_json::Value = serde_json::from_str(&format!("{{{common}}}")).unwrap();
        let more: serde_json::Value = serde_json::from_str(more).unwrap();
        for (name, value) in more.as_object().unwrap() {
            fields[name] = value.clone();
        }
        fields["e"] = "rest".into();
        fields["stage"] = stage.into();
        fields.to_string() + "\n"
    }

    #[test]
    fn the_same_is_right() {
        let log = rest("before", "{}") + &rest("after", r#"{"memory":149,"files":8}"#);
        assert!(law(&story(&log, vec![])).is_empty());
    }

    #[test]
    fn anything_more_is_wrong() {
        for more in [
            r#"{"running":1}"#,
            r#"{"queued":1}"#,
            r#"{"abandoned":1}"#,
            r#"{"files":10}"#,
            r#"{"sockets":1}"#,
            r#"{"timers":1}"#,
            r#"{"tasks":2}"#,
            r#"{"memory":151}"#,
        ] {
            let log = rest("before", "{}") + &rest("after", more);
            assert_eq!(law(&story(&log, vec![])).len(), 1, "{more}");
        }
        assert_eq!(law(&story(&rest("before", "{}"), vec![])).len(), 1);
        let mut story = story(&(rest("before", "{}") + &rest("after", "{}")), vec![]);
        story.goes_on = true;
        assert_eq!(law(&story).len(), 1);
    }
}
