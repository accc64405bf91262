//! `terrapin --version` and `terrapin version`: version, commit, target, features and snapshot formats.

use std::sync::OnceLock;

use super::features;
use crate::snapshot::{FORMAT_VERSION, OLDEST_FORMAT};

/// The commit that the program was built from, if its build found one.
static COMMIT: OnceLock<&'static str> = OnceLock::new();

/// Stores the commit for `long`.
pub fn keep(commit: &'static str) {
    let _ = COMMIT.set(if commit.is_empty() { "unknown" } else { commit });
}

/// Returns the version, commit, target, features and snapshot formats, a line each.
pub fn long() -> String {
    format!(
        "{}\ncommit            {}\ntarget            {}\nfeatures          {}\nsnapshot formats  writes {FORMAT_VERSION}, reads {OLDEST_FORMAT} to {FORMAT_VERSION}",
        env!("CARGO_PKG_VERSION"),
        COMMIT.get().unwrap_or(&"unknown"),
        target(),
        features::list(),
    )
}

/// Returns processor, system and C library of the build, such as `x86_64-linux-musl`.
fn target() -> String {
    let library = if cfg!(target_env = "musl") {
        "-musl"
    } else if cfg!(target_env = "gnu") {
        "-gnu"
    } else {
        ""
    };
    format!("{}-{}{library}", std::env::consts::ARCH, std::env::consts::OS)
}
