//! The vocabulary of Wikidata's RDF.

use oxrdf::NamedNode;

pub(super) const WD: &str = "http://www.wikidata.org/entity/";
pub(super) const DATA: &str = "https://www.wikidata.org/wiki/Special:EntityData/";
pub(super) const STATEMENT: &str = "http://www.wikidata.org/entity/statement/";
pub(super) const REFERENCE: &str = "http://www.wikidata.org/reference/";
pub(super) const VALUE: &str = "http://www.wikidata.org/value/";
pub(super) const P: &str = "http://www.wikidata.org/prop/";
pub(super) const WDT: &str = "http://www.wikidata.org/prop/direct/";
pub(super) const WDTN: &str = "http://www.wikidata.org/prop/direct-normalized/";
pub(super) const PS: &str = "http://www.wikidata.org/prop/statement/";
pub(super) const PSV: &str = "http://www.wikidata.org/prop/statement/value/";
pub(super) const PSN: &str = "http://www.wikidata.org/prop/statement/value-normalized/";
pub(super) const PQ: &str = "http://www.wikidata.org/prop/qualifier/";
pub(super) const PQV: &str = "http://www.wikidata.org/prop/qualifier/value/";
pub(super) const PQN: &str = "http://www.wikidata.org/prop/qualifier/value-normalized/";
pub(super) const PR: &str = "http://www.wikidata.org/prop/reference/";
pub(super) const PRV: &str = "http://www.wikidata.org/prop/reference/value/";
pub(super) const PRN: &str = "http://www.wikidata.org/prop/reference/value-normalized/";
pub(super) const WDNO: &str = "http://www.wikidata.org/prop/novalue/";
pub(super) const GENID: &str = "http://www.wikidata.org/.well-known/genid/";
pub(super) const WIKIBASE: &str = "http://wikiba.se/ontology#";
pub(super) const ONTOLEX: &str = "http://www.w3.org/ns/lemon/ontolex#";
pub(super) const SCHEMA: &str = "http://schema.org/";
pub(super) const SKOS: &str = "http://www.w3.org/2004/02/skos/core#";
pub(super) const OWL: &str = "http://www.w3.org/2002/07/owl#";
pub(super) const DCT: &str = "http://purl.org/dc/terms/";
pub(super) const WAS_DERIVED_FROM: &str = "http://www.w3.org/ns/prov#wasDerivedFrom";
pub(super) const LICENSE: &str = "http://creativecommons.org/ns#license";
pub(super) const CC0: &str = "http://creativecommons.org/publicdomain/zero/1.0/";
pub(super) const WKT: &str = "http://www.opengis.net/ont/geosparql#wktLiteral";
pub(super) const FILE: &str = "http://commons.wikimedia.org/wiki/Special:FilePath/";
pub(super) const COMMONS_DATA: &str = "http://commons.wikimedia.org/data/main/";

/// The version of the RDF format.
pub(super) const VERSION: &str = "1.0.0";

/// Returns a name in a namespace. Neither part is checked.
pub(super) fn name(space: &str, local: &str) -> NamedNode {
    let mut iri = String::with_capacity(space.len() + local.len());
    iri.push_str(space);
    iri.push_str(local);
    NamedNode::new_unchecked(iri)
}

/// A data type of properties, and its form in RDF.
pub(super) struct DataType {
    /// Name in JSON.
    pub(super) json: &'static str,
    /// Name in `wikibase:propertyType`.
    pub(super) rdf: &'static str,
    /// Whether its values are objects (IRIs); otherwise they are literals.
    pub(super) objects: bool,
    /// Whether values can be normalised: `Some(true)` to objects, `Some(false)` to literals.
    pub(super) normalized: Option<bool>,
}

const fn data_type(json: &'static str, rdf: &'static str, objects: bool, normalized: Option<bool>) -> DataType {
    DataType { json, rdf, objects, normalized }
}

/// All data types.
pub(super) const DATA_TYPES: &[DataType] = &[
    data_type("commonsMedia", "CommonsMedia", true, None),
    data_type("entity-schema", "EntitySchema", true, None),
    data_type("external-id", "ExternalId", false, Some(true)),
    data_type("geo-shape", "GeoShape", true, None),
    data_type("globe-coordinate", "GlobeCoordinate", false, None),
    data_type("math", "Math", false, None),
    data_type("monolingualtext", "Monolingualtext", false, None),
    data_type("musical-notation", "MusicalNotation", false, None),
    data_type("quantity", "Quantity", false, Some(false)),
    data_type("string", "String", false, None),
    data_type("tabular-data", "TabularData", true, None),
    data_type("time", "Time", false, None),
    data_type("url", "Url", true, None),
    data_type("wikibase-form", "WikibaseForm", false, None),
    data_type("wikibase-item", "WikibaseItem", true, None),
    data_type("wikibase-lexeme", "WikibaseLexeme", false, None),
    data_type("wikibase-property", "WikibaseProperty", true, None),
    data_type("wikibase-sense", "WikibaseSense", false, None),
];
