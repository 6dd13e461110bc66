//! `cargo xtask demo --check`: the demo holds what it promises.

use anyhow::{Context, Result, bail};
use serde_json::Value;

use super::cast::Cast;
use super::options::Options;
use super::results::Results;
use super::{page, perform};
use crate::workspace;

/// In the calm before the quick storm's outage: calls are under way, none has failed yet.
const KILL_AT_MS: u64 = 2_000;

/// Runs the quick storm twice, once with servers that are killed, and judges what was measured.
pub fn run(cast: &Cast) -> Result<()> {
    let mut verdicts = Vec::new();
    let quick = Options { quick: true, ..Options::default() };
    let killed = Options { kill_server_at_ms: Some(KILL_AT_MS), ..quick.clone() };
    // The killed run first, so that the page that stays shows the storm.
    let run = perform(cast, &killed).and_then(|()| Results::read());
    verdicts.push((
        "a demo whose servers are killed ends well",
        run.as_ref().map(|_| ()).map_err(text),
    ));
    if let Ok(results) = &run {
        verdicts.push(("after the kill every call has ended", lost(results)));
    }
    let run = perform(cast, &quick).and_then(|()| Results::read());
    verdicts.push(("the demo ends well", run.as_ref().map(|_| ()).map_err(text)));
    if let Ok(results) = &run {
        verdicts.push(("every call has ended", lost(results)));
        verdicts.push(("the storm is at least twice the calm", twice(results)));
        verdicts.push(("the calm is well again first", recovered(results)));
        verdicts.push(("the hosts decide the same", decisions(results)));
        verdicts.push(("the page has its plots", plots().map_err(|error| text(&error))));
    }
    close(&verdicts)
}

fn close(verdicts: &[(&str, Result<(), String>)]) -> Result<()> {
    println!();
    for (what, verdict) in verdicts {
        match verdict {
            Ok(()) => println!("passed  {what}"),
            Err(why) => println!("FAILED  {what}: {why}"),
        }
    }
    let failed = verdicts.iter().filter(|(_, verdict)| verdict.is_err()).count();
    println!("{} passed, {failed} failed", verdicts.len() - failed);
    if failed > 0 {
        bail!("{failed} checks of the demo failed");
    }
    Ok(())
}

fn lost(results: &Value) -> Result<(), String> {
    for run in results["runs"].as_array().into_iter().flatten() {
        for host in run["hosts"].as_array().into_iter().flatten() {
            if host["lost"] != 0 || host["calls"] == 0 {
                return Err(format!("{} {}: {host}", host["name"], run["title"]));
            }
        }
    }
    Ok(())
}

fn twice(results: &Value) -> Result<(), String> {
    let peak = |run: usize| results["runs"][run]["peak_rps"].as_u64().unwrap_or(0);
    let (with, without) = (peak(0), peak(1));
    match with > 0 && without >= 2 * with {
        true => Ok(()),
        false => Err(format!("peaks of {with} and {without} requests a second")),
    }
}

fn recovered(results: &Value) -> Result<(), String> {
    let recovery = |run: usize| results["runs"][run]["recovery_ms"].as_u64();
    match (recovery(0), recovery(1)) {
        (Some(with), without) if without.is_none_or(|without| with < without) => Ok(()),
        (with, without) => Err(format!("after {with:?} ms, without stormproof {without:?} ms")),
    }
}

fn decisions(results: &Value) -> Result<(), String> {
    match &results["decisions_equal"] {
        Value::Bool(true) => Ok(()),
        other => Err(format!("equal: {other}, see {}", workspace::path("target/demo").display())),
    }
}

fn plots() -> Result<()> {
    let text = std::fs::read_to_string(page::path()).context("there is no page")?;
    let plots = text.matches("<svg").count();
    if plots < page::PLOTS {
        bail!("{plots} plots of {}", page::PLOTS);
    }
    Ok(())
}

fn text(error: &anyhow::Error) -> String {
    format!("{error:#}")
}
