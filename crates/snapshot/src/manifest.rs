//! The manifest: the origin and checksum of every byte of the snapshot.
//!
//! It is stored as the [`Manifest`] with empty source names, followed by the fields skipped there as a [`Tail`]. The
//! names of the sources follow the manifest: the same bytes under another name make the same snapshot.

use bincode::config;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::Error;

/// The manifest of a snapshot. Stored in bincode 2's standard form.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Manifest {
    /// The format version of the file.
    pub format_version: u32,
    /// The name and version of the writing program.
    pub writer: String,
    /// The source files.
    pub sources: Vec<ManifestSource>,
    /// The counts of elements.
    pub counts: ElementCounts,
    /// South, west, north, east of the nodes in 1e-7 degrees; `None` without nodes.
    pub bounding_box: Option<[i32; 4]>,
    /// The replication time in seconds since 1970: from the source's header, else that of the newest element.
    pub replication_timestamp: i64,
    /// The newest element's timestamp in seconds since 1970; `now` in queries.
    pub data_timestamp: i64,
    /// The number of areas made from relations, and of relations left out.
    pub areas: AreaReport,
    /// Remarks of the loader, for example on skipped elements.
    pub remarks: Vec<String>,
    /// The sections, in the order of the file.
    pub sections: Vec<ManifestSection>,
    /// The counts of triples and terms; `None` for a snapshot without triples.
    #[serde(skip)]
    pub triples: Option<TripleCounts>,
    /// The content digest, which identifies the elements and triples independently of format and version. `None` only
    /// while the snapshot is written.
    #[serde(skip)]
    pub content: Option<[u8; 32]>,
}

/// The fields after the sections in the stored manifest.
#[derive(Serialize, Deserialize)]
struct Tail {
    triples: Option<TripleCounts>,
    content: Option<[u8; 32]>,
}

/// The counts of triples.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TripleCounts {
    /// The number of distinct triples.
    pub triples: u64,
    /// The number of distinct terms.
    pub terms: u64,
    /// The number of distinct predicates.
    pub predicates: u64,
    /// The newest `schema:dateModified` in seconds since 1970; 0 if none.
    pub newest: i64,
}

/// A source file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ManifestSource {
    /// Its name without folders; not part of the digest.
    pub name: String,
    /// Its length in bytes; for a snapshot, the length of its sections.
    pub bytes: u64,
    /// Its SHA-256 in hexadecimal; for a snapshot, its digest.
    pub sha256: String,
    /// Its licence.
    pub licence: String,
}

/// The counts of elements.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[allow(missing_docs)]
pub struct ElementCounts {
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
    /// Nodes, ways and relations that are referenced but missing.
    pub missing: [u64; 3],
}

/// The relations that are areas by the rules.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct AreaReport {
    /// The number of areas made.
    pub made: u64,
    /// The number of relations left out because a ring is not closed.
    pub unclosed: u64,
    /// The number of relations left out because members are missing or no member is a way.
    pub incomplete: u64,
    /// The first relations left out, by id.
    pub examples: Vec<i64>,
}

/// A section's place and checksum.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ManifestSection {
    /// Its name.
    pub name: String,
    /// Its offset, a multiple of 64.
    pub offset: u64,
    /// Its length in bytes.
    pub len: u64,
    /// Its BLAKE3.
    pub checksum: [u8; 32],
}

/// The maximum length in bytes of a manifest, of a text or list in it, and of the names of the sources.
pub(super) const LONGEST: usize = 64 << 20;

/// The valid times in seconds since 1970: those of the years -9999 to 9999, which can be written as dates.
pub const TIMES: std::ops::RangeInclusive<i64> = -377_705_023_201..=253_402_300_799;

impl Manifest {
    /// Returns the stored manifest and the stored names of the sources.
    pub(super) fn encode(&self) -> Result<(Vec<u8>, Vec<u8>), Error> {
        let mut nameless = self.clone();
        let names: Vec<String> = nameless.sources.iter_mut().map(|source| std::mem::take(&mut source.name)).collect();
        let mut bytes = encode(&nameless)?;
        bytes.extend(encode(&Tail { triples: self.triples, content: self.content })?);
        Ok((bytes, encode(&names)?))
    }

    /// Parses a stored manifest.
    pub(super) fn decode(bytes: &[u8], names: &[u8]) -> Result<Manifest, Error> {
        let (mut manifest, read): (Manifest, usize) = decode(bytes)?;
        let rest = bytes.get(read..).unwrap_or_default();
        let (tail, read): (Tail, usize) = decode(rest)?;
        (manifest.triples, manifest.content) = (tail.triples, tail.content);
        manifest.name(names)?;
        no_more("manifest", rest.len() - read)?;
        let newest = manifest.triples.map_or(0, |triples| triples.newest);
        for time in [manifest.replication_timestamp, manifest.data_timestamp, newest] {
            if !TIMES.contains(&time) {
                return Err(Error::damaged("manifest", format!("a time out of range: {time} seconds since 1970")));
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
