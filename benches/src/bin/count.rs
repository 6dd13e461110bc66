//! Decides N times, for an instruction counter to watch: `count NAME N`.
#![forbid(unsafe_code)]

use stormproof_benches::{
    AdmitAndRecord, Decision, Delay, RetriedCall, SpendAndRefund, WholeAttempt,
};

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    let [_, name, times] = &arguments[..] else { panic!("usage: count NAME TIMES") };
    let times = times.parse().expect("TIMES is a number");
    match name.as_str() {
        "delay" => run(Delay::default(), times),
        "admit-and-record" => run(AdmitAndRecord::default(), times),
        "spend-and-refund" => run(SpendAndRefund::default(), times),
        "whole-attempt" => run(WholeAttempt::default(), times),
        "retried-call" => run(RetriedCall::default(), times),
        _ => panic!("there is no decision {name}"),
    }
}

fn run(mut decision: impl Decision, times: u32) {
    for word in 0..times {
        decision.decide(u64::from(word) << 32);
    }
}
