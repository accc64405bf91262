//! Reads triples of RDF 1.2: N-Triples, N-Quads, Turtle and RDF/XML, plain or packed with gzip, bzip2 or Zstandard.
//!
//! The compression is detected by the first bytes of a file. The format is determined in this order: by
//! [`RdfOptions::format`]; by the extensions `.ttl`, `.rdf` and `.owl`; by the first statement, if it is a line of valid
//! N-Triples or N-Quads; by the extensions `.nt` and `.nq`; by the start of an XML document; otherwise it is Turtle.
//!
//! Triples are passed on unchanged, in file order, including duplicates. Triples of N-Quads in a named graph come with
//! the name of their graph. Language tags are converted to lower case. Blank nodes keep their labels, which are unique
//! only within one file. Blank nodes without a label in Turtle and RDF/XML get one that depends only on their place in the file.

mod lines;
mod plain;
mod turtle;
mod xml;

use crate::error::{LoaderError, TextProblem};
use crate::format::{ELEMENTS, HTML, is_elements, is_html};
use crate::{ReadProgress, WINDOW_MEMORY, text};
use oxrdf::{NamedOrBlankNode, Triple};
use oxrdfio::{RdfFormat, RdfParser};
use std::path::Path;

/// Number of bytes read to detect the format.
const LOOK: usize = 64 << 10;

/// Maximum number of triple terms within each other.
const MAX_TRIPLE_TERMS: usize = 64;
/// The error for more triple terms.
const TOO_DEEP: &str = "more than 64 triple terms within each other";

/// Maximum number of errors in a [`Summary`].
const MAX_SHOWN: usize = 10;

/// The supported formats.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TriplesFormat {
    /// N-Triples or N-Quads.
    Lines,
    /// Turtle.
    Turtle,
    /// RDF/XML, without a document type declaration.
    Xml,
}

/// Settings of a reader.
#[derive(Clone, Debug)]
pub struct RdfOptions {
    /// The format, or `None` to detect it.
    pub format: Option<TriplesFormat>,
    /// Whether to skip and count bad lines of N-Triples and N-Quads. An error in Turtle or RDF/XML always ends reading, because
    /// the start of the next statement is unknown.
    pub skip_bad: bool,
    /// Maximum number of blocks of lines per thread between reading and consuming; at least 1. A block of 1 MiB and its
    /// triples take about 5 MiB.
    pub blocks_per_thread: usize,
    /// Approximate memory limit for these blocks together in bytes.
    pub memory: u64,
}

impl Default for RdfOptions {
    fn default() -> Self {
        Self { format: None, skip_bad: false, blocks_per_thread: 4, memory: WINDOW_MEMORY }
    }
}

/// Consecutive triples of a file.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct TripleBatch {
    /// The triples.
    pub triples: Vec<Triple>,
    /// The graph names of triples outside of the default graph, each with the triple's index in `triples`. Indices
    /// ascend.
    pub graphs: Vec<(usize, NamedOrBlankNode)>,
}

/// Counts and errors of a reading run.
#[derive(Debug, Default)]
pub struct RdfSummary {
    /// Number of triples passed on.
    pub triples: u64,
    /// Number of skipped lines.
    pub bad: u64,
    /// The first errors, at most 10.
    pub errors: Vec<LoaderError>,
}

impl RdfSummary {
    /// Counts a skipped line.
    fn skip(&mut self, error: LoaderError) {
        self.bad += 1;
        if self.errors.len() < MAX_SHOWN {
            self.errors.push(error);
        }
    }
}

/// Reads a file. Lines are parsed in parallel on the current rayon pool; Turtle and RDF/XML are parsed on the calling
/// thread.
/// `consume` receives batches of triples on the calling thread, in file order. [`RdfOptions`] limits the number of
/// blocks in progress.
///
/// The first error in file order ends reading, whether it comes from the file or from `consume`.
///
/// ```no_run
/// # use terrapin_loaders::{LoaderError, rdf};
/// let mut triples = 0;
/// rdf::read::<LoaderError>("subset.nt.gz".as_ref(), &rdf::RdfOptions::default(), |batch, _progress| {
///     triples += batch.triples.len();
///     Ok(())
/// })?;
/// # Ok::<(), LoaderError>(())
/// ```
pub fn read<E: From<LoaderError> + Send>(
    path: &Path,
    options: &RdfOptions,
    consume: impl FnMut(TripleBatch, ReadProgress) -> Result<(), E>,
) -> Result<RdfSummary, E> {
    let (start, text) = text::open(path, LOOK)?;
    let format = match options.format {
        Some(format) => format,
        None => format_of(path, &start)?,
    };
    match format {
        TriplesFormat::Lines => lines::read(path, text, options, consume),
        TriplesFormat::Turtle => turtle::read(path, text, RdfFormat::Turtle, consume),
        TriplesFormat::Xml => turtle::read(path, text, RdfFormat::RdfXml, consume),
    }
}

/// Determines the format of a text by its file name and its beginning.
fn format_of(path: &Path, start: &[u8]) -> Result<TriplesFormat, LoaderError> {
    let refuse = |reason| Err(LoaderError::Format { file: path.to_path_buf(), reason });
    if is_html(start) {
        return refuse(HTML);
    }
    if is_elements(start) {
        return refuse(ELEMENTS);
    }
    let ending = ending(path);
    match ending.as_str() {
        "ttl" => return Ok(TriplesFormat::Turtle),
        "rdf" | "owl" => return Ok(TriplesFormat::Xml),
        _ => {}
    }
    let lines = start.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii);
    // Both formats may begin with their version.
    let says_nothing = |line: &[u8]| line.is_empty() || line.starts_with(b"#") || line.starts_with(b"VERSION");
    let first = lines.into_iter().find(|line| !says_nothing(line)).unwrap_or_default();
    if is_statement(first) || ending == "nt" || ending == "nq" {
        return Ok(TriplesFormat::Lines);
    }
    let has = |part: &[u8]| first.len() >= part.len() && first.windows(part.len()).any(|window| window == part);
    match first {
        [b'<', b'?' | b'!', ..] => Ok(TriplesFormat::Xml),
        [b'{', ..] => refuse("neither N-Triples, N-Quads, Turtle nor RDF/XML: JSON, or TriG"),
        [b'<', ..] if has(b"xmlns") || first.starts_with(b"<rdf:RDF") => Ok(TriplesFormat::Xml),
        [b'[', ..] if has(b"{\"") => refuse("JSON, not N-Triples, N-Quads, Turtle or RDF/XML"),
        [0 | 0x80..=0xff, ..] => {
            refuse("neither N-Triples, N-Quads, Turtle nor RDF/XML (plain, gzip, bzip2 or Zstandard)")
        }
        _ => Ok(TriplesFormat::Turtle),
    }
}

/// Returns the extension of a file name in lower case, without that of the compression.
fn ending(path: &Path) -> String {
    let name = path.file_name().unwrap_or_default().to_string_lossy().to_ascii_lowercase();
    let name = [".gz", ".bz2", ".zst"].iter().find_map(|end| name.strip_suffix(end)).unwrap_or(&name);
    name.rsplit_once('.').map_or("", |(_, ending)| ending).to_owned()
}

/// Returns whether a line is a statement of N-Triples or N-Quads.
fn is_statement(line: &[u8]) -> bool {
    !line.is_empty() && RdfParser::from_format(RdfFormat::NQuads).for_slice(line).all(|quad| quad.is_ok())
}

/// A parser error. `line`, from 0, and `offset` are relative to the start of the parsed text.
struct ParserFault {
    line: u64,
    offset: u64,
    problem: TextProblem,
}

impl From<oxrdfio::RdfSyntaxError> for ParserFault {
    fn from(error: oxrdfio::RdfSyntaxError) -> Self {
        let place = error.location();
        let (line, offset) = place.as_ref().map_or((0, 0), |place| (place.start.line, place.start.offset));
        let message = error.to_string();
        // Removes the position from the parser's message: it is relative to the parsed text, and [`Error::Text`] has
        // the absolute one.
        let message = match message.split_once(": ") {
            Some((before, rest)) if before.starts_with("Parser error at line ") => rest.to_owned(),
            _ => message,
        };
        Self { line, offset, problem: TextProblem::Syntax(message) }
    }
}

impl ParserFault {
    fn at(self, path: &Path, lines: u64, offset: u64) -> LoaderError {
        LoaderError::Text {
            file: path.to_path_buf(),
            line: lines + self.line + 1,
            offset: offset + self.offset,
            problem: self.problem,
        }
    }
}

#[cfg(test)]
mod tests;
