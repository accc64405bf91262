//! The facts of a snapshot as JSON.

use serde_json::json;

use super::{Manifest, hex};

/// Returns the manifest's facts; checksums are in hexadecimal.
pub fn to_json(digest: &str, bytes: u64, manifest: &Manifest) -> serde_json::Value {
    let sections: Vec<_> = manifest
        .sections
        .iter()
        .map(|s| json!({"name": s.name, "offset": s.offset, "bytes": s.len, "blake3": hex(&s.checksum)}))
        .collect();
    json!({
        "digest": digest,
        "content": manifest.content.map(|content| hex(&content)),
        "bytes": bytes,
        "format_version": manifest.format_version,
        "writer": manifest.writer,
        "sources": manifest.sources,
        "counts": manifest.counts,
        "triples": manifest.triples.map(|t| json!({
            "triples": t.triples,
            "terms": t.terms,
            "predicates": t.predicates,
            "newest": time(t.newest),
        })),
        "bounding_box": manifest.bounding_box.map(|b| b.map(degrees)),
        "replication_timestamp": time(manifest.replication_timestamp),
        "data_timestamp": time(manifest.data_timestamp),
        "areas": manifest.areas,
        "remarks": manifest.remarks,
        "sections": sections,
    })
}

/// Converts 1e-7 degrees to degrees.
pub fn degrees(side: i32) -> f64 {
    f64::from(side) / 1e7
}

/// Formats a time in seconds since 1970; `None` for 0, which means unknown.
pub fn time(seconds: i64) -> Option<String> {
    (seconds != 0).then(|| jiff::Timestamp::from_second(seconds).ok()).flatten().map(|t| t.to_string())
}
