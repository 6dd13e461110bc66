//! From an HTTP status to an outcome, and what an outcome says about the dependency.

use crate::step::{Kind, Outcome, Phase, Safety, stable_enum};

stable_enum! {
    /// What a policy can make of a status instead of what the table says.
    StatusClass {
        /// The dependency did what it was asked.
        Success = 0 "success",
        /// A failure that may pass.
        Transient = 1 "transient",
        /// The dependency asks to be called less.
        Throttled = 2 "throttled",
        /// An answer that a repetition would not change.
        Permanent = 3 "permanent",
    }
}

stable_enum! {
    /// When a call of [`Safety::Unsafe`] is repeated.
    UnsafeCalls {
        /// Never.
        Never = 0 "never",
        /// When the request certainly had no effect.
        Certain = 1 "certain",
        /// As if it were idempotent.
        Always = 2 "always",
    }
}

/// How many statuses a policy can class anew.
pub const MAX_STATUSES: usize = 64;

/// The statuses that a policy classes otherwise than the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Statuses {
    rows: [(u16, StatusClass); MAX_STATUSES],
    len: usize,
}

/// Why a status cannot be classed anew.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Clash {
    Full,
    With(StatusClass),
}

impl Statuses {
    pub const EMPTY: Self = Self { rows: [(0, StatusClass::Success); MAX_STATUSES], len: 0 };

    /// A status that clashes keeps the class that comes first, so that of several clashes the same
    /// one is the smallest, whatever their order.
    pub fn insert(&mut self, status: u16, class: StatusClass) -> Result<(), Clash> {
        match self.rows[..self.len].iter_mut().find(|(known, _)| *known == status) {
            Some((_, known)) if *known == class => Ok(()),
            Some((_, known)) => {
                let other = *known;
                if class.code() < other.code() {
                    *known = class;
                }
                Err(Clash::With(other))
            }
            None if self.len == MAX_STATUSES => Err(Clash::Full),
            None => {
                self.rows[self.len] = (status, class);
                self.len += 1;
                Ok(())
            }
        }
    }

    fn find(&self, status: u16) -> Option<StatusClass> {
        self.rows[..self.len].iter().find(|(known, _)| *known == status).map(|(_, class)| *class)
    }

    /// The outcome of an attempt that was answered with `status`.
    pub fn classify(&self, status: u16, retry_after_ms: Option<u64>, safety: Safety) -> Outcome {
        let class =
            self.find(status).unwrap_or_else(|| by_table(status, retry_after_ms.is_some(), safety));
        let kind = match class {
            StatusClass::Success => Kind::Success,
            StatusClass::Transient => Kind::Server,
            StatusClass::Throttled => Kind::Throttled,
            StatusClass::Permanent => Kind::Client,
        };
        let retry_after_ms = retry_after_ms.filter(|_| kind.is_retryable());
        Outcome { kind, status, phase: Phase::Unknown, retry_after_ms }
    }
}

/// RFC 9110 §15 and RFC 6585; 520–529 are those of content delivery networks.
fn by_table(status: u16, retry_after: bool, safety: Safety) -> StatusClass {
    match status {
        0 | 100..=399 => StatusClass::Success,
        429 => StatusClass::Throttled,
        413 if retry_after => StatusClass::Throttled,
        409 if safety == Safety::Keyed => StatusClass::Throttled,
        408 | 421 | 425 | 500 | 502..=504 | 520..=524 | 527 | 529 => StatusClass::Transient,
        _ => StatusClass::Permanent,
    }
}

/// May the method be repeated without further effect (RFC 9110 §9.2.2)? Unknown methods may not.
pub fn is_idempotent_method(method: &[u8]) -> bool {
    [&b"GET"[..], b"HEAD", b"OPTIONS", b"TRACE", b"PUT", b"DELETE"]
        .iter()
        .any(|known| method.eq_ignore_ascii_case(known))
}

/// What an outcome says about the dependency's health.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It is alive.
    Healthy,
    /// It is unwell.
    Failure,
    /// Nothing.
    Neutral,
}

impl Outcome {
    /// What this says about the dependency. `count_throttled`: being throttled is a failure.
    pub const fn verdict(&self, count_throttled: bool) -> Verdict {
        match self.kind {
            Kind::Success | Kind::Business | Kind::Contract => Verdict::Healthy,
            Kind::Client if self.status != 0 => Verdict::Healthy,
            Kind::Network | Kind::Timeout => Verdict::Failure,
            Kind::Server if self.is_retried_once() => Verdict::Neutral,
            Kind::Server => Verdict::Failure,
            Kind::Throttled if self.is_first_try_running() => Verdict::Healthy,
            Kind::Throttled if count_throttled => Verdict::Failure,
            _ => Verdict::Neutral,
        }
    }

    /// Does the answer show life, so that the token of the retry that brought it comes back?
    pub(crate) const fn gives_token_back(&self) -> bool {
        matches!(self.verdict(false), Verdict::Healthy)
    }

    /// 421 and 425 ask for one more try in another way; a second such answer is final.
    pub(crate) const fn is_retried_once(&self) -> bool {
        matches!(self.kind, Kind::Server) && matches!(self.status, 421 | 425)
    }

    /// 409 of a keyed call: the first try with the same key has not ended yet.
    const fn is_first_try_running(&self) -> bool {
        self.status == 409
    }

    /// May a request that must not act twice be sent again after this?
    pub(crate) const fn is_repeatable(&self, safety: Safety, unsafe_calls: UnsafeCalls) -> bool {
        match (safety, unsafe_calls) {
            (Safety::Once, _) => false,
            (Safety::Idempotent | Safety::Keyed, _) | (_, UnsafeCalls::Always) => true,
            (_, UnsafeCalls::Never) => false,
            (_, UnsafeCalls::Certain) => self.certainly_had_no_effect(),
        }
    }

    const fn certainly_had_no_effect(&self) -> bool {
        match self.kind {
            Kind::Network | Kind::Timeout => matches!(self.phase, Phase::NotSent),
            Kind::Throttled => true,
            Kind::Server => match self.status {
                421 | 425 => true,
                503 => self.retry_after_ms.is_some(),
                _ => false,
            },
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kind(status: u16, retry_after_ms: Option<u64>, safety: Safety) -> Kind {
        Statuses::EMPTY.classify(status, retry_after_ms, safety).kind
    }

    #[test]
    fn the_table() {
        assert_eq!(kind(413, None, Safety::Idempotent), Kind::Client);
        assert_eq!(kind(413, Some(5_000), Safety::Idempotent), Kind::Throttled);
        assert_eq!(kind(409, None, Safety::Keyed), Kind::Throttled);
        for safety in [Safety::Idempotent, Safety::Unsafe, Safety::Once] {
            assert_eq!(kind(409, None, safety), Kind::Client);
        }
        assert_eq!(kind(501, None, Safety::Idempotent), Kind::Client);
        assert_eq!(kind(529, None, Safety::Idempotent), Kind::Server);
        assert_eq!(kind(0, None, Safety::Idempotent), Kind::Success);
    }

    #[test]
    fn a_status_belongs_to_one_class() {
        let mut statuses = Statuses::EMPTY;
        assert_eq!(statuses.insert(404, StatusClass::Transient), Ok(()));
        assert_eq!(statuses.insert(404, StatusClass::Transient), Ok(()));
        let clash = Err(Clash::With(StatusClass::Transient));
        assert_eq!(statuses.insert(404, StatusClass::Permanent), clash);
        assert_eq!(statuses.classify(404, None, Safety::Unsafe).kind, Kind::Server);
    }

    #[test]
    fn clashes_are_the_same_in_any_order() {
        let [a, b, c] = [StatusClass::Success, StatusClass::Throttled, StatusClass::Permanent];
        for order in [[a, b, c], [a, c, b], [b, a, c], [b, c, a], [c, a, b], [c, b, a]] {
            let mut statuses = Statuses::EMPTY;
            let smallest =
                order.into_iter().filter_map(|class| match statuses.insert(404, class) {
                    Err(Clash::With(other)) => Some(class.code().max(other.code())),
                    _ => None,
                });
            assert_eq!(smallest.min(), Some(b.code()), "{order:?}");
        }
    }
}
