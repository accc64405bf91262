//! Opens and unpacks texts and splits them into blocks of whole lines. This module does not interpret the lines.

use crate::error::{LoaderError, TextProblem};
use crate::format::{BUFFER, Counter, look_at};
use bzip2::bufread::MultiBzDecoder;
use flate2::bufread::MultiGzDecoder;
use std::cell::Cell;
use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;
use std::rc::Rc;

/// Maximum size in bytes of a line, and of a text that is read as a whole.
pub(crate) const MAX_LINE: usize = 64 << 20;

/// Minimum size of a block in bytes; the last block may be smaller.
const BLOCK: usize = 1 << 20;

/// A text that has been opened.
pub(crate) struct TextSource {
    /// The unpacked bytes without a byte order mark.
    pub(crate) reader: Box<dyn BufRead>,
    /// Number of bytes read from the file so far.
    pub(crate) position: Rc<Cell<u64>>,
    /// Size of the file in bytes; 0 if it is not a regular file.
    pub(crate) bytes_total: u64,
}

/// Opens a text. The compression is detected by the first bytes. Also returns the first `bytes` of the unpacked text.
pub(crate) fn open(path: &Path, bytes: usize) -> Result<(Vec<u8>, TextSource), LoaderError> {
    let fail = |source| LoaderError::Open { file: path.to_path_buf(), source };
    let (counter, bytes_total) = Counter::open(path)?;
    let position = Rc::clone(&counter.position);
    let (start, reader) = look_at(4, counter).map_err(fail)?;
    let unpacked: Box<dyn BufRead> = match start.as_slice() {
        [0x1f, 0x8b, ..] => Box::new(BufReader::with_capacity(BUFFER, MultiGzDecoder::new(reader))),
        [b'B', b'Z', b'h', ..] => Box::new(BufReader::with_capacity(BUFFER, MultiBzDecoder::new(reader))),
        [0x28, 0xb5, 0x2f, 0xfd] | [0x50..=0x5f, 0x2a, 0x4d, 0x18] => {
            let decoder = zstd::stream::read::Decoder::with_buffer(reader).map_err(fail)?;
            Box::new(BufReader::with_capacity(BUFFER, decoder))
        }
        [b'P', b'K', 3, 4] => {
            let reason = "zip files are not supported; unpack the file first";
            return Err(LoaderError::Format { file: path.to_path_buf(), reason });
        }
        _ => Box::new(reader),
    };
    let read = |source: io::Error| LoaderError::Text {
        file: path.to_path_buf(),
        line: 1,
        offset: 0,
        problem: TextProblem::Read(source.to_string()),
    };
    let (mark, reader) = look_at(3, unpacked).map_err(read)?;
    let reader: Box<dyn BufRead> = if mark == b"\xef\xbb\xbf" {
        let mut reader = reader;
        reader.consume(3);
        Box::new(reader)
    } else {
        Box::new(reader)
    };
    let (start, reader) = look_at(bytes, reader).map_err(read)?;
    Ok((start, TextSource { reader: Box::new(reader), position, bytes_total }))
}

/// Consecutive whole lines of a text.
#[derive(Debug)]
pub(crate) struct LineBlock {
    /// The lines with their line ends; the last line of a text may have none.
    pub(crate) bytes: Vec<u8>,
    /// Offset of the lines in the unpacked text.
    pub(crate) offset: u64,
    /// Number of bytes read from the file when the lines were complete.
    pub(crate) position: u64,
    /// Whether they are the whole text, to be read as one unit.
    pub(crate) whole: bool,
}

/// Approximate memory per byte of a line in bytes: the byte itself and the triples from it.
const EXPANSION: u64 = 8;

impl LineBlock {
    /// Returns the approximate memory in bytes while the lines are processed.
    pub(crate) fn cost(&self) -> u64 {
        self.bytes.capacity() as u64 * EXPANSION
    }
}

/// Splits a text into blocks of whole lines.
pub(crate) struct LineBlocks {
    text: TextSource,
    /// The start of the next block.
    rest: Vec<u8>,
    offset: u64,
    whole: bool,
    /// Approximate maximum length of a line in bytes.
    most: usize,
}

impl LineBlocks {
    pub(crate) fn new(text: TextSource) -> Self {
        Self { text, rest: Vec::new(), offset: 0, whole: false, most: MAX_LINE }
    }

    /// Splits a text into blocks, with lines of about `most` bytes at most.
    pub(crate) fn of_lines(text: TextSource, most: usize) -> Self {
        Self { most, ..Self::new(text) }
    }

    /// Returns the whole text as one block, if it is not longer than the limit of a line.
    pub(crate) fn whole(text: TextSource) -> Self {
        Self { whole: true, ..Self::new(text) }
    }

    /// Returns the next lines, or the first error with the offset where reading stopped.
    pub(crate) fn next(&mut self) -> Option<Result<LineBlock, (u64, TextProblem)>> {
        let mut bytes = std::mem::take(&mut self.rest);
        loop {
            let had = bytes.len();
            bytes.reserve(BLOCK);
            match self.text.reader.by_ref().take(BLOCK as u64).read_to_end(&mut bytes) {
                Ok(0) if bytes.is_empty() => return None,
                Ok(0) => break,
                Ok(_) => {}
                Err(error) => {
                    return Some(Err((self.offset + bytes.len() as u64, TextProblem::Read(error.to_string()))));
                }
            }
            let new = bytes.get(had..).unwrap_or_default();
            let end = if self.whole { None } else { new.iter().rposition(|byte| *byte == b'\n') };
            if let Some(end) = end {
                self.rest = bytes.split_off(had + end + 1);
                break;
            }
            if bytes.len() > self.most {
                return Some(Err((self.offset, TextProblem::Line(self.most))));
            }
        }
        let lines = LineBlock { offset: self.offset, position: self.text.position.get(), whole: self.whole, bytes };
        self.offset += lines.bytes.len() as u64;
        Some(Ok(lines))
    }
}

/// Counts the line ends of a text.
pub(crate) fn count_lines(bytes: &[u8]) -> u64 {
    // Sums of at most 255 bytes fit into `u8`, which lets the compiler vectorize the loop.
    let count = |run: &[u8]| u64::from(run.iter().map(|byte| u8::from(*byte == b'\n')).sum::<u8>());
    bytes.chunks(255).map(count).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    fn written(bytes: &[u8]) -> tempfile::NamedTempFile {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.write_all(bytes).unwrap();
        file
    }

    fn lines(bytes: &[u8]) -> Vec<LineBlock> {
        let file = written(bytes);
        let (_, text) = open(file.path(), 10).unwrap();
        let mut blocks = LineBlocks::new(text);
        std::iter::from_fn(|| blocks.next()).map(Result::unwrap).collect()
    }

    #[test]
    fn blocks_are_whole_lines_and_the_whole_text() {
        let text = "a line of some length\n".repeat(150_000) + "the last";
        let blocks = lines(text.as_bytes());
        assert!(blocks.len() > 2);
        let mut offset = 0;
        for block in &blocks[..blocks.len() - 1] {
            assert_eq!(block.offset, offset);
            assert!(block.bytes.ends_with(b"\n"));
            offset += block.bytes.len() as u64;
        }
        assert_eq!(blocks.iter().map(|block| count_lines(&block.bytes)).sum::<u64>(), 150_000);
        assert_eq!(blocks.concat(), text.as_bytes());
        assert!(lines(b"").is_empty());
    }

    impl std::borrow::Borrow<[u8]> for LineBlock {
        fn borrow(&self) -> &[u8] {
            &self.bytes
        }
    }

    #[test]
    fn packed_texts_are_the_same_text() {
        let text = "\u{feff}some text\n".as_bytes();
        let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
        gzip.write_all(text).unwrap();
        let mut bzip2 = bzip2::write::BzEncoder::new(Vec::new(), bzip2::Compression::default());
        bzip2.write_all(text).unwrap();
        let (gzip, bzip2) = (gzip.finish().unwrap(), bzip2.finish().unwrap());
        let twice = [gzip.clone(), gzip.clone()].concat();
        assert_eq!(lines(&twice).concat(), "some text\n\u{feff}some text\n".as_bytes());
        for packed in [text.to_vec(), gzip, bzip2, zstd::encode_all(text, 1).unwrap()] {
            assert_eq!(lines(&packed).concat(), b"some text\n");
        }
    }

    #[test]
    fn a_cut_packed_text_is_an_error_behind_what_came_out() {
        let text = "a line of some length\n".repeat(100_000);
        let packed = zstd::encode_all(text.as_bytes(), 1).unwrap();
        let file = written(&packed[..packed.len() - 5]);
        let (_, text) = open(file.path(), 10).unwrap();
        let mut blocks = LineBlocks::new(text);
        let all: Vec<_> = std::iter::from_fn(|| blocks.next()).take(9).collect();
        assert!(matches!(all.iter().find_map(|block| block.as_ref().err()), Some((_, TextProblem::Read(_)))));
    }
}
