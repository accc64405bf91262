//! Snaks: properties with a value.

use super::value::EntityValue;

/// The value of a snak.
#[derive(Debug, Clone, PartialEq)]
pub enum SnakValue {
    /// A known value.
    Value(EntityValue),
    /// An unknown value.
    Some,
    /// No value.
    None,
}

/// A property with a value.
#[derive(Debug, Clone, PartialEq)]
pub struct EntitySnak {
    /// The property's number.
    pub property: u64,
    /// The value.
    pub value: SnakValue,
}
