//! The decisions that are measured: each is one function over a machine with everything on.
#![forbid(unsafe_code)]

use std::time::Duration;

use stormproof::breaker::Report;
use stormproof::classify::Verdict;
use stormproof::step::{Kind, Request};
use stormproof::time::Instant;
use stormproof::{
    Action, Backoff, CircuitBreaker, Engine, Event, Outcome, Policy, RetryBudget, Step,
};

/// A decision that can be measured over and over.
pub trait Decision {
    /// Decides once. `word` is a random number.
    fn decide(&mut self, word: u64);
}

/// The delay before a retry.
pub struct Delay(Backoff);

/// Leave from the circuit breaker, and the report of a healthy outcome.
pub struct AdmitAndRecord(CircuitBreaker, u64);

/// A token for a retry, and the refund of a success.
pub struct SpendAndRefund(RetryBudget, u64);

/// A successful call through the engine: start and outcome.
pub struct WholeAttempt(Engine, u64);

/// A call through the engine whose first attempt fails: start, outcome, wake, outcome.
pub struct RetriedCall(Engine, u64);

fn policy() -> Policy {
    Policy::new().max_concurrent(10).overall_timeout(Duration::from_secs(30))
}

fn checked<T>(machine: Result<T, stormproof::PolicyError>) -> T {
    machine.expect("the measured policy is right")
}

impl Default for Delay {
    fn default() -> Self {
        Self(checked(policy().backoff()))
    }
}

impl Default for AdmitAndRecord {
    fn default() -> Self {
        Self(checked(policy().breaker()), 0)
    }
}

impl Default for SpendAndRefund {
    fn default() -> Self {
        Self(checked(policy().refill_per_success(1.0).budget()), 0)
    }
}

impl Default for WholeAttempt {
    fn default() -> Self {
        Self(checked(Engine::new(&policy())), 0)
    }
}

impl Default for RetriedCall {
    fn default() -> Self {
        let policy = policy().refill_per_success(1.0).base(Duration::ZERO);
        Self(checked(Engine::new(&policy)), 0)
    }
}

/// Each decision takes place a tenth of a millisecond after the one before.
fn tick(now: &mut u64) -> Instant {
    *now += 100_000;
    Instant::from_nanos(*now)
}

impl Decision for Delay {
    fn decide(&mut self, word: u64) {
        std::hint::black_box(self.0.on_retry(word));
    }
}

impl Decision for AdmitAndRecord {
    fn decide(&mut self, word: u64) {
        let now = tick(&mut self.1);
        let healthy = Report { verdict: Verdict::Healthy, retry_after_ms: None };
        if let Ok((admission, _)) = self.0.admit(now) {
            std::hint::black_box(self.0.on_result(now, admission, healthy, word));
        }
    }
}

impl Decision for SpendAndRefund {
    fn decide(&mut self, _: u64) {
        let now = tick(&mut self.1);
        std::hint::black_box(self.0.try_spend(now, 1_000));
        self.0.on_success(now);
    }
}

impl Decision for WholeAttempt {
    fn decide(&mut self, word: u64) {
        let now = tick(&mut self.1);
        let step = self.0.start(now, Request::default());
        settle(&mut self.0, now, step, Outcome::SUCCESS, word);
    }
}

impl Decision for RetriedCall {
    fn decide(&mut self, word: u64) {
        let now = tick(&mut self.1);
        let step = self.0.start(now, Request::default());
        let step = settle(&mut self.0, now, step, Outcome::of(Kind::Network), word);
        let step = self.0.on_event(now, step.call, Event::Elapsed, word);
        settle(&mut self.0, now, step, Outcome::SUCCESS, word);
    }
}

fn settle(engine: &mut Engine, now: Instant, step: Step, outcome: Outcome, word: u64) -> Step {
    debug_assert!(matches!(step.action, Action::Attempt { .. }), "{step:?}");
    std::hint::black_box(engine.on_event(now, step.call, Event::Settled(outcome), word))
}
