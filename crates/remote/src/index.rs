//! A signed index of snapshots: a small JSON file that gives short names digests and addresses, with a signature of
//! minisign next to it (`index.json.minisig`).
//!
//! The signature shows that the index comes from the holder of a key. The number in the index and its expiry protect
//! against a server that sends an old one: an index is rejected if its number is lower than one seen before, and after
//! its expiry.

use std::collections::BTreeMap;
use std::io::{self, Write};

use minisign_verify::{PublicKey, Signature};
use serde::Deserialize;

use super::{Remote, TransferError};

/// The maximum length of an index and of a signature in bytes.
pub const MOST: usize = 1 << 20;
/// The version of the format.
const FORMAT: u32 = 1;

/// A snapshot in an index.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct IndexedSnapshot {
    /// Its digest in hexadecimal.
    pub digest: String,
    /// Its address: a file that ends with `.terrapin`, or a folder of snapshots under their digests.
    pub url: String,
    /// Its length in bytes.
    #[serde(default)]
    pub bytes: u64,
    /// Its licence.
    #[serde(default)]
    pub licence: String,
    /// A description for people.
    #[serde(default)]
    pub description: String,
}

/// An index whose signature is valid.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct SnapshotIndex {
    /// The version of the format.
    pub format: u32,
    /// The number of this index; every newer one has a greater number.
    pub number: u64,
    /// The end of its validity, as in 2027-01-31T00:00:00Z.
    pub expires: String,
    /// The snapshots by their short names.
    pub snapshots: BTreeMap<String, IndexedSnapshot>,
}

/// A reason to reject an index.
#[derive(Debug, thiserror::Error)]
pub enum IndexError {
    /// The storage failed.
    #[error(transparent)]
    Transfer(#[from] TransferError),
    /// A file does not exist.
    #[error("{address} has no {name}")]
    Absent {
        /// The address of the folder.
        address: String,
        /// The file.
        name: String,
    },
    /// The public key is not one.
    #[error("the key is not a public key of minisign: {0}")]
    Key(String),
    /// The signature is missing, of another key, or of other bytes.
    #[error("{name}: {reason}; the index is not trusted")]
    Signature {
        /// The file.
        name: String,
        /// The reason.
        reason: String,
    },
    /// The signed bytes are not an index.
    #[error("{name} is not an index of snapshots: {reason}")]
    Malformed {
        /// The file.
        name: String,
        /// The reason.
        reason: String,
    },
    /// It has expired.
    #[error("{name} expired on {expires}; if your clock is right, the server sends an old index")]
    Expired {
        /// The file.
        name: String,
        /// Its expiry.
        expires: String,
    },
    /// A newer index was seen before.
    #[error("{name} has the number {number}, but number {seen} was seen before: the server sends an old index")]
    Rollback {
        /// The file.
        name: String,
        /// Its number.
        number: u64,
        /// The number of the newest index seen.
        seen: u64,
    },
}

impl SnapshotIndex {
    /// Fetches the index at an address and its signature, and checks both. `key` is a public key of minisign, as text
    /// or as the content of its file. `has_passed` reports whether a time in RFC 3339 is over, or fails for another
    /// text. `seen` is the number of the newest index seen before.
    ///
    /// # Errors
    /// Returns an error if a file cannot be fetched, is larger than [`MOST`], or the index is not valid.
    pub fn fetch(
        address: &str,
        options: &[(String, String)],
        key: &str,
        has_passed: &dyn Fn(&str) -> Result<bool, String>,
        seen: u64,
    ) -> Result<SnapshotIndex, IndexError> {
        let (folder, name) = address.rsplit_once('/').unwrap_or((address, ""));
        let remote = Remote::open(folder, options)?;
        let get = |name: &str| -> Result<Vec<u8>, IndexError> {
            let mut bytes = ShortFile(Vec::new());
            match remote.fetch(name, &mut bytes) {
                Ok(true) => Ok(bytes.0),
                Ok(false) => Err(IndexError::Absent { address: folder.to_owned(), name: name.to_owned() }),
                Err(error) => Err(error.into()),
            }
        };
        let bytes = get(name)?;
        let signature = match get(&format!("{name}.minisig")) {
            Err(IndexError::Absent { .. }) => {
                let reason = format!("it has no signature {name}.minisig");
                return Err(IndexError::Signature { name: name.to_owned(), reason });
            }
            signature => signature?,
        };
        SnapshotIndex::verified(name, &bytes, &signature, key, has_passed, seen)
    }

    /// Checks an index with its signature, like [`SnapshotIndex::fetch`].
    ///
    /// # Errors
    /// Returns an error if the index is not valid.
    pub fn verified(
        name: &str,
        bytes: &[u8],
        signature: &[u8],
        key: &str,
        has_passed: &dyn Fn(&str) -> Result<bool, String>,
        seen: u64,
    ) -> Result<SnapshotIndex, IndexError> {
        let key = public_key(key)?;
        let unsigned = |reason: String| IndexError::Signature { name: name.to_owned(), reason };
        let malformed = |reason: String| IndexError::Malformed { name: name.to_owned(), reason };
        let text = std::str::from_utf8(signature).map_err(|e| unsigned(format!("the signature is not text: {e}")))?;
        let signature = Signature::decode(text).map_err(|e| unsigned(format!("the signature is broken: {e}")))?;
        key.verify(bytes, &signature, false).map_err(|e| unsigned(format!("the signature does not fit: {e}")))?;
        // Nothing of the file is read before its signature was checked.
        let index: SnapshotIndex = serde_json::from_slice(bytes).map_err(|e| malformed(e.to_string()))?;
        if index.format != FORMAT {
            return Err(malformed(format!("it has format {}, this program reads {FORMAT}", index.format)));
        }
        for (short, snapshot) in &index.snapshots {
            if snapshot.digest.len() != 64 || !snapshot.digest.bytes().all(|b| b.is_ascii_hexdigit()) {
                return Err(malformed(format!("the digest of {short} is not 64 hexadecimal digits")));
            }
        }
        if has_passed(&index.expires).map_err(malformed)? {
            return Err(IndexError::Expired { name: name.to_owned(), expires: index.expires });
        }
        if index.number < seen {
            return Err(IndexError::Rollback { name: name.to_owned(), number: index.number, seen });
        }
        Ok(index)
    }
}

/// Reads a public key: base64, or the content of a key file, whose first line is a comment.
fn public_key(text: &str) -> Result<PublicKey, IndexError> {
    let text = text.trim();
    let key = if text.contains('\n') { PublicKey::decode(text) } else { PublicKey::from_base64(text) };
    key.map_err(|e| IndexError::Key(e.to_string()))
}

/// A file of at most [`MOST`] bytes.
struct ShortFile(Vec<u8>);

impl Write for ShortFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.0.len() + bytes.len() > MOST {
            return Err(io::Error::other(format!("the file is larger than {MOST} bytes")));
        }
        self.0.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
