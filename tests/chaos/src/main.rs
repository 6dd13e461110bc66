//! `stormproof-chaos [--seed N] [--runs N] [--seconds S] [--calls N] [--hosts rust,node,python] [--folder DIR] [--python FILE] [--check]`
//!
//! Plays a random scenario to the hosts under load, then holds the laws against what both sides wrote
//! down. `--check` only does the latter, with what an earlier run has left.

mod laws;
mod log;
mod mood;
mod options;
mod policy;
mod scenario;
mod stage;
mod story;
mod verdict;

use std::process::ExitCode;
use std::thread;

use anyhow::{Context, Result};

use options::Options;
use verdict::Verdict;

fn main() -> ExitCode {
    let options = match Options::from_env() {
        Ok(options) => options,
        Err(error) => {
            eprintln!("stormproof-chaos: {error}");
            return ExitCode::from(2);
        }
    };
    match run(&options) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("stormproof-chaos: {error:#}");
            ExitCode::FAILURE
        }
    }
}

/// Answers whether all laws hold.
fn run(options: &Options) -> Result<bool> {
    let seeds = options.seed..options.seed + options.runs.max(1);
    let mut all = None;
    for seed in seeds.clone() {
        let verdict = run_one(options, seed).with_context(|| format!("seed {seed}"))?;
        all = Some(verdict.and(all));
    }
    let seeds: Vec<String> = seeds.map(|seed| seed.to_string()).collect();
    let all = all.unwrap_or_default();
    let (word, hosts) = (if seeds.len() > 1 { "seeds" } else { "seed" }, options.hosts.len());
    println!("proof chaos: {word} {}, {hosts} hosts, {all}", seeds.join(" "));
    Ok(all.is_clean())
}

/// All hosts at the same time, and what they come to together.
fn run_one(options: &Options, seed: u64) -> Result<Verdict> {
    let folder = options.folder.join(seed.to_string());
    println!(
        "chaos: --seed {seed} --seconds {}, logs in {}",
        options.load.as_secs(),
        folder.display()
    );
    if !options.check_only {
        stage::play(options, seed, &folder)?;
    }
    let judge = |host: &String| Verdict::of(&folder, host, options.calls);
    let verdicts: Vec<Result<Verdict>> = thread::scope(|scope| {
        let judges = options.hosts.iter().map(|host| scope.spawn(move || judge(host)));
        let judges: Vec<_> = judges.collect();
        judges.into_iter().map(|judge| judge.join().expect("a judge does not panic")).collect()
    });
    let mut all = None;
    for (host, verdict) in options.hosts.iter().zip(verdicts) {
        let verdict = verdict?;
        println!("proof chaos {host}: seed {seed}, {verdict}");
        all = Some(verdict.and(all));
    }
    Ok(all.unwrap_or_default())
}
