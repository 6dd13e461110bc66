//! Courses in which the core and the rules once disagreed, made short.

use stormproof::step::{Control, Kind, Outcome, Safety};
use stormproof_model::Value::{Count, Flag, Name, Nanos, Thousandths};
use stormproof_model::{Document, Input, Value};

use crate::agree;
use crate::course::{cancelled, cancelled_start, control, elapsed, settled, start, start_with};

/// More milliseconds than fit into nanoseconds.
const HUGE: u64 = 18_446_744_073_710;
const SECOND: u64 = 1_000_000_000;

fn with(fields: &[(&'static str, Value)]) -> Document {
    Document { fields: fields.to_vec(), ..Document::default() }
}

fn server() -> Outcome {
    Outcome::of(Kind::Server).with_status(503)
}

/// E2: the lease of an abandoned attempt that holds no permit is nothing to poll for.
#[test]
fn a_lease_without_a_permit_promises_no_poll() {
    let one = [("bulkhead.maxConcurrent", Count(1)), ("bulkhead.release", Name("timeout"))];
    agree(&with(&one), &[(0, start(), 0), (0, cancelled(1), 0), (0, start(), 0), (0, start(), 0)]);
}

/// K2: what a slow probe that was answered well asks for does not lengthen the open time.
#[test]
fn a_slow_probe_asks_for_no_wait() {
    let fields = [
        ("breaker.failureThreshold", Count(1)),
        ("breaker.slowCallRate", Thousandths(500)),
        ("breaker.slowCallDurationMs", Nanos(100_000_000)),
        ("breaker.openDurationMs", Nanos(SECOND)),
        ("overallTimeoutMs", Value::Null),
    ];
    let slow = Outcome::of(Kind::Client).with_status(413).with_retry_after_ms(60_000);
    agree(
        &with(&fields),
        &[
            (0, start_with(Safety::Once, None), 0),
            (0, settled(1, server()), 0),
            (SECOND, start(), 0),
            (SECOND + 100_000_000, settled(2, slow), 0),
            (SECOND + 100_000_000, start(), 0),
        ],
    );
}

/// E7: the default of `openCapMs` once let the open time grow past the last instant.
#[test]
fn an_open_time_that_grows_stays_an_instant() {
    let fields = [
        ("breaker.failureThreshold", Count(1)),
        ("breaker.openDurationMs", Nanos(3_155_760_000_000_000_000)),
        ("breaker.openGrowth", Thousandths(1_000_000)),
        ("attemptTimeoutMs", Value::Null),
    ];
    agree(
        &with(&fields),
        &[
            (0, start(), 0),
            (0, settled(1, server()), 0),
            (1 << 62, start(), 0),
            (1 << 62, settled(2, server()), 0),
            (1 << 62, start(), 0),
            (u64::MAX, start(), 0),
        ],
    );
}

/// G1: a garbage reading before the first call once let time refill from then on.
#[test]
fn time_refills_from_the_first_call_on() {
    let one = [("budget.initial", Thousandths(1_000))];
    agree(
        &with(&one),
        &[
            (u64::MAX, Input::Poll, 0),
            (u64::MAX - SECOND, control(Control::Reset), 0),
            (u64::MAX - 1, start(), 0),
        ],
    );
}

/// E7: what is asked saturates at the last instant of the engine's time, not of the host's.
#[test]
fn a_wait_past_the_end_of_time() {
    agree(
        &Document::default(),
        &[
            (SECOND, start(), 0),
            (0, cancelled_start(), 0),
            (0, settled(1, server().with_retry_after_ms(HUGE)), 0),
        ],
    );
}

/// O4: with metrics_only a whole call goes on with the pass that an open circuit gave it.
#[test]
fn a_pass_of_an_open_circuit_lasts_past_the_open_time() {
    let fields = [
        ("breaker.failureThreshold", Count(1)),
        ("breaker.openDurationMs", Nanos(1)),
        ("breaker.scope", Name("call")),
        ("breaker.openJitter", Flag(false)),
        ("retry.baseMs", Nanos(1)),
    ];
    agree(
        &with(&fields),
        &[
            (0, control(Control::MetricsOnly), 0),
            (0, start_with(Safety::Once, None), 0),
            (0, settled(1, server()), 0),
            (0, start(), 0),
            (0, settled(2, server()), u64::MAX),
            (1, elapsed(3), 0),
        ],
    );
}
