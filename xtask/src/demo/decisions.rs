//! The same scripted calls with the same seed: what did each host decide?

use std::sync::mpsc;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::cast;
use super::child::Child;
use super::run::POLICY;
use super::server::Server;
use crate::workspace;

/// Every host makes the 256 bits of its generator of these 64 by SplitMix64.
const SEED: u64 = 20_260_115;
const PATIENCE: Duration = Duration::from_secs(20);

/// One call of a host.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
pub struct Call {
    /// 1 for the first.
    pub call: u32,
    /// What each attempt ended in.
    pub attempts: Vec<String>,
    /// The wait before each retry, as the engine planned it.
    pub waits_ns: Vec<u64>,
    /// Why it ended.
    pub reason: String,
}

/// The calls of every host.
pub struct Decisions {
    /// By host.
    pub hosts: Vec<(String, Vec<Call>)>,
    /// How hosts died of the script, if any did.
    pub failure: Option<String>,
}

impl Decisions {
    /// Lets every host make the calls of the script.
    pub fn take(server: &Server, names: &[String]) -> Result<Self> {
        let (ears, heard) = mpsc::channel();
        let mut children = Vec::new();
        for (number, name) in names.iter().enumerate() {
            server.post(&format!("/_/script/{name}"), &script())?;
            let mut command = cast::command(name);
            command.arg("--url").arg(format!("{}/s/{name}", server.url()));
            command.arg("--policy").arg(workspace::path(POLICY));
            command.args(["--host-name", name, "--trace", &SEED.to_string()]);
            children.push(Child::spawn(&mut command, number, &ears)?);
        }
        let mut hosts: Vec<(String, Vec<Call>)> =
            names.iter().map(|name| (name.clone(), Vec::new())).collect();
        let until = Instant::now() + PATIENCE;
        let (mut open, mut failure) = (children.len(), None);
        while open > 0 {
            let left = until.saturating_duration_since(Instant::now());
            let heard = heard.recv_timeout(left).context("the scripted calls do not end")?;
            match heard.line {
                Some(line) => hosts[heard.from].1.push(serde_json::from_str(&line)?),
                None => {
                    open -= 1;
                    if let Some(why) = children[heard.from].failure() {
                        failure =
                            Some(format!("the {} host, at the script: {why}", names[heard.from]));
                    }
                }
            }
        }
        Ok(Self { hosts, failure })
    }

    /// Did all hosts decide the same in every call?
    pub fn are_equal(&self) -> bool {
        self.hosts.windows(2).all(|pair| pair[0].1 == pair[1].1 && !pair[0].1.is_empty())
    }

    /// A call with what each host made of it.
    pub fn calls(&self) -> Vec<Vec<(&str, &Call)>> {
        let count = self.hosts.iter().map(|(_, calls)| calls.len()).max().unwrap_or(0);
        (0..count)
            .map(|place| {
                let of_host =
                    self.hosts.iter().map(|(name, calls)| (name.as_str(), calls.get(place)));
                of_host.filter_map(|(name, call)| Some((name, call?))).collect()
            })
            .collect()
    }
}

/// What the server answers to each host in turn. Every rule of the policy but the circuit, which
/// looks at the clock.
fn script() -> String {
    let throttled = |seconds: &str| json!({ "status": 429, "headers": [["retry-after", seconds]] });
    json!({
        "steps": [
            503, 503, throttled("1"), 200,
            "reset_before", 200,
            "garbage", 503, 200,
            404,
            throttled("120"),
            503, 503, 503,
            200,
            "cut_body",
        ],
        "after": 200,
    })
    .to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(waits_ns: &[u64]) -> Call {
        let attempts = vec!["server".into(), "success".into()];
        Call { call: 1, attempts, waits_ns: waits_ns.to_vec(), reason: "success".into() }
    }

    #[test]
    fn a_nanosecond_is_a_difference_and_silence_is_no_agreement() {
        let equal = |calls: [Vec<Call>; 2]| {
            let hosts = ["rust", "node"].map(String::from).into_iter().zip(calls).collect();
            Decisions { hosts, failure: None }.are_equal()
        };
        assert!(equal([vec![call(&[41])], vec![call(&[41])]]));
        assert!(!equal([vec![call(&[41])], vec![call(&[42])]]));
        assert!(!equal([vec![call(&[41])], vec![]]));
        assert!(!equal([vec![], vec![]]));
    }
}
