//! The saved inputs of each target, without a fuzzer.

use std::fs;
use std::path::{Path, PathBuf};

use stormproof_fuzz::TARGETS;

#[test]
fn saved_inputs_hold() {
    for target in TARGETS {
        let files = inputs(target.name);
        assert!(!files.is_empty(), "{} has no saved inputs", target.name);
        for file in &files {
            let input = fs::read(file).expect("a saved input");
            let place = Place(file);
            (target.check)(&input);
            std::mem::forget(place);
        }
        println!("fuzz {}: {} inputs", target.name, files.len());
    }
}

fn inputs(target: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus").join(target);
    let entries = fs::read_dir(&folder).unwrap_or_else(|e| panic!("{}: {e}", folder.display()));
    let mut files: Vec<_> = entries.map(|entry| entry.expect("an entry").path()).collect();
    files.sort();
    files
}

/// Tells after a panic which input it was.
struct Place<'a>(&'a Path);

impl Drop for Place<'_> {
    fn drop(&mut self) {
        eprintln!("the input is {}", self.0.display());
    }
}
