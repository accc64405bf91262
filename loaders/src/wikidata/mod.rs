//! Reads entities of Wikidata from its JSON format and converts them to triples in the form of its RDF dumps or of its
//! query service.
//!
//! A dump has one entity per line, inside or outside of an array, plain or packed with gzip, bzip2 or Zstandard.
//! Answers of `Special:EntityData` are also read; they may span lines if they have at most 64 MiB. Entities are passed
//! on in file order.
//!
//! The triples follow the documented [RDF dump format] and its chapter on the differences of the query service. Data
//! that an entity alone does not determine is omitted or replaced:
//! - The names of full and unknown values are hashes of their content, but by another hash function than Wikidata's.
//!   Equal values are one node, as in Wikidata, but with another name.
//! - Normalised values: of quantities, if their unit is in [a table](self) of common units; of external identifiers, if
//!   [`Converter::formatters`] has an IRI pattern for the property.
//! - Formulas are the text that editors wrote; Wikidata has MathML.
//!
//! [RDF dump format]: https://www.mediawiki.org/wiki/Wikibase/Indexing/RDF_Dump_Format

pub mod closure;
mod convert;
mod languages;
mod lexeme;
pub mod model;
mod number;
pub mod recipe;
mod sites;
mod subset;
mod time;
mod units;
mod value;
mod vocabulary;
mod writer;

pub use subset::{EntitySelection, SubsetPlan};
pub use writer::{Converter, RdfShape};

use crate::error::{LoaderError, TextProblem};
use crate::pipeline::{self, Window};
use crate::text::{self, LineBlock, LineBlocks};
use crate::{ReadProgress, WINDOW_MEMORY};
use model::{Map, WikidataEntity};
use oxrdf::Triple;
use std::path::Path;

/// Bytes that are read to detect the format.
const LOOK: usize = 4096;

/// Maximum length of an entity's line in bytes. Converting it takes up to ten times as much. The longest entities of
/// Wikidata have about 5 MB.
const MAX_LINE: usize = 16 << 20;

/// The message for a missing end of an array.
const CUT: &str = "the text ends within the array: its closing ] is missing, the dump was cut off";

/// Maximum number of errors in a [`Summary`].
const MAX_SHOWN: usize = 10;

/// Settings of a reader.
#[derive(Clone, Debug)]
pub struct WikidataOptions {
    /// Whether to skip and count lines that are not entities, including the missing end of a truncated dump.
    pub skip_bad: bool,
    /// Maximum number of blocks of lines per thread between reading and consuming; at least 1. A block has 1 MiB, or
    /// one line if that is longer.
    pub blocks_per_thread: usize,
    /// Approximate memory limit for these blocks together in bytes.
    pub memory: u64,
}

impl Default for WikidataOptions {
    fn default() -> Self {
        Self { skip_bad: false, blocks_per_thread: 4, memory: WINDOW_MEMORY }
    }
}

/// Counts and errors of a reading run.
#[derive(Debug, Default)]
pub struct WikidataSummary {
    /// Number of entities.
    pub entities: u64,
    /// Number of entities that a recipe selects itself, without the properties that it includes in general. 0 without a
    /// recipe.
    pub chosen: u64,
    /// Number of skipped lines. The missing end of an array counts as one.
    pub bad: u64,
    /// The first errors, at most 10.
    pub errors: Vec<LoaderError>,
}

impl WikidataSummary {
    /// Counts a skipped line, or the missing end of an array.
    fn skip(&mut self, error: LoaderError) {
        self.bad += 1;
        if self.errors.len() < MAX_SHOWN {
            self.errors.push(error);
        }
    }
}

/// Returns whether a file begins like a JSON dump of entities. Distinguishes dumps from other texts.
pub fn is_dump(path: &Path) -> Result<bool, LoaderError> {
    let (start, _) = text::open(path, LOOK)?;
    let start = start.trim_ascii();
    if start.strip_prefix(b"[").is_some_and(|rest| rest.trim_ascii_start() == b"]") {
        return Ok(true);
    }
    let start = start.strip_prefix(b"[").unwrap_or(start).trim_ascii_start();
    // Turtle may also begin with a bracket, but only in JSON is a quoted name followed by a colon.
    Ok(start.strip_prefix(b"{").is_some_and(|rest| rest.trim_ascii_start().starts_with(b"\"")))
}

/// Returns whether a text begins like pretty-printed JSON.
fn is_spread(start: &[u8]) -> bool {
    let mut lines = start.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii).filter(|line| !line.is_empty());
    let first = lines.next();
    first == Some(b"{") || first == Some(b"[") && lines.next() == Some(b"{")
}

/// Reads entities as triples. `consume` receives the triples of some entities at a time, on the calling thread.
///
/// ```no_run
/// # use terrapin_loaders::{LoaderError, wikidata};
/// let converter = wikidata::Converter::new(wikidata::RdfShape::Service);
/// let mut triples = 0;
/// let options = wikidata::WikidataOptions::default();
/// wikidata::read::<LoaderError>("latest-all.json.bz2".as_ref(), &options, &converter, |batch, _| {
///     triples += batch.len();
///     Ok(())
/// })?;
/// # Ok::<(), LoaderError>(())
/// ```
pub fn read<E: From<LoaderError> + Send>(
    path: &Path,
    options: &WikidataOptions,
    converter: &Converter,
    consume: impl FnMut(Vec<Triple>, ReadProgress) -> Result<(), E>,
) -> Result<WikidataSummary, E> {
    entities(path, options, |entity, triples| converter.convert(entity, triples), consume)
}

/// Reads entities. `map` adds its results for each entity to a list, in parallel on the current rayon pool. `consume`
/// receives the lists of some entities at a time on the calling thread, in file order. [`WikidataOptions`] limits the
/// number of blocks in progress. If `map` returns an error, its results for that line are dropped.
///
/// The first error in file order ends reading, whether it comes from the file or from `consume`.
pub fn entities<T: Send, E: From<LoaderError> + Send>(
    path: &Path,
    options: &WikidataOptions,
    map: impl Fn(&WikidataEntity<'_>, &mut Vec<T>) -> Result<(), String> + Sync,
    consume: impl FnMut(Vec<T>, ReadProgress) -> Result<(), E>,
) -> Result<WikidataSummary, E> {
    selected(path, options, |_| true, map, consume)
}

/// Does the same as [`entities`] for those entities only for which `wants` accepts the id. If a line begins like those
/// of dumps, an unwanted entity is not even parsed, and errors in it may go unnoticed.
fn selected<T: Send, E: From<LoaderError> + Send>(
    path: &Path,
    options: &WikidataOptions,
    wants: impl Fn(&str) -> bool + Sync,
    map: impl Fn(&WikidataEntity<'_>, &mut Vec<T>) -> Result<(), String> + Sync,
    mut consume: impl FnMut(Vec<T>, ReadProgress) -> Result<(), E>,
) -> Result<WikidataSummary, E> {
    let limit = Window::of(options.blocks_per_thread, options.memory);
    let (start, text) = text::open(path, LOOK)?;
    let bytes_total = text.bytes_total;
    let in_array = start.trim_ascii_start().starts_with(b"[");
    let mut blocks = if is_spread(&start) { LineBlocks::whole(text) } else { LineBlocks::of_lines(text, MAX_LINE) };
    let mut summary = WikidataSummary::default();
    let (mut lines, mut count) = (0, 0);
    let (mut end, mut last) = (0, None);
    let mut broken = None;
    let next = || match blocks.next()? {
        Ok(block) => Some(Ok::<_, E>(block)),
        Err(end) => {
            // The line number is known only after all lines before it have been read.
            broken = Some(end);
            None
        }
    };
    let error = |line, offset, problem| LoaderError::Text { file: path.to_path_buf(), line, offset, problem };
    pipeline::ordered(
        limit,
        next,
        LineBlock::cost,
        |block| Ok(block_of(&block, options.skip_bad, &wants, &map)),
        |done: ConvertedBlock<T>| {
            for (line, offset, problem) in done.bad {
                let error = error(lines + line, offset, TextProblem::Syntax(problem));
                if !options.skip_bad {
                    return Err(error.into());
                }
                summary.skip(error);
            }
            lines += done.lines;
            count += 1;
            end = done.end;
            last = done.last.or(last);
            summary.entities += done.entities;
            consume(done.made, ReadProgress { bytes_read: done.position, bytes_total, blocks: count })
        },
    )?;
    if let Some((offset, problem)) = broken {
        return Err(error(lines + 1, offset, problem).into());
    }
    // A truncated dump: it is unknown which entities are missing.
    if in_array && last != Some(b']') {
        let cut = error(lines, end, TextProblem::Syntax(CUT.to_owned()));
        if !options.skip_bad {
            return Err(cut.into());
        }
        summary.skip(cut);
    }
    Ok(summary)
}

/// The result of a block of lines.
struct ConvertedBlock<T> {
    made: Vec<T>,
    entities: u64,
    /// Errors: line number in the block, from 1; offset in the text; message. All if bad lines are skipped, otherwise
    /// only the first.
    bad: Vec<(u64, u64, String)>,
    lines: u64,
    position: u64,
    /// End offset of the block in the text.
    end: u64,
    /// The last byte that is not white space.
    last: Option<u8>,
}

fn block_of<T>(
    block: &LineBlock,
    skip_bad: bool,
    wants: &impl Fn(&str) -> bool,
    map: &impl Fn(&WikidataEntity<'_>, &mut Vec<T>) -> Result<(), String>,
) -> ConvertedBlock<T> {
    let mut offset = block.offset;
    let mut done = ConvertedBlock {
        made: Vec::new(),
        entities: 0,
        bad: Vec::new(),
        lines: 0,
        position: block.position,
        end: offset + block.bytes.len() as u64,
        last: block.bytes.trim_ascii_end().last().copied(),
    };
    let lines = block.bytes.split_inclusive(|byte| *byte == b'\n' && !block.whole);
    for line in lines {
        done.lines += 1;
        let kept = done.made.len();
        let entities = if id_of(line).is_none_or(wants) {
            let mut count = 0;
            let all = line_of(line, &mut |entity| {
                if wants(&entity.id) || entity.redirect.as_deref().is_some_and(wants) {
                    count += 1;
                    map(entity, &mut done.made)?;
                }
                Ok(())
            });
            all.map(|()| count)
        } else {
            Ok(0)
        };
        match entities {
            Ok(entities) => done.entities += entities,
            Err(problem) => {
                done.made.truncate(kept);
                done.bad.push((done.lines, offset, problem));
                if !skip_bad {
                    break;
                }
            }
        }
        offset += line.len() as u64;
    }
    done
}

/// A response of `Special:EntityData` or of the API.
#[derive(serde::Deserialize)]
#[serde(bound(deserialize = "'de: 'a"))]
struct EntityDataAnswer<'a> {
    entities: Map<'a, WikidataEntity<'a>>,
}

/// Returns the id of a line's entity, if the line begins like those of dumps.
fn id_of(line: &[u8]) -> Option<&str> {
    let rest = line.strip_prefix(b"{\"type\":\"")?;
    let kind = rest.iter().position(|byte| *byte == b'"')?;
    let rest = rest.get(kind..)?.strip_prefix(b"\",\"")?;
    // A property's datatype comes before its id.
    let rest = match rest.strip_prefix(b"datatype\":\"") {
        Some(rest) => rest.get(rest.iter().position(|byte| *byte == b'"')?..)?.strip_prefix(b"\",\"")?,
        None => rest,
    };
    let rest = rest.strip_prefix(b"id\":\"")?;
    let id = std::str::from_utf8(rest.get(..rest.iter().position(|byte| *byte == b'"')?)?).ok()?;
    value::is_id(id).then_some(id)
}

/// Calls `f` with the entities of a line.
fn line_of(line: &[u8], f: &mut dyn FnMut(&WikidataEntity<'_>) -> Result<(), String>) -> Result<(), String> {
    let line = line.trim_ascii();
    let line = line.strip_suffix(b",").unwrap_or(line);
    let text = std::str::from_utf8(line).map_err(|error| error.to_string())?;
    // The array's brackets have lines of their own, or share a line with an entity.
    let text = match (text.strip_prefix('['), text.strip_suffix(']')) {
        (Some(_), Some(_)) if text.len() > 1 => {
            let all: Vec<WikidataEntity<'_>> = serde_json::from_str(text).map_err(|error| problem(&error))?;
            return all.iter().try_for_each(f);
        }
        (Some(rest), _) => rest,
        (_, Some(rest)) => rest,
        (None, None) => text,
    };
    if text.is_empty() {
        return Ok(());
    }
    if text.strip_prefix('{').is_some_and(|rest| rest.trim_start().starts_with("\"entities\"")) {
        let answer: EntityDataAnswer<'_> = serde_json::from_str(text).map_err(|error| problem(&error))?;
        return answer.entities.iter().try_for_each(|(_, entity)| f(entity));
    }
    let entity: WikidataEntity<'_> = serde_json::from_str(text).map_err(|error| problem(&error))?;
    f(&entity)
}

/// Returns the message for an error in a line, with the column.
fn problem(error: &serde_json::Error) -> String {
    let column = match (error.line(), error.column()) {
        (0 | 1, column) => column.to_string(),
        (line, column) => format!("{column}, {} lines on", line - 1),
    };
    let message = error.to_string();
    let message = message.split(" at line ").next().unwrap_or(&message);
    if error.is_eof() {
        return format!("the line ends within an entity (column {column}): {message}; write each entity on one line");
    }
    format!("not a Wikidata entity (column {column}): {message}")
}

#[cfg(test)]
mod tests;
