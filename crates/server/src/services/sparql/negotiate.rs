//! Selects the format of an answer by the request's `format` or `Accept` (RFC 9110, section 12.5.1), among the formats
//! for its kind.

use oxrdfio::RdfFormat;
use sparesults::QueryResultsFormat;

use crate::accept::AcceptHeader;
use terrapin_sparql::results::{GraphFormat, QLEVER_JSON};

/// A selected format with its content type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FormatChoice<F> {
    /// The format.
    pub format: F,
    /// Its content type.
    pub content_type: &'static str,
}

/// A format, its media types and short names, and its content type.
type Known<F> = (F, &'static [&'static str], &'static str);

const RESULTS: [Known<QueryResultsFormat>; 4] = [
    (
        QueryResultsFormat::Json,
        &["application/sparql-results+json", "application/json", "text/json", "json"],
        "application/sparql-results+json",
    ),
    (
        QueryResultsFormat::Xml,
        &["application/sparql-results+xml", "application/xml", "text/xml", "xml"],
        "application/sparql-results+xml",
    ),
    (QueryResultsFormat::Csv, &["text/csv", "csv"], "text/csv; charset=utf-8"),
    (QueryResultsFormat::Tsv, &["text/tab-separated-values", "tsv"], "text/tab-separated-values; charset=utf-8"),
];

const JSON_LD: RdfFormat = RdfFormat::JsonLd { profile: oxrdfio::JsonLdProfileSet::empty() };

/// The formats of graphs: first RDF, then tables.
const GRAPHS: [Known<GraphFormat>; 11] = [
    (
        GraphFormat::Rdf(RdfFormat::Turtle),
        &["text/turtle", "application/x-turtle", "ttl", "turtle"],
        "text/turtle; charset=utf-8",
    ),
    (GraphFormat::Rdf(RdfFormat::NTriples), &["application/n-triples", "nt", "ntriples"], "application/n-triples"),
    (
        GraphFormat::Rdf(RdfFormat::RdfXml),
        &["application/rdf+xml", "application/xml", "text/xml", "rdf", "xml"],
        "application/rdf+xml",
    ),
    (GraphFormat::Rdf(RdfFormat::NQuads), &["application/n-quads", "nq", "nquads"], "application/n-quads"),
    (GraphFormat::Rdf(RdfFormat::TriG), &["application/trig", "trig"], "application/trig"),
    (
        GraphFormat::Rdf(JSON_LD),
        &["application/ld+json", "application/json", "jsonld", "json-ld"],
        "application/ld+json",
    ),
    // Turtle is a subset of N3.
    (GraphFormat::Rdf(RdfFormat::Turtle), &["text/n3", "text/rdf+n3", "n3"], "text/n3; charset=utf-8"),
    (GraphFormat::Table(QueryResultsFormat::Json), RESULTS[0].1, RESULTS[0].2),
    (GraphFormat::Table(QueryResultsFormat::Xml), RESULTS[1].1, RESULTS[1].2),
    (GraphFormat::Table(QueryResultsFormat::Csv), RESULTS[2].1, RESULTS[2].2),
    (GraphFormat::Table(QueryResultsFormat::Tsv), RESULTS[3].1, RESULTS[3].2),
];

/// Returns the IRIs of all formats, for the service description.
pub fn result_formats() -> impl Iterator<Item = &'static str> {
    let rdf = [RdfFormat::Turtle, RdfFormat::NTriples, RdfFormat::RdfXml, RdfFormat::NQuads, RdfFormat::TriG, JSON_LD];
    RESULTS.iter().map(|(format, ..)| format.iri()).chain(rdf.into_iter().map(|format| format.iri()))
}

/// Returns whether a request selects QLever's JSON: by name, or by the media type if it prefers no other to it.
pub fn is_qlever(format: Option<&str>, accept: Option<&str>) -> bool {
    if let Some(format) = format.map(str::trim) {
        return ["qlever", QLEVER_JSON].iter().any(|name| format.eq_ignore_ascii_case(name));
    }
    let Some(accept) = accept.filter(|accept| accept.to_ascii_lowercase().contains(QLEVER_JSON)) else { return false };
    let accept = AcceptHeader::of(accept);
    let others = RESULTS.iter().flat_map(|(_, names, _)| names.iter()).filter(|name| name.contains('/'));
    let quality = accept.quality(QLEVER_JSON);
    quality > 0 && others.map(|name| accept.quality(name)).max().unwrap_or(0) <= quality
}

/// Returns the media types for answers to SELECT and ASK.
pub fn result_types() -> String {
    types(&RESULTS)
}

/// Returns the media types for answers to CONSTRUCT and DESCRIBE.
pub fn graph_types() -> String {
    types(&GRAPHS)
}

fn types<F>(known: &[Known<F>]) -> String {
    let types: Vec<&str> = known.iter().filter_map(|(_, names, _)| names.first().copied()).collect();
    types.join(", ")
}

/// Returns the format of an answer to SELECT or ASK: JSON if the client accepts any, `None` if no format is acceptable.
pub fn results(format: Option<&str>, accept: Option<&str>) -> Option<FormatChoice<QueryResultsFormat>> {
    choose(&RESULTS, format, accept)
}

/// Returns the format of an answer to CONSTRUCT or DESCRIBE: Turtle if the client accepts any, `None` if no format is
/// acceptable.
pub fn graph(format: Option<&str>, accept: Option<&str>) -> Option<FormatChoice<GraphFormat>> {
    choose(&GRAPHS, format, accept)
}

fn choose<F: Copy>(known: &[Known<F>], format: Option<&str>, accept: Option<&str>) -> Option<FormatChoice<F>> {
    let choice = |(format, _, content_type): &Known<F>| FormatChoice { format: *format, content_type };
    // A name that is not a format of this kind of answer is ignored, as in the Wikidata Query Service.
    let named = format.map(str::trim).and_then(|name| {
        known.iter().find(|(_, names, _)| names.iter().any(|n| n.eq_ignore_ascii_case(name))).map(choice)
    });
    if named.is_some() {
        return named;
    }
    let Some(accept) = accept.filter(|a| !a.trim().is_empty()) else { return known.first().map(choice) };
    let accept = AcceptHeader::of(accept);
    let mut best: Option<(u16, &Known<F>)> = None;
    for entry in known {
        // A range with a wildcard selects among the types that are sent, a name also among their other names.
        let by_name = entry.1.iter().filter(|n| n.contains('/')).map(|n| accept.quality_by_name(n));
        let quality = by_name.max().unwrap_or(0).max(accept.quality(entry.2));
        // The first of equally accepted formats is selected.
        if quality > best.map_or(0, |(q, _)| q) {
            best = Some((quality, entry));
        }
    }
    best.map(|(_, entry)| choice(entry))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn accepted(accept: &str) -> Option<&'static str> {
        results(None, Some(accept)).map(|c| c.content_type)
    }

    #[test]
    fn the_best_that_a_client_accepts() {
        assert_eq!(accepted("*/*"), Some("application/sparql-results+json"));
        assert_eq!(accepted(""), Some("application/sparql-results+json"));
        assert_eq!(accepted("text/csv"), Some("text/csv; charset=utf-8"));
        assert_eq!(accepted("text/csv;q=0.5, application/xml"), Some("application/sparql-results+xml"));
        assert_eq!(accepted("text/html, */*;q=0.1"), Some("application/sparql-results+json"));
        assert_eq!(
            accepted("application/*;q=0.1, application/sparql-results+json;q=0, application/json;q=0"),
            Some("application/sparql-results+xml")
        );
        assert_eq!(accepted("text/*"), Some("text/csv; charset=utf-8"));
        assert_eq!(accepted("text/json"), Some("application/sparql-results+json"));
        assert_eq!(accepted("application/sparql-results+json;q=0, */*"), Some("application/sparql-results+xml"));
        assert_eq!(accepted("image/png"), None);
    }

    #[test]
    fn the_json_of_qlever_must_be_named() {
        assert!(is_qlever(None, Some("application/qlever-results+json")));
        assert!(is_qlever(None, Some("application/qlever-results+json, application/sparql-results+json")));
        assert!(!is_qlever(None, Some("application/qlever-results+json;q=0.5, application/sparql-results+json")));
        assert!(!is_qlever(None, Some("*/*")) && !is_qlever(Some("csv"), Some(QLEVER_JSON)));
        assert!(is_qlever(Some("qlever"), Some("text/csv")));
    }

    #[test]
    fn a_named_format_goes_first() {
        assert_eq!(results(Some("tsv"), Some("text/csv")).map(|c| c.format), Some(QueryResultsFormat::Tsv));
        let graph = |format, accept| graph(format, accept).map(|c| c.content_type);
        assert_eq!(graph(Some("nt"), None), Some("application/n-triples"));
        assert_eq!(graph(None, None), Some("text/turtle; charset=utf-8"));
        assert_eq!(graph(Some("json-ld"), None), Some("application/ld+json"));
        assert_eq!(graph(Some("n3"), None), Some("text/n3; charset=utf-8"));
        // Names that are not formats of this kind of answer.
        assert_eq!(results(Some("pdf"), Some("text/csv")).map(|c| c.format), Some(QueryResultsFormat::Csv));
        assert_eq!(results(Some("ttl"), None).map(|c| c.format), Some(QueryResultsFormat::Json));
        // A graph as a table.
        assert_eq!(graph(Some("json"), None), Some("application/sparql-results+json"));
        assert_eq!(graph(None, Some("application/sparql-results+xml")), Some("application/sparql-results+xml"));
        assert_eq!(graph(None, Some("text/csv, text/turtle;q=0.5")), Some("text/csv; charset=utf-8"));
        assert_eq!(graph(None, Some("application/xml")), Some("application/rdf+xml"));
    }
}
