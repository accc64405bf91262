//! Virtual predicates: relations between terms that are computed, not stored, and that a query's triple patterns name
//! like any predicate.

use super::{ReadError, TermId, View};

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
    /// The pairs with the given ends, in ascending order of (subject, object) or, with only the object given, of
    /// subjects; the first error ends them. Repeated pairs are repeated solutions.
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
