//! The evaluator's view of the triples, with limits enforced. Timeout, cancellation and memory limit are checked in
//! every loop of the evaluator, also in products, hash joins and aggregates, which read no data.
//!
//! All these loops copy or compare terms. Each copy and each comparison of a term therefore counts as a step of the
//! budget. When the budget is exhausted, the evaluation is unwound.

use std::hash::{Hash, Hasher};
use std::sync::Arc;

use oxrdf::Term;
use spareval::{ExpressionTerm, InternalQuad, QueryableDataset};

use terrapin_budget::{self as budget, Budget, ExceededLimit, StopReason, checkpoint};
use terrapin_sparql_syntax::convert;
use terrapin_sparql_syntax::error::{SparqlCode, SparqlError, SparqlErrorClass};
use terrapin_triples::{ReadError, TermId, TripleView};

/// Returns the error for an exceeded limit.
pub(crate) fn exceeded(exceeded: ExceededLimit) -> SparqlError {
    SparqlError::new(SparqlErrorClass::Limit, exceeded.into(), exceeded.to_string())
}

/// Converts an error of reading triples.
pub(crate) fn read(error: ReadError) -> SparqlError {
    match error {
        ReadError::Exceeded(reached) => exceeded(reached),
        ReadError::Snapshot(damage) => {
            SparqlError::new(SparqlErrorClass::Internal, SparqlCode::Snapshot, damage.to_string())
        }
        other => SparqlError::new(SparqlErrorClass::Internal, SparqlCode::Relation, other.to_string()),
    }
}

/// Runs `work` within the budget. Returns an error if the budget is exhausted or the evaluator panics.
pub(crate) fn watched<T>(
    budget: &Arc<Budget>,
    work: impl FnOnce() -> Result<T, SparqlError>,
) -> Result<T, SparqlError> {
    budget::watched(budget, work).unwrap_or_else(|stopped| {
        Err(match stopped {
            StopReason::Exceeded(reached) => exceeded(reached),
            StopReason::Panicked(message) => SparqlError::new(
                SparqlErrorClass::Internal,
                SparqlCode::Panic,
                format!("the evaluator failed: {message}"),
            ),
        })
    })
}

/// A term in the evaluator; its copies and comparisons are counted.
#[derive(Debug)]
pub(crate) struct CountedTerm(TermId);

impl CountedTerm {
    fn id(term: &CountedTerm) -> &TermId {
        &term.0
    }
}

impl Clone for CountedTerm {
    #[inline]
    fn clone(&self) -> Self {
        checkpoint();
        CountedTerm(self.0)
    }
}

impl PartialEq for CountedTerm {
    #[inline]
    fn eq(&self, other: &Self) -> bool {
        checkpoint();
        self.0 == other.0
    }
}

impl Eq for CountedTerm {}

impl Hash for CountedTerm {
    #[inline]
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.hash(state);
    }
}

/// A view that returns counted terms.
#[derive(Clone, Copy)]
pub(crate) struct GuardedView<'v>(pub &'v TripleView);

impl<'v> QueryableDataset<'v> for GuardedView<'v> {
    type InternalTerm = CountedTerm;
    type Error = ReadError;

    fn internal_quads_for_pattern(
        &self,
        subject: Option<&CountedTerm>,
        predicate: Option<&CountedTerm>,
        object: Option<&CountedTerm>,
        graph_name: Option<Option<&CountedTerm>>,
    ) -> impl Iterator<Item = Result<InternalQuad<CountedTerm>, ReadError>> + use<'v> {
        let graph_name = graph_name.map(|name| name.map(CountedTerm::id));
        let (subject, predicate, object) =
            (subject.map(CountedTerm::id), predicate.map(CountedTerm::id), object.map(CountedTerm::id));
        self.0.internal_quads_for_pattern(subject, predicate, object, graph_name).map(|quad| {
            let quad = quad?;
            Ok(InternalQuad {
                subject: CountedTerm(quad.subject),
                predicate: CountedTerm(quad.predicate),
                object: CountedTerm(quad.object),
                graph_name: quad.graph_name.map(CountedTerm),
            })
        })
    }

    fn internal_named_graphs(&self) -> impl Iterator<Item = Result<CountedTerm, ReadError>> + use<'v> {
        self.0.internal_named_graphs().map(|name| name.map(CountedTerm))
    }

    fn contains_internal_graph_name(&self, name: &CountedTerm) -> Result<bool, ReadError> {
        self.0.contains_internal_graph_name(&name.0)
    }

    fn internalize_term(&self, term: Term) -> Result<CountedTerm, ReadError> {
        // A blank node in a table is encoded as an IRI.
        if let Term::NamedNode(node) = &term
            && let Some(blank) = convert::blank(node)
        {
            return Ok(CountedTerm(self.0.internalize_term(blank.into())?));
        }
        Ok(CountedTerm(self.0.internalize_term(term)?))
    }

    fn externalize_term(&self, term: CountedTerm) -> Result<Term, ReadError> {
        self.0.externalize_term(term.0)
    }

    fn externalize_expression_term(&self, term: CountedTerm) -> Result<ExpressionTerm, ReadError> {
        checkpoint();
        self.0.externalize_expression_term(term.0)
    }
}
