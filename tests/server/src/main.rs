//! An HTTP server that fails on purpose.
fn main() {}
