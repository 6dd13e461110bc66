//! People who call, whatever becomes of it, and call again.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use serde_json::json;
use stormproof::drive::Client;
use stormproof::policy::Document;
use stormproof::step::{Request, Safety};
use stormproof::time::Instant;
use stormproof::{Outcome, Snapshot};
use tokio::time::sleep;

use crate::Error;
use crate::arguments::Arguments;
use crate::journal::{Journal, millis};
use crate::operation::{Entry, Errand, Http, Problem};

/// Between two looks at the client.
const SAMPLE: Duration = Duration::from_millis(10);
/// What a user does after a refusal, in ms; after anything else the next call comes soon.
const SULK: std::ops::Range<f64> = 500.0..2_000.0;
const PAUSE: std::ops::Range<f64> = 0.0..50.0;
/// Users come one after the other, within this time.
const ARRIVAL: std::ops::Range<f64> = 0.0..2_000.0;
/// Nobody gives a call more time, in ms.
const LONGEST: f64 = 20_000.0;
/// After the load whoever still calls leaves within this time.
const LEAVE: std::ops::Range<f64> = 1_000.0..5_000.0;

type Now = Box<dyn Fn() -> Instant + Send + Sync>;
type Word = Box<dyn Fn() -> u64 + Send + Sync>;

/// As many as there are to be calls at once, and what they share.
pub struct Users {
    pub journal: Arc<Journal>,
    client: Client<Now, Word>,
    http: Http,
    dice: Mutex<fastrand::Rng>,
    calls: AtomicU64,
}

/// What a user wants of a call.
struct Wish {
    /// In milliseconds.
    within: f64,
    cancel: Option<f64>,
}

impl Users {
    pub fn new(arguments: &Arguments, journal: Arc<Journal>) -> Result<Self, Error> {
        let policy = Document::from_file(&arguments.policy)?.policy;
        let clock = Arc::clone(&journal);
        let words = Mutex::new(fastrand::Rng::with_seed(arguments.seed));
        let word = move || words.lock().unwrap_or_else(PoisonError::into_inner).u64(..);
        let now = Box::new(move || clock.now()) as Now;
        Ok(Self {
            client: Client::new(&policy, now, Box::new(word) as Word)?,
            http: Http::new(&arguments.url),
            dice: Mutex::new(fastrand::Rng::with_seed(arguments.seed)),
            calls: AtomicU64::new(0),
            journal,
        })
    }

    /// How the client stands.
    pub fn snapshot(&self) -> Snapshot {
        self.client.snapshot()
    }

    /// So many calls at once, one each.
    pub async fn burst(self: &Arc<Self>, count: u32) {
        let user = |users: Arc<Self>| async move {
            users.pause(ARRIVAL).await;
            users.call(Wish { within: 60_000.0, cancel: None }).await;
        };
        self.while_looking(user, count).await;
    }

    /// So many users for so long, and until the last call has ended.
    pub async fn load(self: &Arc<Self>, count: u32, load: Duration) {
        let end = self.journal.now_ms() + load.as_secs_f64() * 1e3;
        let user = |users: Arc<Self>| async move {
            users.pause(ARRIVAL).await;
            while users.journal.now_ms() < end {
                let reason = users.call(users.wish(end)).await;
                let sulks = matches!(reason, "circuit_open" | "bulkhead_full");
                users.pause(if sulks { SULK } else { PAUSE }).await;
            }
        };
        self.while_looking(user, count).await;
    }

    async fn while_looking<User: Future<Output = ()> + Send + 'static>(
        self: &Arc<Self>,
        user: impl Fn(Arc<Self>) -> User,
        count: u32,
    ) {
        let over = Arc::new(AtomicBool::new(false));
        let (users, is_over) = (Arc::clone(self), Arc::clone(&over));
        // A thread of its own looks while the tasks are busy.
        let looking = thread::spawn(move || {
            while !is_over.load(Relaxed) {
                users.look();
                users.journal.flush();
                thread::sleep(SAMPLE);
            }
        });
        let tasks: Vec<_> = (0..count).map(|_| tokio::spawn(user(Arc::clone(self)))).collect();
        for task in tasks {
            task.await.expect("a user does not panic");
        }
        over.store(true, Relaxed);
        looking.join().expect("looking does not panic");
    }

    /// Writes down how the client stands.
    fn look(&self) {
        let snapshot = self.snapshot();
        self.journal.write(json!({
            "e": "state",
            "t": self.journal.now_ms(),
            "running": snapshot.running,
            "queued": snapshot.queued,
            "circuit": snapshot.circuit.name(),
            "open_until": snapshot.open_until.map(millis),
        }));
    }

    fn wish(&self, end: f64) -> Wish {
        let left = end - self.journal.now_ms();
        let cancel = match self.draw(0.0..1.0) {
            ..0.15 => Some(self.draw(0.0..4_000.0)),
            _ if left < LONGEST => Some(left + self.draw(LEAVE)),
            _ => None,
        };
        Wish { within: self.draw(300.0..LONGEST), cancel }
    }

    /// One call. Answers why it ended.
    async fn call(self: &Arc<Self>, wish: Wish) -> &'static str {
        let call = self.calls.fetch_add(1, Relaxed) + 1;
        let (safety, name) = match self.draw(0.0..10.0) {
            ..6.0 => (Safety::Idempotent, "idempotent"),
            ..8.0 => (Safety::Keyed, "keyed"),
            _ => (Safety::Unsafe, "unsafe"),
        };
        let t = self.journal.now_ms();
        let deadline = t + wish.within;
        self.journal.write(json!({"e": "call", "t": t, "call": call, "safety": name, "within": wish.within, "deadline": deadline}));
        let key = (safety == Safety::Keyed).then(|| format!("{:032x}", self.word()));
        let errand = Errand { call, safety, key, before: Arc::default() };
        let request =
            Request { safety, deadline: Some(self.journal.instant(deadline)), cancelled: false };
        let (reason, attempts) = tokio::select! {
            ended = self.conduct(&errand, request) => ended,
            () = self.gone(call, wish.cancel) => ("cancelled", None),
        };
        let t = self.journal.now_ms();
        self.journal.write(
            json!({"e": "end", "t": t, "call": call, "reason": reason, "attempts": attempts}),
        );
        reason
    }

    /// Why the call ended, and how many attempts the client counted.
    async fn conduct(&self, errand: &Errand, request: Request) -> (&'static str, Option<u32>) {
        let operation = |attempt| {
            let entry = Entry::of(&attempt, || self.snapshot());
            self.http.send(errand, attempt, entry, &self.journal)
        };
        let classify = |result: &Result<(), Problem>| match result {
            Ok(()) => Outcome::SUCCESS,
            Err(Problem::Status { status, retry_after_ms }) => {
                self.client.classify(*status, *retry_after_ms, &request)
            }
            Err(problem) => problem.outcome(),
        };
        let sleep = |wait| {
            errand.on_sleep(wait, &self.journal);
            sleep(wait)
        };
        let decision = match self.client.call(request, sleep, operation, classify).await {
            Ok(answer) => answer.decision,
            Err(error) => error.decision,
        };
        (decision.reason.name(), Some(decision.attempts))
    }

    /// Resolves when the caller gives up.
    async fn gone(&self, call: u64, after: Option<f64>) {
        match after {
            Some(ms) => sleep(Duration::from_secs_f64(ms / 1e3)).await,
            None => std::future::pending().await,
        }
        self.journal.write(json!({"e": "cancel", "t": self.journal.now_ms(), "call": call}));
    }

    async fn pause(&self, ms: std::ops::Range<f64>) {
        sleep(Duration::from_secs_f64(self.draw(ms) / 1e3)).await;
    }

    fn draw(&self, range: std::ops::Range<f64>) -> f64 {
        let unit = self.dice.lock().unwrap_or_else(PoisonError::into_inner).f64();
        range.start + unit * (range.end - range.start)
    }

    fn word(&self) -> u128 {
        self.dice.lock().unwrap_or_else(PoisonError::into_inner).u128(..)
    }
}
