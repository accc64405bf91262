//! Tests the SPARQL dialect on public query sets: which queries parse, and that standard queries have the same algebra
//! as with spargebra's own parser. Skipped if the shared data is missing.

use std::fs::File;
use std::io::Read;

use crate::common::place::shared;
use crate::common::skip;
use flate2::read::GzDecoder;
use regex::Regex;
use serde_json::Value;
use spargebra::SparqlParser;
use terrapin::sparql::syntax::{Dialect, ParsedQuery, convert, parse};

/// Returns the lines of a gzipped file of JSON objects. If it is missing, prints a message and returns `None`.
fn lines(name: &str) -> Option<Vec<Value>> {
    let path = shared().join(name);
    let Ok(file) = File::open(&path) else {
        skip::skipped(skip::Need::Shared, format_args!("{} is not there", path.display()));
        return None;
    };
    let mut text = String::new();
    GzDecoder::new(file).read_to_string(&mut text).expect("a gzip file");
    Some(text.lines().map(|line| serde_json::from_str(line).expect("a JSON object a line")).collect())
}

/// Returns the algebra of our parser in the form of the other parser.
fn ours(parsed: ParsedQuery) -> String {
    canonical(&convert::query(parsed.query))
}

/// Returns the algebra with helper names numbered in order of appearance.
fn canonical(query: &spargebra::Query) -> String {
    let helper = Regex::new(r"(\?|_:)(\.[0-9]+|[0-9a-f]{20,32})\b").expect("a pattern");
    let mut names: Vec<String> = Vec::new();
    let numbered = |found: &regex::Captures<'_>| {
        let name = found[0].to_owned();
        let index = names.iter().position(|n| *n == name).unwrap_or_else(|| {
            names.push(name.clone());
            names.len() - 1
        });
        format!("{}h{index}", &found[1])
    };
    helper.replace_all(&query.to_sse(), numbered).into_owned()
}

/// Returns the other parser with the prefixes of WDQS.
fn reference() -> SparqlParser {
    let mut parser = SparqlParser::new();
    for (prefix, iri) in [
        ("wd", "http://www.wikidata.org/entity/"),
        ("wdt", "http://www.wikidata.org/prop/direct/"),
        ("wikibase", "http://wikiba.se/ontology#"),
        ("bd", "http://www.bigdata.com/rdf#"),
        ("p", "http://www.wikidata.org/prop/"),
        ("ps", "http://www.wikidata.org/prop/statement/"),
        ("pq", "http://www.wikidata.org/prop/qualifier/"),
        ("psv", "http://www.wikidata.org/prop/statement/value/"),
        ("rdfs", "http://www.w3.org/2000/01/rdf-schema#"),
        ("schema", "http://schema.org/"),
        ("xsd", "http://www.w3.org/2001/XMLSchema#"),
    ] {
        parser = parser.with_prefix(prefix, iri).expect("an IRI");
    }
    parser
}

#[test]
fn instruct_to_sparql_parses() {
    let Some(queries) = lines("data/instruct-to-sparql/queries.jsonl.gz") else { return };
    let (mut parsed, mut same, mut compared) = (0, 0, 0);
    for line in &queries {
        let text = line["query"].as_str().expect("a query");
        match parse(text, Dialect::Wdqs) {
            Ok(query) => {
                parsed += 1;
                // If a query uses no extension and no part of it is moved, both parsers must give the same algebra.
                let moved = text.contains("hint:") || text.contains("wikibase:label");
                if query.extensions.is_empty()
                    && !moved
                    && let Ok(theirs) = reference().parse_query(text)
                {
                    compared += 1;
                    let (ours, theirs) = (ours(query), canonical(&theirs));
                    let equal = ours == theirs;
                    same += usize::from(equal);
                    if !equal {
                        println!("differs: {}\n{text}\n{ours}\n{theirs}", line["id"]);
                    }
                }
            }
            Err(error) => println!("not parsed: {}: {error}", line["id"]),
        }
    }
    println!("{parsed} of {} parsed, {same} of {compared} compared equal", queries.len());
    assert!(parsed * 1000 >= queries.len() * 995);
    assert_eq!(same, compared);
}

#[test]
fn standard_queries_have_the_reference_algebra() {
    let Some(vectors) = lines("conformance/sparql/vectors.jsonl.gz") else { return };
    for vector in &vectors {
        let text = vector["query"].as_str().expect("a query");
        let theirs = reference().parse_query(text);
        match parse(text, Dialect::Wdqs) {
            Ok(query) => match theirs {
                Ok(theirs) => assert_eq!(ours(query), canonical(&theirs), "{}", vector["id"]),
                Err(why) => println!("only ours parses {} ({:?}): {why}", vector["id"], query.extensions),
            },
            Err(error) => assert!(theirs.is_err(), "{}: {error}", vector["id"]),
        }
    }
}
