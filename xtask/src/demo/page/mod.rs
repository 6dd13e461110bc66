//! The page: one file without a network.

mod canvas;
mod circuit;
mod ink;
mod rate;
mod success;
mod tables;
mod waits;

use std::path::PathBuf;
use std::process::Command;

use anyhow::Result;

use super::cast;
use super::decisions::Decisions;
use super::results::Results;
use super::run::{POLICY, RATE};
use crate::{process, workspace};

/// How many plots the page has.
pub const PLOTS: usize = 4;

/// Where it lies.
pub fn path() -> PathBuf {
    workspace::path("target/demo/index.html")
}

/// Writes it and says where it is.
pub fn write(results: &Results) -> Result<PathBuf> {
    let path = path();
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder)?;
    }
    std::fs::write(&path, page(results)?)?;
    Ok(path)
}

fn page(results: &Results) -> Result<String> {
    let body = [
        head(results),
        requests(results)?,
        successes(results)?,
        circuits(results)?,
        waits(results)?,
        totals(results),
        results.decisions.as_ref().map(decisions).unwrap_or_default(),
    ];
    Ok(format!(
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" content=\"width=device-width\"><meta name=\"color-scheme\" content=\"light dark\"><title>stormproof: the storm and the calm</title><style>{}</style></head>\n<body><main>\n{}</main></body></html>\n",
        include_str!("style.css"),
        body.concat()
    ))
}

fn requests(results: &Results) -> Result<String> {
    let keys = [
        ("with", "with stormproof"),
        ("without", "without"),
        ("capacity", "what the server can answer"),
        ("trouble", "some calls fail"),
        ("dead", "all calls fail"),
    ];
    Ok(section(
        "Requests per second at the server",
        "Without stormproof every failed call comes back up to three times: the outage ends, the queue stays full, answers come too late for those who asked. With it the load falls during the outage. While the server is down nobody reaches it, with or without.",
        &legend(&keys),
        &rate::plot(results)?,
    ))
}

fn successes(results: &Results) -> Result<String> {
    Ok(section(
        "Calls that succeed",
        "Of the calls that ended in the half second before. Nobody succeeds in an outage; what differs is how soon it is over for the callers.",
        &legend(&[("with", "with stormproof"), ("without", "without")]),
        &success::plot(results)?,
    ))
}

fn circuits(results: &Results) -> Result<String> {
    Ok(section(
        "Circuit",
        "Each host finds out for itself: open soon after the server goes, half-open to ask again, closed soon after it is back.",
        &legend(&[("closed", "closed (low)"), ("half-open", "half-open"), ("open", "open (high)")]),
        &circuit::plot(results)?,
    ))
}

fn waits(results: &Results) -> Result<String> {
    Ok(section(
        "Waits before retries",
        "Spread at random, so that no two callers come back together; those beyond 1,000 ms are the server's Retry-After, never cut short. Without stormproof every wait is 100 ms.",
        "",
        &waits::plot(results)?,
    ))
}

fn totals(results: &Results) -> String {
    section(
        "Totals",
        "“Per call” is the amplification: requests at the server for each call. A lost call would be one that ended neither with a value nor with an error.",
        "",
        &tables::totals(results),
    )
}

fn decisions(decisions: &Decisions) -> String {
    let verdict = match decisions.are_equal() {
        true => {
            "each host chose the same waits to the nanosecond and ended each call for the same reason."
        }
        false => "the hosts did not decide the same.",
    };
    section(
        "The same decisions",
        &format!("A scripted server, one seed, one policy file: {verdict}"),
        "",
        &tables::decisions(decisions),
    )
}

fn head(results: &Results) -> String {
    let hosts: Vec<String> = results
        .with
        .tracks
        .iter()
        .map(|track| format!("{} {}", track.name, cast::version(&track.name)))
        .collect();
    let date = process::read(Command::new("date").args(["-u", "+%Y-%m-%d %H:%M UTC"]));
    let killed = results.killed_at_ms.map_or(String::new(), |at| {
        format!(" The servers were killed after {:.1} s.", canvas::seconds(at))
    });
    let policy = std::fs::read_to_string(workspace::path(POLICY)).unwrap_or_default();
    format!(
        "<h1>The storm and the calm</h1>\n<p class=\"what\">stormproof {} · {} · {}</p>\n\
         <p>Two servers fail in the same way at the same time. The same calls go to both, {:.0} a second: to one by a policy file that all hosts share, to the other by a loop of four tries 100 ms apart.{killed}</p>\n{}\
         <details><summary>The policy</summary><pre>{}</pre></details>\n",
        workspace::VERSION,
        escaped(&hosts.join(" · ")),
        date.unwrap_or_default(),
        RATE,
        tables::comparison(results),
        escaped(policy.trim()),
    )
}

fn section(title: &str, what_to_see: &str, legend: &str, content: &str) -> String {
    format!(
        "<section><h2>{title}</h2>\n<p>{what_to_see}</p>\n{legend}<div class=\"wide\">{content}</div></section>\n"
    )
}

fn legend(keys: &[(&str, &str)]) -> String {
    let keys: String =
        keys.iter().map(|(ink, name)| format!("<li><i class=\"{ink}\"></i>{name}</li>")).collect();
    format!("<ul class=\"legend\">{keys}</ul>\n")
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
