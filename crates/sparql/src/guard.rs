//! The evaluator's view of the triples, with limits enforced. Timeout, cancellation and memory limit are checked in
//! every loop of the evaluator, also in products, hash joins and aggregates, which read no data.
//!
//! All these loops copy or compare terms. Each copy and each comparison of a term therefore counts as a step of the
//! budget. When the budget is exhausted, the evaluation is unwound.

use std::hash::{Hash, Hasher};
use std::sync::Arc;

use oxrdf::Term;
use spareval::{ExpressionTerm, InternalQuad, QueryableDataset};

use terrapin_budget::{self as budget, Budget, Exceeded, Stopped, checkpoint};
use terrapin_sparql_syntax::convert;
use terrapin_sparql_syntax::error::{Class, Code, Error};
use terrapin_triples::{ReadError, TermId, View};

/// Returns the error for an exceeded limit.
pub(crate) fn exceeded(exceeded: Exceeded) -> Error {
    Error::new(Class::Limit, exceeded.into(), exceeded.to_string())
}

/// Converts an error of reading triples.
pub(crate) fn read(error: ReadError) -> Error {
    match error {
        ReadError::Exceeded(reached) => exceeded(reached),
        ReadError::Snapshot(damage) => Error::new(Class::Internal, Code::Snapshot, damage.to_string()),
        other => Error::new(Class::Internal, Code::Relation, other.to_string()),
    }
}

/// Runs `work` within the budget. Returns an error if the budget is exhausted or the evaluator panics.
pub(crate) fn watched<T>(budget: &Arc<Budget>, work: impl FnOnce() -> Result<T, Error>) -> Result<T, Error> {
    budget::watched(budget, work).unwrap_or_else(|stopped| {
        Err(match stopped {
            Stopped::Exceeded(reached) => exceeded(reached),
            Stopped::Panicked(message) => {
                Error::new(Class::Internal, Code::Panic, format!("the evaluator failed: {message}"))
            }
        })
    })
}

/// A term in the evaluator; its copies and comparisons are counted.
#[derive(Debug)]
pub(crate) struct Counted(TermId);

impl Counted {
    fn id(term: &Counted) -> &TermId {
        &term.0
    }
}

impl Clone for Counted {
    #[inline]
    fn clone(&self) -> Self {
        checkpoint();
        Counted(self.0)
    }
}

impl PartialEq for Counted {
    #[inline]
    fn eq(&self, other: &Self) -> bool {
        checkpoint();
        self.0 == other.0
    }
}

impl Eq for Counted {}

impl Hash for Counted {
    #[inline]
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.hash(state);
    }
}

/// A view that returns counted terms.
#[derive(Clone, Copy)]
pub(crate) struct Guarded<'v>(pub &'v View);

impl<'v> QueryableDataset<'v> for Guarded<'v> {
    type InternalTerm = Counted;
    type Error = ReadError;

    fn internal_quads_for_pattern(
        &self,
        subject: Option<&Counted>,
        predicate: Option<&Counted>,
        object: Option<&Counted>,
        graph_name: Option<Option<&Counted>>,
    ) -> impl Iterator<Item = Result<InternalQuad<Counted>, ReadError>> + use<'v> {
        let graph_name = graph_name.map(|name| name.map(Counted::id));
        let (subject, predicate, object) =
            (subject.map(Counted::id), predicate.map(Counted::id), object.map(Counted::id));
        self.0.internal_quads_for_pattern(subject, predicate, object, graph_name).map(|quad| {
            let quad = quad?;
            Ok(InternalQuad {
                subject: Counted(quad.subject),
                predicate: Counted(quad.predicate),
                object: Counted(quad.object),
                graph_name: quad.graph_name.map(Counted),
            })
        })
    }

    fn internal_named_graphs(&self) -> impl Iterator<Item = Result<Counted, ReadError>> + use<'v> {
        self.0.internal_named_graphs().map(|name| name.map(Counted))
    }

    fn contains_internal_graph_name(&self, name: &Counted) -> Result<bool, ReadError> {
        self.0.contains_internal_graph_name(&name.0)
    }

    fn internalize_term(&self, term: Term) -> Result<Counted, ReadError> {
        // A blank node in a table is encoded as an IRI.
        if let Term::NamedNode(node) = &term
            && let Some(blank) = convert::blank(node)
        {
            return Ok(Counted(self.0.internalize_term(blank.into())?));
        }
        Ok(Counted(self.0.internalize_term(term)?))
    }

    fn externalize_term(&self, term: Counted) -> Result<Term, ReadError> {
        self.0.externalize_term(term.0)
    }

    fn externalize_expression_term(&self, term: Counted) -> Result<ExpressionTerm, ReadError> {
        checkpoint();
        self.0.externalize_expression_term(term.0)
    }
}
