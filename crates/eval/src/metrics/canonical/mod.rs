//! Canonical form equality: two queries are equal if one becomes the other by changes that never change an answer.
//!
//! | language | changes |
//! |---|---|
//! | OverpassQL | names of sets; order and repetition of filters and of union members; statements without effect; one way of writing for `nwr` and unions, for `[k~"^v$"]` and `[k=v]`; output format and limits |
//! | SPARQL | names of variables; prefixes; order of triple patterns, joins, alternatives, conditions and projected variables |
//!
//! Equality is sound but not complete: unequal forms may still mean the same. The order of rows, and the rows that a
//! LIMIT without ORDER BY leaves, are not part of the meaning. The idea is that of QCan, whose forms are complete for
//! monotone queries (Salas and Hogan: Semantics and canonicalisation of SPARQL 1.1, Semantic Web 13(5), 2022).

mod list;
mod overpass;
mod places;
mod sparql;

use crate::language::QueryLanguage;

/// Reports whether two queries have the same canonical form. Equal texts always do; texts that are not in the language
/// only if they are equal.
pub fn canonical_equal(gold: &str, pred: &str, language: QueryLanguage) -> bool {
    let (gold, pred) = (gold.trim(), pred.trim());
    gold == pred
        || match language {
            QueryLanguage::OverpassQl => overpass::equal(gold, pred),
            QueryLanguage::Sparql => sparql::equal(gold, pred),
        }
}

/// Returns the canonical form of a query: a text that only serves for comparisons; `None` if it is not in the language.
pub fn canonical_form(query: &str, language: QueryLanguage) -> Option<String> {
    match language {
        QueryLanguage::OverpassQl => overpass::canonical(query),
        QueryLanguage::Sparql => sparql::canonical(query),
    }
}
