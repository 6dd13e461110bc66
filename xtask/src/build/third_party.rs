//! `THIRD-PARTY.md`: whose code is compiled into what is published, and under which licence.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};
use serde_json::Value as Json;

use crate::{process, workspace};

/// A published package with compiled code in it.
pub struct Shipped {
    /// Its folder, which holds the file.
    pub folder: &'static str,
    /// What the file calls it.
    called: &'static str,
    /// The crate that is compiled into it.
    package: &'static str,
    /// For which target; `all`: for any.
    target: &'static str,
}

/// What is published compiled. The crate is published as source and brings no code but its own.
pub const SHIPPED: &[Shipped] = &[
    Shipped {
        folder: "npm",
        called: "the npm package `stormproof` (WebAssembly)",
        package: "stormproof-wasm",
        target: "wasm32-unknown-unknown",
    },
    Shipped {
        folder: "bindings-python",
        called: "the wheels of the pip package `stormproof` (the extension module)",
        package: "stormproof-python",
        target: "all",
    },
];

/// The name of the file.
pub const FILE: &str = "THIRD-PARTY.md";

/// Licences that everything shipped is under, as manifests spell them. A new one takes a person who
/// reads it.
const ALLOWED: &[&str] = &[
    "MIT",
    "MIT OR Apache-2.0",
    "Apache-2.0 OR MIT",
    "Unlicense OR MIT",
    "(MIT OR Apache-2.0) AND Unicode-3.0",
];

/// Writes the files anew.
pub fn write() -> Result<()> {
    let manifests = manifests()?;
    for shipped in SHIPPED {
        fs::write(shipped.path(), shipped.text(&manifests)?)?;
    }
    Ok(())
}

impl Shipped {
    fn path(&self) -> PathBuf {
        workspace::path(self.folder).join(FILE)
    }

    fn text(&self, manifests: &Manifests) -> Result<String> {
        let mut table = String::new();
        let mut texts: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for id in linked(self.package, self.target)? {
            let found = manifests.get(&id).with_context(|| format!("{} {}", id.0, id.1))?;
            if !ALLOWED.contains(&found.licence.as_str()) {
                bail!("{} is under `{}`, which nobody has read yet", id.0, found.licence);
            }
            table += &format!("| {} | {} | {} | {} |\n", id.0, id.1, found.licence, found.origin);
            for text in found.texts()? {
                texts.entry(text).or_default().push(id.0.clone());
            }
        }
        let mut sections: Vec<(Vec<String>, String)> =
            texts.into_iter().map(|(text, names)| (names, text)).collect();
        sections.sort();
        let sections: String = sections
            .iter()
            .map(|(names, text)| format!("\n## {}\n\n```text\n{text}\n```\n", names.join(", ")))
            .collect();
        Ok(format!("{}{table}{sections}", self.head()))
    }

    fn head(&self) -> String {
        format!(
            "# Code of others\n\n\
             Compiled into {},\n\
             besides its own code and the Rust standard library (MIT OR Apache-2.0, The Rust Project\n\
             contributors). Where there is a choice of licences, the one whose text stands below is taken.\n\
             Written by `cargo xtask build third-party`.\n\n\
             | crate | version | licence | source |\n|---|---|---|---|\n",
            self.called
        )
    }
}

/// Name and version.
type Id = (String, String);
type Manifests = BTreeMap<Id, Manifest>;

struct Manifest {
    licence: String,
    origin: String,
    authors: String,
    folder: PathBuf,
}

impl Manifest {
    /// The texts that its licence wants to be handed on with the code.
    fn texts(&self) -> Result<Vec<String>> {
        let mut files: Vec<PathBuf> = fs::read_dir(&self.folder)?
            .map(|entry| entry.map(|entry| entry.path()))
            .collect::<Result<_, _>>()?;
        files.retain(|file| is_notice(file));
        files.sort();
        let texts: Vec<String> = files
            .iter()
            .map(|file| Ok(unwrapped(&fs::read_to_string(file)?)))
            .collect::<Result<_>>()?;
        if !texts.is_empty() {
            return Ok(texts);
        }
        // The package has none: its manifest says whose it is, and our own copy what MIT is.
        let own = fs::read_to_string(workspace::path("LICENSE-MIT"))?;
        let terms = own.split_once("Permission is").context("LICENSE-MIT is the MIT licence")?.1;
        let text = format!("MIT License\n\nCopyright (c) {}\n\nPermission is{terms}", self.authors);
        Ok(vec![unwrapped(&text)])
    }
}

/// Apache-2.0 is shipped once; who may choose needs no Unlicense.
fn is_notice(file: &Path) -> bool {
    let name = file.file_name().unwrap_or_default().to_string_lossy().to_uppercase();
    let is_notice =
        ["LICENSE", "LICENCE", "COPYRIGHT", "NOTICE"].iter().any(|s| name.starts_with(s));
    is_notice && !name.contains("APACHE") && file.is_file()
}

fn unwrapped(text: &str) -> String {
    let lines: Vec<&str> = text.lines().map(str::trim_end).collect();
    lines.join("\n").trim().to_owned()
}

/// The crates whose code is linked into `package`: neither what only builds it nor macros.
fn linked(package: &str, target: &str) -> Result<Vec<Id>> {
    let arguments = ["tree", "--locked", "--edges=normal", "--no-dedupe", "--prefix=depth"];
    let mut cargo = Command::new("cargo");
    cargo.current_dir(workspace::root()).args(arguments);
    cargo.args(["--package", package, "--target", target, "--format", " {p}"]);
    let mut ids = of_tree(&process::read(&mut cargo)?);
    ids.sort();
    ids.dedup();
    Ok(ids)
}

/// `2 name v1.2.3 (proc-macro)`: what lies deeper than a macro is not linked either.
fn of_tree(tree: &str) -> Vec<Id> {
    let mut macro_depth = None;
    let mut ids = Vec::new();
    for line in tree.lines() {
        let mut words = line.split_whitespace();
        let (Some(depth), Some(name), Some(version)) = (words.next(), words.next(), words.next())
        else {
            continue;
        };
        let depth: usize = depth.parse().unwrap_or_default();
        if macro_depth.is_some_and(|above| depth > above) {
            continue;
        }
        macro_depth = line.contains("(proc-macro)").then_some(depth);
        let is_own = line.contains("(/") || name.starts_with("stormproof");
        if macro_depth.is_none() && !is_own {
            ids.push((name.to_owned(), version.trim_start_matches('v').to_owned()));
        }
    }
    ids
}

fn manifests() -> Result<Manifests> {
    let mut cargo = Command::new("cargo");
    cargo.current_dir(workspace::root()).args(["metadata", "--locked", "--format-version=1"]);
    let metadata: Json = serde_json::from_str(&process::read(&mut cargo)?)?;
    let packages = metadata["packages"].as_array().context("packages")?;
    Ok(packages.iter().map(|package| (id(package), manifest(package))).collect())
}

fn id(package: &Json) -> Id {
    (text(&package["name"]), text(&package["version"]))
}

fn manifest(package: &Json) -> Manifest {
    let authors = package["authors"].as_array().into_iter().flatten().map(text);
    let mut authors = authors.collect::<Vec<_>>().join(", ");
    if authors.is_empty() {
        authors = format!("the authors of {}", text(&package["name"]));
    }
    let path = PathBuf::from(text(&package["manifest_path"]));
    Manifest {
        licence: text(&package["license"]).replace('/', " OR "),
        origin: text(&package["repository"]),
        authors,
        folder: path.parent().map(Path::to_path_buf).unwrap_or_default(),
    }
}

fn text(value: &Json) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_files_name_what_is_linked_now() {
        let manifests = manifests().unwrap();
        for shipped in SHIPPED {
            let text = shipped.text(&manifests).unwrap();
            let found = fs::read_to_string(shipped.path()).unwrap_or_default();
            let file = shipped.path();
            assert!(found == text, "{}: cargo xtask build third-party", file.display());
        }
    }

    #[test]
    fn the_crate_depends_on_nothing_under_another_licence() {
        let manifests = manifests().unwrap();
        let ids = linked("stormproof", "all").unwrap();
        assert!(ids.iter().any(|(name, _)| name == "serde_json"), "{ids:?}");
        for id in ids {
            let licence = &manifests[&id].licence;
            assert!(ALLOWED.contains(&licence.as_str()), "{id:?} is under `{licence}`");
        }
    }

    #[test]
    fn macros_are_not_linked() {
        let tree = "0 stormproof-x v0.1.0 (/a)\n1 a v1.0.0\n1 m v2.0.0 (proc-macro)\n2 q v1.0.0\n\
                    3 r v1.0.0\n1 b v0.2.0\n2 c v3.0.0\n";
        let names: Vec<String> = of_tree(tree).into_iter().map(|(name, _)| name).collect();
        assert_eq!(names, ["a", "b", "c"]);
    }
}
