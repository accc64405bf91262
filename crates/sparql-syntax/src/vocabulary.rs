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
