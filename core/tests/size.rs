//! What only large numbers show.

use std::time::Duration;

use stormproof::breaker::Report;
use stormproof::classify::Verdict;
use stormproof::policy::{Given, Knob, Setting};
use stormproof::step::ChangeCause;
use stormproof::time::Instant;
use stormproof::{CircuitBreaker, Policy, RetryBudget};

const FAILED: Verdict = Verdict::Failure;
const HEALTHY: Verdict = Verdict::Healthy;

/// No rule of the breaker but those that are added.
fn no_rule() -> Policy {
    let rules = [Knob::NoSuccessFailures, Knob::FailureRate, Knob::ConsecutiveFailures];
    rules
        .into_iter()
        .fold(Policy::new().open_jitter(false), |policy, rule| policy.with(rule, Setting::Null))
}

fn breaker(policy: &Policy) -> CircuitBreaker {
    policy.breaker().expect("the figures are right")
}

fn report(breaker: &mut CircuitBreaker, now: Instant, verdict: Verdict) -> Option<ChangeCause> {
    let (admission, _) = breaker.admit(now).expect("it is not open");
    let report = Report { verdict, retry_after_ms: None };
    breaker.on_result(now, admission, report, 0).map(|change| change.cause)
}

/// What each of `count` outcomes changes; mostly nothing.
fn reports(breaker: &mut CircuitBreaker, count: usize, verdict: Verdict) -> Vec<ChangeCause> {
    let now = Instant::from_millis(1);
    (0..count).filter_map(|_| report(breaker, now, verdict)).collect()
}

/// K1: the run is as long as the rule says.
#[test]
fn a_hundred_in_a_row_are_not_ninety_nine() {
    let mut breaker = breaker(&no_rule().consecutive_failures(100));
    assert_eq!(reports(&mut breaker, 99, FAILED), []);
    assert_eq!(reports(&mut breaker, 1, FAILED), [ChangeCause::ConsecutiveFailures]);
}

/// K1: one success among hundreds of outcomes is not none.
#[test]
fn one_success_is_enough() {
    let mut breaker = breaker(&no_rule().no_success_failures(5));
    assert_eq!(reports(&mut breaker, 1, HEALTHY), []);
    assert_eq!(reports(&mut breaker, 499, FAILED), []);
}

/// K1: a rate is met at the outcome that reaches it and at none before, to one of a thousand.
#[test]
fn a_rate_is_exact_among_a_thousand() {
    // 799 of 999 are less than 0.8, 800 of 1,000 are not; 962 of 1,201 are less than 0.801 by a
    // millionth, 963 of 1,202 are not.
    for (rate, healthy, failed) in [(0.8, 200, 799), (0.801, 239, 962)] {
        let mut breaker = breaker(&no_rule().failure_rate(rate).minimum_calls(500));
        assert_eq!(reports(&mut breaker, healthy, HEALTHY), []);
        assert_eq!(reports(&mut breaker, failed, FAILED), [], "{failed} at {rate}");
        assert_eq!(reports(&mut breaker, 1, FAILED), [ChangeCause::FailureRate]);
    }
}

/// K2: every opening in a row is longer than the one before, however many there were.
#[test]
fn the_open_time_grows_over_forty_openings() {
    let policy = no_rule().consecutive_failures(1).open_growth(1.1);
    let policy = policy.open_duration(Duration::from_secs(1)).open_cap(Duration::from_secs(86_400));
    let mut breaker = breaker(&policy);
    let (mut now, mut span) = (0_u64, 1_000_000_000_u64);
    for opening in 0..40 {
        report(&mut breaker, Instant::from_nanos(now), FAILED);
        let refusal = breaker.peek(Instant::from_nanos(now)).expect_err("it has just opened");
        now += span;
        assert_eq!(refusal.retry_at, Some(Instant::from_nanos(now)), "opening {opening}");
        span = span * 1_100 / 1_000;
    }
}

/// What an `auto` budget can hold at `asked` milliseconds, after `calls` calls evenly over `millis`.
fn auto_capacity(calls: u64, millis: u64, asked: u64) -> u64 {
    let mut policy = Policy::new();
    policy.set("budget.capacity", Given::Text("auto"));
    let mut budget: RetryBudget = policy.budget().expect("the figures are right");
    for call in 0..calls {
        budget.on_call(Instant::from_nanos(call * millis * 1_000_000 / calls));
    }
    budget.capacity(Instant::from_millis(asked))
}

/// G1: a fifth of the calls of ten seconds, all of a crowded second among them, in it and after it.
#[test]
fn every_call_of_a_second_counts() {
    assert_eq!(auto_capacity(600, 1_000, 999), 120_000);
    assert_eq!(auto_capacity(600, 1_000, 1_500), 120_000);
}

/// G1: at most 1,000 tokens.
#[test]
fn an_auto_budget_ends_at_a_thousand_tokens() {
    assert_eq!(auto_capacity(4_999, 10_000, 9_999), 999_800);
    for calls in [5_000, 10_000, 20_000] {
        assert_eq!(auto_capacity(calls, 10_000, 9_999), 1_000_000, "{calls} calls");
    }
}
