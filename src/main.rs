//! The `terrapin` command. Everything it does is in the library, in `cli`.

use std::process::ExitCode;

use git_version::git_version;

/// The commit that a build outside of a clone names, such as one in a container.
const GIVEN: Option<&str> = option_env!("TERRAPIN_COMMIT");

fn main() -> ExitCode {
    // Found here and not in the library, so that a build of another commit compiles these lines alone anew.
    let found = git_version!(args = ["--always", "--exclude=*", "--abbrev=12"], fallback = "");
    terrapin::cli::main(GIVEN.unwrap_or(found))
}
