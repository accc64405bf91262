//! Counts the process's memory and attributes it to accounts. The allocator counts every byte where it is allocated and
//! freed: for the process as a whole, and for the [`Account`] for which the thread works. Therefore no allocation is
//! missed, in our code or in a library.
//!
//! To have its memory counted, a program makes [`Counting`] its global allocator (`terrapin-allocator` does so).
//! Otherwise every account is empty.
//!
//! The allocator only counts. Code that works for an account calls [`Account::held`] from time to time and stops if the
//! value is too high: see [`crate::Budget`]. Allocations also count as steps of the work, so that growth is noticed
//! soon.

#![allow(unsafe_code)]

use std::alloc::{GlobalAlloc, Layout};
use std::cell::Cell;
use std::ptr;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

/// Bytes allocated and not freed in the whole process, except for those that threads have not settled yet.
static PROCESS: AtomicI64 = AtomicI64::new(0);

/// Bytes that a thread counts on its own before it settles them: so much can be missing for each thread.
const BATCH: i64 = 64 << 10;

thread_local! {
    /// The account that this thread works for; null for none. [`within`] keeps the account alive meanwhile.
    static CURRENT: Cell<*const Account> = const { Cell::new(ptr::null()) };
    /// Bytes allocated less those freed since the last settlement.
    static PENDING: Cell<i64> = const { Cell::new(0) };
    /// Steps since the last look at the budget.
    static STEPS: Cell<u32> = const { Cell::new(0) };
}

/// The memory of a piece of work: the bytes that its threads allocated less those that they freed.
#[derive(Debug, Default)]
pub struct Account {
    held: AtomicI64,
    most: AtomicI64,
}

impl Account {
    /// Bytes held now, within some 64 KiB for each thread that works for the account.
    pub fn held(&self) -> u64 {
        let own = if ptr::eq(CURRENT.get(), self) { PENDING.get() } else { 0 };
        u64::try_from(self.held.load(Ordering::Relaxed).saturating_add(own)).unwrap_or(0)
    }

    /// Returns the maximum number of bytes held at any time.
    pub fn most(&self) -> u64 {
        u64::try_from(self.most.load(Ordering::Relaxed)).unwrap_or(0)
    }

    fn add(&self, bytes: i64) {
        let held = self.held.fetch_add(bytes, Ordering::Relaxed).saturating_add(bytes);
        if bytes > 0 {
            self.most.fetch_max(held, Ordering::Relaxed);
        }
    }

    /// Transfers bytes that were allocated for this account to another owner, who will free them.
    pub fn hand_over(&self, bytes: usize) {
        self.held.fetch_sub(i64::try_from(bytes).unwrap_or(i64::MAX), Ordering::Relaxed);
    }
}

/// Bytes that the whole process has allocated through Rust, within some 64 KiB a thread.
pub fn process() -> u64 {
    u64::try_from(PROCESS.load(Ordering::Relaxed)).unwrap_or(0)
}

/// Runs `work` and counts the memory that this thread allocates and frees meanwhile for `account`. With `None` it
/// belongs to no account, as for caches that outlive a query.
pub fn within<T>(account: Option<&Arc<Account>>, work: impl FnOnce() -> T) -> T {
    /// Puts the outer account back, also where `work` panics.
    struct AccountGuard(*const Account);
    impl Drop for AccountGuard {
        fn drop(&mut self) {
            settle(PENDING.replace(0));
            CURRENT.set(self.0);
        }
    }
    settle(PENDING.replace(0));
    let _restore = AccountGuard(CURRENT.replace(account.map_or(ptr::null(), Arc::as_ptr)));
    work()
}

/// Counts steps of this thread's work and gives those since [`look_again`]; they are very many once the thread has
/// allocated more than a few bytes since.
#[inline]
pub(crate) fn steps(more: u32) -> u32 {
    let steps = STEPS.get().saturating_add(more);
    STEPS.set(steps);
    steps
}

/// Begins to count steps anew.
pub(crate) fn look_again() {
    STEPS.set(0);
}

/// Adds a thread's count to its account and to the process.
fn settle(bytes: i64) {
    if bytes > 0 {
        STEPS.set(u32::MAX);
    }
    PROCESS.fetch_add(bytes, Ordering::Relaxed);
    let account = CURRENT.get();
    if !account.is_null() {
        // SAFETY: only `within` sets it, borrows the account's `Arc` for as long, and resets it on every way out.
        unsafe { &*account }.add(bytes);
    }
}

#[inline]
fn count(bytes: i64) {
    let sum = PENDING.get() + bytes;
    if -BATCH < sum && sum < BATCH {
        PENDING.set(sum);
    } else {
        PENDING.set(0);
        settle(sum);
    }
}

/// An allocator that counts the memory of another one, which is mimalloc or has the same block sizes.
#[derive(Debug)]
pub struct Counting<A>(pub A);

/// Returns the bytes that a block of this size takes. mimalloc has blocks of multiples of 16 bytes, and four sizes for
/// each power of two from 64 bytes on. Of large blocks, only the touched pages count.
#[inline]
fn taken(size: usize) -> i64 {
    let step = match size {
        0..=64 => 16,
        65..=MEDIUM => 1 << ((size - 1).ilog2() - 2),
        _ => 1,
    };
    // At most `isize::MAX`, as every layout.
    size.next_multiple_of(step) as i64
}

/// Bytes of the largest blocks that share pages with others.
const MEDIUM: usize = 16 << 10;

// SAFETY: every call goes to the inner allocator as it came; counting touches neither the memory nor the heap, and the
// thread's counters are constants without a destructor, so that they can be reached at any time.
unsafe impl<A: GlobalAlloc> GlobalAlloc for Counting<A> {
    #[inline]
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller's promise.
        let memory = unsafe { self.0.alloc(layout) };
        if !memory.is_null() {
            count(taken(layout.size()));
        }
        memory
    }

    #[inline]
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller's promise.
        let memory = unsafe { self.0.alloc_zeroed(layout) };
        if !memory.is_null() {
            count(taken(layout.size()));
        }
        memory
    }

    #[inline]
    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        // SAFETY: the caller's promise.
        unsafe { self.0.dealloc(memory, layout) };
        count(-taken(layout.size()));
    }

    #[inline]
    unsafe fn realloc(&self, memory: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: the caller's promise.
        let moved = unsafe { self.0.realloc(memory, layout, size) };
        if !moved.is_null() {
            count(taken(size) - taken(layout.size()));
        }
        moved
    }
}

#[cfg(test)]
mod tests {
    use mimalloc::MiMalloc;

    use super::*;

    const LARGE: usize = 8 << 20;

    #[test]
    fn small_blocks_count_as_large_as_they_are() {
        for (asked, given) in [(1, 16), (16, 16), (17, 32), (64, 64), (65, 80), (128, 128), (129, 160), (1025, 1280)] {
            assert_eq!(taken(asked), given, "{asked}");
            let layout = Layout::from_size_align(asked, 1).unwrap();
            // SAFETY: freed with the same layout, looked at in between.
            let usable = unsafe {
                let block = MiMalloc.alloc(layout);
                let usable = libmimalloc_sys::mi_usable_size(block.cast());
                MiMalloc.dealloc(block, layout);
                usable
            };
            assert!(usable as i64 <= given, "{asked}: {usable}");
        }
        assert_eq!(taken(1_000_001), 1_000_001);
    }

    fn near(account: &Account, bytes: usize) -> bool {
        account.held().abs_diff(bytes as u64) < 1 << 20
    }

    #[test]
    fn counts_for_the_account_that_the_thread_works_for() {
        let (outer, inner) = (Arc::new(Account::default()), Arc::new(Account::default()));
        within(Some(&outer), || {
            let mut text = vec![1_u8; LARGE];
            assert!(near(&outer, LARGE));
            text.extend_from_within(..);
            assert!(near(&outer, 2 * LARGE));
            let other = within(Some(&inner), || vec![2_u8; LARGE]);
            let nobodys = within(None, || vec![3_u8; LARGE]);
            assert!(near(&outer, 2 * LARGE) && near(&inner, LARGE));
            drop(nobodys);
            within(Some(&inner), || drop(other));
            assert!(near(&inner, 0));
            drop(text);
        });
        assert!(near(&outer, 0));
    }

    #[test]
    fn other_threads_may_work_for_an_account_and_a_panic_leaves_it() {
        let account = Arc::new(Account::default());
        let kept = std::thread::scope(|threads| {
            let work = || within(Some(&account), || vec![1_u8; LARGE]);
            threads.spawn(work).join().expect("no panic")
        });
        assert!(near(&account, LARGE));
        let panicked = std::panic::catch_unwind(|| within(Some(&account), || std::panic::resume_unwind(Box::new(()))));
        assert!(panicked.is_err());
        drop(kept);
        assert!(near(&account, LARGE), "freed for nobody");
        account.hand_over(LARGE);
        assert!(near(&account, 0));
    }
}
