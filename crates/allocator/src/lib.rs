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

/// Prepares a process for work on large arrays, such as a load: memory comes from the system in small pages, since what
/// comes is cleared first, and of large pages more than is used; and what is freed stays with the process for a while, since
/// arrays of the same size follow.
pub fn prepare_for_arrays() {
    /// `mi_option_purge_delay` of `mimalloc.h`, in milliseconds. The bindings have no name for it.
    const PURGE_DELAY: libmimalloc_sys::mi_option_t = 15;
    // SAFETY: it may be called at any time; an option is a number.
    unsafe { libmimalloc_sys::mi_option_set(PURGE_DELAY, 2000) };
    // SAFETY: a flag of the process, which has no say in what its memory holds. Where it cannot be set all goes on as
    // before.
    #[cfg(target_os = "linux")]
    unsafe {
        libc::prctl(libc::PR_SET_THP_DISABLE, 1, 0, 0, 0)
    };
}
