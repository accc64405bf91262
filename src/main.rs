//! The `terrapin` command. Everything it does is in the library, in `cli`.

use std::process::ExitCode;

fn main() -> ExitCode {
    // Read here, so that a build of another commit compiles nothing but these lines anew.
    terrapin::cli::main(option_env!("TERRAPIN_COMMIT"))
}
