//! Lists the words of the language: for completion in editors, and for tests that try all of them.

use crate::check::evaluators;
use crate::{ElementSyntax, filter, statement};

/// Iterates over the words that begin a query, such as `node` and `rel`.
pub fn queries() -> impl Iterator<Item = &'static str> {
    statement::QUERY_WORDS.iter().copied()
}

/// Iterates over the words and signs that begin a statement or a part of one, including queries: `out`, `>`, `else`.
///
/// ```
/// assert!(terrapin_overpass_syntax::vocabulary::statements().any(|word| word == "map_to_area"));
/// ```
pub fn statements() -> impl Iterator<Item = &'static str> {
    statement::all_words()
}

/// Iterates over the words of filters in round brackets, such as `around`.
pub fn filters() -> impl Iterator<Item = &'static str> {
    filter::words()
}

/// Iterates over the names of the elements of the XML form.
pub fn elements() -> impl Iterator<Item = &'static str> {
    let others =
        ["eval-fixed", "eval-value", "eval-generic", "eval-set-key", "eval-not", "eval-negate", "eval-ternary"];
    ElementSyntax::all().map(|form| form.name).chain(evaluators::elements().map(|(name, _)| name)).chain(others)
}
