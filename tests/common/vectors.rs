//! The recorded answers of the reference.

use std::io::Read;
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::{place, skip};

/// Returns the folder of the recorded answers of Overpass API, if it exists; otherwise reports that the test is
/// skipped.
pub fn folder() -> Option<PathBuf> {
    let folder = place::shared().join("conformance/overpass");
    if folder.is_dir() {
        return Some(folder);
    }
    skip::skipped(skip::Need::Shared, format_args!("no vectors in {}", folder.display()));
    None
}

/// Returns the lines of a gzip file of JSON lines.
pub fn lines(path: &Path) -> Vec<Value> {
    let mut text = String::new();
    let file = std::fs::File::open(path).expect("vectors can be opened");
    flate2::read::GzDecoder::new(file).read_to_string(&mut text).expect("vectors are text");
    text.lines().map(|line| serde_json::from_str(line).expect("vectors are JSON")).collect()
}
