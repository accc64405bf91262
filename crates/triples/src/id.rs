//! The internal number of a term.

use std::num::NonZeroU64;

/// The number of a term: its position in the canonical order of the snapshot's terms, or a term of the running query
/// only.
///
/// The canonical order has three parts. First come terms with text: blank nodes, IRIs, literals, each in byte order.
/// Then come encoded terms: IRIs of Wikidata's entities and properties, numbers, times, points (see
/// [`super::TermCode`]). The query's own terms follow in order of creation. The order depends on the triples of the
/// snapshot only, not on how they were loaded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TermId(NonZeroU64);

/// Marks terms of the running query.
const LOCAL: u64 = 1 << 63;

/// Marks, among these, the terms that are computed from their numbers.
const COMPUTED: u64 = 1 << 62;

impl TermId {
    /// Returns the snapshot's term with a number less than 2^62.
    #[inline]
    pub fn of_snapshot(number: u64) -> TermId {
        TermId(NonZeroU64::MIN.saturating_add(number & !LOCAL))
    }

    /// Returns the query's own term with a number less than 2^62.
    #[inline]
    pub fn of_query(number: u64) -> TermId {
        TermId(NonZeroU64::MIN.saturating_add(number) | LOCAL)
    }

    /// Returns the term that [`super::Computed`] derives from a number less than 2^62 - 1.
    #[inline]
    pub fn of_computed(number: u64) -> TermId {
        TermId(NonZeroU64::MIN.saturating_add(number) | LOCAL | COMPUTED)
    }

    /// Returns whether the term belongs to the running query only. No triple of the snapshot contains such a term.
    #[inline]
    pub fn is_of_query(self) -> bool {
        self.0.get() & LOCAL != 0
    }

    /// Returns the position in the order of the snapshot's terms, from 0, or `None` for a term of the query.
    #[inline]
    pub fn number(self) -> Option<u64> {
        if self.is_of_query() { None } else { Some(self.0.get() - 1) }
    }

    /// Returns the index among the query's own terms, from 0.
    #[inline]
    pub fn query_number(self) -> Option<u64> {
        (self.0.get() & (LOCAL | COMPUTED) == LOCAL).then(|| (self.0.get() & !LOCAL) - 1)
    }

    /// Returns the number of a computed term.
    #[inline]
    pub fn computed_number(self) -> Option<u64> {
        const BOTH: u64 = LOCAL | COMPUTED;
        (self.0.get() & BOTH == BOTH).then(|| (self.0.get() & !BOTH) - 1)
    }

    /// Returns bits that are unique to the term, for hashing.
    #[inline]
    pub fn bits(self) -> u64 {
        self.0.get()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_survive_and_the_querys_terms_come_last() {
        for number in [0, 1, 77, (1 << 62) - 2] {
            let (there, own) = (TermId::of_snapshot(number), TermId::of_query(number));
            assert_eq!((there.number(), there.query_number()), (Some(number), None));
            assert_eq!((own.number(), own.query_number()), (None, Some(number)));
            assert!(there < own && TermId::of_snapshot((1 << 62) - 1) < own);
            let computed = TermId::of_computed(number.min((1 << 62) - 2));
            assert_eq!((computed.number(), computed.query_number()), (None, None));
            assert_eq!(computed.computed_number(), Some(number.min((1 << 62) - 2)));
            assert!(computed.is_of_query() && own.computed_number().is_none() && there.computed_number().is_none());
        }
        assert_eq!(size_of::<Option<TermId>>(), 8);
    }
}
