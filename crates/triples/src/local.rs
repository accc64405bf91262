//! The terms that only the running query has: those it names and the snapshot does not have, and those it computes.

use oxrdf::{Term, TermRef};
use rustc_hash::FxHashMap;

use super::TermId;

/// A query's own terms, numbered as they come up.
#[derive(Default)]
pub struct LocalTerms {
    terms: Vec<Term>,
    ids: FxHashMap<Term, u64>,
    bytes: u64,
}

impl LocalTerms {
    /// The id of a term that is among them.
    pub fn id(&self, term: &Term) -> Option<TermId> {
        if self.terms.is_empty() {
            return None;
        }
        self.ids.get(term).map(|&number| TermId::of_query(number))
    }

    /// Adds a term that is not among them.
    pub fn add(&mut self, term: Term) -> TermId {
        let number = self.terms.len() as u64;
        // The text twice, and what the tables need.
        self.bytes += 2 * text_len(term.as_ref()) + 160;
        self.terms.push(term.clone());
        self.ids.insert(term, number);
        TermId::of_query(number)
    }

    /// The term of an id.
    pub fn term(&self, id: TermId) -> Option<&Term> {
        self.terms.get(usize::try_from(id.query_number()?).ok()?)
    }

    /// About how many bytes they take.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }
}

/// Bytes of a term's texts.
pub(super) fn text_len(term: TermRef<'_>) -> u64 {
    match term {
        TermRef::BlankNode(node) => node.as_str().len() as u64,
        TermRef::NamedNode(node) => node.as_str().len() as u64,
        TermRef::Literal(literal) => {
            (literal.value().len() + literal.language().map_or(0, str::len) + literal.datatype().as_str().len()) as u64
        }
    }
}
