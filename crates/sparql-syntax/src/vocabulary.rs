//! IRIs with a special meaning in the dialect.

/// `wikibase:label`, the label service.
pub const LABEL_SERVICE: &str = "http://wikiba.se/ontology#label";
/// The subject of service parameters.
pub const SERVICE_PARAM: &str = "http://www.bigdata.com/rdf#serviceParam";
/// Wikibase's namespace.
pub const WIKIBASE: &str = "http://wikiba.se/ontology#";
/// The namespace of bd:sample and bd:slice.
pub const BD: &str = "http://www.bigdata.com/rdf#";
/// The namespace of graph analytics.
pub const GAS: &str = "http://www.bigdata.com/rdf/gas#";
/// The namespace of the parameters of MediaWiki's API.
pub const MWAPI: &str = "https://www.mediawiki.org/ontology#API/";
/// The namespace of Terrapin's own services and their parameters.
pub const TERRAPIN: &str = "urn:terrapin:service:";
/// The namespace of QLever's functions and special predicates.
pub const QL: &str = "http://qlever.cs.uni-freiburg.de/builtin-functions/";
/// QLever's search for paths, and the namespace of its parameters.
pub const PATH_SEARCH: &str = "https://qlever.cs.uni-freiburg.de/pathSearch/";
/// QLever's spatial join, and the namespace of its parameters.
pub const SPATIAL_SEARCH: &str = "https://qlever.cs.uni-freiburg.de/spatialSearch/";
/// QLever's search for texts, and the namespace of its parameters.
pub const TEXT_SEARCH: &str = "https://qlever.cs.uni-freiburg.de/textSearch/";
/// The namespace of QLever's materialized views.
pub const MATERIALIZED_VIEW: &str = "https://qlever.cs.uni-freiburg.de/materializedView/";
/// The namespace of QLever's tables from outside.
pub const EXTERNAL_VALUES: &str = "https://qlever.cs.uni-freiburg.de/external-values";
/// The prefix of a predicate for distances, such as `max-distance-in-meters:500`.
pub const MAX_DISTANCE: &str = "max-distance-in-meters:";
/// The prefix of a predicate for nearest neighbours, such as `nearest-neighbors:5:500`.
pub const NEAREST_NEIGHBORS: &str = "nearest-neighbors:";
