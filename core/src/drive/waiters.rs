//! Steps that were handed to calls which wait for a permit.

use core::task::Waker;
use std::collections::BTreeMap;

use crate::step::{CallId, Step};

#[derive(Debug, Default)]
pub(super) struct Waiters {
    line: BTreeMap<CallId, Waiter>,
    /// To be woken once the lock is free again: a waker may run a task on the spot, or end one.
    woken: Vec<Waker>,
}

#[derive(Debug)]
enum Waiter {
    Waiting(Waker),
    Handed(Step),
}

impl Waiters {
    /// The call that was known by `previous` has its turn.
    pub fn hand(&mut self, step: Step) {
        if let Some(Waiter::Waiting(waker)) = self.line.insert(step.previous, Waiter::Handed(step))
        {
            self.woken.push(waker);
        }
    }

    /// The step that was handed to this call, if any.
    pub fn take(&mut self, call: CallId) -> Option<Step> {
        match self.line.get(&call) {
            Some(Waiter::Handed(step)) => {
                let step = *step;
                self.line.remove(&call);
                Some(step)
            }
            _ => None,
        }
    }

    /// Wakes the call when its turn comes. The waker that it had before is to be dropped once the
    /// lock is free again.
    pub fn wait(&mut self, call: CallId, waker: &Waker) -> Option<Waker> {
        waker_of(self.line.insert(call, Waiter::Waiting(waker.clone())))
    }

    /// The call waits no longer. Its waker is to be dropped once the lock is free again.
    pub fn forget(&mut self, call: CallId) -> Option<Waker> {
        waker_of(self.line.remove(&call))
    }

    /// One task that waits, to be woken when it is time to poll.
    pub fn wake_one(&mut self) {
        let waker = self.line.values().find_map(|waiter| match waiter {
            Waiter::Waiting(waker) => Some(waker.clone()),
            Waiter::Handed(_) => None,
        });
        self.woken.extend(waker);
    }

    /// Those who are to be woken now that the lock becomes free.
    pub fn woken(&mut self) -> Vec<Waker> {
        core::mem::take(&mut self.woken)
    }

    pub fn is_anybody_woken(&self) -> bool {
        !self.woken.is_empty()
    }
}

fn waker_of(waiter: Option<Waiter>) -> Option<Waker> {
    match waiter {
        Some(Waiter::Waiting(waker)) => Some(waker),
        Some(Waiter::Handed(_)) | None => None,
    }
}
