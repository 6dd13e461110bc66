//! Benchmarks of the stormproof core.
