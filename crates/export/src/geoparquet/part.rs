//! Writes one file.

use std::fs::{self, File};
use std::io::BufWriter;
use std::sync::Arc;

use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, ZstdLevel};
use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;
use serde_json::json;
use terrapin_base::LoadProgress;
use terrapin_osm::{ElementType, Osm};

use super::geometry::degrees;
use super::rows::{GeoParquetRows, schema};
use super::{GeoParquetError, ParquetFilePart};

/// Writes a file with row groups of a number of pages. Returns its type, rows and bytes.
pub(super) fn write(
    osm: &Osm,
    part: &ParquetFilePart,
    group: u32,
    progress: &dyn LoadProgress,
) -> Result<(ElementType, u64, u64), GeoParquetError> {
    let unfinished = part.path.with_extension("part");
    let failed = |source| GeoParquetError::File { path: unfinished.clone(), source };
    let broken = |source: ParquetError| GeoParquetError::Parquet { path: part.path.clone(), source };
    let file = File::create(&unfinished).map_err(failed)?;
    let schema = Arc::new(schema(part.kind));
    let properties = WriterProperties::builder()
        .set_created_by("terrapin".to_owned())
        .set_compression(Compression::ZSTD(ZstdLevel::default()))
        .set_max_row_group_row_count(None)
        .build();
    let writer = ArrowWriter::try_new(BufWriter::new(file), schema.clone(), Some(properties));
    let mut writer = writer.map_err(broken)?;
    let (mut rows, mut count) = (GeoParquetRows::new(osm, part.kind), 0);
    for first in part.pages.clone().step_by(group as usize) {
        for page in first..part.pages.end.min(first.saturating_add(group)) {
            rows.page(page).map_err(|e| broken(e.into()))?;
            progress.advance(1);
        }
        let batch = rows.take(&schema).map_err(|e| broken(e.into()))?;
        count += batch.num_rows() as u64;
        writer.write(&batch).and_then(|()| writer.flush()).map_err(broken)?;
    }
    writer.append_key_value_metadata(KeyValue::new("geo".to_owned(), metadata(&rows)));
    writer.append_key_value_metadata(KeyValue::new("licence".to_owned(), LICENCE.to_owned()));
    let mut file = writer.into_inner().map_err(broken)?;
    std::io::Write::flush(&mut file).map_err(failed)?;
    let file = file.into_inner().map_err(|e| failed(e.into_error()))?;
    file.sync_all().map_err(failed)?;
    let bytes = file.metadata().map_err(failed)?.len();
    fs::rename(&unfinished, &part.path).map_err(failed)?;
    Ok((part.kind, count, bytes))
}

/// The licence of the data.
const LICENCE: &str = "ODbL-1.0, © OpenStreetMap contributors";

/// Returns the metadata of the geometry column: <https://geoparquet.org/releases/v1.1.0/schema.json>.
fn metadata(rows: &GeoParquetRows<'_>) -> String {
    let b = rows.bounds;
    let corner = |name: &str| json!(["bbox", name]);
    let mut geometry = json!({
        "encoding": "WKB",
        "geometry_types": rows.types,
        "edges": "planar",
        "covering": {"bbox": {
            "xmin": corner("xmin"), "ymin": corner("ymin"), "xmax": corner("xmax"), "ymax": corner("ymax"),
        }},
    });
    if !b.is_empty() {
        geometry["bbox"] = json!([b.west, b.south, b.east, b.north].map(degrees));
    }
    json!({"version": "1.1.0", "primary_column": "geometry", "columns": {"geometry": geometry}}).to_string()
}
