//! The run loops for threads and tasks.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::time::Duration;

use stormproof::drive::{Answer, CallError, Client};
use stormproof::policy::Section;
use stormproof::step::Kind;
use stormproof::time::Instant;
use stormproof::{Jitter, Outcome, Policy, Reason, Request};

fn verdict<T>(result: &Result<T, Kind>) -> Outcome {
    match result {
        Ok(_) => Outcome::SUCCESS,
        Err(kind) => Outcome::of(*kind),
    }
}

fn plain() -> Policy {
    Policy::new().without(Section::Breaker).without(Section::Budget).jitter(Jitter::None)
}

mod threads {
    use super::*;

    fn clock() -> impl Fn() -> Instant {
        let origin = std::time::Instant::now();
        move || Instant::from_nanos(origin.elapsed().as_nanos() as u64)
    }

    #[test]
    fn sixteen_threads_share_three_permits_and_lose_none() {
        const CALLS: u64 = if cfg!(miri) { 5 } else { 500 };
        let policy = plain().max_concurrent(3).max_queue(100);
        let client = Client::new(&policy, clock(), || 0).unwrap();
        let (running, peak, done) = (AtomicU32::new(0), AtomicU32::new(0), AtomicU64::new(0));
        std::thread::scope(|scope| {
            for _ in 0..16 {
                scope.spawn(|| {
                    for _ in 0..CALLS {
                        let result = client.call_blocking(
                            Request::default(),
                            std::thread::sleep,
                            |_| {
                                let now = running.fetch_add(1, Ordering::SeqCst) + 1;
                                peak.fetch_max(now, Ordering::SeqCst);
                                std::thread::yield_now();
                                running.fetch_sub(1, Ordering::SeqCst);
                                Ok::<_, Kind>(())
                            },
                            verdict,
                        );
                        result.expect("a healthy dependency answers");
                        done.fetch_add(1, Ordering::SeqCst);
                    }
                });
            }
        });
        let snapshot = client.snapshot();
        assert_eq!(done.into_inner(), 16 * CALLS);
        assert!(peak.into_inner() <= 3);
        assert_eq!((snapshot.running, snapshot.queued, snapshot.abandoned), (0, 0, 0));
        assert_eq!(snapshot.counters.attempts, 16 * CALLS);
    }

    #[test]
    fn an_operation_that_panics_gives_its_permit_back() {
        let client = Client::new(&plain().max_concurrent(1), clock(), || 0).unwrap();
        let panicked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            client.call_blocking(
                Request::default(),
                std::thread::sleep,
                |_| -> Result<(), Kind> { panic!("the operation's own") },
                verdict,
            )
        }));
        assert!(panicked.is_err());
        assert_eq!(client.snapshot().running, 0);
    }

    #[test]
    fn a_sleep_that_panics_gives_its_call_up() {
        let policy = Policy::new()
            .without(Section::Breaker)
            .max_calls(1)
            .capacity(1.0)
            .refill_per_second(0.0);
        let client = Client::new(&policy, clock(), || 0).unwrap();
        let panicked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            let fails = |_| Err::<(), _>(Kind::Network);
            client.call_blocking(Request::default(), |_| panic!("the sleep's own"), fails, verdict)
        }));
        assert!(panicked.is_err());
        assert_eq!(client.snapshot().tokens, Some(1_000), "the retry was not sent");
        assert!(call(&client, &|| {}).is_ok(), "the only place in the table is free");
    }

    /// A call whose operation succeeds.
    fn call<Now: Fn() -> Instant, Word: Fn() -> u64>(
        client: &Client<Now, Word>,
        operation: &dyn Fn(),
    ) -> Result<Answer<()>, CallError<Kind>> {
        let succeeds = |_| {
            operation();
            Ok(())
        };
        client.call_blocking(Request::default(), std::thread::sleep, succeeds, verdict)
    }

    #[test]
    fn a_thread_leaves_the_line_at_its_limit() {
        let policy = plain().max_concurrent(1).queue_timeout(Duration::from_millis(20));
        let client = Client::new(&policy, clock(), || 0).unwrap();
        let first = call(&client, &|| {
            let refused = call(&client, &|| {}).expect_err("the only permit is taken");
            assert_eq!(refused.decision.reason, Reason::QueueTimeout);
        });
        assert!(first.is_ok());
        assert_eq!(client.snapshot().queued, 0);
    }

    #[test]
    fn a_thread_without_a_limit_waits_for_its_turn() {
        let client = Client::new(&plain().overall_timeout(None).max_concurrent(1), clock(), || 0);
        let client = client.unwrap();
        std::thread::scope(|scope| {
            let first = call(&client, &|| {
                scope.spawn(|| assert!(call(&client, &|| {}).is_ok()));
                while client.snapshot().queued == 0 {
                    std::thread::yield_now();
                }
            });
            assert!(first.is_ok());
        });
        assert_eq!(client.snapshot().counters.successes, 2);
    }

    #[test]
    fn a_failed_response_is_handed_back_as_it_is() {
        let policy = plain().max_attempts(2).base(Duration::ZERO);
        let client = Client::new(&policy, clock(), || 0).unwrap();
        let mut tries = 0;
        let response = client.call_blocking(
            Request::default(),
            std::thread::sleep,
            |attempt| {
                tries = attempt.number;
                Ok::<_, Kind>(503)
            },
            |response| client.classify(*response.as_ref().unwrap(), None, &Request::default()),
        );
        let response = response.unwrap();
        assert_eq!((response.value, tries), (503, 2));
        assert_eq!(response.decision.reason, Reason::AttemptsExhausted);
    }
}

mod errors {
    use super::*;

    /// An error of a library.
    #[derive(Debug, PartialEq)]
    struct Refused;

    impl std::fmt::Display for Refused {
        fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            out.write_str("connection refused")
        }
    }

    impl std::error::Error for Refused {}

    fn failing(policy: &Policy) -> CallError<Refused> {
        let client = Client::new(policy, || Instant::ORIGIN, || 0).unwrap();
        let failed = client.call_blocking(
            Request::default(),
            |_| {},
            |_| Err::<(), _>(Refused),
            |_| Outcome::of(Kind::Network),
        );
        failed.expect_err("the dependency is down")
    }

    #[test]
    fn what_the_dependency_said_comes_first_unless_stormproof_ended_the_call() {
        use std::error::Error as _;
        let policy = Policy::new().max_attempts(1);
        let error = failing(&policy);
        assert_eq!(error.to_string(), "connection refused (attempts_exhausted)");
        assert_eq!(error.source().map(ToString::to_string).as_deref(), Some("connection refused"));
        let error = failing(&policy.max_attempts(2).failure_threshold(1));
        assert_eq!(error.to_string(), "circuit_open; before that: connection refused");
        assert_eq!(error.error, Some(Refused), "the last real failure is the cause");
        let error = CallError::<Refused> { error: None, ..error };
        assert_eq!(error.to_string(), "circuit_open");
        assert!(error.source().is_none());
    }

    #[test]
    fn a_response_is_no_value_of_a_call_that_stormproof_ended() {
        let policy = Policy::new().failure_threshold(1);
        let client = Client::new(&policy, || Instant::ORIGIN, || 0).unwrap();
        let ended = client.call_blocking(
            Request::default(),
            |_| {},
            |_| Ok::<_, Refused>(503),
            |_| Outcome::of(Kind::Server).with_status(503),
        );
        let refused = ended.expect_err("the circuit is open");
        assert_eq!((refused.error, refused.decision.reason), (None, Reason::CircuitOpen));
    }

    #[test]
    fn a_client_shows_its_state_and_not_its_closures() {
        let client = Client::new(&Policy::new(), || Instant::ORIGIN, || 0).unwrap();
        let text = format!("{client:?}");
        assert!(text.starts_with("Client { state: Mutex") && text.ends_with(", .. }"), "{text}");
    }
}

mod tasks {
    use super::*;
    use tokio::time::sleep;

    fn clock() -> impl Fn() -> Instant {
        let origin = tokio::time::Instant::now();
        move || Instant::from_nanos(origin.elapsed().as_nanos() as u64)
    }

    async fn after<T>(millis: u64, result: Result<T, Kind>) -> Result<T, Kind> {
        sleep(Duration::from_millis(millis)).await;
        result
    }

    fn reason<T>(result: Result<Answer<T>, CallError<Kind>>) -> Reason {
        result.err().expect("the call has failed").decision.reason
    }

    #[tokio::test(start_paused = true)]
    async fn retries_wait_as_long_as_the_policy_says() {
        let client = Client::new(&plain(), clock(), || 0).unwrap();
        let begun = tokio::time::Instant::now();
        let result = client
            .call(
                Request::default(),
                sleep,
                |attempt| async move {
                    if attempt.number < 3 { Err(Kind::Network) } else { Ok(attempt.number) }
                },
                verdict,
            )
            .await;
        assert_eq!(result.unwrap().value, 3);
        assert_eq!(begun.elapsed().as_millis(), 300);
    }

    #[tokio::test(start_paused = true)]
    async fn an_attempt_that_hangs_is_cut_and_holds_no_permit() {
        let policy = plain().attempt_timeout(Duration::from_millis(50)).max_concurrent(1);
        let client = Client::new(&policy.max_attempts(2), clock(), || 0).unwrap();
        let hang = |_| std::future::pending::<Result<(), Kind>>();
        let result = client.call(Request::default(), sleep, hang, verdict).await;
        assert_eq!(reason(result), Reason::AttemptsExhausted);
        let snapshot = client.snapshot();
        assert_eq!((snapshot.running, snapshot.abandoned), (0, 0));
        assert_eq!(snapshot.counters.failures[Kind::Timeout as usize], 2);
    }

    #[tokio::test(start_paused = true)]
    async fn a_timeout_is_the_last_failure_and_the_deadline_is_none() {
        let policy = plain().attempt_timeout(Duration::from_millis(50)).max_attempts(2);
        let client = Client::new(&policy, clock(), || 0).unwrap();
        let fail_then_hang = |attempt: stormproof::drive::Attempt| async move {
            if attempt.number == 1 {
                Err::<(), _>(Kind::Network)
            } else {
                std::future::pending().await
            }
        };
        let result = client.call(Request::default(), sleep, fail_then_hang, verdict).await;
        let error = result.unwrap_err();
        assert_eq!((error.error, error.decision.last_kind), (None, Some(Kind::Timeout)));

        let policy = plain().overall_timeout(Duration::from_millis(500)).attempt_timeout(None);
        let client = Client::new(&policy, clock(), || 0).unwrap();
        let result = client.call(Request::default(), sleep, fail_then_hang, verdict).await;
        let error = result.unwrap_err();
        assert_eq!(error.decision.reason, Reason::DeadlineExceeded);
        assert_eq!(error.error, Some(Kind::Network), "the last real failure is the cause");
    }

    #[tokio::test(start_paused = true)]
    async fn a_timer_that_fires_early_is_set_again() {
        let policy = plain().attempt_timeout(Duration::from_millis(50)).max_concurrent(1);
        let client = Client::new(&policy, clock(), || 0).unwrap();
        let early = |span: Duration| sleep(span / 2);
        let run = || client.call(Request::default(), early, |_| after(40, Ok(())), verdict);
        let (first, second) = tokio::join!(run(), run());
        assert!(first.is_ok() && second.is_ok());
        let counters = client.snapshot().counters;
        assert_eq!((counters.attempts, counters.successes), (2, 2));
    }

    #[tokio::test(start_paused = true)]
    async fn waiters_run_in_the_order_in_which_they_came() {
        let client = Client::new(&plain().max_concurrent(1), clock(), || 0).unwrap();
        let order = std::sync::Mutex::new(Vec::new());
        let run = |name: u32| {
            let (client, order) = (&client, &order);
            async move {
                let operation = |_| async move {
                    order.lock().unwrap().push(name);
                    after(10, Ok(())).await
                };
                client.call(Request::default(), sleep, operation, verdict).await
            }
        };
        let (a, b, c, d) = tokio::join!(run(1), run(2), run(3), run(4));
        assert!(a.is_ok() && b.is_ok() && c.is_ok() && d.is_ok());
        assert_eq!(*order.lock().unwrap(), [1, 2, 3, 4]);
    }

    #[tokio::test(start_paused = true)]
    async fn a_call_dropped_in_any_phase_gives_everything_back() {
        let policy = plain().max_concurrent(1).base(Duration::from_millis(500));
        let client = Client::new(&policy, clock(), || 0).unwrap();
        for patience in [5, 15, 300, 505, 515] {
            let first = client.call(
                Request::default(),
                sleep,
                |_| after(10, Err::<(), _>(Kind::Network)),
                verdict,
            );
            let second = client.call(Request::default(), sleep, |_| after(10, Ok(())), verdict);
            let limit = Duration::from_millis(patience);
            let both = async { tokio::join!(first, second) };
            _ = tokio::time::timeout(limit, both).await;
            let snapshot = client.snapshot();
            assert_eq!((snapshot.running, snapshot.queued), (0, 0), "after {patience} ms");
        }
        let healthy = client.call(Request::default(), sleep, |_| after(1, Ok(7)), verdict).await;
        assert_eq!(healthy.unwrap().value, 7);
    }

    #[tokio::test(start_paused = true)]
    async fn a_waiter_leaves_at_its_own_limit() {
        let policy = plain().max_concurrent(1).queue_timeout(Duration::from_millis(30));
        let client = Client::new(&policy, clock(), || 0).unwrap();
        let long = client.call(Request::default(), sleep, |_| after(100, Ok(())), verdict);
        let waiting = client.call(Request::default(), sleep, |_| after(1, Ok(())), verdict);
        let (long, waiting) = tokio::join!(long, waiting);
        assert!(long.is_ok());
        assert_eq!(reason(waiting), Reason::QueueTimeout);
        assert_eq!(client.snapshot().queued, 0);
    }

    #[tokio::test(start_paused = true)]
    async fn an_open_circuit_sends_the_whole_line_away() {
        let policy = plain().failure_threshold(1).max_attempts(1).max_concurrent(1);
        let mut client = Client::new(&policy, clock(), || 0).unwrap();
        assert!(reason_of_line(&mut client).await.is_none(), "the breaker is off");
        let policy = Policy::new().failure_threshold(1).max_attempts(1).max_concurrent(1);
        let mut client = Client::new(&policy, clock(), || 0).unwrap();
        assert_eq!(reason_of_line(&mut client).await, Some(Reason::CircuitOpen));
    }

    async fn reason_of_line<Now: Fn() -> Instant, Word: Fn() -> u64>(
        client: &mut Client<Now, Word>,
    ) -> Option<Reason> {
        let first = client.call(
            Request::default(),
            sleep,
            |_| after(10, Err::<(), _>(Kind::Network)),
            verdict,
        );
        let second = client.call(Request::default(), sleep, |_| after(10, Ok(())), verdict);
        let (_, second) = tokio::join!(first, second);
        second.err().map(|error| error.decision.reason)
    }
}
