//! From the values that Python gives to the core's policy.

use std::borrow::Cow;
use std::time::Duration;

use pyo3::prelude::*;
use pyo3::types::{
    PyBool, PyDelta, PyDict, PyFloat, PyFrozenSet, PyInt, PyList, PyMapping, PySet, PyString,
    PyTuple,
};
use stormproof::classify::StatusClass;
use stormproof::policy::{Given, Knob, Setting, TimeUnit};
use stormproof::{ErrorCode, Policy, PolicyError, Preset};

use crate::fault;
use crate::spelling;

/// No knob lies deeper.
const MAX_DEPTH: usize = 3;

/// In whose words a document is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Spelling {
    /// The document's own names, milliseconds.
    Document,
    /// Python's names, seconds or `timedelta`.
    Python,
}

/// Reads and checks the policy that a mapping describes.
pub fn read(fields: &Bound<'_, PyMapping>, spelling: Spelling) -> PyResult<Policy> {
    let unit = match spelling {
        Spelling::Document => TimeUnit::Milliseconds,
        Spelling::Python => TimeUnit::Seconds,
    };
    let mut walk = Walk { policy: Policy::new().in_unit(unit), spelling, unknown: None };
    walk.object(fields, "", 0)?;
    let checked = match walk.unknown {
        Some(path) => Err(unknown_field(&path)),
        None => walk.policy.check(),
    };
    match checked {
        Ok(()) => Ok(walk.policy),
        Err(error) => Err(fault::raise(fields, &error, spelling)),
    }
}

struct Walk {
    policy: Policy,
    spelling: Spelling,
    /// The first unknown field by name, whatever the order in which they are found.
    unknown: Option<String>,
}

impl Walk {
    fn object(&mut self, fields: &Bound<'_, PyMapping>, above: &str, depth: usize) -> PyResult<()> {
        for item in fields.items()? {
            let (key, value): (Bound<'_, PyAny>, Bound<'_, PyAny>) = item.extract()?;
            let key = key.str()?.to_string_lossy().into_owned();
            // A dot inside a key is none between keys.
            let key = key.replace('.', "\\.");
            let path = if above.is_empty() { key } else { format!("{above}.{key}") };
            self.value(&path, &value, depth + 1)?;
        }
        Ok(())
    }

    fn value(&mut self, path: &str, value: &Bound<'_, PyAny>, depth: usize) -> PyResult<()> {
        let Some(known) = self.known(path) else {
            let unknown = self.unknown.get_or_insert_with(|| path.into());
            if path < unknown.as_str() {
                *unknown = path.into();
            }
            return Ok(());
        };
        if let Ok(fields) = value.cast::<PyMapping>() {
            self.policy.set(&known, Given::Object);
            if depth < MAX_DEPTH {
                self.object(fields, path, depth)?;
            }
            return Ok(());
        }
        if known.starts_with("classify.") {
            if !is_list(value) {
                // What belongs in a list does not stand alone.
                self.policy.set(&known, Given::Other);
                return Ok(());
            }
            for member in value.try_iter()? {
                self.plain(&known, &member?);
            }
            return Ok(());
        }
        self.plain(&known, value);
        Ok(())
    }

    fn known<'a>(&self, path: &'a str) -> Option<Cow<'a, str>> {
        match self.spelling {
            Spelling::Document => Some(path.into()),
            Spelling::Python => spelling::document_path(path),
        }
    }

    fn plain(&mut self, path: &str, value: &Bound<'_, PyAny>) {
        let given = if value.is_none() {
            Given::Null
        } else if let Ok(flag) = value.cast::<PyBool>() {
            Given::Flag(flag.is_true())
        } else if value.is_instance_of::<PyFloat>() || value.is_instance_of::<PyInt>() {
            // An integer beyond all floats is beyond all ranges as well.
            Given::Number(value.extract().unwrap_or(f64::INFINITY))
        } else if let Ok(text) = value.cast::<PyString>() {
            // Half of a surrogate pair is no text that could be written anywhere.
            let given = text.to_cow();
            return self.policy.set(path, given.as_deref().map_or(Given::Other, Given::Text));
        } else if self.spelling == Spelling::Python && value.is_instance_of::<PyDelta>() {
            return self.span(path, value);
        } else {
            Given::Other
        };
        self.policy.set(path, given);
    }

    fn span(&mut self, path: &str, value: &Bound<'_, PyAny>) {
        match (Knob::at(path), value.extract::<Duration>()) {
            (Some(knob), Ok(span)) => {
                let policy = std::mem::take(&mut self.policy);
                self.policy = policy.with(knob, Setting::Span(span));
            }
            // Python's spans can be negative.
            (Some(_), Err(_)) => self.policy.set(path, Given::Number(-1.0)),
            (None, _) => self.policy.set(path, Given::Other),
        }
    }
}

fn is_list(value: &Bound<'_, PyAny>) -> bool {
    value.is_instance_of::<PyList>()
        || value.is_instance_of::<PyTuple>()
        || value.is_instance_of::<PySet>()
        || value.is_instance_of::<PyFrozenSet>()
}

/// The core's own error for a name that it does not know. A name with a space is none.
fn unknown_field(path: &str) -> PolicyError {
    let mut policy = Policy::new();
    policy.set(&format!("{path} "), Given::Null);
    let mut error = policy.check().err().unwrap_or(PolicyError {
        code: ErrorCode::UnknownField,
        field: String::new(),
        value: None,
        allowed: String::new(),
    });
    error.field = path.into();
    error
}

/// The value that stands at a path of the document.
pub fn look_up<'py>(
    fields: &Bound<'py, PyMapping>,
    path: &str,
    spelling: Spelling,
) -> Option<Bound<'py, PyAny>> {
    let path = match spelling {
        Spelling::Document => path.into(),
        Spelling::Python => spelling::python_path(path),
    };
    let mut value = fields.as_any().clone();
    for key in path.split('.') {
        value = value.cast::<PyMapping>().ok()?.get_item(key).ok()?;
    }
    Some(value)
}

/// Every knob as `(python path, document path, takes, nullable, doc)`.
#[pyfunction]
pub fn knobs(py: Python<'_>) -> PyResult<Bound<'_, PyList>> {
    let rows = PyList::empty(py);
    for knob in Knob::ALL {
        let row = knob.row();
        let entry = PyDict::new(py);
        entry.set_item("name", spelling::python_path(row.path))?;
        entry.set_item("path", row.path)?;
        entry.set_item("takes", takes(row.domain))?;
        entry.set_item("choices", choices(row.domain))?;
        entry.set_item("nullable", row.nullable)?;
        entry.set_item("doc", knob.doc())?;
        rows.append(entry)?;
    }
    Ok(rows)
}

/// The names of presets and of the classes that a status can have.
#[pyfunction]
pub fn known_names() -> (&'static [&'static str], &'static [&'static str]) {
    (Preset::NAMES, StatusClass::NAMES)
}

fn takes(domain: stormproof::policy::Domain) -> &'static str {
    use stormproof::policy::Domain;
    match domain {
        Domain::Count(..) => "count",
        Domain::Span(..) => "span",
        Domain::Thousandths(..) => "number",
        Domain::ThousandthsOrAuto(..) => "number or auto",
        Domain::Flag => "flag",
        Domain::Choice(_) => "choice",
        Domain::Text(_) => "text",
    }
}

fn choices(domain: stormproof::policy::Domain) -> &'static [&'static str] {
    match domain {
        stormproof::policy::Domain::Choice(names) => names,
        _ => &[],
    }
}
