//! The shared vectors (`tests/vectors/*.json`; the format is described in the README beside them).
//!
//! Prints one line with the number of vectors and a hash over every step, which every host must
//! print alike. `STORMPROOF_VECTORS` names another folder.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use serde_json::Value as Json;

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
#[path = "vectors/trail.rs"]
mod trail;

use trail::Trail;

/// The faults of one vector; empty when it passed.
type Faults = Vec<String>;

#[test]
fn vectors() {
    let mut trail = Trail::default();
    let mut passed = 0;
    let mut failed = Vec::new();
    let mut ids = BTreeSet::new();
    for file in files() {
        for vector in read(&file) {
            let id = vector["id"].as_str().unwrap_or("a vector without id");
            let mut faults = one(&vector, &mut trail);
            if !ids.insert(id.to_owned()) {
                faults.push("the id is used twice".into());
            }
            if !vector["reason"].is_string() {
                faults.push("no reason".into());
            }
            if faults.is_empty() {
                passed += 1;
            } else {
                let name = file.file_name().unwrap_or_default().display();
                failed.push(format!("{name} {id}:\n  {}", faults.join("\n  ")));
            }
        }
    }
    let (hash, count) = (trail.hash(), failed.len());
    println!("vectors rust: {passed} passed, {count} failed, steps {hash:016x}");
    assert!(failed.is_empty(), "\n{}\n", failed.join("\n"));
    assert!(passed > 0, "there are no vectors");
}

fn one(vector: &Json, trail: &mut Trail) -> Faults {
    if vector["steps"].is_array() { run::steps(vector, trail) } else { single::check(vector) }
}

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
        .collect();
    files.sort();
    files
}

fn read(file: &Path) -> Vec<Json> {
    let text = std::fs::read_to_string(file).expect("a readable file");
    let json: Json =
        serde_json::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
    let vectors = json["vectors"].as_array().cloned();
    vectors.unwrap_or_else(|| panic!("{} has no list of vectors", file.display()))
}
