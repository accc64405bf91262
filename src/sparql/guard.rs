//! The evaluator's view of the triples, watched: deadline, cancellation and memory hold in every loop of the evaluator,
//! also in products, hash tables and aggregates, where it asks nothing of the data.
//!
//! All that such loops have in common is that they copy terms. So the terms that the evaluator gets count their copies
//! and how many of them there are; every few thousand copies the budget is looked at, and where it is used up the
//! evaluation is unwound, to be caught by [`watched`]. Nothing else may unwind, and a panic in the evaluator becomes an
//! error there, too.

use std::any::Any;
use std::cell::{Cell, RefCell};
use std::hash::{Hash, Hasher};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;

use oxrdf::{BlankNode, Term};
use spareval::{ExpressionTerm, InternalQuad, QueryableDataset};

use super::error::{Class, Error};
use crate::budget::{Budget, Exceeded};
use crate::rdf::{ReadError, TermId, View};

/// Copies between two looks at the budget.
const COPIES: u32 = 8192;
/// About how many bytes a term in a half-made solution takes, its share of the solution's own memory included.
const TERM_BYTES: i64 = 24;

thread_local! {
    static COUNT: Cell<u32> = const { Cell::new(0) };
    static LIVE: Cell<i64> = const { Cell::new(0) };
    static BUDGET: RefCell<Option<Arc<Budget>>> = const { RefCell::new(None) };
}

/// What is thrown where a bound is reached.
struct Stop(Exceeded);

/// Counts one step of a loop that asks nothing of the data, and now and then looks at the budget.
#[inline]
pub(crate) fn tick() {
    let count = COUNT.get() + 1;
    COUNT.set(count);
    if count >= COPIES {
        look();
    }
}

#[cold]
fn look() {
    COUNT.set(0);
    let looked = BUDGET.with_borrow(|budget| match budget {
        Some(budget) => {
            budget.check()?;
            budget.memory(LIVE.get().max(0).saturating_mul(TERM_BYTES).unsigned_abs())
        }
        None => Ok(()),
    });
    if let Err(exceeded) = looked {
        stop(exceeded);
    }
}

/// Ends the evaluation.
fn stop(exceeded: Exceeded) -> ! {
    resume_unwind(Box::new(Stop(exceeded)))
}

/// The error of a bound.
pub(crate) fn exceeded(exceeded: Exceeded) -> Error {
    Error::new(Class::Limit, exceeded.code(), exceeded.to_string())
}

/// Runs `work` with the budget watched. Where it is used up, or where the evaluator panics, that is the error.
pub(crate) fn watched<T>(budget: &Arc<Budget>, work: impl FnOnce() -> Result<T, Error>) -> Result<T, Error> {
    let outer = BUDGET.replace(Some(budget.clone()));
    LIVE.set(0);
    COUNT.set(0);
    let result = catch_unwind(AssertUnwindSafe(work));
    BUDGET.set(outer);
    result.unwrap_or_else(|thrown| Err(caught(&*thrown)))
}

fn caught(thrown: &(dyn Any + Send)) -> Error {
    if let Some(Stop(reached)) = thrown.downcast_ref() {
        return exceeded(*reached);
    }
    let message = thrown.downcast_ref::<&str>().map(|text| (*text).to_owned());
    let message = message.or_else(|| thrown.downcast_ref::<String>().cloned()).unwrap_or_default();
    Error::new(Class::Internal, "panic", format!("the evaluator gave up: {message}"))
}

/// A term in the evaluator, its copies counted.
#[derive(Debug)]
pub(crate) struct Counted(TermId);

impl Counted {
    #[inline]
    fn new(id: TermId) -> Self {
        LIVE.set(LIVE.get() + 1);
        Counted(id)
    }

    fn id(term: &Counted) -> &TermId {
        &term.0
    }
}

impl Clone for Counted {
    #[inline]
    fn clone(&self) -> Self {
        tick();
        Counted::new(self.0)
    }
}

impl Drop for Counted {
    #[inline]
    fn drop(&mut self) {
        LIVE.set(LIVE.get() - 1);
    }
}

impl PartialEq for Counted {
    #[inline]
    fn eq(&self, other: &Self) -> bool {
        tick();
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

/// Blank nodes cannot stand in a table of values: there they are IRIs with this start.
pub(crate) const BLANK: &str = "urn:terrapin:blank:";

/// A view whose terms are counted.
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
                subject: Counted::new(quad.subject),
                predicate: Counted::new(quad.predicate),
                object: Counted::new(quad.object),
                graph_name: quad.graph_name.map(Counted::new),
            })
        })
    }

    fn internal_named_graphs(&self) -> impl Iterator<Item = Result<Counted, ReadError>> + use<'v> {
        self.0.internal_named_graphs().map(|name| name.map(Counted::new))
    }

    fn contains_internal_graph_name(&self, name: &Counted) -> Result<bool, ReadError> {
        self.0.contains_internal_graph_name(&name.0)
    }

    fn internalize_term(&self, term: Term) -> Result<Counted, ReadError> {
        if let Term::NamedNode(node) = &term
            && let Some(label) = node.as_str().strip_prefix(BLANK)
        {
            let blank = BlankNode::new_unchecked(label);
            return Ok(Counted::new(self.0.internalize_term(blank.into())?));
        }
        Ok(Counted::new(self.0.internalize_term(term)?))
    }

    fn externalize_term(&self, term: Counted) -> Result<Term, ReadError> {
        self.0.externalize_term(term.0)
    }

    fn externalize_expression_term(&self, term: Counted) -> Result<ExpressionTerm, ReadError> {
        tick();
        self.0.externalize_expression_term(term.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::budget::Limits;

    #[test]
    fn bounds_and_panics_become_errors() {
        let limits = Limits { deadline: Some(std::time::Instant::now()), ..Limits::default() };
        let late = watched(&Arc::new(Budget::new(&limits)), || {
            loop {
                tick();
            }
        });
        assert_eq!(late.map_err(|e: Error| e.code), Err::<(), _>("timeout"));
        let fine = watched(&Arc::new(Budget::new(&Limits::default())), || Ok(1));
        assert_eq!(fine, Ok(1));
    }
}
