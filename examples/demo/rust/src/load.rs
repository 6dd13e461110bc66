//! Calls at a steady rate, started whether or not the earlier ones have ended, as users do.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::thread;
use std::time::{Duration, Instant};

use crate::report::{Report, Standing};

/// Between two lines of the report.
const PERIOD: Duration = Duration::from_millis(250);

/// Something that makes calls.
pub trait Caller: Send + Sync + 'static {
    /// Makes one call and comes back when it has ended.
    fn call(&self) -> Ended;
    /// Where the caller stands.
    fn standing(&self) -> Standing;
}

/// How a call ended.
pub struct Ended {
    /// The reason; `None` for a value.
    pub failure: Option<&'static str>,
    /// The waits before its retries.
    pub waits: Vec<Duration>,
}

/// Starts `rate` calls a second for `seconds`, waits for the last, answers how many were lost.
pub fn run(caller: impl Caller, rate: f64, seconds: Duration) -> u64 {
    let caller = Arc::new(caller);
    let report = Arc::new(Report::new());
    let over = Arc::new(AtomicBool::new(false));
    let printer = print_lines(&caller, &report, &over);
    let start = Instant::now();
    let mut calls = Vec::new();
    for number in 0..(rate * seconds.as_secs_f64()) as u32 {
        let due = Duration::from_secs_f64(f64::from(number) / rate);
        thread::sleep(due.saturating_sub(start.elapsed()));
        let (caller, report) = (Arc::clone(&caller), Arc::clone(&report));
        report.on_start();
        calls.push(thread::spawn(move || {
            let begin = Instant::now();
            let ended = caller.call();
            report.on_end(begin.elapsed(), ended);
        }));
    }
    for call in calls {
        // A call that panicked has not ended: the report counts it as lost.
        let _ = call.join();
    }
    over.store(true, Relaxed);
    let _ = printer.join();
    report.close(caller.standing())
}

fn print_lines(
    caller: &Arc<impl Caller>,
    report: &Arc<Report>,
    over: &Arc<AtomicBool>,
) -> thread::JoinHandle<()> {
    let (caller, report, over) = (Arc::clone(caller), Arc::clone(report), Arc::clone(over));
    thread::spawn(move || {
        while !over.load(Relaxed) {
            thread::sleep(PERIOD);
            report.print(caller.standing());
        }
    })
}
