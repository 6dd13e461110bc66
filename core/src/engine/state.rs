//! What an engine remembers, for proofs.

use alloc::vec::Vec;

use super::Engine;
use super::call::{Call, Entry, Stage, Token};
use crate::proof::{CallState, StageState, State, left};
use crate::step::CallId;
use crate::time::Instant;

impl Engine {
    /// All that can still matter, told from `now`.
    #[doc(hidden)]
    pub fn state(&self, now: Instant) -> State {
        let now = self.clock.peek(now);
        let mut calls: Vec<_> =
            self.calls.iter().map(|(place, entry)| self.call_state(now, place, entry)).collect();
        calls.sort_unstable();
        State {
            circuit: self.breaker.state(now),
            tokens: self.budget.as_ref().map(|budget| budget.state(now)),
            running: self.bulkhead.running(),
            calls,
        }
    }

    /// What this id names.
    #[doc(hidden)]
    pub fn call_state_of(&self, now: Instant, id: CallId) -> Option<CallState> {
        let now = self.clock.peek(now);
        self.calls.get(id).map(|entry| self.call_state(now, id.slot(), entry))
    }

    fn call_state(&self, now: Instant, place: u32, entry: &Entry) -> CallState {
        match entry {
            Entry::Live { call, stage } => self.live(now, place, call, *stage),
            Entry::Abandoned { lease, holds_permit } => CallState::Abandoned {
                place: rank(self.abandoned.iter(), place),
                lease: lease.since(now),
                holds_permit: *holds_permit,
            },
        }
    }

    fn live(&self, now: Instant, place: u32, call: &Call, stage: Stage) -> CallState {
        CallState::Live {
            stage: match stage {
                Stage::Queued { until } => {
                    StageState::Queued(rank(self.bulkhead.line(), place), left(now, until))
                }
                Stage::Running { until } => StageState::Running(left(now, until)),
                Stage::Waiting { until, why } => StageState::waiting(now, until, why),
            },
            deadline: left(now, call.deadline),
            attempts: call.attempts,
            growth: call.growth.state(),
            token: match call.token {
                Token::None => None,
                Token::Held(cost) => Some((cost, false)),
                Token::Spent(cost) => Some((cost, true)),
            },
            retried_once: call.retried_once,
            pass: call.pass.and_then(|pass| self.breaker.pass_state(now, &pass)),
            safety: call.safety.code(),
        }
    }
}

fn rank(mut line: impl Iterator<Item = u32>, place: u32) -> u32 {
    line.position(|other| other == place).map_or(u32::MAX, |rank| rank as u32)
}
