//! Reads OpenStreetMap files (PBF and XML) into streams of plain elements: in parallel, in file order, with bounded
//! memory. The format is detected by the first bytes of a file, not by its name. [`rdf`] does the same for triples,
//! [`wikidata`] for entities of Wikidata.
//!
//! Elements are passed on unchanged: they may be unsorted, duplicated or deleted, and may refer to missing ids. For
//! broken input the readers return an [`LoaderError`] with its position in the file. This crate does not know snapshots
//! or queries.

mod chunk;
mod element;
mod error;
mod format;
mod limits;
pub mod pbf;
mod pipeline;
pub mod rdf;
pub mod replication;
mod text;
pub mod wikidata;
pub mod xml;

pub use element::{
    MAX_MEMBERS, MAX_TAGS, MAX_WAY_NODES, NO_COORDINATE, SourceElement, SourceElementType, SourceHeader, SourceMember,
    SourceMeta, SourceNode, SourceRelation, Way,
};
pub use error::{ElementId, LoaderError, PbfProblem, TextProblem, Wire, XmlProblem};

use chunk::{Chunk, ChunkRecord};
use format::{OpenSourceFile, OsmFormat};
use pbf::file::{Blob, BlobLocation, Blobs};
use pipeline::Window;
use std::path::Path;
use std::sync::Arc;
use xml::parse::XmlParser;

/// Settings of a reader.
#[derive(Clone, Debug)]
pub struct ReadOptions {
    /// Maximum number of blocks per thread between reading and consuming; at least 1. A larger number evens out slow
    /// blocks and takes more memory: an unpacked block has at most 32 MiB, most have less than 1 MiB.
    pub blocks_per_thread: usize,
    /// Approximate memory limit for these blocks together in bytes, estimated from their unpacked size. A block above
    /// the limit is read alone and in pieces.
    pub memory: u64,
}

/// Default memory limit for blocks in progress, in bytes.
pub(crate) const WINDOW_MEMORY: u64 = 1 << 30;

impl Default for ReadOptions {
    fn default() -> Self {
        Self { blocks_per_thread: 4, memory: WINDOW_MEMORY }
    }
}

/// Progress of a reader.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ReadProgress {
    /// Bytes of the file up to the end of the current block.
    pub bytes_read: u64,
    /// Size of the file in bytes; 0 if it is not a regular file.
    pub bytes_total: u64,
    /// Number of blocks including the current one.
    pub blocks: u64,
}

/// Consecutive elements of a file: a blob of a PBF file, or some thousand elements of a larger blob or of an XML file.
#[derive(Debug)]
pub struct ElementBlock {
    content: BlockContent,
}

#[derive(Debug)]
enum BlockContent {
    /// An unpacked blob. Every iteration decodes it again.
    Pbf { spot: BlobLocation, bytes: Vec<u8> },
    /// Elements that have already been checked.
    Chunk(Chunk),
}

impl ElementBlock {
    /// Calls `f` with every element in file order. If the block is broken, elements before the error have been passed
    /// on.
    pub fn for_each(&self, f: impl FnMut(SourceElement<'_>)) -> Result<(), LoaderError> {
        match &self.content {
            BlockContent::Pbf { spot, bytes } => pbf::block::for_each(bytes, f).map_err(|problem| spot.error(problem)),
            BlockContent::Chunk(chunk) => {
                chunk.for_each(f);
                Ok(())
            }
        }
    }
}

/// Builds a [`ElementBlock`] from elements of another source. For each element, add its tags and its nodes or members
/// in order, then call [`end`](BlockBuilder::end).
#[derive(Debug, Default)]
pub struct BlockBuilder {
    chunk: Chunk,
}

impl BlockBuilder {
    /// Adds a tag to the current element.
    pub fn tag(&mut self, key: &str, value: &str) {
        self.chunk.tag(key, value);
    }

    /// Adds a node to the current way.
    pub fn node(&mut self, id: i64) {
        self.chunk.node_ref(id, (NO_COORDINATE, NO_COORDINATE));
    }

    /// Adds a member to the current relation.
    pub fn member(&mut self, kind: SourceElementType, id: i64, role: &str) {
        self.chunk.member(kind, id, role);
    }

    /// Ends the current element. `position` is the latitude and longitude of a node in 1e-7 degrees; other elements
    /// ignore it.
    pub fn end(&mut self, kind: SourceElementType, id: i64, position: (i32, i32), meta: Option<SourceMeta<'_>>) {
        let user = meta.map_or_else(Default::default, |meta| self.chunk.span(meta.user));
        let meta = meta.map(|meta| SourceMeta { user: "", ..meta });
        let (lat, lon) = position;
        self.chunk.push(ChunkRecord { kind, id, lat, lon, located: false, meta, user, tags_end: 0, items_end: 0 });
    }

    /// Returns the number of elements.
    pub fn len(&self) -> usize {
        self.chunk.records.len()
    }

    /// Returns whether no element has been added.
    pub fn is_empty(&self) -> bool {
        self.chunk.is_empty()
    }

    /// Returns the block.
    pub fn finish(self) -> ElementBlock {
        ElementBlock { content: BlockContent::Chunk(self.chunk) }
    }
}

/// Reads a file. `map` processes its blocks in parallel on the current rayon pool. `consume` receives the results on
/// the calling thread, in file order. [`ReadOptions`] limits the number of blocks in progress.
///
/// The first error in file order ends reading, whether it comes from the file, from `map` or from `consume`.
///
/// ```no_run
/// # use terrapin_loaders::{LoaderError, ReadOptions, read};
/// let mut elements = 0_u64;
/// let count = |block: &terrapin_loaders::ElementBlock| {
///     let mut count = 0;
///     block.for_each(|_| count += 1)?;
///     Ok(count)
/// };
/// read::<u64, LoaderError>("malta.osm.pbf".as_ref(), &ReadOptions::default(), count, |count, _progress| {
///     elements += count;
///     Ok(())
/// })?;
/// # Ok::<(), LoaderError>(())
/// ```
pub fn read<T, E>(
    path: &Path,
    options: &ReadOptions,
    map: impl Fn(&ElementBlock) -> Result<T, E> + Sync,
    mut consume: impl FnMut(T, ReadProgress) -> Result<(), E>,
) -> Result<SourceHeader, E>
where
    T: Send,
    E: From<LoaderError> + Send,
{
    let limit = Window::of(options.blocks_per_thread, options.memory);
    let OpenSourceFile { format, position, bytes_total } = format::open(path)?;
    let mut blocks = 0;
    let mut consume = |(result, bytes_read)| {
        blocks += 1;
        consume(result, ReadProgress { bytes_read, bytes_total, blocks })
    };
    match format {
        OsmFormat::Pbf(reader) => {
            let (mut blobs, header) = Blobs::begin(reader, Arc::from(path))?;
            let next = || Some(blobs.next()?.map_err(E::from));
            let work = |blob: Blob| {
                let bytes = blob.unpack()?;
                if pbf::block::is_large(&bytes) {
                    return Ok(Pbf::Large { spot: blob.spot, bytes, end: blob.end });
                }
                let content = BlockContent::Pbf { spot: blob.spot, bytes };
                Ok(Pbf::Mapped(map(&ElementBlock { content })?, blob.end))
            };
            pipeline::ordered(limit, next, Blob::cost, work, |done| match done {
                Pbf::Mapped(result, end) => consume((result, end)),
                Pbf::Large { spot, bytes, end } => in_pieces(&spot, &bytes, |block| consume((map(block)?, end))),
            })?;
            Ok(header)
        }
        OsmFormat::Xml(reader) => {
            let parser = XmlParser::new(reader, Arc::from(path));
            read_xml(parser, limit, || position.get(), map, consume)
        }
    }
}

/// Reads an osmChange file (`.osc`, `.osc.gz`, `.osc.bz2`) in the same way as [`read`]. A deleted element is passed on
/// with `visible` set to false.
pub fn read_changes<T, E>(
    path: &Path,
    options: &ReadOptions,
    map: impl Fn(&ElementBlock) -> Result<T, E> + Sync,
    mut consume: impl FnMut(T, ReadProgress) -> Result<(), E>,
) -> Result<SourceHeader, E>
where
    T: Send,
    E: From<LoaderError> + Send,
{
    let limit = Window::of(options.blocks_per_thread, options.memory);
    let OpenSourceFile { format, position, bytes_total } = format::open(path)?;
    let OsmFormat::Xml(reader) = format else {
        let reason = "PBF, not changes, which are osmChange documents (.osc); --osm loads elements";
        return Err(LoaderError::Format { file: path.to_path_buf(), reason }.into());
    };
    let mut blocks = 0;
    read_xml(
        XmlParser::of_changes(reader, Arc::from(path)),
        limit,
        || position.get(),
        map,
        |(result, bytes_read)| {
            blocks += 1;
            consume(result, ReadProgress { bytes_read, bytes_total, blocks })
        },
    )
}

fn read_xml<R, T, E>(
    mut parser: XmlParser<R>,
    limit: Window,
    position: impl Fn() -> u64,
    map: impl Fn(&ElementBlock) -> Result<T, E> + Sync,
    consume: impl FnMut((T, u64)) -> Result<(), E>,
) -> Result<SourceHeader, E>
where
    R: std::io::BufRead,
    T: Send,
    E: From<LoaderError> + Send,
{
    let next = || {
        let chunk = parser.next()?.map_err(E::from);
        Some(chunk.map(|chunk| (ElementBlock { content: BlockContent::Chunk(chunk) }, position())))
    };
    let cost = |(block, _): &(ElementBlock, u64)| match &block.content {
        BlockContent::Chunk(chunk) => chunk.cost(),
        BlockContent::Pbf { .. } => 0,
    };
    let work = |(block, position)| Ok((map(&block)?, position));
    pipeline::ordered(limit, next, cost, work, consume)?;
    Ok(parser.into_header())
}

/// A processed blob.
enum Pbf<T> {
    /// The result for the whole blob, and the offset of the next blob.
    Mapped(T, u64),
    /// Only unpacked, because its elements together would take too much memory.
    Large { spot: BlobLocation, bytes: Vec<u8>, end: u64 },
}

/// Passes the elements of a large blob to `f`, some thousand at a time.
fn in_pieces<E: From<LoaderError>>(
    spot: &BlobLocation,
    bytes: &[u8],
    mut f: impl FnMut(&ElementBlock) -> Result<(), E>,
) -> Result<(), E> {
    let mut chunk = Chunk::default();
    let mut outcome = Ok(());
    let mut hand_over = |chunk: &mut Chunk| f(&ElementBlock { content: BlockContent::Chunk(std::mem::take(chunk)) });
    let read = pbf::block::for_each(bytes, |element| {
        if outcome.is_ok() {
            chunk.add(&element);
            if chunk.is_full() {
                outcome = hand_over(&mut chunk);
            }
        }
    });
    outcome?;
    read.map_err(|problem| spot.error(problem))?;
    if chunk.is_empty() { Ok(()) } else { hand_over(&mut chunk) }
}

/// Reads the header of a file and stops before the first element.
pub fn header(path: &Path) -> Result<SourceHeader, LoaderError> {
    match format::open(path)?.format {
        OsmFormat::Pbf(reader) => Ok(Blobs::begin(reader, Arc::from(path))?.1),
        OsmFormat::Xml(reader) => {
            let mut parser = XmlParser::new(reader, Arc::from(path));
            parser.head()?;
            Ok(parser.header().clone())
        }
    }
}
