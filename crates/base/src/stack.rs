//! The stack size of all threads. Queries are parsed, planned, run and freed by recursion. Its depth is limited where
//! the trees are built; this module defines the stack size for that depth.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::thread::Builder;

use terrapin_budget::{self as budget, StopReason};

/// Stack size in bytes of every thread that parses, runs or frees queries. The deepest queries need only a part of it,
/// even in a build without optimization, where a level takes about 30 KB. Untouched stack takes no memory.
pub const STACK: usize = 64 << 20;

/// Runs the process's work on a thread with a stack of [`STACK`] bytes, whatever the limit of the main thread's stack,
/// and gives the threads of the global pool the same size.
///
/// # Errors
/// Returns an error if no thread can be started.
pub fn main<T: Send>(work: impl FnOnce() -> T + Send) -> std::io::Result<T> {
    // If a global pool already exists, it belongs to other code.
    let _ = rayon::ThreadPoolBuilder::new().stack_size(STACK).build_global();
    std::thread::scope(|scope| {
        let thread = Builder::new().name("terrapin".to_owned()).stack_size(STACK).spawn_scoped(scope, work)?;
        Ok(thread.join().unwrap_or_else(|panic| resume_unwind(panic)))
    })
}

/// Runs work that may panic, and returns the panic's message as the error. The panic for a reached limit is passed on
/// to the code that watches the budget.
///
/// # Errors
/// Returns an error if the work panics.
pub fn caught<T>(work: impl FnOnce() -> T) -> Result<T, String> {
    catch_unwind(AssertUnwindSafe(work)).map_err(|panic| match budget::caught(&*panic) {
        StopReason::Panicked(message) => format!("internal error: {message}"),
        StopReason::Exceeded(_) => resume_unwind(panic),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_says_why() {
        assert_eq!(caught(|| 1), Ok(1));
        assert_eq!(caught(|| -> i32 { panic!("number {}", 7) }), Err("internal error: number 7".to_owned()));
    }

    #[test]
    fn work_has_its_stack() {
        // Much more than the default stack of a thread.
        fn deep(left: usize) -> u8 {
            let room = std::hint::black_box([1_u8; 64 << 10]);
            if left == 0 { room[0] } else { deep(left - 1).max(std::hint::black_box(room)[1]) }
        }
        assert_eq!(main(|| deep(150)).unwrap(), 1);
    }
}
