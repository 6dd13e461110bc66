//! The small worlds that are walked through.

use stormproof::breaker::Scope;
use stormproof::bulkhead::Release;
use stormproof::step::{Kind, Safety};
use stormproof::{Control, Jitter, Outcome};

use crate::rules::{Breaker, Budget, Bulkhead, Opens, Rules};
use crate::world::Scene;

const RULES: Rules = Rules {
    max_attempts: 1,
    base: 1,
    cap: 2,
    jitter: Jitter::None,
    wait_for_circuit: false,
    retry_after_max: 3,
    breaker: None,
    budget: None,
    bulkhead: ENDLESS,
    attempt_timeout: None,
    overall_timeout: None,
};

const BREAKER: Breaker = Breaker {
    opens: Opens::Threshold(2),
    window: 2,
    open: 2,
    open_jitter: false,
    open_growth: 1_000,
    open_cap: 20,
    probes: 2,
    success_threshold: 2,
    lease: 2,
    scope: Scope::Attempt,
    slow: None,
};

const ENDLESS: Bulkhead =
    Bulkhead { max_concurrent: None, max_queue: 0, abandoned_lease: 1, ..BULKHEAD };

const BULKHEAD: Bulkhead = Bulkhead {
    max_concurrent: Some(1),
    max_queue: 2,
    queue_timeout: None,
    release: Release::Settled,
    abandoned_lease: 2,
};

const BUDGET: Budget = Budget { capacity: 2_000, initial: 2_000, per_success: 500, per_second: 0 };

const NETWORK: Outcome = Outcome::of(Kind::Network);
const THROTTLED: Outcome = Outcome::of(Kind::Throttled).with_status(429);
const NOT_FOUND: Outcome = Outcome::of(Kind::Client).with_status(404);
const MISDIRECTED: Outcome = Outcome::of(Kind::Server).with_status(421);
const TOO_EARLY: Outcome = Outcome::of(Kind::Server).with_status(425);
const NOT_SENT: Outcome = Outcome::of(Kind::Network).not_sent();
const CANCELLED: Outcome = Outcome::of(Kind::Cancelled);
/// Asks for two ticks, and for more than the policy accepts.
const BUSY: Outcome = Outcome::of(Kind::Server).with_status(503).with_retry_after_ms(200);
const CLOSED_FOR_LONG: Outcome =
    Outcome::of(Kind::Server).with_status(503).with_retry_after_ms(301);
const WORDS: [u64; 2] = [0, u64::MAX];

/// The worlds of every run.
pub fn all() -> Vec<Scene> {
    [without_engines(), engines()].concat()
}

/// Those in which one policy is on.
pub fn without_engines() -> Vec<Scene> {
    [breakers(), bulkheads(), budgets()].concat()
}

/// All, and the first engines once more with room for another call.
pub fn with_larger() -> Vec<Scene> {
    let larger = |scene: Scene| Scene { calls: scene.calls + 1, ..scene };
    all().into_iter().chain(engines().into_iter().take(3).map(larger)).collect()
}

fn scene(name: &'static str, rules: Rules) -> Scene {
    Scene {
        name,
        rules,
        calls: 3,
        outcomes_counted: 5,
        outcomes: vec![Outcome::SUCCESS, NETWORK, THROTTLED],
        words: vec![0],
        requests: vec![(None, Safety::Idempotent)],
        controls: Vec::new(),
    }
}

fn breakers() -> Vec<Scene> {
    let rules = |breaker| Rules { breaker: Some(breaker), ..RULES };
    let growing = Breaker { open_growth: 2_000, open_cap: 5, ..BREAKER };
    let slow = Breaker { opens: Opens::Rate(1_000, 2), slow: Some(1), ..BREAKER };
    let all = vec![Outcome::SUCCESS, NETWORK, THROTTLED, NOT_FOUND, MISDIRECTED, CANCELLED, BUSY];
    vec![
        scene("breaker: failure_threshold", rules(BREAKER)),
        scene(
            "breaker: consecutive_failures, open_growth",
            rules(Breaker { opens: Opens::Consecutive(2), ..growing }),
        ),
        scene(
            "breaker: no_success_failures",
            rules(Breaker { opens: Opens::NoSuccess(2), ..BREAKER }),
        ),
        scene("breaker: failure_rate", rules(Breaker { opens: Opens::Rate(500, 3), ..BREAKER })),
        scene("breaker: slow_call_rate", rules(slow)),
        Scene {
            outcomes: all,
            words: WORDS.to_vec(),
            ..scene(
                "breaker: every outcome, open_jitter",
                rules(Breaker { open_jitter: true, ..BREAKER }),
            )
        },
        Scene {
            controls: Control::ALL.to_vec(),
            ..scene("breaker: orders by hand", rules(Breaker { probes: 1, ..growing }))
        },
    ]
}

fn bulkheads() -> Vec<Scene> {
    let cut = Rules { bulkhead: BULKHEAD, attempt_timeout: Some(1), ..RULES };
    let queue = Bulkhead { queue_timeout: Some(2), release: Release::Timeout, ..BULKHEAD };
    vec![
        Scene { calls: 5, ..scene("bulkhead: release settled", cut) },
        Scene {
            calls: 5,
            requests: vec![
                (None, Safety::Idempotent),
                (Some(0), Safety::Idempotent),
                (Some(1), Safety::Idempotent),
            ],
            ..scene(
                "bulkhead: release timeout, queue_timeout, deadlines",
                Rules { bulkhead: queue, overall_timeout: Some(3), ..cut },
            )
        },
        Scene {
            calls: 5,
            ..scene(
                "bulkhead: retries join the queue",
                Rules {
                    max_attempts: 2,
                    bulkhead: Bulkhead { max_concurrent: Some(2), ..BULKHEAD },
                    ..cut
                },
            )
        },
    ]
}

fn budgets() -> Vec<Scene> {
    let rules = Rules { max_attempts: 3, budget: Some(BUDGET), ..RULES };
    vec![
        Scene { outcomes: vec![Outcome::SUCCESS, NETWORK, NOT_FOUND], ..scene("budget", rules) },
        scene(
            "budget: refill by time, full jitter",
            Rules {
                budget: Some(Budget { per_second: 5_000, ..BUDGET }),
                jitter: Jitter::Full,
                ..rules
            },
        ),
    ]
}

fn engines() -> Vec<Scene> {
    let rules = Rules {
        max_attempts: 2,
        breaker: Some(BREAKER),
        bulkhead: Bulkhead { max_concurrent: Some(2), ..BULKHEAD },
        budget: Some(BUDGET),
        attempt_timeout: Some(2),
        overall_timeout: Some(4),
        ..RULES
    };
    let whole_calls = Breaker { scope: Scope::Call, ..BREAKER };
    let one_probe = Breaker { probes: 1, ..BREAKER };
    let waiting = Rules { wait_for_circuit: true, breaker: Some(one_probe), budget: None, ..rules };
    vec![
        scene("engine", rules),
        scene("engine: scope call", Rules { breaker: Some(whole_calls), ..rules }),
        scene("engine: wait_for_circuit", waiting),
        Scene {
            calls: 2,
            outcomes: vec![Outcome::SUCCESS, NETWORK, MISDIRECTED, TOO_EARLY, NOT_SENT],
            requests: vec![(None, Safety::Keyed), (None, Safety::Unsafe)],
            ..scene(
                "engine: once more after a 421 or 425",
                Rules { max_attempts: 4, attempt_timeout: None, overall_timeout: None, ..RULES },
            )
        },
        Scene {
            outcomes: vec![Outcome::SUCCESS, NETWORK, BUSY, CLOSED_FOR_LONG, MISDIRECTED],
            calls: 2,
            words: WORDS.to_vec(),
            requests: vec![
                (None, Safety::Idempotent),
                (None, Safety::Unsafe),
                (Some(3), Safety::Once),
            ],
            ..scene(
                "engine: Retry-After, full jitter, safety",
                Rules { jitter: Jitter::Full, max_attempts: 3, ..rules },
            )
        },
        Scene { controls: Control::ALL.to_vec(), ..scene("engine: orders by hand", rules) },
    ]
}
