//! The clock of all clients: `time.monotonic_ns()`, read without the interpreter.

use std::time::Instant as StdInstant;

use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use stormproof::time::Instant;

static ORIGIN: PyOnceLock<Origin> = PyOnceLock::new();

/// One moment on both clocks. They are the same clock of the system, so the distance stays.
struct Origin {
    python: u64,
    rust: StdInstant,
}

/// Finds where Python's clock stands.
pub fn set(py: Python<'_>) -> PyResult<()> {
    ORIGIN
        .get_or_try_init(py, || {
            let monotonic_ns = py.import("time")?.getattr("monotonic_ns")?;
            PyResult::Ok(Origin {
                python: monotonic_ns.call0()?.extract()?,
                rust: StdInstant::now(),
            })
        })
        .map(|_| ())
}

#[inline]
pub fn now(py: Python<'_>) -> Instant {
    let nanos = ORIGIN.get(py).map_or(0, |origin| {
        let elapsed = origin.rust.elapsed();
        origin.python + elapsed.as_secs() * 1_000_000_000 + u64::from(elapsed.subsec_nanos())
    });
    Instant::from_nanos(nanos)
}

/// Nanoseconds as seconds.
pub fn seconds(nanos: u64) -> f64 {
    nanos as f64 / 1e9
}

/// `time.monotonic_ns()`.
#[pyfunction]
pub fn monotonic_ns(py: Python<'_>) -> u64 {
    now(py).as_nanos()
}
