//! Reads triples: N-Triples, N-Quads and Turtle, plain or packed with gzip, bzip2 or Zstandard.
//!
//! How a file is packed shows in its first bytes. Of what format it is says, in this order: [`Options::format`]; the
//! ending `.ttl`; the first statement, if it has a line of its own and stands there as N-Triples or N-Quads write it; the
//! endings `.nt` and `.nq`; else it is Turtle.
//!
//! Triples are passed on as they are, in the file's order, repetitions included; with those of N-Quads that are in a named
//! graph goes its name. Language tags come in lower case. Blank nodes keep their labels, which mean the same node only within one file; those that
//! Turtle writes without a label get one that depends on their place in the file alone.

mod lines;
mod plain;
mod turtle;

use crate::error::{Error, TextProblem};
use crate::format::{ELEMENTS, HTML, is_elements, is_html};
use crate::{Progress, WINDOW_MEMORY, text};
use oxrdf::{NamedOrBlankNode, Triple};
use oxrdfio::{RdfFormat, RdfParser};
use std::path::Path;

/// Bytes that are looked at to know a format.
const LOOK: usize = 64 << 10;

/// Errors that a [`Summary`] has in full.
const MAX_SHOWN: usize = 10;

/// The formats that are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// N-Triples or N-Quads.
    Lines,
    /// Turtle.
    Turtle,
}

/// How to read.
#[derive(Clone, Debug)]
pub struct Options {
    /// The format, or `None` to find out.
    pub format: Option<Format>,
    /// Whether lines of N-Triples and N-Quads that are wrong are left out and counted. What is wrong in Turtle is an
    /// error in any case: no one can tell where the next statement begins.
    pub skip_bad: bool,
    /// How many blocks of lines a thread may be between reading and consuming; at least 1. A block of 1 MiB and its
    /// triples take some 5 MiB.
    pub blocks_per_thread: usize,
    /// Bytes of memory that these blocks may take together, about.
    pub memory: u64,
}

impl Default for Options {
    fn default() -> Self {
        Self { format: None, skip_bad: false, blocks_per_thread: 4, memory: WINDOW_MEMORY }
    }
}

/// Some triples of a file.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Batch {
    /// The triples.
    pub triples: Vec<Triple>,
    /// The names of the graphs of those that are not in the default graph, each with the triple's place in `triples`;
    /// places ascend.
    pub graphs: Vec<(usize, NamedOrBlankNode)>,
}

/// What was read.
#[derive(Debug, Default)]
pub struct Summary {
    /// Triples that were passed on.
    pub triples: u64,
    /// Lines that were left out because they are wrong.
    pub bad: u64,
    /// What is wrong with the first of them, 10 at most.
    pub errors: Vec<Error>,
}

impl Summary {
    /// Counts a line that is left out.
    fn skip(&mut self, error: Error) {
        self.bad += 1;
        if self.errors.len() < MAX_SHOWN {
            self.errors.push(error);
        }
    }
}

/// Reads a file: lines are parsed in parallel on the current rayon pool, `consume` gets the triples of some lines
/// together on the calling thread, in the file's order. [`Options`] bounds how many are under way.
///
/// The first error in the file's order ends it, whether it comes from the file or from `consume`.
///
/// ```no_run
/// # use terrapin_loaders::{Error, rdf};
/// let mut triples = 0;
/// rdf::read::<Error>("subset.nt.gz".as_ref(), &rdf::Options::default(), |batch, _progress| {
///     triples += batch.triples.len();
///     Ok(())
/// })?;
/// # Ok::<(), Error>(())
/// ```
pub fn read<E: From<Error> + Send>(
    path: &Path,
    options: &Options,
    consume: impl FnMut(Batch, Progress) -> Result<(), E>,
) -> Result<Summary, E> {
    let (start, text) = text::open(path, LOOK)?;
    let format = match options.format {
        Some(format) => format,
        None => format_of(path, &start)?,
    };
    match format {
        Format::Lines => lines::read(path, text, options, consume),
        Format::Turtle => turtle::read(path, text, consume),
    }
}

/// What a text is, by its file's name and its beginning.
fn format_of(path: &Path, start: &[u8]) -> Result<Format, Error> {
    let refuse = |reason| Err(Error::Format { file: path.to_path_buf(), reason });
    if is_html(start) {
        return refuse(HTML);
    }
    if is_elements(start) {
        return refuse(ELEMENTS);
    }
    let ending = ending(path);
    if ending == "ttl" {
        return Ok(Format::Turtle);
    }
    let lines = start.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii);
    let first = lines.into_iter().find(|line| !line.is_empty() && !line.starts_with(b"#")).unwrap_or_default();
    if is_statement(first) || ending == "nt" || ending == "nq" {
        return Ok(Format::Lines);
    }
    let has = |part: &[u8]| first.len() >= part.len() && first.windows(part.len()).any(|window| window == part);
    match first {
        [b'<', b'?' | b'!', ..] => refuse("XML, which is not supported; convert RDF to N-Triples or Turtle"),
        [b'{', ..] => refuse("neither N-Triples, N-Quads nor Turtle: JSON, or TriG"),
        [b'[' | b'<', ..] if has(b"{\"") || has(b"xmlns") => refuse("JSON or XML, not N-Triples, N-Quads or Turtle"),
        [0 | 0x80..=0xff, ..] => refuse("neither N-Triples, N-Quads nor Turtle (plain, gzip, bzip2 or Zstandard)"),
        _ => Ok(Format::Turtle),
    }
}

/// The ending of a file's name before that of its packing, in lower case.
fn ending(path: &Path) -> String {
    let name = path.file_name().unwrap_or_default().to_string_lossy().to_ascii_lowercase();
    let name = [".gz", ".bz2", ".zst"].iter().find_map(|end| name.strip_suffix(end)).unwrap_or(&name);
    name.rsplit_once('.').map_or("", |(_, ending)| ending).to_owned()
}

/// Whether a line is a statement of N-Triples or N-Quads.
fn is_statement(line: &[u8]) -> bool {
    !line.is_empty() && RdfParser::from_format(RdfFormat::NQuads).for_slice(line).all(|quad| quad.is_ok())
}

/// What a parser found wrong, as lines and bytes that count from the start of what it parsed; with lines from 0.
struct Wrong {
    line: u64,
    offset: u64,
    problem: TextProblem,
}

impl From<oxrdfio::RdfSyntaxError> for Wrong {
    fn from(error: oxrdfio::RdfSyntaxError) -> Self {
        let place = error.location();
        let (line, offset) = place.as_ref().map_or((0, 0), |place| (place.start.line, place.start.offset));
        let message = error.to_string();
        // The parser says where, in lines that count from where it began; that is said by us.
        let message = match message.split_once(": ") {
            Some((before, rest)) if before.starts_with("Parser error at line ") => rest.to_owned(),
            _ => message,
        };
        Self { line, offset, problem: TextProblem::Syntax(message) }
    }
}

impl Wrong {
    fn at(self, path: &Path, lines: u64, offset: u64) -> Error {
        Error::Text {
            file: path.to_path_buf(),
            line: lines + self.line + 1,
            offset: offset + self.offset,
            problem: self.problem,
        }
    }
}

#[cfg(test)]
mod tests;
