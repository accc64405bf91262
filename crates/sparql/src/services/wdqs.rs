//! The Wikidata Query Service under its own addresses. Its data is split into two graphs, and queries call one from the
//! other. A snapshot is not split; therefore all these addresses refer to the snapshot itself.

use oxrdf::NamedNode;

/// Hosts of the Wikidata Query Service, without the scheme.
const HOSTS: [&str; 4] =
    ["query.wikidata.org", "query-main.wikidata.org", "query-scholarly.wikidata.org", "query-legacy-full.wikidata.org"];
/// The paths of its endpoints.
const PATHS: [&str; 3] = ["/sparql", "/bigdata/namespace/wdq/sparql", "/bigdata/sparql"];
/// The names of the two graphs, with the prefix `wdsubgraph:`.
const HALVES: [&str; 2] = ["wikidata_main", "scholarly_articles"];

/// Returns whether a service is the Wikidata Query Service.
pub fn is_wdqs(name: &NamedNode) -> bool {
    let iri = name.as_str();
    let Some(address) = iri.strip_prefix("https://").or_else(|| iri.strip_prefix("http://")) else { return false };
    let half = address.strip_prefix("query.wikidata.org/subgraph/");
    let path = HOSTS.iter().find_map(|host| address.strip_prefix(host));
    half.is_some_and(|half| HALVES.contains(&half)) || path.is_some_and(|path| PATHS.contains(&path))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn its_addresses_and_halves() {
        let is = |iri: &str| is_wdqs(&NamedNode::new_unchecked(iri));
        assert!(is("https://query.wikidata.org/sparql") && is("http://query-scholarly.wikidata.org/sparql"));
        assert!(is("https://query.wikidata.org/bigdata/namespace/wdq/sparql"));
        assert!(is("https://query.wikidata.org/subgraph/scholarly_articles"));
        assert!(!is("https://query.wikidata.org/") && !is("https://query.wikidata.org.example.org/sparql"));
        assert!(!is("https://commons-query.wikimedia.org/sparql") && !is("https://query.wikidata.org/subgraph/other"));
    }
}
