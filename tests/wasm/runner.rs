//! What cargo hands a test to that was built for WebAssembly: binds it and runs it in Node.

fn main() -> Result<(), Box<dyn std::error::Error>> {
    wasm_bindgen_cli::wasm_bindgen_test_runner::run_cli_with_args(std::env::args_os())?;
    Ok(())
}
