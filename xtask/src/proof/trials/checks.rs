//! The checks that look for a fault. None uses another's knowledge of what is right.

/// One check: a cargo command that fails where it finds a fault.
pub struct Check {
    pub name: &'static str,
    pub arguments: &'static [&'static str],
}

const fn check(name: &'static str, arguments: &'static [&'static str]) -> Check {
    Check { name, arguments }
}

/// In the order of the table.
pub const CHECKS: &[Check] = &[
    check("unit tests", &["test", "--package=stormproof", "--lib"]),
    check("vectors", &["test", "--package=stormproof", "--test=vectors"]),
    check("random courses", &["test", "--package=stormproof", "--test=laws"]),
    check("jitter", &["test", "--package=stormproof", "--test=jitter"]),
    check("model", &["test", "--package=stormproof-model", "--test=agree"]),
    check("fuzz inputs", &["test", "--package=stormproof-fuzz"]),
    check("walk", &["run", "--release", "--package=stormproof-walk"]),
];
