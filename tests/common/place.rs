//! Where things lie.

use std::path::{Path, PathBuf};

/// The checkout: where cargo says that it tests, which is not where a binary was built if checkouts share a target folder.
pub fn root() -> PathBuf {
    let package =
        std::env::var_os("CARGO_MANIFEST_DIR").map_or_else(|| env!("CARGO_MANIFEST_DIR").into(), PathBuf::from);
    let root = package.ancestors().find(|folder| folder.join("Cargo.lock").exists());
    root.map_or_else(|| package.clone(), Path::to_owned)
}

/// The folder of shared data, which need not be there: TERRAPIN_SHARED, or the one beside the checkout.
#[allow(dead_code, reason = "each test uses some of it")]
pub fn shared() -> PathBuf {
    std::env::var_os("TERRAPIN_SHARED").map_or_else(|| root().join("../shared"), PathBuf::from)
}
