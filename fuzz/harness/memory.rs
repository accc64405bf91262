//! Counts what the process has allocated, and refuses what would take the machine with it.

#![allow(unsafe_code)]

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering};

/// Bytes beyond which nothing more is given: the process ends, with its last input kept.
const MOST: usize = 3 << 30;

static NOW: AtomicUsize = AtomicUsize::new(0);
static PEAK: AtomicUsize = AtomicUsize::new(0);

/// The system's allocator, counted.
pub struct Counted;

// SAFETY: everything is left to the system's allocator, with the same layouts and pointers; a null pointer, which is
// given instead of it now and then, is what `alloc` may give at any time.
unsafe impl GlobalAlloc for Counted {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if !take(layout.size()) {
            return std::ptr::null_mut();
        }
        // SAFETY: as the caller promises.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        if !take(layout.size()) {
            return std::ptr::null_mut();
        }
        // SAFETY: as the caller promises.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        NOW.fetch_sub(layout.size(), Ordering::Relaxed);
        // SAFETY: as the caller promises.
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        if !take(size) {
            return std::ptr::null_mut();
        }
        // SAFETY: as the caller promises.
        let moved = unsafe { System.realloc(pointer, layout, size) };
        NOW.fetch_sub(if moved.is_null() { size } else { layout.size() }, Ordering::Relaxed);
        moved
    }
}

fn take(bytes: usize) -> bool {
    let now = NOW.fetch_add(bytes, Ordering::Relaxed) + bytes;
    if now > MOST {
        NOW.fetch_sub(bytes, Ordering::Relaxed);
        return false;
    }
    if now > PEAK.load(Ordering::Relaxed) {
        PEAK.fetch_max(now, Ordering::Relaxed);
    }
    true
}

/// Begins a measurement: bytes that are allocated.
pub fn begin() -> usize {
    let now = NOW.load(Ordering::Relaxed);
    PEAK.store(now, Ordering::Relaxed);
    now
}

/// The most bytes that were allocated since, beyond those that were then.
pub fn grown(since: usize) -> usize {
    PEAK.load(Ordering::Relaxed).saturating_sub(since)
}
