//! `decorrelated`: uniform[base, min(cap, 3 × previous)], drawn inside the cap (B2).

use stormproof::Jitter;
use stormproof::jitter::uniform;

use super::fit::{Cells, critical_distance, distance, place};
use super::report::Report;
use super::{BASE, CAP, Words, backoff, nanos};

const RETRIES: usize = 12;

pub fn check(report: &mut Report) {
    let laws = laws();
    let mut words = Words::of_client(3);
    let mut clients = vec![backoff(Jitter::Decorrelated); report.samples];
    let mut previous = vec![BASE; report.samples];
    let mut steps = Cells::new(1_000);
    for (retry, law) in laws.iter().enumerate() {
        let name = format!("decorrelated, retry {}", retry + 1);
        let mut waits = Vec::with_capacity(report.samples);
        for (client, previous) in clients.iter_mut().zip(&mut previous) {
            let wait = nanos(client.on_retry(words.next()));
            steps.add(place(wait, BASE, CAP.min(3 * *previous)));
            *previous = wait;
            waits.push(wait);
        }
        report.has_mean(name.clone(), &waits, law.mean(), (CAP - BASE) as f64);
        report.follows(name, &mut waits, |wait| law.up_to(wait));
    }
    report.is_even("decorrelated, each step from the one before", steps.counts());
    nothing_piles_up_at_the_cap(report);
}

/// One client that retries for ever, beside one whose delays are drawn up to three times the last
/// one and clamped to the cap afterwards.
fn nothing_piles_up_at_the_cap(report: &mut Report) {
    let (mut words, mut client) = (Words::of_client(4), backoff(Jitter::Decorrelated));
    let (mut clamped, mut at_cap, mut clamped_at_cap) = (BASE, 0, 0);
    for _ in 0..report.samples {
        let word = words.next();
        at_cap += usize::from(nanos(client.on_retry(word)) == CAP);
        clamped = uniform(word, BASE, 3 * clamped).min(CAP);
        clamped_at_cap += usize::from(clamped == CAP);
    }
    // The law puts one wait in 10^10 on the cap: two among these come once in 10^8.
    assert!(at_cap <= 1, "{at_cap} waits lie on the cap");
    let share = 100.0 * clamped_at_cap as f64 / report.samples as f64;
    assert!(share > 20.0, "clamping puts 29 % of the waits on the cap, not {share:.1} %");
    report.remark(format!("{at_cap} decorrelated waits on the cap ({share:.1} % if clamped)"));
}

/// The law of each retry, from the recurrence.
fn laws() -> Vec<Law> {
    std::iter::successors(Some(Law::first()), |law| Some(law.next())).take(RETRIES).collect()
}

/// How likely a wait is at most so long: the law at points whose distances grow with them, straight
/// between them.
struct Law {
    points: Vec<f64>,
    up_to: Vec<f64>,
}

/// The error of a step by the midpoints of 800 parts is below 1e-5.
const PARTS: usize = if cfg!(miri) { 100 } else { 800 };

impl Law {
    /// Before the first retry stands the base: uniform up to three times that.
    fn first() -> Self {
        let growth = (CAP as f64 / BASE as f64).powf(1.0 / PARTS as f64);
        let points: Vec<f64> =
            (0..=PARTS).map(|part| BASE as f64 * growth.powi(part as i32)).collect();
        let up_to = points.iter().map(|point| share_up_to(*point, BASE as f64)).collect();
        Self { points, up_to }
    }

    /// The law of the retry that follows one with this law.
    fn next(&self) -> Self {
        let parts: Vec<(f64, f64)> = std::iter::zip(self.points.windows(2), self.up_to.windows(2))
            .map(|(points, up_to)| ((points[0] + points[1]) / 2.0, up_to[1] - up_to[0]))
            .collect();
        let up_to = |point: &f64| {
            parts.iter().map(|(previous, part)| part * share_up_to(*point, *previous)).sum()
        };
        Self { up_to: self.points.iter().map(up_to).collect(), points: self.points.clone() }
    }

    fn up_to(&self, wait: u64) -> f64 {
        let wait = wait as f64;
        let above = self.points.partition_point(|point| *point < wait);
        match above {
            0 => f64::from(wait >= self.points[0]),
            above if above >= self.points.len() => 1.0,
            above => {
                let (left, right) = (self.points[above - 1], self.points[above]);
                let part = (wait - left) / (right - left);
                self.up_to[above - 1] + part * (self.up_to[above] - self.up_to[above - 1])
            }
        }
    }

    fn mean(&self) -> f64 {
        let longer = |up_to: &[f64]| 1.0 - (up_to[0] + up_to[1]) / 2.0;
        let parts = std::iter::zip(self.points.windows(2), self.up_to.windows(2));
        self.points[0] + parts.map(|(p, up_to)| (p[1] - p[0]) * longer(up_to)).sum::<f64>()
    }
}

/// The part of the interval after `previous` that lies at or below `point`.
fn share_up_to(point: f64, previous: f64) -> f64 {
    let base = BASE as f64;
    let high = (3.0 * previous).min(CAP as f64);
    ((point - base) / (high - base)).clamp(0.0, 1.0)
}

#[test]
fn the_least_and_the_greatest_word_draw_the_ends() {
    let (mut least, mut greatest) = (backoff(Jitter::Decorrelated), backoff(Jitter::Decorrelated));
    let mut high = BASE;
    for _ in 0..RETRIES {
        high = CAP.min(3 * high);
        assert_eq!(nanos(least.on_retry(0)), BASE);
        assert_eq!(nanos(greatest.on_retry(u64::MAX)), high);
    }
}

/// The check would see it if delays were clamped to the cap or began at zero.
#[test]
fn another_law_is_found() {
    let size = super::samples();
    let law = laws().pop().expect("a law for each retry");
    let found = |wrong: fn(u64, u64) -> u64| {
        let mut words = Words::of_client(8);
        let mut waits: Vec<u64> = (0..size)
            .map(|_| (0..RETRIES).fold(BASE, |previous, _| wrong(words.next(), previous)))
            .collect();
        distance(&mut waits, |wait| law.up_to(wait)) > critical_distance(size)
    };
    assert!(found(|word, previous| uniform(word, BASE, 3 * previous).min(CAP)));
    assert!(found(|word, previous| uniform(word, 0, CAP.min(3 * previous))));
    assert!(!found(|word, previous| uniform(word, BASE, CAP.min(3 * previous))));
}
