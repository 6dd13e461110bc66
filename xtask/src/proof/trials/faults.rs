//! The faults: the ones that libraries of this kind have been found with.

/// One change of one place in the core.
pub struct Fault {
    pub name: &'static str,
    /// The rule of `docs/semantics.md` that it breaks.
    pub rule: &'static str,
    pub file: &'static str,
    /// Stands there exactly once.
    pub right: &'static str,
    pub wrong: &'static str,
}

/// All of them.
pub const FAULTS: &[Fault] = &[
    Fault {
        name: "one probe too many",
        rule: "K3",
        file: "core/src/breaker/half_open.rs",
        right: "(self.leases.len() - ended >= self.config.probes).then(|| self.leases[ended])",
        wrong: "(self.leases.len() - ended > self.config.probes).then(|| self.leases[ended])",
    },
    Fault {
        name: "an old id is accepted",
        rule: "E4",
        file: "core/src/slots.rs",
        right: "match &slot.entry {
            Content::Used(value) if u64::from(slot.generation) == id.generation() => Some(value),",
        wrong: "match &slot.entry {
            Content::Used(value) if u64::from(slot.generation) >= id.generation() => Some(value),",
    },
    Fault {
        name: "the token of an unsent retry is lost",
        rule: "G3",
        file: "core/src/engine/settle.rs",
        right: "self.budget.iter_mut().for_each(|budget| budget.give_back(now, cost));
        call.token",
        wrong: "self.budget.iter_mut().for_each(|budget| budget.give_back(now, cost - cost));
        call.token",
    },
    Fault {
        name: "a long Retry-After is clamped",
        rule: "B5",
        file: "core/src/engine/retry.rs",
        right: "map(|millis| millis.saturating_mul(MILLISECOND));",
        wrong: "map(|millis| millis.saturating_mul(MILLISECOND).min(self.plan.retry_after_max));",
    },
    Fault {
        name: "the window keeps its counts when nothing happens",
        rule: "K1",
        file: "core/src/window.rs",
        right: "newest.saturating_sub(self.newest).min(SLICES as u64)",
        wrong: "newest.saturating_sub(self.newest).min(1)",
    },
    Fault {
        name: "jitter is added after the cap",
        rule: "B2",
        file: "core/src/backoff.rs",
        right: "Jitter::Full => uniform(word, config.min_delay.min(ceiling), ceiling),",
        wrong: "Jitter::Full => ceiling / 2 + uniform(word, config.min_delay.min(ceiling), ceiling),",
    },
    Fault {
        name: "decorrelated jitter is clamped to the cap",
        rule: "B2",
        file: "core/src/backoff.rs",
        right: "let high = self.previous.saturating_mul(3).min(config.cap);
                uniform(word, config.base, high)",
        wrong: "let high = self.previous.saturating_mul(3);
                uniform(word, config.base, high).min(config.cap)",
    },
    Fault {
        name: "a late result of an earlier generation counts",
        rule: "K4",
        file: "core/src/breaker.rs",
        right: "pass.generation == self.generation",
        wrong: "pass.generation <= self.generation",
    },
    Fault {
        name: "a success wipes the failures of failure_threshold",
        rule: "K1",
        file: "core/src/breaker/closed.rs",
        right: "self.run = 0;
        let cause",
        wrong: "self.run = 0;
        self.failure_times.iter_mut().for_each(|times| times.clear());
        let cause",
    },
    Fault {
        name: "a new call overtakes the queue",
        rule: "H2",
        file: "core/src/bulkhead.rs",
        right: "if self.line.is_empty() && self.has_free_permit() {",
        wrong: "if self.has_free_permit() {",
    },
    Fault {
        name: "an attempt may start at its deadline",
        rule: "T1",
        file: "core/src/engine/call.rs",
        right: "self.deadline.is_reached(instant)",
        wrong: "self.deadline.is_reached(instant) && self.deadline != Limit::at(instant)",
    },
    Fault {
        name: "the lease of an abandoned attempt ends a moment late",
        rule: "H4",
        file: "core/src/engine/queue.rs",
        right: "&& lease <= now
        {
            self.forget",
        wrong: "&& lease < now
        {
            self.forget",
    },
    Fault {
        name: "a cancelled probe keeps its slot",
        rule: "K5",
        file: "core/src/breaker/half_open.rs",
        right: "if on_lease {
            self.give_slot_back(lease);",
        wrong: "if on_lease && report.verdict != Verdict::Neutral {
            self.give_slot_back(lease);",
    },
    Fault {
        name: "a refusal promises too early a time",
        rule: "L12",
        file: "core/src/breaker.rs",
        right: "State::Open { until } if now < until => Err(Refusal::until(until)),",
        wrong: "State::Open { until } if now < until => Err(Refusal::until(until.before(1))),",
    },
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workspace;

    #[test]
    fn every_fault_has_its_place() {
        for fault in FAULTS {
            let text = std::fs::read_to_string(workspace::path(fault.file)).unwrap();
            assert_eq!(text.matches(fault.right).count(), 1, "{}", fault.name);
        }
    }
}
