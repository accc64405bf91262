//! Reads Turtle and RDF/XML. They are parsed sequentially, because statements may span lines and prefixes may be
//! redefined.

use super::xml::XmlGuard;
use super::{MAX_TRIPLE_TERMS, ParserFault, RdfSummary, TOO_DEEP, TripleBatch};
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

/// Reads a text of Turtle or of RDF/XML.
pub(super) fn read<E: From<LoaderError>>(
    path: &Path,
    text: TextSource,
    format: RdfFormat,
    mut consume: impl FnMut(TripleBatch, ReadProgress) -> Result<(), E>,
) -> Result<RdfSummary, E> {
    let TextSource { reader, position, bytes_total } = text;
    let passed = Rc::new(Cell::new((0, 0)));
    let limits = match format {
        RdfFormat::RdfXml => TextLimits::Xml(XmlGuard::default()),
        _ => TextLimits::Turtle(Nesting::default()),
    };
    let reader = CountingReader { reader, passed: Rc::clone(&passed), limits };
    let mut summary = RdfSummary::default();
    let mut anonymous = Anonymous::default();
    let mut batch = Vec::with_capacity(BATCH);
    let mut blocks = 0;
    let mut hand_over = |batch: Vec<Triple>| {
        blocks += 1;
        let batch = TripleBatch { triples: batch, graphs: Vec::new() };
        consume(batch, ReadProgress { bytes_read: position.get(), bytes_total, blocks })
    };
    for quad in RdfParser::from_format(format).for_reader(reader) {
        match quad {
            Ok(quad) if is_deep(&quad.object) => {
                let (line, offset) = passed.get();
                let problem = TextProblem::Syntax(TOO_DEEP.to_owned());
                return Err(ParserFault { line, offset, problem }.at(path, 0, 0).into());
            }
            Ok(quad) => batch.push(anonymous.rename(quad.into())),
            Err(error) => {
                let wrong = match error {
                    // The parser of XML has no positions.
                    RdfParseError::Syntax(error) if error.location().is_none() => {
                        let (line, offset) = passed.get();
                        ParserFault { line, offset, ..ParserFault::from(error) }
                    }
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

/// Returns whether a term has more than [`MAX_TRIPLE_TERMS`] triple terms within each other.
fn is_deep(term: &Term) -> bool {
    let (mut term, mut depth) = (term, 0);
    while let Term::Triple(triple) = term {
        (term, depth) = (&triple.object, depth + 1);
    }
    depth > MAX_TRIPLE_TERMS
}

/// A reader that counts lines and bytes, and checks the limits of the format.
struct CountingReader<R> {
    reader: R,
    passed: Rc<Cell<(u64, u64)>>,
    limits: TextLimits,
}

/// The limits of a format that its parser lacks.
enum TextLimits {
    Turtle(Nesting),
    Xml(XmlGuard),
}

impl TextLimits {
    fn pass(&mut self, bytes: &[u8]) -> Result<(), String> {
        match self {
            TextLimits::Turtle(nesting) => nesting.pass(bytes),
            TextLimits::Xml(guard) => guard.pass(bytes),
        }
    }
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
    /// Number of open triple terms.
    terms: u64,
    /// The previous byte.
    last: u8,
}

/// The token at the current position.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum Within {
    #[default]
    Nothing,
    Iri,
    /// `<<`.
    Triple,
    /// The first `>` of `>>`.
    TripleEnd,
    Comment,
    /// Quotation marks at the start of a literal.
    Marks(u8),
    /// A literal with this quotation mark; true if it is a long literal with three marks on each side.
    Literal(u8, bool),
}

impl Nesting {
    /// Processes some bytes. Returns the error if too many brackets or triple terms are open.
    fn pass(&mut self, bytes: &[u8]) -> Result<(), String> {
        for &byte in bytes {
            let last = std::mem::replace(&mut self.last, byte);
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
                (Within::Triple, b'(') | (Within::TripleEnd, b'>') => {}
                (Within::Triple | Within::TripleEnd, _) => self.within = Within::Nothing,
                _ => {}
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
                // `<<` begins a triple.
                (Within::Iri, b'<') if last == b'<' => {
                    self.open += 1;
                    self.within = Within::Triple;
                }
                (Within::Nothing, b'<') => self.within = Within::Iri,
                (Within::Triple, b'(') => {
                    self.terms += 1;
                    self.open += 1;
                    self.within = Within::Nothing;
                }
                (Within::Nothing, b'>') => {
                    self.terms = self.terms.saturating_sub(u64::from(last == b')'));
                    self.within = Within::TripleEnd;
                }
                (Within::TripleEnd, _) => {
                    self.open = self.open.saturating_sub(1);
                    self.within = Within::Nothing;
                }
                (Within::Nothing, b'#') => self.within = Within::Comment,
                (Within::Nothing, b'"' | b'\'') => (self.within, self.marks) = (Within::Marks(byte), 1),
                (Within::Nothing, b'[' | b'(' | b'{') => self.open += 1,
                (Within::Nothing, b']' | b')' | b'}') => self.open = self.open.saturating_sub(1),
                _ => {}
            }
            if self.open > MAX_NESTING {
                return Err(format!("more than {MAX_NESTING} brackets and parentheses within each other"));
            }
            if self.terms > MAX_TRIPLE_TERMS as u64 {
                return Err(TOO_DEEP.to_owned());
            }
        }
        Ok(())
    }
}

impl<R: Read> Read for CountingReader<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let got = self.reader.read(buffer)?;
        let (lines, bytes) = self.passed.get();
        let new = count_lines(buffer.get(..got).unwrap_or_default());
        self.passed.set((lines + new, bytes + got as u64));
        self.limits.pass(buffer.get(..got).unwrap_or_default()).map_err(io::Error::other)?;
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
        self.rename_in(&mut triple);
        triple
    }

    fn rename_in(&mut self, triple: &mut Triple) {
        if let NamedOrBlankNode::BlankNode(node) = &mut triple.subject {
            self.renumber(node);
        }
        match &mut triple.object {
            Term::BlankNode(node) => self.renumber(node),
            Term::Triple(inner) => self.rename_in(inner),
            Term::NamedNode(_) | Term::Literal(_) => {}
        }
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
        assert!(text.bytes().all(|byte| nesting.pass(&[byte]).is_ok()));
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
        assert!(nesting.pass("[".repeat(10_000).as_bytes()).is_ok() && nesting.pass(b"(").is_err());
    }

    #[test]
    fn triple_terms_are_counted() {
        assert_eq!(open("<a> <b> <<( <c> <d> <<(:e :f :g)>> )>>, <<<c> <d> <e>>>, ("), 1);
        let mut nesting = Nesting::default();
        assert_eq!(nesting.pass("<a> <b> <<( <c> <d> (1)>> )>> . ".repeat(100).as_bytes()), Ok(()));
        assert_eq!(nesting.pass("<a> <b> <<(:c :d :e)>> . ".repeat(100).as_bytes()), Ok(()));
        assert_eq!(nesting.pass(":a :b <<(".repeat(64).as_bytes()), Ok(()));
        assert_eq!(nesting.pass(b"<<("), Err(TOO_DEEP.to_owned()));
    }

    #[test]
    fn reified_triples_and_annotations_are_counted() {
        assert_eq!(open("<< << <a> <b> <c>>> <d> <e> ~ <r>>> <f> <g> {| <h> <i>, (1) |}, <<"), 1);
        for part in ["<< ", "<< <<<a> <b> <c>>> <d> ", "{| <a> <b> <c> "] {
            let mut nesting = Nesting::default();
            assert!(nesting.pass(part.repeat(10_001).as_bytes()).is_err(), "{part}");
        }
    }
}
