//! `SECURITY.md` claims nothing that no test holds.

use std::fs;

use crate::workspace;

/// Files whose every test is a claim of the page.
const HOSTILE: &[&str] =
    &["core/tests/hostile.rs", "npm/test/hostile.test.ts", "tests/python/test_hostile.py"];

fn read(file: &str) -> String {
    fs::read_to_string(workspace::path(file)).unwrap_or_else(|error| panic!("{file}: {error}"))
}

/// The tests that the page names: `file::test` between backticks.
fn named(page: &str) -> Vec<(&str, &str)> {
    let quoted = page.split('`').skip(1).step_by(2);
    quoted.filter_map(|words| words.split_once("::")).collect()
}

/// The tests that a file has, in the order in which they stand there.
fn tests(file: &str, text: &str) -> Vec<String> {
    let (before, after) = match file.rsplit_once('.') {
        Some((_, "rs")) => ("#[test]\n", "("),
        Some((_, "ts")) => ("test(\"", "\", "),
        Some((_, "py")) => ("def test_", "("),
        Some((_, "json")) => ("\"id\": \"", "\""),
        _ => panic!("{file} is no file of tests"),
    };
    let starts = text.match_indices(before).map(|(place, _)| &text[place + before.len()..]);
    let names = starts.filter_map(|rest| rest.split_once(after)).map(|(name, _)| name.trim());
    match before {
        "def test_" => names.map(|name| format!("test_{name}")).collect(),
        "#[test]\n" => names.filter_map(|name| Some(name.split_once("fn ")?.1.into())).collect(),
        _ => names.map(Into::into).collect(),
    }
}

#[test]
fn every_test_that_the_page_names_exists() {
    let page = read("SECURITY.md");
    let named = named(&page);
    assert!(named.len() >= 50, "{}", named.len());
    for (file, name) in named {
        let known = tests(file, &read(file));
        assert!(known.iter().any(|test| test == name), "{file} has no test `{name}`");
    }
}

#[test]
fn every_test_of_a_hostile_server_is_on_the_page() {
    let page = read("SECURITY.md");
    let named = named(&page);
    for file in HOSTILE {
        let tests = tests(file, &read(file));
        assert!(tests.len() >= 15, "{file}: {}", tests.len());
        for test in tests {
            assert!(named.contains(&(file, test.as_str())), "SECURITY.md lacks `{file}::{test}`");
        }
    }
}

#[test]
fn tests_are_found_in_every_language() {
    let rust = "    #[test]\n    fn a_b() {}\n#[test]\nfn c() {}\nfn helper() {}\n";
    assert_eq!(tests("x.rs", rust), ["a_b", "c"]);
    assert_eq!(tests("x.test.ts", "test(\"a b, c\", async () => {\n"), ["a b, c"]);
    let python = "def helper() -> None:\n    async def test_a(x) -> None:\ndef test_b(\n";
    assert_eq!(tests("x.py", python), ["test_a", "test_b"]);
    assert_eq!(tests("x.json", "{\"id\": \"A-1\", \"reason\": \"\"}"), ["A-1"]);
}
