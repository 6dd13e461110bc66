//! Policies: the settings that a user makes of the one table of knobs.

use alloc::string::String;

use crate::classify::{Clash, StatusClass, Statuses};

mod check;
mod knob;
mod number;
mod plan;
mod preset;
mod setting;

#[cfg(feature = "std")]
mod document;

#[cfg(feature = "std")]
pub use document::Document;
pub use knob::{Domain, Knob, Row, Section};
pub(crate) use plan::Plan;
pub use preset::Preset;
pub use setting::{Given, Setting, TimeUnit};

/// What a client does for one dependency. Every figure has a default; a policy is checked when
/// something is built from it, and refused then with a [`PolicyError`](crate::PolicyError).
///
/// ```
/// use core::time::Duration;
/// use stormproof::{Engine, Policy};
///
/// let policy = Policy::new()
///     .max_attempts(4)
///     .base(Duration::from_millis(100))
///     .cap(Duration::from_secs(20))
///     .failure_threshold(5)
///     .max_concurrent(10);
/// let engine = Engine::new(&policy)?;
///
/// let wrong = Policy::new().base(Duration::from_secs(30));
/// let error = Engine::new(&wrong).expect_err("the cap of 20 s is below the base");
/// assert_eq!(error.field, "retry.capMs");
/// # Ok::<(), stormproof::PolicyError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Policy {
    settings: [Setting; Knob::COUNT],
    off: [bool; Section::ALL.len()],
    preset: Preset,
    statuses: Statuses,
    unit: TimeUnit,
    fault: Option<Fault>,
}

/// What [`Policy::set`] could not take. Kept until the policy is checked, so that the same fault is
/// reported whatever the order in which a host walks its document.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Fault {
    UnknownField(String),
    Preset,
    GroupType(String),
    TooManyStatuses,
    Statuses(u8, StatusFault),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum StatusFault {
    Type,
    Range,
    Conflict,
}

impl Default for Policy {
    fn default() -> Self {
        Self::new()
    }
}

impl Policy {
    /// Every figure at its default.
    pub const fn new() -> Self {
        Self {
            settings: [Setting::Unset; Knob::COUNT],
            off: [false; Section::ALL.len()],
            preset: Preset::Default,
            statuses: Statuses::EMPTY,
            unit: TimeUnit::Milliseconds,
            fault: None,
        }
    }

    /// The figures of a preset where nothing else is set.
    #[must_use]
    pub const fn preset(mut self, preset: Preset) -> Self {
        self.preset = preset;
        self
    }

    /// Switches a section off.
    #[must_use]
    pub fn without(mut self, section: Section) -> Self {
        self.off[section as usize] = true;
        self
    }

    /// Classes a status otherwise than the table does. A status has one class; there is room for
    /// [`MAX_STATUSES`](crate::classify::MAX_STATUSES).
    #[must_use]
    pub fn status(mut self, status: u16, class: StatusClass) -> Self {
        self.add_status(class, Given::Number(f64::from(status)));
        self
    }

    /// Puts a setting at a knob.
    #[must_use]
    pub fn with(mut self, knob: Knob, setting: Setting) -> Self {
        self.settings[knob as usize] = setting;
        self
    }

    /// In which unit [`set`](Self::set) takes durations and errors spell them.
    #[must_use]
    pub const fn in_unit(mut self, unit: TimeUnit) -> Self {
        self.unit = unit;
        self
    }

    /// Takes one value of a policy document at its path: the keys on the way to it with dots between,
    /// a dot inside a key behind a backslash (`retry.baseMs`; `breaker` with `false`;
    /// `classify.transient` once for each status of the list). Nothing is refused here: a fault is
    /// kept and reported when the policy is checked.
    pub fn set(&mut self, path: &str, given: Given<'_>) {
        if let Some(knob) = Knob::at(path) {
            self.settings[knob as usize] = Setting::from_document(knob, given);
        } else if path == "preset" {
            self.set_preset(given);
        } else if let Some(class) = status_list(path) {
            self.add_status(class, given);
        } else if is_group(path) {
            self.set_group(path, given);
        } else {
            self.note(Fault::UnknownField(path.into()));
        }
    }

    fn set_group(&mut self, path: &str, given: Given<'_>) {
        let section = Section::ALL.iter().find(|section| section.path() == path);
        match (section, given) {
            (_, Given::Object) => {}
            (Some(section), Given::Flag(on)) => self.off[*section as usize] = !on,
            _ => self.note(Fault::GroupType(path.into())),
        }
    }

    fn set_preset(&mut self, given: Given<'_>) {
        let preset = match given {
            Given::Text(name) => Preset::ALL.iter().find(|preset| preset.name() == name),
            _ => None,
        };
        match preset {
            Some(preset) => self.preset = *preset,
            None => self.note(Fault::Preset),
        }
    }

    fn add_status(&mut self, class: StatusClass, given: Given<'_>) {
        let fault = match given {
            Given::Number(number) => match whole_status(number) {
                None => Fault::Statuses(class.code(), StatusFault::Range),
                Some(status) => match self.statuses.insert(status, class) {
                    Ok(()) => return,
                    Err(Clash::Full) => Fault::TooManyStatuses,
                    // Whichever list comes first in the document, the same one is named.
                    Err(Clash::With(other)) => {
                        Fault::Statuses(class.code().max(other.code()), StatusFault::Conflict)
                    }
                },
            },
            _ => Fault::Statuses(class.code(), StatusFault::Type),
        };
        self.note(fault);
    }

    fn note(&mut self, fault: Fault) {
        self.fault = Some(match self.fault.take() {
            Some(known) => known.min(fault),
            None => fault,
        });
    }
}

fn status_list(path: &str) -> Option<StatusClass> {
    let name = path.strip_prefix("classify.")?;
    StatusClass::ALL.iter().copied().find(|class| class.name() == name)
}

/// Do knobs lie below this path?
fn is_group(path: &str) -> bool {
    let below = |known: &str| known.strip_prefix(path).is_some_and(|rest| rest.starts_with('.'));
    path == "classify" || Knob::ALL.iter().any(|knob| below(knob.row().path))
}

fn whole_status(number: f64) -> Option<u16> {
    let status = number as u16;
    ((100..=999).contains(&status) && f64::from(status) == number).then_some(status)
}
