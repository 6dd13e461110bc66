//! The parts in their order.

use super::Part;

/// Each can be run alone.
pub const PARTS: &[Part] = &[];
