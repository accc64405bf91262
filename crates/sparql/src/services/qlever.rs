//! QLever's public endpoints under their own addresses. They serve OpenStreetMap and Wikidata separately, and queries
//! call one from the other. A snapshot contains both; therefore all these addresses refer to the snapshot itself.

use oxrdf::NamedNode;

/// Prefixes of QLever's endpoint addresses, without the scheme.
const HOSTS: [&str; 2] = ["qlever.cs.uni-freiburg.de/api/", "qlever.dev/api/"];
/// QLever's search by distance, which is not an endpoint.
const SPATIAL: &str = "https://qlever.cs.uni-freiburg.de/spatialSearch/";

/// Returns whether a service is QLever's endpoint of Wikidata or of OpenStreetMap.
pub fn is_qlever(name: &NamedNode) -> bool {
    let iri = name.as_str();
    let Some(address) = iri.strip_prefix("https://").or_else(|| iri.strip_prefix("http://")) else { return false };
    let data = HOSTS.iter().find_map(|host| address.strip_prefix(host));
    let of_osm =
        |data: &str| data.strip_prefix("osm-").is_some_and(|part| part.bytes().all(|b| b.is_ascii_lowercase()));
    data.is_some_and(|data| data == "wikidata" || of_osm(data))
}

/// Returns whether a service is QLever's spatial search.
pub fn is_spatial_search(name: &NamedNode) -> bool {
    name.as_str().starts_with(SPATIAL)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn its_addresses() {
        let is = |iri: &str| is_qlever(&NamedNode::new_unchecked(iri));
        assert!(is("https://qlever.cs.uni-freiburg.de/api/wikidata") && is("https://qlever.dev/api/osm-planet"));
        assert!(is("https://qlever.cs.uni-freiburg.de/api/osm-germany"));
        assert!(!is("https://qlever.cs.uni-freiburg.de/api/dblp") && !is("https://qlever.dev/wikidata"));
        assert!(!is("https://qlever.dev.example.org/api/wikidata") && !is("https://qlever.dev/api/osm-planet/x"));
    }
}
