//! Solutions.

use oxrdf::Term;

pub(crate) use terrapin_sparql_syntax::algebra::Row;

/// Returns the approximate size of a row in bytes.
pub(crate) fn row_bytes(row: &Row) -> u64 {
    let text = |term: &Term| match term {
        Term::BlankNode(node) => node.as_str().len(),
        Term::NamedNode(node) => node.as_str().len(),
        Term::Literal(literal) => literal.value().len(),
    };
    let texts: usize = row.iter().flatten().map(text).sum();
    (64 + row.len() * size_of::<Option<Term>>() + texts) as u64
}
