//! The same scripted calls in every host: with the same seed each must decide the same.

use std::cell::RefCell;
use std::time::Duration;

use serde_json::json;

use crate::dependency::Dependency;

/// Calls until the script has nothing left but a call that succeeds at once, whatever happened
/// before: see `script` in the demo.
pub const CALLS: u32 = 8;

/// Makes the calls and prints what was decided in each.
pub fn run(dependency: &Dependency) {
    for call in 1..=CALLS {
        // The engine's own sum: exact, where a sleep is shortened by what was lost on the way.
        let total_wait = || dependency.snapshot().counters.total_wait;
        let sum = std::cell::Cell::new(total_wait());
        let seen = RefCell::new(Vec::new());
        let waits = RefCell::new(Vec::new());
        let result = dependency.fetch(
            "",
            |wait: Duration| {
                waits.borrow_mut().push(total_wait() - sum.replace(total_wait()));
                std::thread::sleep(wait);
            },
            |outcome| seen.borrow_mut().push(outcome.kind.name()),
        );
        let reason = result.err().map_or("success", |error| error.decision.reason.name());
        println!(
            "{}",
            json!({ "call": call, "attempts": seen, "waits_ns": waits, "reason": reason })
        );
    }
}
