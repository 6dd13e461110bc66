//! The calls that a host has under way, and the attempts that they have left behind.

use alloc::vec::Vec;

use stormproof::step::Safety;
use stormproof::{Action, CallId, Step};

use crate::clock::NEVER;
use crate::dice::Dice;

/// Attempts left behind that the host still knows of. Those that it forgets never end.
const LEFT_BEHIND: usize = 40;
/// Ids that mean nothing any more.
const OLD_IDS: usize = 32;

/// A call under way. Times are the true ones, whatever the clock shows.
#[derive(Clone, Copy)]
pub struct Call {
    pub id: CallId,
    pub safety: Option<Safety>,
    timer: u64,
    /// When the operation ends; `None`: none runs.
    end: Option<u64>,
}

impl Call {
    pub fn runs(&self) -> bool {
        self.end.is_some()
    }
}

/// When something happens, and to which of many.
pub type Due = (u64, usize);

#[derive(Default)]
pub struct Calls {
    live: Vec<Call>,
    left_behind: Vec<(CallId, u64)>,
    old: Vec<CallId>,
}

impl Calls {
    pub fn len(&self) -> usize {
        self.live.len()
    }

    pub fn at(&self, place: usize) -> Call {
        self.live[place]
    }

    pub fn place_of(&self, id: CallId) -> Option<usize> {
        self.live.iter().position(|call| call.id == id)
    }

    pub fn first_timer(&self) -> Due {
        first(self.live.iter().map(|call| call.timer))
    }

    pub fn first_end(&self) -> Due {
        first(self.live.iter().map(|call| call.end.unwrap_or(NEVER)))
    }

    pub fn first_late_end(&self) -> Due {
        first(self.left_behind.iter().map(|(_, end)| *end))
    }

    /// An attempt left behind ends; answers with its id.
    pub fn on_late_end(&mut self, place: usize) -> CallId {
        self.left_behind.swap_remove(place).0
    }

    /// A new call; answers with its place.
    pub fn start(&mut self, id: CallId, safety: Option<Safety>) -> usize {
        self.live.push(Call { id, safety, timer: NEVER, end: None });
        self.live.len() - 1
    }

    /// The call moves on while its attempt, if one runs, goes on under the id that it was started
    /// with.
    pub fn leave_behind(&mut self, place: usize, step: &Step) {
        let call = &mut self.live[place];
        if step.call == call.id && matches!(step.action, Action::Wait { .. }) {
            return;
        }
        if let Some(end) = call.end.take() {
            let id = call.id;
            push(&mut self.left_behind, LEFT_BEHIND, (id, end));
        }
    }

    /// The call is as the step says, with a timer, and with an operation if it starts one.
    pub fn follow(&mut self, place: usize, step: &Step, timer: u64, end: Option<u64>) {
        let known = self.live[place].id;
        if matches!(step.action, Action::Finish(_) | Action::Stale { .. }) {
            self.live.swap_remove(place);
        } else {
            let call = &mut self.live[place];
            call.id = step.call;
            call.timer = timer;
            call.end = if step.call == known { end.or(call.end) } else { end };
            if step.call == known {
                return;
            }
        }
        push(&mut self.old, OLD_IDS, known);
    }

    /// An id that names no phase, or that of an attempt left behind.
    pub fn stray(&self, dice: &mut Dice) -> CallId {
        match dice.below(6) {
            0 => CallId::from_bits(dice.word() >> 12),
            1 => CallId::NONE,
            2 if !self.left_behind.is_empty() => dice.pick(&self.left_behind).0,
            _ if self.old.is_empty() => CallId::NONE,
            _ => dice.pick(&self.old),
        }
    }
}

fn first(times: impl Iterator<Item = u64>) -> Due {
    let due = times.enumerate().min_by_key(|(_, time)| *time);
    due.map_or((NEVER, 0), |(place, time)| (time, place))
}

/// The oldest makes room.
fn push<T>(list: &mut Vec<T>, room: usize, new: T) {
    if list.len() == room {
        list.remove(0);
    }
    list.push(new);
}
