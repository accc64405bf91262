//! The manifest: where every byte of the snapshot came from.
//!
//! Its stored form is the [`Manifest`] with sources that have no names, then what is skipped there as a [`Tail`]. Names of
//! sources lie behind it: the same bytes under another name make the same snapshot. In format 1 the names are in the
//! manifest, and of the tail there are the counts of triples alone, where there are any.

use bincode::config;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::Error;

/// The manifest of a snapshot. Stored in bincode 2's standard form.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Manifest {
    /// The format version of the file.
    pub format_version: u32,
    /// Name and version of the program that wrote it.
    pub writer: String,
    /// The files that it was made of.
    pub sources: Vec<Source>,
    /// How many of everything.
    pub counts: Counts,
    /// South, west, north, east of the nodes, 1e-7 degrees; `None` without nodes.
    pub bounding_box: Option<[i32; 4]>,
    /// Replication time: the source header's, else the newest element's; seconds since 1970.
    pub replication_timestamp: i64,
    /// The newest element's timestamp, seconds since 1970: the time of the data, and `now` in queries.
    pub data_timestamp: i64,
    /// What became of the relations that should be areas.
    pub areas: AreaReport,
    /// Remarks of the loader, such as what it left out.
    pub remarks: Vec<String>,
    /// The sections, in the order of the file.
    pub sections: Vec<Section>,
    /// How many triples and terms; `None` for a snapshot without triples.
    #[serde(skip)]
    pub triples: Option<TripleCounts>,
    /// The content digest: what the elements and triples are, whatever format and version they are stored in. `None` in
    /// format 1, which does not hold it.
    #[serde(skip)]
    pub content: Option<[u8; 32]>,
}

/// What stands behind the sections in the manifest.
#[derive(Serialize, Deserialize)]
struct Tail {
    triples: Option<TripleCounts>,
    content: Option<[u8; 32]>,
}

/// How many triples there are, and of what.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TripleCounts {
    /// Distinct triples.
    pub triples: u64,
    /// Distinct terms.
    pub terms: u64,
    /// Distinct predicates.
    pub predicates: u64,
    /// The newest `schema:dateModified`, seconds since 1970; 0 where there is none.
    pub newest: i64,
}

/// One file that went in.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Source {
    /// Its name without folders: no part of what the digest is over.
    pub name: String,
    /// Its length in bytes; of a snapshot that of its sections.
    pub bytes: u64,
    /// Its SHA-256, hexadecimal; of a snapshot its digest.
    pub sha256: String,
    /// Its licence.
    pub licence: String,
}

/// How many of everything.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[allow(missing_docs)]
pub struct Counts {
    pub nodes: u64,
    pub ways: u64,
    pub relations: u64,
    pub areas: u64,
    /// Distinct keys.
    pub keys: u64,
    /// Distinct (key, value) pairs.
    pub tags: u64,
    /// Distinct (user id, user name) pairs.
    pub users: u64,
    /// Nodes, ways and relations that are referred to and not there.
    pub missing: [u64; 3],
}

/// What became of the relations that the rules make areas of.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct AreaReport {
    /// Areas made.
    pub made: u64,
    /// Relations left out because their rings are not closed.
    pub unclosed: u64,
    /// Relations left out because members are missing or none is a way.
    pub incomplete: u64,
    /// The first of the relations left out, by id.
    pub examples: Vec<i64>,
}

/// A section's place and checksum.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Section {
    /// Its name.
    pub name: String,
    /// Where it starts, a multiple of 64.
    pub offset: u64,
    /// Its length in bytes.
    pub len: u64,
    /// Its BLAKE3.
    pub checksum: [u8; 32],
}

/// Text and lists in a manifest hold no more bytes, and neither do the names of the sources; nor is the stored form of
/// either longer.
pub(super) const LONGEST: usize = 64 << 20;

/// Times that a manifest may hold, in seconds since 1970: those that can be written as dates, of the years -9999 to 9999.
pub const TIMES: std::ops::RangeInclusive<i64> = -377_705_023_201..=253_402_300_799;

impl Manifest {
    /// Its stored form, and that of the sources' names.
    pub(super) fn encode(&self) -> Result<(Vec<u8>, Vec<u8>), Error> {
        let mut nameless = self.clone();
        let names: Vec<String> = nameless.sources.iter_mut().map(|source| std::mem::take(&mut source.name)).collect();
        let mut bytes = encode(&nameless)?;
        bytes.extend(encode(&Tail { triples: self.triples, content: self.content })?);
        Ok((bytes, encode(&names)?))
    }

    /// Reads the stored form of a format version.
    pub(super) fn decode(version: u32, bytes: &[u8], names: &[u8]) -> Result<Manifest, Error> {
        let (mut manifest, mut read): (Manifest, usize) = decode(bytes)?;
        let rest = bytes.get(read..).unwrap_or_default();
        if version >= 2 {
            let (tail, more): (Tail, usize) = decode(rest)?;
            (manifest.triples, manifest.content) = (tail.triples, tail.content);
            read += more;
            manifest.name(names)?;
        } else if !rest.is_empty() {
            let (triples, more) = decode(rest)?;
            manifest.triples = Some(triples);
            read += more;
        }
        no_more("manifest", bytes.len() - read)?;
        let newest = manifest.triples.map_or(0, |triples| triples.newest);
        for time in [manifest.replication_timestamp, manifest.data_timestamp, newest] {
            if !TIMES.contains(&time) {
                return Err(Error::damaged("manifest", format!("a time beyond all dates: {time} seconds since 1970")));
            }
        }
        Ok(manifest)
    }

    fn name(&mut self, stored: &[u8]) -> Result<(), Error> {
        let (names, read): (Vec<String>, usize) = decode(stored)?;
        no_more("names", stored.len() - read)?;
        if names.len() != self.sources.len() {
            return Err(Error::damaged("names", "not one for each source"));
        }
        self.sources.iter_mut().zip(names).for_each(|(source, name)| source.name = name);
        Ok(())
    }

    pub(super) fn digest(bytes: &[u8]) -> [u8; 32] {
        Sha256::digest(bytes).into()
    }
}

fn encode(value: &impl Serialize) -> Result<Vec<u8>, Error> {
    bincode::serde::encode_to_vec(value, config::standard())
        .map_err(|e| Error::damaged("manifest", format!("cannot be written: {e}")))
}

fn decode<T: serde::de::DeserializeOwned>(bytes: &[u8]) -> Result<(T, usize), Error> {
    bincode::serde::decode_from_slice(bytes, config::standard().with_limit::<LONGEST>())
        .map_err(|e| Error::damaged("manifest", e.to_string()))
}

fn no_more(what: &str, bytes: usize) -> Result<(), Error> {
    if bytes == 0 { Ok(()) } else { Err(Error::damaged(what, format!("{bytes} bytes too many"))) }
}
