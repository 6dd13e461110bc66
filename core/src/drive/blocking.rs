//! The loop for threads.

use core::time::Duration;
use std::sync::PoisonError;

use super::{Answer, Attempt, CallError, Client, DROPPED, ended};
use crate::step::{Action, CallId, Event, Outcome, Request, Step};
use crate::time::Instant;

impl<Now: Fn() -> Instant, Word: Fn() -> u64> Client<Now, Word> {
    /// Runs `operation` until it succeeds or the policy ends the call. Waits with `sleep`.
    ///
    /// A thread cannot be cut: `operation` is told how long it may take, and a result that comes
    /// later counts all the same. `classify` says what a result is. The last result is handed back
    /// unchanged, also one that is `Ok` and was classified as a failure (an HTTP response): the
    /// decision beside it tells.
    ///
    /// # Errors
    ///
    /// The dependency's last error, or the refusal that ended the call.
    pub fn call_blocking<T, E>(
        &self,
        request: Request,
        sleep: impl Fn(Duration),
        mut operation: impl FnMut(Attempt) -> Result<T, E>,
        classify: impl Fn(&Result<T, E>) -> Outcome,
    ) -> Result<Answer<T>, CallError<E>> {
        let mut step = self.start(request);
        let mut last = None;
        loop {
            step = match step.action {
                Action::Attempt { until, number } => {
                    let guard = Guard { client: self, call: step.call, event: DROPPED };
                    let result = operation(self.attempt(number, until));
                    let outcome = classify(&result);
                    last = Some(result);
                    core::mem::forget(guard);
                    self.on_event(step.call, Event::Settled(outcome))
                }
                Action::Wait { until, .. } => {
                    let until = until.unwrap_or_default();
                    let guard = Guard { client: self, call: step.call, event: Event::Cancelled };
                    sleep(until.saturating_since((self.now)()));
                    core::mem::forget(guard);
                    self.on_event(step.call, Event::Elapsed)
                }
                Action::Queue { until } => self.wait_in_line(step.call, until),
                Action::Finish(decision) => return ended(decision, last),
                Action::Stale { .. } => unreachable!("a call's newest id names it until it ends"),
            };
        }
    }

    fn wait_in_line(&self, call: CallId, until: Option<Instant>) -> Step {
        let mut state = self.lock();
        let step = loop {
            self.poll(&mut state);
            if let Some(step) = state.waiters.take(call) {
                break step;
            }
            let now = (self.now)();
            if until.is_some_and(|until| now >= until) {
                break self.on_event_locked(&mut state, call, Event::Elapsed);
            }
            if state.waiters.is_anybody_woken() {
                Self::unlock(state);
                state = self.lock();
                continue;
            }
            state = match crate::time::soonest(until, state.poll_at) {
                None => self.handed_over.wait(state).unwrap_or_else(PoisonError::into_inner),
                Some(next) => {
                    let left = next.saturating_since(now);
                    let woken = self.handed_over.wait_timeout(state, left);
                    woken.unwrap_or_else(PoisonError::into_inner).0
                }
            };
        };
        Self::unlock(state);
        step
    }
}

/// An operation or a sleep that panics gives up its call: what it holds comes back.
struct Guard<'a, Now: Fn() -> Instant, Word: Fn() -> u64> {
    client: &'a Client<Now, Word>,
    call: CallId,
    /// What has happened then.
    event: Event,
}

impl<Now: Fn() -> Instant, Word: Fn() -> u64> Drop for Guard<'_, Now, Word> {
    fn drop(&mut self) {
        self.client.on_event(self.call, self.event);
    }
}
