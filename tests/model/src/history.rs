//! What is kept: every call, every attempt, every wait.

use stormproof::step::{Kind, Outcome, Safety, Why};
use stormproof::{Decision, Reason};

use crate::breaker::Admission;
use crate::settings::Settings;
use crate::time::Time;

/// Where a call stands.
#[derive(Clone, Copy, Debug, PartialEq)]
#[allow(missing_docs)]
pub enum Phase {
    /// Its newest attempt runs, the one of this place in the list.
    Attempt(usize),
    Wait {
        until: Time,
        why: Why,
    },
    Queue {
        until: Option<Time>,
    },
    Over,
}

/// One thing that a user wants done.
#[derive(Clone, Debug)]
pub struct Call {
    /// The newest id; 0 until it begins.
    pub id: u64,
    /// C3.
    pub safety: Safety,
    /// E9: the earlier of the policy's and the caller's.
    pub deadline: Option<Time>,
    /// Where it stands.
    pub phase: Phase,
    /// O4: with scope `call`, how the breaker let it in.
    pub admission: Option<Admission>,
    /// G3: thousandths that were taken for a retry which is not sent yet.
    pub token: Option<u64>,
    /// B2: the own part of the last delay.
    pub previous: Time,
    /// How it ended.
    pub finishes: Vec<(Time, Decision)>,
}

/// One try.
#[derive(Clone, Debug)]
pub struct Attempt {
    /// The id that the call had during it.
    pub id: u64,
    /// The place of its call in the list.
    pub call: usize,
    /// 1 for the first of its call.
    pub number: u32,
    /// When it started.
    pub at: Time,
    /// T1: when it is cut.
    pub until: Option<Time>,
    /// How the breaker let it in.
    pub admission: Option<Admission>,
    /// G5: thousandths that were taken for it and have not come back.
    pub token: Option<u64>,
    /// When its call went on without it or because of it, and what it counted as.
    pub ended: Option<(Time, Kind)>,
    /// What its operation came to, where that was heard in time; our own timeout included.
    pub outcome: Option<Outcome>,
    /// E4: its operation may still run.
    pub abandoned: bool,
    /// When the operation of an abandoned attempt ended.
    pub late: Option<Time>,
}

impl Attempt {
    /// H4: may the operation still run, although the call is past it?
    pub fn is_left_behind(&self, settings: &Settings, now: Time) -> bool {
        let leased = |(at, _)| now < at + settings.abandoned_lease;
        self.abandoned && self.late.is_none() && self.ended.is_some_and(leased)
    }

    /// H1, H4: when its permit comes back, as far as is known; `None` while nothing but an event
    /// can tell.
    pub fn permit_back(&self, settings: &Settings) -> Option<Time> {
        let (ended, _) = self.ended?;
        if !self.abandoned || settings.release_at_timeout {
            return Some(ended);
        }
        let lease_end = ended + settings.abandoned_lease;
        Some(self.late.map_or(lease_end, |late| late.min(lease_end)))
    }

    /// H1: is its permit out?
    pub fn has_permit(&self, settings: &Settings, now: Time) -> bool {
        self.permit_back(settings).is_none_or(|back| now < back)
    }
}

/// A wait that was handed out.
#[derive(Clone, Copy, Debug)]
pub struct Wait {
    /// The place of its call in the list.
    pub call: usize,
    /// From when.
    pub at: Time,
    /// Until when.
    pub until: Time,
    /// What for.
    pub why: Why,
    /// The own delay that was drawn for it.
    pub own: Time,
    /// What the dependency asked for.
    pub asked: Option<Time>,
    /// When the circuit may be asked, where that is what is waited for.
    pub circuit: Option<Time>,
}

/// Section 15, C1: what a refusal is called as a kind.
pub fn refusal(reason: Reason) -> Option<Kind> {
    match reason {
        Reason::DeadlineExceeded => Some(Kind::DeadlineExceeded),
        Reason::CircuitOpen => Some(Kind::CircuitOpen),
        Reason::BulkheadFull => Some(Kind::BulkheadFull),
        Reason::QueueTimeout => Some(Kind::QueueTimeout),
        Reason::Cancelled => Some(Kind::Cancelled),
        _ => None,
    }
}
