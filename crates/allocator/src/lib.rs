//! Sets the global allocator of every process that links this crate. It does not know the data.
//!
//! The allocator is mimalloc. Queries of many small values take half the time that they take with glibc's allocator.
//! Also, glibc's arenas keep freed memory; mimalloc returns it to the system on demand: [`give_back`].
//! [`terrapin_budget::memory`] counts the allocations.

#![allow(unsafe_code)]

use mimalloc::MiMalloc;
use terrapin_budget::memory::Counting;

#[global_allocator]
static ALLOCATOR: Counting<MiMalloc> = Counting(MiMalloc);

/// Returns memory to the system: blocks that this thread freed, and its blocks that other threads freed. Takes
/// milliseconds.
pub fn give_back() {
    // SAFETY: it may be called at any time.
    unsafe { libmimalloc_sys::mi_collect(true) };
}

/// Prepares a process for work on large arrays, such as a load. Memory then comes from the system in small pages:
/// the kernel clears each page first, and of large pages it clears more than is used. Freed memory stays with the
/// process for 2 seconds, because arrays of the same size follow.
pub fn prepare_for_arrays() {
    /// `mi_option_purge_delay` of `mimalloc.h`, in milliseconds. The bindings have no constant for it.
    const PURGE_DELAY: libmimalloc_sys::mi_option_t = 15;
    // SAFETY: may be called at any time; an option is a number.
    unsafe { libmimalloc_sys::mi_option_set(PURGE_DELAY, 2000) };
    // SAFETY: sets a flag of the process that does not affect the contents of its memory. If it cannot be set, the
    // process continues unchanged.
    #[cfg(target_os = "linux")]
    unsafe {
        libc::prctl(libc::PR_SET_THP_DISABLE, 1, 0, 0, 0)
    };
}
