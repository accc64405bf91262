//! The names of the functions and aggregates that SPARQL 1.1 does not define, for the service description.

use oxrdf::NamedNode;
use terrapin_sparql_syntax::vocabulary::QL;

use super::{GEO, WIKIBASE, known, qlever};
use crate::geo;

/// Returns the extension functions.
pub fn extension_functions() -> impl Iterator<Item = NamedNode> {
    let geo = geo::functions().map(|(name, _)| name).chain(["latitude", "longitude", "globe"]);
    let geo = geo.map(|name| format!("{}{name}", GEO[0]));
    let wikibase = ["decodeUri", "isSomeValue"].map(|name| format!("{WIKIBASE}{name}"));
    let ql = ["toEpoch", "isGeoPoint", "envelopeLowerLeft", "envelopeUpperRight", "prefix-match"];
    let ql = ql.map(|name| format!("{QL}{name}"));
    let math = ["exp", "log", "sqrt", "sin", "cos", "tan", "pow"].map(|name| format!("{}{name}", qlever::MATH));
    let all = geo.chain(wikibase).chain(ql).chain(math);
    all.filter(|name| known(name).is_some()).map(NamedNode::new_unchecked)
}

/// Returns the extension aggregates.
pub fn extension_aggregates() -> impl Iterator<Item = NamedNode> {
    geo::GeometryAggregate::ALL.into_iter().map(|aggregate| NamedNode::new_unchecked(aggregate.iri()))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every name is a function, so that none is left out of the description.
    #[test]
    fn every_name_is_known() {
        let names: Vec<String> = extension_functions().map(NamedNode::into_string).collect();
        for expected in ["geosparql/sfWithin", "geosparql/globe", "ontology#decodeUri", "functions/toEpoch", "math#pow"]
        {
            assert!(names.iter().any(|name| name.ends_with(expected)), "{expected} in {names:?}");
        }
        assert_eq!(names.len(), geo::functions().count() + 3 + 2 + 5 + 7);
    }
}
