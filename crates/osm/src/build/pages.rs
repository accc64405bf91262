//! Encodes pages in parallel, in the order of their elements. The sections are consecutive in the file, therefore pages
//! wait in temporary files until all pages of a type are encoded.

use std::ops::Range;

use rayon::prelude::*;
use terrapin_base::external_sort::{Pieces, PiecesWriter, Sortable, Sorted, Sorter, Stream, View};
use terrapin_budget as budget;
use terrapin_snapshot::{BoxesWriter, ColumnWriter, Error, PageWriter, Writer, compress, ordered};

use super::payload::get_tags;
use super::records::{Element, Link, Placed, Posting};
use super::{BuildError, Context};
use crate::layout::{self, Part};
use crate::page::{self, Lists};
use crate::{BoundingBox, Coord, ElementType, MetaRef, hilbert};

/// Pages encoded at once.
const PAGES: usize = 512;

/// zstd only fails for want of memory.
pub fn compressed(content: &[u8], level: i32) -> Result<Vec<u8>, BuildError> {
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
    fn element(&self) -> &Element;
    /// Its box.
    fn area(&self) -> BoundingBox;
}

impl InPlace for Element {
    fn element(&self) -> &Element {
        self
    }

    fn area(&self) -> BoundingBox {
        let mut area = BoundingBox::EMPTY;
        area.extend(hilbert::position(self.key));
        area
    }
}

impl InPlace for Placed {
    fn element(&self) -> &Element {
        &self.element
    }

    fn area(&self) -> BoundingBox {
        let [south, west, north, east] = self.corners;
        BoundingBox { south, west, north, east }
    }
}

/// The pages of a type's elements, in their order.
pub struct Written {
    count: u64,
    core: Pieces,
    meta: Pieces,
    tags: Pieces,
    /// The box of each page.
    boxes: Vec<BoundingBox>,
    /// The tags of all.
    pub postings: Sorted<Posting>,
}

impl Written {
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

/// One page.
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
    context: &Context<'_>,
    kind: ElementType,
    elements: &Sorted<T>,
    mut prepare: impl FnMut(View<'_, T>) -> Result<Vec<M>, BuildError>,
    encode: impl Fn(View<'_, T>, u64, &[M]) -> (Vec<u8>, R) + Sync,
    mut each: impl FnMut(R) -> Result<(), BuildError>,
) -> Result<Written, BuildError> {
    let size = layout::page_size(kind) as usize;
    let name = layout::paged(kind, Part::Core);
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
        let pages: Vec<Result<Encoded<R>, BuildError>> = ranges
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
    Ok(Written { count: first, core, meta, tags, boxes, postings: postings.finish()? })
}

fn encode_page<T: InPlace, R>(
    context: &Context<'_>,
    rows: View<'_, T>,
    first: u64,
    encode: impl FnOnce(View<'_, T>, u64) -> (Vec<u8>, R),
) -> Result<Encoded<R>, BuildError> {
    let (core, besides) = encode(rows, first);
    let mut area = BoundingBox::EMPTY;
    let (mut metas, mut lists, mut postings) = (Vec::with_capacity(rows.records.len()), Lists::new(), Vec::new());
    for (ordinal, row) in (first..).zip(rows.records) {
        area.union(&row.area());
        let &Element { version, timestamp, changeset, user, .. } = row.element();
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
fn copy(writer: &mut Writer, name: &str, pages: &Pieces) -> Result<(), BuildError> {
    let mut section = PageWriter::begin(writer, name)?;
    pages.for_each(|frame| Ok::<_, BuildError>(section.push(writer, frame)?))?;
    Ok(section.finish(writer)?)
}

/// Writes all sections of a type. `links` lists the ways (for nodes only) and relations that contain its elements.
pub fn write_sections(
    context: &Context<'_>,
    writer: &mut Writer,
    kind: ElementType,
    written: Written,
    links: &[Sorted<Link>],
    (ids, first_ids): (Pieces, Vec<i64>),
) -> Result<Sorted<Posting>, BuildError> {
    copy(writer, layout::paged(kind, Part::Core), &written.core)?;
    BoxesWriter::write(writer, layout::boxes(kind), written.boxes.iter().map(BoundingBox::corners))?;
    copy(writer, layout::paged(kind, Part::Meta), &written.meta)?;
    copy(writer, layout::paged(kind, Part::Tags), &written.tags)?;
    write_parents(context, writer, kind, written.count, links)?;
    copy(writer, layout::paged(kind, Part::Ids), &ids)?;
    ColumnWriter::write(writer, layout::first_ids(kind), first_ids.into_iter().map(ordered))?;
    Ok(written.postings)
}

/// Writes parents, by type of parent.
fn write_parents(
    context: &Context<'_>,
    writer: &mut Writer,
    kind: ElementType,
    count: u64,
    links: &[Sorted<Link>],
) -> Result<(), BuildError> {
    let size = layout::page_size(kind);
    let name = layout::paged(kind, Part::Parents);
    context.progress.phase(&format!("writing {name}"), count.div_ceil(size));
    let mut section = PageWriter::begin(writer, name)?;
    let mut streams: Vec<Stream<'_, Link>> = links.iter().map(Sorted::stream).collect();
    let at_once = PAGES as u64 * size;
    for first in (0..count).step_by(at_once as usize) {
        let end = count.min(first + at_once);
        let links: Vec<View<'_, Link>> = streams
            .iter_mut()
            .map(|stream| stream.take_while(usize::MAX, |link| link.child < end))
            .collect::<Result<_, _>>()?;
        let pages: Vec<Range<u64>> =
            (first..end).step_by(size as usize).map(|start| start..end.min(start + size)).collect();
        let frames: Vec<Result<Vec<u8>, BuildError>> = pages
            .par_iter()
            .map(|page| {
                let parents: Vec<Lists<u64>> = links.iter().map(|links| parents(links.records, page)).collect();
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
fn parents(links: &[Link], page: &Range<u64>) -> Lists<u64> {
    let mut rest = &links[links.partition_point(|link| link.child < page.start)..];
    let mut lists = Lists::new();
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
