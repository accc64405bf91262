//! Writes elements as PBF and XML, by type and id.

use std::io::Write;

use terrapin_base::LoadProgress;
use terrapin_base::external_sort::SpillScratch;
use terrapin_loaders::pbf::write::{self, BlockWriter, Compression};
use terrapin_loaders::{ElementBlock, SourceElement, SourceHeader, xml};
use terrapin_osm::{ElementType, Osm};

use super::ExportError;
use super::by_id::by_id;

/// The length in bytes at which a PBF block is complete. Readers reject blocks over 32 MiB.
const FULL: usize = 16 << 20;
/// The maximum length of a block in bytes.
const MOST: usize = 32 << 20;

/// Writes all elements as PBF.
///
/// # Errors
/// The snapshot is damaged, or a temporary file or the output fails.
pub fn pbf(
    osm: &Osm,
    compression: Compression,
    scratch: &SpillScratch,
    out: &mut dyn Write,
    progress: &dyn LoadProgress,
) -> Result<(), ExportError> {
    out.write_all(&write::header(&header(osm), true, compression)).map_err(ExportError::Output)?;
    for kind in ElementType::ALL {
        let work = |block: &ElementBlock| blobs(block, compression);
        by_id(osm, kind, scratch, progress, work, |blobs| out.write_all(&blobs).map_err(ExportError::Output))?;
    }
    out.flush().map_err(ExportError::Output)
}

/// Writes all elements as XML.
///
/// # Errors
/// Those of [`pbf`], and a character that XML lacks.
pub fn xml(
    osm: &Osm,
    scratch: &SpillScratch,
    out: &mut dyn Write,
    progress: &dyn LoadProgress,
) -> Result<(), ExportError> {
    let mut put = |text: String| out.write_all(text.as_bytes()).map_err(ExportError::Output);
    put(xml::write::header(&header(osm)))?;
    for kind in ElementType::ALL {
        by_id(osm, kind, scratch, progress, text, &mut put)?;
    }
    put(xml::write::END.to_owned())?;
    out.flush().map_err(ExportError::Output)
}

/// Returns the header of the file. It does not depend on the machine or the clock, so that the bytes are always the
/// same.
fn header(osm: &Osm) -> SourceHeader {
    let manifest = osm.snapshot().manifest();
    SourceHeader {
        bbox: manifest.and_then(|manifest| manifest.bounding_box),
        replication_timestamp: manifest.map(|manifest| manifest.replication_timestamp).filter(|time| *time != 0),
        writing_program: Some(terrapin_snapshot::writer_name()),
        ..SourceHeader::default()
    }
}

fn name(element: &SourceElement<'_>) -> (ElementType, i64) {
    match element {
        SourceElement::Node(node) => (ElementType::Node, node.id),
        SourceElement::Way(way) => (ElementType::Way, way.id),
        SourceElement::Relation(relation) => (ElementType::Relation, relation.id),
    }
}

/// Encodes a block as one blob, or more if its elements are very large.
fn blobs(block: &ElementBlock, compression: Compression) -> Result<Vec<u8>, ExportError> {
    let (mut out, mut writer, mut failed) = (Vec::new(), BlockWriter::new(false), None);
    let read = block.for_each(|element| {
        let before = writer.bytes();
        writer.push(&element);
        if writer.bytes() - before > MOST {
            let (kind, id) = name(&element);
            failed.get_or_insert(ExportError::Size { kind, id });
        }
        if writer.bytes() > FULL {
            out.extend(std::mem::replace(&mut writer, BlockWriter::new(false)).finish(compression));
        }
    });
    debug_assert!(read.is_ok(), "a block in memory");
    if !writer.is_empty() {
        out.extend(writer.finish(compression));
    }
    failed.map_or(Ok(out), Err)
}

/// Formats the elements of a block as XML.
fn text(block: &ElementBlock) -> Result<String, ExportError> {
    let (mut out, mut failed) = (String::new(), None);
    let read = block.for_each(|element| {
        if failed.is_none() && xml::write::element(&mut out, &element).is_none() {
            let (kind, id) = name(&element);
            failed = Some(ExportError::Character { kind, id });
        }
    });
    debug_assert!(read.is_ok(), "a block in memory");
    failed.map_or(Ok(out), Err)
}
