//! `terrapin --version` and `terrapin version`: what this program is.

use std::sync::OnceLock;

use crate::snapshot::{FORMAT_VERSION, OLDEST_FORMAT};

/// The commit that the program was built from, where its build was told.
static COMMIT: OnceLock<&'static str> = OnceLock::new();

/// Keeps the commit.
pub fn keep(commit: Option<&'static str>) {
    let _ = COMMIT.set(commit.filter(|commit| !commit.is_empty()).unwrap_or("unknown"));
}

/// What stands behind the name.
pub fn long() -> String {
    let features = if cfg!(feature = "cache") { "cache" } else { "none" };
    format!(
        "{}\ncommit            {}\nfeatures          {features}\nsnapshot formats  writes {FORMAT_VERSION}, reads {OLDEST_FORMAT} to {FORMAT_VERSION}",
        env!("CARGO_PKG_VERSION"),
        COMMIT.get().unwrap_or(&"unknown"),
    )
}
