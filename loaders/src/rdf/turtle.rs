//! Reads Turtle. It is parsed sequentially, because statements may span lines and prefixes may be redefined.

use super::{ParserFault, RdfSummary, TripleBatch};
use crate::ReadProgress;
use crate::error::{LoaderError, TextProblem};
use crate::text::{TextSource, count_lines};
use oxrdf::{BlankNode, NamedOrBlankNode, Term, Triple};
use oxrdfio::{RdfFormat, RdfParseError, RdfParser};
use std::cell::Cell;
use std::collections::HashMap;
use std::io::{self, Read};
use std::path::Path;
use std::rc::Rc;

/// Number of triples in a batch.
const BATCH: usize = 8192;

/// Reads a text of Turtle.
pub(super) fn read<E: From<LoaderError>>(
    path: &Path,
    text: TextSource,
    mut consume: impl FnMut(TripleBatch, ReadProgress) -> Result<(), E>,
) -> Result<RdfSummary, E> {
    let TextSource { reader, position, bytes_total } = text;
    let passed = Rc::new(Cell::new((0, 0)));
    let reader = CountingReader { reader, passed: Rc::clone(&passed), nesting: Nesting::default() };
    let mut summary = RdfSummary::default();
    let mut anonymous = Anonymous::default();
    let mut batch = Vec::with_capacity(BATCH);
    let mut blocks = 0;
    let mut hand_over = |batch: Vec<Triple>| {
        blocks += 1;
        let batch = TripleBatch { triples: batch, graphs: Vec::new() };
        consume(batch, ReadProgress { bytes_read: position.get(), bytes_total, blocks })
    };
    for quad in RdfParser::from_format(RdfFormat::Turtle).for_reader(reader) {
        match quad {
            Ok(quad) => batch.push(anonymous.rename(quad.into())),
            Err(error) => {
                let wrong = match error {
                    RdfParseError::Syntax(error) => ParserFault::from(error),
                    RdfParseError::Io(error) => {
                        let (line, offset) = passed.get();
                        ParserFault { line, offset, problem: TextProblem::Read(error.to_string()) }
                    }
                };
                if !batch.is_empty() {
                    hand_over(batch)?;
                }
                return Err(wrong.at(path, 0, 0).into());
            }
        }
        summary.triples += 1;
        if batch.len() == BATCH {
            hand_over(std::mem::replace(&mut batch, Vec::with_capacity(BATCH)))?;
        }
    }
    if !batch.is_empty() {
        hand_over(batch)?;
    }
    Ok(summary)
}

/// A reader that counts lines and bytes.
struct CountingReader<R> {
    reader: R,
    passed: Rc<Cell<(u64, u64)>>,
    nesting: Nesting,
}

/// Maximum depth of open brackets and parentheses. The parser keeps some hundred bytes for each and has no limit of its
/// own.
const MAX_NESTING: u64 = 10_000;

/// Tracks the number of open brackets and parentheses outside of IRIs, literals and comments.
#[derive(Default)]
struct Nesting {
    open: u64,
    within: Within,
    /// Whether the next character is escaped.
    escaped: bool,
    /// Number of consecutive quotation marks that begin or end a literal.
    marks: u8,
}

/// The token at the current position.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum Within {
    #[default]
    Nothing,
    Iri,
    Comment,
    /// Quotation marks at the start of a literal.
    Marks(u8),
    /// A literal with this quotation mark; true if it is a long literal with three marks on each side.
    Literal(u8, bool),
}

impl Nesting {
    /// Processes some bytes. Returns false if more than [`MAX_NESTING`] are open.
    fn pass(&mut self, bytes: &[u8]) -> bool {
        for &byte in bytes {
            if let Within::Marks(mark) = self.within {
                if byte == mark {
                    self.marks += 1;
                    if self.marks == 3 {
                        (self.within, self.marks) = (Within::Literal(mark, true), 0);
                    }
                    continue;
                }
                // Two marks are an empty literal.
                self.within = if self.marks == 2 { Within::Nothing } else { Within::Literal(mark, false) };
                self.marks = 0;
            }
            match (self.within, byte) {
                (Within::Literal(..), _) if self.escaped => (self.escaped, self.marks) = (false, 0),
                (Within::Literal(..), b'\\') => (self.escaped, self.marks) = (true, 0),
                (Within::Literal(mark, long), _) if byte == mark => {
                    self.marks += 1;
                    if !long || self.marks == 3 {
                        (self.within, self.marks) = (Within::Nothing, 0);
                    }
                }
                // Invalid: a short literal ends at the line end. The parser reports the error and stops.
                (Within::Literal(_, false), b'\n') => self.within = Within::Nothing,
                (Within::Literal(..), _) => self.marks = 0,
                (Within::Iri, b'>' | b' ' | b'\n') | (Within::Comment, b'\n') => self.within = Within::Nothing,
                (Within::Nothing, b'<') => self.within = Within::Iri,
                (Within::Nothing, b'#') => self.within = Within::Comment,
                (Within::Nothing, b'"' | b'\'') => (self.within, self.marks) = (Within::Marks(byte), 1),
                (Within::Nothing, b'[' | b'(') => self.open += 1,
                (Within::Nothing, b']' | b')') => self.open = self.open.saturating_sub(1),
                _ => {}
            }
            if self.open > MAX_NESTING {
                return false;
            }
        }
        true
    }
}

impl<R: Read> Read for CountingReader<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let got = self.reader.read(buffer)?;
        let (lines, bytes) = self.passed.get();
        let new = count_lines(buffer.get(..got).unwrap_or_default());
        self.passed.set((lines + new, bytes + got as u64));
        if !self.nesting.pass(buffer.get(..got).unwrap_or_default()) {
            return Err(io::Error::other(format!(
                "more than {MAX_NESTING} brackets and parentheses within each other"
            )));
        }
        Ok(got)
    }
}

/// Assigns stable labels to blank nodes without a label.
///
/// The parser gives such nodes random labels of 32 hexadecimal digits. A label of that form in the file looks the same.
/// Therefore all labels of that form are numbered in order of appearance. This keeps nodes distinct and gives the same
/// result in every run.
#[derive(Default)]
struct Anonymous {
    /// A number for each label. Takes 24 bytes per node.
    numbers: HashMap<u128, u64>,
}

impl Anonymous {
    fn rename(&mut self, mut triple: Triple) -> Triple {
        if let NamedOrBlankNode::BlankNode(node) = &mut triple.subject {
            self.renumber(node);
        }
        if let Term::BlankNode(node) = &mut triple.object {
            self.renumber(node);
        }
        triple
    }

    fn renumber(&mut self, node: &mut BlankNode) {
        if node.as_str().len() < 24 {
            return; // random labels practically always have more digits
        }
        let Some(id) = node.as_ref().unique_id() else { return };
        let next = self.numbers.len() as u64;
        let number = *self.numbers.entry(id).or_insert(next);
        *node = BlankNode::new_unchecked(format!("{PREFIX}{number:016x}"));
    }
}

/// Prefix of the assigned labels. With it they have 32 hexadecimal digits, a form that no unchanged label has.
const PREFIX: &str = "b0000000000000aa";

#[cfg(test)]
mod tests {
    use super::*;

    fn open(text: &str) -> u64 {
        let mut nesting = Nesting::default();
        assert!(text.bytes().all(|byte| nesting.pass(&[byte])));
        nesting.open
    }

    #[test]
    fn what_is_open_is_counted_outside_of_texts() {
        assert_eq!(open("<a> <b> [ <c> ( 1 [ ] ) ; <d> ("), 2);
        assert_eq!(open(r#"<a([> "([\"[" '[[' "" '' [ # [[["#), 1);
        assert_eq!(open("# [[\n["), 1);
        assert_eq!(open(r#""""[ " "" \"""[""" ( '''[''[''' ("#), 2);
        assert_eq!(open(r#") ] [ "a"@en , "b"^^<c>"#), 1);
        let mut nesting = Nesting::default();
        assert!(nesting.pass("[".repeat(10_000).as_bytes()) && !nesting.pass(b"("));
    }
}
