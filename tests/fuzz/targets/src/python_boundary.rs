//! The interpreter and the compiled half of the package in one program, so that libFuzzer sees which
//! ways through the binding an input takes. What an input means and what must hold stands in
//! `bindings-python/tests/boundary.py`.
#![no_main]

use pyo3::ffi::{PyImport_AppendInittab, PyObject};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyList;

// Links the binding, whose one symbol is that of its module.
use stormproof_python_linked as _;

// SAFETY: it is the symbol that the module of the binding has by the rules of the interpreter.
unsafe extern "C" {
    fn PyInit__core() -> *mut PyObject;
}

static CHECK: PyOnceLock<Py<PyAny>> = PyOnceLock::new();

libfuzzer_sys::fuzz_target!(
    init: {
        // SAFETY: nobody has started the interpreter yet, and the name ends with a zero.
        unsafe { PyImport_AppendInittab(c"_core".as_ptr(), Some(PyInit__core)) };
        Python::initialize();
    },
    |input: &[u8]| {
        Python::attach(|py| {
            let result = CHECK
                .get_or_try_init(py, || load(py))
                .and_then(|check| check.call1(py, (input,)));
            if let Err(error) = result {
                error.display(py);
                panic!("{error}");
            }
        });
    }
);

fn load(py: Python<'_>) -> PyResult<Py<PyAny>> {
    let binding = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../bindings-python");
    let sys = py.import("sys")?;
    let path = sys.getattr("path")?.cast_into::<PyList>()?;
    path.insert(0, format!("{binding}/python"))?;
    path.insert(0, format!("{binding}/tests"))?;
    // The package finds the half that is linked here, not one that was built for another.
    sys.getattr("modules")?.set_item("stormproof._core", py.import("_core")?)?;
    py.import("logging")?.call_method1("disable", (50,))?;
    py.import("warnings")?.call_method1("simplefilter", ("ignore",))?;
    Ok(py.import("boundary")?.getattr("check")?.unbind())
}

/// The interpreter does not free all that it has at its end.
// SAFETY: the sanitizer asks for a function of this name and shape; nobody else defines one.
#[unsafe(no_mangle)]
pub extern "C" fn __lsan_is_turned_off() -> std::ffi::c_int {
    1
}
