//! Whether running attempts are to be found by whoever asks for the current one.
//!
//! Setting a context variable takes a third of a quick call, and most programs never ask. So plain
//! blocking calls only leave a note in their thread until the program first looks `attempt` up;
//! from then on, and once any call has a key or headers to send, the context variable tells.

use std::cell::RefCell;
use std::sync::atomic::{AtomicBool, Ordering};

use pyo3::prelude::*;
use stormproof::time::Instant;

use crate::attempt::Attempt;

static ASKED_FOR: AtomicBool = AtomicBool::new(false);

/// A first attempt of a plain blocking call.
#[derive(Clone, Copy)]
struct Note {
    began: Instant,
    until: Option<Instant>,
}

thread_local! {
    static NOTES: RefCell<Vec<Note>> = const { RefCell::new(Vec::new()) };
}

/// Somebody is going to ask for the current attempt.
#[pyfunction]
pub fn track_attempts() {
    ASKED_FOR.store(true, Ordering::Relaxed);
}

/// Has somebody asked for the current attempt?
pub fn is_on() -> bool {
    ASKED_FOR.load(Ordering::Relaxed)
}

/// A plain attempt begins in this thread.
pub fn note(began: Instant, until: Option<Instant>) {
    NOTES.with_borrow_mut(|notes| notes.push(Note { began, until }));
}

/// The newest plain attempt of this thread has ended.
pub fn strike() {
    NOTES.with_borrow_mut(Vec::pop);
}

/// The newest plain attempt of this thread: one that began before anybody asked.
pub fn noted() -> Option<Attempt> {
    NOTES.with_borrow(|notes| {
        let Note { began, until } = *notes.last()?;
        Some(Attempt { host: None, number: 1, began, until, key: None })
    })
}
