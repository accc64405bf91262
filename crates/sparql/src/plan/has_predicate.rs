//! `ql:has-predicate` of QLever: each subject with each of its predicates, once.

use oxrdf::NamedNode;

use terrapin_sparql_syntax::vocabulary::QL;
use terrapin_triples::{End, Pairs, ReadError, TermId, TermRelation, TripleView};

/// The share of a subject's triples that have a predicate of their own.
const DISTINCT: f64 = 0.7;

/// Returns whether a predicate is `ql:has-predicate`.
pub fn is_has_predicate(predicate: &NamedNode) -> bool {
    predicate.as_str().strip_prefix(QL) == Some("has-predicate")
}

/// The pairs of subject and predicate.
pub struct HasPredicate;

impl HasPredicate {
    /// Iterates over the triples, which are sorted by subject and predicate, or by subject for one predicate.
    fn distinct<'a>(
        view: &'a TripleView,
        subject: Option<TermId>,
        predicate: Option<TermId>,
    ) -> impl Iterator<Item = Result<(TermId, TermId), ReadError>> + 'a {
        let mut last = None;
        view.triples(subject, predicate, None).filter_map(move |triple| {
            let pair = match triple {
                Ok([subject, predicate, _]) => (subject, predicate),
                Err(error) => return Some(Err(error)),
            };
            (last.replace(pair) != Some(pair)).then_some(Ok(pair))
        })
    }
}

impl TermRelation for HasPredicate {
    fn pairs<'a>(&'a self, view: &'a TripleView, subject: Option<TermId>, object: Option<TermId>) -> Pairs<'a> {
        match (subject, object) {
            (Some(subject), Some(predicate)) => {
                let found = view.triples(Some(subject), Some(predicate), None).next();
                Box::new(found.into_iter().map(move |found| found.map(|_| (subject, predicate))))
            }
            // The triples of a predicate are sorted by object.
            (None, Some(predicate)) => {
                let found: Result<Vec<_>, ReadError> = HasPredicate::distinct(view, None, Some(predicate)).collect();
                match found {
                    Ok(mut found) => {
                        found.sort_unstable();
                        found.dedup();
                        Box::new(found.into_iter().map(Ok))
                    }
                    Err(error) => Box::new(std::iter::once(Err(error))),
                }
            }
            (subject, None) => Box::new(HasPredicate::distinct(view, subject, None)),
        }
    }

    fn estimate(&self, view: &TripleView, subject: End, object: End) -> f64 {
        let store = view.store();
        let predicates = store.predicates().count().max(1) as f64;
        let all = store.len() as f64 * DISTINCT;
        match (subject, object) {
            (End::Free, End::Free) => all,
            (End::Term(subject), End::Free) => store.count(Some(subject), None, None) as f64,
            (End::Free, End::Term(predicate)) => store.predicate(predicate).subjects as f64,
            (End::Free, End::Bound) => all / predicates,
            (End::Bound, End::Free) => predicates.min(8.0),
            _ => 0.5,
        }
    }
}
