//! One dependency, called with stormproof. Everything else in this program is load and paper.

use std::cell::RefCell;
use std::path::Path;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant as Clock};

use rand_core::{RngCore, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use stormproof::drive::{CallError, Client};
use stormproof::step::{Kind, Request};
use stormproof::time::Instant;
use stormproof::{Outcome, Policy, Snapshot, policy::Document};

use crate::http::{Http, Problem};
use crate::load::{Caller, Ended};
use crate::report::Standing;

type Now = Box<dyn Fn() -> Instant + Send + Sync>;
type Word = Box<dyn Fn() -> u64 + Send + Sync>;

/// The client and what it calls.
pub struct Dependency {
    client: Client<Now, Word>,
    http: Http,
}

impl Dependency {
    /// A client by the policy document at `policy`. Without a seed the operating system gives one.
    pub fn new(
        policy: &Path,
        seed: Option<u64>,
        http: Http,
    ) -> Result<Self, Box<dyn std::error::Error>> {
        let policy: Policy = Document::from_file(policy)?.policy;
        let origin = Clock::now();
        let now = move || Instant::from_nanos(origin.elapsed().as_nanos() as u64);
        let words = Mutex::new(match seed {
            Some(seed) => Xoshiro256PlusPlus::seed_from_u64(seed),
            None => Xoshiro256PlusPlus::try_from_os_rng()?,
        });
        let word = move || words.lock().unwrap_or_else(PoisonError::into_inner).next_u64();
        let client = Client::new(&policy, Box::new(now) as Now, Box::new(word) as Word)?;
        Ok(Self { client, http })
    }

    /// One call: up to four requests, as the policy allows. `observe` hears of every attempt.
    pub fn fetch(
        &self,
        path: &str,
        sleep: impl Fn(Duration),
        observe: impl Fn(&Outcome),
    ) -> Result<String, CallError<Problem>> {
        let request = Request::default();
        let answer = self.client.call_blocking(
            request,
            sleep,
            |attempt| self.http.get(path, attempt.time_left),
            |result| {
                let outcome = self.outcome(result, &request);
                observe(&outcome);
                outcome
            },
        )?;
        Ok(answer.value)
    }

    /// How the client stands.
    pub fn snapshot(&self) -> Snapshot {
        self.client.snapshot()
    }

    fn outcome(&self, result: &Result<String, Problem>, request: &Request) -> Outcome {
        match result {
            Ok(_) => Outcome::SUCCESS,
            Err(Problem::Status { status, retry_after_ms }) => {
                self.client.classify(*status, *retry_after_ms, request)
            }
            Err(Problem::TimedOut) => Outcome::of(Kind::Timeout),
            Err(Problem::NotSent(_)) => Outcome::of(Kind::Network).not_sent(),
            Err(Problem::Broken(_)) => Outcome::of(Kind::Network),
        }
    }
}

impl Caller for Dependency {
    fn call(&self) -> Ended {
        let waits = RefCell::new(Vec::new());
        let sleep = |wait| {
            waits.borrow_mut().push(wait);
            std::thread::sleep(wait);
        };
        let result = self.fetch("/", sleep, |_| ());
        let failure = result.err().map(|error| error.decision.reason.name());
        Ended { failure, waits: waits.into_inner() }
    }

    fn standing(&self) -> Standing {
        let snapshot = self.snapshot();
        Standing {
            attempts: snapshot.counters.attempts,
            retries: snapshot.counters.retries,
            refused: snapshot.counters.refusals.iter().sum(),
            circuit: Some(snapshot.circuit.name()),
            tokens: snapshot.tokens,
            running: snapshot.running,
            queued: snapshot.queued,
        }
    }
}
