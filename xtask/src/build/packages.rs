//! What is published: the npm tarball, the wheel and the sdist, all in `target/packages`.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context, Result, bail};

use super::{npm, python};
use crate::process;
use crate::workspace::{self, VERSION};

/// What licences want to be handed on with the code: each package that is published has them.
pub const NOTICES: [&str; 3] = ["LICENSE-MIT", "LICENSE-APACHE", super::third_party::FILE];

fn folder() -> Result<PathBuf> {
    let folder = workspace::target().join("packages");
    fs::create_dir_all(&folder)?;
    Ok(folder)
}

/// The npm package, packed from a folder that has the licences and the README beside the bundle.
pub fn tarball() -> Result<PathBuf> {
    npm::build()?;
    let packages = folder()?;
    let staged = packages.join("npm");
    let _ = fs::remove_dir_all(&staged);
    fs::create_dir_all(staged.join("dist"))?;
    for entry in fs::read_dir(workspace::path("npm/dist"))? {
        let entry = entry?;
        fs::copy(entry.path(), staged.join("dist").join(entry.file_name()))?;
    }
    fs::copy(workspace::path("npm/package.json"), staged.join("package.json"))?;
    for text in NOTICES.iter().chain(&["README.md"]) {
        let own = workspace::path("npm").join(text);
        let source = if own.exists() { own } else { workspace::path(text) };
        if source.exists() {
            fs::copy(source, staged.join(text))?;
        }
    }
    let mut pack = Command::new("npm");
    pack.current_dir(&staged)
        .args(["pack", "--loglevel=error", "--pack-destination"])
        .arg(&packages);
    process::run(&mut pack)?;
    Ok(packages.join(format!("stormproof-{VERSION}.tgz")))
}

/// The wheel for this machine, for Python 3.10 and everything newer.
pub fn wheel() -> Result<PathBuf> {
    python::install()?;
    let packages = folder()?;
    remove(&packages, ".whl")?;
    process::run(python::maturin("build").args(["--release", "--out"]).arg(&packages))?;
    find(&packages, ".whl")
}

/// The source package.
pub fn sdist() -> Result<PathBuf> {
    python::install()?;
    let packages = folder()?;
    remove(&packages, ".tar.gz")?;
    process::run(python::maturin("sdist").arg("--out").arg(&packages))?;
    find(&packages, ".tar.gz")
}

fn files(folder: &PathBuf, ending: &str) -> Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.to_string_lossy().ends_with(ending) {
            files.push(path);
        }
    }
    Ok(files)
}

fn remove(folder: &PathBuf, ending: &str) -> Result<()> {
    for file in files(folder, ending)? {
        fs::remove_file(file)?;
    }
    Ok(())
}

fn find(folder: &PathBuf, ending: &str) -> Result<PathBuf> {
    let mut files = files(folder, ending)?;
    if files.len() > 1 {
        bail!("{} files end in {ending}", files.len());
    }
    files.pop().with_context(|| format!("no file ends in {ending}"))
}
