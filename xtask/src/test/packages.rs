//! What is published, installed into an empty project and run there.

use std::fs;
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
            .args([
                "install",
                "--offline",
                "--no-audit",
                "--no-fund",
                "--loglevel=error",
            ])
            .arg(&tarball),
    )?;
    for program in ["import.mjs", "require.cjs"] {
        fs::copy(
            workspace::path("tests/packages/npm").join(program),
            project.join(program),
        )?;
        process::run(Command::new("node").current_dir(&project).arg(program))?;
    }
    Ok(String::new())
}

/// The wheel, and the list of what is in the sdist.
pub fn python() -> Result<String> {
    let wheel = build::packages::wheel()?;
    let python = doctor::python()?;
    let environment = workspace::target().join("packages/wheel-venv");
    process::run(
        Command::new(python.program)
            .args(["-m", "venv", "--clear"])
            .arg(&environment),
    )?;
    let interpreter = environment.join("bin/python");
    process::run(
        Command::new(&interpreter)
            .args([
                "-m",
                "pip",
                "install",
                "--quiet",
                "--disable-pip-version-check",
                "--no-index",
            ])
            .arg(&wheel),
    )?;
    let program = workspace::path("tests/packages/python/run.py");
    process::run(
        Command::new(&interpreter)
            .current_dir(&environment)
            .arg("-I")
            .arg(program),
    )?;
    sdist()?;
    Ok(String::new())
}

fn sdist() -> Result<()> {
    let sdist = build::packages::sdist()?;
    let list = process::read(
        Command::new(workspace::venv_program("python"))
            .args(["-m", "tarfile", "--list"])
            .arg(&sdist),
    )?;
    let unwanted = |file: &&str| {
        file.contains("/target/")
            || file.contains("/.venv/")
            || file.trim_end().ends_with(".so")
            || file.contains(".whl")
    };
    if let Some(file) = list.lines().find(unwanted) {
        bail!("the sdist has {file}");
    }
    println!("sdist: {} files", list.lines().count());
    Ok(())
}
