//! Handles SIGBUS: a file mapped into memory, usually the snapshot, was truncated or became unreadable. The process
//! cannot continue, but it can report why.

#![allow(unsafe_code)]

/// The exit status, as `terrapin --help` lists it.
const STATUS: i32 = super::Exit::Lost as i32;

const LINE: &[u8] =
    b"terrapin: a file in use, probably the snapshot, was truncated, overwritten or cannot be read from \
its disk any more (SIGBUS); restore the file and start again\n";

/// Installs a handler that prints the reason and exits with a status of its own.
#[cfg(unix)]
pub fn say_so() {
    let end = || {
        // SAFETY: the handler calls only write and _exit, which are async-signal-safe. The bytes are constant.
        unsafe {
            libc::write(libc::STDERR_FILENO, LINE.as_ptr().cast(), LINE.len());
            libc::_exit(STATUS);
        }
    };
    // SAFETY: the handler calls only async-signal-safe functions, see above, and never returns, so it touches no
    // interrupted state. The previous handler, which reports stack overflows, runs first. If no handler can be
    // installed, the signal ends the process as without one.
    let _ = unsafe { signal_hook_registry::register(libc::SIGBUS, end) };
}

#[cfg(not(unix))]
pub fn say_so() {}
