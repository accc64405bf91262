//! Finding entities where a snapshot has no index of their texts: by looking at every name.

use oxrdf::{NamedNodeRef, Term};
use terrapin_budget as budget;
use terrapin_triples::{Said, Store};

use super::matches::{Languages, Matches, Search, Wanted};

/// Takes in all names that are near, in the languages that are looked at.
pub(super) fn look(matches: &mut Matches<'_>, store: &Store, search: &Search<'_>) {
    let place = |language: &str| match search.languages {
        Languages::All => Some(0),
        Languages::These(all) => all.iter().position(|one| one.eq_ignore_ascii_case(language)),
    };
    for predicate in Said::Name.predicates() {
        let Some(predicate) = store.id(NamedNodeRef::new_unchecked(predicate).into()) else { continue };
        let mut last = None;
        for [_, _, object] in store.triples(None, Some(predicate), None) {
            budget::checkpoints(1);
            // Ordered by the name: one that many entities have is looked at once.
            if last.replace(object) == Some(object) {
                continue;
            }
            let Some(Term::Literal(literal)) = store.term(object) else { continue };
            if let Some(place) = place(literal.language().unwrap_or_default()) {
                matches.name(object, place, Wanted::nearness);
            }
        }
    }
}
