//! Every command of the README, one file per verb.
fn main() {}
