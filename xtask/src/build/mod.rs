//! `cargo xtask build`: the packages.

pub mod npm;
pub mod packages;
pub mod python;
pub mod third_party;
pub mod wasm;

use anyhow::{Result, bail};

/// Builds what is named; without a name, all that tests and the demo run on.
pub fn run(names: &[String]) -> Result<()> {
    if names.is_empty() {
        wasm::build()?;
        npm::build()?;
        return python::build();
    }
    for name in names {
        match name.as_str() {
            "wasm" => wasm::build()?,
            "npm" => npm::build()?,
            "python" => python::build()?,
            "packages" => {
                packages::tarball()?;
                packages::wheel()?;
                packages::sdist()?;
            }
            "third-party" => third_party::write()?,
            _ => bail!(
                "cargo xtask build [wasm | npm | python | packages | third-party]…, not `{name}`"
            ),
        }
    }
    Ok(())
}
