//! OverpassQL: text → tokens → one syntax tree → plan → sets of ordinals → output streamed by type and order.
//!
//! What Overpass API 0.7.62 answers is right, element for element. May use `osm`; knows nothing of files on disk, of
//! HTTP or of benchmarks.

mod error;
pub mod evaluators;
pub mod output;
mod plan;
mod reader;
pub mod run;
pub mod set;
pub mod syntax;
pub mod turbo;

pub use error::{Class, Diagnostic, Failure};

use std::io::Write;

use crate::osm::Osm;

/// What a finished query tells about itself.
#[derive(Debug, Clone, Default)]
pub struct Summary {
    /// Elements written.
    pub elements: u64,
    /// The content type of the answer: `application/json`, `application/osm3s+xml`, `text/csv`.
    pub content_type: &'static str,
}

/// Parses a query, QL or XML.
pub fn parse(text: &str) -> Result<syntax::Script, Failure> {
    syntax::parse(text)
}

/// Runs a parsed query and streams its answer. An error before the first byte leaves `out` untouched.
pub fn run(osm: &Osm, script: &syntax::Script, limits: &run::Limits, out: &mut dyn Write) -> Result<Summary, Failure> {
    let _ = (osm, script, limits, out);
    todo!()
}
