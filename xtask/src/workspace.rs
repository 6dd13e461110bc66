//! Where things are.

use std::path::PathBuf;

/// The folder of the workspace's `Cargo.toml`.
pub fn root() -> PathBuf {
    // Cargo sets the variable at run time too; a binary that is shared by two checkouts must believe that one.
    let manifest = std::env::var_os("CARGO_MANIFEST_DIR")
        .map_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")), PathBuf::from);
    match manifest.parent() {
        Some(root) => root.to_path_buf(),
        None => manifest,
    }
}

/// `path` inside the checkout.
pub fn path(path: &str) -> PathBuf {
    root().join(path)
}

/// Cargo's target folder.
pub fn target() -> PathBuf {
    match std::env::var_os("CARGO_TARGET_DIR") {
        Some(target) => root().join(target),
        None => path("target"),
    }
}

/// A program that npm installed.
pub fn npm_program(name: &str) -> PathBuf {
    path("npm/node_modules/.bin").join(name)
}

/// A program of the Python environment.
pub fn venv_program(name: &str) -> PathBuf {
    path(".venv/bin").join(name)
}

/// The package version, whose one home is the workspace's `Cargo.toml`.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");

#[cfg(test)]
mod tests {
    use super::*;

    fn json(file: &str) -> serde_json::Value {
        let text = std::fs::read_to_string(path(file)).expect(file);
        serde_json::from_str(&text).expect(file)
    }

    #[test]
    fn npm_has_the_workspace_version() {
        assert_eq!(json("npm/package.json")["version"], VERSION);
        let lock = json("npm/package-lock.json");
        assert_eq!(lock["version"], VERSION);
        assert_eq!(lock["packages"][""]["version"], VERSION);
    }

    #[test]
    fn python_takes_its_version_from_cargo() {
        let text = std::fs::read_to_string(path("bindings-python/pyproject.toml")).unwrap();
        assert!(
            text.lines().any(|line| line.starts_with("dynamic") && line.contains("\"version\""))
        );
        assert!(!text.lines().any(|line| line.starts_with("version")));
    }

    #[test]
    fn npm_tools_are_pinned_and_nothing_is_needed_at_run_time() {
        let package = json("npm/package.json");
        assert!(package.get("dependencies").is_none());
        for (name, version) in package["devDependencies"].as_object().unwrap() {
            let version = version.as_str().unwrap();
            assert!(version.starts_with(|c: char| c.is_ascii_digit()), "{name} {version}");
        }
    }

    #[test]
    fn python_tools_are_pinned() {
        let text = std::fs::read_to_string(path("tests/requirements.txt")).unwrap();
        for line in text.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
            assert!(line.contains("=="), "{line}");
        }
    }
}
