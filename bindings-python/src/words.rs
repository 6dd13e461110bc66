//! Random words for the core.

use std::sync::atomic::{AtomicU64, Ordering};

use pyo3::prelude::*;
use rand_core::{RngCore, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

/// How many forks lie between the first process and this one.
static EPOCH: AtomicU64 = AtomicU64::new(0);

/// Which process this is, counted in forks.
pub fn epoch() -> u64 {
    EPOCH.load(Ordering::Relaxed)
}

/// Tells this process from the one that it was forked from.
#[pyfunction]
pub fn forked() {
    EPOCH.fetch_add(1, Ordering::Relaxed);
}

/// The source of one engine's random words: xoshiro256++.
#[derive(Clone, Debug)]
pub struct Words(Xoshiro256PlusPlus);

impl Words {
    /// Without a seed, the operating system's randomness is taken: equal jitter in every process
    /// is the storm itself.
    pub fn new(py: Python<'_>, seed: Option<u64>) -> PyResult<Self> {
        let random = match seed {
            Some(seed) => Xoshiro256PlusPlus::seed_from_u64(seed),
            None => {
                let bytes = py.import("os")?.call_method1("urandom", (32,))?;
                Xoshiro256PlusPlus::from_seed(bytes.extract()?)
            }
        };
        Ok(Self(random))
    }

    pub fn next(&mut self) -> u64 {
        self.0.next_u64()
    }
}
