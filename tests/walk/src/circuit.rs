//! The rules K1–K6 read once more: what becomes of a circuit.

use stormproof::proof::{CircuitPhase, CircuitState, PassState};
use stormproof::step::{Circuit, Kind};
use stormproof::{Control, Outcome};

use crate::rules::{Breaker, Opens, TICK};

/// What an outcome says of the dependency (K5).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    Healthy,
    Failure,
    Neutral,
}

pub fn verdict(outcome: &Outcome) -> Verdict {
    match (outcome.kind, outcome.status) {
        (Kind::Success | Kind::Business | Kind::Contract, _) => Verdict::Healthy,
        (Kind::Client, 0) | (Kind::Server, 421 | 425) => Verdict::Neutral,
        (Kind::Client, _) | (Kind::Throttled, 409) => Verdict::Healthy,
        (Kind::Network | Kind::Timeout | Kind::Server, _) => Verdict::Failure,
        _ => Verdict::Neutral,
    }
}

fn closed() -> CircuitPhase {
    let (run, slices, failures) = ((0, 0), Vec::new(), Vec::new());
    CircuitPhase::Closed { run, slices, into_slice: 0, failures }
}

/// Nothing but time has passed.
pub fn aged(rules: &Breaker, circuit: &CircuitState, span: u64) -> CircuitState {
    let window = rules.window * TICK;
    let phase = match circuit.phase.clone() {
        CircuitPhase::Closed { run, slices, into_slice, failures } => {
            // A tick is a whole number of slices.
            let back = (span / (window / 10)).min(10) as usize;
            let mut slices =
                if slices.is_empty() { slices } else { [vec![[0; 3]; back], slices].concat() };
            slices.truncate(10);
            while slices.last() == Some(&[0; 3]) {
                slices.pop();
            }
            let run =
                if run.0 == 0 || run.1 + span >= window { (0, 0) } else { (run.0, run.1 + span) };
            let failures =
                failures.iter().map(|age| age + span).filter(|age| *age < window).collect();
            CircuitPhase::Closed { run, slices, into_slice, failures }
        }
        CircuitPhase::Open { left } => CircuitPhase::Open { left: left.saturating_sub(span) },
        CircuitPhase::HalfOpen { leases, successes } => CircuitPhase::HalfOpen {
            leases: leases.iter().filter(|left| **left > span).map(|left| left - span).collect(),
            successes,
        },
        forced => forced,
    };
    CircuitState { phase, ..*circuit }
}

/// Would an attempt be refused, and for how long? `None` in it: until somebody says otherwise.
pub fn refusal(rules: &Breaker, circuit: &CircuitState) -> Option<Option<u64>> {
    match &circuit.phase {
        _ if circuit.refuses_nobody => None,
        CircuitPhase::Open { left } if *left > 0 => Some(Some(*left)),
        CircuitPhase::HalfOpen { leases, .. } if leases.len() >= rules.probes as usize => {
            Some(leases.iter().min().copied())
        }
        CircuitPhase::Forced(Circuit::ForcedOpen) => Some(None),
        _ => None,
    }
}

/// An attempt was let go.
pub fn admitted(rules: &Breaker, circuit: &CircuitState) -> CircuitState {
    let (mut leases, successes) = match &circuit.phase {
        CircuitPhase::Open { left: 0 } => (Vec::new(), 0),
        CircuitPhase::HalfOpen { leases, successes } => (leases.clone(), *successes),
        _ => return circuit.clone(),
    };
    if leases.len() < rules.probes as usize {
        leases.push(rules.lease * TICK);
    }
    CircuitState { phase: CircuitPhase::HalfOpen { leases, successes }, ..*circuit }
}

/// An admitted attempt, or a call, ended.
pub fn reported(
    rules: &Breaker,
    circuit: &CircuitState,
    pass: &PassState,
    outcome: &Outcome,
    asked_max: u64,
    word: u64,
) -> CircuitState {
    if !pass.is_current {
        return circuit.clone();
    }
    let verdict = verdict(outcome);
    let slow = rules.slow.is_some_and(|slow| pass.age >= slow * TICK);
    let asked = match (verdict, outcome.retry_after_ms) {
        (Verdict::Failure, Some(millis)) => (millis * 1_000_000).min(asked_max),
        _ => 0,
    };
    let open = || opened(rules, circuit, asked, word);
    match circuit.phase.clone() {
        CircuitPhase::Closed { .. } if verdict == Verdict::Neutral => circuit.clone(),
        CircuitPhase::Closed { run, slices, into_slice, mut failures } => {
            let failed = verdict == Verdict::Failure;
            let in_a_row = matches!(rules.opens, Opens::Consecutive(_));
            let run = if failed && in_a_row { (run.0 + 1, 0) } else { (0, 0) };
            if failed && matches!(rules.opens, Opens::Threshold(_)) {
                failures.push(0);
            }
            let slices = if counts(rules) { counted(slices, failed, slow) } else { slices };
            if is_opened(rules, run.0, &slices, failures.len(), failed) {
                return open();
            }
            if let Opens::Threshold(most) = rules.opens
                && failures.len() > most as usize
            {
                failures.remove(0);
            }
            let phase = CircuitPhase::Closed { run, slices, into_slice, failures };
            CircuitState { phase, ..*circuit }
        }
        CircuitPhase::HalfOpen { mut leases, successes } if pass.is_probe => {
            let on_lease = pass.lease > 0;
            if let Some(place) = leases.iter().position(|left| on_lease && *left == pass.lease) {
                leases.remove(place);
            }
            let good = verdict == Verdict::Healthy && !slow;
            if good && successes + 1 >= u64::from(rules.success_threshold) {
                return CircuitState { phase: closed(), next_open: rules.open * TICK, ..*circuit };
            }
            if !good && verdict != Verdict::Neutral && on_lease {
                return open();
            }
            let successes = successes + u64::from(good);
            CircuitState { phase: CircuitPhase::HalfOpen { leases, successes }, ..*circuit }
        }
        _ => circuit.clone(),
    }
}

/// Does any rule look at the slices?
fn counts(rules: &Breaker) -> bool {
    matches!(rules.opens, Opens::NoSuccess(_) | Opens::Rate(..)) || rules.slow.is_some()
}

fn counted(mut slices: Vec<[u64; 3]>, failed: bool, slow: bool) -> Vec<[u64; 3]> {
    if slices.is_empty() {
        slices.push([0; 3]);
    }
    slices[0][0] += 1;
    slices[0][1] += u64::from(failed);
    slices[0][2] += u64::from(slow);
    slices
}

fn is_opened(
    rules: &Breaker,
    run: u64,
    slices: &[[u64; 3]],
    failures: usize,
    failed: bool,
) -> bool {
    let [total, bad, slow] = [0, 1, 2].map(|part| slices.iter().map(|s| s[part]).sum::<u64>());
    let by_rule = match rules.opens {
        Opens::Threshold(limit) => failed && failures >= limit as usize,
        Opens::Consecutive(limit) => failed && run >= u64::from(limit),
        Opens::NoSuccess(limit) => failed && bad == total && bad >= u64::from(limit),
        Opens::Rate(rate, minimum) => {
            total >= u64::from(minimum) && bad > 0 && bad * 1_000 >= total * u64::from(rate)
        }
    };
    // A minimum that no rule names is 20: more than fit into a window here.
    let minimum = match rules.opens {
        Opens::Rate(_, minimum) => u64::from(minimum),
        _ => 20,
    };
    by_rule || rules.slow.is_some() && total >= minimum && slow > 0 && slow * 2 >= total
}

/// Open from now on.
fn opened(rules: &Breaker, before: &CircuitState, asked: u64, word: u64) -> CircuitState {
    let span = before.next_open;
    let next_open = (span * rules.open_growth / 1_000).min(rules.open_cap * TICK);
    let spread = match (rules.open_jitter, word) {
        (false, _) | (true, 0) => 0,
        (true, u64::MAX) => span / 2,
        (true, _) => unreachable!("scenes have no other words"),
    };
    let phase = CircuitPhase::Open { left: span.max(asked) + spread };
    CircuitState { phase, next_open, ..*before }
}

/// Somebody gave an order (K6).
pub fn ordered(rules: &Breaker, control: Control) -> CircuitState {
    let phase = match control {
        Control::ForceOpen => CircuitPhase::Forced(Circuit::ForcedOpen),
        Control::ForceClosed => CircuitPhase::Forced(Circuit::ForcedClosed),
        Control::MetricsOnly | Control::Reset => closed(),
    };
    CircuitState {
        phase,
        next_open: rules.open * TICK,
        refuses_nobody: control == Control::MetricsOnly,
    }
}
