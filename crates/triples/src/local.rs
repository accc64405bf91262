//! Terms of the running query only: its constants that the snapshot lacks, and computed values.

use oxrdf::{Term, TermRef};
use rustc_hash::FxHashMap;

use super::TermId;

/// The query's own terms, numbered in order of creation.
#[derive(Default)]
pub struct LocalTerms {
    terms: Vec<Term>,
    ids: FxHashMap<Term, u64>,
    bytes: u64,
}

impl LocalTerms {
    /// Returns the id of a term, if it is known.
    pub fn id(&self, term: &Term) -> Option<TermId> {
        if self.terms.is_empty() {
            return None;
        }
        self.ids.get(term).map(|&number| TermId::of_query(number))
    }

    /// Adds a term that is not known yet.
    pub fn add(&mut self, term: Term) -> TermId {
        let number = self.terms.len() as u64;
        // The text twice, plus the overhead of the tables.
        self.bytes += 2 * text_len(term.as_ref()) + 160;
        self.terms.push(term.clone());
        self.ids.insert(term, number);
        TermId::of_query(number)
    }

    /// Returns the term with an id.
    pub fn term(&self, id: TermId) -> Option<&Term> {
        self.terms.get(usize::try_from(id.query_number()?).ok()?)
    }

    /// Returns the approximate memory use in bytes.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }
}

/// Returns the length in bytes of a term's texts.
pub(super) fn text_len(term: TermRef<'_>) -> u64 {
    match term {
        TermRef::BlankNode(node) => node.as_str().len() as u64,
        TermRef::NamedNode(node) => node.as_str().len() as u64,
        TermRef::Triple(triple) => {
            let ends = text_len(triple.subject.as_ref().into()) + text_len(triple.object.as_ref());
            ends + triple.predicate.as_str().len() as u64
        }
        TermRef::Literal(literal) => {
            (literal.value().len() + literal.language().map_or(0, str::len) + literal.datatype().as_str().len()) as u64
        }
    }
}
