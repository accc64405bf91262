//! `terrapin export --geoparquet`: a folder of files for distributed query engines.

use std::path::Path;
use std::sync::Arc;

use serde_json::json;

use super::progress::Shown;
use super::{CommandError, open, stdout};
use crate::engine::Engine;
use crate::export::geoparquet::{self, GeoParquetError, GeoParquetOptions};
use crate::load::{LoadProgress, Quiet};
use crate::size::{self, count};

/// Writes the elements of a snapshot to files in `folder`.
pub fn write(engine: &Engine, folder: &Path, as_json: bool) -> Result<(), CommandError> {
    let shown = (!as_json).then(|| Arc::new(Shown::new()));
    let progress: &dyn LoadProgress = shown.as_deref().map_or(&Quiet, |shown| shown);
    crate::allocator::prepare_for_arrays();
    let written = geoparquet::write(engine.osm(), folder, GeoParquetOptions::default(), progress);
    if let Some(shown) = &shown {
        shown.finish();
    }
    let written = written.map_err(error)?;
    let [nodes, ways, relations] = written.rows;
    if as_json {
        let snapshot = engine.digest();
        return stdout::print_json(&json!({"snapshot": snapshot, "files": written.files, "bytes": written.bytes,
            "nodes": nodes, "ways": ways, "relations": relations}));
    }
    let (folder, files, bytes) = (folder.display(), written.files, size::show(written.bytes));
    let [nodes, ways, relations] = [nodes, ways, relations].map(count);
    stdout::print(&format!("{folder}: {bytes} in {files} files, {nodes} nodes, {ways} ways, {relations} relations\n"))
}

fn error(error: GeoParquetError) -> CommandError {
    match error {
        GeoParquetError::Snapshot(error) => open::error(error),
        GeoParquetError::NotEmpty(_) => CommandError::usage(error),
        other => CommandError::system("output", other),
    }
}
