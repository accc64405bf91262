//! Reads N-Triples and N-Quads. They have one statement per line, so that blocks of lines are parsed in parallel.

use super::{MAX_TRIPLE_TERMS, ParserFault, RdfOptions, RdfSummary, TOO_DEEP, TripleBatch, plain};
use crate::ReadProgress;
use crate::error::{LoaderError, TextProblem};
use crate::pipeline::{self, Window};
use crate::text::{LineBlock, LineBlocks, TextSource, count_lines};
use oxrdf::GraphName;
use oxrdfio::{RdfFormat, RdfParser};
use std::path::Path;

/// Length of a typical line in bytes, for reserving memory.
const USUAL_LINE: usize = 140;

/// The result of parsing a block of lines.
struct ParsedLines {
    batch: TripleBatch,
    /// Errors in the block: all if bad lines are skipped, otherwise only the first.
    wrong: Vec<ParserFault>,
    /// Number of line ends in the block.
    lines: u64,
    offset: u64,
    position: u64,
}

/// Reads a text line by line.
pub(super) fn read<E: From<LoaderError> + Send>(
    path: &Path,
    text: TextSource,
    options: &RdfOptions,
    mut consume: impl FnMut(TripleBatch, ReadProgress) -> Result<(), E>,
) -> Result<RdfSummary, E> {
    let limit = Window::of(options.blocks_per_thread, options.memory);
    let bytes_total = text.bytes_total;
    let mut blocks = LineBlocks::new(text);
    let mut summary = RdfSummary::default();
    let (mut lines, mut count) = (0, 0);
    let mut broken = None;
    let next = || match blocks.next()? {
        Ok(block) => Some(Ok::<_, E>(block)),
        Err(end) => {
            // The line number is known only after all lines before it have been parsed.
            broken = Some(end);
            None
        }
    };
    pipeline::ordered(
        limit,
        next,
        LineBlock::cost,
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
            summary.triples += parsed.batch.triples.len() as u64;
            consume(parsed.batch, ReadProgress { bytes_read: parsed.position, bytes_total, blocks: count })
        },
    )?;
    match broken {
        Some((offset, problem)) => Err(ParserFault { line: 0, offset: 0, problem }.at(path, lines, offset).into()),
        None => Ok(summary),
    }
}

/// Parses a block of lines.
fn parse(block: LineBlock, skip_bad: bool) -> ParsedLines {
    let mut batch = TripleBatch { triples: Vec::with_capacity(block.bytes.len() / USUAL_LINE), graphs: Vec::new() };
    let mut wrong: Vec<ParserFault> = Vec::new();
    // If the block is not UTF-8, the parser reports the error.
    let text = std::str::from_utf8(&block.bytes).ok();
    let mut offset = 0;
    for (number, line) in (0..).zip(block.bytes.split_inclusive(|byte| *byte == b'\n')) {
        let end = offset + line.len();
        let plain = text.and_then(|text| plain::triple(text.get(offset..end)?.trim_end_matches('\n')));
        match plain {
            Some(triple) => batch.triples.push(triple),
            None => {
                if let Err(error) = parse_line(line, &mut batch) {
                    wrong.push(ParserFault { line: number, offset: error.offset + offset as u64, ..error });
                    if !skip_bad {
                        break;
                    }
                }
            }
        }
        offset = end;
    }
    let lines = count_lines(&block.bytes);
    ParsedLines { batch, wrong, lines, offset: block.offset, position: block.position }
}

/// Parses a line and adds its triples to `batch`. In case of an error, returns the first one and adds nothing.
fn parse_line(line: &[u8], batch: &mut TripleBatch) -> Result<(), ParserFault> {
    // Triple terms are objects only. Therefore each contains the next one, and none follows a literal.
    let terms = line.split(|byte| *byte == b'"').next().unwrap_or_default();
    if terms.windows(3).filter(|mark| mark == b"<<(").count() > MAX_TRIPLE_TERMS {
        return Err(ParserFault { line: 0, offset: 0, problem: TextProblem::Syntax(TOO_DEEP.to_owned()) });
    }
    let kept = (batch.triples.len(), batch.graphs.len());
    for quad in RdfParser::from_format(RdfFormat::NQuads).for_slice(line) {
        match quad {
            Ok(quad) => {
                let graph = match &quad.graph_name {
                    GraphName::NamedNode(node) => Some(node.clone().into()),
                    GraphName::BlankNode(node) => Some(node.clone().into()),
                    GraphName::DefaultGraph => None,
                };
                batch.graphs.extend(graph.map(|graph| (batch.triples.len(), graph)));
                batch.triples.push(quad.into());
            }
            Err(error) => {
                batch.triples.truncate(kept.0);
                batch.graphs.truncate(kept.1);
                return Err(error.into());
            }
        }
    }
    Ok(())
}
