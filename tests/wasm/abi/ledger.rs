//! What was handed out, and with it what an answer may be.

use std::collections::{BTreeMap, BTreeSet};

use stormproof::step::{ChangeCause, Circuit, Why};
use stormproof::{Control, Reason};

use crate::buffers::TEXT_LEN;
use crate::call::{CELLS, Call, Cells, Reply};

const FINISH: f64 = 3.0;
const STALE: f64 = 4.0;
const NOTHING: f64 = 5.0;
const NO_ENGINE: f64 = 6.0;

/// The handles and ids that there were.
#[derive(Default)]
pub struct Ledger {
    live: Vec<u32>,
    freed: Vec<u32>,
    recent: Vec<(u32, f64)>,
    ids: BTreeMap<u32, BTreeSet<u64>>,
    ends: BTreeSet<u8>,
}

type Checked = Result<(), String>;

impl Ledger {
    pub fn live(&self) -> &[u32] {
        &self.live
    }

    pub fn freed(&self) -> &[u32] {
        &self.freed
    }

    /// Ids and whose they are, the newest last.
    pub fn recent(&self) -> &[(u32, f64)] {
        &self.recent
    }

    /// Did a call end for this reason?
    pub fn saw(&self, reason: Reason) -> bool {
        self.ends.contains(&reason.code())
    }

    /// Enters a reply, or tells what of it cannot be. `before`: the step buffer that the call found.
    pub fn enter(&mut self, call: &Call, before: &Cells, reply: &Reply) -> Checked {
        let is_known = self.live.contains(&handle(call));
        match call.function {
            "engine_new" => self.engine_new(reply),
            "engine_free" => {
                let (freed, live) = self.live.iter().partition(|live| **live == handle(call));
                self.live = live;
                self.freed.extend::<Vec<u32>>(freed);
                untouched(before, reply)
            }
            "start" | "on_settled" | "on_answered" | "on_elapsed" | "on_cancelled"
            | "poll_ready" | "control" | "snapshot" | "classify"
                if !is_known =>
            {
                claim(reply.answer == NO_ENGINE, "an unknown handle is told so")?;
                untouched(before, reply)
            }
            "snapshot" => snapshot(reply),
            "classify" => {
                claim(
                    [0.0, 3.0, 4.0, 5.0].contains(&reply.answer),
                    "a status has one class of four",
                )?;
                untouched(before, reply)
            }
            "explain" => explain(is_known, before, reply),
            "retry_after" => {
                let is_wait = reply.answer >= 0.0 && reply.answer.is_finite();
                claim(is_wait || reply.answer == -1.0, "a wait, or none")?;
                untouched(before, reply)
            }
            "idempotency_value" => {
                claim(reply.answer == -1.0 || is_text(reply, 1), "a value, or none")?;
                untouched(before, reply)
            }
            "is_idempotent_method" => {
                claim(reply.answer == 0.0 || reply.answer == 1.0, "yes or no")?;
                untouched(before, reply)
            }
            "policy_new" | "policy_set" | "reseed" | "set_word" => untouched(before, reply),
            _ => self.step(call, before, reply),
        }
    }

    fn engine_new(&mut self, reply: &Reply) -> Checked {
        let handle = reply.answer as u32;
        if handle == 0 {
            let [code, lengths @ ..] = &reply.cells[..4] else { unreachable!("four cells") };
            claim((0.0..6.0).contains(code), "a policy is refused with a code")?;
            let is_length = |length: &f64| (0.0..=2.0 * TEXT_LEN as f64).contains(length);
            return claim(lengths.iter().all(is_length), "the error's texts have lengths");
        }
        let is_new = !self.live.contains(&handle) && !self.freed.contains(&handle);
        self.live.push(handle);
        self.ids.insert(handle, BTreeSet::new());
        claim(is_new, "a handle is never given again")
    }

    /// What came of a call of an engine that is there.
    fn step(&mut self, call: &Call, before: &Cells, reply: &Reply) -> Checked {
        let Reply { answer, cells, .. } = reply;
        claim((0.0..NO_ENGINE).contains(answer), "a step has one of six codes")?;
        if *answer == NOTHING {
            let order = *call.arguments.last().expect("every step has arguments");
            let is_order = call.function == "control" && order < Control::ALL.len() as f64;
            let may = ["poll_ready", "control"].contains(&call.function) && !is_order;
            claim(may, "only a poll and an unknown order yield nothing")?;
            let mut before = *before;
            if call.function == "poll_ready" {
                claim((-1.0..2e13).contains(&cells[2]), "an idle poll says when to poll again")?;
                before[2] = cells[2];
            }
            return untouched(&before, reply);
        }
        let is_event = call.function.starts_with("on_");
        if is_event && !self.ids[&handle(call)].contains(&(call.arguments[2] as u64)) {
            claim(*answer == STALE, "an id that was never given is stale")?;
        }
        if *answer < STALE && cells[0] != 0.0 {
            self.ids
                .get_mut(&handle(call))
                .expect("an engine that is there")
                .insert(cells[0] as u64);
            self.recent.push((handle(call), cells[0]));
        }
        // A stale answer returns the id that the event named.
        let is_id = (0.0..2f64.powi(52)).contains(&cells[0]);
        claim(is_id || *answer == STALE, "an id has 52 bits")?;
        claim(cells[2..5].iter().all(|cell| (-1.0..2e13).contains(cell)), "limits are instants")?;
        if *answer == 1.0 {
            claim(cells[4] < Why::ALL.len() as f64, "a wait has a reason")?;
            claim((0.0..2e13).contains(&cells[17]), "a wait was planned for some time")?;
        }
        change(cells)?;
        if *answer == FINISH {
            self.ends.insert(cells[8] as u8);
            return decision(cells);
        }
        Ok(())
    }
}

fn handle(call: &Call) -> u32 {
    call.arguments.first().map_or(0, |handle| *handle as u32)
}

fn change(cells: &Cells) -> Checked {
    let circuits = 0.0..Circuit::ALL.len() as f64;
    let causes = 0.0..ChangeCause::ALL.len() as f64;
    let is_change = circuits.contains(&cells[5])
        && circuits.contains(&cells[6])
        && causes.contains(&cells[7])
        && cells[5] != cells[6];
    claim(is_change || cells[5] == -1.0, "a circuit changes from one state to another")
}

fn decision(cells: &Cells) -> Checked {
    claim((0.0..Reason::ALL.len() as f64).contains(&cells[8]), "a decision has a reason")?;
    let are_numbers = cells[9..17].iter().all(|cell| cell.is_finite() && *cell >= -1.0);
    claim(are_numbers, "a decision is made of numbers")
}

fn snapshot(reply: &Reply) -> Checked {
    claim(reply.answer == 0.0, "a snapshot is taken")?;
    let [circuit, rest @ ..] = &reply.cells[..42] else { unreachable!("42 cells") };
    claim((0.0..Circuit::ALL.len() as f64).contains(circuit), "the circuit has a state")?;
    let are_numbers = rest.iter().all(|cell| cell.is_finite() && *cell >= -1.0);
    claim(are_numbers, "a snapshot is made of numbers")
}

fn explain(is_known: bool, before: &Cells, reply: &Reply) -> Checked {
    // A double is cut to a whole number, NaN to zero.
    let reason = if before[8].is_nan() { 0.0 } else { before[8].trunc() };
    let may_be = is_known && (0.0..Reason::ALL.len() as f64).contains(&reason);
    claim(if may_be { is_text(reply, 1) } else { reply.answer == 0.0 }, "a sentence, or none")?;
    untouched(before, reply)
}

/// Does the answer name a text of at least `min` bytes?
fn is_text(reply: &Reply, min: usize) -> bool {
    let fits = (min as f64..=TEXT_LEN as f64).contains(&reply.answer);
    fits && std::str::from_utf8(&reply.text[..reply.answer as usize]).is_ok()
}

fn untouched(before: &Cells, reply: &Reply) -> Checked {
    let same = |place: usize| before[place].to_bits() == reply.cells[place].to_bits();
    claim((0..CELLS).all(same), "the step buffer stays as it was")
}

fn claim(holds: bool, what: &str) -> Checked {
    if holds { Ok(()) } else { Err(format!("it does not hold that {what}")) }
}
