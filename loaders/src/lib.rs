//! Reads OpenStreetMap files into plain element streams: PBF and XML, in parallel, in the file's order, in bounded
//! memory. What a file is shows in its first bytes; its name does not matter. [`rdf`] does the same for triples,
//! [`wikidata`] for entities of Wikidata.
//!
//! What is read is passed on as it is: unsorted, twice, deleted, with ids that nothing has. Broken input is an
//! [`Error`] that says where in the file what is wrong. This crate knows nothing of snapshots or of queries.

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
    Element, ElementType, Header, MAX_MEMBERS, MAX_TAGS, MAX_WAY_NODES, Member, Meta, NO_COORDINATE, Node, Relation,
    Way,
};
pub use error::{ElementId, Error, PbfProblem, TextProblem, Wire, XmlProblem};

use chunk::{Chunk, Record};
use format::{Format, Opened};
use pbf::file::{Blob, Blobs, Spot};
use pipeline::Window;
use std::path::Path;
use std::sync::Arc;
use xml::parse::Parser;

/// How to read.
#[derive(Clone, Debug)]
pub struct Options {
    /// How many blocks a thread may be between reading and consuming; at least 1. More evens out slow blocks, and takes
    /// memory: an unpacked block has up to 32 MiB, most have less than 1 MiB.
    pub blocks_per_thread: usize,
    /// Bytes of memory that these blocks may take together, about, by what they unpack to. One that takes more than all
    /// may is read alone, and in pieces.
    pub memory: u64,
}

/// What blocks under way may take if nothing else is said.
pub(crate) const WINDOW_MEMORY: u64 = 1 << 30;

impl Default for Options {
    fn default() -> Self {
        Self { blocks_per_thread: 4, memory: WINDOW_MEMORY }
    }
}

/// How far reading has come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// Bytes of the file up to the end of the block.
    pub bytes_read: u64,
    /// Bytes of the file; 0 if it is not a regular file.
    pub bytes_total: u64,
    /// Blocks, with this one.
    pub blocks: u64,
}

/// Some elements of a file that stand together in it: a blob of a PBF file, or some thousand elements of a larger blob or
/// of an XML file.
#[derive(Debug)]
pub struct Block {
    content: Content,
}

#[derive(Debug)]
enum Content {
    /// An unpacked blob, which is decoded again each time.
    Pbf { spot: Spot, bytes: Vec<u8> },
    /// Elements that are known to be in order.
    Chunk(Chunk),
}

impl Block {
    /// Gives every element to `f`, in the file's order. At an error some have been given already.
    pub fn for_each(&self, f: impl FnMut(Element<'_>)) -> Result<(), Error> {
        match &self.content {
            Content::Pbf { spot, bytes } => pbf::block::for_each(bytes, f).map_err(|problem| spot.error(problem)),
            Content::Chunk(chunk) => {
                chunk.for_each(f);
                Ok(())
            }
        }
    }
}

/// Makes a [`Block`] of elements that come from elsewhere: of each its tags, its nodes or members in their order, then
/// [`end`](BlockBuilder::end).
#[derive(Debug, Default)]
pub struct BlockBuilder {
    chunk: Chunk,
}

impl BlockBuilder {
    /// A tag of the element.
    pub fn tag(&mut self, key: &str, value: &str) {
        self.chunk.tag(key, value);
    }

    /// A node of the way.
    pub fn node(&mut self, id: i64) {
        self.chunk.node_ref(id, (NO_COORDINATE, NO_COORDINATE));
    }

    /// A member of the relation.
    pub fn member(&mut self, kind: ElementType, id: i64, role: &str) {
        self.chunk.member(kind, id, role);
    }

    /// Ends the element. The position, latitude and longitude in 1e-7 degrees, is a node's.
    pub fn end(&mut self, kind: ElementType, id: i64, position: (i32, i32), meta: Option<Meta<'_>>) {
        let user = meta.map_or_else(Default::default, |meta| self.chunk.span(meta.user));
        let meta = meta.map(|meta| Meta { user: "", ..meta });
        let (lat, lon) = position;
        self.chunk.push(Record { kind, id, lat, lon, located: false, meta, user, tags_end: 0, items_end: 0 });
    }

    /// How many elements it has.
    pub fn len(&self) -> usize {
        self.chunk.records.len()
    }

    /// Whether it has none.
    pub fn is_empty(&self) -> bool {
        self.chunk.is_empty()
    }

    /// The block.
    pub fn finish(self) -> Block {
        Block { content: Content::Chunk(self.chunk) }
    }
}

/// Reads a file: `map` works on its blocks in parallel on the current rayon pool, `consume` gets the results on the
/// calling thread, in the file's order. [`Options`] bounds how many blocks are under way.
///
/// The first error in the file's order ends it, whether it comes from the file, from `map` or from `consume`.
///
/// ```no_run
/// # use terrapin_loaders::{Error, Options, read};
/// let mut elements = 0_u64;
/// let count = |block: &terrapin_loaders::Block| {
///     let mut count = 0;
///     block.for_each(|_| count += 1)?;
///     Ok(count)
/// };
/// read::<u64, Error>("malta.osm.pbf".as_ref(), &Options::default(), count, |count, _progress| {
///     elements += count;
///     Ok(())
/// })?;
/// # Ok::<(), Error>(())
/// ```
pub fn read<T, E>(
    path: &Path,
    options: &Options,
    map: impl Fn(&Block) -> Result<T, E> + Sync,
    mut consume: impl FnMut(T, Progress) -> Result<(), E>,
) -> Result<Header, E>
where
    T: Send,
    E: From<Error> + Send,
{
    let limit = Window::of(options.blocks_per_thread, options.memory);
    let Opened { format, position, bytes_total } = format::open(path)?;
    let mut blocks = 0;
    let mut consume = |(result, bytes_read)| {
        blocks += 1;
        consume(result, Progress { bytes_read, bytes_total, blocks })
    };
    match format {
        Format::Pbf(reader) => {
            let (mut blobs, header) = Blobs::begin(reader, Arc::from(path))?;
            let next = || Some(blobs.next()?.map_err(E::from));
            let work = |blob: Blob| {
                let bytes = blob.unpack()?;
                if pbf::block::is_large(&bytes) {
                    return Ok(Pbf::Large { spot: blob.spot, bytes, end: blob.end });
                }
                let content = Content::Pbf { spot: blob.spot, bytes };
                Ok(Pbf::Mapped(map(&Block { content })?, blob.end))
            };
            pipeline::ordered(limit, next, Blob::cost, work, |done| match done {
                Pbf::Mapped(result, end) => consume((result, end)),
                Pbf::Large { spot, bytes, end } => in_pieces(&spot, &bytes, |block| consume((map(block)?, end))),
            })?;
            Ok(header)
        }
        Format::Xml(reader) => {
            let parser = Parser::new(reader, Arc::from(path));
            read_xml(parser, limit, || position.get(), map, consume)
        }
    }
}

/// Reads a file of changes (osmChange: `.osc`, `.osc.gz`, `.osc.bz2`) as [`read`] reads elements. What was deleted comes as
/// an element that is not visible.
pub fn read_changes<T, E>(
    path: &Path,
    options: &Options,
    map: impl Fn(&Block) -> Result<T, E> + Sync,
    mut consume: impl FnMut(T, Progress) -> Result<(), E>,
) -> Result<Header, E>
where
    T: Send,
    E: From<Error> + Send,
{
    let limit = Window::of(options.blocks_per_thread, options.memory);
    let Opened { format, position, bytes_total } = format::open(path)?;
    let Format::Xml(reader) = format else {
        let reason = "PBF, not changes, which are osmChange documents (.osc); --osm loads elements";
        return Err(Error::Format { file: path.to_path_buf(), reason }.into());
    };
    let mut blocks = 0;
    read_xml(
        Parser::of_changes(reader, Arc::from(path)),
        limit,
        || position.get(),
        map,
        |(result, bytes_read)| {
            blocks += 1;
            consume(result, Progress { bytes_read, bytes_total, blocks })
        },
    )
}

fn read_xml<R, T, E>(
    mut parser: Parser<R>,
    limit: Window,
    position: impl Fn() -> u64,
    map: impl Fn(&Block) -> Result<T, E> + Sync,
    consume: impl FnMut((T, u64)) -> Result<(), E>,
) -> Result<Header, E>
where
    R: std::io::BufRead,
    T: Send,
    E: From<Error> + Send,
{
    let next = || {
        let chunk = parser.next()?.map_err(E::from);
        Some(chunk.map(|chunk| (Block { content: Content::Chunk(chunk) }, position())))
    };
    let cost = |(block, _): &(Block, u64)| match &block.content {
        Content::Chunk(chunk) => chunk.cost(),
        Content::Pbf { .. } => 0,
    };
    let work = |(block, position)| Ok((map(&block)?, position));
    pipeline::ordered(limit, next, cost, work, consume)?;
    Ok(parser.into_header())
}

/// A blob that has been worked on.
enum Pbf<T> {
    /// As a whole; with where the next one begins.
    Mapped(T, u64),
    /// Only unpacked, because its elements take too much memory together.
    Large { spot: Spot, bytes: Vec<u8>, end: u64 },
}

/// Gives the elements of a large blob to `f`, some thousand at a time.
fn in_pieces<E: From<Error>>(spot: &Spot, bytes: &[u8], mut f: impl FnMut(&Block) -> Result<(), E>) -> Result<(), E> {
    let mut chunk = Chunk::default();
    let mut outcome = Ok(());
    let mut hand_over = |chunk: &mut Chunk| f(&Block { content: Content::Chunk(std::mem::take(chunk)) });
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

/// Reads what a file says about itself, and no more of it than that takes.
pub fn header(path: &Path) -> Result<Header, Error> {
    match format::open(path)?.format {
        Format::Pbf(reader) => Ok(Blobs::begin(reader, Arc::from(path))?.1),
        Format::Xml(reader) => {
            let mut parser = Parser::new(reader, Arc::from(path));
            parser.head()?;
            Ok(parser.header().clone())
        }
    }
}
