//! Times of the core's decisions.

use criterion::{Criterion, criterion_group, criterion_main};
use stormproof_benches::{
    AdmitAndRecord, Decision, Delay, RetriedCall, SpendAndRefund, WholeAttempt,
};

fn decisions(criterion: &mut Criterion) {
    measure(criterion, "backoff delay", Delay::default());
    measure(criterion, "breaker admit and record", AdmitAndRecord::default());
    measure(criterion, "budget spend and refund", SpendAndRefund::default());
    measure(criterion, "whole attempt", WholeAttempt::default());
    measure(criterion, "retried call", RetriedCall::default());
}

fn measure(criterion: &mut Criterion, name: &str, mut decision: impl Decision) {
    let mut word = 1;
    criterion.bench_function(name, |bencher| {
        bencher.iter(|| {
            word = u64::wrapping_mul(word, 6_364_136_223_846_793_005).wrapping_add(1);
            decision.decide(word);
        });
    });
}

criterion_group!(benches, decisions);
criterion_main!(benches);
