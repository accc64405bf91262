//! The IRIs that mean something to the dialect.

/// `wikibase:label`, the label service.
pub(crate) const LABEL_SERVICE: &str = "http://wikiba.se/ontology#label";
