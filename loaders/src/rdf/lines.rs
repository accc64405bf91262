//! N-Triples and N-Quads: a statement a line, so that blocks of lines are parsed in parallel.

use super::{Options, Summary, Wrong};
use crate::error::Error;
use crate::text::{Blocks, Lines, Text, count_lines};
use crate::{Progress, pipeline};
use oxrdf::Triple;
use oxrdfio::{RdfFormat, RdfParser};
use std::path::Path;

/// Bytes of a line of a usual triple, to reserve memory by.
const USUAL_LINE: usize = 140;

/// What a block of lines has.
struct Parsed {
    triples: Vec<Triple>,
    /// What is wrong in it: the first only, unless it is to be skipped.
    wrong: Vec<Wrong>,
    /// Lines that end in it.
    lines: u64,
    offset: u64,
    position: u64,
}

/// Reads a text of lines.
pub(super) fn read<E: From<Error> + Send>(
    path: &Path,
    text: Text,
    options: &Options,
    mut consume: impl FnMut(Vec<Triple>, Progress) -> Result<(), E>,
) -> Result<Summary, E> {
    let limit = options.blocks_per_thread.max(1).saturating_mul(rayon::current_num_threads());
    let bytes_total = text.bytes_total;
    let mut blocks = Blocks::new(text);
    let mut summary = Summary::default();
    let (mut lines, mut count) = (0, 0);
    let mut broken = None;
    let next = || match blocks.next()? {
        Ok(block) => Some(Ok::<_, E>(block)),
        Err(end) => {
            // Its line is known only when all before it has been parsed.
            broken = Some(end);
            None
        }
    };
    pipeline::ordered(
        limit,
        next,
        |block| Ok(parse(block, options.skip_bad)),
        |parsed| {
            for wrong in parsed.wrong {
                let error = wrong.at(path, lines, parsed.offset);
                if !options.skip_bad {
                    return Err(error.into());
                }
                summary.skip(error);
            }
            lines += parsed.lines;
            count += 1;
            summary.triples += parsed.triples.len() as u64;
            consume(parsed.triples, Progress { bytes_read: parsed.position, bytes_total, blocks: count })
        },
    )?;
    match broken {
        Some((offset, problem)) => Err(Wrong { line: 0, offset: 0, problem }.at(path, lines, offset).into()),
        None => Ok(summary),
    }
}

/// Parses some lines.
fn parse(block: Lines, skip_bad: bool) -> Parsed {
    let mut triples = Vec::with_capacity(block.bytes.len() / USUAL_LINE);
    let mut wrong: Vec<Wrong> = Vec::new();
    for quad in RdfParser::from_format(RdfFormat::NQuads).for_slice(&block.bytes) {
        match quad {
            Ok(quad) => triples.push(quad.into()),
            Err(error) => {
                let error = Wrong::from(error);
                // The parser may find several things wrong in a line.
                if wrong.last().is_none_or(|last| last.line != error.line) {
                    wrong.push(error);
                }
                if !skip_bad {
                    break;
                }
            }
        }
    }
    let lines = count_lines(&block.bytes);
    Parsed { triples, wrong, lines, offset: block.offset, position: block.position }
}
