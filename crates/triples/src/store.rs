//! Reading triples: terms, the three permutations, exact counts of patterns. Everything is read in place from the
//! mapped file, without a cache or locks.

use std::cell::RefCell;
use std::ops::Range;
use std::sync::{Arc, OnceLock};

use oxrdf::{Literal, NamedNode, Term, TermRef};
use spareval::ExpressionTerm;

use super::labels::LabelIndex;
use super::points::Points;
use super::strings::StringDictionary;
use super::{Graphs, TermCode, TermId, key, layout};
use terrapin_snapshot::{ColumnCursor, Error, Fault, SectionColumn, Snapshot};

/// The triples of an open snapshot.
pub struct Store {
    strings: StringDictionary,
    codes: SectionColumn,
    /// Kept in memory, because they are few and needed for every other triple.
    predicates: Box<[u64]>,
    predicate_subjects: SectionColumn,
    predicate_objects: SectionColumn,
    spo: Permutation,
    pos: Permutation,
    osp: Permutation,
    kinds: Kinds,
    keeps_forms: bool,
    graphs: Option<Graphs>,
    labels: Option<LabelIndex>,
    fault: Arc<Fault>,
    /// `None` while the snapshot is being made, before they are written.
    pub(super) points: Option<Points>,
    /// Number of literals that may be points.
    pub(super) most_points: OnceLock<u64>,
}

/// The place of the flag for literals as written in [`layout::KINDS`]. It is absent for canonical forms.
pub(super) const KEEPS_FORMS: u64 = 6;

/// The first number of each kind of term.
#[derive(Debug, Clone, Copy)]
struct Kinds {
    iris: u64,
    literals: u64,
    triples: u64,
    codes: u64,
    literal_codes: u64,
    end: u64,
}

struct Permutation {
    starts: SectionColumn,
    second: SectionColumn,
    third: SectionColumn,
}

/// Counts of a predicate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct PredicateCounts {
    /// Number of triples.
    pub triples: u64,
    /// Number of distinct subjects.
    pub subjects: u64,
    /// Number of distinct objects.
    pub objects: u64,
}

/// A kind of term.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum TermKind {
    BlankNode,
    Iri,
    Literal,
    Triple,
}

thread_local! {
    /// Buffer for a key: one per thread saves an allocation per lookup.
    static KEY: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
}

impl Store {
    /// Opens the triples of a snapshot; returns `None` if it has none.
    ///
    /// # Errors
    /// Returns an error if the sections are damaged.
    pub fn open(snapshot: &Arc<Snapshot>) -> Result<Option<Store>, Error> {
        if snapshot.place(layout::STRINGS).is_none() {
            return Ok(None);
        }
        let fault = Arc::new(Fault::default());
        let column = |name| SectionColumn::open(snapshot, name, &fault);
        let permutation = |[starts, second, third]: layout::Permutation| {
            let columns = Permutation { starts: column(starts)?, second: column(second)?, third: column(third)? };
            if columns.second.len() != columns.third.len() || columns.starts.is_empty() {
                return Err(Error::damaged(second, "its columns do not fit each other"));
            }
            Ok(columns)
        };
        let kinds = column(layout::KINDS)?;
        let store = Store {
            strings: StringDictionary::open(snapshot, &fault)?,
            codes: column(layout::CODES)?,
            predicates: column(layout::PREDICATES)?.values(),
            predicate_subjects: column(layout::PREDICATE_SUBJECTS)?,
            predicate_objects: column(layout::PREDICATE_OBJECTS)?,
            spo: permutation(layout::SPO)?,
            pos: permutation(layout::POS)?,
            osp: permutation(layout::OSP)?,
            kinds: Kinds {
                iris: kinds.get(0),
                literals: kinds.get(1),
                // Only snapshots with triple terms have this entry.
                triples: if kinds.len() > 5 { kinds.get(5) } else { kinds.get(2) },
                codes: kinds.get(2),
                literal_codes: kinds.get(3),
                end: kinds.get(4),
            },
            keeps_forms: kinds.len() > KEEPS_FORMS && kinds.get(KEEPS_FORMS) == 1,
            graphs: Graphs::open(snapshot, &fault)?,
            labels: LabelIndex::open(snapshot, &fault)?,
            points: Points::open(snapshot, &fault)?,
            fault,
            most_points: OnceLock::new(),
        };
        let Kinds { iris, literals, triples, codes, literal_codes, end } = store.kinds;
        let ascending = [iris, literals, triples, codes, literal_codes, end].is_sorted();
        if !ascending || store.strings.len() != codes || store.codes.len() != end - codes {
            return Err(Error::damaged(layout::KINDS, "it does not fit the dictionary"));
        }
        for (starts, expected) in [(&store.spo, end), (&store.osp, end), (&store.pos, store.predicates.len() as u64)] {
            if starts.starts.len() != expected + 1 || starts.second.len() != store.spo.second.len() {
                return Err(Error::damaged(layout::KINDS, "it does not fit the permutations"));
            }
        }
        if let Some(counts) = snapshot.manifest().and_then(|manifest| manifest.triples) {
            let announced = [counts.triples, counts.terms, counts.predicates];
            let found = [store.len(), store.terms(), store.predicates.len() as u64];
            if announced != found {
                let reason = format!(
                    "its counts of triples, terms and predicates are {announced:?}, and the sections have {found:?}"
                );
                return Err(Error::damaged("manifest", reason));
            }
        }
        store.check()?;
        Ok(Some(store))
    }

    /// Returns an empty store, for a snapshot of elements only.
    pub fn none() -> Store {
        let fault = Arc::new(Fault::default());
        let column = |name| SectionColumn::held(name, [], &fault);
        let permutation = |[starts, second, third]: layout::Permutation| Permutation {
            starts: SectionColumn::held(starts, [0], &fault),
            second: column(second),
            third: column(third),
        };
        Store {
            strings: StringDictionary::none(&fault),
            codes: column(layout::CODES),
            predicates: Box::default(),
            predicate_subjects: column(layout::PREDICATE_SUBJECTS),
            predicate_objects: column(layout::PREDICATE_OBJECTS),
            spo: permutation(layout::SPO),
            pos: permutation(layout::POS),
            osp: permutation(layout::OSP),
            kinds: Kinds { iris: 0, literals: 0, triples: 0, codes: 0, literal_codes: 0, end: 0 },
            keeps_forms: false,
            graphs: None,
            labels: None,
            points: Some(Points::held(Vec::new(), &fault)),
            fault,
            most_points: OnceLock::new(),
        }
    }

    /// Checks that everything read so far was intact. Call it before a result is completed.
    ///
    /// # Errors
    /// Returns the first damage found.
    pub fn check(&self) -> Result<(), Error> {
        self.fault.check()
    }

    pub(super) fn fault(&self) -> &Arc<Fault> {
        &self.fault
    }

    /// Returns the graphs, if named ones exist. All other methods cover the triples of all graphs.
    pub fn graphs(&self) -> Option<&Graphs> {
        self.graphs.as_ref()
    }

    /// Returns the index of entities' texts, if the snapshot has one.
    pub fn labels(&self) -> Option<&LabelIndex> {
        self.labels.as_ref()
    }

    /// Returns whether literals are terms as written; otherwise each value has one lexical form.
    pub fn keeps_lexical_forms(&self) -> bool {
        self.keeps_forms
    }

    /// Returns the number of triples.
    pub fn len(&self) -> u64 {
        self.spo.second.len()
    }

    /// Returns whether the store is empty.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the number of terms; all term numbers are smaller.
    pub fn terms(&self) -> u64 {
        self.kinds.end
    }

    /// Returns the distinct predicates, ascending.
    pub fn predicates(&self) -> impl Iterator<Item = TermId> + '_ {
        self.predicates.iter().map(|&p| TermId::of_snapshot(p))
    }

    // Terms

    /// Returns the id of a term, if the snapshot contains it.
    pub fn id(&self, term: TermRef<'_>) -> Option<TermId> {
        if let Some(code) = TermCode::of(term) {
            return self.id_of_code(code);
        }
        KEY.with_borrow_mut(|buffer| {
            buffer.clear();
            key::push(buffer, term);
            self.strings.find(buffer).map(TermId::of_snapshot)
        })
    }

    /// Returns the id of an encoded term, if the snapshot contains it.
    pub fn id_of_code(&self, code: TermCode) -> Option<TermId> {
        let (bits, len) = (code.to_bits(), self.codes.len());
        let at = self.codes.lower_bound(0, len, bits);
        (at < len && self.codes.get(at) == bits).then(|| TermId::of_snapshot(self.kinds.codes + at))
    }

    /// Returns the code of a term, if it is encoded.
    pub fn code(&self, id: TermId) -> Option<TermCode> {
        let at = id.number()?.checked_sub(self.kinds.codes)?;
        (at < self.codes.len()).then(|| TermCode::from_bits(self.codes.get(at)))
    }

    /// Returns the term with an id of the snapshot, or `None` for other ids and if the snapshot is damaged.
    pub fn term(&self, id: TermId) -> Option<Term> {
        let number = id.number()?;
        if number < self.kinds.codes {
            return KEY.with_borrow_mut(|buffer| {
                self.strings.key(number, buffer)?;
                let term = key::term(buffer);
                if term.is_none() {
                    self.fault.report(layout::STRINGS, "a key is no term's");
                }
                term
            });
        }
        let text = self.code(id)?.text();
        if text.is_none() {
            self.fault.report(layout::CODES, "a code is no term's");
        }
        let (text, datatype) = text?;
        Some(match datatype {
            None => NamedNode::new_unchecked(text).into(),
            Some(datatype) => Literal::new_typed_literal(text, datatype).into(),
        })
    }

    /// Returns the term with an id of the snapshot as a value for expressions.
    pub fn expression(&self, id: TermId) -> Option<ExpressionTerm> {
        if let Some(value) = self.code(id).and_then(TermCode::expression) {
            return Some(value);
        }
        Some(self.term(id)?.into())
    }

    /// Returns whether an IRI with this prefix occurs.
    pub fn has_iri_beginning(&self, prefix: &str) -> bool {
        let key = [&[key::KINDS[1]], prefix.as_bytes()].concat();
        let (at, _) = self.strings.lower_bound(&key);
        KEY.with_borrow_mut(|buffer| {
            at < self.strings.len() && self.strings.key(at, buffer).is_some() && buffer.starts_with(&key)
        })
    }

    /// Returns the numbers of the literals that may be points: encoded ones, then texts that begin like a point.
    pub(super) fn point_literals(&self) -> Vec<Range<u64>> {
        let codes = TermCode::points().map(|bits| self.kinds.codes + self.codes.lower_bound(0, self.codes.len(), bits));
        // "point" in every combination of cases, an IRI in angle brackets, white space.
        let spellings = (0..32_u8).map(|upper| {
            let letter = |(place, letter): (usize, &u8)| match upper >> place & 1 {
                1 => letter.to_ascii_uppercase(),
                _ => *letter,
            };
            b"point".iter().enumerate().map(letter).collect::<Vec<u8>>()
        });
        let others = b"<\t\n\x0c\r ".iter().map(|&first| vec![first]);
        let texts = spellings.chain(others).map(|start| {
            let mut end = start.clone();
            if let Some(last) = end.last_mut() {
                *last += 1;
            }
            let [from, to] = [start, end].map(|prefix| self.strings.lower_bound(&key::literals_from(&prefix)).0);
            from..to
        });
        std::iter::once(codes[0]..codes[1]).chain(texts).collect()
    }

    /// Returns the kind of a term of the snapshot, without reading the term.
    pub fn kind(&self, id: TermId) -> Option<TermKind> {
        let number = id.number().filter(|&n| n < self.kinds.end)?;
        Some(match number {
            n if n < self.kinds.iris => TermKind::BlankNode,
            n if n < self.kinds.literals => TermKind::Iri,
            n if n < self.kinds.triples => TermKind::Literal,
            n if n < self.kinds.codes => TermKind::Triple,
            n if n < self.kinds.literal_codes => TermKind::Iri,
            _ => TermKind::Literal,
        })
    }

    // Triples

    /// Returns the exact number of triples that match a pattern, in the time of a few lookups.
    pub fn count(&self, subject: Option<TermId>, predicate: Option<TermId>, object: Option<TermId>) -> u64 {
        self.places(subject, predicate, object).map_or(0, |(_, from, to)| to - from)
    }

    /// Returns the subjects of the triples with a predicate and an object, for repeated membership tests.
    pub fn subjects(&self, predicate: TermId, object: TermId) -> Subjects {
        match self.places(None, Some(predicate), Some(object)) {
            Some((_, from, to)) => Subjects { from, to },
            None => Subjects { from: 0, to: 0 },
        }
    }

    /// Returns whether a term is among subjects from [`Store::subjects`].
    #[inline]
    pub fn is_among(&self, subjects: Subjects, subject: TermId) -> bool {
        let Some(number) = subject.number() else { return false };
        let at = self.pos.third.lower_bound(subjects.from, subjects.to, number);
        at < subjects.to && self.pos.third.get(at) == number
    }

    /// Returns whether a term is the subject or the object of a triple.
    pub fn is_node(&self, id: TermId) -> bool {
        let Some(number) = id.number().filter(|&n| n < self.kinds.end) else { return false };
        [&self.spo, &self.osp].iter().any(|p| p.starts.get(number) < p.starts.get(number + 1))
    }

    /// Returns the counts of a predicate; all are 0 for any other term.
    pub fn predicate(&self, predicate: TermId) -> PredicateCounts {
        let Some(at) = self.predicate_number(predicate) else { return PredicateCounts::default() };
        PredicateCounts {
            triples: self.pos.starts.get(at + 1).saturating_sub(self.pos.starts.get(at)),
            subjects: self.predicate_subjects.get(at),
            objects: self.predicate_objects.get(at),
        }
    }

    /// Returns the triples that match a pattern, ascending. The order is subject, predicate, object if the subject or
    /// no component is given; predicate, object, subject if the predicate is given; object, subject, predicate if the
    /// object is.
    pub fn triples(&self, subject: Option<TermId>, predicate: Option<TermId>, object: Option<TermId>) -> Triples<'_> {
        let (order, from, to) = self.places(subject, predicate, object).unwrap_or((TripleOrder::Spo, 0, 0));
        let permutation = match order {
            TripleOrder::Spo => &self.spo,
            TripleOrder::Pos => &self.pos,
            TripleOrder::Osp => &self.osp,
        };
        let first = match order {
            TripleOrder::Spo => subject,
            TripleOrder::Pos => predicate,
            TripleOrder::Osp => object,
        };
        Triples {
            store: self,
            order,
            left: to.saturating_sub(from),
            at: from,
            // Only a full scan crosses the end of the first component, and only if a component exists.
            first: first.unwrap_or(TermId::of_snapshot(0)),
            first_end: if first.is_some() || from == to { u64::MAX } else { permutation.starts.get(1) },
            second: permutation.second.run(from),
            third: permutation.third.run(from),
        }
    }

    /// Returns the range of a permutation that matches a pattern, or `None` if it is empty.
    fn places(
        &self,
        subject: Option<TermId>,
        predicate: Option<TermId>,
        object: Option<TermId>,
    ) -> Option<(TripleOrder, u64, u64)> {
        let number = |term: Option<TermId>| match term {
            None => Some(None),
            // A term of the query alone matches no triple.
            Some(id) => id.number().filter(|&n| n < self.kinds.end).map(Some),
        };
        let (s, o) = (number(subject)?, number(object)?);
        let p = match predicate {
            None => None,
            Some(id) => Some(self.predicate_number(id)?),
        };
        let (order, permutation, first, second, third) = match (s, p, o) {
            (Some(s), None, Some(o)) => (TripleOrder::Osp, &self.osp, o, Some(s), None),
            (Some(s), p, o) => (TripleOrder::Spo, &self.spo, s, p, o),
            (None, Some(p), o) => (TripleOrder::Pos, &self.pos, p, o, None),
            (None, None, Some(o)) => (TripleOrder::Osp, &self.osp, o, None, None),
            (None, None, None) => return Some((TripleOrder::Spo, 0, self.len())),
        };
        let len = self.len();
        let (mut from, mut to) = (permutation.starts.get(first).min(len), permutation.starts.get(first + 1).min(len));
        if let Some(second) = second {
            (from, to) = permutation.second.equal_range(from, to, second);
        }
        if let Some(third) = third {
            (from, to) = permutation.third.equal_range(from, to, third);
        }
        (from < to).then_some((order, from, to))
    }

    fn predicate_number(&self, predicate: TermId) -> Option<u64> {
        self.predicates.binary_search(&predicate.number()?).ok().map(|at| at as u64)
    }

    #[inline]
    fn predicate_at(&self, at: u64) -> TermId {
        match self.predicates.get(at as usize) {
            Some(&number) => TermId::of_snapshot(number),
            None => {
                self.fault.report(layout::PREDICATES, "a triple's predicate is not there");
                TermId::of_snapshot(0)
            }
        }
    }
}

/// The subjects of the triples with a predicate and an object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Subjects {
    from: u64,
    to: u64,
}

impl Subjects {
    /// Returns the number of subjects.
    pub fn len(self) -> u64 {
        self.to - self.from
    }

    /// Returns whether the list of subjects is empty.
    pub fn is_empty(self) -> bool {
        self.from == self.to
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum TripleOrder {
    Spo,
    Pos,
    Osp,
}

/// An iterator over triples in the order of a permutation, as subject, predicate, object.
pub struct Triples<'a> {
    store: &'a Store,
    order: TripleOrder,
    left: u64,
    at: u64,
    first: TermId,
    first_end: u64,
    second: ColumnCursor<'a>,
    third: ColumnCursor<'a>,
}

impl Iterator for Triples<'_> {
    type Item = [TermId; 3];

    #[inline]
    fn next(&mut self) -> Option<[TermId; 3]> {
        if self.left == 0 {
            return None;
        }
        self.left -= 1;
        // A full scan is ordered by subject; some numbers are not subjects.
        while self.at >= self.first_end {
            let next = self.first.number()? + 1;
            if next >= self.store.kinds.end {
                return None;
            }
            self.first = TermId::of_snapshot(next);
            self.first_end = self.store.spo.starts.get(next + 1);
        }
        self.at += 1;
        let (second, third) = (self.second.next_value(), self.third.next_value());
        let term = TermId::of_snapshot;
        Some(match self.order {
            // Damaged triples may contain invalid numbers; the caller detects this when it reads the term.
            TripleOrder::Spo => [self.first, self.store.predicate_at(second), term(third)],
            TripleOrder::Pos => [term(third), self.first, term(second)],
            TripleOrder::Osp => [term(second), self.store.predicate_at(third), self.first],
        })
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let left = usize::try_from(self.left).unwrap_or(usize::MAX);
        (left, Some(left))
    }
}

impl std::iter::FusedIterator for Triples<'_> {}
