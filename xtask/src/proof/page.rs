//! `docs/verification.md`: the figures of the full runs, written by them.

use std::fs;
use std::process::Command;

use anyhow::{Context, Result};

use super::Part;
use crate::{process, workspace};

const BEGIN: &str = "<!-- figures: written by `cargo xtask proof --full` -->\n";
const END: &str = "<!-- end of figures -->\n";

/// Writes the row of this part.
pub fn write(part: &Part, figures: &str) -> Result<()> {
    let file = workspace::path("docs/verification.md");
    let text = fs::read_to_string(&file).with_context(|| file.display().to_string())?;
    let date = process::read(Command::new("date").args(["-u", "+%F"]))?;
    let row = format!(
        "| {} | {} | `cargo xtask proof --full {}` | {date} |",
        part.name,
        figures.replace('|', "\\|"),
        part.name
    );
    fs::write(&file, with_row(&text, part.name, &row)?)?;
    Ok(())
}

/// Writes the table of this name, whose place the page marks.
pub fn write_table(name: &str, table: &str) -> Result<()> {
    let file = workspace::path("docs/verification.md");
    let text = fs::read_to_string(&file).with_context(|| file.display().to_string())?;
    fs::write(&file, with_table(&text, name, table)?)?;
    Ok(())
}

fn with_table(text: &str, name: &str, table: &str) -> Result<String> {
    let begin = format!("<!-- {name}: written by `cargo xtask proof --full {name}` -->\n");
    let end = format!("<!-- end of {name} -->\n");
    let (before, rest) = text.split_once(&begin).context("the page has no place for the table")?;
    let (_, after) = rest.split_once(&end).context("the table of the page has no end")?;
    Ok(format!("{before}{begin}{table}{end}{after}"))
}

fn with_row(text: &str, name: &str, row: &str) -> Result<String> {
    let (before, rest) = text.split_once(BEGIN).context("the page has no place for figures")?;
    let (table, after) = rest.split_once(END).context("the figures of the page have no end")?;
    let mut rows: Vec<&str> = table.lines().collect();
    let mark = format!("| {name} |");
    match rows.iter().position(|old| old.starts_with(&mark)) {
        Some(place) => rows[place] = row,
        None => rows.push(row),
    }
    Ok(format!("{before}{BEGIN}{}\n{END}{after}", rows.join("\n")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::proof::all;

    #[test]
    fn a_row_is_replaced_or_added() {
        let page = format!("text\n{BEGIN}| part | result |\n|---|---|\n| a | 1 |\n{END}more\n");
        let changed = with_row(&page, "a", "| a | 2 |").unwrap();
        assert_eq!(changed, page.replace("| a | 1 |", "| a | 2 |"));
        let added = with_row(&page, "b", "| b | 3 |").unwrap();
        assert_eq!(added, page.replace("| a | 1 |", "| a | 1 |\n| b | 3 |"));
    }

    #[test]
    fn a_table_is_replaced() {
        let marks = |inside: &str| {
            format!(
                "a\n<!-- t: written by `cargo xtask proof --full t` -->\n{inside}<!-- end of t -->\nb\n"
            )
        };
        assert_eq!(with_table(&marks("| 1 |\n"), "t", "| 2 |\n").unwrap(), marks("| 2 |\n"));
        assert!(with_table(&marks(""), "u", "| 2 |\n").is_err());
    }

    #[test]
    fn the_page_has_the_figures_of_every_part() {
        let text = fs::read_to_string(workspace::path("docs/verification.md")).unwrap();
        for part in all() {
            assert!(text.contains(&format!("\n| {} |", part.name)), "no row for {}", part.name);
        }
    }
}
