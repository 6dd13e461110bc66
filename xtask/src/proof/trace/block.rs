//! What a target printed: the digest after each block of steps, and the whole.

use std::fmt;

use anyhow::{Context, Result, ensure};

/// The digests of one target.
#[derive(Debug)]
pub struct Trace {
    /// Which it is.
    pub target: String,
    /// How many steps it made.
    pub steps: u64,
    /// The last digest.
    pub hash: String,
    blocks: Vec<String>,
}

impl Trace {
    /// Reads the lines `block N HASH` and `trace TARGET: N steps, hash HASH`.
    pub fn read(text: &str) -> Result<Self> {
        let mut blocks = Vec::new();
        for line in text.lines().filter_map(|line| line.strip_prefix("block ")) {
            let (number, hash) = line.split_once(' ').context("a block without a hash")?;
            ensure!(number == (blocks.len() + 1).to_string(), "block {number} is out of turn");
            blocks.push(hash.to_owned());
        }
        let line = text.lines().find_map(|line| line.strip_prefix("trace "));
        let line = line.context("a target printed no line `trace TARGET: …`")?;
        let (target, rest) = line.split_once(": ").context("a trace of no target")?;
        let (steps, hash) = rest.split_once(" steps, hash ").context("a trace without a hash")?;
        let is_hash = hash.len() == 16 && hash.bytes().all(|byte| byte.is_ascii_hexdigit());
        ensure!(is_hash, "{target}: {hash} is no hash");
        ensure!(blocks.last().is_some_and(|last| last == hash), "{target}: the last block differs");
        let (target, hash) = (target.to_owned(), hash.to_owned());
        Ok(Self { target, steps: steps.parse()?, hash, blocks })
    }

    /// Where this one leaves `first`.
    pub fn differs(&self, first: &Self) -> Option<String> {
        let (target, other) = (&self.target, &first.target);
        let place = self.blocks.iter().zip(&first.blocks).position(|(own, theirs)| own != theirs);
        if let Some(place) = place {
            let size = first.steps / first.blocks.len() as u64;
            let (from, to) = (place as u64 * size + 1, (place as u64 + 1) * size);
            let number = place + 1;
            return Some(format!(
                "{target} differs from {other} from block {number} on (steps {from} to {to})"
            ));
        }
        let same = self.steps == first.steps && self.blocks.len() == first.blocks.len();
        (!same).then(|| format!("{target} made {} steps, {other} made {}", self.steps, first.steps))
    }
}

impl fmt::Display for Trace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { target, steps, hash, .. } = self;
        write!(f, "trace {target}: {steps} steps, hash {hash}")
    }
}
