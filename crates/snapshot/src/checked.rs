//! Sections that are read in place, a few bytes at a time: their content lies plain in the file, in granules that each
//! have a checksum, which is compared when the granule is first touched.
//!
//! ```text
//! content                       any length
//! checksums                     8 bytes of BLAKE3 for every 16 KiB of content
//! trailer, 24 bytes             content's length u64, a number of the user's u64, checksum of checksums and these
//! ```
//!
//! Damage does not interrupt the reader: it gets zeros, and the damage is kept in a [`Fault`], which everyone who hands
//! out an answer asks before its end.

use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use super::{Error, Snapshot, Writer};

/// Bytes of content that share a checksum.
const GRANULE: usize = 1 << 14;
const TRAILER: usize = 24;

/// The first damage that was found while reading.
#[derive(Debug, Default)]
pub struct Fault(OnceLock<(String, String)>);

impl Fault {
    /// Remembers damage of a section.
    pub fn report(&self, section: &str, reason: impl Into<String>) {
        let _ = self.0.set((section.to_owned(), reason.into()));
    }

    /// Remembers an error that was met while reading.
    pub fn keep(&self, error: Error) {
        match error {
            Error::Damaged { section, reason } => self.report(&section, reason),
            other => self.report("?", other.to_string()),
        }
    }

    /// Whether there was none.
    ///
    /// # Errors
    /// The damage.
    pub fn check(&self) -> Result<(), Error> {
        match self.0.get() {
            None => Ok(()),
            Some((section, reason)) => Err(Error::damaged(section, reason)),
        }
    }
}

/// Writes one such section.
pub struct CheckedWriter {
    granule: Vec<u8>,
    sums: Vec<u8>,
    len: u64,
}

impl CheckedWriter {
    /// Begins the section `name` in `writer`; until [`CheckedWriter::finish`] nothing else may be written there.
    ///
    /// # Errors
    /// The operating system's.
    pub fn begin(writer: &mut Writer, name: &str) -> Result<CheckedWriter, Error> {
        writer.begin(name)?;
        Ok(CheckedWriter { granule: Vec::with_capacity(GRANULE), sums: Vec::new(), len: 0 })
    }

    /// Bytes of content so far.
    pub fn len(&self) -> u64 {
        self.len
    }

    /// Whether there is none so far.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Appends content.
    ///
    /// # Errors
    /// The operating system's.
    pub fn push(&mut self, writer: &mut Writer, mut bytes: &[u8]) -> Result<(), Error> {
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

    fn flush(&mut self, writer: &mut Writer) -> Result<(), Error> {
        if !self.granule.is_empty() {
            self.sums.extend_from_slice(&sum(&self.granule));
            writer.append(&self.granule)?;
            self.granule.clear();
        }
        Ok(())
    }

    /// Ends the section; `number` is the user's, to be read back as [`Checked::number`].
    ///
    /// # Errors
    /// The operating system's.
    pub fn finish(mut self, writer: &mut Writer, number: u64) -> Result<(), Error> {
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

/// The content of one such section.
pub struct Checked {
    bytes: Bytes,
    name: Box<str>,
    content: Range<usize>,
    sums: Range<usize>,
    number: u64,
    good: Box<[AtomicBool]>,
    fault: Arc<Fault>,
}

/// Where the content is.
enum Bytes {
    /// In the file.
    Mapped(Arc<Snapshot>),
    /// In memory, made of what an older format has instead.
    Held(Vec<u8>),
}

impl Checked {
    /// The section `name`.
    ///
    /// # Errors
    /// It is not there, or its checksums are damaged.
    pub fn open(snapshot: &Arc<Snapshot>, name: &str, fault: &Arc<Fault>) -> Result<Checked, Error> {
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
        Ok(Checked {
            bytes: Bytes::Mapped(Arc::clone(snapshot)),
            name: name.into(),
            content: place.start..place.start + len,
            sums: place.start + len..place.start + trailer_at,
            number: number_at(trailer_at + 8),
            good: (0..granules).map(|_| AtomicBool::new(false)).collect(),
            fault: Arc::clone(fault),
        })
    }

    /// Length of the content and the number of the section `name`, as its last bytes say: neither is compared with a
    /// checksum, which [`Checked::open`] does. `None` if the snapshot has no such section.
    ///
    /// # Errors
    /// The length is not that of the section.
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

    /// Content that is in memory, as that of the section `name`.
    pub fn held(name: &str, content: Vec<u8>, number: u64, fault: &Arc<Fault>) -> Checked {
        Checked {
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

    /// The number given to [`CheckedWriter::finish`].
    pub fn number(&self) -> u64 {
        self.number
    }

    /// Bytes of content.
    pub fn len(&self) -> usize {
        self.content.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.content.is_empty()
    }

    /// Remembers damage that only the meaning of the content shows.
    #[cold]
    pub fn report(&self, reason: &str) {
        self.fault.report(&self.name, reason);
    }

    /// Bytes of the content, compared with their checksums; `None` beyond its end or where they are damaged.
    #[inline]
    pub fn get(&self, at: usize, len: usize) -> Option<&[u8]> {
        let end = at.checked_add(len)?;
        if end > self.content.len() {
            self.report("read beyond its end");
            return None;
        }
        if len == 0 {
            // Content of no bytes has no granule.
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

    /// Eight bytes as a number; 0 where they are damaged.
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
