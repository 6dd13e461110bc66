//! Where what we depend on comes from, under which licences, and what is known against it.

use std::process::{Command, Output};

use anyhow::{Context, Result, bail};
use serde_json::Value as Json;

use super::Size;
use crate::doctor::Missing;
use crate::{build, workspace};

/// What became of one check.
enum Checked {
    /// It ran and found nothing; so much was looked at.
    Clean(String),
    /// It could not run, and why.
    NotRun(String),
}

type Check = fn() -> Result<Checked>;

/// Asks cargo-deny, npm and pip-audit. What could not be asked is said, in the figures as well.
pub fn run(_: Size) -> Result<String> {
    build::npm::install()?;
    let checks: [(&str, Check); 4] =
        [("cargo-deny", rules), ("advisories", advisories), ("npm audit", npm), ("pip-audit", pip)];
    let (mut clean, mut not_run) = (Vec::new(), Vec::new());
    for (name, check) in checks {
        match check().context(name)? {
            Checked::Clean(what) => {
                println!("{name}: {what}");
                clean.push(format!("{name}: {what}"));
            }
            Checked::NotRun(why) => {
                println!("{name}: NOT RUN, {why}");
                not_run.push(name);
            }
        }
    }
    if !not_run.is_empty() {
        clean.push(format!("not run for lack of a database or tool: {}", not_run.join(", ")));
    }
    let line = format!("proof supply: {}", clean.join("; "));
    println!("{line}");
    Ok(line)
}

/// Licences, bans and sources need no database: this one has to run.
fn rules() -> Result<Checked> {
    if !Command::new("cargo-deny").arg("--version").output().is_ok_and(|out| out.status.success()) {
        bail!(Missing::new("cargo-deny", "cargo install --locked cargo-deny"));
    }
    let arguments = ["deny", "--offline", "check", "licenses", "bans", "sources"];
    let output = output(Command::new("cargo").args(arguments))?;
    if !output.status.success() {
        bail!("{}", said(&output));
    }
    let lock = std::fs::read_to_string(workspace::path("Cargo.lock"))?;
    let crates = lock.matches("[[package]]").count();
    Ok(Checked::Clean(format!("licences, bans and sources of {crates} crates")))
}

fn advisories() -> Result<Checked> {
    let output = output(Command::new("cargo").args(["deny", "check", "advisories"]))?;
    judge_advisories(&said(&output))
}

fn judge_advisories(said: &str) -> Result<Checked> {
    if said.contains("advisories FAILED") {
        bail!("{said}");
    }
    if said.contains("advisories ok") {
        return Ok(Checked::Clean("none against these crates".into()));
    }
    Ok(Checked::NotRun(last_line(said)))
}

fn npm() -> Result<Checked> {
    let mut npm = Command::new("npm");
    npm.args(["audit", "--json"]).current_dir(workspace::path("npm"));
    let output = npm.output()?;
    judge_npm(&String::from_utf8_lossy(&output.stdout))
}

fn judge_npm(json: &str) -> Result<Checked> {
    let report: Json = serde_json::from_str(json).unwrap_or_default();
    let metadata = &report["metadata"];
    match metadata["vulnerabilities"]["total"].as_u64() {
        Some(0) => {
            let packages = &metadata["dependencies"]["total"];
            Ok(Checked::Clean(format!("nothing against {packages} packages")))
        }
        Some(count) => bail!("{count} vulnerabilities: {}", report["vulnerabilities"]),
        None => {
            let message = report["message"].as_str().unwrap_or("no report");
            Ok(Checked::NotRun(message.to_owned()))
        }
    }
}

fn pip() -> Result<Checked> {
    let program = workspace::venv_program("pip-audit");
    if !program.exists() {
        return Ok(Checked::NotRun("it is not installed: .venv/bin/pip install pip-audit".into()));
    }
    let mut audit = Command::new(program);
    audit.args([
        "--requirement",
        "tests/requirements.txt",
        "--format=json",
        "--progress-spinner=off",
    ]);
    let output = output(&mut audit)?;
    judge_pip(&String::from_utf8_lossy(&output.stdout), &said(&output))
}

fn judge_pip(json: &str, said: &str) -> Result<Checked> {
    let report: Json = serde_json::from_str(json).unwrap_or_default();
    let Some(packages) = report["dependencies"].as_array() else {
        return Ok(Checked::NotRun(last_line(said)));
    };
    let is_clean = |package: &&Json| package["vulns"].as_array().is_some_and(Vec::is_empty);
    if let Some(package) = packages.iter().find(|package| !is_clean(package)) {
        bail!("{package}");
    }
    Ok(Checked::Clean(format!("nothing against {} packages", packages.len())))
}

fn output(command: &mut Command) -> Result<Output> {
    if command.get_current_dir().is_none() {
        command.current_dir(workspace::root());
    }
    Ok(command.output()?)
}

fn said(output: &Output) -> String {
    let [stdout, stderr] =
        [&output.stdout, &output.stderr].map(|bytes| String::from_utf8_lossy(bytes));
    format!("{stdout}{stderr}").trim().to_owned()
}

fn last_line(text: &str) -> String {
    text.lines().last().unwrap_or("it said nothing").trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn verdict(checked: Result<Checked>) -> &'static str {
        match checked {
            Ok(Checked::Clean(_)) => "clean",
            Ok(Checked::NotRun(_)) => "not run",
            Err(_) => "found",
        }
    }

    #[test]
    fn what_was_not_asked_is_not_clean() {
        for (said, expected) in [
            ("advisories ok", "clean"),
            ("error[vulnerability]: a\n\nadvisories FAILED", "found"),
            ("[ERROR] failed to fetch advisory database", "not run"),
            ("", "not run"),
        ] {
            assert_eq!(verdict(judge_advisories(said)), expected, "{said}");
        }
        let npm = |total: u64| {
            let counts = format!(r#"{{"vulnerabilities":{{"total":{total}}}}}"#);
            format!(r#"{{"vulnerabilities":{{}},"metadata":{counts}}}"#)
        };
        assert_eq!(verdict(judge_npm(&npm(0))), "clean");
        assert_eq!(verdict(judge_npm(&npm(2))), "found");
        assert_eq!(verdict(judge_npm(r#"{"message":"405 Method Not Allowed"}"#)), "not run");
        assert_eq!(verdict(judge_npm("")), "not run");
        let pip = |vulns: &str| {
            judge_pip(&format!(r#"{{"dependencies":[{{"name":"a","vulns":{vulns}}}]}}"#), "")
        };
        assert_eq!(verdict(pip("[]")), "clean");
        assert_eq!(verdict(pip(r#"[{"id":"PYSEC-1"}]"#)), "found");
        assert_eq!(verdict(judge_pip("", "cannot connect")), "not run");
    }
}
