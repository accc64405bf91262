//! Identifiers of entities, and of the forms and senses of a lexeme.

use std::fmt;

use terrapin_triples::{EntityId, EntityKind};

/// The identifier of an entity (`Q42`), or of a form (`L42-F1`) or a sense (`L42-S1`) of a lexeme.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EntityName {
    /// The entity: for a form or a sense its lexeme.
    pub entity: EntityId,
    /// `F1` or `S1`.
    part: Option<String>,
}

impl EntityName {
    /// Parses an identifier, ignoring case.
    pub fn parse(text: &str) -> Option<EntityName> {
        let (entity, part) = text.split_once('-').map_or((text, None), |(entity, part)| (entity, Some(part)));
        let entity = EntityId::parse(entity)?;
        let part = match part.map(str::to_ascii_uppercase) {
            Some(part) if entity.kind == EntityKind::Lexeme && is_part(&part) => Some(part),
            Some(_) => return None,
            None => None,
        };
        Some(EntityName { entity, part })
    }

    /// Returns whether the identifier is that of a form or a sense.
    pub fn is_part(&self) -> bool {
        self.part.is_some()
    }
}

fn is_part(text: &str) -> bool {
    let number = text.strip_prefix(['F', 'S']);
    number.is_some_and(|number| number.starts_with(|c: char| matches!(c, '1'..='9')) && number.parse::<u64>().is_ok())
}

impl fmt::Display for EntityName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.entity)?;
        self.part.iter().try_for_each(|part| write!(f, "-{part}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_and_senses_are_parts_of_lexemes() {
        for (text, written, is_part) in
            [("q42", "Q42", false), ("L42-F1", "L42-F1", true), ("l42-s10", "L42-S10", true)]
        {
            let name = EntityName::parse(text).unwrap();
            assert_eq!((name.to_string().as_str(), name.is_part()), (written, is_part));
        }
        for text in ["Q42-F1", "L42-", "L42-F", "L42-F0", "L42-X1", "L42-F+1", "L42-F1-S1", "-F1", "F1", ""] {
            assert_eq!(EntityName::parse(text), None, "{text}");
        }
    }
}
