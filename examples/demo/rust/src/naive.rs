//! What people write without a library: four tries, 100 ms apart.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Duration;

use crate::http::{Http, Problem};
use crate::load::{Caller, Ended};
use crate::report::Standing;

const TRIES: u32 = 4;
const WAIT: Duration = Duration::from_millis(100);
const TIMEOUT: Duration = Duration::from_secs(1);

/// The loop and its two counters.
pub struct Naive {
    http: Http,
    attempts: AtomicU64,
    retries: AtomicU64,
}

impl Naive {
    /// Calls `http` without any policy.
    pub fn new(http: Http) -> Self {
        Self { http, attempts: AtomicU64::new(0), retries: AtomicU64::new(0) }
    }
}

impl Caller for Naive {
    fn call(&self) -> Ended {
        let mut waits = Vec::new();
        for number in 1.. {
            self.attempts.fetch_add(1, Relaxed);
            let failure = match self.http.get("/", Some(TIMEOUT)) {
                Ok(_) => return Ended { failure: None, waits },
                Err(Problem::Status { .. }) => "status",
                Err(Problem::TimedOut) => "timeout",
                Err(Problem::NotSent(_) | Problem::Broken(_)) => "network",
            };
            if number == TRIES {
                return Ended { failure: Some(failure), waits };
            }
            self.retries.fetch_add(1, Relaxed);
            waits.push(WAIT);
            std::thread::sleep(WAIT);
        }
        unreachable!("the loop ends with the last try")
    }

    fn standing(&self) -> Standing {
        Standing {
            attempts: self.attempts.load(Relaxed),
            retries: self.retries.load(Relaxed),
            ..Standing::default()
        }
    }
}
