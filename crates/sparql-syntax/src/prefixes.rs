//! Predeclared prefixes: those of the Wikidata Query Service, those that Instruct-to-SPARQL prepends to its queries,
//! those of osm2rdf and of QLever's documentation, and `terrapin:`. Declarations in a query take precedence.

use terrapin_diagnostic::TextEdit;

use super::dialect::Dialect;
use crate::error::SparqlError;

/// Prefixes and their IRIs, sorted by prefix.
const KNOWN: [(&str, &str); 81] = [
    ("bd", "http://www.bigdata.com/rdf#"),
    ("bds", "http://www.bigdata.com/rdf/search#"),
    ("bif", "http://www.openlinksw.com/schemas/bif#"),
    ("cc", "http://creativecommons.org/ns#"),
    ("dbc", "http://dbpedia.org/resource/Category:"),
    ("dbo", "http://dbpedia.org/ontology/"),
    ("dc", "http://purl.org/dc/elements/1.1/"),
    ("dct", "http://purl.org/dc/terms/"),
    ("dcterms", "http://purl.org/dc/terms/"),
    ("fn", "http://www.w3.org/2005/xpath-functions#"),
    ("foaf", "http://xmlns.com/foaf/0.1/"),
    ("gas", "http://www.bigdata.com/rdf/gas#"),
    ("geo", "http://www.opengis.net/ont/geosparql#"),
    ("geof", "http://www.opengis.net/def/geosparql/function/"),
    ("geom", "http://geovocab.org/geometry#"),
    ("hint", "http://www.bigdata.com/queryHints#"),
    ("lgdo", "http://linkedgeodata.org/ontology/"),
    ("math", "http://www.w3.org/2005/xpath-functions/math#"),
    ("mediawiki", "https://www.mediawiki.org/ontology#"),
    ("mwapi", "https://www.mediawiki.org/ontology#API/"),
    ("nobel", "http://data.nobelprize.org/terms/"),
    ("ogc", "http://www.opengis.net/rdf#"),
    ("ontolex", "http://www.w3.org/ns/lemon/ontolex#"),
    ("osm", "https://www.openstreetmap.org/"),
    ("osm2rdf", "https://osm2rdf.cs.uni-freiburg.de/rdf#"),
    ("osm2rdfgeom", "https://osm2rdf.cs.uni-freiburg.de/rdf/geom#"),
    ("osm2rdfkey", "https://osm2rdf.cs.uni-freiburg.de/rdf/key#"),
    ("osm2rdfmember", "https://osm2rdf.cs.uni-freiburg.de/rdf/member#"),
    ("osm2rdfmeta", "https://osm2rdf.cs.uni-freiburg.de/rdf/meta#"),
    ("osmchangeset", "https://www.openstreetmap.org/changeset/"),
    ("osmkey", "https://www.openstreetmap.org/wiki/Key:"),
    ("osmmeta", "https://www.openstreetmap.org/meta/"),
    ("osmnode", "https://www.openstreetmap.org/node/"),
    ("osmrel", "https://www.openstreetmap.org/relation/"),
    ("osmway", "https://www.openstreetmap.org/way/"),
    ("owl", "http://www.w3.org/2002/07/owl#"),
    ("p", "http://www.wikidata.org/prop/"),
    ("pathSearch", "https://qlever.cs.uni-freiburg.de/pathSearch/"),
    ("pq", "http://www.wikidata.org/prop/qualifier/"),
    ("pqn", "http://www.wikidata.org/prop/qualifier/value-normalized/"),
    ("pqv", "http://www.wikidata.org/prop/qualifier/value/"),
    ("pr", "http://www.wikidata.org/prop/reference/"),
    ("prn", "http://www.wikidata.org/prop/reference/value-normalized/"),
    ("prov", "http://www.w3.org/ns/prov#"),
    ("prv", "http://www.wikidata.org/prop/reference/value/"),
    ("ps", "http://www.wikidata.org/prop/statement/"),
    ("psn", "http://www.wikidata.org/prop/statement/value-normalized/"),
    ("psv", "http://www.wikidata.org/prop/statement/value/"),
    ("ql", "http://qlever.cs.uni-freiburg.de/builtin-functions/"),
    ("rdf", "http://www.w3.org/1999/02/22-rdf-syntax-ns#"),
    ("rdfs", "http://www.w3.org/2000/01/rdf-schema#"),
    ("schema", "http://schema.org/"),
    ("sdc", "https://commons.wikimedia.org/entity/"),
    ("sdcdata", "https://commons.wikimedia.org/wiki/Special:EntityData/"),
    ("sdcs", "https://commons.wikimedia.org/entity/statement/"),
    ("sdcv", "https://commons.wikimedia.org/value/"),
    ("sesame", "http://www.openrdf.org/schema/sesame#"),
    ("sf", "http://www.opengis.net/ont/sf#"),
    ("skos", "http://www.w3.org/2004/02/skos/core#"),
    ("spatialSearch", "https://qlever.cs.uni-freiburg.de/spatialSearch/"),
    ("terrapin", "urn:terrapin:service:"),
    ("textSearch", "https://qlever.cs.uni-freiburg.de/textSearch/"),
    ("unit", "http://qudt.org/vocab/unit/"),
    ("uom", "http://www.opengis.net/def/uom/OGC/1.0/"),
    ("view", "https://qlever.cs.uni-freiburg.de/materializedView/"),
    ("vrank", "http://purl.org/voc/vrank#"),
    ("wd", "http://www.wikidata.org/entity/"),
    ("wdata", "http://www.wikidata.org/wiki/Special:EntityData/"),
    ("wdno", "http://www.wikidata.org/prop/novalue/"),
    ("wdref", "http://www.wikidata.org/reference/"),
    ("wds", "http://www.wikidata.org/entity/statement/"),
    ("wdsubgraph", "https://query.wikidata.org/subgraph/"),
    ("wdt", "http://www.wikidata.org/prop/direct/"),
    ("wdtn", "http://www.wikidata.org/prop/direct-normalized/"),
    ("wdv", "http://www.wikidata.org/value/"),
    ("wikibase", "http://wikiba.se/ontology#"),
    ("wikibaseβ", "http://wikiba.se/ontology-beta#"),
    ("wp", "http://vocabularies.wikipathways.org/wp#"),
    ("xml", "http://www.w3.org/XML/1998/namespace"),
    ("xs", "http://www.w3.org/2001/XMLSchema#"),
    ("xsd", "http://www.w3.org/2001/XMLSchema#"),
];

/// Returns the IRI of a predeclared prefix.
pub(crate) fn known(prefix: &str) -> Option<&'static str> {
    let at = KNOWN.binary_search_by(|(name, _)| name.cmp(&prefix)).ok()?;
    KNOWN.get(at).map(|(_, iri)| *iri)
}

/// Iterates over all predeclared prefixes with their IRIs.
pub(crate) fn all() -> impl Iterator<Item = (&'static str, &'static str)> {
    KNOWN.iter().copied()
}

/// Sophox's prefixes for tags and metadata of elements, and their equivalents here.
const OTHERS: [(&str, &str); 2] = [("osmt", "osmkey"), ("osmm", "osmmeta")];

/// Adds the advice to the error for a prefix at byte `start` that is not declared: a predeclared prefix, or a
/// declaration. The standard predeclares no prefix.
pub(crate) fn advised(error: SparqlError, prefix: &str, start: usize, dialect: Dialect) -> SparqlError {
    match suggest(prefix).filter(|_| dialect != Dialect::Standard) {
        Some(meant) => {
            let edit = TextEdit { start, end: start + prefix.len(), text: meant.to_owned() };
            error.help(format!("did you mean '{meant}:'?")).edit(edit)
        }
        None => {
            let iri = known(prefix).unwrap_or("http://...");
            error.help(format!("declare it in front of the query: PREFIX {prefix}: <{iri}>"))
        }
    }
}

/// Suggests a predeclared prefix for a misspelled one.
fn suggest(prefix: &str) -> Option<&'static str> {
    let lower = prefix.to_lowercase();
    let lower = OTHERS.iter().find(|(other, _)| *other == lower).map_or(&*lower, |(_, here)| here);
    KNOWN.iter().find(|(name, _)| *name == lower).map(|(name, _)| *name)
}

/// Shortens an IRI to a prefixed name if a predeclared prefix matches and the rest needs no escapes.
pub fn shorten(iri: &str) -> String {
    let plain =
        |rest: &str| !rest.is_empty() && rest.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'-');
    let known = KNOWN.iter().filter_map(|(prefix, base)| Some((prefix, iri.strip_prefix(base)?)));
    let shortest = known.filter(|(_, rest)| plain(rest)).min_by_key(|(prefix, rest)| (rest.len(), prefix.len()));
    match shortest {
        Some((prefix, rest)) => format!("{prefix}:{rest}"),
        None => format!("<{iri}>"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_sorted() {
        assert!(KNOWN.windows(2).all(|w| w[0].0 < w[1].0));
        assert_eq!(known("wdt"), Some("http://www.wikidata.org/prop/direct/"));
        assert_eq!(known("nope"), None);
        assert_eq!(suggest("WDT"), Some("wdt"));
        assert!(OTHERS.iter().all(|(other, here)| known(other).is_none() && suggest(other) == Some(here)));
    }
}
