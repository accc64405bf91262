//! Checks the content of real files.

use crate::{place, skip};
use std::path::PathBuf;
use terrapin_loaders::{LoaderError, ReadOptions, SourceElement, SourceHeader, header, read};

/// Returns the path of a real extract, if it exists.
fn extract(name: &str) -> Option<PathBuf> {
    let shared = place::shared();
    let path = shared.join("data/osm").join(name);
    if !path.exists() {
        skip::skipped(skip::Need::Shared, format_args!("no {name}"));
        return None;
    }
    Some(path)
}

/// Counts nodes, ways and relations, and checks that reading the header alone gives the same as reading the whole file.
fn counts(name: &str) -> Option<([u64; 3], SourceHeader)> {
    let path = extract(name)?;
    let mut sum = [0; 3];
    let mut last = 0;
    let result = read::<_, LoaderError>(
        &path,
        &ReadOptions::default(),
        |block| {
            let mut counts = [0; 3];
            block.for_each(|element| match element {
                SourceElement::Node(_) => counts[0] += 1,
                SourceElement::Way(_) => counts[1] += 1,
                SourceElement::Relation(_) => counts[2] += 1,
            })?;
            Ok(counts)
        },
        |counts, progress| {
            assert!(progress.bytes_read > last && progress.bytes_read <= progress.bytes_total);
            last = progress.bytes_read;
            sum = [sum[0] + counts[0], sum[1] + counts[1], sum[2] + counts[2]];
            Ok(())
        },
    );
    let head = result.unwrap();
    assert_eq!(last, std::fs::metadata(&path).unwrap().len());
    assert_eq!(header(&path).unwrap(), head);
    Some((sum, head))
}

#[test]
fn counts_of_real_extracts() {
    for (name, expected) in [
        ("niue.osm.pbf", [41_816, 3_007, 125]),
        ("niue.osh.pbf", [61_628, 4_728, 197]),
        ("monaco.osm.pbf", [41_361, 6_180, 346]),
        ("monaco-planetiler-lz4.osm.pbf", [25_423, 4_106, 243]),
        ("malta-2016.osm.pbf", [252_937, 40_028, 527]),
        ("malta-2024.osm.pbf", [540_026, 89_991, 1_674]),
        ("patchwork-world.osm.pbf", [6_613_945, 853_675, 13_621]),
    ] {
        if let Some((counts, header)) = counts(name) {
            assert_eq!(counts, expected, "{name}");
            assert_eq!(header.history, name.ends_with(".osh.pbf"), "{name}");
        }
    }
}

#[test]
fn the_header_of_a_real_extract() {
    let Some(path) = extract("malta-2024.osm.pbf") else { return };
    let expected = SourceHeader {
        bbox: Some([355_198_500, 138_153_770, 363_329_580, 148_560_990]),
        replication_timestamp: Some(1_710_364_872),
        replication_sequence: Some(3996),
        replication_url: Some("http://download.geofabrik.de/europe/malta-updates".to_owned()),
        writing_program: Some("osmium/1.14.0".to_owned()),
        history: false,
        warnings: Vec::new(),
    };
    assert_eq!(header(&path).unwrap(), expected);
}
