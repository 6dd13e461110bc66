//! The pool of engines and their random words.

use alloc::vec::Vec;

use rand_core::{RngCore, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use stormproof::{Engine, Policy, PolicyError};
use wasm_bindgen::prelude::wasm_bindgen;

use crate::buffers::{self, Buffers, TEXT_LEN};

/// An index below, a generation above: a handle that was given back is never valid again.
const INDEX_BITS: u32 = 16;
/// In place of an error code: the policy is right, and the pool is full.
const NO_ROOM: f64 = -1.0;
const LAST_GENERATION: u32 = (1 << (32 - INDEX_BITS)) - 1;

pub struct Host {
    pub engine: Engine,
    pub words: Xoshiro256PlusPlus,
}

pub struct Place {
    generation: u32,
    host: Option<Host>,
}

pub struct Pool(pub Vec<Place>);

impl Pool {
    fn insert(&mut self, host: Host) -> Option<u32> {
        let free = |place: &Place| place.host.is_none() && place.generation < LAST_GENERATION;
        let index = match self.0.iter().position(free) {
            Some(index) => index,
            None if self.0.len() < 1 << INDEX_BITS => {
                self.0.push(Place { generation: 0, host: None });
                self.0.len() - 1
            }
            None => return None,
        };
        let place = &mut self.0[index];
        place.generation += 1;
        place.host = Some(host);
        Some((place.generation << INDEX_BITS) | index as u32)
    }

    fn place(&mut self, handle: u32) -> Option<&mut Place> {
        let place = self.0.get_mut((handle & ((1 << INDEX_BITS) - 1)) as usize)?;
        (place.generation == handle >> INDEX_BITS).then_some(place)
    }

    pub fn host(&mut self, handle: u32) -> Option<&mut Host> {
        self.place(handle)?.host.as_mut()
    }
}

/// Builds an engine from the drafted policy, whose draft ends with it. The step buffer holds the
/// seed: eight random numbers of 32 bits.
///
/// Answers its handle. 0: the policy is wrong; the step buffer begins with the number of the error
/// code and the lengths of field, value and allowed, which stand in the text buffer one after the
/// other. A value of length 0 is the host's to spell. A code of -1: there is room for no more.
#[wasm_bindgen]
pub fn engine_new() -> u32 {
    buffers::with(|buffers| {
        let policy = core::mem::replace(&mut buffers.draft, Policy::new());
        match Engine::new(&policy) {
            Ok(engine) => {
                let words = Xoshiro256PlusPlus::from_seed(seed(buffers));
                let handle = buffers.engines.insert(Host { engine, words });
                handle.unwrap_or_else(|| {
                    buffers.step[0] = NO_ROOM;
                    0
                })
            }
            Err(error) => {
                put_error(buffers, &error);
                0
            }
        }
    })
}

/// Draws the engine's random words from this seed from now on, as a Python host does that is given
/// the same number. For tests and replays.
#[wasm_bindgen]
pub fn reseed(handle: u32, high: u32, low: u32) {
    let seed = u64::from(high) << 32 | u64::from(low);
    buffers::with(|buffers| {
        if let Some(host) = buffers.engines.host(handle) {
            host.words = Xoshiro256PlusPlus::seed_from_u64(seed);
        }
    });
}

/// Gives an engine back. Its handle names nothing from now on.
#[wasm_bindgen]
pub fn engine_free(handle: u32) {
    buffers::with(|buffers| {
        if let Some(place) = buffers.engines.place(handle) {
            place.host = None;
        }
    });
}

/// The next event takes this word instead of a random one. For tests and replays.
#[wasm_bindgen]
pub fn set_word(high: u32, low: u32) {
    buffers::with(|buffers| buffers.word = Some(u64::from(high) << 32 | u64::from(low)));
}

/// The word of the next event.
pub fn next_word(given: &mut Option<u64>, host: &mut Host) -> u64 {
    given.take().unwrap_or_else(|| host.words.next_u64())
}

fn seed(buffers: &Buffers) -> [u8; 32] {
    let mut seed = [0; 32];
    for (bytes, number) in seed.chunks_exact_mut(4).zip(buffers.step) {
        bytes.copy_from_slice(&(number as u32).to_le_bytes());
    }
    seed
}

fn put_error(buffers: &mut Buffers, error: &PolicyError) {
    let parts = [&error.field, error.value.as_deref().unwrap_or_default(), &error.allowed];
    let mut text = alloc::string::String::new();
    buffers.step[0] = f64::from(error.code.code());
    for (cell, part) in buffers.step[1..].iter_mut().zip(parts) {
        let mut len = part.len().min(TEXT_LEN / parts.len());
        while !part.is_char_boundary(len) {
            len -= 1;
        }
        text.push_str(&part[..len]);
        *cell = len as f64;
    }
    buffers.put_text(&text);
}
