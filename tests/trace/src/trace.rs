//! The run of the trace: one engine after the other under the traffic of one host after the other.

use stormproof::time::Instant;

use crate::dice::Dice;
use crate::digest::Digest;
use crate::draft::Draft;
use crate::host::Host;
use crate::input::{Answer, Input};

const SEED: u64 = 0x5354_4f52_4d50_524f;

/// What happens in the trace.
pub enum Moment<'a> {
    /// From here on an engine with this policy is asked.
    Policy(&'a Draft),
    /// Something was asked at a time, with a random word, and answered.
    Asked(Instant, Input, u64, &'a Answer),
}

/// Runs the trace until it has `steps` steps.
pub fn run(steps: u64, mut watch: impl FnMut(Moment<'_>)) -> Digest {
    let mut dice = Dice::new(SEED);
    let mut digest = Digest::default();
    while digest.steps() < steps {
        let (draft, mut engine) = Draft::draw(&mut dice);
        watch(Moment::Policy(&draft));
        let mut host = Host::new(Dice::new(dice.word()));
        let end = steps.min(digest.steps() + 2_000 + u64::from(dice.below(4_000)));
        while digest.steps() < end {
            let (now, input) = host.next();
            let word = dice.word();
            let answer = input.put(&mut engine, now, word);
            digest.add(&answer);
            watch(Moment::Asked(now, input, word, &answer));
            host.on_answer(&answer);
        }
    }
    digest
}
