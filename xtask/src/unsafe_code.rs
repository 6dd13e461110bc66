//! `docs/unsafe.md` names every file with `unsafe` code, and a reason stands beside each.

use std::collections::BTreeSet;
use std::fs;
use std::process::Command;

use crate::{process, workspace};

/// How far above the code its reason may stand: attributes and the head of a statement lie between.
const NEAR: usize = 6;

#[test]
fn every_file_with_unsafe_code_is_named_with_its_reason() {
    let page = fs::read_to_string(workspace::path("docs/unsafe.md")).expect("the page");
    let named: BTreeSet<&str> = page
        .lines()
        .filter_map(|line| Some(line.strip_prefix("| `")?.split_once('`')?.0))
        .collect();
    let list = process::read(
        Command::new("git").current_dir(workspace::root()).args(["ls-files", "*.rs"]),
    );
    let list = list.expect("git lists the sources");
    let mut found = BTreeSet::new();
    for file in list.lines() {
        let Ok(text) = fs::read_to_string(workspace::path(file)) else { continue };
        let places = unsafe_lines(&text);
        for place in &places {
            assert!(is_explained(&text, *place), "{file}:{}: why is this safe?", place + 1);
        }
        if !places.is_empty() {
            found.insert(file);
        }
    }
    assert_eq!(found, named, "docs/unsafe.md names other files than have unsafe code");
}

#[test]
fn code_is_told_from_what_is_said_about_it() {
    let text = "// unsafe { a }\nlet unsafe_calls = \"unsafe\";\nunsafe { b() }\nfn c() { unsafe{ d() } }\nunsafe impl E for F {}\n#![forbid(unsafe_code)]\n#[unsafe(no_mangle)]\n";
    assert_eq!(unsafe_lines(text), [2, 3, 4, 6]);
    assert!(is_explained("// SAFETY: it is\nunsafe {}", 1));
    assert!(!is_explained("// it is\nunsafe {}", 1));
}

/// The numbers of the lines, from 0.
fn unsafe_lines(text: &str) -> Vec<usize> {
    let lines = text.lines().enumerate();
    lines.filter(|(_, line)| has_unsafe_code(line)).map(|(place, _)| place).collect()
}

fn has_unsafe_code(line: &str) -> bool {
    let code = line.split("//").next().unwrap_or_default();
    code.match_indices("unsafe").any(|(place, word)| {
        let before = code[..place].chars().next_back();
        let after = code[place + word.len()..].trim_start();
        before.is_none_or(|before| !before.is_alphanumeric() && !"_\"`.".contains(before))
            && ["{", "(", "fn ", "impl ", "impl<", "extern ", "trait "]
                .iter()
                .any(|start| after.starts_with(start))
    })
}

fn is_explained(text: &str, place: usize) -> bool {
    let above = text.lines().skip(place.saturating_sub(NEAR)).take(NEAR.min(place) + 1);
    above.into_iter().any(|line| line.contains("SAFETY: ") || line.contains("# Safety"))
}
