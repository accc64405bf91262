//! The command line of the program, for the command `terrapin` of the package: the same code as the program's, once.

use std::ffi::OsString;
use std::io::Write;

use pyo3::prelude::*;

/// The commit given to the build, for `terrapin --version`.
const COMMIT: Option<&str> = option_env!("TERRAPIN_COMMIT");

/// Runs the command of `arguments`, the first of which is the name of the program, and returns its exit status.
#[pyfunction]
pub fn run_command_line(python: Python<'_>, arguments: Vec<OsString>) -> u8 {
    python.detach(|| {
        let status = terrapin::cli::run_command_line(COMMIT.unwrap_or_default(), arguments);
        // A program in Rust does this at its end; Python does not know Rust's buffer.
        let _ = std::io::stdout().flush();
        status as u8
    })
}
