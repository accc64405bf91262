//! Reads OpenStreetMap files into plain element streams: PBF in parallel, in the file's order, in bounded memory.
//!
//! What is read is passed on as it is: unsorted, twice, deleted, with ids that nothing has. Broken input is an
//! [`Error`] that says where in the file what is wrong. This crate knows nothing of snapshots or of queries.

mod element;
mod error;
mod pbf;
mod pipeline;

pub use element::{Element, ElementType, Header, Member, Meta, NO_COORDINATE, Node, Relation, Way};
pub use error::{Error, PbfProblem, Place, Wire};

use pbf::file::{Blobs, Spot};
use std::fs::File;
use std::io::{BufReader, Read};
use std::path::Path;
use std::sync::Arc;

/// How to read.
#[derive(Clone, Debug)]
pub struct Options {
    /// How many blocks a thread may be between reading and consuming; at least 1. More evens out slow blocks, and takes
    /// memory: an unpacked block has up to 32 MiB, most have less than 1 MiB.
    pub blocks_per_thread: usize,
}

impl Default for Options {
    fn default() -> Self {
        Self { blocks_per_thread: 4 }
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

/// Some elements of a file that stand together in it: a blob of a PBF file.
#[derive(Debug)]
pub struct Block {
    spot: Spot,
    bytes: Vec<u8>,
}

impl Block {
    /// Gives every element to `f`, in the file's order. At an error some have been given already.
    pub fn for_each(&self, f: impl FnMut(Element<'_>)) -> Result<(), Error> {
        pbf::block::for_each(&self.bytes, f).map_err(|problem| self.spot.error(problem))
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
    let (file, bytes_total) = open(path)?;
    let (mut blobs, header) = Blobs::begin(file, Arc::from(path))?;
    let limit = options.blocks_per_thread.max(1).saturating_mul(rayon::current_num_threads());
    let mut blocks = 0;
    pipeline::ordered(
        limit,
        || Some(blobs.next()?.map_err(E::from)),
        |blob| {
            let bytes = blob.unpack()?;
            let end = blob.end;
            Ok((map(&Block { spot: blob.spot, bytes })?, end))
        },
        |(result, bytes_read)| {
            blocks += 1;
            consume(result, Progress { bytes_read, bytes_total, blocks })
        },
    )?;
    Ok(header)
}

/// Reads what a file says about itself, and no more of it than that takes.
pub fn header(path: &Path) -> Result<Header, Error> {
    let (file, _) = open(path)?;
    Ok(Blobs::begin(file, Arc::from(path))?.1)
}

fn open(path: &Path) -> Result<(impl Read, u64), Error> {
    let fail = |source| Error::Open { file: path.to_path_buf(), source };
    let file = File::open(path).map_err(fail)?;
    let about = file.metadata().map_err(fail)?;
    Ok((BufReader::new(file), if about.is_file() { about.len() } else { 0 }))
}
