//! The shared vectors (`tests/vectors/*.json`; the format is described in the README beside them).
//!
//! Prints one line with the number of vectors and a hash over every step, which every host must
//! print alike. `STORMPROOF_VECTORS` names another folder.

use std::path::{Path, PathBuf};

#[path = "vectors/calls.rs"]
mod calls;
#[path = "vectors/expect.rs"]
mod expect;
#[path = "vectors/policy.rs"]
mod policy;
#[path = "vectors/run.rs"]
mod run;
#[path = "vectors/single.rs"]
mod single;
#[path = "vectors/suite.rs"]
mod suite;
#[path = "vectors/trail.rs"]
mod trail;

#[test]
fn vectors() {
    let mut suite = suite::Suite::default();
    for file in files() {
        let text = std::fs::read_to_string(&file).expect("a readable file");
        suite.file(&file.file_name().unwrap_or_default().to_string_lossy(), &text);
    }
    println!("{}", suite.line("rust"));
    suite.close();
}

/// Miri takes an hour for all files; these have something of everything.
const IN_MIRI: [&str; 3] = ["deadline.json", "horizon.json", "order.json"];

/// The vector files, sorted by name.
fn files() -> Vec<PathBuf> {
    let folder = std::env::var_os("STORMPROOF_VECTORS").map_or_else(
        || Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/vectors"),
        PathBuf::from,
    );
    let mut files: Vec<PathBuf> = std::fs::read_dir(&folder)
        .unwrap_or_else(|error| panic!("{}: {error}", folder.display()))
        .map(|entry| entry.expect("an entry of the folder").path())
        .filter(|path| path.extension().is_some_and(|end| end == "json"))
        .filter(|path| !cfg!(miri) || IN_MIRI.iter().any(|name| path.ends_with(name)))
        .collect();
    files.sort();
    files
}
