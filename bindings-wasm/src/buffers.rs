//! The memory that the module shares with its host.

use core::cell::UnsafeCell;

use alloc::vec::Vec;

use stormproof::Policy;

use crate::engines::Pool;

/// Bytes of the text buffer. A longer text does not cross.
pub const TEXT_LEN: usize = 4_096;
/// Doubles of the step buffer.
pub const STEP_LEN: usize = 64;

/// Everything that the module remembers.
pub struct Buffers {
    pub text: [u8; TEXT_LEN],
    pub step: [f64; STEP_LEN],
    pub engines: Pool,
    pub draft: Policy,
    /// The word that the next event takes instead of a random one.
    pub word: Option<u64>,
}

struct Shared(UnsafeCell<Buffers>);

// SAFETY: the module is built without the `atomics` feature, so one thread runs it.
unsafe impl Sync for Shared {}

static BUFFERS: Shared = Shared(UnsafeCell::new(Buffers {
    text: [0; TEXT_LEN],
    step: [0.0; STEP_LEN],
    engines: Pool(Vec::new()),
    draft: Policy::new(),
    word: None,
}));

pub fn with<T>(work: impl FnOnce(&mut Buffers) -> T) -> T {
    // SAFETY: one thread runs the module, and no work given here calls back into the host or into
    // this function, so no second reference exists while it runs.
    work(unsafe { &mut *BUFFERS.0.get() })
}

/// `len` bytes of the buffer as text; empty where they are none.
pub fn text_at(buffer: &[u8], start: u32, len: u32) -> &str {
    core::str::from_utf8(bytes_at(buffer, start, len)).unwrap_or_default()
}

/// `len` bytes of the buffer; empty where it has less.
pub fn bytes_at(buffer: &[u8], start: u32, len: u32) -> &[u8] {
    let (start, len) = (start as usize, len as usize);
    buffer.get(start..start.saturating_add(len)).unwrap_or_default()
}

impl Buffers {
    /// Hands a text to the host; answers its length. One that is too long is cut.
    pub fn put_text(&mut self, text: &str) -> u32 {
        let mut len = text.len().min(TEXT_LEN);
        while !text.is_char_boundary(len) {
            len -= 1;
        }
        self.text[..len].copy_from_slice(&text.as_bytes()[..len]);
        len as u32
    }
}
