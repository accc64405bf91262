//! Reads elements by id, the order of files. A snapshot has them in curve order, so they are sorted, in temporary
//! files if memory is full.

use rayon::prelude::*;
use terrapin_base::LoadProgress;
use terrapin_base::codec::{ByteReader, put, put_signed};
use terrapin_base::external_sort::{
    self, PayloadSpan, SortRecord, SortRows, Sortable, SortedStream, Sorter, SpillScratch,
};
use terrapin_loaders::pbf::write::ELEMENTS_IN_BLOCK;
use terrapin_loaders::{BlockBuilder, ElementBlock, SourceElement, SourceElementType as Loaded, SourceMeta};
use terrapin_osm::{ElementType, Osm};

use super::ExportError;

/// The number of pages read at once.
const PAGES: u32 = 256;
/// The number of elements taken at once; a block has a multiple of it.
const STEP: usize = 250;
/// The length in bytes at which a block is complete.
const BLOCK_BYTES: usize = 4 << 20;

/// An element of one type. Its payload is all of it except the id.
#[derive(Debug, Clone, Copy, Default)]
struct ExportRow {
    id: i64,
    span: PayloadSpan,
}

impl SortRecord for ExportRow {
    fn write(&self, previous: &ExportRow, out: &mut Vec<u8>) {
        external_sort::put_fields(out, [previous.id], [self.id]);
    }

    fn read(reader: &mut ByteReader<'_>, previous: &ExportRow) -> Option<ExportRow> {
        let [id] = external_sort::get_fields(reader, [previous.id])?;
        Some(ExportRow { id, span: PayloadSpan::default() })
    }

    fn span(&self) -> PayloadSpan {
        self.span
    }

    fn set_span(&mut self, span: PayloadSpan) {
        self.span = span;
    }
}

/// Sorts like other programs: negative ids first, which editors use, in descending order.
impl Sortable for ExportRow {
    type Key = (bool, u64);

    fn key(&self) -> (bool, u64) {
        (self.id > 0, self.id.unsigned_abs())
    }
}

/// Reads the elements of a type by id. `work` converts blocks of some thousand elements in parallel; `consume`
/// receives the results in order on the calling thread.
pub fn by_id<T: Send>(
    osm: &Osm,
    kind: ElementType,
    scratch: &SpillScratch,
    progress: &dyn LoadProgress,
    work: impl Fn(&ElementBlock) -> Result<T, ExportError> + Sync,
    mut consume: impl FnMut(T) -> Result<(), ExportError>,
) -> Result<(), ExportError> {
    let mut sorter = Sorter::new(scratch);
    let pages = osm.page_count(kind);
    progress.phase(&format!("sorting {}s", kind.name()), pages.into());
    for first in (0..pages).step_by(PAGES as usize) {
        let some = first..pages.min(first.saturating_add(PAGES));
        progress.advance(some.len() as u64);
        let rows = some.into_par_iter().map(|page| rows(&osm.block(kind, &[page], |_, _| true)));
        let rows: Vec<SortRows<ExportRow>> = rows.collect::<Result<_, _>>()?;
        rows.iter().try_for_each(|rows| sorter.append(rows.view()))?;
    }
    osm.check()?;
    progress.phase(&format!("writing {}s", kind.name()), sorter.len());
    let sorted = sorter.finish()?;
    let mut stream = sorted.stream();
    loop {
        let under_way = 2 * rayon::current_num_threads();
        let blocks: Vec<SortRows<ExportRow>> = (0..under_way).map(|_| next(&mut stream)).collect::<Result<_, _>>()?;
        if blocks.iter().all(|rows| rows.records.is_empty()) {
            return Ok(());
        }
        let filled = blocks.par_iter().filter(|rows| !rows.records.is_empty());
        let made: Vec<T> = filled.map(|rows| work(&block(kind, rows))).collect::<Result<_, _>>()?;
        made.into_iter().try_for_each(&mut consume)?;
        progress.advance(blocks.iter().map(|rows| rows.records.len() as u64).sum());
    }
}

/// Returns the next block of elements.
fn next(stream: &mut SortedStream<'_, ExportRow>) -> Result<SortRows<ExportRow>, ExportError> {
    let mut rows = SortRows::default();
    while rows.records.len() < ELEMENTS_IN_BLOCK && rows.payload.len() < BLOCK_BYTES {
        let some = stream.take(STEP)?;
        if some.records.is_empty() {
            break;
        }
        rows.append(some);
    }
    Ok(rows)
}

/// Returns a page's elements with their payloads.
fn rows(block: &ElementBlock) -> Result<SortRows<ExportRow>, ExportError> {
    let (mut rows, mut payload) = (SortRows::default(), Vec::new());
    let read = block.for_each(|element| {
        payload.clear();
        let id = encode(&mut payload, &element);
        rows.push(ExportRow { id, span: PayloadSpan::default() }, &payload);
    });
    // The block was built in memory and is complete.
    debug_assert!(read.is_ok());
    Ok(rows)
}

/// Rebuilds a block from elements.
fn block(kind: ElementType, rows: &SortRows<ExportRow>) -> ElementBlock {
    let mut block = BlockBuilder::default();
    for row in &rows.records {
        let decoded = decode(&mut ByteReader::new(rows.payload(row)), kind, row.id, &mut block);
        // Reading temporary files detects their damage.
        debug_assert!(decoded.is_some());
    }
    block.finish()
}

fn put_text(out: &mut Vec<u8>, text: &str) {
    put(out, text.len() as u64);
    out.extend_from_slice(text.as_bytes());
}

/// Appends an element without its id to `out` and returns the id.
fn encode(out: &mut Vec<u8>, element: &SourceElement<'_>) -> i64 {
    let (id, tags, meta) = match element {
        SourceElement::Node(node) => (node.id, node.tags, node.meta),
        SourceElement::Way(way) => (way.id, way.tags, way.meta),
        SourceElement::Relation(relation) => (relation.id, relation.tags, relation.meta),
    };
    out.push(meta.is_some().into());
    if let Some(meta) = meta {
        put(out, meta.version.into());
        [meta.timestamp, meta.changeset, meta.uid].into_iter().for_each(|number| put_signed(out, number));
        put_text(out, meta.user);
    }
    match element {
        SourceElement::Node(node) => [node.lat, node.lon].into_iter().for_each(|side| put_signed(out, side.into())),
        SourceElement::Way(way) => {
            put(out, way.refs.len() as u64);
            let mut previous = 0;
            way.refs.iter().for_each(|&id| terrapin_base::codec::put_delta(out, &mut previous, id));
        }
        SourceElement::Relation(relation) => {
            put(out, relation.members.len() as u64);
            for member in relation.members {
                out.push(member.kind as u8);
                put_signed(out, member.id);
                put_text(out, member.role);
            }
        }
    }
    put(out, tags.len() as u64);
    for (key, value) in tags {
        put_text(out, key);
        put_text(out, value);
    }
    id
}

fn get_text<'a>(reader: &mut ByteReader<'a>) -> Option<&'a str> {
    let len = usize::try_from(reader.get()?).ok()?;
    std::str::from_utf8(reader.take(len)?).ok()
}

fn get_kind(reader: &mut ByteReader<'_>) -> Option<Loaded> {
    match reader.take(1)? {
        [0] => Some(Loaded::Node),
        [1] => Some(Loaded::Way),
        [2] => Some(Loaded::Relation),
        _ => None,
    }
}

/// Adds an element written by [`encode`] to a block.
fn decode(reader: &mut ByteReader<'_>, kind: ElementType, id: i64, block: &mut BlockBuilder) -> Option<()> {
    let meta = match reader.take(1)? {
        [0] => None,
        _ => Some(SourceMeta {
            version: u32::try_from(reader.get()?).ok()?,
            timestamp: reader.get_signed()?,
            changeset: reader.get_signed()?,
            uid: reader.get_signed()?,
            user: get_text(reader)?,
            visible: true,
        }),
    };
    let mut position = (0, 0);
    let loaded = match kind {
        ElementType::Node => {
            let mut side = || i32::try_from(reader.get_signed()?).ok();
            position = (side()?, side()?);
            Loaded::Node
        }
        ElementType::Way => {
            let mut previous = 0;
            for _ in 0..reader.get()? {
                block.node(reader.get_delta(&mut previous)?);
            }
            Loaded::Way
        }
        ElementType::Relation => {
            for _ in 0..reader.get()? {
                block.member(get_kind(reader)?, reader.get_signed()?, get_text(reader)?);
            }
            Loaded::Relation
        }
    };
    for _ in 0..reader.get()? {
        block.tag(get_text(reader)?, get_text(reader)?);
    }
    block.end(loaded, id, position, meta);
    Some(())
}
