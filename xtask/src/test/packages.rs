//! What is published, installed into an empty project and run there.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Result, bail};

use crate::{build, doctor, process, workspace};

/// The tarball, by `import` and by `require`.
pub fn npm() -> Result<String> {
    let tarball = build::packages::tarball()?;
    let project = workspace::target().join("packages/npm-project");
    let _ = fs::remove_dir_all(&project);
    fs::create_dir_all(&project)?;
    fs::write(project.join("package.json"), "{ \"private\": true }\n")?;
    process::run(
        Command::new("npm")
            .current_dir(&project)
            .args(["install", "--offline", "--no-audit", "--no-fund", "--loglevel=error"])
            .arg(&tarball),
    )?;
    notices(&project)?;
    for program in ["import.mjs", "require.cjs"] {
        fs::copy(workspace::path("tests/packages/npm").join(program), project.join(program))?;
        process::run(Command::new("node").current_dir(&project).arg(program))?;
    }
    Ok(String::new())
}

/// The wheel, and that the sdist has what it takes to build one.
pub fn python() -> Result<String> {
    let wheel = build::packages::wheel()?;
    let python = doctor::python()?;
    let environment = workspace::target().join("packages/wheel-venv");
    process::run(Command::new(python.program).args(["-m", "venv", "--clear"]).arg(&environment))?;
    let interpreter = environment.join("bin/python");
    process::run(
        Command::new(&interpreter)
            .args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-index"])
            .arg(&wheel),
    )?;
    notices(&environment)?;
    let program = workspace::path("tests/packages/python/run.py");
    process::run(Command::new(&interpreter).current_dir(&environment).arg("-I").arg(program))?;
    sdist()?;
    Ok(String::new())
}

/// Unpacks and builds the sdist: what it lacks, a user without a wheel lacks too.
fn sdist() -> Result<()> {
    let sdist = build::packages::sdist()?;
    let unpacked = workspace::target().join("packages/sdist");
    let _ = fs::remove_dir_all(&unpacked);
    fs::create_dir_all(&unpacked)?;
    // Its files bear a date of long ago: cargo must see them as new (-m).
    let mut tar = Command::new("tar");
    tar.arg("-xzmf").arg(&sdist).arg("-C").arg(&unpacked);
    process::run(&mut tar)?;
    let files = files(&unpacked)?;
    let unwanted = |file: &&PathBuf| {
        let built = file.extension().is_some_and(|e| e == "so" || e == "whl");
        built || file.iter().any(|part| part == "target" || part == ".venv")
    };
    let inside: Vec<PathBuf> = files
        .iter()
        .filter_map(|file| Some(file.strip_prefix(&unpacked).ok()?.to_path_buf()))
        .collect();
    if let Some(file) = inside.iter().find(unwanted) {
        bail!("the sdist has {}", file.display());
    }
    println!("sdist: {} files", inside.len());
    let project = unpacked.join(format!("stormproof-{}", workspace::VERSION));
    process::run(
        build::python::maturin("build")
            .current_dir(project)
            // Cargo would take the workspace's own build for this one.
            .env("CARGO_TARGET_DIR", workspace::target().join("packages/sdist-target"))
            .args(["--release", "--out"])
            .arg(unpacked.join("wheel")),
    )
}

/// What licences want to be handed on was handed on.
fn notices(installed: &Path) -> Result<()> {
    let files = files(installed)?;
    let own = |file: &&PathBuf| {
        let inside = file.strip_prefix(installed).unwrap_or(file);
        inside.iter().any(|part| part.to_string_lossy().starts_with("stormproof"))
    };
    let own: Vec<&PathBuf> = files.iter().filter(own).collect();
    for notice in build::packages::NOTICES {
        if !own.iter().any(|file| file.ends_with(notice)) {
            bail!("{notice} is not in what was installed");
        }
    }
    Ok(())
}

fn files(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            found.extend(files(&path)?);
        } else {
            found.push(path);
        }
    }
    Ok(found)
}
