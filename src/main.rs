//! The `terrapin` command. Everything it does is in the library, in `cli`.

use std::process::ExitCode;

fn main() -> ExitCode {
    terrapin::cli::main()
}
