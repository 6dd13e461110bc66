//! Writes the lists of the vector files and of the saved inputs: the tests have no file system.

use std::fmt::Write;
use std::path::{Path, PathBuf};

fn main() {
    list("../vectors", "vectors.rs", "include_str", |file| file.ends_with(".json"));
    list("../fuzz/corpus/wasm_boundary", "saved_inputs.rs", "include_bytes", |_| true);
}

/// Writes the files of `folder` that are wanted as a list of names and contents.
fn list(folder: &str, out: &str, include: &str, is_wanted: fn(&str) -> bool) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
    println!("cargo::rerun-if-changed={}", folder.display());
    let mut files: Vec<PathBuf> = std::fs::read_dir(&folder)
        .unwrap_or_else(|error| panic!("{}: {error}", folder.display()))
        .map(|entry| entry.expect("an entry of the folder").path())
        .filter(|path| path.to_str().is_some_and(is_wanted))
        .collect();
    files.sort();
    let mut list = String::from("&[\n");
    for file in files {
        let name = file.file_name().unwrap_or_default().display().to_string();
        let path = file.display().to_string();
        writeln!(list, "    ({name:?}, {include}!({path:?})),").expect("a string takes all");
    }
    list.push_str("]\n");
    let folder = PathBuf::from(std::env::var_os("OUT_DIR").expect("set by cargo"));
    std::fs::write(folder.join(out), list).expect("a writable OUT_DIR");
}
