//! A half-open circuit lets a few probes go.

use crate::log::host::Line;
use crate::story::{EPSILON, Story};

/// An attempt that was admitted while the circuit was half open.
struct Probe {
    call: u64,
    n: u32,
    /// Which opening of the circuit came before.
    opening: usize,
    /// Between these two it was admitted.
    admitted: [f64; 2],
    released: f64,
}

/// Whenever a probe is admitted, fewer than `probes` of the same period run on a lease.
pub fn half_open_lets_so_many_probes_go(story: &Story) -> Vec<String> {
    let breaker = &story.policy.breaker;
    let probes = probes(story);
    let mut wrong = Vec::new();
    for (place, probe) in probes.iter().enumerate() {
        let [_, now] = probe.admitted;
        let others =
            probes[..place].iter().rev().take_while(|other| other.opening == probe.opening);
        let running = others.filter(|other| {
            let has_lease = now - other.admitted[0] < breaker.open_duration_ms - EPSILON;
            other.released > now + EPSILON && has_lease
        });
        let running = running.count();
        if running >= breaker.probes {
            let name = format!("attempt {}.{}", probe.call, probe.n);
            wrong.push(format!("{name} was let go at {now} ms beside {running} probes"));
        }
    }
    wrong
}

fn probes(story: &Story) -> Vec<Probe> {
    let (mut probes, mut opening, mut was_open, mut open_until) = (Vec::new(), 0, false, 0.0);
    for (at, line) in story.lines.iter().enumerate() {
        match line {
            Line::State { circuit, open_until: until, .. } => {
                let is_open = circuit == "open";
                opening += usize::from(is_open && !was_open);
                was_open = is_open;
                open_until = until.unwrap_or(open_until);
            }
            Line::Try { call: id, n, circuit, .. } if circuit == "half_open" => {
                let call = &story.calls[id];
                let Some(one) = call.tries.iter().find(|one| one.at == at) else { continue };
                // One that was admitted before the circuit opened may begin late.
                let admitted = one.admitted(call, &story.policy);
                if let Some(admitted) = admitted.filter(|[early, _]| *early >= open_until) {
                    let released = one.released().unwrap_or(f64::INFINITY);
                    probes.push(Probe { call: *id, n: *n, opening, admitted, released });
                }
            }
            _ => {}
        }
    }
    probes
}

#[cfg(test)]
mod tests {
    use super::half_open_lets_so_many_probes_go as law;
    use crate::story::told::*;

    fn calls() -> String {
        let calls: String = (1..=3).map(|id| call(1.0, id, "unsafe")).collect();
        calls + &state(100.0, 0, "open", "600")
    }

    fn probe(t: f64, id: u64) -> String {
        attempt_at(t, id, 1, "half_open")
    }

    #[test]
    fn two_of_two_are_right_and_so_is_the_next_when_one_has_ended() {
        let log = calls() + &probe(600.0, 1) + &probe(601.0, 2) + &ended(610.0, 1, 1, 200);
        assert!(law(&story(&(log + &probe(610.5, 3)), vec![])).is_empty());
    }

    #[test]
    fn a_lease_that_is_over_frees_the_slot() {
        let log = calls() + &probe(600.0, 1) + &probe(601.0, 2) + &probe(1_100.0, 3);
        assert!(law(&story(&log, vec![])).is_empty());
    }

    #[test]
    fn probes_of_an_earlier_period_do_not_count() {
        let log =
            calls() + &probe(600.0, 1) + &probe(601.0, 2) + &state(602.0, 0, "half_open", "null");
        let log = log + &state(603.0, 0, "open", "700") + &probe(700.0, 3);
        assert!(law(&story(&log, vec![])).is_empty());
    }

    #[test]
    fn three_of_two_are_wrong() {
        let log = calls() + &probe(600.0, 1) + &probe(601.0, 2) + &probe(602.0, 3);
        let log = log + &ended(610.0, 1, 1, 200);
        assert_eq!(law(&story(&log, vec![])), ["attempt 3.1 was let go at 602 ms beside 2 probes"]);
    }
}
