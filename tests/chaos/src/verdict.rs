//! What a run comes to.

use std::path::Path;

use anyhow::{Context, Result};

use crate::laws::{LAWS, load, retry_after};
use crate::log::host::How;
use crate::policy::Policy;
use crate::story::Story;

/// The figures of one or more hosts.
#[derive(Default)]
pub struct Verdict {
    calls: usize,
    attempts: usize,
    retries: usize,
    waits: usize,
    peak: usize,
    kills: usize,
    resets: usize,
    violations: usize,
}

/// So much of what breaks one law is shown.
const SHOWN: usize = 5;

impl Verdict {
    /// Holds every law against the logs of a host, and says which are broken.
    pub fn of(folder: &Path, host: &str, calls: u32) -> Result<Self> {
        let file = folder.join("policy.json");
        let policy = std::fs::read_to_string(&file).with_context(|| file.display().to_string())?;
        let policy: Policy = serde_json::from_str(&policy)?;
        // All users at once but for those who think.
        let wanted = calls as usize * 5 / 6;
        let story = Story::read(&folder.join(host), policy, wanted)?;
        let mut violations = 0;
        for law in LAWS {
            let wrong = (law.check)(&story);
            violations += wrong.len();
            for line in wrong.iter().take(SHOWN) {
                println!("VIOLATION {host}: {}: {line}", law.name);
            }
            if wrong.len() > SHOWN {
                println!("VIOLATION {host}: {}: and {} more", law.name, wrong.len() - SHOWN);
            }
        }
        let count = |is: fn(&crate::story::Try) -> bool| {
            story.tries().filter(|(_, _, one)| is(one)).count()
        };
        Ok(Self {
            calls: story.calls.len(),
            attempts: count(|_| true),
            retries: count(|one| one.n > 1),
            waits: retry_after::retry_afters(&story),
            peak: load::peak(&story),
            // Under load: neither the first, which was calm, nor the last.
            kills: story.servers.saturating_sub(2),
            resets: count(|one| one.how() == Some(How::Network)),
            violations,
        })
    }

    /// Both together: sums, and the lower of the peaks.
    pub fn and(self, other: Option<Self>) -> Self {
        let Some(other) = other else { return self };
        Self {
            calls: self.calls + other.calls,
            attempts: self.attempts + other.attempts,
            retries: self.retries + other.retries,
            waits: self.waits + other.waits,
            peak: self.peak.min(other.peak),
            kills: self.kills + other.kills,
            resets: self.resets + other.resets,
            violations: self.violations + other.violations,
        }
    }

    /// Was no law broken?
    pub fn is_clean(&self) -> bool {
        self.violations == 0
    }
}

impl std::fmt::Display for Verdict {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { calls, attempts, retries, waits, peak, kills, resets, violations } = self;
        write!(
            out,
            "{calls} calls, {attempts} attempts, {retries} retries ({waits} after a Retry-After), peak {peak} in flight, {kills} kills, {resets} resets, {violations} violations"
        )
    }
}
