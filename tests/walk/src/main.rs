//! A breadth-first walk through every reachable state of small worlds: prints what was seen, fails
//! at the first law that is broken.

mod circuit;
mod graph;
mod laws;
mod promises;
mod rules;
mod scenes;
mod seen;
mod transition;
mod world;

use std::process::ExitCode;

use graph::{Figures, walk};
use world::Scene;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let scenes = match arguments.as_slice() {
        [] => scenes::all(),
        [full] if full == "--full" => scenes::with_larger(),
        _ => {
            eprintln!("usage: stormproof-walk [--full]");
            return ExitCode::FAILURE;
        }
    };
    match walk_through(&scenes) {
        Ok(all) => {
            let Figures { states, moves, seen, .. } = all;
            let lacking = seen.lacking();
            if !lacking.is_empty() {
                println!("no world leads to {}", lacking.join(", "));
                return ExitCode::FAILURE;
            }
            println!(
                "proof walk: {} worlds, {states} states, {moves} moves, 0 laws broken",
                scenes.len()
            );
            ExitCode::SUCCESS
        }
        Err(text) => {
            println!("{text}");
            ExitCode::FAILURE
        }
    }
}

fn walk_through(scenes: &[Scene]) -> Result<Figures, String> {
    let mut all = Figures::default();
    for scene in scenes {
        let Figures { states, moves, depth, seen } = walk(scene)?;
        println!("walk {}: {states} states, {moves} moves, depth {depth}", scene.name);
        all.states += states;
        all.moves += moves;
        all.seen.add(seen);
    }
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_worlds_keep_the_laws() {
        let scenes = scenes::without_engines();
        let all = walk_through(&scenes).unwrap_or_else(|text| panic!("{text}"));
        assert!(all.states > 10_000, "{all:?}");
    }
}
