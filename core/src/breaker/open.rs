//! Open: nobody passes until the open time is over.

use super::{CircuitBreaker, State};
use crate::jitter::{swapped, uniform};
use crate::step::{Change, ChangeCause, Circuit};
use crate::time::{Instant, MILLISECOND, Nanos, grown};

impl CircuitBreaker {
    #[cold]
    pub(super) fn open(
        &mut self,
        now: Instant,
        cause: ChangeCause,
        retry_after_ms: Option<u64>,
        word: u64,
    ) -> Change {
        let from = self.circuit(now);
        let span = self.open_span(retry_after_ms, word);
        self.openings = self.openings.saturating_add(1);
        self.enter(State::Open { until: now.after(span) });
        Change { from, to: Circuit::Open, cause }
    }

    fn open_span(&self, retry_after_ms: Option<u64>, word: u64) -> Nanos {
        let span = self.grown_open_duration();
        let asked = match retry_after_ms {
            Some(millis) if self.config.honor_retry_after => {
                millis.saturating_mul(MILLISECOND).min(self.config.retry_after_max)
            }
            _ => 0,
        };
        let spread = match self.config.open_jitter {
            true => uniform(swapped(word), 0, span / 2),
            false => 0,
        };
        span.max(asked).saturating_add(spread)
    }

    pub(super) fn grown_open_duration(&self) -> Nanos {
        let mut span = self.config.open_duration;
        if self.config.open_growth == 1_000 {
            return span;
        }
        for _ in 0..self.openings {
            let longer = grown(span, self.config.open_growth).min(self.config.open_cap);
            if longer == span {
                break;
            }
            span = longer;
        }
        span
    }

    #[cold]
    pub(super) fn end_open_time(&mut self, now: Instant) -> Option<Change> {
        let State::Open { until } = self.state else {
            return None;
        };
        if now < until {
            return None;
        }
        self.enter(State::HalfOpen);
        let (from, to) = (Circuit::Open, Circuit::HalfOpen);
        Some(Change { from, to, cause: ChangeCause::OpenTimeOver })
    }
}
