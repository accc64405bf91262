//! The snapshot of the shared data's four sets of triples.

use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock};

use terrapin::snapshot::Snapshot;

use super::place::shared;
use super::skip::{Need, skipped};

const FILES: [&str; 4] = ["br-municipalities", "full-entities", "kgtk-arnold", "wd50k"];

/// Returns the snapshot that TERRAPIN_WIKIDATA names. Otherwise the first test that needs it creates one in the build
/// folder. In the development profile that would take minutes, so the test is skipped.
pub fn path() -> Option<PathBuf> {
    static PATH: LazyLock<Option<PathBuf>> = LazyLock::new(|| {
        if let Some(given) = std::env::var_os("TERRAPIN_WIKIDATA") {
            return Some(given.into());
        }
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
        // A snapshot from an older build may lack data that this build writes.
        let path = folder.join(format!("wikidata-{}.terrapin", age()));
        if !path.exists() {
            let rdf: Vec<PathBuf> =
                FILES.iter().map(|name| shared().join(format!("data/wikidata/subset-{name}.nt.gz"))).collect();
            if cfg!(debug_assertions) || !rdf.iter().all(|path| path.exists()) {
                skipped(Need::Shared, "no snapshot of Wikidata's triples (set TERRAPIN_WIKIDATA)");
                return None;
            }
            for old in std::fs::read_dir(folder).into_iter().flatten().flatten() {
                if old.file_name().to_string_lossy().starts_with("wikidata") {
                    let _ = std::fs::remove_file(old.path());
                }
            }
            let new = terrapin::load::LoadOptions::new(path.clone());
            let options = terrapin::load::LoadOptions { rdf, memory: 2 << 30, ..new };
            terrapin::load::load(&options, &terrapin::load::Quiet).expect("it loads");
        }
        Some(path)
    });
    PATH.clone()
}

/// Returns the build time of the program under test in seconds since 1970.
fn age() -> u64 {
    let built = std::fs::metadata(assert_cmd::cargo::cargo_bin("terrapin")).and_then(|file| file.modified());
    built.ok().and_then(|time| time.duration_since(std::time::UNIX_EPOCH).ok()).map_or(0, |time| time.as_secs())
}

/// Opens the snapshot.
#[allow(dead_code, reason = "some tests start processes that open it")]
pub fn snapshot() -> Option<Arc<Snapshot>> {
    Some(Arc::new(Snapshot::open(&path()?).expect("it opens")))
}
