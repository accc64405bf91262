//! Builds the library that injects faults, with the system's C compiler.

use std::path::PathBuf;
use std::process::Command;
use std::sync::OnceLock;

use crate::common::skip;

/// Returns the library, or skips with a message if there is no compiler or no LD_PRELOAD.
pub fn library() -> Option<&'static PathBuf> {
    static LIBRARY: OnceLock<Option<PathBuf>> = OnceLock::new();
    LIBRARY
        .get_or_init(|| {
            if !cfg!(all(target_os = "linux", target_env = "gnu")) {
                skip::skipped(skip::Need::System, "faults by LD_PRELOAD are for Linux with glibc");
                return None;
            }
            let source = crate::common::place::root().join("tests/faults/shim.c");
            let library = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("faults-{}.so", std::process::id()));
            let built = Command::new("cc")
                .args(["-shared", "-fPIC", "-O1", "-o"])
                .arg(&library)
                .arg(source)
                .arg("-ldl")
                .status();
            match built {
                Ok(status) if status.success() => Some(library),
                _ => {
                    skip::skipped(skip::Need::System, "faults by LD_PRELOAD need a C compiler, cc");
                    None
                }
            }
        })
        .as_ref()
}

/// Injects a fault into a command from the call with number `at` on. Returns false if the library is not available.
pub fn with_fault(command: &mut Command, fault: &str, at: usize) -> bool {
    let Some(library) = library() else { return false };
    command.env("LD_PRELOAD", library).env("FAULT", fault).env("FAULT_AT", at.to_string());
    true
}
