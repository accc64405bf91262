//! Identifiers of Wikidata's entities, and a measure of how well known they are.

use std::fmt;

use oxrdf::{NamedNode, Term};

use super::{EntityKind, Store, TermId};

/// Prefix of an entity's IRI, before its identifier.
const ENTITY: &str = "http://www.wikidata.org/entity/";

/// The identifier of an entity, such as `Q42`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EntityId {
    /// The kind of entity.
    pub kind: EntityKind,
    /// The number in the identifier.
    pub number: u64,
}

impl EntityId {
    /// Parses an identifier; its letter may be lower case.
    pub fn parse(text: &str) -> Option<EntityId> {
        let (letter, digits) = text.split_at_checked(1)?;
        let kind = EntityKind::ALL
            .into_iter()
            .find(|kind| letter.eq_ignore_ascii_case(kind.letter().encode_utf8(&mut [0; 4])))?;
        let plain = digits.bytes().all(|b| b.is_ascii_digit()) && !digits.starts_with('0');
        Some(EntityId { kind, number: digits.parse().ok().filter(|_| plain)? })
    }

    /// Parses the IRI of an entity.
    pub fn of_iri(iri: &str) -> Option<EntityId> {
        iri.strip_prefix(ENTITY).and_then(EntityId::parse)
    }

    /// Returns the identifier of a term, if it is an entity.
    pub fn of_term(store: &Store, term: TermId) -> Option<EntityId> {
        match store.term(term)? {
            Term::NamedNode(node) => EntityId::of_iri(node.as_str()),
            _ => None,
        }
    }

    /// Returns the IRI.
    pub fn iri(self) -> NamedNode {
        NamedNode::new_unchecked(format!("{ENTITY}{self}"))
    }

    /// Returns the term, if the snapshot contains it.
    pub fn term(self, store: &Store) -> Option<TermId> {
        store.id(self.iri().as_ref().into())
    }

    /// Counts the uses: of an item or a lexeme as an object, of a property as a predicate.
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

    /// Returns a measure of how well known the entity is: sitelinks times uses, each plus 1.
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
