//! The run through all vectors, wherever their files come from.

use std::collections::BTreeSet;

use serde_json::Value as Json;

use crate::trail::Trail;
use crate::{run, single};

/// The faults of one vector; empty when it passed.
pub type Faults = Vec<String>;

/// What became of the vectors so far.
#[derive(Default)]
pub struct Suite {
    trail: Trail,
    ids: BTreeSet<String>,
    passed: usize,
    failed: Vec<String>,
}

impl Suite {
    /// Runs the vectors of one file. Files come in the order of their names.
    pub fn file(&mut self, name: &str, text: &str) {
        for vector in read(name, text) {
            let id = vector["id"].as_str().unwrap_or("a vector without id");
            let mut faults = one(&vector, &mut self.trail);
            if !self.ids.insert(id.to_owned()) {
                faults.push("the id is used twice".into());
            }
            if !vector["reason"].is_string() {
                faults.push("no reason".into());
            }
            if faults.is_empty() {
                self.passed += 1;
            } else {
                self.failed.push(format!("{name} {id}:\n  {}", faults.join("\n  ")));
            }
        }
    }

    /// The line that every host prints alike.
    pub fn line(&self, host: &str) -> String {
        let (passed, failed, hash) = (self.passed, self.failed.len(), self.trail.hash());
        format!("vectors {host}: {passed} passed, {failed} failed, steps {hash:016x}")
    }

    /// Panics with every fault there was.
    pub fn close(self) {
        assert!(self.failed.is_empty(), "\n{}\n", self.failed.join("\n"));
        assert!(self.passed > 0, "there are no vectors");
    }
}

fn one(vector: &Json, trail: &mut Trail) -> Faults {
    if vector["steps"].is_array() { run::steps(vector, trail) } else { single::check(vector) }
}

fn read(name: &str, text: &str) -> Vec<Json> {
    let json: Json = serde_json::from_str(text).unwrap_or_else(|error| panic!("{name}: {error}"));
    let vectors = json["vectors"].as_array().cloned();
    vectors.unwrap_or_else(|| panic!("{name} has no list of vectors"))
}
