//! The `terrapin` command. Its code is in the library, in `cli`.

use std::process::ExitCode;

use git_version::git_version;

/// The commit given to a build outside of a clone, such as one in a container.
const GIVEN: Option<&str> = option_env!("TERRAPIN_COMMIT");

fn main() -> ExitCode {
    // Computed here instead of in the library, so that a build of another commit only recompiles these lines.
    let found = git_version!(args = ["--always", "--exclude=*", "--abbrev=12"], fallback = "");
    terrapin::cli::main(GIVEN.unwrap_or(found))
}
