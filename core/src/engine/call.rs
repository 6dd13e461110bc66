//! What the engine remembers of a call.

use crate::backoff::Growth;
use crate::breaker::Pass;
use crate::step::{Kind, Safety, Why};
use crate::time::{Instant, Limit, Nanos};

/// A call, whatever its stage.
#[derive(Clone, Copy, Debug)]
pub(super) struct Call {
    pub safety: Safety,
    pub deadline: Limit,
    pub attempts: u32,
    pub growth: Growth,
    /// What the last attempt that ended has ended in.
    pub last_kind: Option<Kind>,
    pub last_status: u16,
    pub total_wait: Nanos,
    pub token: Token,
    /// A 421 or 425 was retried already.
    pub retried_once: bool,
    /// The circuit's pass: for the running attempt, or for the call where whole calls count.
    pub pass: Option<Pass>,
}

/// The budget's token of a retry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Token {
    None,
    /// Taken; the retry has not been sent.
    Held(u64),
    /// Taken; the retry is on its way.
    Spent(u64),
}

/// What stands in a slot of the call table.
#[derive(Clone, Copy, Debug)]
pub(super) enum Entry {
    Live {
        call: Call,
        stage: Stage,
    },
    /// An attempt that its call has left behind and that may still run.
    Abandoned {
        lease: Instant,
        holds_permit: bool,
    },
}

/// Where a call stands. One `until` folds all limits that hold there.
#[derive(Clone, Copy, Debug)]
pub(super) enum Stage {
    Queued { until: Limit },
    Running { until: Limit },
    Waiting { until: Instant, why: Why },
}

impl Call {
    /// Would something that happens at `instant` happen at or after the deadline?
    #[inline]
    pub fn is_deadline_by(&self, instant: Instant) -> bool {
        self.deadline.is_reached(instant)
    }
}

impl Entry {
    pub fn rebase(&mut self, by: Nanos) {
        let (call, stage) = match self {
            Self::Live { call, stage } => (call, stage),
            Self::Abandoned { lease, .. } => return lease.rebase(by),
        };
        call.deadline.rebase(by);
        if let Some(pass) = &mut call.pass {
            pass.rebase(by);
        }
        match stage {
            Stage::Waiting { until, .. } => until.rebase(by),
            Stage::Queued { until } | Stage::Running { until } => until.rebase(by),
        }
    }
}
