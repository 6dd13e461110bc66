//! Runs the trace here and writes down its inputs, for those who cannot run it.

mod record;

use std::fs;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use stormproof_trace::coverage::Coverage;
use stormproof_trace::{Moment, STEPS, run};

use record::Documents;

fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let folder = match arguments.as_slice() {
        [folder] => PathBuf::from(folder),
        _ => bail!("usage: stormproof-trace FOLDER"),
    };
    fs::create_dir_all(&folder).with_context(|| folder.display().to_string())?;
    trace(&folder)
}

fn trace(folder: &Path) -> Result<()> {
    let mut inputs = BufWriter::new(fs::File::create(folder.join("inputs.bin"))?);
    let mut documents = Documents::default();
    let mut coverage = Coverage::default();
    let mut written = Ok(());
    let digest = run(STEPS, |moment| {
        let record = match moment {
            Moment::Policy(draft) => record::policy(documents.add(draft)),
            Moment::Asked(now, input, word, answer) => {
                coverage.add(answer);
                record::input(now, &input, word)
            }
        };
        if written.is_ok() {
            written = inputs.write_all(&record);
        }
    });
    written?;
    inputs.into_inner().map_err(|error| error.into_error())?;
    fs::write(folder.join("trace.json"), documents.json())?;
    print!("{}", coverage.table());
    for (place, block) in digest.blocks().enumerate() {
        println!("block {} {block:016x}", place + 1);
    }
    let lacking = coverage.lacking();
    if !lacking.is_empty() {
        bail!("the trace never came to {}", lacking.join(", "));
    }
    println!("trace {}: {} steps, hash {:016x}", target(), digest.steps(), digest.hash());
    Ok(())
}

fn target() -> &'static str {
    match std::env::consts::ARCH {
        "x86_64" => "x86-64",
        other => other,
    }
}
