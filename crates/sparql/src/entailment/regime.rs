//! The entailment regimes of a query, and the namespaces of their vocabularies.

use std::str::FromStr;

/// The entailment regimes of a query. The default is simple entailment: patterns match stored triples.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Entailment {
    /// Whether RDFS applies.
    pub rdfs: bool,
    /// Whether GeoSPARQL's rules apply.
    pub geosparql: bool,
}

impl Entailment {
    /// The names of the regimes.
    pub const NAMES: [&'static str; 3] = ["simple", "rdfs", "geosparql"];

    /// Returns whether patterns match stored triples only.
    pub fn is_simple(self) -> bool {
        self == Entailment::default()
    }
}

impl FromStr for Entailment {
    type Err = String;

    /// Parses names separated by commas.
    fn from_str(names: &str) -> Result<Entailment, String> {
        let mut entailment = Entailment::default();
        for name in names.split(',').map(str::trim) {
            match name {
                "simple" => {}
                "rdfs" => entailment.rdfs = true,
                "geosparql" => entailment.geosparql = true,
                _ => {
                    let known = Entailment::NAMES.join(", ");
                    return Err(format!(
                        "unknown entailment regime {name:?}: known are {known}, or several with commas"
                    ));
                }
            }
        }
        Ok(entailment)
    }
}

/// The namespace of GeoSPARQL's properties.
pub(super) const GEO: &str = "http://www.opengis.net/ont/geosparql#";
/// The namespace of RDF.
pub(super) const RDF: &str = "http://www.w3.org/1999/02/22-rdf-syntax-ns#";
/// The namespace of RDFS.
pub(super) const RDFS: &str = "http://www.w3.org/2000/01/rdf-schema#";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn regimes_have_names() {
        assert_eq!("simple".parse(), Ok(Entailment::default()));
        assert_eq!("rdfs, geosparql".parse(), Ok(Entailment { rdfs: true, geosparql: true }));
        assert!("owl".parse::<Entailment>().unwrap_err().contains("known are simple, rdfs, geosparql"));
    }
}
