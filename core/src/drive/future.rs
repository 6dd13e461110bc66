//! The loop for tasks, on any runtime.

use core::future::{Future, poll_fn};
use core::pin::pin;
use core::task::Poll;
use core::time::Duration;

use super::{Answer, Attempt, CallError, Client, DROPPED, ended};
use crate::step::{Action, CallId, Event, Outcome, Request, Step};
use crate::time::{Instant, soonest};

impl<Now: Fn() -> Instant, Word: Fn() -> u64> Client<Now, Word> {
    /// Runs `operation` until it succeeds or the policy ends the call. Waits with `sleep`, the
    /// runtime's own.
    ///
    /// An attempt that is cut is dropped. Dropping the call itself cancels it: whatever it holds
    /// comes back, and nothing is counted. `classify` says what a result is. The last result is
    /// handed back unchanged, also one that is `Ok` and was classified as a failure.
    ///
    /// # Errors
    ///
    /// The dependency's last error, or the refusal that ended the call.
    pub async fn call<T, E, Running: Future<Output = Result<T, E>>, Sleep: Future>(
        &self,
        request: Request,
        sleep: impl Fn(Duration) -> Sleep,
        mut operation: impl FnMut(Attempt) -> Running,
        classify: impl Fn(&Result<T, E>) -> Outcome,
    ) -> Result<Answer<T>, CallError<E>> {
        let mut step = self.start(request);
        let mut guard = Guard { client: self, call: None, attempts: false };
        let mut last = None;
        loop {
            guard.call = Some(step.call);
            guard.attempts = matches!(step.action, Action::Attempt { .. });
            step = match step.action {
                Action::Attempt { until, number } => {
                    let running = operation(self.attempt(number, until));
                    match self.run(step.call, running, until, &sleep).await {
                        Ran::Ended(result) => {
                            let outcome = classify(&result);
                            last = Some(result);
                            self.on_event(step.call, Event::Settled(outcome))
                        }
                        Ran::Cut(next) => {
                            self.on_event(step.call, DROPPED);
                            // A timeout has no error of the dependency's, and what came before it
                            // is not the last. What the deadline cuts leaves the last as it is.
                            last = last.filter(|_| is_deadline(&next));
                            next
                        }
                    }
                }
                Action::Wait { until, .. } => {
                    let until = until.unwrap_or_default();
                    sleep(until.saturating_since((self.now)())).await;
                    self.on_event(step.call, Event::Elapsed)
                }
                Action::Queue { until } => self.stand_in_line(step.call, until, &sleep).await,
                Action::Finish(decision) => {
                    guard.call = None;
                    return ended(decision, last);
                }
                Action::Stale { .. } => unreachable!("a call's newest id names it until it ends"),
            };
        }
    }

    /// Runs one attempt against its limit. A timer that fires early is set again.
    async fn run<T, Running: Future<Output = T>, Sleep: Future>(
        &self,
        call: CallId,
        running: Running,
        mut until: Option<Instant>,
        sleep: &impl Fn(Duration) -> Sleep,
    ) -> Ran<T> {
        let mut running = pin!(running);
        loop {
            let mut limit = pin!(self.sleep_until(until, sleep));
            let ended = poll_fn(|context| {
                if let Poll::Ready(value) = running.as_mut().poll(context) {
                    return Poll::Ready(Some(value));
                }
                limit.as_mut().poll(context).map(|()| None)
            });
            match ended.await {
                Some(value) => return Ran::Ended(value),
                None => match self.on_event(call, Event::Elapsed) {
                    Step { action: Action::Wait { until: later, .. }, call: same, .. }
                        if same == call =>
                    {
                        until = later;
                    }
                    step => return Ran::Cut(step),
                },
            }
        }
    }

    /// Waits for a permit: until it is handed over, until it is time to poll, until `until`.
    async fn stand_in_line<Sleep: Future>(
        &self,
        call: CallId,
        until: Option<Instant>,
        sleep: &impl Fn(Duration) -> Sleep,
    ) -> Step {
        loop {
            let poll_at = self.locked(|state| state.poll_at);
            let mut timer = pin!(self.sleep_until(soonest(until, poll_at), sleep));
            let handed = poll_fn(|context| {
                let (handed, moved, _waker) = self.locked(|state| {
                    self.poll(state);
                    if let Some(step) = state.waiters.take(call) {
                        return (Some(step), false, None);
                    }
                    let waker = state.waiters.wait(call, context.waker());
                    (None, state.poll_at != poll_at, waker)
                });
                if handed.is_some() || moved {
                    return Poll::Ready(handed);
                }
                timer.as_mut().poll(context).map(|()| None)
            });
            if let Some(step) = handed.await {
                return step;
            }
            if until.is_some_and(|until| (self.now)() >= until) {
                return self.leave_line(call);
            }
        }
    }

    /// The time in the line is over, unless the turn has come in the meantime.
    fn leave_line(&self, call: CallId) -> Step {
        let (step, _waker) = self.locked(|state| {
            if let Some(step) = state.waiters.take(call) {
                return (step, None);
            }
            let waker = state.waiters.forget(call);
            let step = self.on_event_locked(state, call, Event::Elapsed);
            state.wake_poller();
            (step, waker)
        });
        step
    }

    async fn sleep_until<Sleep: Future>(
        &self,
        until: Option<Instant>,
        sleep: &impl Fn(Duration) -> Sleep,
    ) {
        match until {
            Some(until) => _ = sleep(until.saturating_since((self.now)())).await,
            None => core::future::pending().await,
        }
    }
}

fn is_deadline(step: &Step) -> bool {
    matches!(step.action, Action::Finish(decision) if decision.is_own_error())
}

enum Ran<T> {
    Ended(T),
    Cut(Step),
}

/// A call that is dropped gives up: what it holds comes back.
struct Guard<'a, Now: Fn() -> Instant, Word: Fn() -> u64> {
    client: &'a Client<Now, Word>,
    call: Option<CallId>,
    attempts: bool,
}

impl<Now: Fn() -> Instant, Word: Fn() -> u64> Drop for Guard<'_, Now, Word> {
    fn drop(&mut self) {
        let Some(call) = self.call else { return };
        let _waker = self.client.locked(|state| {
            // A permit may have been handed over that nobody has taken yet.
            let handed = state.waiters.take(call);
            let waker = state.waiters.forget(call);
            let (call, runs) = match handed {
                Some(step) => (step.call, matches!(step.action, Action::Attempt { .. })),
                None => (call, self.attempts),
            };
            self.client.on_event_locked(state, call, Event::Cancelled);
            if runs {
                self.client.on_event_locked(state, call, DROPPED);
            }
            state.wake_poller();
            waker
        });
    }
}
