//! The identifiers of a query, and those that the snapshot lacks, by the same tests as the warnings.

use super::{QueryIdentifiers, sparql};
use terrapin_osm::Osm;
use terrapin_overpass::lint;
use terrapin_overpass::syntax::Script;
use terrapin_sparql::{Dialect, Environment};

impl QueryIdentifiers {
    /// Returns the keys and tags of an OverpassQL query. With an unknown key, its tags are unknown as well.
    pub fn of_overpass(osm: &Osm, script: &Script) -> QueryIdentifiers {
        let all = lint::identifiers(script);
        let is_unknown = |(key, value): &&lint::TagIdentifier| lint::tag_absence(osm, key, value.as_deref()).is_some();
        let name = |(key, value): &lint::TagIdentifier| match value {
            Some(value) => format!("{key}={value}"),
            None => key.clone(),
        };
        QueryIdentifiers { count: all.len(), unknown: all.iter().filter(is_unknown).map(name).collect() }
    }

    /// Returns the IRIs of a SPARQL query's patterns: items, properties, classes, graphs, services that
    /// no snapshot answers for, and the tags of elements.
    /// `None` if it cannot be parsed.
    pub fn of_sparql(environment: &Environment, query: &str, dialect: Dialect) -> Option<QueryIdentifiers> {
        sparql::identifiers(environment, query, dialect)
    }
}
