//! Reading triples: the terms, the three permutations, exact counts of patterns. Everything is read in place from the
//! mapped file; nothing is cached, nothing is locked.

use std::cell::RefCell;
use std::ops::Range;
use std::sync::{Arc, OnceLock};

use oxrdf::{Literal, NamedNode, Term, TermRef};
use spareval::ExpressionTerm;

use super::labels::Labels;
use super::points::Points;
use super::strings::Strings;
use super::{Code, Graphs, TermId, key, layout};
use terrapin_snapshot::{Column, Error, Fault, Run, Snapshot};

/// The triples of an open snapshot.
pub struct Store {
    strings: Strings,
    codes: Column,
    /// Few, and needed for every other triple: not left in the file.
    predicates: Box<[u64]>,
    predicate_subjects: Column,
    predicate_objects: Column,
    spo: Permutation,
    pos: Permutation,
    osp: Permutation,
    kinds: Kinds,
    graphs: Option<Graphs>,
    labels: Option<Labels>,
    fault: Arc<Fault>,
    /// `None` while the snapshot is being made, before they are written.
    pub(super) points: Option<Points>,
    /// Literals that may be points.
    pub(super) most_points: OnceLock<u64>,
}

/// Where each kind of term begins among the numbers.
#[derive(Debug, Clone, Copy)]
struct Kinds {
    iris: u64,
    literals: u64,
    codes: u64,
    literal_codes: u64,
    end: u64,
}

struct Permutation {
    starts: Column,
    second: Column,
    third: Column,
}

/// What is known of a predicate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct PredicateCounts {
    /// Triples that have it.
    pub triples: u64,
    /// Distinct subjects of these.
    pub subjects: u64,
    /// Distinct objects of these.
    pub objects: u64,
}

/// What a term is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum TermKind {
    BlankNode,
    Iri,
    Literal,
}

thread_local! {
    /// A key being put together: one a thread saves an allocation a look-up.
    static KEY: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
}

impl Store {
    /// The triples of a snapshot; `None` if it was made without any.
    ///
    /// # Errors
    /// The sections are not whole.
    pub fn open(snapshot: &Arc<Snapshot>) -> Result<Option<Store>, Error> {
        if snapshot.place(layout::STRINGS).is_none() {
            return Ok(None);
        }
        let fault = Arc::new(Fault::default());
        let column = |name| Column::open(snapshot, name, &fault);
        let permutation = |[starts, second, third]: layout::Permutation| {
            let columns = Permutation { starts: column(starts)?, second: column(second)?, third: column(third)? };
            if columns.second.len() != columns.third.len() || columns.starts.is_empty() {
                return Err(Error::damaged(second, "its columns do not fit each other"));
            }
            Ok(columns)
        };
        let kinds = column(layout::KINDS)?;
        let store = Store {
            strings: Strings::open(snapshot, &fault)?,
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
                codes: kinds.get(2),
                literal_codes: kinds.get(3),
                end: kinds.get(4),
            },
            graphs: Graphs::open(snapshot, &fault)?,
            labels: Labels::open(snapshot, &fault)?,
            points: Points::open(snapshot, &fault)?,
            fault,
            most_points: OnceLock::new(),
        };
        let Kinds { iris, literals, codes, literal_codes, end } = store.kinds;
        let ascending = [iris, literals, codes, literal_codes, end].is_sorted();
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

    /// No triples: what a snapshot of elements alone has.
    pub fn none() -> Store {
        let fault = Arc::new(Fault::default());
        let column = |name| Column::held(name, [], &fault);
        let permutation = |[starts, second, third]: layout::Permutation| Permutation {
            starts: Column::held(starts, [0], &fault),
            second: column(second),
            third: column(third),
        };
        Store {
            strings: Strings::none(&fault),
            codes: column(layout::CODES),
            predicates: Box::default(),
            predicate_subjects: column(layout::PREDICATE_SUBJECTS),
            predicate_objects: column(layout::PREDICATE_OBJECTS),
            spo: permutation(layout::SPO),
            pos: permutation(layout::POS),
            osp: permutation(layout::OSP),
            kinds: Kinds { iris: 0, literals: 0, codes: 0, literal_codes: 0, end: 0 },
            graphs: None,
            labels: None,
            points: Some(Points::held(Vec::new(), &fault)),
            fault,
            most_points: OnceLock::new(),
        }
    }

    /// Whether everything read so far was whole: to be asked before an answer is complete.
    ///
    /// # Errors
    /// The damage found first.
    pub fn check(&self) -> Result<(), Error> {
        self.fault.check()
    }

    pub(super) fn fault(&self) -> &Arc<Fault> {
        &self.fault
    }

    /// The graphs, if there are named ones. Everything else here is about the triples of all graphs together.
    pub fn graphs(&self) -> Option<&Graphs> {
        self.graphs.as_ref()
    }

    /// The index of entities' texts, if the snapshot has one.
    pub fn labels(&self) -> Option<&Labels> {
        self.labels.as_ref()
    }

    /// How many triples there are.
    pub fn len(&self) -> u64 {
        self.spo.second.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// How many terms there are: their numbers are less than this.
    pub fn terms(&self) -> u64 {
        self.kinds.end
    }

    /// The distinct predicates, ascending.
    pub fn predicates(&self) -> impl Iterator<Item = TermId> + '_ {
        self.predicates.iter().map(|&p| TermId::of_snapshot(p))
    }

    // Terms

    /// A term's id, if the snapshot has it.
    pub fn id(&self, term: TermRef<'_>) -> Option<TermId> {
        if let Some(code) = Code::of(term) {
            return self.id_of_code(code);
        }
        KEY.with_borrow_mut(|buffer| {
            buffer.clear();
            key::push(buffer, term);
            self.strings.find(buffer).map(TermId::of_snapshot)
        })
    }

    /// The id of a term without text, if the snapshot has it.
    pub fn id_of_code(&self, code: Code) -> Option<TermId> {
        let (bits, len) = (code.to_bits(), self.codes.len());
        let at = self.codes.lower_bound(0, len, bits);
        (at < len && self.codes.get(at) == bits).then(|| TermId::of_snapshot(self.kinds.codes + at))
    }

    /// The code of a term that has no text.
    pub fn code(&self, id: TermId) -> Option<Code> {
        let at = id.number()?.checked_sub(self.kinds.codes)?;
        (at < self.codes.len()).then(|| Code::from_bits(self.codes.get(at)))
    }

    /// The term with an id of the snapshot; `None` for other ids and where the snapshot is damaged.
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

    /// The term with an id of the snapshot as expressions see it.
    pub fn expression(&self, id: TermId) -> Option<ExpressionTerm> {
        if let Some(value) = self.code(id).and_then(Code::expression) {
            return Some(value);
        }
        Some(self.term(id)?.into())
    }

    /// Whether a term is an IRI that begins so.
    pub fn has_iri_beginning(&self, prefix: &str) -> bool {
        let key = [&[key::KINDS[1]], prefix.as_bytes()].concat();
        let (at, _) = self.strings.lower_bound(&key);
        KEY.with_borrow_mut(|buffer| {
            at < self.strings.len() && self.strings.key(at, buffer).is_some() && buffer.starts_with(&key)
        })
    }

    /// The numbers of the literals that may be points: those without text, then texts that begin like one.
    pub(super) fn point_literals(&self) -> Vec<Range<u64>> {
        let codes = Code::points().map(|bits| self.kinds.codes + self.codes.lower_bound(0, self.codes.len(), bits));
        // "point" in every mixture of letters, a globe's IRI, white space.
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

    /// What the term with an id of the snapshot is, without looking at it.
    pub fn kind(&self, id: TermId) -> Option<TermKind> {
        let number = id.number().filter(|&n| n < self.kinds.end)?;
        Some(match number {
            n if n < self.kinds.iris => TermKind::BlankNode,
            n if n < self.kinds.literals => TermKind::Iri,
            n if n < self.kinds.codes => TermKind::Literal,
            n if n < self.kinds.literal_codes => TermKind::Iri,
            _ => TermKind::Literal,
        })
    }

    // Triples

    /// How many triples a pattern matches. Exact, in the time of a few look-ups.
    pub fn count(&self, subject: Option<TermId>, predicate: Option<TermId>, object: Option<TermId>) -> u64 {
        self.places(subject, predicate, object).map_or(0, |(_, from, to)| to - from)
    }

    /// The subjects of the triples with a predicate and an object, for being asked about many times.
    pub fn subjects(&self, predicate: TermId, object: TermId) -> Subjects {
        match self.places(None, Some(predicate), Some(object)) {
            Some((_, from, to)) => Subjects { from, to },
            None => Subjects { from: 0, to: 0 },
        }
    }

    /// Whether a term is among subjects that [`Store::subjects`] gave.
    #[inline]
    pub fn is_among(&self, subjects: Subjects, subject: TermId) -> bool {
        let Some(number) = subject.number() else { return false };
        let at = self.pos.third.lower_bound(subjects.from, subjects.to, number);
        at < subjects.to && self.pos.third.get(at) == number
    }

    /// Whether a term is the subject or the object of a triple.
    pub fn is_node(&self, id: TermId) -> bool {
        let Some(number) = id.number().filter(|&n| n < self.kinds.end) else { return false };
        [&self.spo, &self.osp].iter().any(|p| p.starts.get(number) < p.starts.get(number + 1))
    }

    /// What is known of a predicate; nothing of a term that is none.
    pub fn predicate(&self, predicate: TermId) -> PredicateCounts {
        let Some(at) = self.predicate_number(predicate) else { return PredicateCounts::default() };
        PredicateCounts {
            triples: self.pos.starts.get(at + 1).saturating_sub(self.pos.starts.get(at)),
            subjects: self.predicate_subjects.get(at),
            objects: self.predicate_objects.get(at),
        }
    }

    /// The triples that match a pattern, ascending: in the order subject, predicate, object if the subject is given or
    /// nothing is; predicate, object, subject if the predicate is; object, subject, predicate if the object is.
    pub fn triples(&self, subject: Option<TermId>, predicate: Option<TermId>, object: Option<TermId>) -> Triples<'_> {
        let (order, from, to) = self.places(subject, predicate, object).unwrap_or((Order::Spo, 0, 0));
        let permutation = match order {
            Order::Spo => &self.spo,
            Order::Pos => &self.pos,
            Order::Osp => &self.osp,
        };
        let first = match order {
            Order::Spo => subject,
            Order::Pos => predicate,
            Order::Osp => object,
        };
        Triples {
            store: self,
            order,
            left: to.saturating_sub(from),
            at: from,
            // Only a walk over everything comes past the end of the first component, and only where there is one.
            first: first.unwrap_or(TermId::of_snapshot(0)),
            first_end: if first.is_some() || from == to { u64::MAX } else { permutation.starts.get(1) },
            second: permutation.second.run(from),
            third: permutation.third.run(from),
        }
    }

    /// The places in a permutation that match a pattern; `None` if nothing does.
    fn places(
        &self,
        subject: Option<TermId>,
        predicate: Option<TermId>,
        object: Option<TermId>,
    ) -> Option<(Order, u64, u64)> {
        let number = |term: Option<TermId>| match term {
            None => Some(None),
            // A term of the query's own matches nothing.
            Some(id) => id.number().filter(|&n| n < self.kinds.end).map(Some),
        };
        let (s, o) = (number(subject)?, number(object)?);
        let p = match predicate {
            None => None,
            Some(id) => Some(self.predicate_number(id)?),
        };
        let (order, permutation, first, second, third) = match (s, p, o) {
            (Some(s), None, Some(o)) => (Order::Osp, &self.osp, o, Some(s), None),
            (Some(s), p, o) => (Order::Spo, &self.spo, s, p, o),
            (None, Some(p), o) => (Order::Pos, &self.pos, p, o, None),
            (None, None, Some(o)) => (Order::Osp, &self.osp, o, None, None),
            (None, None, None) => return Some((Order::Spo, 0, self.len())),
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
    /// How many there are.
    pub fn len(self) -> u64 {
        self.to - self.from
    }

    /// Whether there is none.
    pub fn is_empty(self) -> bool {
        self.from == self.to
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Order {
    Spo,
    Pos,
    Osp,
}

/// Triples in the order of a permutation, as subject, predicate, object.
pub struct Triples<'a> {
    store: &'a Store,
    order: Order,
    left: u64,
    at: u64,
    first: TermId,
    first_end: u64,
    second: Run<'a>,
    third: Run<'a>,
}

impl Iterator for Triples<'_> {
    type Item = [TermId; 3];

    #[inline]
    fn next(&mut self) -> Option<[TermId; 3]> {
        if self.left == 0 {
            return None;
        }
        self.left -= 1;
        // A walk over everything goes by subjects; some numbers are no subject's.
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
            // Numbers of damaged triples may be no term's; who asks for the term finds out.
            Order::Spo => [self.first, self.store.predicate_at(second), term(third)],
            Order::Pos => [term(third), self.first, term(second)],
            Order::Osp => [term(second), self.store.predicate_at(third), self.first],
        })
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let left = usize::try_from(self.left).unwrap_or(usize::MAX);
        (left, Some(left))
    }
}

impl std::iter::FusedIterator for Triples<'_> {}
