//! Detects the format of a file by its first bytes and unpacks it.

use crate::error::LoaderError;
use bzip2::bufread::MultiBzDecoder;
use flate2::bufread::MultiGzDecoder;
use std::cell::Cell;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;
use std::rc::Rc;

/// A file that has been opened.
pub(crate) struct OpenSourceFile {
    /// The format, with a reader of the content.
    pub(crate) format: OsmFormat,
    /// Number of bytes read from the file so far.
    pub(crate) position: Rc<Cell<u64>>,
    /// Size of the file in bytes; 0 if it is not a regular file.
    pub(crate) bytes_total: u64,
}

/// The supported formats.
pub(crate) enum OsmFormat {
    /// The file with its blobs.
    Pbf(Box<dyn BufRead>),
    /// The unpacked text.
    Xml(Box<dyn BufRead>),
}

/// Size of read buffers in bytes.
pub(crate) const BUFFER: usize = 256 << 10;

/// Number of bytes read to detect a format. Enough for the length of a blob header and the header's type, and for an
/// HTML page that begins with spaces.
const LOOK: usize = 64;

/// The error for an HTML page.
pub(crate) const HTML: &str = "an HTML page, not data: the download is a web page, such as an error or a login";

/// The error for RDF if OpenStreetMap elements are expected.
const RDF: &str =
    "RDF, not OpenStreetMap's elements: --rdf loads triples, --wikidata those that are a part of Wikidata";
/// The error for JSON if OpenStreetMap elements are expected.
const JSON: &str = "JSON, not OpenStreetMap's elements as PBF or XML: --wikidata loads dumps of Wikidata's entities";
/// The error for OpenStreetMap elements if triples are expected.
pub(crate) const ELEMENTS: &str = "OpenStreetMap's elements, not triples: --osm loads them";

/// Opens a file and detects its format.
pub(crate) fn open(path: &Path) -> Result<OpenSourceFile, LoaderError> {
    let fail = |source| LoaderError::Open { file: path.to_path_buf(), source };
    let (counter, bytes_total) = Counter::open(path)?;
    let position = Rc::clone(&counter.position);
    let (start, reader) = look(counter).map_err(fail)?;
    let format = match start.as_slice() {
        [] => Err("the file is empty"),
        [0x1f, 0x8b, ..] => Ok(unpacked(MultiGzDecoder::new(reader)).map_err(fail)?),
        [b'B', b'Z', b'h', ..] => Ok(unpacked(MultiBzDecoder::new(reader)).map_err(fail)?),
        [0x28, 0xb5, 0x2f, 0xfd, ..] => {
            Err("Zstandard is not supported for OpenStreetMap data; decompress the file first")
        }
        [0xff, 0xe0, ..] => Err("o5m files are not supported; convert them to PBF with osmium or osmconvert"),
        [b'P', b'K', 3, 4, ..] => Err("zip files are not supported; unpack the file first"),
        [0, 0, ..] => Ok(OsmFormat::Pbf(Box::new(reader))),
        start if is_html(start) => Err(HTML),
        start if is_rdf(start) => Err(RDF),
        start if is_json(start) => Err(JSON),
        start if is_xml(start) => Ok(OsmFormat::Xml(Box::new(reader))),
        _ => Err("neither PBF nor OSM XML (plain, gzip or bzip2)"),
    };
    let format = format.map_err(|reason| LoaderError::Format { file: path.to_path_buf(), reason })?;
    Ok(OpenSourceFile { format, position, bytes_total })
}

/// Detects the format of unpacked content.
fn unpacked(decoder: impl Read + 'static) -> io::Result<OsmFormat> {
    let (start, reader) = look(decoder)?;
    if is_rdf(&start) {
        return Err(io::Error::other(RDF));
    }
    if is_json(&start) {
        return Err(io::Error::other(JSON));
    }
    if start.is_empty() {
        return Err(io::Error::other("the file is empty once it is unpacked"));
    }
    if is_xml(&start) {
        return Ok(OsmFormat::Xml(Box::new(reader)));
    }
    Err(io::Error::other("packed as a whole, but not OSM XML"))
}

/// Returns the first [`LOOK`] bytes of a reader, and a reader that still has them.
fn look<R: Read>(reader: R) -> io::Result<(Vec<u8>, impl BufRead + use<R>)> {
    look_at(LOOK, reader)
}

/// Returns the first `bytes` of a reader, and a reader that still has them.
pub(crate) fn look_at<R: Read>(bytes: usize, mut reader: R) -> io::Result<(Vec<u8>, impl BufRead + use<R>)> {
    let mut start = Vec::new();
    reader.by_ref().take(bytes as u64).read_to_end(&mut start)?;
    let rest = BufReader::with_capacity(BUFFER, reader);
    Ok((start.clone(), io::Cursor::new(start).chain(rest)))
}

/// Returns whether a text begins like an HTML page.
pub(crate) fn is_html(start: &[u8]) -> bool {
    let start = start.strip_prefix(b"\xef\xbb\xbf").unwrap_or(start).trim_ascii_start();
    let begins = |with: &[u8]| start.get(..with.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(with));
    begins(b"<!doctype html") || begins(b"<html")
}

/// Returns a text without a leading byte order mark and white space.
fn text(start: &[u8]) -> &[u8] {
    start.strip_prefix(b"\xef\xbb\xbf").unwrap_or(start).trim_ascii_start()
}

/// Returns whether a text begins like N-Triples, N-Quads or Turtle. XML is not mistaken for them: no XML document
/// begins with a tag named `http:`.
fn is_rdf(start: &[u8]) -> bool {
    let start = text(start);
    let begins = |with: &[u8]| start.get(..with.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(with));
    let marks: [&[u8]; 7] = [b"<http:", b"<https:", b"<urn:", b"_:", b"@prefix", b"@base", b"prefix "];
    marks.into_iter().any(begins)
}

fn is_json(start: &[u8]) -> bool {
    matches!(text(start).first(), Some(b'{' | b'['))
}

/// Returns whether a file begins like PBF or OSM XML.
pub(crate) fn is_elements(start: &[u8]) -> bool {
    let has = |part: &[u8]| start.windows(part.len()).any(|window| window == part);
    (start.starts_with(&[0, 0]) && has(b"OSMHeader")) || (is_xml(start) && (has(b"<osm ") || has(b"<osm>")))
}

fn is_xml(start: &[u8]) -> bool {
    text(start).first().is_none_or(|first| *first == b'<')
}

/// A reader that counts the bytes read from a file.
pub(crate) struct Counter {
    file: File,
    /// Number of bytes read so far.
    pub(crate) position: Rc<Cell<u64>>,
}

impl Counter {
    /// Opens a file. Returns it with its size in bytes, which is 0 if it is not a regular file.
    pub(crate) fn open(path: &Path) -> Result<(Self, u64), LoaderError> {
        let fail = |source| LoaderError::Open { file: path.to_path_buf(), source };
        let file = File::open(path).map_err(fail)?;
        let about = file.metadata().map_err(fail)?;
        if about.is_dir() {
            return Err(fail(io::Error::from(io::ErrorKind::IsADirectory)));
        }
        let bytes_total = if about.is_file() { about.len() } else { 0 };
        Ok((Counter { file, position: Rc::new(Cell::new(0)) }, bytes_total))
    }
}

impl Read for Counter {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let got = loop {
            match self.file.read(buffer) {
                // Retries interrupted reads here, because not every decoder on top of this reader does.
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                other => break other?,
            }
        };
        self.position.set(self.position.get() + got as u64);
        Ok(got)
    }
}
