//! SPARQL over a snapshot's triples, as the Wikidata Query Service answers it: text → tokens → algebra → the dialect
//! rewritten → solutions in a defined order.
//!
//! Knows nothing of files on disk, of HTTP or of benchmarks.

pub mod error;
pub mod geo;
mod hints;
pub mod plan;
pub mod syntax;
mod vocabulary;

pub use error::{Class, Error};
