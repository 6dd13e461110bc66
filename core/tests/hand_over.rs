//! No call that waits for a permit is forgotten, however its neighbours come, go and are dropped.
//!
//! There is nothing lock-free in the run loops: one mutex guards the engine and the waiters, and a
//! condition variable wakes threads. What can go wrong is the hand-over itself: a waiter that is
//! woken and leaves without passing the news on. So calls are run here on an executor that picks the
//! next task by dice, drops calls wherever they stand, and lets a clock go backwards; when nobody is
//! awake and no timer is set, everybody must be done.

use std::cell::{Cell, RefCell};
use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::task::{Context, Poll, Wake, Waker};
use std::time::Duration;

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{RngCore, SeedableRng};
use stormproof::drive::Client;
use stormproof::policy::Section;
use stormproof::step::Kind;
use stormproof::time::Instant;
use stormproof::{Control, Jitter, Outcome, Policy, Request};

const SEEDS: u64 = if cfg!(miri) { 20 } else { 3_000 };
const MILLISECOND: u64 = 1_000_000;

/// Time that passes only when everybody waits.
#[derive(Clone, Default)]
struct World {
    now: Rc<Cell<u64>>,
    /// How far the host's clock is behind.
    behind: Rc<Cell<u64>>,
    timers: Rc<RefCell<Vec<(u64, Waker)>>>,
}

impl World {
    fn reading(&self) -> Instant {
        Instant::from_nanos(self.now.get() - self.behind.get())
    }

    async fn sleep(self, span: Duration) {
        let end = self.now.get().saturating_add(span.as_nanos() as u64);
        poll_fn(|context| {
            if self.now.get() >= end {
                return Poll::Ready(());
            }
            self.timers.borrow_mut().push((end, context.waker().clone()));
            Poll::Pending
        })
        .await;
    }

    /// Lets time pass up to the next timer. Answers no where there is none.
    fn pass(&self) -> bool {
        let mut timers = self.timers.borrow_mut();
        let Some(next) = timers.iter().map(|(end, _)| *end).min() else { return false };
        self.now.set(self.now.get().max(next));
        let (due, later) = timers.drain(..).partition(|(end, _)| *end <= self.now.get());
        *timers = later;
        drop(timers);
        let due: Vec<(u64, Waker)> = due;
        due.into_iter().for_each(|(_, waker)| waker.wake());
        true
    }
}

struct Task<'a> {
    future: Pin<Box<dyn Future<Output = ()> + 'a>>,
    awake: Arc<Flag>,
}

impl<'a> Task<'a> {
    fn new(future: impl Future<Output = ()> + 'a) -> Self {
        Self { future: Box::pin(future), awake: Arc::new(Flag(AtomicBool::new(true))) }
    }

    /// Is it done?
    fn poll(&mut self) -> bool {
        self.awake.0.store(false, Ordering::SeqCst);
        let waker = Waker::from(self.awake.clone());
        self.future.as_mut().poll(&mut Context::from_waker(&waker)).is_ready()
    }
}

#[derive(Default)]
struct Flag(AtomicBool);

impl Wake for Flag {
    fn wake(self: Arc<Self>) {
        self.0.store(true, Ordering::SeqCst);
    }
}

struct Dice(Xoshiro256PlusPlus);

impl Dice {
    fn below(&mut self, bound: u64) -> u64 {
        self.0.next_u64() % bound
    }

    fn one_in(&mut self, bound: u64) -> bool {
        self.below(bound) == 0
    }

    fn some_millis(&mut self, odds: u64, bound: u64) -> Option<Duration> {
        self.one_in(odds).then(|| Duration::from_millis(1 + self.below(bound)))
    }
}

fn policy(dice: &mut Dice) -> Policy {
    let policy = Policy::new()
        .without(Section::Budget)
        .jitter(Jitter::None)
        .base(Duration::from_millis(dice.below(40)))
        .max_attempts(1 + dice.below(3) as u32)
        .max_concurrent(1 + dice.below(3) as u32)
        .max_queue(20)
        .overall_timeout(None)
        .queue_timeout(dice.some_millis(2, 80))
        .attempt_timeout(dice.some_millis(2, 60))
        .open_duration(Duration::from_millis(50));
    if dice.one_in(2) { policy.without(Section::Breaker) } else { policy.failure_threshold(4) }
}

fn play(seed: u64) {
    let mut dice = Dice(Xoshiro256PlusPlus::seed_from_u64(seed));
    let world = World::default();
    world.now.set(10_000 * MILLISECOND);
    let clock = world.clone();
    let client = Client::new(&policy(&mut dice), move || clock.reading(), || 0).unwrap();
    let mut tasks: Vec<Task<'_>> =
        (0..2 + dice.below(6)).map(|_| call(&mut dice, &world, &client)).collect();
    loop {
        if dice.one_in(40) {
            // Less than a second behind is a race, more is a step.
            let most = if dice.one_in(4) { 5_000 } else { 900 };
            let behind = dice.below(most);
            world.behind.set(behind * MILLISECOND);
        }
        let awake: Vec<usize> =
            (0..tasks.len()).filter(|place| tasks[*place].awake.0.load(Ordering::SeqCst)).collect();
        // Also while somebody is awake: an executor may be late.
        if (awake.is_empty() || dice.one_in(10)) && world.pass() {
            continue;
        }
        if awake.is_empty() {
            break;
        }
        let place = awake[dice.below(awake.len() as u64) as usize];
        if tasks[place].poll() || dice.one_in(30) {
            drop(tasks.swap_remove(place));
        }
    }
    assert!(tasks.is_empty(), "seed {seed}: {} calls wait for ever: {client:?}", tasks.len());
    let snapshot = client.snapshot();
    let held = (snapshot.running, snapshot.queued, snapshot.abandoned);
    assert_eq!(held, (0, 0, 0), "seed {seed}");
}

fn call<'a, Now: Fn() -> Instant, Word: Fn() -> u64>(
    dice: &mut Dice,
    world: &World,
    client: &'a Client<Now, Word>,
) -> Task<'a> {
    let world = world.clone();
    let begins = Duration::from_millis(dice.below(60));
    let lasts = Duration::from_millis(dice.below(90));
    let patience = dice.some_millis(4, 150);
    let fails = dice.one_in(3);
    Task::new(async move {
        world.clone().sleep(begins).await;
        let deadline = patience.map(|patience| world.reading().saturating_add(patience));
        let request = Request { deadline, ..Request::default() };
        let operation = |_| {
            let world = world.clone();
            async move {
                world.sleep(lasts).await;
                if fails { Err(Kind::Network) } else { Ok(()) }
            }
        };
        _ = client.call(request, |span| world.clone().sleep(span), operation, verdict).await;
    })
}

fn verdict<T>(result: &Result<T, Kind>) -> Outcome {
    match result {
        Ok(_) => Outcome::SUCCESS,
        Err(kind) => Outcome::of(*kind),
    }
}

#[test]
fn nobody_waits_for_ever() {
    (0..SEEDS).for_each(play);
}

/// A clock that goes back by less than a second puts the poll into the future; the one waiter that
/// was told of it is late and leaves; the other one has to hear of it.
#[test]
fn a_waiter_that_leaves_passes_the_news_on() {
    let world = World::default();
    world.now.set(10_000 * MILLISECOND);
    let clock = world.clone();
    let policy = Policy::new().max_concurrent(1).overall_timeout(None);
    let client = Client::new(&policy, move || clock.reading(), || 0).unwrap();
    let run = |lasts: u64, deadline: Option<u64>| {
        let (world, client) = (world.clone(), &client);
        let deadline = deadline.map(Instant::from_millis);
        let request = Request { deadline, ..Request::default() };
        Task::new(async move {
            let operation = |_| {
                let sleep = world.clone().sleep(Duration::from_millis(lasts));
                async {
                    sleep.await;
                    Ok::<_, Kind>(())
                }
            };
            _ = client.call(request, |span| world.clone().sleep(span), operation, verdict).await;
        })
    };
    let mut tasks = vec![run(200, None), run(1, Some(10_150)), run(1, None)];
    run_all(&mut tasks);
    while world.now.get() < 10_200 * MILLISECOND {
        world.pass();
    }
    client.control(Control::Reset);
    world.behind.set(40 * MILLISECOND);
    run_all(&mut tasks);
    assert_eq!(tasks.len(), 1, "the one that waits");
    while world.pass() {
        run_all(&mut tasks);
    }
    assert!(tasks.is_empty(), "it waits for ever");
    assert_eq!(client.snapshot().counters.successes, 2);
}

/// Polls whoever is awake until nobody is.
fn run_all(tasks: &mut Vec<Task<'_>>) {
    while let Some(place) = tasks.iter().position(|task| task.awake.0.load(Ordering::SeqCst)) {
        if tasks[place].poll() {
            tasks.remove(place);
        }
    }
}

/// Threads and tasks wait in one line.
#[test]
fn threads_and_tasks_share_two_permits() {
    const CALLS: u32 = if cfg!(miri) { 3 } else { 200 };
    let origin = std::time::Instant::now();
    let clock = move || Instant::from_nanos(origin.elapsed().as_nanos() as u64);
    let policy = Policy::new().max_concurrent(2).overall_timeout(Duration::from_secs(300));
    let client = Client::new(&policy, clock, || 0).unwrap();
    let (running, peak) = (AtomicU32::new(0), AtomicU32::new(0));
    let enter = || {
        peak.fetch_max(running.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
    };
    let leave = || {
        running.fetch_sub(1, Ordering::SeqCst);
        Ok::<_, Kind>(())
    };
    std::thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                for _ in 0..CALLS {
                    let operation = |_| {
                        enter();
                        std::thread::yield_now();
                        leave()
                    };
                    let sleep = std::thread::sleep;
                    client.call_blocking(Request::default(), sleep, operation, verdict).unwrap();
                }
            });
            scope.spawn(|| {
                let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build();
                runtime.unwrap().block_on(async {
                    let task = async || {
                        for _ in 0..CALLS {
                            let operation = |_| async {
                                enter();
                                tokio::task::yield_now().await;
                                leave()
                            };
                            let sleep = tokio::time::sleep;
                            client
                                .call(Request::default(), sleep, operation, verdict)
                                .await
                                .unwrap();
                        }
                    };
                    tokio::join!(task(), task());
                });
            });
        }
    });
    let snapshot = client.snapshot();
    assert_eq!((snapshot.running, snapshot.queued, snapshot.abandoned), (0, 0, 0));
    assert_eq!(snapshot.counters.successes, u64::from(9 * CALLS));
    assert!(peak.into_inner() <= 2);
}

/// A thread that stands in the line behind a task polls when it is time, and wakes the task before it
/// goes on waiting itself.
#[test]
fn a_thread_wakes_the_task_before_it() {
    let millis = AtomicU32::new(10_000);
    let clock = || Instant::from_millis(u64::from(millis.load(Ordering::SeqCst)));
    let policy = Policy::new().max_concurrent(1).overall_timeout(None).attempt_timeout(None);
    let client = Client::new(&policy, clock, || 0).unwrap();
    let flag = Arc::new(Flag::default());
    let waker = Waker::from(flag.clone());
    let mut context = Context::from_waker(&waker);
    let sleep = |_| std::future::pending::<()>();
    let never = |_| std::future::pending::<Result<(), Kind>>();
    let mut running = Box::pin(client.call(Request::default(), sleep, never, verdict));
    let at_once = |_| std::future::ready(Ok::<_, Kind>(()));
    let mut task = pin!(client.call(Request::default(), sleep, at_once, verdict));
    assert!(running.as_mut().poll(&mut context).is_pending());
    assert!(task.as_mut().poll(&mut context).is_pending());
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let operation = |_| Ok::<_, Kind>(());
            let sleep = std::thread::sleep;
            client.call_blocking(Request::default(), sleep, operation, verdict).unwrap();
        });
        while client.snapshot().queued < 2 {
            std::thread::yield_now();
        }
        // A clock that goes back puts the poll into the future.
        millis.store(10_200, Ordering::SeqCst);
        client.control(Control::Reset);
        millis.store(10_190, Ordering::SeqCst);
        drop(running);
        flag.0.store(false, Ordering::SeqCst);
        millis.store(10_200, Ordering::SeqCst);
        while !flag.0.load(Ordering::SeqCst) {
            std::thread::yield_now();
        }
        assert!(task.as_mut().poll(&mut context).is_ready());
    });
    assert_eq!(client.snapshot().counters.successes, 2);
}

/// An order to the circuit sends the whole line away.
#[test]
fn an_order_reaches_those_who_wait() {
    let client = Client::new(&Policy::new().max_concurrent(1), || Instant::ORIGIN, || 0).unwrap();
    let never = |_| std::future::pending::<Result<(), Kind>>();
    let sleep = |_| std::future::pending::<()>();
    let mut running = pin!(client.call(Request::default(), sleep, never, verdict));
    let mut waiting = pin!(client.call(Request::default(), sleep, never, verdict));
    let flag = Arc::new(Flag::default());
    let waker = Waker::from(flag.clone());
    let mut context = Context::from_waker(&waker);
    assert!(running.as_mut().poll(&mut context).is_pending());
    assert!(waiting.as_mut().poll(&mut context).is_pending());
    assert!(!flag.0.load(Ordering::SeqCst));
    client.control(Control::ForceOpen);
    assert!(flag.0.load(Ordering::SeqCst), "the waiter is woken");
    let Poll::Ready(Err(refused)) = waiting.as_mut().poll(&mut context) else {
        panic!("the waiter is sent away");
    };
    assert!(refused.decision.forced);
    assert_eq!(refused.to_string(), "circuit_open");
    let sentence = client.explain(&refused.decision, "payments");
    assert_eq!(sentence, "Refused: the circuit of payments is forced open. No attempt was made.");
}

/// A waker may run its task on the spot, which may use the client: it is called without the lock.
#[test]
fn a_waker_may_use_the_client() {
    type Clock = fn() -> Instant;
    struct Inline {
        client: Client<Clock, fn() -> u64>,
        seen: AtomicU32,
    }
    impl Wake for Inline {
        fn wake(self: Arc<Self>) {
            self.seen.store(1 + self.client.snapshot().running, Ordering::SeqCst);
        }
    }
    let clock: Clock = || Instant::ORIGIN;
    let word: fn() -> u64 = || 0;
    let client = Client::new(&Policy::new().max_concurrent(1), clock, word).unwrap();
    let inline = Arc::new(Inline { client, seen: AtomicU32::new(0) });
    let waker = Waker::from(inline.clone());
    let mut context = Context::from_waker(&waker);
    let never = |_| std::future::pending::<Result<(), Kind>>();
    let sleep = |_| std::future::pending::<()>();
    let client = &inline.client;
    let mut running = Box::pin(client.call(Request::default(), sleep, never, verdict));
    let mut waiting = Box::pin(client.call(Request::default(), sleep, never, verdict));
    assert!(running.as_mut().poll(&mut context).is_pending());
    assert!(waiting.as_mut().poll(&mut context).is_pending());
    drop(running);
    assert_eq!(inline.seen.load(Ordering::SeqCst), 2, "the permit is the waiter's by then");
    drop(waiting);
    assert_eq!(client.snapshot().running, 0);
}

/// A waker that is replaced or no longer needed may end its task, which may use the client.
#[test]
fn a_waker_is_dropped_without_the_lock() {
    type Clock = fn() -> Instant;
    struct Nosy {
        client: Arc<Client<Clock, fn() -> u64>>,
        dropped: Arc<AtomicU32>,
    }
    impl Wake for Nosy {
        fn wake(self: Arc<Self>) {}
    }
    impl Drop for Nosy {
        fn drop(&mut self) {
            self.dropped.fetch_add(self.client.snapshot().queued, Ordering::SeqCst);
        }
    }
    let clock: Clock = || Instant::ORIGIN;
    let word: fn() -> u64 = || 0;
    let client = Arc::new(Client::new(&Policy::new().max_concurrent(1), clock, word).unwrap());
    let dropped = Arc::new(AtomicU32::new(0));
    let (done, is_done) = std::sync::mpsc::channel();
    let count = dropped.clone();
    // In a thread of its own: under the lock the drop would wait for itself.
    std::thread::spawn(move || {
        let waker =
            || Waker::from(Arc::new(Nosy { client: client.clone(), dropped: dropped.clone() }));
        let never = |_| std::future::pending::<Result<(), Kind>>();
        let sleep = |_| std::future::pending::<()>();
        let start = || Box::pin(client.call(Request::default(), sleep, never, verdict));
        let (mut running, mut waiting) = (start(), start());
        assert!(running.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
        for _ in 0..2 {
            assert!(waiting.as_mut().poll(&mut Context::from_waker(&waker())).is_pending());
        }
        drop(waiting);
        done.send(client.snapshot().queued).expect("the test waits");
    });
    let queued = is_done.recv_timeout(Duration::from_secs(20)).expect("nobody holds the lock");
    assert_eq!((queued, count.load(Ordering::SeqCst)), (0, 1), "one was replaced in the line");
}
