//! `docs/semantics.md` once more: slow, obvious, and nothing but the rules.
//!
//! The model keeps plain lists of all that ever happened (calls, attempts, waits, outcomes, tokens)
//! and counts anew at every step. It shares with the core the words of [`stormproof::step`] and
//! [`stormproof::time::Instant`], nothing that decides. `tests/agree.rs` plays random courses to
//! both and compares every field of every answer.
//!
//! Comments that cite a number (`E5`, `K3`) name a rule; `Reading:` marks where the text is silent
//! and the model follows the core.

pub mod breaker;
pub mod budget;
pub mod class;
mod counts;
pub mod delay;
mod ending;
mod gate;
pub mod history;
pub mod laws;
pub mod model;
mod retry;
pub mod settings;
pub mod time;

pub use model::{Answer, Input, Model};
pub use settings::{Document, Settings, Value};
