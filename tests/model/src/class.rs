//! Section 3: what an outcome means.

use stormproof::step::{Kind, Outcome, Phase, Safety};

use crate::breaker::Verdict;
use crate::settings::{Settings, Unsafe};

/// C2: 421 and 425, where they are transient.
pub fn is_misdirected(outcome: &Outcome) -> bool {
    outcome.kind == Kind::Server && matches!(outcome.status, 421 | 425)
}

/// C2: the 409 of a keyed call, whose first try is still running. Reading: a `throttled` 409 is
/// read as that, whoever classed it so.
fn is_still_running(outcome: &Outcome) -> bool {
    outcome.kind == Kind::Throttled && outcome.status == 409
}

/// C1: may another try help?
pub fn is_transient(kind: Kind) -> bool {
    matches!(kind, Kind::Network | Kind::Timeout | Kind::Server | Kind::Throttled)
}

/// G5, C6, C8: does the dependency show life?
pub fn shows_life(outcome: &Outcome) -> bool {
    match outcome.kind {
        Kind::Success | Kind::Business | Kind::Contract => true,
        Kind::Client => outcome.status != 0,
        _ => is_still_running(outcome),
    }
}

/// K5.
pub fn verdict(settings: &Settings, outcome: &Outcome) -> Verdict {
    if shows_life(outcome) {
        return Verdict::Healthy;
    }
    match outcome.kind {
        Kind::Throttled if settings.count_429 => Verdict::Failed,
        Kind::Server if is_misdirected(outcome) => Verdict::Neutral,
        Kind::Network | Kind::Timeout | Kind::Server => Verdict::Failed,
        _ => Verdict::Neutral,
    }
}

/// C3: may the operation be repeated after this transient failure?
pub fn is_repeatable(settings: &Settings, outcome: &Outcome, safety: Safety) -> bool {
    // Reading: each case with the kind that it is a case of.
    let certain = match outcome.kind {
        Kind::Network | Kind::Timeout => outcome.phase == Phase::NotSent,
        Kind::Throttled => true,
        Kind::Server if outcome.status == 503 => outcome.retry_after_ms.is_some(),
        _ => is_misdirected(outcome),
    };
    match (safety, settings.unsafe_calls) {
        (Safety::Idempotent | Safety::Keyed, _) => true,
        (Safety::Once, _) | (Safety::Unsafe, Unsafe::Never) => false,
        (Safety::Unsafe, Unsafe::Certain) => certain,
        (Safety::Unsafe, Unsafe::Always) => true,
    }
}

/// G1: what a retry after this costs, in thousandths.
pub fn cost(settings: &Settings, kind: Kind) -> u64 {
    let own = match kind {
        Kind::Network => settings.cost_network,
        Kind::Timeout => settings.cost_timeout,
        Kind::Server => settings.cost_server,
        _ => settings.cost_throttled,
    };
    own.unwrap_or(settings.cost)
}
