//! Sections of compressed pages: `NAME` holds zstd frames one after another, each with zstd's checksum of its content;
//! `NAME.index` holds where each begins, u64, and where the last one ends. A page of no bytes has no frame.

use std::cell::RefCell;

use zstd::bulk::{Compressor, Decompressor};

use super::{Error, Snapshot, Writer};

/// Bytes that a page may have once decompressed: what a damaged or hostile frame can make us allocate. Pages have some
/// hundreds of elements and some kilobytes.
const MAX_PAGE: usize = 256 << 20;

thread_local! {
    /// zstd's working memory is larger than a page, and clearing it dearer than using it: one a thread.
    static COMPRESSOR: RefCell<Option<(i32, Compressor<'static>)>> = const { RefCell::new(None) };
    static DECOMPRESSOR: RefCell<Option<Decompressor<'static>>> = const { RefCell::new(None) };
}

/// Compresses the content of one page.
///
/// # Errors
/// The content is larger than a page may be; zstd's, which in practice is being out of memory.
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

/// Writes one section of pages and its index.
pub struct PageWriter {
    name: String,
    starts: Vec<u64>,
    at: u64,
}

impl PageWriter {
    /// Begins the section `name` in `writer`; until [`PageWriter::finish`] nothing else may be written there.
    ///
    /// # Errors
    /// The operating system's.
    pub fn begin(writer: &mut Writer, name: &str) -> Result<PageWriter, Error> {
        writer.begin(name)?;
        Ok(PageWriter { name: name.to_owned(), starts: vec![0], at: 0 })
    }

    /// Appends a page that [`compress`] made.
    ///
    /// # Errors
    /// The operating system's.
    pub fn push(&mut self, writer: &mut Writer, frame: &[u8]) -> Result<(), Error> {
        self.at += frame.len() as u64;
        self.starts.push(self.at);
        writer.append(frame)
    }

    /// Ends the section and writes its index.
    ///
    /// # Errors
    /// The operating system's.
    pub fn finish(self, writer: &mut Writer) -> Result<(), Error> {
        let index: Vec<u8> = self.starts.iter().flat_map(|s| s.to_le_bytes()).collect();
        writer.section(&format!("{}.index", self.name), &index)
    }
}

/// The view of a section of pages.
#[derive(Clone, Copy)]
pub struct Pages<'a> {
    name: &'a str,
    bytes: &'a [u8],
    index: &'a [u8],
}

impl<'a> Pages<'a> {
    /// The section `name` of `snapshot`.
    ///
    /// # Errors
    /// The index is damaged.
    pub fn of(snapshot: &'a Snapshot, name: &'a str, index_name: &str) -> Result<Pages<'a>, Error> {
        Ok(Pages { name, bytes: snapshot.unchecked(name), index: snapshot.section(index_name)? })
    }

    /// How many pages there are.
    pub fn len(&self) -> usize {
        (self.index.len() / 8).saturating_sub(1)
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The decompressed content of a page.
    ///
    /// # Errors
    /// The page is damaged.
    pub fn read(&self, page: usize) -> Result<Vec<u8>, Error> {
        let damaged = |what: &str| Error::damaged(self.name, format!("page {page}: {what}"));
        let start = self.start(page).ok_or_else(|| damaged("beyond the index"))?;
        let end = self.start(page + 1).ok_or_else(|| damaged("beyond the index"))?;
        let frame = self.bytes.get(start..end).ok_or_else(|| damaged("beyond the section"))?;
        if frame.is_empty() {
            return Ok(Vec::new());
        }
        let len = match zstd::zstd_safe::get_frame_content_size(frame) {
            Ok(Some(len)) if len <= MAX_PAGE as u64 => len as usize,
            _ => return Err(damaged("no content size")),
        };
        decompress(frame, len).map_err(|e| damaged(&e.to_string()))
    }

    fn start(&self, page: usize) -> Option<usize> {
        let bytes = self.index.get(page * 8..page * 8 + 8)?;
        Some(u64::from_le_bytes(bytes.try_into().ok()?) as usize)
    }
}
