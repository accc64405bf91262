//! One query's view of the triples: what the SPARQL evaluator reads through. Has the query's own terms and virtual
//! predicates (relations between terms that are computed, not stored, and that triple patterns name like any predicate),
//! counts the work against the query's budget, and passes errors on where the store only remembers them.
//!
//! The default graph is that of all graphs together, unless they are kept apart ([`View::keep_graphs_apart`]). A view
//! belongs to one query on one thread.

use std::cell::{Cell, RefCell};
use std::sync::Arc;

use oxrdf::{NamedNode, Term};
use spareval::{ExpressionTerm, InternalQuad, QueryableDataset};

use super::canonical::canonical;
use super::local::{LocalTerms, text_len};
use super::store::Triples;
use super::{Code, GraphTriples, Store, TermId, TermKind};
use terrapin_budget::{self as budget, Budget, Exceeded};

/// Units of work between two looks at the bounds.
const PENDING: u64 = 256;

/// What ends the reading of a query.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReadError {
    /// A bound of the query was reached.
    #[error(transparent)]
    Exceeded(#[from] Exceeded),
    /// The snapshot is damaged.
    #[error(transparent)]
    Snapshot(#[from] terrapin_snapshot::Error),
    /// A relation cannot answer; says which and why.
    #[error("{0}")]
    Relation(String),
}

/// Pairs of a relation.
pub type Pairs<'a> = Box<dyn Iterator<Item = Result<(TermId, TermId), ReadError>> + 'a>;

/// What is known of one end of a pattern when it is planned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// It is this term.
    Term(TermId),
    /// It will have a value by the time the pattern is asked; not known which.
    Bound,
    /// It is what is asked for.
    Free,
}

/// A relation between terms.
///
/// It is registered with a [`View`] under an IRI of the query's own ([`View::register`]) and then answers the triple
/// patterns that have this IRI as their predicate. It may read everything through the view, which counts the work.
pub trait Relation {
    /// The pairs with the given ends, each time in the same order; the first error ends them. Repeated pairs are repeated
    /// solutions.
    ///
    /// Terms may be the query's own. Given ends come back as they were given.
    fn pairs<'a>(&'a self, view: &'a View, subject: Option<TermId>, object: Option<TermId>) -> Pairs<'a>;

    /// About how many pairs a pattern with these ends gives each time it is asked.
    fn estimate(&self, view: &View, subject: End, object: End) -> f64;

    /// Whether it can be asked with these ends given; a pattern whose answer needs an end that is not given has to come
    /// after those that bind it.
    fn answers(&self, subject_given: bool, object_given: bool) -> bool {
        let _ = (subject_given, object_given);
        true
    }
}

/// Terms that no table has: each is told from its number, and its number from it. Whoever makes triples while a query
/// runs has such terms, which take no memory.
pub trait Computed: Send + Sync {
    /// The term with a number, if one has it.
    fn term(&self, number: u64) -> Option<Term>;

    /// The number of a term, if it has one.
    fn number(&self, term: &Term) -> Option<u64>;

    /// Whether a store may have some of these terms itself; then that one's numbers are theirs.
    fn is_shadowed(&self) -> bool;

    /// Whether all that they were told from was whole.
    ///
    /// # Errors
    /// The damage found first.
    fn check(&self) -> Result<(), terrapin_snapshot::Error>;
}

/// A relation that answers for a predicate.
struct Registered {
    id: TermId,
    label: String,
    relation: Box<dyn Relation>,
}

/// One query's view of the triples.
pub struct View {
    store: Arc<Store>,
    computed: Option<Arc<dyn Computed>>,
    budget: Arc<Budget>,
    local: RefCell<LocalTerms>,
    relations: Vec<Registered>,
    pending: Cell<u64>,
    held: Cell<u64>,
    apart: bool,
}

impl View {
    /// A view for one query within its bounds.
    pub fn new(store: Arc<Store>, budget: Arc<Budget>) -> View {
        View {
            store,
            computed: None,
            budget,
            local: RefCell::default(),
            relations: Vec::new(),
            pending: Cell::new(0),
            held: Cell::new(0),
            apart: false,
        }
    }

    /// Makes the default graph that of the triples in no named graph, where there are named ones.
    pub fn keep_graphs_apart(&mut self) {
        self.apart = true;
    }

    /// Knows these terms from now on, besides the snapshot's and the query's own.
    pub fn compute(&mut self, computed: Arc<dyn Computed>) {
        self.computed = Some(computed);
    }

    /// The id of the term that is told from a number.
    ///
    /// # Errors
    /// There is no such term.
    pub fn computed(&self, number: u64) -> Result<TermId, ReadError> {
        match &self.computed {
            Some(computed) if computed.is_shadowed() => {
                Ok(self.id(&computed.term(number).ok_or_else(|| self.no_term())?))
            }
            _ => Ok(TermId::of_computed(number)),
        }
    }

    /// The number that a term is told from, if it is one of those.
    pub fn computed_number(&self, id: TermId) -> Option<u64> {
        if let Some(number) = id.computed_number() {
            return Some(number);
        }
        let computed = self.computed.as_ref().filter(|computed| computed.is_shadowed())?;
        computed.number(&self.term(id).ok()?)
    }

    /// The triples of the snapshot.
    pub fn store(&self) -> &Store {
        &self.store
    }

    /// The bounds of the query.
    pub fn budget(&self) -> &Budget {
        &self.budget
    }

    /// Answers patterns with the predicate `name` by a relation from now on; `label` tells people what it is.
    pub fn register(&mut self, name: NamedNode, label: String, relation: Box<dyn Relation>) -> TermId {
        let id = self.id(&name.into());
        self.relations.retain(|other| other.id != id);
        self.relations.push(Registered { id, label, relation });
        id
    }

    /// How many relations there are.
    pub fn relations(&self) -> usize {
        self.relations.len()
    }

    /// The relation that answers for a predicate.
    #[inline]
    pub fn relation(&self, predicate: TermId) -> Option<&dyn Relation> {
        if !predicate.is_of_query() {
            return None;
        }
        self.registered(predicate).map(|registered| &*registered.relation)
    }

    /// What people are told that answers for a predicate, if it is a relation.
    pub fn relation_label(&self, predicate: TermId) -> Option<&str> {
        self.registered(predicate).map(|registered| &*registered.label)
    }

    #[inline]
    fn registered(&self, predicate: TermId) -> Option<&Registered> {
        self.relations.iter().find(|registered| registered.id == predicate)
    }

    /// A term's id, in its canonical form; a term that the snapshot does not have becomes the query's own.
    pub fn id(&self, term: &Term) -> TermId {
        // It is copied three times before it is one of the query's own.
        budget::charge(4 * text_len(term.as_ref()));
        let term = canonical(term.clone());
        self.known(&term).unwrap_or_else(|| self.local.borrow_mut().add(term))
    }

    /// The id of a term that the snapshot or the query has.
    fn known(&self, term: &Term) -> Option<TermId> {
        if let Some(id) = self.local.borrow().id(term) {
            return Some(id);
        }
        let stored = self.store.id(term.as_ref());
        stored.or_else(|| self.computed.as_ref()?.number(term).map(TermId::of_computed))
    }

    /// The term of an id that this view or its store gave.
    ///
    /// # Errors
    /// The snapshot is damaged, or the id is another view's.
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

    /// What a term is.
    ///
    /// # Errors
    /// The id is another view's.
    pub fn kind(&self, id: TermId) -> Result<TermKind, ReadError> {
        let of_term = |term: &Term| match term {
            Term::BlankNode(_) => TermKind::BlankNode,
            Term::NamedNode(_) => TermKind::Iri,
            Term::Literal(_) => TermKind::Literal,
        };
        if id.computed_number().is_some() {
            return Ok(of_term(&self.term(id)?));
        }
        let kind = self.local.borrow().term(id).map(of_term).or_else(|| self.store.kind(id));
        kind.ok_or_else(|| self.no_term())
    }

    /// The code of a term that has no text, whether the snapshot has it or the query.
    pub fn code(&self, id: TermId) -> Option<Code> {
        match self.local.borrow().term(id) {
            Some(term) => Code::of(term.as_ref()),
            None => self.store.code(id),
        }
    }

    /// The snapshot's triples of a pattern, in the order of [`Store::triples`], each a unit of work.
    pub fn triples(&self, subject: Option<TermId>, predicate: Option<TermId>, object: Option<TermId>) -> Stored<'_> {
        Stored { view: self, inner: Some(self.store.triples(subject, predicate, object)) }
    }

    fn in_graphs(&self, first: Option<TermId>, rest: Vec<TermId>, pattern: [Option<TermId>; 3]) -> Quads<'_> {
        let Some(graphs) = self.store.graphs() else { return Quads::End };
        let triples = graphs.triples(first, pattern);
        Quads::InGraphs(InGraphs { view: self, pattern, graph: first, triples, rest: rest.into_iter() })
    }

    /// Counts units of work, and now and then looks at the bounds. A triple looked at is a unit.
    ///
    /// # Errors
    /// A bound was reached, or the snapshot is damaged; then every later call fails, too.
    #[inline]
    pub fn work(&self, units: u64) -> Result<(), ReadError> {
        let pending = self.pending.get() + units;
        self.pending.set(pending);
        if pending < PENDING { Ok(()) } else { self.look(pending) }
    }

    /// The units of work counted so far, those of the query's other views included.
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
        // Only now: after an error the next call is to look again.
        self.pending.set(0);
        Ok(())
    }

    /// Counts bytes that the query holds from now on (or gives back), besides its own terms.
    ///
    /// # Errors
    /// They are more than it may hold.
    pub fn hold(&self, bytes: i64) -> Result<(), ReadError> {
        budget::checkpoint();
        let held = self.held.get().saturating_add_signed(bytes);
        self.held.set(held);
        Ok(self.budget.memory(held + self.local.borrow().bytes())?)
    }

    /// Whether everything was well: to be asked before an answer is complete.
    ///
    /// # Errors
    /// A bound was reached, or the snapshot is damaged.
    pub fn check(&self) -> Result<(), ReadError> {
        self.look(self.pending.get())
    }
}

/// The snapshot's triples of a pattern.
pub struct Stored<'a> {
    view: &'a View,
    inner: Option<Triples<'a>>,
}

impl Iterator for Stored<'_> {
    type Item = Result<[TermId; 3], ReadError>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        let triple = self.inner.as_mut()?.next()?;
        match self.view.work(1) {
            Ok(()) => Some(Ok(triple)),
            Err(error) => {
                self.inner = None;
                Some(Err(error))
            }
        }
    }
}

/// The triples of a pattern as the evaluator takes them.
pub enum Quads<'a> {
    /// None, any more.
    End,
    /// The snapshot's.
    Stored(Stored<'a>),
    /// Those of graphs.
    InGraphs(InGraphs<'a>),
    /// A relation's, with its predicate and the graph that was asked for.
    Related(TermId, Option<TermId>, Pairs<'a>),
}

/// The triples of graphs that match a pattern, one graph after the other.
pub struct InGraphs<'a> {
    view: &'a View,
    pattern: [Option<TermId>; 3],
    graph: Option<TermId>,
    triples: GraphTriples<'a>,
    /// Graphs to come.
    rest: std::vec::IntoIter<TermId>,
}

impl InGraphs<'_> {
    fn next(&mut self) -> Option<Result<InternalQuad<TermId>, ReadError>> {
        loop {
            if let Err(error) = self.view.work(1) {
                return Some(Err(error));
            }
            if let Some([subject, predicate, object]) = self.triples.next() {
                return Some(Ok(InternalQuad { subject, predicate, object, graph_name: self.graph }));
            }
            self.graph = Some(self.rest.next()?);
            self.triples = self.view.store.graphs()?.triples(self.graph, self.pattern);
        }
    }
}

impl Iterator for Quads<'_> {
    type Item = Result<InternalQuad<TermId>, ReadError>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        let quad =
            |[subject, predicate, object]: [TermId; 3]| InternalQuad { subject, predicate, object, graph_name: None };
        let next = match self {
            Quads::End => None,
            Quads::Stored(triples) => return triples.next().map(|triple| triple.map(quad)),
            Quads::InGraphs(quads) => quads.next(),
            Quads::Related(predicate, graph_name, pairs) => {
                let (predicate, graph_name) = (*predicate, *graph_name);
                pairs
                    .next()
                    .map(|pair| pair.map(|(subject, object)| InternalQuad { subject, predicate, object, graph_name }))
            }
        };
        if !matches!(next, Some(Ok(_))) {
            *self = Quads::End;
        }
        next
    }
}

impl<'a> QueryableDataset<'a> for &'a View {
    type InternalTerm = TermId;
    type Error = ReadError;

    fn internal_quads_for_pattern(
        &self,
        subject: Option<&TermId>,
        predicate: Option<&TermId>,
        object: Option<&TermId>,
        graph_name: Option<Option<&TermId>>,
    ) -> impl Iterator<Item = Result<InternalQuad<TermId>, ReadError>> + use<'a> {
        let view: &'a View = self;
        let (subject, object) = (subject.copied(), object.copied());
        if let (Some(graph), Some(&predicate)) = (graph_name, predicate)
            && let Some(relation) = view.relation(predicate)
        {
            return Quads::Related(predicate, graph.copied(), relation.pairs(view, subject, object));
        }
        let pattern = [subject, predicate.copied(), object];
        match (graph_name, view.store.graphs()) {
            (Some(None), Some(_)) if view.apart => view.in_graphs(None, Vec::new(), pattern),
            (Some(None), _) => Quads::Stored(view.triples(subject, predicate.copied(), object)),
            (_, None) => Quads::End,
            (Some(Some(&graph)), Some(_)) => view.in_graphs(Some(graph), Vec::new(), pattern),
            (None, Some(graphs)) => {
                let mut names = graphs.names();
                let Some(first) = names.next() else { return Quads::End };
                view.in_graphs(Some(first), names.collect(), pattern)
            }
        }
    }

    fn internal_named_graphs(&self) -> impl Iterator<Item = Result<TermId, ReadError>> + use<'a> {
        let view: &'a View = self;
        view.store.graphs().into_iter().flat_map(|graphs| graphs.names()).map(Ok)
    }

    fn contains_internal_graph_name(&self, name: &TermId) -> Result<bool, ReadError> {
        Ok(self.store.graphs().is_some_and(|graphs| graphs.has(*name)))
    }

    fn internalize_term(&self, term: Term) -> Result<TermId, ReadError> {
        let term = canonical(term);
        if let Some(id) = self.known(&term) {
            return Ok(id);
        }
        self.work(1)?;
        Ok(self.local.borrow_mut().add(term))
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
