//! What a bus error means here: a file that is mapped into memory, a snapshot above all, became shorter or could not be
//! read any more. There is no way on, but a way to say so.

#![allow(unsafe_code)]

/// The status that the process ends with, as `terrapin --help` says.
const STATUS: i32 = super::Exit::Lost as i32;

const LINE: &[u8] =
    b"terrapin: a file in use, most likely the snapshot, was cut off, overwritten or cannot be read from \
its disk any more (SIGBUS); put the whole file back and start again\n";

/// Sees to it that the process says what happened and ends with a status of its own when a bus error ends it.
#[cfg(unix)]
pub fn say_so() {
    let end = || {
        // SAFETY: write and _exit may be called in a handler of signals, and nothing else is. The bytes are constant.
        unsafe {
            libc::write(libc::STDERR_FILENO, LINE.as_ptr().cast(), LINE.len());
            libc::_exit(STATUS);
        }
    };
    // SAFETY: what runs in the handler is safe to run there, see above; it never returns, so that nothing is touched that
    // the signal may have interrupted. The handler that was there before, which tells overflows of the stack, comes first.
    // Where there is no handler to be had, the process dies of the signal as it would anyway.
    let _ = unsafe { signal_hook_registry::register(libc::SIGBUS, end) };
}

#[cfg(not(unix))]
pub fn say_so() {}
