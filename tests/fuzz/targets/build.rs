//! The interpreter's library is found where it lies.

fn main() {
    pyo3_build_config::add_libpython_rpath_link_args();
}
