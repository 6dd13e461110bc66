//! What both sides wrote down.

pub mod host;
pub mod server;

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;

use anyhow::{Context, Result};
use serde::de::DeserializeOwned;

/// The lines of a file. The last may be torn where its writer was killed.
fn read<T: DeserializeOwned>(path: &Path, may_be_torn: bool) -> Result<Vec<T>> {
    let file = File::open(path).with_context(|| path.display().to_string())?;
    let mut lines = Vec::new();
    let mut reader = BufReader::new(file).lines().peekable();
    while let Some(line) = reader.next() {
        let line = line?;
        match serde_json::from_str(&line) {
            Ok(entry) => lines.push(entry),
            Err(_) if may_be_torn && reader.peek().is_none() => break,
            Err(error) => {
                let place = format!("{}:{}", path.display(), lines.len() + 1);
                return Err(error).with_context(|| format!("{place}: {line}"));
            }
        }
    }
    Ok(lines)
}
