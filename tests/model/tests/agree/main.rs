//! Random courses, played by the core and by the model: they agree in every field of every step.
//!
//! `STORMPROOF_PROOF_STEPS` is how many steps are played, 200,000 where it is not set;
//! `STORMPROOF_PROOF_SEED` chooses other courses.

mod course;
mod long;
mod moves;
mod play;
mod policies;
mod regressions;
mod shorten;
mod tally;

use std::cell::RefCell;

use proptest::collection::vec;
use proptest::prelude::any;
use proptest::strategy::Strategy;
use proptest::test_runner::{Config, RngAlgorithm, TestCaseError, TestError, TestRng, TestRunner};
use stormproof_model::Document;

use crate::course::Line;
use crate::moves::{Mood, Move};
use crate::play::Play;
use crate::policies::{Choice, document};
use crate::tally::Tally;

/// A policy, the mood of the course, its moves, and whether somebody watches.
type Dice = (Choice, u8, Vec<Move>, bool);

const STEPS: u64 = 200_000;

fn dice() -> impl Strategy<Value = Dice> {
    let fields = vec((any::<u8>(), any::<u8>()), 0..20);
    let choice = (any::<u8>(), any::<u8>(), any::<u8>(), fields);
    let one = (any::<u8>(), any::<u8>(), any::<u8>(), any::<u32>(), any::<u64>());
    let one =
        one.prop_map(|(what, when, whom, detail, word)| Move { what, when, whom, detail, word });
    (choice, any::<u8>(), vec(one, 1..120), any::<bool>())
}

fn play((choice, mood, moves, watched): &Dice) -> Result<Tally, String> {
    let mut play = Play::new(document(choice), *watched);
    for one in moves {
        let line = one.line(play.scene(Mood::of(*mood)));
        play.line(line)?;
    }
    play.close()?;
    Ok(play.tally)
}

/// The shortest course to the disagreement that these numbers lead to.
fn told((choice, mood, moves, watched): &Dice) -> String {
    let mut play = Play::new(document(choice), *watched);
    let mut end = Ok(());
    for one in moves {
        let line = one.line(play.scene(Mood::of(*mood)));
        end = end.and_then(|()| play.line(line));
    }
    let difference = end.and_then(|()| play.close()).expect_err("it fails every time");
    let shorter = shorten::shortened(&play.course);
    if shorter.is_empty() { difference } else { shorter }
}

#[test]
fn the_core_agrees_with_the_rules() {
    let number =
        |name: &str| std::env::var(name).ok().map(|text| text.parse().expect("a whole number"));
    let steps = number("STORMPROOF_PROOF_STEPS").unwrap_or(STEPS);
    let seed: u64 = number("STORMPROOF_PROOF_SEED").unwrap_or(0);
    let mut bytes = [0; 32];
    bytes[..8].copy_from_slice(&seed.to_le_bytes());
    let config =
        Config { failure_persistence: None, max_shrink_iters: 20_000, ..Config::default() };
    let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &bytes);
    let mut runner = TestRunner::new_with_rng(config, rng);
    let (dice, total) = (dice(), RefCell::new(Tally::default()));
    let mut courses = 0;
    while total.borrow().steps < steps {
        let tree = dice.new_tree(&mut runner).expect("every course is allowed");
        let result = runner.run_one(tree, |dice| match play(&dice) {
            Ok(tally) => {
                total.borrow_mut().merge(&tally);
                Ok(())
            }
            Err(difference) => Err(TestCaseError::fail(difference)),
        });
        if let Err(TestError::Fail(_, dice)) = result {
            panic!("after {} steps:\n{}", total.borrow().steps, told(&dice));
        }
        courses += 1;
    }
    let total = total.into_inner();
    total.print();
    println!("proof model: {} steps, {courses} courses, 0 disagreements", total.steps);
    assert_eq!(total.missing(), [], "the courses never led there");
}

/// A disagreement of the past, kept.
fn agree(document: &Document, lines: &[Line]) {
    let mut play = Play::new(document.clone(), true);
    for line in lines {
        play.line(*line).unwrap_or_else(|difference| panic!("{difference}"));
    }
}
