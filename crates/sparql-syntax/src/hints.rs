//! Query hints of WDQS (`hint:Query hint:optimizer "None"`), which steer Blazegraph's optimizer. They do not affect the
//! result and are removed from the pattern: as triple patterns they would match no data.

use crate::algebra::{NamedNodePattern, TermPattern, TriplePattern};

const HINTS: &str = "http://www.bigdata.com/queryHints#";

/// Returns whether a triple is a hint.
pub(crate) fn is_hint(triple: &TriplePattern) -> bool {
    let hint = |iri: &str| iri.starts_with(HINTS);
    matches!(&triple.predicate, NamedNodePattern::NamedNode(predicate) if hint(predicate.as_str()))
        || matches!(&triple.subject, TermPattern::NamedNode(subject) if hint(subject.as_str()))
}
