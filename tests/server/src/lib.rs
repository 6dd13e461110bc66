//! An HTTP server that fails on purpose, over real sockets, for tests and the demo.
//!
//! A [`Step`] is one answer or one fault. A [`Script`] is a list of steps that the
//! requests to `/s/<id>` consume in order; a [`Scenario`] is a timetable of phases, each
//! with a mix of steps, for every other path. [`Server`] carries both out, and answers
//! questions about what it saw under `/_/`. The README beside this crate shows the shapes.
#![forbid(unsafe_code)]

mod body;
mod connection;
mod connections;
mod control;
mod fault;
mod flow;
mod header;
mod invalid;
mod journal;
mod listener;
mod log;
mod raw;
mod reply;
mod run;
mod scenario;
mod script;
mod scripts;
mod server;
mod site;
mod span;
mod step;
mod timeline;
mod workers;

pub use invalid::Invalid;
pub use journal::Journal;
pub use scenario::Scenario;
pub use script::Script;
pub use server::Server;
pub use step::Step;
