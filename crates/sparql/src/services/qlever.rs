//! QLever's public endpoints under their own addresses. They serve OpenStreetMap and Wikidata separately, and queries
//! call one from the other. A snapshot contains both; therefore all these addresses refer to the snapshot itself.
//! Also its services that are no endpoints.

use oxrdf::NamedNode;

use terrapin_sparql_syntax::error::{SparqlCode, SparqlError, SparqlErrorClass};
use terrapin_sparql_syntax::vocabulary::{
    EXTERNAL_VALUES, MATERIALIZED_VIEW, PATH_SEARCH, QL, SPATIAL_SEARCH, TEXT_SEARCH,
};

/// Prefixes of QLever's endpoint addresses, without the scheme.
const HOSTS: [&str; 2] = ["qlever.cs.uni-freiburg.de/api/", "qlever.dev/api/"];

/// A service of QLever that is evaluated here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum QleverService {
    /// `pathSearch:`
    Paths,
    /// `spatialSearch:`
    Spatial,
    /// `textSearch:`
    Text,
}

/// Returns the service with a name.
pub fn service(name: &NamedNode) -> Option<QleverService> {
    match name.as_str() {
        PATH_SEARCH => Some(QleverService::Paths),
        SPATIAL_SEARCH => Some(QleverService::Spatial),
        TEXT_SEARCH => Some(QleverService::Text),
        _ => None,
    }
}

/// Returns the error for a service of QLever that is not evaluated; `None` for any other service.
pub fn refused(name: &NamedNode) -> Option<SparqlError> {
    let iri = name.as_str();
    let error = |message: String, help: &str| {
        Some(SparqlError::new(SparqlErrorClass::Unsupported, SparqlCode::UnknownService, message).help(help))
    };
    if service(name).is_some() {
        return error(format!("the service {name} is of QLever's dialect"), "select the dialect qlever or auto");
    }
    if let Some(view) = iri.strip_prefix(MATERIALIZED_VIEW) {
        let help = "write the query of the view as a named subquery: WITH %view AS { ... }";
        return error(format!("a snapshot has no materialized view '{view}'"), help);
    }
    if iri.starts_with(QL) && iri.contains("cached-result") {
        let help = "write the query of the cached result as a named subquery: WITH %result AS { ... }";
        return error(format!("a snapshot has no cached results with names, such as {name}"), help);
    }
    if iri.starts_with(EXTERNAL_VALUES) {
        return error(format!("{name} gets its values from a client of QLever"), "write the values with VALUES");
    }
    None
}

/// Returns whether a service is QLever's endpoint of Wikidata or of OpenStreetMap.
pub fn is_qlever(name: &NamedNode) -> bool {
    let iri = name.as_str();
    let Some(address) = iri.strip_prefix("https://").or_else(|| iri.strip_prefix("http://")) else { return false };
    let data = HOSTS.iter().find_map(|host| address.strip_prefix(host));
    let of_osm =
        |data: &str| data.strip_prefix("osm-").is_some_and(|part| part.bytes().all(|b| b.is_ascii_lowercase()));
    data.is_some_and(|data| data == "wikidata" || of_osm(data))
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
