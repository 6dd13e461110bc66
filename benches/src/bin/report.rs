//! Instructions and heap allocations of each decision, beside the bar that it has to clear.
//!
//! Instructions are the difference between two runs under callgrind, so that start and end of the
//! process do not count.

use std::alloc::{GlobalAlloc, Layout, System};
use std::process::Command;
use std::sync::atomic::{AtomicU64, Ordering};

use stormproof_benches::{Decision, RetriedCall, WholeAttempt};

/// Decision, its bar in instructions, and the best that another library takes for the same.
const ROWS: [(&str, Option<u64>, &str); 5] = [
    ("delay", Some(60), "135"),
    ("admit-and-record", Some(120), "43 to 297"),
    ("spend-and-refund", Some(80), "362"),
    ("whole-attempt", Some(400), "1392"),
    ("retried-call", None, "-"),
];
const TIMES: u64 = 2_000;

struct Counting;

static ALLOCATIONS: AtomicU64 = AtomicU64::new(0);

// SAFETY: every call is passed on to the system's allocator unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.fetch_add(1, Ordering::Relaxed);
        // SAFETY: the caller keeps the contract of `GlobalAlloc::alloc`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the caller keeps the contract of `GlobalAlloc::dealloc`.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

fn main() {
    println!("{:<18} {:>12} {:>6} {:>16}", "decision", "instructions", "bar", "elsewhere");
    for (name, bar, elsewhere) in ROWS {
        let count = (instructions(name, 2 * TIMES) - instructions(name, TIMES)) / TIMES;
        let mark = if bar.is_some_and(|bar| count > bar) { "  above the bar" } else { "" };
        let bar = bar.map_or("-".into(), |bar| bar.to_string());
        println!("{name:<18} {count:>12} {bar:>6} {elsewhere:>16}{mark}");
    }
    let allocations = allocations(WholeAttempt::default()) + allocations(RetriedCall::default());
    println!("heap allocations of 20,000 calls after warm-up: {allocations} (bar: 0)");
}

fn instructions(name: &str, times: u64) -> u64 {
    let count = std::env::current_exe().expect("this program has a path").with_file_name("count");
    let run = Command::new("valgrind")
        .args(["--tool=callgrind", "--callgrind-out-file=/dev/null"])
        .arg(&count)
        .args([name, &times.to_string()])
        .output()
        .expect("valgrind is installed and `count` is built beside this program");
    let text = String::from_utf8_lossy(&run.stderr);
    let collected = text.lines().find_map(|line| line.split("Collected : ").nth(1));
    let number = collected.and_then(|number| number.trim().parse().ok());
    number.unwrap_or_else(|| panic!("callgrind did not count {name}:\n{text}"))
}

fn allocations(mut decision: impl Decision) -> u64 {
    for word in 0..1_000 {
        decision.decide(word);
    }
    let before = ALLOCATIONS.load(Ordering::Relaxed);
    for word in 0..10_000 {
        decision.decide(word << 32);
    }
    ALLOCATIONS.load(Ordering::Relaxed) - before
}
