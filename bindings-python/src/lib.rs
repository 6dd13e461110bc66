//! Python binding of the stormproof core.

use pyo3::prelude::*;

/// The compiled half of the package.
#[pymodule(gil_used = false)]
fn _core(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))
}
