//! Identifiers of Wikidata's entities, and how well these are known.

use std::fmt;

use oxrdf::{NamedNode, Term};

use super::{EntityKind, Store, TermId};

/// What stands before an identifier in the IRI of an entity.
const ENTITY: &str = "http://www.wikidata.org/entity/";

/// The identifier of an entity, such as `Q42`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EntityId {
    /// What it is.
    pub kind: EntityKind,
    /// Its number.
    pub number: u64,
}

impl EntityId {
    /// The identifier that a text is; its letter may be small.
    pub fn parse(text: &str) -> Option<EntityId> {
        let (letter, digits) = text.split_at_checked(1)?;
        let kind = EntityKind::ALL
            .into_iter()
            .find(|kind| letter.eq_ignore_ascii_case(kind.letter().encode_utf8(&mut [0; 4])))?;
        let plain = digits.bytes().all(|b| b.is_ascii_digit()) && !digits.starts_with('0');
        Some(EntityId { kind, number: digits.parse().ok().filter(|_| plain)? })
    }

    /// The identifier in an IRI.
    pub fn of_iri(iri: &str) -> Option<EntityId> {
        iri.strip_prefix(ENTITY).and_then(EntityId::parse)
    }

    /// The identifier of a term.
    pub fn of_term(store: &Store, term: TermId) -> Option<EntityId> {
        match store.term(term)? {
            Term::NamedNode(node) => EntityId::of_iri(node.as_str()),
            _ => None,
        }
    }

    /// Its IRI.
    pub fn iri(self) -> NamedNode {
        NamedNode::new_unchecked(format!("{ENTITY}{self}"))
    }

    /// Its term, if the snapshot has it.
    pub fn term(self, store: &Store) -> Option<TermId> {
        store.id(self.iri().as_ref().into())
    }

    /// How often it is used: an item and a lexeme as an object, a property as a predicate.
    pub fn uses(self, store: &Store) -> u64 {
        let count = |iri: String| {
            let id = store.id(NamedNode::new_unchecked(iri).as_ref().into());
            id.map_or(0, |id| store.count(None, Some(id), None))
        };
        if self.kind == EntityKind::Property {
            let paths = ["direct/", "", "statement/", "qualifier/", "reference/"];
            return paths.into_iter().map(|path| count(format!("http://www.wikidata.org/prop/{path}{self}"))).sum();
        }
        self.term(store).map_or(0, |term| store.count(None, None, Some(term)))
    }

    /// How well it is known, by its sitelinks and its uses: more of either is more.
    pub fn fame(self, store: &Store) -> u64 {
        let links = match self.kind {
            EntityKind::Item => super::sitelinks(store, &self.to_string()).unwrap_or(0),
            _ => 0,
        };
        (links + 1).saturating_mul(self.uses(store) + 1)
    }
}

impl fmt::Display for EntityId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.kind.letter(), self.number)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn identifiers() {
        let q42 = EntityId { kind: EntityKind::Item, number: 42 };
        assert_eq!((EntityId::parse("Q42"), EntityId::parse("q42")), (Some(q42), Some(q42)));
        assert_eq!(EntityId::of_iri("http://www.wikidata.org/entity/P31").unwrap().to_string(), "P31");
        for wrong in ["", "Q", "Q4a", "X1", "P31-x", "é1", "Q042", "Q+1", "Q99999999999999999999"] {
            assert_eq!(EntityId::parse(wrong), None, "{wrong}");
        }
    }
}
