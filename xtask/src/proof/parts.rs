//! The parts in their order.

use super::{
    Part, chaos, coverage, fuzz, jitter, miri, model, mutants, supply, trace, trials, walk,
};

/// Each can be run alone.
pub const PARTS: &[Part] = &[
    Part {
        name: "jitter",
        about: "random waits follow their laws, and no two know of each other",
        run: jitter::run,
    },
    Part {
        name: "walk",
        about: "every reachable state of small worlds keeps the laws",
        run: walk::run,
    },
    Part {
        name: "fuzz",
        about: "no input is found that breaks a law at a boundary",
        run: fuzz::run,
    },
    Part { name: "trace", about: trace::ABOUT, run: trace::run },
    Part {
        name: "model",
        about: "the core does what a model of its rules does, in random courses",
        run: model::run,
    },
    Part { name: "chaos", about: chaos::ABOUT, run: chaos::run },
];

/// Those that are worth a night or nothing.
pub const FULL_PARTS: &[Part] = &[
    Part {
        name: "coverage",
        about: "the core's tests run its lines and branches",
        run: coverage::run,
    },
    Part { name: "miri", about: "the core's tests under an interpreter", run: miri::run },
    Part {
        name: "mutants",
        about: "a test fails for every small change of the core",
        run: mutants::run,
    },
    Part {
        name: "trials",
        about: "faults put into the core by hand are each found by checks of several kinds",
        run: trials::run,
    },
    Part {
        name: "supply",
        about: "where dependencies come from, their licences, what is known against them",
        run: supply::run,
    },
];
