//! A step is skipped while the hash of what it depends on equals the stamp that its last run left.

use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use rustix::fs::{FlockOperation, flock};

use crate::workspace;

/// What a step depends on and what it leaves, as paths inside the checkout.
pub struct Step<'a> {
    /// Name of the stamp.
    pub name: &'a str,
    /// Files and folders; one that is absent counts as such.
    pub inputs: &'a [&'a str],
    /// Anything else, such as the version of a tool.
    pub facts: &'a [&'a str],
    /// Files that must exist.
    pub outputs: &'a [&'a str],
}

impl Step<'_> {
    /// Does `work` unless it was done for the same inputs.
    pub fn run(&self, work: impl FnOnce() -> Result<()>) -> Result<()> {
        // What is stamped lies in the checkout, whatever CARGO_TARGET_DIR says.
        let folder = workspace::path("target/stamps");
        fs::create_dir_all(&folder)?;
        let _lock = lock(&folder)?;
        let stamp = folder.join(self.name);
        let hash = self.hash()?;
        let done = fs::read_to_string(&stamp).is_ok_and(|text| text == hash);
        if done && self.outputs.iter().all(|path| workspace::path(path).exists()) {
            println!("{}: up to date", self.name);
            return Ok(());
        }
        let _ = fs::remove_file(&stamp);
        work()?;
        for output in self.outputs {
            fs::metadata(workspace::path(output))
                .with_context(|| format!("{} did not write {output}", self.name))?;
        }
        fs::write(stamp, hash)?;
        Ok(())
    }

    fn hash(&self) -> Result<String> {
        let mut hasher = DefaultHasher::new();
        self.facts.hash(&mut hasher);
        for input in self.inputs {
            add(&workspace::path(input), &mut hasher)?;
        }
        Ok(format!("{:016x}", hasher.finish()))
    }
}

/// One step at a time writes to the checkout, whoever started it.
fn lock(folder: &Path) -> Result<fs::File> {
    let lock = fs::File::create(folder.join("lock"))?;
    if flock(&lock, FlockOperation::NonBlockingLockExclusive).is_err() {
        println!("waiting for another cargo xtask in this checkout");
        flock(&lock, FlockOperation::LockExclusive)?;
    }
    Ok(lock)
}

/// Folders and files that builds write among the sources.
fn is_generated(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default();
    let folder = ["target", "node_modules", "dist", "__pycache__"];
    folder.iter().any(|folder| name == *folder) || path.extension().is_some_and(|e| e == "so")
}

fn add(path: &Path, hasher: &mut DefaultHasher) -> Result<()> {
    path.hash(hasher);
    if path.is_dir() {
        let mut entries: Vec<PathBuf> = fs::read_dir(path)?
            .map(|entry| entry.map(|entry| entry.path()))
            .collect::<Result<_, _>>()?;
        entries.sort();
        for entry in entries.iter().filter(|entry| !is_generated(entry)) {
            add(entry, hasher)?;
        }
    } else if path.exists() {
        fs::read(path).with_context(|| format!("cannot read {}", path.display()))?.hash(hasher);
    }
    Ok(())
}
