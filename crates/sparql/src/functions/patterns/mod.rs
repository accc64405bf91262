//! REGEX and REPLACE: regular expressions as defined by XPath and XQuery Functions and Operators 3.1, section 5.6
//! (<https://www.w3.org/TR/xpath-functions-31/#regex-syntax>). Some constructs are errors there but valid in Java's
//! `Pattern`, such as look-around, word boundaries or `\Q..\E`. They have Java's meaning, as in WDQS.
//!
//! ```text
//! error.rs       errors in a pattern, its flags or a replacement string
//! reader.rs      reads a pattern character by character
//! names.rs       \p{...}: categories, blocks, Java's names
//! class.rs       [...]: sets of characters
//! escape.rs      \d, \i, \x41, ...: escapes that mean the same inside and outside of [...]
//! translate.rs   a pattern → the syntax of the engines
//! pattern.rs     a compiled pattern, matched within the query's limits
//! replacement.rs the replacement string of REPLACE
//! ```

mod class;
mod error;
mod escape;
mod names;
mod pattern;
mod reader;
mod replacement;
#[cfg(test)]
mod tests;
mod translate;

pub(crate) use error::PatternError;
pub(crate) use pattern::{CompiledPattern, StepLimit};
#[cfg(test)]
use replacement::ReplacementString;
