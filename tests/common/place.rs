//! Paths of the checkout and of the shared data.

use std::path::{Path, PathBuf};

/// Returns the root of the checkout under test, as cargo reports it. A binary may have been built elsewhere if
/// checkouts share a target folder.
pub fn root() -> PathBuf {
    let package =
        std::env::var_os("CARGO_MANIFEST_DIR").map_or_else(|| env!("CARGO_MANIFEST_DIR").into(), PathBuf::from);
    let root = package.ancestors().find(|folder| folder.join("Cargo.lock").exists());
    root.map_or_else(|| package.clone(), Path::to_owned)
}

/// Returns the folder of shared data, which may not exist: TERRAPIN_SHARED, or `shared` next to the checkout.
#[allow(dead_code, reason = "each test uses some of it")]
pub fn shared() -> PathBuf {
    std::env::var_os("TERRAPIN_SHARED").map_or_else(|| root().join("../shared"), PathBuf::from)
}
