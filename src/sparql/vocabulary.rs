//! The IRIs that mean something to the dialect.

/// `wikibase:label`, the label service.
pub(crate) const LABEL_SERVICE: &str = "http://wikiba.se/ontology#label";
/// The subject of services' parameters.
pub(crate) const SERVICE_PARAM: &str = "http://www.bigdata.com/rdf#serviceParam";
/// Wikibase's namespace.
pub(crate) const WIKIBASE: &str = "http://wikiba.se/ontology#";
/// The namespace of bd:sample and bd:slice.
pub(crate) const BD: &str = "http://www.bigdata.com/rdf#";
/// The namespace of graph analytics.
pub(crate) const GAS: &str = "http://www.bigdata.com/rdf/gas#";
/// The namespace of the parameters of MediaWiki's API.
pub(crate) const MWAPI: &str = "https://www.mediawiki.org/ontology#API/";
/// The start of the names of tables that a query makes before it runs; their number follows.
pub(crate) const TABLE: &str = "urn:terrapin:table:";
