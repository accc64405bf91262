//! Builds the sections of triples from a stream of triples. The result depends on the set of triples only: not on their
//! order or repetition, the number of threads or the memory budget.
//!
//! Terms get temporary numbers on arrival, and triples are stored by these (`interner.rs`). Sorting the keys gives the
//! final numbers. Then the triples are sorted three times and written (`columns.rs`). Keys, numbers and triples spill
//! to temporary files. Independent of the budget, about 100 bytes for each blank node stay in memory.

mod blank;
mod columns;
mod graphs;
mod interner;
mod nested;

use oxrdf::{BlankNodeRef, Literal, NamedOrBlankNode, NamedOrBlankNodeRef, TermRef, Triple};
use rustc_hash::FxHashMap;

use self::blank::{BlankNodes, TripleEnd, digest};
use self::interner::Interner;
use self::nested::{NestedTriples, has_blank_node};
use super::canonical::{canonical, canonical_text};
use super::strings::StringsWriter;
use super::{TermCode, key, layout};
use terrapin_base::LoadProgress;
use terrapin_base::external_sort::{self, RecordBuffer, SpillBuffer, SpillScratch, StringSorter};
use terrapin_snapshot::{ColumnWriter, SnapshotWriter};

/// An error while storing triples.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TripleBuildError {
    /// The snapshot cannot be written.
    #[error(transparent)]
    Snapshot(#[from] terrapin_snapshot::Error),
    /// A temporary file failed.
    #[error(transparent)]
    Temporary(#[from] external_sort::SpillError),
    /// There are more entries than the format can number.
    #[error("too many {0} for this snapshot format")]
    TooMany(&'static str),
}

/// A builder of the sections of triples.
pub struct TripleBuilder {
    scratch: SpillScratch,
    /// Triples of the default graph, as temporary numbers.
    triples: SpillBuffer<[u32; 3]>,
    /// Triples of named graphs, as temporary numbers: the graph, then the triple.
    quads: SpillBuffer<[u32; 4]>,
    interner: Interner,
    strings: StringSorter,
    codes: FxHashMap<u64, u32>,
    /// Codes and their temporary numbers.
    spilled_codes: SpillBuffer<[u64; 2]>,
    /// Labels of the current file's blank nodes, with their indices in `blank.nodes`.
    labels: FxHashMap<String, u32>,
    blank: BlankNodes,
    /// The temporary numbers of the blank nodes, by index.
    blank_numbers: Vec<u32>,
    nested: NestedTriples,
    /// Number of terms numbered so far.
    numbered: u32,
    files: u32,
    /// The previous subject, because subjects repeat.
    previous: Option<(oxrdf::NamedOrBlankNode, u32)>,
    keeps_forms: bool,
    buffer: Vec<u8>,
}

/// Counts of the finished sections.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct TripleBuildReport {
    /// Number of distinct triples in all graphs.
    pub triples: u64,
    /// Number of distinct terms.
    pub terms: u64,
    /// Number of distinct predicates.
    pub predicates: u64,
}

impl TripleBuilder {
    /// Creates an empty builder.
    pub fn new(scratch: &SpillScratch) -> TripleBuilder {
        TripleBuilder {
            scratch: scratch.clone(),
            triples: SpillBuffer::new(scratch),
            quads: SpillBuffer::new(scratch),
            interner: Interner::new(),
            strings: StringSorter::new(scratch),
            codes: FxHashMap::default(),
            spilled_codes: SpillBuffer::new(scratch),
            labels: FxHashMap::default(),
            blank: BlankNodes::default(),
            blank_numbers: Vec::new(),
            nested: NestedTriples::default(),
            numbered: 0,
            files: 0,
            previous: None,
            keeps_forms: false,
            buffer: Vec::new(),
        }
    }

    /// Keeps literals as written: `01` and `1` become different terms.
    pub fn keep_lexical_forms(&mut self) {
        self.keeps_forms = true;
    }

    /// Starts a new file, which resets the scope of blank node labels.
    pub fn begin_file(&mut self) {
        self.files += 1;
        self.labels.clear();
        self.previous = None;
    }

    /// Adds triples, with literals in canonical form unless lexical forms are kept. `graphs` contains the graph of each triple that is not in the
    /// default graph, with the triple's index, in ascending order.
    ///
    /// # Errors
    /// Returns an error if the disk is full, or there are more than 2^32 terms.
    pub fn add(&mut self, triples: &[Triple], graphs: &[(usize, NamedOrBlankNode)]) -> Result<(), TripleBuildError> {
        let mut numbered = Vec::with_capacity(triples.len() - graphs.len());
        let mut quads = Vec::with_capacity(graphs.len());
        let mut graphs = graphs.iter().peekable();
        for (place, triple) in triples.iter().enumerate() {
            let written;
            let reified;
            let object = match triple.object.as_ref() {
                TermRef::Triple(_) if !self.keeps_forms => {
                    reified = canonical(triple.object.clone());
                    reified.as_ref()
                }
                TermRef::Literal(literal)
                    if !self.keeps_forms
                        && let Some(text) = canonical_text(literal) =>
                {
                    written = Literal::new_typed_literal(text, literal.datatype());
                    TermRef::Literal(written.as_ref())
                }
                object => object,
            };
            let subject = match &self.previous {
                Some((term, number)) if *term == triple.subject => *number,
                _ => {
                    let number = self.number(match triple.subject.as_ref() {
                        NamedOrBlankNodeRef::NamedNode(node) => node.into(),
                        NamedOrBlankNodeRef::BlankNode(node) => node.into(),
                    })?;
                    self.previous = Some((triple.subject.clone(), number));
                    number
                }
            };
            let predicate = self.number(triple.predicate.as_ref().into())?;
            let number = self.number(object)?;
            let names_blank_node = match object {
                TermRef::BlankNode(_) => true,
                TermRef::Triple(reified) => has_blank_node(reified),
                TermRef::NamedNode(_) | TermRef::Literal(_) => false,
            };
            if triple.subject.is_blank_node() || names_blank_node {
                let said = (
                    self.side(triple.subject.as_ref().into())?,
                    self.digest(triple.predicate.as_ref().into()),
                    self.side(object)?,
                );
                self.blank.triples.push(said);
            }
            match graphs.next_if(|(of, _)| *of == place) {
                None => numbered.push([subject, predicate, number]),
                Some((_, graph)) => {
                    let graph = self.number(graph.as_ref().into())?;
                    quads.push([graph, subject, predicate, number]);
                }
            }
        }
        self.triples.extend(&numbered)?;
        self.quads.extend(&quads)?;
        if self.interner.memory() >= self.scratch.share() {
            self.flush_strings()?;
        }
        if self.codes.len() * 24 >= self.scratch.share() {
            self.flush_codes()?;
        }
        Ok(())
    }

    /// Returns the temporary number of a term.
    fn number(&mut self, term: TermRef<'_>) -> Result<u32, TripleBuildError> {
        let next = self.numbered;
        let (number, new) = if let Some(code) = TermCode::of(term) {
            let number = *self.codes.entry(code.to_bits()).or_insert(next);
            (number, number == next)
        } else if let TermRef::BlankNode(node) = term {
            let index = self.blank_node(node)?;
            return Ok(self.blank_numbers[index as usize]);
        } else if let TermRef::Triple(triple) = term
            && has_blank_node(triple)
        {
            let index = self.nested(triple)?;
            return Ok(self.blank_numbers[index as usize]);
        } else {
            self.buffer.clear();
            key::push(&mut self.buffer, term);
            self.interner.number(&self.buffer, next)
        };
        if new {
            self.numbered = next.checked_add(1).ok_or(TripleBuildError::TooMany("terms"))?;
        }
        Ok(number)
    }

    /// Returns the index of a blank node of the current file.
    fn blank_node(&mut self, node: BlankNodeRef<'_>) -> Result<u32, TripleBuildError> {
        match self.labels.get(node.as_str()) {
            Some(&index) => Ok(index),
            None => self.new_blank(node.as_str().to_owned()),
        }
    }

    /// Adds a blank node with a label that is new in the current file, and returns its index.
    fn new_blank(&mut self, label: String) -> Result<u32, TripleBuildError> {
        let index = self.blank_numbers.len() as u32;
        self.labels.insert(label.clone(), index);
        self.blank.nodes.push((label, self.files));
        self.blank_numbers.push(self.numbered);
        self.numbered = self.numbered.checked_add(1).ok_or(TripleBuildError::TooMany("terms"))?;
        Ok(index)
    }

    fn side(&mut self, term: TermRef<'_>) -> Result<TripleEnd, TripleBuildError> {
        Ok(match term {
            TermRef::BlankNode(node) => TripleEnd::Blank(self.blank_node(node)?),
            TermRef::Triple(triple) if has_blank_node(triple) => TripleEnd::Blank(self.nested(triple)?),
            term => TripleEnd::Term(self.digest(term)),
        })
    }

    fn digest(&mut self, term: TermRef<'_>) -> [u8; 16] {
        self.buffer.clear();
        key::push(&mut self.buffer, term);
        digest(&self.buffer)
    }

    fn flush_strings(&mut self) -> Result<(), TripleBuildError> {
        Ok(self.interner.drain(|key, number| self.strings.push(key, number.into()))?)
    }

    fn flush_codes(&mut self) -> Result<(), TripleBuildError> {
        let codes: Vec<[u64; 2]> = self.codes.drain().map(|(code, number)| [code, number.into()]).collect();
        Ok(self.spilled_codes.extend(&codes)?)
    }

    /// Writes the sections. `file_order` contains, for each file in order of arrival, its position in an order that
    /// does not depend on arrival.
    ///
    /// # Errors
    /// Returns an error if the disk is full.
    pub fn finish(
        mut self,
        writer: &mut SnapshotWriter,
        file_order: &[u32],
        progress: &dyn LoadProgress,
    ) -> Result<TripleBuildReport, TripleBuildError> {
        progress.phase("sorting terms", 0);
        self.flush_strings()?;
        self.flush_codes()?;
        let mut blank = std::mem::take(&mut self.blank);
        for (_, file) in &mut blank.nodes {
            *file = file_order.get((*file as usize).wrapping_sub(1)).copied().unwrap_or(*file);
        }
        let labels = blank.labels();
        for (index, number) in (0..).zip(&self.blank_numbers) {
            self.buffer.clear();
            self.nested.push_key(&mut self.buffer, index, &labels);
            self.strings.push(&self.buffer, u64::from(*number))?;
        }
        let keeps_forms = self.keeps_forms;
        let TripleBuilder { scratch, triples, quads, strings, spilled_codes, numbered, .. } = self;

        // Pairs of temporary and final numbers.
        let mut numbers = SpillBuffer::<[u32; 2]>::new(&scratch);
        let (mut kinds, first_triple) = write_strings(writer, strings, &mut numbers)?;
        write_codes(writer, spilled_codes, &mut numbers, &mut kinds)?;
        let [_, _, first_code, _, end] = kinds;
        let mut column = ColumnWriter::begin(writer, layout::KINDS)?;
        // The flag for literals as written follows the first triple term, and needs one: where the codes begin, if there
        // is none.
        let first_triple = first_triple.or(keeps_forms.then_some(first_code));
        for kind in kinds.into_iter().chain(first_triple) {
            column.push(writer, kind)?;
        }
        if keeps_forms {
            column.push(writer, 1)?;
        }
        column.finish(writer)?;

        let numbers = numbers.sort(|n| *n)?;
        if numbers.as_slice().len() as u64 != u64::from(numbered) {
            return Err(TripleBuildError::TooMany("terms"));
        }
        progress.phase("sorting triples", 0);
        let triples = renumber(&scratch, triples, numbers.as_slice())?;
        let triples = if quads.is_empty() {
            triples
        } else {
            let quads = renumber(&scratch, quads, numbers.as_slice())?;
            graphs::write(&scratch, writer, triples, quads)?
        };
        let (triples, predicates) = columns::write(&scratch, writer, triples, end)?;
        Ok(TripleBuildReport { triples, terms: end, predicates })
    }
}

/// Writes the dictionary. Returns the starts of the kinds of terms that are known so far, and the first triple term, if
/// there is one.
fn write_strings(
    writer: &mut SnapshotWriter,
    strings: StringSorter,
    numbers: &mut SpillBuffer<[u32; 2]>,
) -> Result<([u64; 5], Option<u64>), TripleBuildError> {
    let mut out = StringsWriter::begin(writer)?;
    let (mut last, mut first_of) = (Vec::new(), [u64::MAX; key::KINDS.len()]);
    let mut next = 0_u64;
    let mut pairs = Vec::with_capacity(CHUNK);
    strings.drain(|key, number| {
        if next == 0 || key != last {
            out.push(writer, key)?;
            last.clear();
            last.extend_from_slice(key);
            if let Some(kind) = key::KINDS.iter().position(|kind| key.first() == Some(kind)) {
                first_of[kind] = first_of[kind].min(next);
            }
            next += 1;
        }
        push(&mut pairs, numbers, number, next - 1)
    })?;
    numbers.extend(&pairs)?;
    let codes = out.finish(writer)?;
    let [_, iris, literals, triples] = first_of;
    let literals = literals.min(triples).min(codes);
    let first_triple = (triples != u64::MAX).then_some(triples);
    Ok(([iris.min(literals), literals, codes, codes, codes], first_triple))
}

/// Writes the codes and completes the starts of the kinds of terms.
fn write_codes(
    writer: &mut SnapshotWriter,
    codes: SpillBuffer<[u64; 2]>,
    numbers: &mut SpillBuffer<[u32; 2]>,
    kinds: &mut [u64; 5],
) -> Result<(), TripleBuildError> {
    let codes = codes.sort(|c| *c)?;
    let mut out = ColumnWriter::begin(writer, layout::CODES)?;
    let mut last = None;
    let mut pairs = Vec::with_capacity(CHUNK);
    for &[code, number] in codes.as_slice() {
        if last != Some(code) {
            last = Some(code);
            out.push(writer, code)?;
            if code < TermCode::first_literal().to_bits() {
                kinds[3] += 1;
            }
            kinds[4] += 1;
        }
        push(&mut pairs, numbers, number, kinds[4] - 1)?;
    }
    numbers.extend(&pairs)?;
    Ok(out.finish(writer)?)
}

/// Number of records added to a buffer at a time.
const CHUNK: usize = 1 << 16;

fn push(
    pairs: &mut Vec<[u32; 2]>,
    numbers: &mut SpillBuffer<[u32; 2]>,
    temporary: u64,
    number: u64,
) -> Result<(), TripleBuildError> {
    let narrow = |n: u64| u32::try_from(n).map_err(|_| TripleBuildError::TooMany("terms"));
    pairs.push([narrow(temporary)?, narrow(number)?]);
    if pairs.len() == CHUNK {
        numbers.extend(pairs)?;
        pairs.clear();
    }
    Ok(())
}

/// Converts triples to the final numbers; `numbers` is sorted by the temporary ones.
fn renumber<const N: usize>(
    scratch: &SpillScratch,
    triples: SpillBuffer<[u32; N]>,
    numbers: &[[u32; 2]],
) -> Result<RecordBuffer<[u32; N]>, TripleBuildError>
where
    [u32; N]: bytemuck::Pod,
{
    use rayon::prelude::*;
    let triples = triples.seal()?;
    let mut out = SpillBuffer::new(scratch);
    for chunk in triples.as_slice().chunks(CHUNK * 16) {
        let chunk: Vec<[u32; N]> =
            chunk.par_iter().map(|triple| triple.map(|n| numbers.get(n as usize).map_or(0, |n| n[1]))).collect();
        out.extend(&chunk)?;
    }
    Ok(out.seal()?)
}
