//! Python's spelling of the policy document: `retry.baseMs` is `retry.base`, in seconds.

use std::borrow::Cow;

use stormproof::classify::StatusClass;
use stormproof::policy::{Domain, Knob, Section};

/// Every path of the document with Python's name of it: knobs, their groups, and the rest.
fn paths() -> impl Iterator<Item = (Cow<'static, str>, String)> {
    let knobs = Knob::ALL.iter().map(|knob| knob.row().path);
    let groups = knobs.clone().filter_map(|path| path.split_once('.').map(|(group, _)| group));
    let sections = Section::ALL.iter().map(|section| section.path());
    let lists = StatusClass::NAMES.iter().map(|name| format!("classify.{name}").into());
    let fixed = knobs.chain(groups).chain(sections).chain(["preset", "classify"]);
    fixed.map(Cow::Borrowed).chain(lists).map(|path| {
        let python = python_path(&path);
        (path, python)
    })
}

/// Where in the document a Python path lies.
pub fn document_path(python: &str) -> Option<Cow<'static, str>> {
    paths().find(|(_, spelled)| spelled == python).map(|(path, _)| path)
}

/// Python's name of a path of the document.
pub fn python_path(path: &str) -> String {
    if Knob::at(path).is_some() { of_knob(path) } else { snake(path) }
}

/// A sentence of the core, as Python spells it.
pub fn python_text(text: &str) -> String {
    text.split(' ').map(python_word).collect::<Vec<_>>().join(" ")
}

fn python_word(word: &str) -> String {
    let bare = word.trim_end_matches(['?', ',', ';', ':', ')', '.']);
    let rest = &word[bare.len()..];
    let spelled = match bare {
        "null" => "None".into(),
        "true" => "True".into(),
        "false" => "False".into(),
        "object" if rest.is_empty() => "object".into(),
        path if paths().any(|(known, _)| known == path) => python_path(path),
        other => other.into(),
    };
    spelled + rest
}

fn of_knob(path: &str) -> String {
    let is_span = Knob::at(path).is_some_and(|knob| matches!(knob.row().domain, Domain::Span(..)));
    snake(path.strip_suffix("Ms").filter(|_| is_span).unwrap_or(path))
}

/// `count429` is `count_429`.
fn snake(camel: &str) -> String {
    let mut spelled = String::with_capacity(camel.len() + 4);
    let mut before = '.';
    for letter in camel.chars() {
        let digits_begin = letter.is_ascii_digit() && before.is_ascii_alphabetic();
        if letter.is_ascii_uppercase() || digits_begin {
            spelled.push('_');
        }
        spelled.push(letter.to_ascii_lowercase());
        before = letter;
    }
    spelled
}
