//! `terrapin --version` and `terrapin version`: version, commit, features and snapshot formats.

use std::sync::OnceLock;

use super::features;
use crate::snapshot::{FORMAT_VERSION, OLDEST_FORMAT};

/// The commit that the program was built from, if its build found one.
static COMMIT: OnceLock<&'static str> = OnceLock::new();

/// Stores the commit for `long`.
pub fn keep(commit: &'static str) {
    let _ = COMMIT.set(if commit.is_empty() { "unknown" } else { commit });
}

/// Returns the version, commit, features and snapshot formats, a line each.
pub fn long() -> String {
    format!(
        "{}\ncommit            {}\nfeatures          {}\nsnapshot formats  writes {FORMAT_VERSION}, reads {OLDEST_FORMAT} to {FORMAT_VERSION}",
        env!("CARGO_PKG_VERSION"),
        COMMIT.get().unwrap_or(&"unknown"),
        features::list(),
    )
}
