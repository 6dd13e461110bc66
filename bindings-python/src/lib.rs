//! Python binding of the stormproof core.
//!
//! [`engine`] is the core without a clock, for hosts with a run loop of their own. The package's
//! own hosts use [`host`] (clock, random words, who wakes whom) and [`call`]; [`caller`] is the way
//! of a blocking call that succeeds at once.
#![forbid(unsafe_code)]

mod attempt;
mod call;
mod caller;
mod classification;
mod clock;
mod decision;
mod engine;
mod fault;
mod host;
mod line;
mod names;
mod policy;
mod settings;
mod spelling;
mod stats;
mod step;
mod texts;
mod tracking;
mod words;

use pyo3::prelude::*;

/// The compiled half of the package.
#[pymodule(gil_used = false)]
mod _core {
    #[pymodule_export]
    use crate::attempt::{Attempt, current};
    #[pymodule_export]
    use crate::call::Call;
    #[pymodule_export]
    use crate::caller::Caller;
    #[pymodule_export]
    use crate::classification::Classification;
    #[pymodule_export]
    use crate::clock::monotonic_ns;
    #[pymodule_export]
    use crate::decision::Decision;
    #[pymodule_export]
    use crate::engine::{Engine, classify_status};
    #[pymodule_export]
    use crate::fault::document_error;
    #[pymodule_export]
    use crate::host::Host;
    #[pymodule_export]
    use crate::policy::{knobs, known_names};
    #[pymodule_export]
    use crate::stats::Stats;
    #[pymodule_export]
    use crate::step::Step;
    #[pymodule_export]
    use crate::texts::{is_idempotent_method, is_key, key_header_value, retry_after_ms};
    #[pymodule_export]
    use crate::tracking::track_attempts;

    use super::*;

    #[pymodule_export]
    #[allow(non_upper_case_globals)]
    const __version__: &str = env!("CARGO_PKG_VERSION");

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        let py = module.py();
        clock::set(py)?;
        let options = pyo3::types::PyDict::new(py);
        options.set_item("after_in_child", wrap_pyfunction!(words::forked, module)?)?;
        let os = py.import("os")?;
        // Windows has no fork.
        if os.hasattr("register_at_fork")? {
            os.call_method("register_at_fork", (), Some(&options))?;
        }
        Ok(())
    }
}
