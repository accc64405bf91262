//! Sections of compressed pages. `NAME` has one zstd frame per page, with zstd's checksum of its content;
//! `NAME.starts` is a column with the offset of each page and the end of the last one. An empty page has no frame.
//!
//! Older files have uncompressed u64 offsets in `NAME.index` instead.

use std::cell::RefCell;
use std::sync::Arc;

use zstd::bulk::{Compressor, Decompressor};

use super::{ColumnWriter, Error, Fault, SectionColumn, Snapshot, SnapshotWriter};
use terrapin_budget as budget;

/// The maximum length in bytes of a decompressed page, which limits the allocation for a damaged or hostile frame.
/// Pages usually have some hundreds of elements and some kilobytes.
const MAX_PAGE: usize = 256 << 20;

thread_local! {
    /// One per thread, because clearing zstd's working memory, which is larger than a page, costs more than
    /// compressing one.
    static COMPRESSOR: RefCell<Option<(i32, Compressor<'static>)>> = const { RefCell::new(None) };
    static DECOMPRESSOR: RefCell<Option<Decompressor<'static>>> = const { RefCell::new(None) };
}

/// Compresses the content of one page.
///
/// # Errors
/// Returns an error if the content exceeds the maximum length, or zstd fails, in practice for lack of memory.
pub fn compress(content: &[u8], level: i32) -> std::io::Result<Vec<u8>> {
    if content.len() > MAX_PAGE {
        return Err(std::io::Error::other(format!("a page of more than {MAX_PAGE} bytes")));
    }
    if content.is_empty() {
        return Ok(Vec::new());
    }
    COMPRESSOR.with_borrow_mut(|slot| {
        let compressor = match slot {
            Some((at, compressor)) if *at == level => compressor,
            _ => {
                let mut compressor = Compressor::new(level)?;
                compressor.include_checksum(true)?;
                compressor.include_contentsize(true)?;
                &mut slot.insert((level, compressor)).1
            }
        };
        compressor.compress(content)
    })
}

fn decompress(frame: &[u8], len: usize) -> std::io::Result<Vec<u8>> {
    DECOMPRESSOR.with_borrow_mut(|slot| {
        let decompressor = match slot {
            Some(decompressor) => decompressor,
            None => slot.insert(Decompressor::new()?),
        };
        decompressor.decompress(frame, len)
    })
}

/// Writes a section of pages and the column of their offsets.
pub struct PageWriter {
    name: String,
    /// The lengths of the pages, limited by [`MAX_PAGE`]: 80 MB for a planet's nodes.
    lengths: Vec<u32>,
}

impl PageWriter {
    /// Begins the section `name` in `writer`, which must not be used otherwise until [`PageWriter::finish`] is called.
    ///
    /// # Errors
    /// Returns an error if the file cannot be written.
    pub fn begin(writer: &mut SnapshotWriter, name: &str) -> Result<PageWriter, Error> {
        writer.begin(name)?;
        Ok(PageWriter { name: name.to_owned(), lengths: Vec::new() })
    }

    /// Returns the number of written pages.
    pub fn len(&self) -> u64 {
        self.lengths.len() as u64
    }

    /// Reports whether no page was written.
    pub fn is_empty(&self) -> bool {
        self.lengths.is_empty()
    }

    /// Appends a page compressed by [`compress`].
    ///
    /// # Errors
    /// Returns an error if the file cannot be written.
    pub fn push(&mut self, writer: &mut SnapshotWriter, frame: &[u8]) -> Result<(), Error> {
        self.lengths.push(frame.len() as u32);
        writer.append(frame)
    }

    /// Ends the section and writes the offsets of its pages.
    ///
    /// # Errors
    /// Returns an error if the file cannot be written.
    pub fn finish(self, writer: &mut SnapshotWriter) -> Result<(), Error> {
        let mut end = 0;
        let ends = self.lengths.iter().map(|&len| {
            end += u64::from(len);
            end
        });
        ColumnWriter::write(writer, &starts(&self.name), std::iter::once(0).chain(ends))
    }
}

fn starts(name: &str) -> String {
    format!("{name}.starts")
}

/// A section of pages.
pub struct PagedSection {
    snapshot: Arc<Snapshot>,
    name: Box<str>,
    starts: SectionColumn,
}

impl PagedSection {
    /// Opens the section `name` of `snapshot`.
    ///
    /// # Errors
    /// Returns an error if the section is missing or the column of offsets is damaged.
    pub fn open(snapshot: &Arc<Snapshot>, name: &str, fault: &Arc<Fault>) -> Result<PagedSection, Error> {
        let (column, index) = (starts(name), format!("{name}.index"));
        let starts = match snapshot.place(&index) {
            None => SectionColumn::open(snapshot, &column, fault)?,
            Some(_) => {
                let words = snapshot.section(&index)?.as_chunks::<8>().0;
                SectionColumn::held(&index, words.iter().map(|word| u64::from_le_bytes(*word)), fault)
            }
        };
        Ok(PagedSection { snapshot: Arc::clone(snapshot), name: name.into(), starts })
    }

    /// Returns the number of pages.
    pub fn len(&self) -> u64 {
        self.starts.len().saturating_sub(1)
    }

    /// Reports whether the section has no pages.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the number of pages of the section `name` without verifying checksums; `None` if the snapshot has no
    /// such section.
    ///
    /// # Errors
    /// Returns an error if the trailer of the column is damaged.
    pub fn announced(snapshot: &Snapshot, name: &str) -> Result<Option<u64>, Error> {
        let index = snapshot.place(&format!("{name}.index")).map(|place| place.len() as u64 / 8);
        let starts = match index {
            Some(starts) => Some(starts),
            None => SectionColumn::announced(snapshot, &starts(name))?,
        };
        Ok(starts.map(|starts| starts.saturating_sub(1)))
    }

    /// Decompresses a page.
    ///
    /// # Errors
    /// Returns an error if the page is damaged.
    pub fn read(&self, page: u64) -> Result<Vec<u8>, Error> {
        let (frame, len) = self.frame(page)?;
        if frame.is_empty() {
            return Ok(Vec::new());
        }
        // The decompressed length comes from the file, so it is charged before the allocation.
        budget::charge(len as u64);
        decompress(frame, len).map_err(|e| self.damaged(page, &e.to_string()))
    }

    /// Returns the decompressed length of a page; 0 if it is damaged.
    pub fn content_len(&self, page: u64) -> u64 {
        self.frame(page).map_or(0, |(_, len)| len as u64)
    }

    fn damaged(&self, page: u64, what: &str) -> Error {
        Error::damaged(&*self.name, format!("page {page}: {what}"))
    }

    /// Returns the compressed bytes of a page and the length of its content.
    fn frame(&self, page: u64) -> Result<(&[u8], usize), Error> {
        if page >= self.len() {
            return Err(self.damaged(page, "beyond the last"));
        }
        let place = self.starts.get(page) as usize..self.starts.get(page + 1) as usize;
        let bytes = self.snapshot.unchecked(&self.name).get(place);
        let frame = bytes.ok_or_else(|| self.damaged(page, "beyond the section"))?;
        if frame.is_empty() {
            return Ok((frame, 0));
        }
        match zstd::zstd_safe::get_frame_content_size(frame) {
            Ok(Some(len)) if len <= MAX_PAGE as u64 => Ok((frame, len as usize)),
            _ => Err(self.damaged(page, "no content size")),
        }
    }
}
