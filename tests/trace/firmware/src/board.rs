//! What runs on the board.

use core::mem::MaybeUninit;
use core::panic::PanicInfo;
use core::ptr::{addr_of, addr_of_mut};

use cortex_m::asm;
use cortex_m_rt::{ExceptionFrame, entry, exception};
use cortex_m_semihosting::{debug, hprintln};
use embedded_alloc::LlffHeap;
use stormproof_trace::{STEPS, run};

/// What all engines, hosts and policies of the trace have to live with.
const HEAP: usize = 256 * 1024;

#[global_allocator]
static ALLOCATOR: LlffHeap = LlffHeap::empty();

static mut MEMORY: [MaybeUninit<u8>; HEAP] = [MaybeUninit::uninit(); HEAP];

// SAFETY: the linker's script has these symbols; nothing is read behind them, only their addresses.
unsafe extern "C" {
    static __stext: u8;
    static __etext: u8;
    static __srodata: u8;
    static __erodata: u8;
}

#[entry]
fn main() -> ! {
    // SAFETY: this runs once, before anything is allocated, and nobody else uses the memory.
    unsafe { ALLOCATOR.init(addr_of_mut!(MEMORY) as usize, HEAP) };
    let mut most = 0;
    let digest = run(STEPS, |_| most = most.max(ALLOCATOR.used()));
    for (place, block) in digest.blocks().enumerate() {
        hprintln!("block {} {:016x}", place + 1, block);
    }
    let code = addr_of!(__etext) as usize - addr_of!(__stext) as usize;
    let constants = addr_of!(__erodata) as usize - addr_of!(__srodata) as usize;
    hprintln!("code {} bytes, constants {} bytes, heap {} bytes", code, constants, most);
    hprintln!("trace Cortex-M4 (QEMU): {} steps, hash {:016x}", digest.steps(), digest.hash());
    end(debug::EXIT_SUCCESS)
}

/// Ends the emulator with this status.
fn end(status: debug::ExitStatus) -> ! {
    debug::exit(status);
    loop {
        asm::wfi();
    }
}

#[panic_handler]
fn panic(info: &PanicInfo<'_>) -> ! {
    hprintln!("{}", info);
    end(debug::EXIT_FAILURE)
}

/// Without this the board would stand still and the emulator with it.
///
/// # Safety
///
/// Only the processor calls it.
#[exception]
unsafe fn HardFault(frame: &ExceptionFrame) -> ! {
    hprintln!("{:?}", frame);
    end(debug::EXIT_FAILURE)
}
