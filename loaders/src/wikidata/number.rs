//! Numbers of entities, which take less memory than their ids.

use super::value::is_id;

/// The number of an entity. Items have the number in their id; properties and lexemes have [`PROPERTIES`] or
/// [`LEXEMES`] added to it.
pub type Number = u32;
const PROPERTIES: Number = 1 << 31;
const LEXEMES: Number = 3 << 30;

/// Returns the number of an entity; for a form or sense, that of its lexeme. Returns `None` for other ids.
pub fn number(id: &str) -> Option<Number> {
    if !is_id(id) {
        return None;
    }
    let (letter, digits) = id.split_once('-').map_or(id, |(lexeme, _)| lexeme).split_at_checked(1)?;
    let number: Number = digits.parse().ok()?;
    match letter {
        "Q" => (number < PROPERTIES).then_some(number),
        "P" => (number < 1 << 30).then_some(PROPERTIES | number),
        "L" => (number < 1 << 30).then_some(LEXEMES | number),
        _ => None,
    }
}
