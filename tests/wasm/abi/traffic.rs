//! Calls, drawn at random.

use crate::call::{CELLS, Call, Cells};
use crate::dice::Dice;
use crate::draft::Value;
use crate::ledger::Ledger;

/// Every function that is called, as often as it stands here. Those that only tell where things are
/// have nothing to be asked.
pub const FUNCTIONS: &[(&str, u64)] = &[
    ("policy_new", 2),
    ("policy_set", 12),
    ("engine_new", 3),
    ("engine_free", 2),
    ("reseed", 2),
    ("set_word", 4),
    ("start", 60),
    ("on_settled", 40),
    ("on_answered", 30),
    ("on_elapsed", 40),
    ("on_cancelled", 4),
    ("poll_ready", 40),
    ("control", 3),
    ("classify", 5),
    ("snapshot", 8),
    ("explain", 8),
    ("retry_after", 8),
    ("idempotency_value", 5),
    ("is_idempotent_method", 3),
];

pub struct Traffic {
    dice: Dice,
    now: f64,
    /// How many readings of the clock in a hundred are garbage.
    clock_faults: u64,
}

impl Traffic {
    pub fn new(mut dice: Dice) -> Self {
        let now = dice.pick(&[0.0, 1_000.25, 1.8e12, 9.2e12]);
        let clock_faults = dice.pick(&[0, 0, 1, 5, 25]);
        Self { dice, now, clock_faults }
    }

    /// Has the input that calls are drawn from come to its end?
    pub fn is_over(&self) -> bool {
        self.dice.is_over()
    }

    pub fn draw(&mut self, ledger: &Ledger) -> Call {
        let lacks_engines = ledger.live().is_empty() && self.dice.percent(50);
        let function = if lacks_engines { "engine_new" } else { self.function() };
        match function {
            "policy_set" => return self.policy_set(),
            "engine_new" => return self.engine_new(),
            "explain" => return self.explain(ledger),
            "retry_after" => return self.retry_after(),
            "idempotency_value" => return self.idempotency_value(),
            "is_idempotent_method" => return self.method(),
            _ => {}
        }
        let ((handle, id), now) = (self.call(function, ledger), self.now());
        let dice = &mut self.dice;
        let arguments: &[f64] = match function {
            "policy_new" => &[],
            "engine_free" => &[handle],
            "reseed" => &[handle, dice.odd_word(), dice.odd_word()],
            "set_word" => &[dice.odd_word(), dice.odd_word()],
            "start" => {
                let deadline = deadline(dice, now);
                &[handle, now, dice.code(), deadline, f64::from(u8::from(dice.percent(3)))]
            }
            "on_settled" => {
                let (kind, status, phase) = (dice.code(), status(dice), dice.code());
                &[handle, now, id, kind, status, phase, retry_after_ms(dice)]
            }
            "on_answered" => &[handle, now, id, status(dice), retry_after_ms(dice), dice.code()],
            "on_elapsed" | "on_cancelled" => &[handle, now, id],
            "poll_ready" | "snapshot" => &[handle, now],
            "control" => &[handle, now, dice.code()],
            "classify" => &[handle, status(dice), retry_after_ms(dice), dice.code()],
            other => panic!("no calls of {other} are drawn"),
        };
        Call::new(function, arguments)
    }

    fn function(&mut self) -> &'static str {
        let total = FUNCTIONS.iter().map(|(_, weight)| weight).sum();
        let mut place = self.dice.below(total);
        for (function, weight) in FUNCTIONS {
            if place < *weight {
                return function;
            }
            place -= weight;
        }
        unreachable!("the place lies below the sum of the weights")
    }

    fn policy_set(&mut self) -> Call {
        let dice = &mut self.dice;
        if dice.percent(5) {
            let text = dice.bytes();
            let (path, value) = (dice.length(text.len()), dice.length(text.len()));
            let arguments = [path, dice.code(), dice.odd_double(), value];
            return Call { text: Some(text), ..Call::new("policy_set", &arguments) };
        }
        let value = if dice.percent(95) { Value::fit(dice) } else { Value::odd(dice) };
        let lengths = (dice.length(value.path.len()), dice.length(value.text.len()));
        let arguments = [lengths.0, f64::from(value.kind), value.number, lengths.1];
        let text = [value.path, value.text].concat().into_bytes();
        Call { text: Some(text), ..Call::new("policy_set", &arguments) }
    }

    fn engine_new(&mut self) -> Call {
        let seed = self.cells(8);
        Call { cells: Some(seed), ..Call::new("engine_new", &[]) }
    }

    /// Mostly of the decision that stands there, else of none that there ever was.
    fn explain(&mut self, ledger: &Ledger) -> Call {
        let (text, handle) = (self.text(), self.handle(ledger));
        let cells = self.dice.percent(50).then(|| self.cells(17));
        let arguments = [handle, self.dice.length(text.len())];
        Call { text: Some(text), cells, ..Call::new("explain", &arguments) }
    }

    fn retry_after(&mut self) -> Call {
        let (mut text, mut lengths) = (Vec::new(), Vec::new());
        for _ in 0..4 {
            let dice = &mut self.dice;
            let field = if dice.percent(10) { dice.bytes() } else { dice.pick(FIELDS).into() };
            lengths.push(match dice.below(10) {
                0..2 => -1.0,
                2 => f64::from(dice.odd_word() as u32 as i32),
                _ => field.len() as f64,
            });
            text.extend(field);
        }
        let dice = &mut self.dice;
        lengths.push(if dice.percent(60) { 1.768e12 } else { dice.odd_double() });
        text.truncate(crate::buffers::TEXT_LEN);
        Call { text: Some(text), ..Call::new("retry_after", &lengths) }
    }

    fn idempotency_value(&mut self) -> Call {
        let text = self.text();
        let arguments = [self.dice.length(text.len()), self.dice.code()];
        Call { text: Some(text), ..Call::new("idempotency_value", &arguments) }
    }

    fn method(&mut self) -> Call {
        let text = self.text();
        let length = self.dice.length(text.len());
        Call { text: Some(text), ..Call::new("is_idempotent_method", &[length]) }
    }

    fn text(&mut self) -> Vec<u8> {
        let dice = &mut self.dice;
        match dice.below(3) {
            0 => dice.bytes(),
            1 => vec![b'"'; dice.pick(&[1, 255, 256, 4_095, 4_096])],
            _ => dice.pick(&["get", "PATCH", "payments", "é", "two words"]).into(),
        }
    }

    fn cells(&mut self, count: usize) -> Cells {
        let mut cells = [0.0; CELLS];
        for cell in &mut cells[..count] {
            let dice = &mut self.dice;
            *cell = if dice.percent(70) { dice.code() } else { dice.odd_double() };
        }
        cells
    }

    /// Of an engine that is there, of one that was given back, or of none.
    fn handle(&mut self, ledger: &Ledger) -> f64 {
        let dice = &mut self.dice;
        let known = if dice.percent(92) { ledger.live() } else { ledger.freed() };
        if known.is_empty() || dice.percent(5) {
            return match dice.below(3) {
                0 => f64::from(dice.below(4) as u32),
                1 => f64::from((dice.below(1 << 16) << 16) as u32),
                _ => dice.odd_word(),
            };
        }
        // The newest ones mostly, so that calls of one engine follow each other.
        let place = known.len() - 1 - dice.below(known.len().min(4) as u64) as usize;
        f64::from(known[place])
    }

    /// A handle and an id, which mostly belong together where both are asked for.
    fn call(&mut self, function: &str, ledger: &Ledger) -> (f64, f64) {
        let recent = ledger.recent();
        if !function.starts_with("on_") || recent.is_empty() || self.dice.percent(10) {
            return (self.handle(ledger), self.id(ledger));
        }
        let reach = if self.dice.percent(85) { recent.len().min(12) } else { recent.len() };
        let (handle, id) = recent[recent.len() - 1 - self.dice.below(reach as u64) as usize];
        (f64::from(handle), id)
    }

    /// Of a call under way, of one that is over, of another engine, or of none.
    fn id(&mut self, ledger: &Ledger) -> f64 {
        let (dice, recent) = (&mut self.dice, ledger.recent());
        if recent.is_empty() || dice.percent(40) {
            return dice.odd_double();
        }
        let (_, id) = dice.pick(recent);
        if dice.percent(20) { id + 1.0 } else { id }
    }

    /// Time passes, in steps of many sizes; now and then the clock is out of its mind.
    fn now(&mut self) -> f64 {
        if self.dice.percent(self.clock_faults) {
            return self.dice.odd_double();
        }
        let rare = self.dice.pick(&[3_000.0, 11_000.0, 90_000.0, -5_000.0]);
        let often = self.dice.pick(&[0.0, 0.0, 0.1, 2.0, 5.0, 60.0, 400.0, -3.0]);
        let step = if self.dice.percent(3) { rare } else { often };
        self.now = (self.now + step).max(0.0);
        self.now
    }
}

const FIELDS: &[&str] = &[
    "",
    "0",
    "120",
    "1.5",
    "-1",
    " 7 ",
    "99999999999999999999999999",
    "1e400",
    "Thu, 15 Jan 2026 12:00:00 GMT",
    "Thursday, 15-Jan-99 12:00:00 GMT",
    "Fri Dec 31 23:59:60 9999",
    "Mon, 15 Jan 0000 00:00:00 +2359",
    "12, 13",
];

fn deadline(dice: &mut Dice, now: f64) -> f64 {
    match dice.below(10) {
        0 => dice.odd_double(),
        1..4 => now + dice.below(20_000) as f64,
        _ => -1.0,
    }
}

fn status(dice: &mut Dice) -> f64 {
    if dice.percent(10) {
        return dice.odd_word();
    }
    f64::from(dice.pick(&[0, 200, 204, 404, 408, 409, 413, 421, 425, 429, 500, 502, 503, 529, 999]))
}

fn retry_after_ms(dice: &mut Dice) -> f64 {
    match dice.below(10) {
        0 => dice.odd_double(),
        1..4 => dice.below(90_000) as f64,
        _ => -1.0,
    }
}
