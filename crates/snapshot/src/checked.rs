//! Sections read in place, a few bytes at a time. Their content is uncompressed and divided into granules with a
//! checksum each, which is verified on first access.
//!
//! ```text
//! content                       any length
//! checksums                     8 bytes of BLAKE3 for every 16 KiB of content
//! trailer, 24 bytes             content's length u64, a number of the caller u64, checksum of checksums and both
//! ```
//!
//! Damage does not interrupt the reader: it reads zeros, and the damage is recorded in a [`Fault`]. Everyone who
//! returns an answer checks the fault first.

use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use super::{Error, Snapshot, SnapshotWriter};

/// The length of a granule in bytes.
const GRANULE: usize = 1 << 14;
const TRAILER: usize = 24;

/// The first damage found while reading.
#[derive(Debug, Default)]
pub struct Fault(OnceLock<(String, String)>);

impl Fault {
    /// Records damage of a section.
    pub fn report(&self, section: &str, reason: impl Into<String>) {
        let _ = self.0.set((section.to_owned(), reason.into()));
    }

    /// Records an error met while reading.
    pub fn keep(&self, error: Error) {
        match error {
            Error::Damaged { section, reason } => self.report(&section, reason),
            other => self.report("?", other.to_string()),
        }
    }

    /// Returns the recorded damage.
    ///
    /// # Errors
    /// Returns an error if damage was recorded.
    pub fn check(&self) -> Result<(), Error> {
        match self.0.get() {
            None => Ok(()),
            Some((section, reason)) => Err(Error::damaged(section, reason)),
        }
    }
}

/// Writes a section of granules.
pub struct CheckedWriter {
    granule: Vec<u8>,
    sums: Vec<u8>,
    len: u64,
}

impl CheckedWriter {
    /// Begins the section `name` in `writer`, which must not be used otherwise until [`CheckedWriter::finish`] is
    /// called.
    ///
    /// # Errors
    /// Returns an error if the file cannot be written.
    pub fn begin(writer: &mut SnapshotWriter, name: &str) -> Result<CheckedWriter, Error> {
        writer.begin(name)?;
        Ok(CheckedWriter { granule: Vec::with_capacity(GRANULE), sums: Vec::new(), len: 0 })
    }

    /// Returns the number of bytes written.
    pub fn len(&self) -> u64 {
        self.len
    }

    /// Reports whether no bytes were written.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Appends content.
    ///
    /// # Errors
    /// Returns an error if the file cannot be written.
    pub fn push(&mut self, writer: &mut SnapshotWriter, mut bytes: &[u8]) -> Result<(), Error> {
        self.len += bytes.len() as u64;
        while !bytes.is_empty() {
            let (now, later) = bytes.split_at(bytes.len().min(GRANULE - self.granule.len()));
            self.granule.extend_from_slice(now);
            bytes = later;
            if self.granule.len() == GRANULE {
                self.flush(writer)?;
            }
        }
        Ok(())
    }

    fn flush(&mut self, writer: &mut SnapshotWriter) -> Result<(), Error> {
        if !self.granule.is_empty() {
            self.sums.extend_from_slice(&sum(&self.granule));
            writer.append(&self.granule)?;
            self.granule.clear();
        }
        Ok(())
    }

    /// Ends the section; [`CheckedSection::number`] returns `number`.
    ///
    /// # Errors
    /// Returns an error if the file cannot be written.
    pub fn finish(mut self, writer: &mut SnapshotWriter, number: u64) -> Result<(), Error> {
        self.flush(writer)?;
        let mut end = self.sums;
        end.extend_from_slice(&self.len.to_le_bytes());
        end.extend_from_slice(&number.to_le_bytes());
        let own = sum(&end);
        end.extend_from_slice(&own);
        writer.append(&end)
    }
}

fn sum(bytes: &[u8]) -> [u8; 8] {
    let mut short = [0; 8];
    short.copy_from_slice(&blake3::hash(bytes).as_bytes()[..8]);
    short
}

/// The content of a section of granules.
pub struct CheckedSection {
    bytes: Bytes,
    name: Box<str>,
    content: Range<usize>,
    sums: Range<usize>,
    number: u64,
    good: Box<[AtomicBool]>,
    fault: Arc<Fault>,
}

/// The storage of the content.
enum Bytes {
    /// In the file.
    Mapped(Arc<Snapshot>),
    /// In memory, converted from an older format.
    Held(Vec<u8>),
}

impl CheckedSection {
    /// Opens the section `name`.
    ///
    /// # Errors
    /// Returns an error if the section is missing or its checksums are damaged.
    pub fn open(snapshot: &Arc<Snapshot>, name: &str, fault: &Arc<Fault>) -> Result<CheckedSection, Error> {
        let damaged = |what: &str| Error::damaged(name, what);
        let place = snapshot.place(name).ok_or_else(|| damaged("the snapshot does not have it"))?;
        let file = snapshot.bytes();
        let bytes = file.get(place.clone()).ok_or_else(|| damaged("beyond the file"))?;
        let trailer_at = bytes.len().checked_sub(TRAILER).ok_or_else(|| damaged("too short"))?;
        let number_at = |at: usize| bytes.get(at..at + 8).and_then(|b| b.try_into().ok()).map_or(0, u64::from_le_bytes);
        let len = usize::try_from(number_at(trailer_at)).map_err(|_| damaged("too long"))?;
        let granules = len.div_ceil(GRANULE);
        if len.checked_add(granules * 8) != Some(trailer_at) {
            return Err(damaged("its length differs"));
        }
        if bytes[trailer_at + 16..] != sum(&bytes[len..trailer_at + 16]) {
            return Err(damaged("checksum of its checksums differs"));
        }
        Ok(CheckedSection {
            bytes: Bytes::Mapped(Arc::clone(snapshot)),
            name: name.into(),
            content: place.start..place.start + len,
            sums: place.start + len..place.start + trailer_at,
            number: number_at(trailer_at + 8),
            good: (0..granules).map(|_| AtomicBool::new(false)).collect(),
            fault: Arc::clone(fault),
        })
    }

    /// Returns the content's length and the number of the section `name` from its trailer, without verifying its
    /// checksum; [`Checked::open`] does. Returns `None` if the snapshot has no such section.
    ///
    /// # Errors
    /// Returns an error if the length does not match the section.
    pub(super) fn announced(snapshot: &Snapshot, name: &str) -> Result<Option<(u64, u64)>, Error> {
        let Some(place) = snapshot.place(name) else { return Ok(None) };
        let bytes = snapshot.bytes().get(place).unwrap_or_default();
        let Some((before, trailer)) = bytes.split_last_chunk::<TRAILER>() else {
            return Err(Error::damaged(name, "too short"));
        };
        let number_at = |at: usize| trailer[at..at + 8].try_into().map_or(0, u64::from_le_bytes);
        let (len, number) = (number_at(0), number_at(8));
        let sums = len.div_ceil(GRANULE as u64).saturating_mul(8);
        match len.checked_add(sums) == Some(before.len() as u64) {
            true => Ok(Some((len, number))),
            false => Err(Error::damaged(name, "its length differs")),
        }
    }

    /// Returns content held in memory, as if read from the section `name`.
    pub fn held(name: &str, content: Vec<u8>, number: u64, fault: &Arc<Fault>) -> CheckedSection {
        CheckedSection {
            name: name.into(),
            content: 0..content.len(),
            sums: 0..0,
            number,
            good: (0..content.len().div_ceil(GRANULE)).map(|_| AtomicBool::new(true)).collect(),
            bytes: Bytes::Held(content),
            fault: Arc::clone(fault),
        }
    }

    #[inline]
    fn all(&self) -> &[u8] {
        match &self.bytes {
            Bytes::Mapped(snapshot) => snapshot.bytes(),
            Bytes::Held(content) => content,
        }
    }

    /// Returns the number given to [`CheckedWriter::finish`].
    pub fn number(&self) -> u64 {
        self.number
    }

    /// Returns the length of the content in bytes.
    pub fn len(&self) -> usize {
        self.content.len()
    }

    /// Reports whether the content is empty.
    pub fn is_empty(&self) -> bool {
        self.content.is_empty()
    }

    /// Records damage that shows only in the meaning of the content.
    #[cold]
    pub fn report(&self, reason: &str) {
        self.fault.report(&self.name, reason);
    }

    /// Returns verified bytes of the content; `None` if they are out of range or damaged.
    #[inline]
    pub fn get(&self, at: usize, len: usize) -> Option<&[u8]> {
        let end = at.checked_add(len)?;
        if end > self.content.len() {
            self.report("read beyond its end");
            return None;
        }
        if len == 0 {
            // Empty content has no granule.
            return Some(&[]);
        }
        let last = end.saturating_sub(1) / GRANULE;
        for granule in at / GRANULE..=last {
            if !self.good.get(granule)?.load(Ordering::Relaxed) && !self.compare(granule) {
                return None;
            }
        }
        self.all().get(self.content.start + at..self.content.start + end)
    }

    /// Returns eight bytes as a number; 0 if they are damaged.
    #[inline]
    pub fn word(&self, at: usize) -> u64 {
        self.get(at, 8).and_then(|b| b.try_into().ok()).map_or(0, u64::from_le_bytes)
    }

    #[cold]
    fn compare(&self, granule: usize) -> bool {
        let file = self.all();
        let start = self.content.start + granule * GRANULE;
        let content = file.get(start..(start + GRANULE).min(self.content.end));
        let expected = file.get(self.sums.start + granule * 8..).and_then(|b| b.get(..8));
        let same = content.zip(expected).is_some_and(|(content, expected)| sum(content) == expected);
        if same {
            if let Some(good) = self.good.get(granule) {
                good.store(true, Ordering::Relaxed);
            }
        } else {
            self.report(&format!("checksum of granule {granule} differs"));
        }
        same
    }
}
