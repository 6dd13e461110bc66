//! How many requests came when, from whom, and how they ended.

use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::time::Duration;

pub(crate) const BUCKET_MS: u64 = 100;
/// One hour.
const MOST_BUCKETS: usize = 36_000;
const MOST_HOSTS: usize = 64;
const LONGEST_HOST: usize = 64;
/// Stands for every host beyond the first 64.
const REST: &str = "other";

/// Counts by bucket, then by host and result.
#[derive(Debug, Default)]
pub(crate) struct Timeline {
    hosts: Vec<String>,
    buckets: BTreeMap<u64, BTreeMap<(usize, &'static str), u64>>,
}

impl Timeline {
    /// A request of `host` arrived `elapsed` after the start and will end as `result`.
    pub(crate) fn on_request(&mut self, elapsed: Duration, host: &str, result: &'static str) {
        let bucket = elapsed.as_millis() as u64 / BUCKET_MS;
        let host = self.place(host);
        *self.buckets.entry(bucket).or_default().entry((host, result)).or_default() += 1;
        if self.buckets.len() > MOST_BUCKETS {
            self.buckets.pop_first();
        }
    }

    /// The buckets from the one that holds `since_ms`, as JSON.
    pub(crate) fn shown(&self, since_ms: u64) -> Value {
        let buckets = self.buckets.range(since_ms / BUCKET_MS..);
        Value::from_iter(buckets.map(|(bucket, counts)| {
            let counts = Value::from_iter(counts.iter().map(|((host, result), count)| {
                json!({"host": self.hosts[*host], "result": result, "count": count})
            }));
            json!({"at_ms": bucket * BUCKET_MS, "counts": counts})
        }))
    }

    fn place(&mut self, host: &str) -> usize {
        let host = if host.len() > LONGEST_HOST { REST } else { host };
        if let Some(place) = self.hosts.iter().position(|known| known == host) {
            return place;
        }
        let name = if self.hosts.len() < MOST_HOSTS { host } else { REST };
        if self.hosts.len() <= MOST_HOSTS {
            self.hosts.push(name.into());
        }
        self.hosts.len() - 1
    }
}
