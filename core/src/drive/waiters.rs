//! Steps that were handed to calls which wait for a permit.

use core::task::Waker;
use std::collections::BTreeMap;

use crate::step::{CallId, Step};

#[derive(Debug, Default)]
pub(super) struct Waiters(BTreeMap<CallId, Waiter>);

#[derive(Debug)]
enum Waiter {
    Waiting(Waker),
    Handed(Step),
}

impl Waiters {
    /// The call that was known by `previous` has its turn.
    pub fn hand(&mut self, step: Step) {
        if let Some(Waiter::Waiting(waker)) = self.0.insert(step.previous, Waiter::Handed(step)) {
            waker.wake();
        }
    }

    /// The step that was handed to this call, if any.
    pub fn take(&mut self, call: CallId) -> Option<Step> {
        match self.0.get(&call) {
            Some(Waiter::Handed(step)) => {
                let step = *step;
                self.0.remove(&call);
                Some(step)
            }
            _ => None,
        }
    }

    /// Wakes the call when its turn comes.
    pub fn wait(&mut self, call: CallId, waker: &Waker) {
        self.0.insert(call, Waiter::Waiting(waker.clone()));
    }

    /// The call waits no longer.
    pub fn forget(&mut self, call: CallId) {
        self.0.remove(&call);
    }

    /// One task that waits, to be woken when it is time to poll.
    pub fn wake_one(&self) {
        let waker = self.0.values().find_map(|waiter| match waiter {
            Waiter::Waiting(waker) => Some(waker),
            Waiter::Handed(_) => None,
        });
        if let Some(waker) = waker {
            waker.wake_by_ref();
        }
    }
}
