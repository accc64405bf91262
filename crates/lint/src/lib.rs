//! Rules that find probable mistakes in queries of both languages, some with a fix that does not change the answer. One
//! file per rule; [`OVERPASS`] and [`SPARQL`] are the registries. Rules about names need a snapshot; the others only
//! read the text. The crate does not know files, commands or HTTP.
//!
//! ```
//! use terrapin_lint::{OverpassData, fixed, overpass};
//!
//! let query = "node[name~\"^Malta$\"]->.a; way[highway]; .b out;";
//! let findings = overpass(query, OverpassData::default()).unwrap();
//! let codes: Vec<_> = findings.iter().map(|finding| finding.rule.code).collect();
//! assert_eq!(codes, ["unused-set", "plain-regex", "unused-result", "unfilled-set"]);
//! assert_eq!(fixed(query, &findings), "node[name=\"Malta\"]->.a; way[highway]; .b out;");
//! ```

mod finding;
mod overpass;
mod sparql;

pub use finding::{LintFinding, LintRule, LintSeverity, fixed};
pub use overpass::{OVERPASS, OverpassData, OverpassLintError, overpass};
pub use sparql::{ContainmentOffer, SPARQL, SparqlLintError, containment_by_geometry, sparql};

/// Iterates over the rules of both languages.
pub fn rules() -> impl Iterator<Item = &'static LintRule> {
    OVERPASS.iter().map(|rule| rule.rule).chain(SPARQL.iter().map(|rule| rule.rule))
}

#[cfg(test)]
mod tests;
