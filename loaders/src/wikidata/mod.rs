//! Reads entities of Wikidata as its JSON dumps have them, and makes of them the triples that its RDF dumps have or its
//! query service serves.
//!
//! A dump has an entity a line, within an array or not, plain or packed with gzip, bzip2 or Zstandard. What
//! `Special:EntityData` gives is read too, over many lines if it has at most 64 MiB. Entities are passed on in the file's
//! order.
//!
//! The triples follow the documented [RDF dump format] and its chapter on how the query service differs. What cannot
//! be told from an entity alone is left out or stands for itself:
//! - Nodes of full values and of unknown values have names made of their content by another hash than Wikidata's, so
//!   that equal values are one node, as there, but under another name.
//! - Normalised values: quantities in the units of [a table](self) of common units; external identifiers where
//!   [`Converter::formatters`] has what makes IRIs of them.
//! - Formulas stay the text that editors wrote, where Wikidata has MathML.
//!
//! [RDF dump format]: https://www.mediawiki.org/wiki/Wikibase/Indexing/RDF_Dump_Format

mod convert;
mod languages;
mod lexeme;
pub mod model;
pub mod recipe;
mod sites;
mod subset;
mod time;
mod units;
mod value;
mod vocabulary;
mod writer;

pub use subset::{Plan, Selection};
pub use writer::{Converter, Shape};

use crate::error::{Error, TextProblem};
use crate::pipeline::{self, Window};
use crate::text::{self, Blocks, Lines};
use crate::{Progress, WINDOW_MEMORY};
use model::{Entity, Map};
use oxrdf::Triple;
use std::path::Path;

/// Bytes that are read to detect the format.
const LOOK: usize = 4096;

/// Bytes that an entity's line may have: what is made of it takes up to ten times that. The longest entities of Wikidata
/// have some 5 MB.
const MAX_LINE: usize = 16 << 20;

/// The message for an array without an end.
const CUT: &str = "the text ends within the array: its closing ] is missing, the dump was cut off";

/// Errors that a [`Summary`] has in full.
const MAX_SHOWN: usize = 10;

/// How to read.
#[derive(Clone, Debug)]
pub struct Options {
    /// Whether lines that are no entities are left out and counted, the missing end of a dump that was cut off included.
    pub skip_bad: bool,
    /// How many blocks of lines a thread may be between reading and consuming; at least 1. A block has 1 MiB, or one
    /// line if that is longer.
    pub blocks_per_thread: usize,
    /// Bytes of memory that these blocks may take together, about.
    pub memory: u64,
}

impl Default for Options {
    fn default() -> Self {
        Self { skip_bad: false, blocks_per_thread: 4, memory: WINDOW_MEMORY }
    }
}

/// Counts and errors of a reading run.
#[derive(Debug, Default)]
pub struct Summary {
    /// Entities.
    pub entities: u64,
    /// Those of them that a recipe takes for their own sake; properties are mostly taken with whatever else is. 0 without
    /// a recipe.
    pub chosen: u64,
    /// Lines that were left out because they are wrong; one of them stands for the missing end of an array.
    pub bad: u64,
    /// The first errors, at most 10.
    pub errors: Vec<Error>,
}

impl Summary {
    /// Counts a skipped line, or the missing end of an array.
    fn skip(&mut self, error: Error) {
        self.bad += 1;
        if self.errors.len() < MAX_SHOWN {
            self.errors.push(error);
        }
    }
}

/// Whether a text begins as a dump of entities does, so that it can be told from other texts.
pub fn is_dump(path: &Path) -> Result<bool, Error> {
    let (start, _) = text::open(path, LOOK)?;
    let start = start.trim_ascii();
    if start.strip_prefix(b"[").is_some_and(|rest| rest.trim_ascii_start() == b"]") {
        return Ok(true);
    }
    let start = start.strip_prefix(b"[").unwrap_or(start).trim_ascii_start();
    // Turtle may begin with a bracket, but a name in quotes is followed by a colon in JSON only.
    Ok(start.strip_prefix(b"{").is_some_and(|rest| rest.trim_ascii_start().starts_with(b"\"")))
}

/// Whether a text begins as JSON that is spread over lines for people to read.
fn is_spread(start: &[u8]) -> bool {
    let mut lines = start.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii).filter(|line| !line.is_empty());
    let first = lines.next();
    first == Some(b"{") || first == Some(b"[") && lines.next() == Some(b"{")
}

/// Reads entities as triples: `consume` gets those of some entities together, on the calling thread.
///
/// ```no_run
/// # use terrapin_loaders::{Error, wikidata};
/// let converter = wikidata::Converter::new(wikidata::Shape::Service);
/// let mut triples = 0;
/// wikidata::read::<Error>("latest-all.json.bz2".as_ref(), &wikidata::Options::default(), &converter, |batch, _| {
///     triples += batch.len();
///     Ok(())
/// })?;
/// # Ok::<(), Error>(())
/// ```
pub fn read<E: From<Error> + Send>(
    path: &Path,
    options: &Options,
    converter: &Converter,
    consume: impl FnMut(Vec<Triple>, Progress) -> Result<(), E>,
) -> Result<Summary, E> {
    entities(path, options, |entity, triples| converter.convert(entity, triples), consume)
}

/// Reads entities: `map` adds what it makes of each to a list, in parallel on the current rayon pool; `consume` gets the
/// lists of some entities together on the calling thread, in the file's order. [`Options`] bounds how many are under
/// way. What `map` adds for an entity that it refuses is dropped.
///
/// The first error in the file's order ends it, whether it comes from the file or from `consume`.
pub fn entities<T: Send, E: From<Error> + Send>(
    path: &Path,
    options: &Options,
    map: impl Fn(&Entity<'_>, &mut Vec<T>) -> Result<(), String> + Sync,
    consume: impl FnMut(Vec<T>, Progress) -> Result<(), E>,
) -> Result<Summary, E> {
    selected(path, options, |_| true, map, consume)
}

/// As [`entities`], of those only whose id `wants` says yes to. Others are not even parsed where their line begins as
/// dumps write it; what is wrong with them may go unnoticed then.
fn selected<T: Send, E: From<Error> + Send>(
    path: &Path,
    options: &Options,
    wants: impl Fn(&str) -> bool + Sync,
    map: impl Fn(&Entity<'_>, &mut Vec<T>) -> Result<(), String> + Sync,
    mut consume: impl FnMut(Vec<T>, Progress) -> Result<(), E>,
) -> Result<Summary, E> {
    let limit = Window::of(options.blocks_per_thread, options.memory);
    let (start, text) = text::open(path, LOOK)?;
    let bytes_total = text.bytes_total;
    let in_array = start.trim_ascii_start().starts_with(b"[");
    let mut blocks = if is_spread(&start) { Blocks::whole(text) } else { Blocks::of_lines(text, MAX_LINE) };
    let mut summary = Summary::default();
    let (mut lines, mut count) = (0, 0);
    let (mut end, mut last) = (0, None);
    let mut broken = None;
    let next = || match blocks.next()? {
        Ok(block) => Some(Ok::<_, E>(block)),
        Err(end) => {
            // Its line is known only when all before it has been read.
            broken = Some(end);
            None
        }
    };
    let error = |line, offset, problem| Error::Text { file: path.to_path_buf(), line, offset, problem };
    pipeline::ordered(
        limit,
        next,
        Lines::cost,
        |block| Ok(block_of(&block, options.skip_bad, &wants, &map)),
        |done: Done<T>| {
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
            consume(done.made, Progress { bytes_read: done.position, bytes_total, blocks: count })
        },
    )?;
    if let Some((offset, problem)) = broken {
        return Err(error(lines + 1, offset, problem).into());
    }
    // Nobody can say which entities are missing then.
    if in_array && last != Some(b']') {
        let cut = error(lines, end, TextProblem::Syntax(CUT.to_owned()));
        if !options.skip_bad {
            return Err(cut.into());
        }
        summary.skip(cut);
    }
    Ok(summary)
}

/// What was made of a block of lines.
struct Done<T> {
    made: Vec<T>,
    entities: u64,
    /// What is wrong: number of the line in the block, from 1; offset in the text; problem. The first only, unless it
    /// is to be skipped.
    bad: Vec<(u64, u64, String)>,
    lines: u64,
    position: u64,
    /// Where the block ends in the text.
    end: u64,
    /// Its last byte that is no space.
    last: Option<u8>,
}

fn block_of<T>(
    block: &Lines,
    skip_bad: bool,
    wants: &impl Fn(&str) -> bool,
    map: &impl Fn(&Entity<'_>, &mut Vec<T>) -> Result<(), String>,
) -> Done<T> {
    let mut offset = block.offset;
    let mut done = Done {
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

/// An answer of `Special:EntityData` or of the API.
#[derive(serde::Deserialize)]
#[serde(bound(deserialize = "'de: 'a"))]
struct Answer<'a> {
    entities: Map<'a, Entity<'a>>,
}

/// The id of the entity that a line has, if the line begins as those of dumps do.
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

/// Gives the entities of a line to `f`.
fn line_of(line: &[u8], f: &mut dyn FnMut(&Entity<'_>) -> Result<(), String>) -> Result<(), String> {
    let line = line.trim_ascii();
    let line = line.strip_suffix(b",").unwrap_or(line);
    let text = std::str::from_utf8(line).map_err(|error| error.to_string())?;
    // The array's brackets stand alone on their lines, or with an entity.
    let text = match (text.strip_prefix('['), text.strip_suffix(']')) {
        (Some(_), Some(_)) if text.len() > 1 => {
            let all: Vec<Entity<'_>> = serde_json::from_str(text).map_err(|error| problem(&error))?;
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
        let answer: Answer<'_> = serde_json::from_str(text).map_err(|error| problem(&error))?;
        return answer.entities.iter().try_for_each(|(_, entity)| f(entity));
    }
    let entity: Entity<'_> = serde_json::from_str(text).map_err(|error| problem(&error))?;
    f(&entity)
}

/// What is wrong with a line, in the line's columns.
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
