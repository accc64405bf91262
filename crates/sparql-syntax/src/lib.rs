//! Parser for SPARQL: text to tokens with positions to algebra.
//!
//! The grammar is SPARQL 1.2 with `LATERAL` and the additions of the Wikidata Query Service (WDQS): named subqueries,
//! predeclared prefixes, and constructs that Blazegraph accepts but the standard rejects ([`Extension`]), or with the
//! additions of QLever. [`detect()`] selects the dialect of a text. For a query
//! without such constructs, the algebra is equivalent to spargebra's. Helper variables and blank nodes are numbered;
//! therefore a text always gives the same tree. The crate does not know any data and starts no threads.
//!
//! ```
//! use terrapin_sparql_syntax::algebra::QueryPattern;
//! use terrapin_sparql_syntax::{Dialect, parse};
//!
//! // WDQS predeclares these prefixes.
//! let parsed = parse("SELECT ?city { ?city wdt:P31/wdt:P279* wd:Q515 } LIMIT 3", Dialect::Wdqs)?;
//! let QueryPattern::Slice { length, .. } = parsed.query.pattern else { panic!("LIMIT is at the top") };
//! assert_eq!(length, Some(3));
//!
//! let error = parse("SELECT ?city { ?city wdt:P31 wd:Q515 ", Dialect::Wdqs).unwrap_err();
//! assert_eq!((error.line, error.column), (1, 38));
//! # Ok::<(), terrapin_sparql_syntax::error::SparqlError>(())
//! ```

pub mod algebra;
mod code;
pub mod convert;
pub mod depth;
mod detect;
mod dialect;
pub mod error;
mod expression;
mod function;
pub mod grammar;
mod hints;
mod own;
mod parser;
mod pattern;
mod prefixes;
mod qlever;
mod query;
mod reading;
mod reified;
mod statements;
mod token;
mod tree;
mod triples;
pub mod vocabulary;
pub mod walk;
pub mod write;

pub use detect::{DialectDetection, detect};
pub use dialect::Dialect;
pub use function::STANDARD_DEVIATION;
pub use parser::{DEFAULT_BASE, Extension, ParsedQuery};
pub use pattern::in_scope;
pub use prefixes::shorten;
pub use reading::{declarations, read_tokens};
pub use token::{SparqlToken, TokenKind};

pub use error::{SparqlCode, SparqlError, SparqlErrorClass};

/// Maximum length of a query in bytes.
pub const MAX_TEXT: usize = 1 << 20;

/// Parses a query of at most [`MAX_TEXT`] bytes.
///
/// # Errors
/// Returns an error if the query is not in the dialect, uses an undeclared prefix, or exceeds a limit: see [`error`].
pub fn parse(text: &str, dialect: Dialect) -> Result<ParsedQuery, SparqlError> {
    parser::QueryParser::new(text, dialect)?.query_unit()
}

/// The examples of the README, which are tests as well.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct ReadmeExamples;

#[cfg(test)]
mod tests;
