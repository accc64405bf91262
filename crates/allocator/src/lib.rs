//! The allocator of a process: whoever links this crate has it. Knows nothing of what is allocated.
//!
//! It is mimalloc: queries of many small values take half the time that they take with glibc's allocator, whose arenas
//! also keep what was freed. Asked to, it gives memory back: [`give_back`]. What is allocated is counted by
//! [`terrapin_budget::memory`].

#![allow(unsafe_code)]

use mimalloc::MiMalloc;
use terrapin_budget::memory::Counting;

#[global_allocator]
static ALLOCATOR: Counting<MiMalloc> = Counting(MiMalloc);

/// Gives what this thread has freed, and what others have freed of its, back to the system. Takes milliseconds.
pub fn give_back() {
    // SAFETY: it may be called at any time.
    unsafe { libmimalloc_sys::mi_collect(true) };
}
