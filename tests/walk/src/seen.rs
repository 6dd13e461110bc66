//! What has come out on the way: a walk that never leads to something proves nothing of it.

use stormproof::proof::{CircuitPhase, State};
use stormproof::step::{ChangeCause, Why};
use stormproof::{Action, Reason, Step};

/// One bit for each reason, kind of wait and cause of a change, and one for a wait for a circuit
/// that is half-open.
#[derive(Clone, Copy, Debug, Default)]
pub struct Seen(u64);

const WHYS: usize = 16;
const CAUSES: usize = 24;
const HALF_OPEN_WAIT: usize = 40;

impl Seen {
    /// What this step shows, which led to `after`.
    pub fn of(step: &Step, after: &State) -> Self {
        let mut bits = 0;
        match step.action {
            Action::Finish(decision) => bits |= 1 << decision.reason.code(),
            Action::Wait { why, .. } => {
                bits |= 1 << (WHYS + why as usize);
                let half_open = matches!(after.circuit.phase, CircuitPhase::HalfOpen { .. });
                if why == Why::Circuit && half_open && step.call != step.previous {
                    bits |= 1 << HALF_OPEN_WAIT;
                }
            }
            _ => {}
        }
        if let Some(change) = step.circuit {
            bits |= 1 << (CAUSES + change.cause as usize);
        }
        Self(bits)
    }

    pub fn add(&mut self, other: Self) {
        self.0 |= other.0;
    }

    /// What has never come out.
    pub fn lacking(self) -> Vec<&'static str> {
        let reasons = Reason::ALL.iter().map(|reason| (reason.code() as usize, reason.name()));
        let whys = Why::ALL.iter().map(|why| (WHYS + *why as usize, why.name()));
        let causes = ChangeCause::ALL.iter().map(|cause| (CAUSES + *cause as usize, cause.name()));
        let wait = [(HALF_OPEN_WAIT, "a wait for a half-open circuit")];
        let all = reasons.chain(whys).chain(causes).chain(wait);
        all.filter(|(bit, _)| self.0 & (1 << bit) == 0).map(|(_, name)| name).collect()
    }
}
