//! Identifiers of Wikidata's entities, and their labels.

use oxrdf::vocab::rdfs;
use oxrdf::{NamedNodeRef, Term};
use serde::Serialize;

use terrapin_triples::{Store, TermId};

/// The IRI prefix of entities, followed by the identifier.
pub(super) const ENTITY: &str = "http://www.wikidata.org/entity/";

/// The kind of an identifier.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum IdentifierKind {
    /// An item: `Q` and a number.
    Entity,
    /// A property: `P` and a number.
    Property,
    /// A lexeme: `L` and a number. Its label is its lemma.
    Lexeme,
}

impl IdentifierKind {
    const ALL: [IdentifierKind; 3] = [IdentifierKind::Entity, IdentifierKind::Property, IdentifierKind::Lexeme];

    /// Returns the keyword of the labelled form.
    pub fn name(self) -> &'static str {
        match self {
            IdentifierKind::Entity => "entity",
            IdentifierKind::Property => "property",
            IdentifierKind::Lexeme => "lexeme",
        }
    }

    /// Returns the kind with this keyword.
    pub fn of_name(name: &str) -> Option<IdentifierKind> {
        IdentifierKind::ALL.into_iter().find(|kind| kind.name() == name)
    }

    /// Returns the kind of an identifier such as `Q42`.
    pub fn of_id(id: &str) -> Option<IdentifierKind> {
        let (letter, digits) = id.split_at_checked(1)?;
        let is_number = !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit());
        IdentifierKind::ALL.into_iter().find(|kind| kind.letter() == letter && is_number)
    }

    fn letter(self) -> &'static str {
        match self {
            IdentifierKind::Entity => "Q",
            IdentifierKind::Property => "P",
            IdentifierKind::Lexeme => "L",
        }
    }

    /// Returns the predicate of its labels.
    pub(super) fn label(self) -> &'static str {
        match self {
            IdentifierKind::Entity | IdentifierKind::Property => rdfs::LABEL.as_str(),
            IdentifierKind::Lexeme => "http://wikiba.se/ontology#lemma",
        }
    }
}

/// Returns the term of an identifier.
fn id_of(store: &Store, id: &str) -> Option<TermId> {
    store.id(NamedNodeRef::new_unchecked(&format!("{ENTITY}{id}")).into())
}

/// Returns the label of an entity: in `language`, otherwise in `mul`, otherwise the first one in the order of language
/// tags.
pub fn label_of(store: &Store, kind: IdentifierKind, id: &str, language: &str) -> Option<String> {
    let subject = id_of(store, id)?;
    let predicate = store.id(NamedNodeRef::new_unchecked(kind.label()).into())?;
    let mut best: Option<((u8, String), String)> = None;
    for [_, _, object] in store.triples(Some(subject), Some(predicate), None) {
        let Some(Term::Literal(literal)) = store.term(object) else { continue };
        let tag = literal.language().unwrap_or_default().to_ascii_lowercase();
        let rank = if tag.eq_ignore_ascii_case(language) {
            0
        } else if tag == "mul" {
            1
        } else {
            2
        };
        if best.as_ref().is_none_or(|(known, _)| (rank, tag.as_str()) < (known.0, known.1.as_str())) {
            best = Some(((rank, tag), literal.value().to_owned()));
        }
    }
    best.map(|(_, label)| label)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn identifiers() {
        assert_eq!(IdentifierKind::of_id("Q42"), Some(IdentifierKind::Entity));
        assert_eq!(IdentifierKind::of_id("P31"), Some(IdentifierKind::Property));
        for wrong in ["", "Q", "Q4a", "X1", "q1", "P31-x", "é1"] {
            assert_eq!(IdentifierKind::of_id(wrong), None, "{wrong}");
        }
    }
}
