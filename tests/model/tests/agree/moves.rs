//! Random moves: what a host, a network, a caller and a clock may do next.

use stormproof::step::{Control, Kind, Outcome, Safety};
use stormproof::time::Instant;
use stormproof::{Event, Request};
use stormproof_model::history::Phase;
use stormproof_model::time::{SECOND, Time};
use stormproof_model::{Input, Model};

use crate::course::Line;

/// Numbers that choose a line; 0 is the plainest.
#[derive(Clone, Copy, Debug)]
pub struct Move {
    pub what: u8,
    pub when: u8,
    pub whom: u8,
    pub detail: u32,
    pub word: u64,
}

const YEAR: Time = 365 * 86_400 * SECOND;

/// How a course goes as a whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mood {
    /// Anything may happen.
    Mixed,
    /// Mostly well.
    Well,
    /// Some lines all is well, some lines nothing.
    Tides,
    /// Mostly newcomers.
    Crowd,
}

impl Mood {
    pub fn of(number: u8) -> Self {
        match number {
            0..96 => Self::Mixed,
            96..128 => Self::Well,
            128..224 => Self::Tides,
            224..=255 => Self::Crowd,
        }
    }

    /// Is the dependency up at this place of the course? `None`: as it happens.
    fn is_up(self, place: usize, detail: u32) -> Option<bool> {
        let mostly = !(detail / 1_048_576).is_multiple_of(8);
        match self {
            Self::Mixed | Self::Crowd => None,
            Self::Well => mostly.then_some(true),
            Self::Tides => mostly.then_some(place % 16 >= 8),
        }
    }
}

/// Where the two stand, and how it goes.
#[derive(Clone, Copy)]
pub struct Scene<'a> {
    pub model: &'a Model,
    pub mood: Mood,
    /// How many lines were played.
    pub place: usize,
}

impl Move {
    /// The line that the numbers choose in this scene.
    pub fn line(&self, scene: Scene<'_>) -> Line {
        let model = scene.model;
        let word = match self.word % 8 {
            0 => 0,
            1 => u64::MAX,
            _ => self.word,
        };
        let is_crowd = scene.mood == Mood::Crowd && !self.what.is_multiple_of(3);
        let (at, input) = match self.what {
            _ if is_crowd => (self.reading(model), Input::Start(self.request(model))),
            0..72 => (self.reading(model), Input::Start(self.request(model))),
            72..154 => self.settled(scene),
            154..194 => self.elapsed(model),
            194..222 => (self.reading(model), Input::Poll),
            222..234 => {
                let id = self.live(model).unwrap_or(model.ids);
                (self.reading(model), Input::Event(id, Event::Cancelled))
            }
            234..253 => (self.reading(model), Input::Event(self.any_id(model), self.event(scene))),
            253..=255 => (self.reading(model), Input::Control(self.control())),
        };
        (at, input, word)
    }

    fn control(&self) -> Control {
        Control::ALL[usize::from(self.whom) % Control::ALL.len()]
    }

    fn event(&self, scene: Scene<'_>) -> Event {
        match self.detail % 3 {
            0 => Event::Settled(self.outcome(scene)),
            1 => Event::Elapsed,
            _ => Event::Cancelled,
        }
    }

    fn request(&self, model: &Model) -> Request {
        let safety = match self.detail % 16 {
            0..10 => Safety::Idempotent,
            10..12 => Safety::Keyed,
            12..15 => Safety::Unsafe,
            _ => Safety::Once,
        };
        let ahead = |span: Time| Some(model.clock.host(model.clock.now + span));
        let deadline = match self.detail / 16 % 64 {
            0..44 => None,
            44 => ahead(0),
            45 => ahead(-1),
            46 => ahead(1),
            47..51 => ahead(100_000_000),
            51..55 => ahead(150_000_000),
            55..60 => ahead(SECOND),
            60 => ahead(100 * YEAR),
            61 => ahead(-5 * SECOND),
            _ => Some(Instant::from_nanos(u64::MAX)),
        };
        Request { safety, deadline, cancelled: self.detail / 1024 % 64 == 63 }
    }

    fn outcome(&self, scene: Scene<'_>) -> Outcome {
        let up = scene.mood.is_up(scene.place, self.detail);
        let kind = match self.detail % 64 {
            _ if up == Some(true) => Kind::Success,
            _ if up == Some(false) => Kind::Server,
            0..14 => Kind::Success,
            14..38 => Kind::Server,
            38..43 => Kind::Network,
            43..46 => Kind::Timeout,
            46..53 => Kind::Throttled,
            detail => Kind::ALL[detail as usize % Kind::ALL.len()],
        };
        let status = match (self.detail / 64 % 32, kind) {
            (0..8, Kind::Server) => 503,
            (0..8, Kind::Client) => 404,
            (0..8, Kind::Throttled) => 429,
            (0..8, _) => 0,
            (place, _) => {
                const OTHERS: [u16; 10] = [0, 200, 404, 409, 413, 421, 425, 429, 500, 503];
                OTHERS[place as usize % OTHERS.len()]
            }
        };
        let mut outcome = Outcome::of(kind).with_status(status);
        let asked = self.detail / 2048 % 64;
        if let Some(millis) = ASKED.get(asked as usize) {
            outcome = outcome.with_retry_after_ms(*millis);
        }
        if self.detail / 131_072 % 8 == 7 {
            outcome = outcome.not_sent();
        }
        outcome
    }

    /// A result, mostly of an attempt that runs.
    fn settled(&self, scene: Scene<'_>) -> (u64, Input) {
        let model = scene.model;
        let running = model.calls.iter().filter(|call| matches!(call.phase, Phase::Attempt(_)));
        let running: Vec<u64> = running.map(|call| call.id).collect();
        let abandoned = model.attempts.iter();
        let abandoned = abandoned.filter(|it| it.is_left_behind(&model.settings, model.clock.now));
        let abandoned: Vec<u64> = abandoned.map(|attempt| attempt.id).collect();
        let id =
            if self.whom >= 224 { pick(&abandoned, self.whom) } else { pick(&running, self.whom) };
        (
            self.reading(model),
            Input::Event(id.unwrap_or(model.ids), Event::Settled(self.outcome(scene))),
        )
    }

    /// A timer: on time, or a nanosecond beside, or whenever.
    fn elapsed(&self, model: &Model) -> (u64, Input) {
        let Some(id) = self.live(model) else {
            return (self.reading(model), Input::Start(self.request(model)));
        };
        let until =
            model.calls.iter().find(|call| call.id == id).and_then(|call| match call.phase {
                Phase::Attempt(attempt) => model.attempts[attempt].until,
                Phase::Wait { until, .. } => Some(until),
                Phase::Queue { until } => until.into_iter().chain(call.deadline).min(),
                Phase::Over => None,
            });
        let reading = match until {
            Some(until) if self.when < 200 => {
                let beside = [0, 0, 0, 0, 0, -1, 1, 1_000_000][usize::from(self.when) % 8];
                model.clock.host(until.max(model.clock.now) + beside).as_nanos()
            }
            _ => self.reading(model),
        };
        (reading, Input::Event(id, Event::Elapsed))
    }

    fn live(&self, model: &Model) -> Option<u64> {
        let live = model.calls.iter().filter(|call| call.phase != Phase::Over);
        let live: Vec<u64> = live.map(|call| call.id).collect();
        pick(&live, self.whom)
    }

    /// Any id ever given out, and some that never were.
    fn any_id(&self, model: &Model) -> u64 {
        u64::from(self.whom) % (model.ids + 3)
    }

    /// What the host's clock says.
    fn reading(&self, model: &Model) -> u64 {
        let (clock, detail) = (&model.clock, Time::from(self.word >> 8));
        let at = match self.when {
            0..100 => clock.now,
            100..110 => clock.now + 1,
            110..130 => clock.now + detail % 100_000_000,
            130..140 => clock.now + detail % (3 * SECOND),
            140..238 => {
                let marks = marks(model);
                let near = if self.when < 220 { marks.len().min(4) } else { marks.len() };
                let mark =
                    (detail as usize).checked_rem(near).map_or(clock.now, |place| marks[place]);
                mark + [0, -1, 0, 1][usize::from(self.when) % 4]
            }
            238..243 => clock.now - 1 - detail % (SECOND - 1),
            243..248 => clock.now - SECOND - detail % (20 * SECOND),
            // Rare, since little of what was before matters after it.
            248.. if !(self.detail.is_multiple_of(4) || model.calls.is_empty()) => clock.now,
            248 => clock.now - detail % (10 * YEAR),
            249..251 => clock.now + detail % (10 * YEAR),
            251 => clock.now + 100 * YEAR,
            252 => return 0,
            253 => return 1 << 63,
            254 => return 1 << 62,
            255 => return u64::MAX,
        };
        clock.host(at).as_nanos()
    }
}

/// Milliseconds of Retry-After.
const ASKED: [u64; 16] = [
    0,
    1,
    40,
    100,
    999,
    1_000,
    1_001,
    1_500,
    2_000,
    2_001,
    5_000,
    60_000,
    60_001,
    3_155_760_000_000,
    18_446_744_073_710,
    u64::MAX,
];

fn pick(from: &[u64], number: u8) -> Option<u64> {
    usize::from(number).checked_rem(from.len()).map(|place| from[place])
}

/// Instants after now at which something may be different, the nearest first.
fn marks(model: &Model) -> Vec<Time> {
    let (settings, clock) = (&model.settings, &model.clock);
    let mut marks = Vec::new();
    for call in &model.calls {
        match call.phase {
            Phase::Attempt(attempt) => marks.extend(model.attempts[attempt].until),
            Phase::Wait { until, .. } => marks.push(until),
            Phase::Queue { until } => marks.extend(until),
            Phase::Over => continue,
        }
        marks.extend(call.deadline);
    }
    for attempt in &model.attempts {
        marks.extend(settings.slow_call_duration.map(|span| attempt.at + span));
        if let Some((ended, _)) = attempt.ended {
            marks.extend([ended + settings.window, ended + settings.abandoned_lease]);
        }
    }
    if let Some(era) = model.breaker.eras.last() {
        marks.extend(era.until());
        marks.extend(era.probes.iter().map(|probe| probe.lease_end));
    }
    for length in [settings.window / 10, SECOND] {
        let next = clock.origin + (clock.slice(clock.now, length) + 1) * length;
        marks.extend([next, next + 9 * length]);
    }
    marks.retain(|mark| *mark > clock.now);
    marks.sort_unstable();
    marks.dedup();
    marks
}
