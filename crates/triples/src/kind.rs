//! The kinds of Wikidata's entities.

/// What an entity is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[allow(missing_docs)]
pub enum EntityKind {
    Item,
    Property,
    Lexeme,
}

impl EntityKind {
    /// All of them.
    pub const ALL: [EntityKind; 3] = [EntityKind::Item, EntityKind::Property, EntityKind::Lexeme];

    /// What identifiers begin with.
    pub fn letter(self) -> char {
        match self {
            EntityKind::Item => 'Q',
            EntityKind::Property => 'P',
            EntityKind::Lexeme => 'L',
        }
    }

    /// The word for it: `item`.
    pub fn name(self) -> &'static str {
        match self {
            EntityKind::Item => "item",
            EntityKind::Property => "property",
            EntityKind::Lexeme => "lexeme",
        }
    }
}
