//! A query's view of the triples, which the SPARQL evaluator reads. It contains the query's own terms and virtual
//! predicates: relations between terms that are computed, not stored, and that triple patterns use like any predicate.
//! It charges work to the query's budget and reports errors that the store only records.
//!
//! Triples are read from all graphs together, unless [`TripleView::restrict`] sets a dataset or [`TripleView::select`]
//! a graph. A view belongs to one query on one thread.

use std::cell::{Cell, RefCell};
use std::sync::Arc;

use oxrdf::{NamedNode, Term};
use spareval::{ExpressionTerm, InternalQuad, QueryableDataset};

use super::canonical::canonical;
use super::local::{LocalTerms, text_len};
use super::selection::{Dataset, GraphSelection, SelectedTriples};
use super::{Store, TermCode, TermId, TermKind};
use terrapin_budget::{self as budget, Budget, ExceededLimit};

/// Units of work between two checks of the limits.
const PENDING: u64 = 256;

/// An error that ends the reading of a query.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReadError {
    /// A limit of the query was reached.
    #[error(transparent)]
    Exceeded(#[from] ExceededLimit),
    /// The snapshot is damaged.
    #[error(transparent)]
    Snapshot(#[from] terrapin_snapshot::Error),
    /// A relation cannot answer; the text states which and why.
    #[error("{0}")]
    Relation(String),
}

/// An iterator over the pairs of a relation.
pub type Pairs<'a> = Box<dyn Iterator<Item = Result<(TermId, TermId), ReadError>> + 'a>;

/// The knowledge about one end of a pattern during planning.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// A constant.
    Term(TermId),
    /// A variable that is bound when the pattern is evaluated, to an unknown value.
    Bound,
    /// An unbound variable.
    Free,
}

/// A relation between terms.
///
/// It is registered with a [`TripleView`] under an IRI of the query ([`TripleView::register`]). Then it answers the
/// triple patterns with this IRI as predicate. It may read everything through the view, which counts the work.
pub trait TermRelation {
    /// Returns the pairs with the given ends, always in the same order; the first error ends them. Duplicate pairs are
    /// duplicate solutions.
    ///
    /// Terms may be the query's own. Given ends are returned unchanged.
    fn pairs<'a>(&'a self, view: &'a TripleView, subject: Option<TermId>, object: Option<TermId>) -> Pairs<'a>;

    /// Estimates the number of pairs for one evaluation of a pattern with these ends.
    fn estimate(&self, view: &TripleView, subject: End, object: End) -> f64;

    /// Returns whether the relation can be evaluated with these ends given. If it needs an end that is not given, the
    /// pattern must be evaluated after those that bind it.
    fn answers(&self, subject_given: bool, object_given: bool) -> bool {
        let _ = (subject_given, object_given);
        true
    }
}

/// Terms that are stored in no table: each is computed from its number, and its number from the term. They represent
/// triples that are generated while a query runs, and take no memory.
pub trait Computed: Send + Sync {
    /// Returns the term with a number, if the number is valid.
    fn term(&self, number: u64) -> Option<Term>;

    /// Returns the number of a term, if it is one of these terms.
    fn number(&self, term: &Term) -> Option<u64>;

    /// Returns whether a store may contain some of these terms itself; then the store's numbers take precedence.
    fn is_shadowed(&self) -> bool;

    /// Checks that all data that the terms are computed from was intact.
    ///
    /// # Errors
    /// Returns the first damage found.
    fn check(&self) -> Result<(), terrapin_snapshot::Error>;
}

/// A relation that answers for a predicate.
struct Registered {
    id: TermId,
    label: String,
    relation: Box<dyn TermRelation>,
}

/// One query's view of the triples.
pub struct TripleView {
    store: Arc<Store>,
    computed: Option<Arc<dyn Computed>>,
    budget: Arc<Budget>,
    local: RefCell<LocalTerms>,
    relations: Vec<Registered>,
    pending: Cell<u64>,
    held: Cell<u64>,
    dataset: Option<Dataset>,
    selected: Cell<GraphSelection>,
}

impl TripleView {
    /// Creates a view for one query with its budget.
    pub fn new(store: Arc<Store>, budget: Arc<Budget>) -> TripleView {
        TripleView {
            store,
            computed: None,
            budget,
            local: RefCell::default(),
            relations: Vec::new(),
            pending: Cell::new(0),
            held: Cell::new(0),
            dataset: None,
            selected: Cell::default(),
        }
    }

    /// Restricts the view to a dataset. Its default graph becomes the selected one.
    pub fn restrict(&mut self, dataset: Dataset) {
        self.dataset = Some(dataset);
        self.selected.set(GraphSelection::Default);
    }

    /// Selects the graphs that triples are read from. Returns the previous selection.
    #[inline]
    pub fn select(&self, selection: GraphSelection) -> GraphSelection {
        self.selected.replace(selection)
    }

    /// Returns the selected graphs.
    #[inline]
    pub fn selected(&self) -> GraphSelection {
        self.selected.get()
    }

    /// Returns whether a named graph exists and belongs to the dataset.
    pub fn has_graph(&self, name: TermId) -> bool {
        match self.dataset.as_ref().and_then(|dataset| dataset.named.as_ref()) {
            Some(named) => named.contains(&name),
            None => self.store.graphs().is_some_and(|graphs| graphs.has(name)),
        }
    }

    /// Returns the names of the dataset's graphs.
    pub fn graph_names(&self) -> Vec<TermId> {
        match self.dataset.as_ref().and_then(|dataset| dataset.named.as_ref()) {
            Some(named) => named.clone(),
            None => self.store.graphs().into_iter().flat_map(|graphs| graphs.names()).collect(),
        }
    }

    /// Adds computed terms to those of the snapshot and of the query.
    pub fn compute(&mut self, computed: Arc<dyn Computed>) {
        self.computed = Some(computed);
    }

    /// Returns the id of the computed term with a number.
    ///
    /// # Errors
    /// Returns an error if the number is invalid.
    pub fn computed(&self, number: u64) -> Result<TermId, ReadError> {
        match &self.computed {
            Some(computed) if computed.is_shadowed() => {
                Ok(self.id(&computed.term(number).ok_or_else(|| self.no_term())?))
            }
            _ => Ok(TermId::of_computed(number)),
        }
    }

    /// Returns the number of a computed term, or `None` for any other term.
    pub fn computed_number(&self, id: TermId) -> Option<u64> {
        if let Some(number) = id.computed_number() {
            return Some(number);
        }
        let computed = self.computed.as_ref().filter(|computed| computed.is_shadowed())?;
        computed.number(&self.term(id).ok()?)
    }

    /// Returns the triples of the snapshot.
    pub fn store(&self) -> &Store {
        &self.store
    }

    /// Returns the budget of the query.
    pub fn budget(&self) -> &Budget {
        &self.budget
    }

    /// Registers a relation for the predicate `name`; `label` describes it in plans.
    pub fn register(&mut self, name: NamedNode, label: String, relation: Box<dyn TermRelation>) -> TermId {
        let id = self.id(&name.into());
        self.relations.retain(|other| other.id != id);
        self.relations.push(Registered { id, label, relation });
        id
    }

    /// Returns the number of relations.
    pub fn relations(&self) -> usize {
        self.relations.len()
    }

    /// Returns the relation for a predicate.
    #[inline]
    pub fn relation(&self, predicate: TermId) -> Option<&dyn TermRelation> {
        if !predicate.is_of_query() {
            return None;
        }
        self.registered(predicate).map(|registered| &*registered.relation)
    }

    /// Returns the label of the relation for a predicate.
    pub fn relation_label(&self, predicate: TermId) -> Option<&str> {
        self.registered(predicate).map(|registered| &*registered.label)
    }

    #[inline]
    fn registered(&self, predicate: TermId) -> Option<&Registered> {
        self.relations.iter().find(|registered| registered.id == predicate)
    }

    /// Returns the id of a term, in its canonical form unless the snapshot keeps lexical forms; a term that the snapshot
    /// lacks becomes one of the query's own.
    pub fn id(&self, term: &Term) -> TermId {
        // The term is copied three times before it is added to the query's own.
        budget::charge(4 * text_len(term.as_ref()));
        let term = if self.store.keeps_lexical_forms() { term.clone() } else { canonical(term.clone()) };
        self.known(&term).unwrap_or_else(|| self.local.borrow_mut().add(term))
    }

    /// Returns the id of a term of the snapshot or of the query.
    fn known(&self, term: &Term) -> Option<TermId> {
        if let Some(id) = self.local.borrow().id(term) {
            return Some(id);
        }
        let stored = self.store.id(term.as_ref());
        stored.or_else(|| self.computed.as_ref()?.number(term).map(TermId::of_computed))
    }

    /// Returns the term with an id from this view or its store.
    ///
    /// # Errors
    /// Returns an error if the snapshot is damaged, or the id belongs to another view.
    pub fn term(&self, id: TermId) -> Result<Term, ReadError> {
        let term = match id.computed_number() {
            Some(number) => self.computed.as_ref().and_then(|computed| computed.term(number)),
            None if id.is_of_query() => self.local.borrow().term(id).cloned(),
            None => self.store.term(id),
        };
        term.ok_or_else(|| self.no_term())
    }

    #[cold]
    fn no_term(&self) -> ReadError {
        match self.store.check() {
            Err(damage) => damage.into(),
            Ok(()) => ReadError::Relation("an id that is no term's".to_owned()),
        }
    }

    /// Returns the kind of a term.
    ///
    /// # Errors
    /// Returns an error if the id belongs to another view.
    pub fn kind(&self, id: TermId) -> Result<TermKind, ReadError> {
        let of_term = |term: &Term| match term {
            Term::BlankNode(_) => TermKind::BlankNode,
            Term::NamedNode(_) => TermKind::Iri,
            Term::Literal(_) => TermKind::Literal,
            Term::Triple(_) => TermKind::Triple,
        };
        if id.computed_number().is_some() {
            return Ok(of_term(&self.term(id)?));
        }
        let kind = self.local.borrow().term(id).map(of_term).or_else(|| self.store.kind(id));
        kind.ok_or_else(|| self.no_term())
    }

    /// Returns the code of an encoded term, of the snapshot or of the query.
    pub fn code(&self, id: TermId) -> Option<TermCode> {
        match self.local.borrow().term(id) {
            Some(term) => TermCode::of(term.as_ref()),
            None => self.store.code(id),
        }
    }

    /// Returns the triples of the selected graphs that match a pattern, in the order of [`Store::triples`] for each
    /// graph; each is a unit of work.
    pub fn triples(
        &self,
        subject: Option<TermId>,
        predicate: Option<TermId>,
        object: Option<TermId>,
    ) -> StoredTriples<'_> {
        let pattern = [subject, predicate, object];
        let triples = match self.selected.get() {
            GraphSelection::All => SelectedTriples::in_all(&self.store, pattern),
            GraphSelection::Named(name) => {
                let known = self.has_graph(name).then_some(Some(name));
                SelectedTriples::in_graphs(&self.store, pattern, known, &[])
            }
            GraphSelection::Default => {
                let graphs = self.dataset.as_ref().map_or(&[][..], |dataset| &dataset.default[..]);
                let rest = graphs.get(1..).unwrap_or_default();
                SelectedTriples::in_graphs(&self.store, pattern, graphs.first().copied(), rest)
            }
        };
        StoredTriples { view: self, inner: Some(triples) }
    }

    /// Returns whether a triple is in the selected graphs.
    pub fn has(&self, subject: TermId, predicate: TermId, object: TermId) -> bool {
        match self.selected.get() {
            GraphSelection::All => self.store.count(Some(subject), Some(predicate), Some(object)) > 0,
            _ => self.triples(Some(subject), Some(predicate), Some(object)).next().is_some(),
        }
    }

    /// Returns whether a term is the subject or object of a triple of the selected graphs.
    pub fn is_node(&self, id: TermId) -> bool {
        match self.selected.get() {
            GraphSelection::All => self.store.is_node(id),
            _ => {
                self.triples(Some(id), None, None).next().is_some()
                    || self.triples(None, None, Some(id)).next().is_some()
            }
        }
    }

    /// Counts units of work, and checks the limits from time to time. Each triple read is a unit.
    ///
    /// # Errors
    /// Returns an error if a limit was reached or the snapshot is damaged. Every later call also fails.
    #[inline]
    pub fn work(&self, units: u64) -> Result<(), ReadError> {
        let pending = self.pending.get() + units;
        self.pending.set(pending);
        if pending < PENDING { Ok(()) } else { self.look(pending) }
    }

    /// Returns the units of work so far, including those of the query's other views.
    pub fn worked(&self) -> u64 {
        self.budget.work_done() + self.pending.get()
    }

    #[cold]
    fn look(&self, pending: u64) -> Result<(), ReadError> {
        self.budget.work(pending)?;
        self.budget.memory(self.held.get() + self.local.borrow().bytes())?;
        self.store.check()?;
        if let Some(computed) = &self.computed {
            computed.check()?;
        }
        // Reset after the check only: after an error the next call must check again.
        self.pending.set(0);
        Ok(())
    }

    /// Adds bytes to the memory that the query uses in addition to its own terms; a negative number releases them.
    ///
    /// # Errors
    /// Returns an error if the memory limit is exceeded.
    pub fn hold(&self, bytes: i64) -> Result<(), ReadError> {
        budget::checkpoint();
        let held = self.held.get().saturating_add_signed(bytes);
        self.held.set(held);
        Ok(self.budget.memory(held + self.local.borrow().bytes())?)
    }

    /// Checks for errors. Call it before a result is completed.
    ///
    /// # Errors
    /// Returns an error if a limit was reached, or the snapshot is damaged.
    pub fn check(&self) -> Result<(), ReadError> {
        self.look(self.pending.get())
    }
}

/// An iterator over the selected triples of a pattern, which counts work.
pub struct StoredTriples<'a> {
    view: &'a TripleView,
    inner: Option<SelectedTriples<'a>>,
}

impl Iterator for StoredTriples<'_> {
    type Item = Result<[TermId; 3], ReadError>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let triple = self.inner.as_mut()?.next()?;
            if let Err(error) = self.view.work(1) {
                self.inner = None;
                return Some(Err(error));
            }
            if let Some(triple) = triple {
                return Some(Ok(triple));
            }
        }
    }
}

/// The triples of a pattern, in the form that a library evaluator reads.
pub enum Quads<'a> {
    /// No more triples.
    End,
    /// Triples of the snapshot.
    Stored(StoredTriples<'a>),
    /// Pairs of a relation, with its predicate.
    Related(TermId, Pairs<'a>),
}

impl Iterator for Quads<'_> {
    type Item = Result<InternalQuad<TermId>, ReadError>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        let quad =
            |[subject, predicate, object]: [TermId; 3]| InternalQuad { subject, predicate, object, graph_name: None };
        let next = match self {
            Quads::End => None,
            Quads::Stored(triples) => triples.next().map(|triple| triple.map(quad)),
            Quads::Related(predicate, pairs) => {
                let predicate = *predicate;
                pairs.next().map(|pair| pair.map(|(subject, object)| quad([subject, predicate, object])))
            }
        };
        if !matches!(next, Some(Ok(_))) {
            *self = Quads::End;
        }
        next
    }
}

/// The default graph of the view, for a library evaluator that is compared with this project's own.
impl<'a> QueryableDataset<'a> for &'a TripleView {
    type InternalTerm = TermId;
    type Error = ReadError;

    fn internal_quads_for_pattern(
        &self,
        subject: Option<&TermId>,
        predicate: Option<&TermId>,
        object: Option<&TermId>,
        graph_name: Option<Option<&TermId>>,
    ) -> impl Iterator<Item = Result<InternalQuad<TermId>, ReadError>> + use<'a> {
        let view: &'a TripleView = self;
        let (subject, object) = (subject.copied(), object.copied());
        if graph_name != Some(None) {
            return Quads::End;
        }
        if let Some(&predicate) = predicate
            && let Some(relation) = view.relation(predicate)
        {
            return Quads::Related(predicate, relation.pairs(view, subject, object));
        }
        Quads::Stored(view.triples(subject, predicate.copied(), object))
    }

    fn internal_named_graphs(&self) -> impl Iterator<Item = Result<TermId, ReadError>> + use<'a> {
        std::iter::empty()
    }

    fn contains_internal_graph_name(&self, _: &TermId) -> Result<bool, ReadError> {
        Ok(false)
    }

    fn internalize_term(&self, term: Term) -> Result<TermId, ReadError> {
        self.work(1)?;
        Ok(self.id(&term))
    }

    fn externalize_term(&self, id: TermId) -> Result<Term, ReadError> {
        self.term(id)
    }

    fn externalize_expression_term(&self, id: TermId) -> Result<ExpressionTerm, ReadError> {
        if id.is_of_query() {
            return Ok(self.term(id)?.into());
        }
        self.store.expression(id).ok_or_else(|| self.no_term())
    }
}
