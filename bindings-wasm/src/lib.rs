//! WebAssembly binding of the stormproof core: free functions over a pool of engines.
//!
//! Only numbers cross. Texts are written to the [`text_buffer`], steps are read from the
//! [`step_buffer`]; both stay where they are. The module has no imports.
//!
//! A handle or a call id that names nothing is answered, never trapped on.
#![cfg_attr(target_arch = "wasm32", no_std)]

extern crate alloc;

mod buffers;
mod calls;
mod engines;
mod policies;
mod texts;

#[cfg(target_arch = "wasm32")]
mod runtime {
    use lol_alloc::{AssumeSingleThreaded, FreeListAllocator};

    // SAFETY: the module is built without the `atomics` feature, so one thread runs it.
    #[global_allocator]
    static ALLOCATOR: AssumeSingleThreaded<FreeListAllocator> =
        unsafe { AssumeSingleThreaded::new(FreeListAllocator::new()) };

    #[panic_handler]
    fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
        core::arch::wasm32::unreachable()
    }
}

use wasm_bindgen::prelude::wasm_bindgen;

/// Version of the integer interface of this module.
#[wasm_bindgen]
pub fn abi_version() -> u32 {
    1
}

/// Where the text buffer lies in memory.
#[wasm_bindgen]
pub fn text_buffer() -> u32 {
    buffers::with(|buffers| buffers.text.as_ptr() as usize as u32)
}

/// Where the step buffer, [`buffers::STEP_LEN`] doubles, lies in memory.
#[wasm_bindgen]
pub fn step_buffer() -> u32 {
    buffers::with(|buffers| buffers.step.as_ptr() as usize as u32)
}
