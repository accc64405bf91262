//! The words of the language: for editors that complete them, and for tests that try them all.

use crate::check::evaluators;
use crate::{Form, filter, statement};

/// The words that begin a query, such as `node` and `rel`.
pub fn queries() -> impl Iterator<Item = &'static str> {
    statement::QUERY_WORDS.iter().copied()
}

/// The words and signs that begin a statement or a part of one, those of queries included: `out`, `>`, `else`.
///
/// ```
/// assert!(terrapin_overpass_syntax::vocabulary::statements().any(|word| word == "map_to_area"));
/// ```
pub fn statements() -> impl Iterator<Item = &'static str> {
    statement::all_words()
}

/// The words of filters in round brackets, such as `around`.
pub fn filters() -> impl Iterator<Item = &'static str> {
    filter::words()
}

/// The names of the elements of the XML form.
pub fn elements() -> impl Iterator<Item = &'static str> {
    let others =
        ["eval-fixed", "eval-value", "eval-generic", "eval-set-key", "eval-not", "eval-negate", "eval-ternary"];
    Form::all().map(|form| form.name).chain(evaluators::elements().map(|(name, _)| name)).chain(others)
}
