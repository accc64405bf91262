//! The dictionary of terms with text: keys in byte order, front-coded in buckets of 16. The first key of a bucket is
//! stored whole; each other key stores the length of the prefix it shares with the previous one. It is read in place;
//! the number of a key is its position.

use std::cmp::Ordering;
use std::sync::Arc;

use super::layout;
use terrapin_snapshot::{
    CheckedSection, CheckedWriter, ColumnWriter, Error, Fault, SectionColumn, Snapshot, SnapshotWriter,
};

const BUCKET: u64 = 16;

/// A writer of the dictionary.
pub struct StringsWriter {
    out: CheckedWriter,
    starts: Vec<u64>,
    previous: Vec<u8>,
    bytes: Vec<u8>,
    len: u64,
}

impl StringsWriter {
    /// Starts the dictionary. Other sections must not be written until [`StringsWriter::finish`].
    ///
    /// # Errors
    /// Returns the error of the operating system.
    pub fn begin(writer: &mut SnapshotWriter) -> Result<StringsWriter, Error> {
        let out = CheckedWriter::begin(writer, layout::STRINGS)?;
        Ok(StringsWriter { out, starts: Vec::new(), previous: Vec::new(), bytes: Vec::new(), len: 0 })
    }

    /// Appends a key, which must be greater in byte order than the previous one.
    ///
    /// # Errors
    /// Returns the error of the operating system.
    pub fn push(&mut self, writer: &mut SnapshotWriter, key: &[u8]) -> Result<(), Error> {
        self.bytes.clear();
        let shared = if self.len.is_multiple_of(BUCKET) {
            self.starts.push(self.out.len());
            0
        } else {
            let shared = self.previous.iter().zip(key).take_while(|(a, b)| a == b).count();
            put(&mut self.bytes, shared);
            shared
        };
        put(&mut self.bytes, key.len() - shared);
        self.bytes.extend_from_slice(&key[shared..]);
        self.out.push(writer, &self.bytes)?;
        self.previous.truncate(shared);
        self.previous.extend_from_slice(&key[shared..]);
        self.len += 1;
        Ok(())
    }

    /// Completes the dictionary and returns the number of keys.
    ///
    /// # Errors
    /// Returns the error of the operating system.
    pub fn finish(self, writer: &mut SnapshotWriter) -> Result<u64, Error> {
        let end = self.out.len();
        self.out.finish(writer, self.len)?;
        let mut starts = ColumnWriter::begin(writer, layout::BUCKETS)?;
        for start in self.starts.into_iter().chain([end]) {
            starts.push(writer, start)?;
        }
        starts.finish(writer)?;
        Ok(self.len)
    }
}

fn put(out: &mut Vec<u8>, mut value: usize) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

/// Reads a variable-length number from the front of `bytes`.
#[inline]
fn take(bytes: &mut &[u8]) -> Option<usize> {
    let mut value = 0;
    for shift in (0..63).step_by(7) {
        let (&byte, rest) = bytes.split_first()?;
        *bytes = rest;
        value |= usize::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            return Some(value);
        }
    }
    None
}

#[inline]
fn take_bytes<'a>(bytes: &mut &'a [u8], len: usize) -> Option<&'a [u8]> {
    let (taken, rest) = bytes.split_at_checked(len)?;
    *bytes = rest;
    Some(taken)
}

/// The dictionary.
pub struct StringDictionary {
    content: CheckedSection,
    starts: SectionColumn,
}

impl StringDictionary {
    /// Opens the dictionary of `snapshot`.
    ///
    /// # Errors
    /// Returns an error if the sections are missing or damaged.
    pub fn open(snapshot: &Arc<Snapshot>, fault: &Arc<Fault>) -> Result<StringDictionary, Error> {
        let content = CheckedSection::open(snapshot, layout::STRINGS, fault)?;
        let starts = SectionColumn::open(snapshot, layout::BUCKETS, fault)?;
        if content.number().div_ceil(BUCKET).checked_add(1) != Some(starts.len()) {
            return Err(Error::damaged(layout::BUCKETS, "it does not fit the dictionary"));
        }
        Ok(StringDictionary { content, starts })
    }

    /// Returns an empty dictionary.
    pub fn none(fault: &Arc<Fault>) -> StringDictionary {
        let content = CheckedSection::held(layout::STRINGS, Vec::new(), 0, fault);
        StringDictionary { content, starts: SectionColumn::held(layout::BUCKETS, [0], fault) }
    }

    /// Returns the number of keys.
    pub fn len(&self) -> u64 {
        self.content.number()
    }

    fn bucket(&self, bucket: u64) -> Option<&[u8]> {
        let (start, end) = (self.starts.get(bucket) as usize, self.starts.get(bucket + 1) as usize);
        self.content.get(start, end.checked_sub(start)?)
    }

    /// Writes the key with a number to `key`; returns `None` if the number is too large or the snapshot is damaged.
    pub fn key(&self, number: u64, key: &mut Vec<u8>) -> Option<()> {
        key.clear();
        if number >= self.len() {
            return None;
        }
        let found = self.walk(number, key);
        if found.is_none() {
            self.content.report("a bucket is not whole");
        }
        found
    }

    fn walk(&self, number: u64, key: &mut Vec<u8>) -> Option<()> {
        let mut bytes = self.bucket(number / BUCKET)?;
        for slot in 0..=number % BUCKET {
            let shared = if slot == 0 { 0 } else { take(&mut bytes)? };
            let rest = take(&mut bytes)?;
            key.truncate(shared);
            key.extend_from_slice(take_bytes(&mut bytes, rest)?);
        }
        Some(())
    }

    /// Returns the number of a key.
    pub fn find(&self, key: &[u8]) -> Option<u64> {
        let place = self.lower_bound(key);
        place.1.then_some(place.0)
    }

    /// Returns the number of the first key that is at least `key`, and whether it is equal.
    pub fn lower_bound(&self, key: &[u8]) -> (u64, bool) {
        // Find the last bucket with a first key of at most `key`.
        let (mut low, mut high) = (0, self.len().div_ceil(BUCKET));
        while low < high {
            let middle = low + (high - low) / 2;
            match self.head(middle).map(|head| head.cmp(key)) {
                Some(Ordering::Equal) => return (middle * BUCKET, true),
                Some(Ordering::Less) => low = middle + 1,
                Some(Ordering::Greater) => high = middle,
                None => {
                    self.content.report("a bucket is not whole");
                    return (self.len(), false);
                }
            }
        }
        if low == 0 {
            return (0, false);
        }
        let bucket = low - 1;
        let first = bucket * BUCKET;
        let keys = (self.len() - first).min(BUCKET);
        match self.scan(bucket, keys, key) {
            Some((slot, equal)) => (first + slot, equal),
            None => {
                self.content.report("a bucket is not whole");
                (self.len(), false)
            }
        }
    }

    #[inline]
    fn head(&self, bucket: u64) -> Option<&[u8]> {
        let start = self.starts.get(bucket) as usize;
        // Most first keys are short: read a few bytes for the length, then the key.
        let mut bytes = self.content.get(start, 10.min(self.content.len().checked_sub(start)?))?;
        let before = bytes.len();
        let len = take(&mut bytes)?;
        self.content.get(start + before - bytes.len(), len)
    }

    /// Returns the slot of the first key of a bucket that is at least `key`, or the number of keys if all are smaller.
    fn scan(&self, bucket: u64, keys: u64, key: &[u8]) -> Option<(u64, bool)> {
        let mut bytes = self.bucket(bucket)?;
        // Length of the prefix that the previous key shares with `key`; the previous key is smaller.
        let mut common = 0;
        for slot in 0..keys {
            let shared = if slot == 0 { 0 } else { take(&mut bytes)? };
            let rest = take(&mut bytes)?;
            let rest = take_bytes(&mut bytes, rest)?;
            match shared.cmp(&common) {
                // It differs from the previous key within the prefix shared with `key`; therefore it is greater.
                Ordering::Less => return Some((slot, false)),
                // It differs from `key` in the same place as the previous key.
                Ordering::Greater => continue,
                Ordering::Equal => {}
            }
            let wanted = key.get(shared..)?;
            let more = rest.iter().zip(wanted).take_while(|(a, b)| a == b).count();
            match rest.cmp(wanted) {
                Ordering::Equal => return Some((slot, true)),
                Ordering::Greater => return Some((slot, false)),
                Ordering::Less => common = shared + more,
            }
        }
        Some((keys, false))
    }
}
