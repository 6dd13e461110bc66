//! What both sides' logs must hold. Each law is a function from a story to what is wrong in it.

mod books;
mod budget;
mod circuit;
mod concurrency;
mod deadline;
mod decisions;
mod ended;
mod events;
mod keys;
pub mod load;
mod probes;
mod repetition;
mod reported;
mod rest;
pub mod retry_after;
mod truth;

use crate::story::Story;

/// A law.
pub struct Law {
    /// What it is called.
    pub name: &'static str,
    /// What is wrong, one line each.
    pub check: fn(&Story) -> Vec<String>,
}

const fn law(name: &'static str, check: fn(&Story) -> Vec<String>) -> Law {
    Law { name, check }
}

/// All of them.
pub const LAWS: &[Law] = &[
    law("the load is what was asked for", load::the_load_is_what_was_asked_for),
    law("every call ends once", ended::every_call_ends_once),
    law("every attempt is reported once", reported::every_attempt_is_reported_once),
    law("what is reported is what was", truth::what_is_reported_is_what_was),
    law("decisions name the attempts", decisions::decisions_name_the_attempts),
    law("every stream of events has one ending", events::every_stream_has_one_ending),
    law("the books agree with the log", books::the_books_agree_with_the_log),
    law("never more than max_concurrent", concurrency::never_more_than_max_concurrent),
    law("nothing is sent while the circuit is open", circuit::nothing_is_sent_while_open),
    law("half-open lets so many probes go", probes::half_open_lets_so_many_probes_go),
    law("no Retry-After is answered early", retry_after::no_retry_after_is_answered_early),
    law("retries stay within the budget", budget::retries_stay_within_the_budget),
    law("no attempt after the deadline", deadline::no_attempt_after_the_deadline),
    law("one key for all attempts of a call", keys::one_key_for_all_attempts),
    law("nothing acts twice", repetition::nothing_acts_twice),
    law("everything is back where it was", rest::everything_is_back_where_it_was),
];
