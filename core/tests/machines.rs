//! The machines alone, without an engine.

use std::time::Duration;

use stormproof::breaker::Report;
use stormproof::bulkhead::Entry;
use stormproof::classify::Verdict;
use stormproof::policy::{Given, Section, Setting};
use stormproof::step::{Change, ChangeCause, Circuit, Kind, Phase};
use stormproof::time::Instant;
use stormproof::{CallId, Engine, Jitter, Outcome, Policy, Request};

fn at(millis: u64) -> Instant {
    Instant::from_millis(millis)
}

const FAILED: Report = Report { verdict: Verdict::Failure, retry_after_ms: None };
const HEALTHY: Report = Report { verdict: Verdict::Healthy, retry_after_ms: None };

#[test]
fn a_breaker_opens_probes_and_closes() {
    let policy = Policy::new().failure_threshold(2).open_jitter(false).success_threshold(1);
    let mut breaker = policy.breaker().expect("the figures are right");
    let change = |from, to, cause| Some(Change { from, to, cause });
    let (admission, _) = breaker.admit(at(0)).expect("a closed circuit refuses nobody");
    assert!(!admission.is_probe());
    assert_eq!(breaker.on_result(at(0), admission, FAILED, 0), None);
    let (admission, _) = breaker.admit(at(1)).expect("one failure is none too many");
    let opened = change(Circuit::Closed, Circuit::Open, ChangeCause::FailureThreshold);
    // No random word makes it longer: `open_jitter` is off.
    assert_eq!(breaker.on_result(at(1), admission, FAILED, u64::MAX), opened);

    let refusal = breaker.admit(at(5_000)).expect_err("an open circuit refuses");
    assert_eq!((refusal.retry_at, refusal.forced), (Some(at(5_001)), false));
    let (probe, half_open) = breaker.admit(at(5_001)).expect("the promised time is exact");
    assert!(probe.is_probe());
    assert_eq!(half_open, change(Circuit::Open, Circuit::HalfOpen, ChangeCause::OpenTimeOver));
    assert!(breaker.admit(at(5_002)).is_err(), "there is one probe at a time");
    let closed = change(Circuit::HalfOpen, Circuit::Closed, ChangeCause::ProbesSucceeded);
    assert_eq!(breaker.on_result(at(5_003), probe, HEALTHY, 0), closed);
    assert_eq!(breaker.circuit(at(5_003)), Circuit::Closed);
}

#[test]
fn a_breaker_that_is_off_keeps_no_rule() {
    let policy = Policy::new()
        .failure_rate(0.5)
        .minimum_calls(1)
        .no_success_failures(1)
        .failure_threshold(1)
        .consecutive_failures(1)
        .slow_call_rate(0.001)
        .slow_call_duration(Duration::from_millis(1))
        .without(Section::Breaker);
    let mut breaker = policy.breaker().expect("the figures are right");
    for _ in 0..3 {
        let (admission, _) = breaker.admit(at(0)).expect("nobody has opened it");
        assert_eq!(breaker.on_result(at(1), admission, FAILED, 0), None);
    }
}

#[test]
fn a_budget_that_is_off_is_never_empty() {
    let mut budget = Policy::new().without(Section::Budget).budget().expect("nothing is wrong");
    for _ in 0..10_000 {
        assert!(budget.try_spend(at(1), 1_000));
    }
    assert_eq!(budget.level(at(2)), u64::MAX / 1_000_000_000);
}

/// A retry that costs nothing and a success that brings nothing are no change (section 16, budget):
/// the time that refills does not begin with them.
#[test]
fn what_costs_nothing_changes_nothing() {
    let policy = Policy::new().capacity(100.0).initial(0.0).refill_per_second(1.0);
    let policy = policy.refill_per_success(0.0);
    let fresh = policy.budget().expect("the figures are right");
    let mut budget = fresh.clone();
    assert!(budget.try_spend(at(1_000), 0));
    assert_eq!(budget.level(at(9_000)), 0);
    budget.on_success(at(1_000));
    budget.give_back(at(1_000), 0);
    assert_eq!(budget.level(at(9_000)), 0);
    budget.on_call(at(1_000));
    assert_eq!(budget.level(at(9_000)), 8_000);
}

#[test]
fn nobody_stands_in_a_line_twice_and_no_waiter_is_too_large() {
    let mut bulkhead = Policy::new().max_concurrent(1).bulkhead().expect("the figures are right");
    assert_eq!(bulkhead.enter(0), Entry::Permit);
    assert_eq!(bulkhead.enter(5), Entry::Queued);
    assert_eq!(bulkhead.enter(5), Entry::Full, "it stands in the line already");
    assert_eq!(bulkhead.enter((1 << 20) - 1), Entry::Queued);
    assert_eq!(bulkhead.enter(1 << 20), Entry::Full);
    assert_eq!(bulkhead.enter(u32::MAX), Entry::Full);
    assert_eq!(bulkhead.queued(), 2);
    assert!(bulkhead.on_leave(5) && !bulkhead.on_leave(5));
    assert_eq!(bulkhead.enter(5), Entry::Queued, "who has left may come again");
}

#[test]
fn the_ceiling_is_that_of_the_present_retry() {
    let mut backoff = Policy::new().jitter(Jitter::Full).backoff().expect("the defaults are right");
    assert_eq!(backoff.ceiling(), Duration::from_millis(100));
    for millis in [100, 200, 400] {
        backoff.on_retry(0);
        assert_eq!(backoff.ceiling(), Duration::from_millis(millis));
    }
}

#[test]
fn outcomes_are_built_field_by_field() {
    let outcome = Outcome::of(Kind::Network).with_status(7).with_retry_after_ms(9).not_sent();
    assert_eq!((outcome.status, outcome.retry_after_ms), (7, Some(9)));
    assert_eq!((outcome.kind, outcome.phase), (Kind::Network, Phase::NotSent));
    assert_eq!(outcome.as_error(), outcome);
    assert_eq!(Outcome::SUCCESS.with_status(204).as_error().kind, Kind::Client);
}

#[test]
fn names_and_numbers_are_stable() {
    for kind in Kind::ALL {
        assert_eq!(Kind::from_code(kind.code()), Some(*kind));
        assert_eq!(kind.to_string(), Kind::NAMES[kind.code() as usize]);
    }
    assert_eq!(Kind::from_code(Kind::ALL.len() as u8), None);
    let refusals = Kind::ALL.iter().filter(|kind| kind.is_refusal());
    let refusals: Vec<&str> = refusals.map(|kind| kind.name()).collect();
    let expected =
        ["circuit_open", "bulkhead_full", "queue_timeout", "deadline_exceeded", "cancelled"];
    assert_eq!(refusals, expected);
}

/// The numbers of ids are those that cross a language boundary.
#[test]
fn an_id_crosses_as_a_number() {
    let mut engine = Engine::new(&Policy::new()).expect("the defaults are right");
    let call = engine.start(at(0), Request::default()).call;
    assert_eq!(call.to_bits(), 1 << 20);
    assert_eq!(CallId::from_bits(call.to_bits()), call);
}

/// Whatever the order in which a host walks its document: unknown fields come first, the first by
/// name among them.
#[test]
fn the_first_fault_does_not_depend_on_the_order() {
    let faults = [("zebra", 1.0), ("ape", 1.0), ("monkey", 1.0), ("retry", 1.0)];
    for turn in 0..faults.len() {
        let mut policy = Policy::new();
        for (path, number) in faults.iter().cycle().skip(turn).take(faults.len()) {
            policy.set(path, Given::Number(*number));
        }
        assert_eq!(policy.check().expect_err("four faults").field, "ape");
    }
}

/// A text at a knob for texts is the host's to keep.
#[test]
fn a_policy_can_be_told_value_by_value() {
    let mut policy = Policy::new();
    policy.set("name", Given::Text("payments"));
    policy.set("retry.jitter", Given::Text("none"));
    policy.set("budget.capacity", Given::Text("auto"));
    let mut backoff = policy.backoff().expect("the values are right");
    assert_eq!(backoff.on_retry(u64::MAX), Duration::from_millis(100));
    assert_eq!(Setting::from(None::<bool>), Setting::Null);
}
