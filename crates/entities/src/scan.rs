//! Search for entities in a snapshot without an index of texts: a scan of every name.

use oxrdf::{NamedNodeRef, Term};
use terrapin_budget as budget;
use terrapin_triples::{Store, TextRole};

use super::matches::{EntityQuery, Languages, Matches, SearchWords};

/// Adds all matching names in the languages of the search.
pub(super) fn look(matches: &mut Matches<'_>, store: &Store, search: &EntityQuery<'_>) {
    let place = |language: &str| match search.languages {
        Languages::All => Some(0),
        Languages::These(all) => all.iter().position(|one| one.eq_ignore_ascii_case(language)),
    };
    for predicate in TextRole::Name.predicates() {
        let Some(predicate) = store.id(NamedNodeRef::new_unchecked(predicate).into()) else { continue };
        let mut last = None;
        for [_, _, object] in store.triples(None, Some(predicate), None) {
            budget::checkpoints(1);
            // Triples are ordered by name, so that a name of many entities is compared once.
            if last.replace(object) == Some(object) {
                continue;
            }
            let Some(Term::Literal(literal)) = store.term(object) else { continue };
            if let Some(place) = place(literal.language().unwrap_or_default()) {
                matches.name(object, place, SearchWords::nearness);
            }
        }
    }
}
