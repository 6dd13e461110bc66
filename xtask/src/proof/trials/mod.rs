//! Faults put into the core by hand: each must be found by two checks that know nothing of each
//! other.

mod checks;
mod copy;
mod faults;

use anyhow::{Result, bail};

use super::{Size, page};
use checks::CHECKS;
use copy::Copy;
use faults::FAULTS;

/// So many checks must find each fault.
const ENOUGH: usize = 2;

/// There is one size.
pub fn run(_: Size) -> Result<String> {
    let copy = Copy::new()?;
    for check in CHECKS {
        if !copy.passes(check)? {
            bail!("`{}` fails without a fault", check.name);
        }
    }
    let mut rows = Vec::new();
    let mut found = Vec::new();
    for fault in FAULTS {
        let marks = copy.with(fault, |copy| {
            CHECKS.iter().map(|check| Ok(!copy.passes(check)?)).collect::<Result<Vec<bool>>>()
        })?;
        let count = marks.iter().filter(|found| **found).count();
        println!("trial {}: found by {}", fault.name, names(&marks).join(", "));
        if count < ENOUGH {
            bail!("the fault `{}` is found by {count} of {} checks", fault.name, CHECKS.len());
        }
        rows.push(row(fault.name, fault.rule, &marks));
        found.push(count);
    }
    page::write_table("trials", &table(&rows))?;
    let least = found.iter().min().copied().unwrap_or_default();
    let figures = format!(
        "proof trials: {} faults put in by hand, each found by at least {least} of {} checks, {:.1} on average",
        FAULTS.len(),
        CHECKS.len(),
        found.iter().sum::<usize>() as f64 / found.len() as f64
    );
    println!("{figures}");
    Ok(figures)
}

fn names(marks: &[bool]) -> Vec<&'static str> {
    CHECKS.iter().zip(marks).filter(|(_, found)| **found).map(|(check, _)| check.name).collect()
}

fn row(fault: &str, rule: &str, marks: &[bool]) -> String {
    let marks: Vec<&str> = marks.iter().map(|found| if *found { "x" } else { "" }).collect();
    format!("| {fault} | {rule} | {} |", marks.join(" | "))
}

fn table(rows: &[String]) -> String {
    let names: Vec<&str> = CHECKS.iter().map(|check| check.name).collect();
    let head = format!("| fault | rule | {} |", names.join(" | "));
    let rule = format!("|---|---|{}", "---|".repeat(names.len()));
    format!("{head}\n{rule}\n{}\n", rows.join("\n"))
}
