//! The kinds of Wikidata's entities.

/// A kind of entity.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[allow(missing_docs)]
pub enum EntityKind {
    Item,
    Property,
    Lexeme,
}

impl EntityKind {
    /// All kinds.
    pub const ALL: [EntityKind; 3] = [EntityKind::Item, EntityKind::Property, EntityKind::Lexeme];

    /// Returns the first letter of identifiers.
    pub fn letter(self) -> char {
        match self {
            EntityKind::Item => 'Q',
            EntityKind::Property => 'P',
            EntityKind::Lexeme => 'L',
        }
    }

    /// Returns the name of the kind, such as `item`.
    pub fn name(self) -> &'static str {
        match self {
            EntityKind::Item => "item",
            EntityKind::Property => "property",
            EntityKind::Lexeme => "lexeme",
        }
    }
}
