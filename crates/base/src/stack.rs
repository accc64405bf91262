//! The stacks of our threads. Queries are read, planned, run and freed by recursion, whose depth is bounded where their
//! trees are made; here stands what that depth may take.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::thread::Builder;

use terrapin_budget::{self as budget, Stopped};

/// Bytes of stack of every thread that reads, runs or frees queries: the least that any has. The deepest queries take a
/// part of it, also in a build without optimisation, where a level takes some 30 KB. What is not touched takes no memory.
pub const STACK: usize = 64 << 20;

/// Runs the process's work on a thread with [`STACK`], whatever the limit of the main thread's stack is, and gives the
/// threads of the global pool as much.
///
/// # Errors
/// The machine gives no thread.
pub fn main<T: Send>(work: impl FnOnce() -> T + Send) -> std::io::Result<T> {
    // Where there is a global pool already it is somebody else's.
    let _ = rayon::ThreadPoolBuilder::new().stack_size(STACK).build_global();
    std::thread::scope(|scope| {
        let thread = Builder::new().name("terrapin".to_owned()).stack_size(STACK).spawn_scoped(scope, work)?;
        Ok(thread.join().unwrap_or_else(|panic| resume_unwind(panic)))
    })
}

/// Does work that may panic; where it does, what the panic says is the error. A bound that is reached goes on to whoever
/// watches it.
///
/// # Errors
/// The work panicked.
pub fn caught<T>(work: impl FnOnce() -> T) -> Result<T, String> {
    catch_unwind(AssertUnwindSafe(work)).map_err(|panic| match budget::caught(&*panic) {
        Stopped::Panicked(message) => format!("internal error: {message}"),
        Stopped::Exceeded(_) => resume_unwind(panic),
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
        // Far more than a thread has if nobody says how much.
        fn deep(left: usize) -> u8 {
            let room = std::hint::black_box([1_u8; 64 << 10]);
            if left == 0 { room[0] } else { deep(left - 1).max(std::hint::black_box(room)[1]) }
        }
        assert_eq!(main(|| deep(150)).unwrap(), 1);
    }
}
