//! Solutions.

use oxrdf::{NamedOrBlankNode, Term, Triple};

pub(crate) use terrapin_sparql_syntax::algebra::Row;

/// Returns the approximate size of a row in bytes.
pub(crate) fn row_bytes(row: &Row) -> u64 {
    let texts: usize = row.iter().flatten().map(term_bytes).sum();
    (64 + row.len() * size_of::<Option<Term>>() + texts) as u64
}

/// Returns the length of a term's text in bytes.
pub(crate) fn term_bytes(term: &Term) -> usize {
    match term {
        Term::BlankNode(node) => node.as_str().len(),
        Term::NamedNode(node) => node.as_str().len(),
        Term::Literal(literal) => literal.value().len(),
        Term::Triple(triple) => {
            let subject = match &triple.subject {
                NamedOrBlankNode::NamedNode(node) => node.as_str().len(),
                NamedOrBlankNode::BlankNode(node) => node.as_str().len(),
            };
            size_of::<Triple>() + subject + triple.predicate.as_str().len() + term_bytes(&triple.object)
        }
    }
}
