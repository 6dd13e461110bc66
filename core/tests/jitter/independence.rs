//! Two clients know nothing of each other, and no delay of the one before it.

use stormproof::Jitter;

use super::fit::{Squares, place};
use super::report::Report;
use super::{BASE, CAP, Words, backoff, nanos};

pub fn check(report: &mut Report) {
    for jitter in [Jitter::Full, Jitter::Equal, Jitter::Decorrelated] {
        // Neighbouring seeds, the worst that a fleet might have.
        let mut clients = [Delays::new(jitter, 6), Delays::new(jitter, 7)];
        let (mut between, mut after) = (Squares::new(), Squares::new());
        let mut before = clients[0].next();
        for _ in 0..report.samples {
            let next = clients[0].next();
            between.add(next, clients[1].next());
            after.add(before, next);
            before = next;
        }
        report.is_even(format!("{jitter}, two clients"), between.counts());
        report.is_even(format!("{jitter}, one delay after the other"), after.counts());
    }
}

/// Where in its interval each delay of one client lies; a new call after every eight.
struct Delays {
    jitter: Jitter,
    words: Words,
    backoff: stormproof::Backoff,
    retry: u32,
    previous: u64,
}

impl Delays {
    fn new(jitter: Jitter, seed: u64) -> Self {
        let words = Words::of_client(seed);
        Self { jitter, words, backoff: backoff(jitter), retry: 0, previous: BASE }
    }

    fn next(&mut self) -> f64 {
        if self.retry == 8 {
            (self.backoff, self.retry, self.previous) = (backoff(self.jitter), 0, BASE);
        }
        let delay = nanos(self.backoff.on_retry(self.words.next()));
        let ceiling = CAP.min(BASE << self.retry);
        let (low, high) = match self.jitter {
            Jitter::Equal => (ceiling - ceiling / 2, ceiling),
            Jitter::Decorrelated => (BASE, CAP.min(3 * self.previous)),
            Jitter::None | Jitter::Full => (0, ceiling),
        };
        (self.retry, self.previous) = (self.retry + 1, delay);
        place(delay, low, high)
    }
}
