//! Query hints (`hint:Query hint:optimizer "None"`): WDQS's way to steer its optimiser. They say nothing about the
//! answer and leave the pattern; left in it, they would match nothing and empty the result.

use crate::algebra::{NamedNodePattern, TermPattern, TriplePattern};

const HINTS: &str = "http://www.bigdata.com/queryHints#";

/// Whether a triple is a hint.
pub(crate) fn is_hint(triple: &TriplePattern) -> bool {
    let hint = |iri: &str| iri.starts_with(HINTS);
    matches!(&triple.predicate, NamedNodePattern::NamedNode(predicate) if hint(predicate.as_str()))
        || matches!(&triple.subject, TermPattern::NamedNode(subject) if hint(subject.as_str()))
}
