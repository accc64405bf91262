//! Records with payloads, and the encoding of blocks of them in temporary files.

use crate::codec::{ByteReader, put, put_delta};

/// The position of a record's payload among the payloads of its [`SortRows`].
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct PayloadSpan {
    /// The offset of the first byte.
    pub start: u32,
    /// The number of bytes.
    pub len: u32,
}

/// A record of fixed size that may have a payload of any number of bytes.
pub trait SortRecord: Copy + Default + Send + Sync {
    /// Appends the record without its payload. `previous` is the one before it, or the default: neighbours are much
    /// alike, so that differences are short.
    fn write(&self, previous: &Self, out: &mut Vec<u8>);
    /// Reads the output of [`SortRecord::write`]; returns `None` for bytes that it cannot have written.
    fn read(reader: &mut ByteReader<'_>, previous: &Self) -> Option<Self>;
    /// Returns the position of the record's payload.
    fn span(&self) -> PayloadSpan {
        PayloadSpan::default()
    }
    /// Sets the position of the record's payload.
    fn set_span(&mut self, _: PayloadSpan) {}
}

/// Appends the fields of a record as differences to those of the one before.
#[inline]
pub fn put_fields<const N: usize>(out: &mut Vec<u8>, mut previous: [i64; N], fields: [i64; N]) {
    previous.iter_mut().zip(fields).for_each(|(previous, field)| put_delta(out, previous, field));
}

/// Reads the output of [`put_fields`].
#[inline]
pub fn get_fields<const N: usize>(reader: &mut ByteReader<'_>, mut previous: [i64; N]) -> Option<[i64; N]> {
    for field in &mut previous {
        reader.get_delta(field)?;
    }
    Some(previous)
}

/// Records and their payloads.
#[derive(Debug, Clone)]
pub struct SortRows<T> {
    /// The records.
    pub records: Vec<T>,
    /// Their payloads, in any order.
    pub payload: Vec<u8>,
}

impl<T> Default for SortRows<T> {
    fn default() -> SortRows<T> {
        SortRows { records: Vec::new(), payload: Vec::new() }
    }
}

/// A part of [`SortRows`].
#[derive(Debug, Clone, Copy)]
pub struct RowsView<'a, T> {
    /// The records.
    pub records: &'a [T],
    payload: &'a [u8],
}

impl<'a, T: SortRecord> RowsView<'a, T> {
    /// Returns the payload of one of the records.
    pub fn payload(&self, record: &T) -> &'a [u8] {
        let PayloadSpan { start, len } = record.span();
        &self.payload[start as usize..start as usize + len as usize]
    }

    /// Returns the records of a range.
    pub fn range(&self, range: std::ops::Range<usize>) -> RowsView<'a, T> {
        RowsView { records: &self.records[range], payload: self.payload }
    }
}

impl<T: SortRecord> SortRows<T> {
    /// Adds a record with its payload.
    pub fn push(&mut self, mut record: T, payload: &[u8]) {
        record.set_span(PayloadSpan { start: self.payload.len() as u32, len: payload.len() as u32 });
        self.payload.extend_from_slice(payload);
        self.records.push(record);
    }

    /// Adds copies of other rows.
    pub fn append(&mut self, rows: RowsView<'_, T>) {
        self.records.reserve(rows.records.len());
        rows.records.iter().for_each(|record| self.push(*record, rows.payload(record)));
    }

    /// Returns all of them.
    pub fn view(&self) -> RowsView<'_, T> {
        RowsView { records: &self.records, payload: &self.payload }
    }

    /// The payload of one of the records, or of one that was.
    pub fn payload(&self, record: &T) -> &[u8] {
        self.view().payload(record)
    }

    /// Returns the size in memory, in bytes.
    pub fn bytes(&self) -> usize {
        self.records.len() * size_of::<T>() + self.payload.len()
    }

    /// Removes all, and keeps the memory.
    pub fn clear(&mut self) {
        self.records.clear();
        self.payload.clear();
    }
}

/// Encodes a block: the number of records, then each record with the length of its payload and the payload.
pub(super) fn encode<T: SortRecord>(rows: RowsView<'_, T>) -> Vec<u8> {
    let mut out = Vec::with_capacity(size_of_val(rows.records) / 2 + 16);
    put(&mut out, rows.records.len() as u64);
    let mut previous = T::default();
    for record in rows.records {
        record.write(&previous, &mut out);
        let payload = rows.payload(record);
        put(&mut out, payload.len() as u64);
        out.extend_from_slice(payload);
        previous = *record;
    }
    out
}

/// Appends the records of a block; `None` where these are not the bytes of one.
pub(super) fn decode<T: SortRecord>(bytes: &[u8], rows: &mut SortRows<T>) -> Option<()> {
    let mut reader = ByteReader::new(bytes);
    let count = reader.get()?;
    let mut previous = T::default();
    rows.records.reserve(usize::try_from(count).ok().filter(|&n| n <= bytes.len())?);
    for _ in 0..count {
        previous = T::read(&mut reader, &previous)?;
        let len = usize::try_from(reader.get()?).ok()?;
        rows.push(previous, reader.take(len)?);
    }
    reader.is_at_end().then_some(())
}
