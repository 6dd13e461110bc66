//! WebAssembly binding of the stormproof core.
#![cfg_attr(target_arch = "wasm32", no_std)]

extern crate alloc;

use wasm_bindgen::prelude::wasm_bindgen;

#[cfg(target_arch = "wasm32")]
mod runtime {
    use lol_alloc::{AssumeSingleThreaded, FreeListAllocator};

    // SAFETY: the module is built without the `atomics` feature, so one thread runs it.
    #[global_allocator]
    static ALLOCATOR: AssumeSingleThreaded<FreeListAllocator> =
        unsafe { AssumeSingleThreaded::new(FreeListAllocator::new()) };

    #[panic_handler]
    fn panic(_: &core::panic::PanicInfo) -> ! {
        core::arch::wasm32::unreachable()
    }
}

/// Version of the integer interface of this module.
#[wasm_bindgen]
pub fn abi_version() -> u32 {
    1
}
