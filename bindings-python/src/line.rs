//! Who waits for a permit, and how they hear that their turn has come.

use std::collections::HashMap;

use pyo3::prelude::*;
use stormproof::{CallId, Step};

/// Calls to make once the engine's lock is free again. Nobody calls Python under it.
pub type Wakes = Vec<Py<PyAny>>;

/// The calls in the engine's queue.
#[derive(Default)]
pub struct Line(HashMap<CallId, Place>);

enum Place {
    /// Its thread or task has not come to wait yet.
    Unattended,
    /// It sleeps until this is called.
    Asleep(Py<PyAny>),
    /// Its step, not fetched yet.
    Ready(Step),
}

impl Line {
    /// The call stands in the engine's queue.
    pub fn join(&mut self, call: CallId) {
        self.0.entry(call).or_insert(Place::Unattended);
    }

    /// The call has left the engine's queue by itself.
    pub fn leave(&mut self, call: CallId) -> Option<Py<PyAny>> {
        match self.0.remove(&call) {
            Some(Place::Asleep(wake)) => Some(wake),
            _ => None,
        }
    }

    /// The step that a poll yielded.
    pub fn deliver(&mut self, step: Step, wakes: &mut Wakes) {
        if let Some(Place::Asleep(wake)) = self.0.insert(step.previous, Place::Ready(step)) {
            wakes.push(wake);
        }
    }

    /// The step that waits to be fetched.
    pub fn fetch(&mut self, call: CallId) -> Option<Step> {
        match self.0.remove(&call)? {
            Place::Ready(step) => Some(step),
            place => {
                self.0.insert(call, place);
                None
            }
        }
    }

    /// The call goes to sleep; answers what it slept by before.
    pub fn sleep(&mut self, call: CallId, wake: Py<PyAny>) -> Option<Py<PyAny>> {
        match self.0.insert(call, Place::Asleep(wake)) {
            Some(Place::Asleep(before)) => Some(before),
            _ => None,
        }
    }

    /// Everybody has to look at the clock again.
    pub fn rouse(&mut self, wakes: &mut Wakes) {
        for place in self.0.values_mut() {
            if let Place::Asleep(_) = place
                && let Place::Asleep(wake) = std::mem::replace(place, Place::Unattended)
            {
                wakes.push(wake);
            }
        }
    }
}
