//! The run loop of calls.

use stormproof::step::{Kind, Phase, Safety};
use stormproof::time::Instant;
use stormproof::{Action, CallId, Control, Decision, Event, Outcome, Request, Step};
use wasm_bindgen::prelude::wasm_bindgen;

use crate::buffers::{self, Buffers, text_at};
use crate::engines::{Host, next_word};

/// Actions as numbers: 0 attempt, 1 wait, 2 queue, 3 finish, 4 stale.
const NOTHING: u32 = 5;
/// The handle names no engine.
const NO_ENGINE: u32 = 6;
const NONE: f64 = -1.0;

/// Starts a call. `deadline` is an instant in milliseconds; negative: none.
#[wasm_bindgen]
pub fn start(handle: u32, now: f64, safety: u32, deadline: f64, cancelled: u32) -> u32 {
    buffers::with(|buffers| {
        let Some(host) = buffers.engines.host(handle) else {
            return NO_ENGINE;
        };
        let request = Request {
            safety: Safety::from_code(code(safety)).unwrap_or(host.engine.default_safety()),
            deadline: (deadline >= 0.0).then(|| Instant::from_millis_f64(deadline)),
            cancelled: cancelled != 0,
        };
        let step = host.engine.start(Instant::from_millis_f64(now), request);
        put_step(buffers, step)
    })
}

/// An attempt ended in an outcome. `retry_after` is in milliseconds; negative: none.
#[wasm_bindgen]
pub fn on_settled(
    handle: u32,
    now: f64,
    call: f64,
    kind: u32,
    status: u32,
    phase: u32,
    retry_after: f64,
) -> u32 {
    let outcome = Outcome {
        kind: Kind::from_code(code(kind)).unwrap_or(Kind::Unclassified),
        status: u16::try_from(status).unwrap_or(u16::MAX),
        phase: Phase::from_code(code(phase)).unwrap_or(Phase::Unknown),
        retry_after_ms: millis(retry_after),
    };
    on_event(handle, now, call, |_| Event::Settled(outcome))
}

/// An attempt was answered with an HTTP status. [`classify`] tells what it is.
#[wasm_bindgen]
pub fn on_answered(
    handle: u32,
    now: f64,
    call: f64,
    status: u32,
    retry_after: f64,
    safety: u32,
) -> u32 {
    on_event(handle, now, call, |host| {
        Event::Settled(classified(host, status, retry_after, safety))
    })
}

/// The timer of a call fired.
#[wasm_bindgen]
pub fn on_elapsed(handle: u32, now: f64, call: f64) -> u32 {
    on_event(handle, now, call, |_| Event::Elapsed)
}

/// The caller gave up.
#[wasm_bindgen]
pub fn on_cancelled(handle: u32, now: f64, call: f64) -> u32 {
    on_event(handle, now, call, |_| Event::Cancelled)
}

/// One waiting call whose turn has come; 5 where there is none, with when to poll again in cell 2.
#[wasm_bindgen]
pub fn poll_ready(handle: u32, now: f64) -> u32 {
    buffers::with(|buffers| {
        let Some(host) = buffers.engines.host(handle) else {
            return NO_ENGINE;
        };
        let word = next_word(&mut buffers.word, host);
        let now = Instant::from_millis_f64(now);
        match host.engine.poll_ready(now, word) {
            Some(step) => put_step(buffers, step),
            None => {
                let poll_at = host.engine.poll_at(now);
                buffers.step[2] = instant(poll_at);
                NOTHING
            }
        }
    })
}

/// An order to the circuit, by its stable number.
#[wasm_bindgen]
pub fn control(handle: u32, now: f64, order: u32) -> u32 {
    buffers::with(|buffers| {
        let Some(host) = buffers.engines.host(handle) else {
            return NO_ENGINE;
        };
        let Some(order) = Control::from_code(code(order)) else {
            return NOTHING;
        };
        let step = host.engine.control(Instant::from_millis_f64(now), order);
        put_step(buffers, step)
    })
}

/// The kind of an answer with this HTTP status, by its stable number.
#[wasm_bindgen]
pub fn classify(handle: u32, status: u32, retry_after: f64, safety: u32) -> u32 {
    buffers::with(|buffers| match buffers.engines.host(handle) {
        Some(host) => classified(host, status, retry_after, safety).kind as u32,
        None => NO_ENGINE,
    })
}

/// How the client stands, in the step buffer: circuit, open until, tokens, capacity (both in
/// thousandths), running, queued, abandoned, calls, attempts, retries, successes, retry-after
/// adopted, total wait, late results; then failures and refusals by the numbers of their kinds.
#[wasm_bindgen]
pub fn snapshot(handle: u32, now: f64) -> u32 {
    buffers::with(|buffers| {
        let Some(host) = buffers.engines.host(handle) else {
            return NO_ENGINE;
        };
        let snapshot = host.engine.snapshot(Instant::from_millis_f64(now));
        let counters = &snapshot.counters;
        let head = [
            f64::from(snapshot.circuit.code()),
            instant(snapshot.open_until),
            snapshot.tokens.map_or(NONE, |tokens| tokens as f64),
            snapshot.capacity.map_or(NONE, |tokens| tokens as f64),
            f64::from(snapshot.running),
            f64::from(snapshot.queued),
            f64::from(snapshot.abandoned),
            counters.calls as f64,
            counters.attempts as f64,
            counters.retries as f64,
            counters.successes as f64,
            counters.retry_after_adopted as f64,
            counters.total_wait as f64 / 1e6,
            counters.late_results as f64,
        ];
        let kinds = counters.failures.iter().chain(&counters.refusals).map(|count| *count as f64);
        for (cell, number) in buffers.step.iter_mut().zip(head.into_iter().chain(kinds)) {
            *cell = number;
        }
        0
    })
}

/// One plain sentence about the decision that stands in the step buffer; answers its length. The
/// dependency's name stands in the text buffer.
#[wasm_bindgen]
pub fn explain(handle: u32, name_len: u32) -> u32 {
    buffers::with(|buffers| {
        let decision = decision(&buffers.step);
        let Some(host) = buffers.engines.host(handle) else {
            return 0;
        };
        let Some(decision) = decision else { return 0 };
        let text = host.engine.explain(&decision, text_at(&buffers.text, 0, name_len));
        buffers.put_text(&text)
    })
}

fn on_event(handle: u32, now: f64, call: f64, event: impl FnOnce(&Host) -> Event) -> u32 {
    buffers::with(|buffers| {
        let Some(host) = buffers.engines.host(handle) else {
            return NO_ENGINE;
        };
        let word = next_word(&mut buffers.word, host);
        let event = event(host);
        let now = Instant::from_millis_f64(now);
        let step = host.engine.on_event(now, CallId::from_bits(call as u64), event, word);
        put_step(buffers, step)
    })
}

fn classified(host: &Host, status: u32, retry_after: f64, safety: u32) -> Outcome {
    let status = u16::try_from(status).unwrap_or(u16::MAX);
    let safety = Safety::from_code(code(safety)).unwrap_or(host.engine.default_safety());
    host.engine.classify(status, millis(retry_after), safety)
}

/// A number beyond those of any enum stays beyond them.
pub fn code(number: u32) -> u8 {
    u8::try_from(number).unwrap_or(u8::MAX)
}

fn millis(number: f64) -> Option<u64> {
    (number >= 0.0).then_some(number as u64)
}

fn instant(instant: Option<Instant>) -> f64 {
    instant.map_or(NONE, Instant::as_millis_f64)
}

/// 0 call, 1 previous, 2 poll at, 3 until, 4 number, why or late; 5, 6, 7 change of the circuit
/// (from, to, cause); 8 … 16 the decision; 17 how long a wait was planned.
fn put_step(buffers: &mut Buffers, step: Step) -> u32 {
    let cells = &mut buffers.step;
    cells[0] = step.call.to_bits() as f64;
    cells[1] = step.previous.to_bits() as f64;
    cells[2] = instant(step.poll_at);
    cells[5] = NONE;
    if let Some(change) = step.circuit {
        cells[5] = f64::from(change.from.code());
        cells[6] = f64::from(change.to.code());
        cells[7] = f64::from(change.cause.code());
    }
    let (code, until, detail) = match step.action {
        Action::Attempt { until, number } => (0, until, number),
        Action::Wait { until, why, planned } => {
            cells[17] = planned.as_nanos() as f64 / 1e6;
            (1, until, u32::from(why.code()))
        }
        Action::Queue { until } => (2, until, 0),
        Action::Finish(decision) => {
            put_decision(cells, &decision);
            (3, None, 0)
        }
        Action::Stale { late } => (4, None, u32::from(late)),
    };
    cells[3] = instant(until);
    cells[4] = f64::from(detail);
    code
}

fn put_decision(cells: &mut [f64], decision: &Decision) {
    cells[8] = f64::from(decision.reason.code());
    cells[9] = f64::from(decision.attempts);
    cells[10] = decision.last_kind.map_or(NONE, |kind| f64::from(kind.code()));
    cells[11] = f64::from(decision.last_status);
    cells[12] = decision.at.as_millis_f64();
    cells[13] = instant(decision.retry_at);
    cells[14] = f64::from(u8::from(decision.forced));
    cells[15] = decision.total_wait as f64 / 1e6;
    cells[16] = decision.tokens.map_or(NONE, |tokens| tokens as f64);
}

fn decision(cells: &[f64]) -> Option<Decision> {
    Some(Decision {
        reason: stormproof::Reason::from_code(u8::try_from(cells[8] as i64).ok()?)?,
        attempts: cells[9] as u32,
        last_kind: u8::try_from(cells[10] as i64).ok().and_then(Kind::from_code),
        last_status: cells[11] as u16,
        at: Instant::from_millis_f64(cells[12]),
        retry_at: (cells[13] >= 0.0).then(|| Instant::from_millis_f64(cells[13])),
        forced: cells[14] != 0.0,
        total_wait: Instant::from_millis_f64(cells[15]).as_nanos(),
        tokens: (cells[16] >= 0.0).then_some(cells[16] as u64),
    })
}
