//! Both sides' logs, put together by call and attempt.

use std::collections::{BTreeMap, HashMap};
use std::path::Path;

use anyhow::{Context, Result};

use crate::log::host::{How, Line, Rest, Safety, Told, read_log};
use crate::log::server::{Seen, read_all};
use crate::policy::Policy;
use crate::stage::GOES_ON;

/// For what two readings of one clock differ by when they cross a language: a microsecond, in ms.
pub const EPSILON: f64 = 0.001;

/// What happened between one host and its servers.
pub struct Story {
    /// What all was done by.
    pub policy: Policy,
    /// The host's log.
    pub lines: Vec<Line>,
    /// Every call by its number.
    pub calls: BTreeMap<u64, Call>,
    /// What the servers saw, in their order.
    pub seen: Vec<Seen>,
    /// How many servers there were.
    pub servers: usize,
    /// How many calls were to be open at the same time.
    pub calls_wanted: usize,
    /// Something kept the host alive after everything was closed.
    pub goes_on: bool,
    /// Lines about calls and attempts that never began.
    pub strays: Vec<String>,
    /// The host's name.
    pub host: String,
    wall_ahead: f64,
    places: HashMap<(u64, u32), usize>,
}

/// A call.
pub struct Call {
    /// When it began.
    pub t: f64,
    /// Whether it may be repeated.
    pub safety: Safety,
    /// Not after this.
    pub deadline: f64,
    /// The client's deadline is not before this.
    pub deadline_floor: f64,
    /// When its caller gave up.
    pub cancelled: Option<f64>,
    /// Its attempts in the order of the log.
    pub tries: Vec<Try>,
    /// Its ends: one, if all is well.
    pub ends: Vec<End>,
}

/// How a call ended.
pub struct End {
    /// The place of the line.
    pub at: usize,
    /// When.
    pub t: f64,
    /// Why.
    pub reason: String,
    /// How many attempts the client says that there were.
    pub attempts: Option<u32>,
}

/// An attempt.
pub struct Try {
    /// The place of the line.
    pub at: usize,
    /// When its operation began.
    pub t: f64,
    /// Its number.
    pub n: u32,
    /// Between these two is its limit.
    pub until: Option<[f64; 2]>,
    /// When the client left it behind, where the host can say.
    pub cut: Option<f64>,
    /// The ends of its operation: one, if all is well.
    pub ends: Vec<Ended>,
}

/// How an operation ended.
pub struct Ended {
    /// The place of the line.
    pub at: usize,
    /// When.
    pub t: f64,
    /// In what.
    pub how: How,
    /// The status of an answer.
    pub status: Option<u16>,
    /// The body was read to its end.
    pub read: bool,
}

impl Story {
    /// Reads what a run has left in the folder of a host.
    pub fn read(folder: &Path, policy: Policy, calls_wanted: usize) -> Result<Self> {
        let (seen, servers) = read_all(folder)?;
        let lines = read_log(folder)?;
        let mut story = Self::of(policy, lines, seen).context(folder.display().to_string())?;
        (story.servers, story.calls_wanted) = (servers, calls_wanted);
        story.goes_on = folder.join(GOES_ON).exists();
        Ok(story)
    }

    /// Puts the lines of both sides together.
    pub fn of(policy: Policy, lines: Vec<Line>, seen: Vec<Seen>) -> Result<Self> {
        let Some(Line::Start { t, wall, host }) = lines.first() else {
            anyhow::bail!("the log of the host does not begin with its start");
        };
        let mut places = HashMap::new();
        for (place, request) in seen.iter().enumerate() {
            places.entry((request.call, request.n)).or_insert(place);
        }
        let mut story = Self {
            host: host.clone(),
            wall_ahead: wall - t,
            calls: BTreeMap::new(),
            strays: Vec::new(),
            goes_on: false,
            servers: 1,
            calls_wanted: 0,
            policy,
            lines: Vec::new(),
            seen,
            places,
        };
        for (at, line) in lines.iter().enumerate() {
            if !story.on_line(at, line) {
                story.strays.push(format!("{line:?}"));
            }
        }
        story.lines = lines;
        Ok(story)
    }

    /// What a server saw of this attempt.
    pub fn seen(&self, call: u64, n: u32) -> Option<&Seen> {
        self.places.get(&(call, n)).map(|place| &self.seen[*place])
    }

    /// Every attempt with its call.
    pub fn tries(&self) -> impl Iterator<Item = (u64, &Call, &Try)> {
        self.calls.iter().flat_map(|(id, call)| call.tries.iter().map(move |one| (*id, call, one)))
    }

    /// An instant of the host on the clock of the wall.
    pub fn wall_ms(&self, t: f64) -> f64 {
        t + self.wall_ahead
    }

    /// What the client told.
    pub fn told(&self) -> impl Iterator<Item = &Told> {
        self.lines.iter().filter_map(|line| match line {
            Line::Event(told) => Some(told),
            _ => None,
        })
    }

    /// What the host held at rest.
    pub fn rests(&self) -> impl Iterator<Item = &Rest> {
        self.lines.iter().filter_map(|line| match line {
            Line::Rest(rest) => Some(&**rest),
            _ => None,
        })
    }

    /// Does the host tell events? `stormproof::drive` has none.
    pub fn has_events(&self) -> bool {
        self.host != "rust"
    }

    /// May something happen between the end of a call and the moment its caller hears of it? Not
    /// where the engine and the call run in the same turn.
    pub fn hears_late(&self) -> bool {
        self.host != "node"
    }

    /// Answers no for a line about what never began.
    fn on_line(&mut self, at: usize, line: &Line) -> bool {
        match line {
            Line::Call { t, call, safety, within, deadline } => {
                let deadline_floor = t + within.min(self.policy.overall_timeout_ms);
                let new = Call::new(*t, *safety, *deadline, deadline_floor);
                return self.calls.insert(*call, new).is_none();
            }
            Line::Cancel { t, call } => match self.calls.get_mut(call) {
                Some(call) => call.cancelled = Some(*t),
                None => return false,
            },
            Line::Try { t, call, n, until, .. } => match self.calls.get_mut(call) {
                Some(call) => call.tries.push(Try::new(at, *t, *n, *until)),
                None => return false,
            },
            Line::Ended { t, call, n, how, status, read } => match self.find(*call, *n) {
                Some(one) => {
                    one.ends.push(Ended { at, t: *t, how: *how, status: *status, read: *read })
                }
                None => return false,
            },
            Line::Cut { t, call, n } => match self.find(*call, *n) {
                Some(one) => one.cut = Some(*t),
                None => return false,
            },
            Line::End { t, call, reason, attempts } => match self.calls.get_mut(call) {
                Some(call) => {
                    call.ends.push(End { at, t: *t, reason: reason.clone(), attempts: *attempts });
                }
                None => return false,
            },
            Line::Start { .. } | Line::Event(_) | Line::State { .. } | Line::Rest(_) => {}
        }
        true
    }

    fn find(&mut self, call: u64, n: u32) -> Option<&mut Try> {
        self.calls.get_mut(&call)?.tries.iter_mut().find(|one| one.n == n)
    }
}

impl Call {
    fn new(t: f64, safety: Safety, deadline: f64, deadline_floor: f64) -> Self {
        let (tries, ends) = (Vec::new(), Vec::new());
        Self { t, safety, deadline, deadline_floor, cancelled: None, tries, ends }
    }

    /// Why it ended; empty if it did not.
    pub fn reason(&self) -> &str {
        self.ends.first().map_or("", |end| &end.reason)
    }

    /// Did the caller's cancel end this attempt of the call?
    pub fn cancelled(&self, one: &Try) -> bool {
        let is_last = self.tries.last().is_some_and(|last| last.n == one.n);
        let (Some(cancelled), "cancelled", true) = (self.cancelled, self.reason(), is_last) else {
            return false;
        };
        one.how() == Some(How::Cut) && one.released().is_some_and(|t| t >= cancelled)
    }
}

impl Try {
    fn new(at: usize, t: f64, n: u32, until: Option<[f64; 2]>) -> Self {
        Self { at, t, n, until, cut: None, ends: Vec::new() }
    }

    /// What its operation ended in.
    pub fn how(&self) -> Option<How> {
        self.ends.first().map(|ended| ended.how)
    }

    /// The status that its operation answered with.
    pub fn status(&self) -> Option<u16> {
        self.ends.first().and_then(|ended| ended.status)
    }

    /// When the client was rid of it; `None`: never.
    pub fn released(&self) -> Option<f64> {
        self.cut.or(self.ends.first().map(|ended| ended.t))
    }

    /// Between which two instants the client let it go, where its limit tells: that of an attempt
    /// that the deadline shortens does not.
    pub fn admitted(&self, call: &Call, policy: &Policy) -> Option<[f64; 2]> {
        let [early, late] = self.until?;
        let limit = policy.attempt_timeout_ms;
        (late < call.deadline_floor - EPSILON).then_some([early - limit, late - limit])
    }
}

/// Stories for the tests of the laws.
#[cfg(test)]
pub mod told {
    use super::*;
    use crate::log::server::Reply;

    /// A story of these lines of a host, after its start at 0, and these requests.
    pub fn story(lines: &str, seen: Vec<Seen>) -> Story {
        story_of("node", lines, seen)
    }

    /// The same of another host.
    pub fn story_of(host: &str, lines: &str, seen: Vec<Seen>) -> Story {
        let start = Line::Start { t: 0.0, wall: 1e6, host: host.into() };
        let lines = lines.lines().map(str::trim).filter(|line| !line.is_empty());
        let lines = lines.map(|line| serde_json::from_str(line).expect(line));
        Story::of(policy(), std::iter::once(start).chain(lines).collect(), seen).unwrap()
    }

    /// Two at once, two probes of 500 ms, two tokens.
    fn policy() -> Policy {
        let mut policy = Policy::draw(1);
        policy.retry.max_attempts = 4;
        policy.bulkhead.max_concurrent = 2;
        policy.bulkhead.release = "settled".into();
        policy.breaker.probes = 2;
        policy.breaker.open_duration_ms = 500.0;
        policy.budget.capacity = 2.0;
        policy.budget.refill_per_success = 0.5;
        policy.budget.refill_per_second = 1.0;
        policy.attempt_timeout_ms = 1_000.0;
        policy.overall_timeout_ms = 8_000.0;
        policy
    }

    /// A call that is given 5 s.
    pub fn call(t: f64, call: u64, safety: &str) -> String {
        let deadline = t + 5_000.0;
        format!(
            r#"{{"e":"call","t":{t},"call":{call},"safety":"{safety}","within":5000,"deadline":{deadline}}}"#
        ) + "\n"
    }

    /// An attempt of a closed circuit that is admitted as it begins.
    pub fn attempt(t: f64, call: u64, n: u32) -> String {
        attempt_at(t, call, n, "closed")
    }

    /// The same where the circuit is in this state.
    pub fn attempt_at(t: f64, call: u64, n: u32, circuit: &str) -> String {
        let until = t + 1_000.0;
        format!(
            r#"{{"e":"try","t":{t},"call":{call},"n":{n},"until":[{until},{until}],"circuit":"{circuit}"}}"#
        ) + "\n"
    }

    /// Its operation has ended with this status, its body read; 0 is the network.
    pub fn ended(t: f64, call: u64, n: u32, status: u16) -> String {
        let (how, told) = match status {
            0 => ("network", "null".to_owned()),
            status => ("answer", status.to_string()),
        };
        format!(
            r#"{{"e":"ended","t":{t},"call":{call},"n":{n},"how":"{how}","status":{told},"read":{}}}"#,
            status == 200
        ) + "\n"
    }

    /// It was told to stop.
    pub fn stopped(t: f64, call: u64, n: u32) -> String {
        format!(
            r#"{{"e":"ended","t":{t},"call":{call},"n":{n},"how":"cut","status":null,"read":false}}"#
        ) + "\n"
    }

    /// The end of a call.
    pub fn end(t: f64, call: u64, reason: &str, attempts: u32) -> String {
        format!(r#"{{"e":"end","t":{t},"call":{call},"reason":"{reason}","attempts":{attempts}}}"#)
            + "\n"
    }

    /// How the client stands.
    pub fn state(t: f64, running: u32, circuit: &str, open_until: &str) -> String {
        format!(
            r#"{{"e":"state","t":{t},"running":{running},"queued":0,"circuit":"{circuit}","open_until":{open_until}}}"#
        ) + "\n"
    }

    /// A request that a server saw and answered with this status; 0 is no answer at all.
    pub fn request(call: u64, n: u32, status: u16) -> Seen {
        let whole = status != 0;
        let reply = Reply { status: whole.then_some(status), whole, ..Reply::default() };
        Seen { call, n, key: None, wall_ms: 1e6 + 1e5, reply: Some(reply) }
    }
}
