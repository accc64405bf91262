//! Snaks: properties with a value.

use super::value::Value;

/// The value of a snak.
#[derive(Debug, Clone, PartialEq)]
pub enum SnakValue {
    /// A known value.
    Value(Value),
    /// An unknown value.
    Some,
    /// No value.
    None,
}

/// A property with a value.
#[derive(Debug, Clone, PartialEq)]
pub struct Snak {
    /// The property's number.
    pub property: u64,
    /// The value.
    pub value: SnakValue,
}
