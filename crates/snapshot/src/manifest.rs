//! The manifest: where every byte of the snapshot came from.

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
    /// How many triples and terms; `None` for a snapshot without triples, whose manifest ends before.
    #[serde(skip)]
    pub triples: Option<TripleCounts>,
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
    /// Its name without folders.
    pub name: String,
    /// Its length in bytes.
    pub bytes: u64,
    /// Its SHA-256, hexadecimal.
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

impl Manifest {
    pub(super) fn encode(&self) -> Result<Vec<u8>, Error> {
        let failed = |e| Error::damaged("manifest", format!("cannot be written: {e}"));
        let mut bytes = bincode::serde::encode_to_vec(self, config::standard()).map_err(failed)?;
        if let Some(triples) = &self.triples {
            bytes.extend(bincode::serde::encode_to_vec(triples, config::standard()).map_err(failed)?);
        }
        Ok(bytes)
    }

    pub(super) fn decode(bytes: &[u8]) -> Result<Manifest, Error> {
        let limited = config::standard().with_limit::<{ 64 << 20 }>();
        let failed = |e: bincode::error::DecodeError| Error::damaged("manifest", e.to_string());
        let (mut manifest, mut read): (Manifest, usize) =
            bincode::serde::decode_from_slice(bytes, limited).map_err(failed)?;
        if let Some(rest) = bytes.get(read..).filter(|rest| !rest.is_empty()) {
            let (triples, more) = bincode::serde::decode_from_slice(rest, limited).map_err(failed)?;
            manifest.triples = Some(triples);
            read += more;
        }
        match bytes.len() - read {
            0 => Ok(manifest),
            more => Err(Error::damaged("manifest", format!("{more} bytes too many"))),
        }
    }

    pub(super) fn digest(bytes: &[u8]) -> [u8; 32] {
        Sha256::digest(bytes).into()
    }
}
