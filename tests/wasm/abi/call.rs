//! One call of the module and what it answers.

use std::fmt;

pub const CELLS: usize = crate::buffers::STEP_LEN;
pub type Cells = [f64; CELLS];

/// A call, and what the host writes into the buffers before.
#[derive(Clone)]
pub struct Call {
    pub function: &'static str,
    pub arguments: Vec<f64>,
    pub text: Option<Vec<u8>>,
    pub cells: Option<Cells>,
}

impl Call {
    pub fn new(function: &'static str, arguments: &[f64]) -> Self {
        Self { function, arguments: arguments.to_vec(), text: None, cells: None }
    }
}

impl fmt::Debug for Call {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(text) = &self.text {
            let shown = &text[..text.len().min(80)];
            write!(f, "text of {} \"{}\"; ", text.len(), shown.escape_ascii())?;
        }
        if let Some(cells) = &self.cells {
            write!(f, "cells {cells:?}; ")?;
        }
        write!(f, "{}{:?}", self.function, self.arguments)
    }
}

/// What a call answers, and the buffers that it leaves.
pub struct Reply {
    pub answer: f64,
    pub text: Vec<u8>,
    pub cells: Cells,
}

impl PartialEq for Reply {
    fn eq(&self, other: &Self) -> bool {
        // A NaN that the host wrote may come back with other bits.
        let same = |(a, b): (&f64, &f64)| a == b || (a.is_nan() && b.is_nan());
        same((&self.answer, &other.answer))
            && self.cells.iter().zip(&other.cells).all(same)
            && self.text == other.text
    }
}

impl fmt::Debug for Reply {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let end = self.text.iter().rposition(|byte| *byte != 0).map_or(0, |last| last + 1);
        let text = self.text[..end].escape_ascii();
        write!(f, "{}, cells {:?}, text \"{text}\"", self.answer, self.cells)
    }
}
