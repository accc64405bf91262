//! Text → tokens with positions → algebra.
//!
//! The grammar is SPARQL 1.1's (with `LATERAL`) and what the Wikidata Query Service adds to it: named subqueries, known
//! prefixes, and a number of things that the standard refuses and Blazegraph takes ([`Extension`]). For a query that
//! needs none of them the algebra means what spargebra's own parser makes of it; helper variables and blank nodes get
//! names by counting, so that one text always gives one tree. Knows nothing of any data, and starts no threads.
//!
//! ```
//! use terrapin_sparql_syntax::algebra::Pattern;
//! use terrapin_sparql_syntax::{Dialect, parse};
//!
//! // WDQS knows its prefixes, and takes an expression in SELECT without a name only where Blazegraph does.
//! let parsed = parse("SELECT ?city { ?city wdt:P31/wdt:P279* wd:Q515 } LIMIT 3", Dialect::Wdqs)?;
//! let Pattern::Slice { length, .. } = parsed.query.pattern else { panic!("LIMIT is at the top") };
//! assert_eq!(length, Some(3));
//!
//! let error = parse("SELECT ?city { ?city wdt:P31 wd:Q515 ", Dialect::Wdqs).unwrap_err();
//! let place = error.place.unwrap();
//! assert_eq!((place.line, place.column), (1, 38));
//! # Ok::<(), terrapin_sparql_syntax::Error>(())
//! ```

pub mod algebra;
mod code;
pub mod convert;
pub mod depth;
pub mod error;
mod expression;
mod function;
mod hints;
mod parser;
mod pattern;
mod prefixes;
mod query;
mod token;
mod tree;
mod triples;
pub mod vocabulary;
pub mod walk;

pub use parser::{Dialect, Extension, Parsed};
pub use pattern::in_scope;
pub use prefixes::shorten;
pub use token::{Kind as TokenKind, tokens};

pub use error::{Class, Code, Error, Position};

/// Longest query that is read, in bytes.
pub const MAX_TEXT: usize = 1 << 20;

/// Parses a query of [`MAX_TEXT`] bytes at most.
///
/// # Errors
/// It is not in the dialect, uses an undeclared prefix, or is too deep: see [`error`].
pub fn parse(text: &str, dialect: Dialect) -> Result<Parsed, Error> {
    parser::Parser::new(text, dialect)?.query_unit()
}

#[cfg(test)]
mod tests;
