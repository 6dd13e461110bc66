//! `cargo xtask proof`: what shows that the core is right, in the size of CI or in full.

pub mod chaos;
mod coverage;
mod fuzz;
mod jitter;
mod miri;
mod model;
mod mutants;
mod page;
mod parts;
mod supply;
pub mod trace;
mod trials;
pub mod walk;

use anyhow::{Result, bail};

use parts::{FULL_PARTS, PARTS};

/// How much is checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Size {
    /// Minutes: what every change is worth.
    Ci,
    /// Hours: its figures are written into `docs/verification.md`.
    Full,
}

/// One way of checking.
pub struct Part {
    /// What `cargo xtask proof NAME` calls it.
    pub name: &'static str,
    /// What it shows.
    pub about: &'static str,
    /// Answers with what it printed; the figures are in the line `proof NAME: …`.
    pub run: fn(Size) -> Result<String>,
}

/// Runs all parts, or those that are named.
pub fn run(arguments: &[String]) -> Result<()> {
    let mut size = Size::Ci;
    let mut is_list = false;
    let mut chosen = Vec::new();
    for argument in arguments {
        match argument.as_str() {
            "--full" => size = Size::Full,
            "--list" => is_list = true,
            name => match all().find(|part| part.name == name) {
                Some(part) => chosen.push(part),
                None => bail!("`{name}` is no part: see cargo xtask proof --list"),
            },
        }
    }
    if is_list {
        list();
        return Ok(());
    }
    if size == Size::Ci
        && let Some(part) =
            chosen.iter().find(|part| FULL_PARTS.iter().any(|full| full.name == part.name))
    {
        bail!("`{0}` has one size: cargo xtask proof --full {0}", part.name);
    }
    if chosen.is_empty() {
        match size {
            Size::Ci => chosen.extend(PARTS),
            Size::Full => chosen.extend(all()),
        }
    }
    let mut results = Vec::new();
    for part in chosen {
        println!("\n== {}: {}", part.name, part.about);
        let result = (part.run)(size).and_then(|text| figures(part.name, &text));
        if let (Ok(figures), Size::Full) = (&result, size) {
            page::write(part, figures)?;
        }
        results.push((part.name, result));
    }
    close(&results)
}

fn list() {
    PARTS.iter().for_each(|part| println!("{:<10} {}", part.name, part.about));
    for part in FULL_PARTS {
        println!("{:<10} {} (only with --full)", part.name, part.about);
    }
}

fn all() -> impl Iterator<Item = &'static Part> {
    PARTS.iter().chain(FULL_PARTS)
}

/// The rest of the last line that says `proof NAME: …`.
fn figures(name: &str, text: &str) -> Result<String> {
    let mark = format!("proof {name}: ");
    let line = text.lines().rev().find_map(|line| Some(line.split_once(&mark)?.1.trim()));
    match line {
        Some(figures) if !figures.is_empty() => Ok(figures.to_owned()),
        _ => bail!("`{name}` printed no line `{mark}…`"),
    }
}

fn close(results: &[(&str, Result<String>)]) -> Result<()> {
    println!();
    for (name, result) in results {
        match result {
            Ok(figures) => println!("{name:<10} passed   {figures}"),
            Err(error) => println!("{name:<10} FAILED   {error:#}"),
        }
    }
    let failed = results.iter().filter(|(_, result)| result.is_err()).count();
    println!("\n{} passed, {failed} failed", results.len() - failed);
    if failed > 0 {
        bail!("{failed} of {} parts failed", results.len());
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_the_last_line_of_the_part() {
        let text = "proof walk: 1 state\nproof other: 3\ntest a: proof walk: 2 states \n";
        assert_eq!(figures("walk", text).unwrap(), "2 states");
        assert!(figures("fuzz", text).is_err());
        assert!(figures("walk", "proof walk: ").is_err());
    }
}
