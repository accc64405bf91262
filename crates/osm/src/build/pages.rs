//! Encodes pages in parallel, in the order of their elements. The sections are consecutive in the file, therefore pages
//! wait in temporary files until all pages of a type are encoded.

use std::ops::Range;

use rayon::prelude::*;
use terrapin_base::external_sort::{PieceFile, PiecesWriter, RowsView, Sortable, Sorted, SortedStream, Sorter};
use terrapin_budget as budget;
use terrapin_snapshot::{BoxesWriter, ColumnWriter, Error, PageWriter, SnapshotWriter, compress, ordered};

use super::payload::get_tags;
use super::records::{ElementRecord, ParentLink, Placed, Posting};
use super::{BuildContext, ElementBuildError};
use crate::layout::{self, PageSection};
use crate::page::{self, PageLists};
use crate::{BoundingBox, Coord, ElementType, MetaRef, hilbert};

/// Pages encoded at once.
const PAGES: usize = 512;

/// zstd only fails for want of memory.
pub fn compressed(content: &[u8], level: i32) -> Result<Vec<u8>, ElementBuildError> {
    compress(content, level).map_err(|e| Error::damaged("compression", e.to_string()).into())
}

/// Returns a box as four numbers.
pub fn corners(b: &BoundingBox) -> [i32; 4] {
    [b.south, b.west, b.north, b.east]
}

/// Returns the place of a box's middle along the curve; the highest value if the box is empty, so that it sorts last.
pub fn middle(b: &BoundingBox) -> u64 {
    if b.is_empty() {
        return u64::MAX;
    }
    let half = |a: i32, b: i32| ((i64::from(a) + i64::from(b)).div_euclid(2)) as i32;
    hilbert::key(Coord { lat: half(b.south, b.north), lon: half(b.west, b.east) })
}

/// An element in its place.
pub trait InPlace: Sortable {
    /// Returns the element.
    fn element(&self) -> &ElementRecord;
    /// Its box.
    fn area(&self) -> BoundingBox;
}

impl InPlace for ElementRecord {
    fn element(&self) -> &ElementRecord {
        self
    }

    fn area(&self) -> BoundingBox {
        let mut area = BoundingBox::EMPTY;
        area.extend(hilbert::position(self.key));
        area
    }
}

impl InPlace for Placed {
    fn element(&self) -> &ElementRecord {
        &self.element
    }

    fn area(&self) -> BoundingBox {
        let [south, west, north, east] = self.corners;
        BoundingBox { south, west, north, east }
    }
}

/// The pages of a type's elements, in their order.
pub struct ElementPages {
    count: u64,
    core: PieceFile,
    meta: PieceFile,
    tags: PieceFile,
    /// The box of each page.
    boxes: Vec<BoundingBox>,
    /// The tags of all.
    pub postings: Sorted<Posting>,
}

impl ElementPages {
    /// Returns the number of elements.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Returns the box of all elements.
    pub fn area(&self) -> BoundingBox {
        let mut all = BoundingBox::EMPTY;
        self.boxes.iter().for_each(|area| all.union(area));
        all
    }
}

/// A page that is encoded and not written yet: its parts as bytes, its box, and its postings.
struct Encoded<R> {
    core: Vec<u8>,
    meta: Vec<u8>,
    tags: Vec<u8>,
    area: BoundingBox,
    postings: Vec<Posting>,
    besides: R,
}

/// Encodes the pages of a type. `prepare` is called in order and returns a value for every element of some pages, or no
/// values. `encode` gets a page, its first ordinal and the prepared values; it returns the page's main content and a
/// second result. `each` receives the second results in order.
pub fn write_pages<T: InPlace, M: Sync, R: Send>(
    context: &BuildContext<'_>,
    kind: ElementType,
    elements: &Sorted<T>,
    mut prepare: impl FnMut(RowsView<'_, T>) -> Result<Vec<M>, ElementBuildError>,
    encode: impl Fn(RowsView<'_, T>, u64, &[M]) -> (Vec<u8>, R) + Sync,
    mut each: impl FnMut(R) -> Result<(), ElementBuildError>,
) -> Result<ElementPages, ElementBuildError> {
    let size = layout::page_size(kind) as usize;
    let name = layout::paged(kind, PageSection::Core);
    context.progress.phase(&format!("writing {name}"), elements.len().div_ceil(size as u64));
    let pieces = || PiecesWriter::new(context.scratch);
    let (mut core, mut meta, mut tags) = (pieces()?, pieces()?, pieces()?);
    let (mut boxes, mut postings) = (Vec::new(), Sorter::new(context.scratch));
    let (mut stream, mut first) = (elements.stream(), 0);
    loop {
        budget::checkpoint();
        let window = stream.take(PAGES * size)?;
        if window.records.is_empty() {
            break;
        }
        let prepared = prepare(window)?;
        let ranges: Vec<Range<usize>> =
            (0..window.records.len()).step_by(size).map(|at| at..window.records.len().min(at + size)).collect();
        let pages: Vec<Result<Encoded<R>, ElementBuildError>> = ranges
            .par_iter()
            .map(|range| {
                let rows = window.range(range.clone());
                encode_page(context, rows, first + range.start as u64, |rows, first| {
                    encode(rows, first, prepared.get(range.clone()).unwrap_or_default())
                })
            })
            .collect();
        first += window.records.len() as u64;
        for page in pages {
            let page = page?;
            context.progress.advance(1);
            core.push(&page.core)?;
            meta.push(&page.meta)?;
            tags.push(&page.tags)?;
            boxes.push(page.area);
            postings.extend(&page.postings)?;
            each(page.besides)?;
        }
    }
    let (core, meta, tags) = (core.finish()?, meta.finish()?, tags.finish()?);
    Ok(ElementPages { count: first, core, meta, tags, boxes, postings: postings.finish()? })
}

fn encode_page<T: InPlace, R>(
    context: &BuildContext<'_>,
    rows: RowsView<'_, T>,
    first: u64,
    encode: impl FnOnce(RowsView<'_, T>, u64) -> (Vec<u8>, R),
) -> Result<Encoded<R>, ElementBuildError> {
    let (core, besides) = encode(rows, first);
    let mut area = BoundingBox::EMPTY;
    let (mut metas, mut lists, mut postings) = (Vec::with_capacity(rows.records.len()), PageLists::new(), Vec::new());
    for (ordinal, row) in (first..).zip(rows.records) {
        area.union(&row.area());
        let &ElementRecord { version, timestamp, changeset, user, .. } = row.element();
        let user = context.users.new_number(user);
        metas.push(match context.metadata {
            true => MetaRef { version, timestamp: timestamp.into(), changeset, uid: 0, user },
            false => MetaRef::default(),
        });
        for pair in get_tags(rows.payload(row)).0 {
            lists.push(pair);
            postings.push(Posting::new(pair, ordinal));
        }
        lists.close();
    }
    Ok(Encoded {
        core: compressed(&core, context.level)?,
        meta: compressed(&page::encode_meta(&metas), context.level)?,
        tags: compressed(&page::encode_tags(&lists), context.level)?,
        area,
        postings,
        besides,
    })
}

/// Writes pages that have waited as a section.
fn copy(writer: &mut SnapshotWriter, name: &str, pages: &PieceFile) -> Result<(), ElementBuildError> {
    let mut section = PageWriter::begin(writer, name)?;
    pages.for_each(|frame| Ok::<_, ElementBuildError>(section.push(writer, frame)?))?;
    Ok(section.finish(writer)?)
}

/// Writes all sections of a type. `links` lists the ways (for nodes only) and relations that contain its elements.
pub fn write_sections(
    context: &BuildContext<'_>,
    writer: &mut SnapshotWriter,
    kind: ElementType,
    written: ElementPages,
    links: &[Sorted<ParentLink>],
    (ids, first_ids): (PieceFile, Vec<i64>),
) -> Result<Sorted<Posting>, ElementBuildError> {
    copy(writer, layout::paged(kind, PageSection::Core), &written.core)?;
    BoxesWriter::write(writer, layout::boxes(kind), written.boxes.iter().map(BoundingBox::corners))?;
    copy(writer, layout::paged(kind, PageSection::Meta), &written.meta)?;
    copy(writer, layout::paged(kind, PageSection::Tags), &written.tags)?;
    write_parents(context, writer, kind, written.count, links)?;
    copy(writer, layout::paged(kind, PageSection::Ids), &ids)?;
    ColumnWriter::write(writer, layout::first_ids(kind), first_ids.into_iter().map(ordered))?;
    Ok(written.postings)
}

/// Writes parents, by type of parent.
fn write_parents(
    context: &BuildContext<'_>,
    writer: &mut SnapshotWriter,
    kind: ElementType,
    count: u64,
    links: &[Sorted<ParentLink>],
) -> Result<(), ElementBuildError> {
    let size = layout::page_size(kind);
    let name = layout::paged(kind, PageSection::Parents);
    context.progress.phase(&format!("writing {name}"), count.div_ceil(size));
    let mut section = PageWriter::begin(writer, name)?;
    let mut streams: Vec<SortedStream<'_, ParentLink>> = links.iter().map(Sorted::stream).collect();
    let at_once = PAGES as u64 * size;
    for first in (0..count).step_by(at_once as usize) {
        let end = count.min(first + at_once);
        let links: Vec<RowsView<'_, ParentLink>> = streams
            .iter_mut()
            .map(|stream| stream.take_while(usize::MAX, |link| link.child < end))
            .collect::<Result<_, _>>()?;
        let pages: Vec<Range<u64>> =
            (first..end).step_by(size as usize).map(|start| start..end.min(start + size)).collect();
        let frames: Vec<Result<Vec<u8>, ElementBuildError>> = pages
            .par_iter()
            .map(|page| {
                let parents: Vec<PageLists<u64>> = links.iter().map(|links| parents(links.records, page)).collect();
                compressed(&page::encode_parents(&parents), context.level)
            })
            .collect();
        for frame in frames {
            context.progress.advance(1);
            section.push(writer, &frame?)?;
        }
    }
    Ok(section.finish(writer)?)
}

/// Returns the parents of a page's elements, each once.
fn parents(links: &[ParentLink], page: &Range<u64>) -> PageLists<u64> {
    let mut rest = &links[links.partition_point(|link| link.child < page.start)..];
    let mut lists = PageLists::new();
    for child in page.clone() {
        let mine = rest.iter().take_while(|link| link.child == child).count();
        let (links, others) = rest.split_at(mine);
        rest = others;
        let mut last = None;
        for link in links.iter().filter(|link| last.replace(link.parent) != Some(link.parent)) {
            lists.push(link.parent);
        }
        lists.close();
    }
    lists
}
