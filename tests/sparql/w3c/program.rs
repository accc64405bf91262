//! Runs a test's query with the program, on a snapshot of its data, in each format of results.

use std::path::{Path, PathBuf};

use oxrdf::{Graph, NamedNode, Term, TermRef, Triple, Variable};
use oxrdfio::{RdfFormat, RdfParser, RdfSerializer};
use serde_json::Value;
use sparesults::{QueryResultsFormat, QueryResultsParser, ReaderQueryResultsParserOutput};
use terrapin::load::Quiet;
use terrapin::load::{self, Entities, LoadOptions};

use super::answer::{ConformanceAnswer, Solution};
use super::manifest::{W3cTest, W3cTestKind, graph, quads, url};
use crate::common::terrapin;

/// How a test was passed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pass {
    /// The terms of the answer are those of the suite.
    ByTerm,
    /// A number or date of the answer has another notation than that of the suite.
    ByValue,
}

/// The answer of a command.
struct CommandAnswer {
    bytes: Vec<u8>,
    /// The class and code of the first error.
    error: Option<(String, String, String)>,
}

/// Returns an error with the reason if the program does not pass a test in a dialect. `lexical_forms`: whether the
/// snapshot keeps them.
pub fn passes(test: &W3cTest, dialect: &str, lexical_forms: bool) -> Result<Pass, String> {
    let folder = tempfile::tempdir().map_err(|e| e.to_string())?;
    let snapshot = snapshot(test, folder.path(), lexical_forms)?;
    let ask = |format: &str| ask(test, &snapshot, dialect, format);
    let first = ask("json")?;
    let syntax = first.error.as_ref().filter(|(class, ..)| class == "parse error");
    match test.kind {
        W3cTestKind::PositiveSyntax => syntax.map_or(Ok(Pass::ByTerm), |error| Err(format!("{error:?}"))),
        W3cTestKind::NegativeSyntax => syntax.map(|_| Pass::ByTerm).ok_or("is accepted".to_owned()),
        // Other endpoints are refused by design, unless SILENT allows an empty result: a snapshot answers from its own
        // data.
        W3cTestKind::Federated if first.error.as_ref().is_some_and(|(_, code, _)| code == "live-service") => {
            Ok(Pass::ByTerm)
        }
        W3cTestKind::Csv => {
            let file = test.result.as_deref().ok_or("has no result")?;
            csv_equal(&ask("csv")?.bytes, &std::fs::read(file).map_err(|e| e.to_string())?)
        }
        W3cTestKind::Evaluation | W3cTestKind::Federated => {
            if let Some(error) = first.error {
                return Err(format!("{error:?}"));
            }
            evaluated(test, &first.bytes, ask)
        }
    }
}

fn evaluated(test: &W3cTest, json: &[u8], ask: impl Fn(&str) -> Result<CommandAnswer, String>) -> Result<Pass, String> {
    let file = test.result.as_deref().ok_or("has no result")?;
    let is_graph = !json.starts_with(b"{");
    let expected = ConformanceAnswer::read(file, is_graph).ok_or("its result cannot be read")?;
    if is_graph {
        let mut passes = Vec::new();
        for (name, format) in [("ttl", RdfFormat::Turtle), ("nt", RdfFormat::NTriples), ("rdf", RdfFormat::RdfXml)] {
            // RDF/XML has no form of some characters, and the program says so.
            if name == "rdf" && is_outside_xml(&expected) {
                continue;
            }
            let bytes = ask(name)?.bytes;
            let triples = RdfParser::from_format(format).for_slice(&bytes).map(|quad| quad.map(Triple::from));
            let triples: Result<Graph, _> = triples.collect();
            let found = ConformanceAnswer::Graph(Box::new(triples.map_err(|e| format!("{name}: {e}"))?));
            passes.push(found.compare(&expected, test.lax).map_err(|e| format!("{name}: {e}"))?);
        }
        return Ok(passes.into_iter().find(|p| *p == Pass::ByValue).unwrap_or(Pass::ByTerm));
    }
    let found = results(QueryResultsFormat::Json, json)?;
    let pass = found.compare(&expected, test.lax)?;
    for (name, format) in [("xml", QueryResultsFormat::Xml), ("tsv", QueryResultsFormat::Tsv)] {
        // SPARQL 1.1 Query Results CSV and TSV Formats: they have no form of the answer of an ASK.
        if format == QueryResultsFormat::Tsv && matches!(found, ConformanceAnswer::Boolean(_)) {
            continue;
        }
        let other = results(format, &ask(name)?.bytes).map_err(|e| format!("{name}: {e}"))?;
        if other.compare(&found, false) != Ok(Pass::ByTerm) {
            return Err(format!("{name} has {other:?}, and JSON has {found:?}"));
        }
    }
    Ok(pass)
}

/// Returns whether a graph has a literal with characters that XML 1.0 cannot represent (section 2.2).
fn is_outside_xml(answer: &ConformanceAnswer) -> bool {
    let ConformanceAnswer::Graph(graph) = answer else { return false };
    let outside = |c| matches!(c, '\0'..='\u{8}' | '\u{b}' | '\u{c}' | '\u{e}'..='\u{1f}' | '\u{fffe}' | '\u{ffff}');
    graph.iter().any(|triple| matches!(triple.object, TermRef::Literal(literal) if literal.value().contains(outside)))
}

/// Parses solutions or a truth value.
pub fn results(format: QueryResultsFormat, bytes: &[u8]) -> Result<ConformanceAnswer, String> {
    let parsed = QueryResultsParser::from_format(format).for_reader(bytes).map_err(|e| e.to_string())?;
    match parsed {
        ReaderQueryResultsParserOutput::Boolean(value) => Ok(ConformanceAnswer::Boolean(value)),
        ReaderQueryResultsParserOutput::Solutions(solutions) => {
            let owned = |(v, t): (&Variable, &Term)| (v.clone(), t.clone());
            let all: Result<Vec<Solution>, _> = solutions.map(|s| s.map(|s| s.iter().map(owned).collect())).collect();
            Ok(ConformanceAnswer::Solutions { rows: all.map_err(|e| e.to_string())?, is_ordered: false })
        }
    }
}

/// Compares two CSV files: the columns by their names, the rows in any order. SPARQL defines neither for `SELECT *`
/// without ORDER BY. Blank nodes may have other labels.
fn csv_equal(found: &[u8], expected: &[u8]) -> Result<Pass, String> {
    let (found, expected) = (csv_rows(found)?, csv_rows(expected)?);
    if found == expected { Ok(Pass::ByTerm) } else { Err(format!("answers {found:?}, not {expected:?}")) }
}

/// Returns the rows of a CSV file, sorted, each with the names and values of its cells, sorted.
fn csv_rows(bytes: &[u8]) -> Result<Vec<Vec<(String, String)>>, String> {
    let mut reader = csv::Reader::from_reader(bytes);
    let header = reader.headers().map_err(|e| e.to_string())?.clone();
    let cell = |(name, value): (&str, &str)| {
        (name.to_owned(), if value.starts_with("_:") { "_:".to_owned() } else { value.to_owned() })
    };
    let mut rows = Vec::new();
    for record in reader.records() {
        let record = record.map_err(|e| e.to_string())?;
        let mut row: Vec<(String, String)> = header.iter().zip(&record).map(cell).collect();
        row.sort();
        rows.push(row);
    }
    rows.sort();
    Ok(rows)
}

fn ask(test: &W3cTest, snapshot: &Path, dialect: &str, format: &str) -> Result<CommandAnswer, String> {
    // Queries of the suite may be relative to the location of their file.
    let text = format!("BASE <{}>\n{}", url(&test.file), test.text);
    let mut command = terrapin();
    command.args(["query", "--lang", "sparql", "--json", "--dialect", dialect, "--format", format]);
    let output = command.arg(snapshot).args(["-f", "-"]).write_stdin(text).output().map_err(|e| e.to_string())?;
    let error = match output.status.code() {
        Some(0) => None,
        Some(1) => {
            let value: Value = serde_json::from_slice(&output.stderr).map_err(|e| e.to_string())?;
            let first = &value["error"]["diagnostics"][0];
            let text = |key: &str| first[key].as_str().unwrap_or_default().to_owned();
            Some((text("class"), text("code"), text("message")))
        }
        other => return Err(format!("status {other:?}: {}", String::from_utf8_lossy(&output.stderr))),
    };
    Ok(CommandAnswer { bytes: output.stdout, error })
}

/// Makes a snapshot of a test's data.
fn snapshot(test: &W3cTest, folder: &Path, lexical_forms: bool) -> Result<PathBuf, String> {
    // All data becomes N-Quads, because the loaders do not resolve relative IRIs and do not read TriG.
    let mut rdf: Vec<PathBuf> = Vec::new();
    for (number, path) in test.data.iter().enumerate() {
        let out = folder.join(format!("data{number}.nq"));
        let mut serializer = RdfSerializer::from_format(RdfFormat::NQuads).for_writer(Vec::new());
        for quad in &quads(path) {
            serializer.serialize_quad(quad).map_err(|e| e.to_string())?;
        }
        std::fs::write(&out, serializer.finish().map_err(|e| e.to_string())?).map_err(|e| e.to_string())?;
        rdf.push(out);
    }
    for (number, path) in test.graphs.iter().enumerate() {
        let out = folder.join(format!("{number}.nq"));
        let name = NamedNode::new_unchecked(url(path));
        let mut serializer = RdfSerializer::from_format(RdfFormat::NQuads).for_writer(Vec::new());
        for triple in &graph(path) {
            serializer.serialize_quad(triple.in_graph(&name)).map_err(|e| e.to_string())?;
        }
        std::fs::write(&out, serializer.finish().map_err(|e| e.to_string())?).map_err(|e| e.to_string())?;
        rdf.push(out);
    }
    if rdf.is_empty() {
        let out = folder.join("none.nt");
        std::fs::write(&out, "").map_err(|e| e.to_string())?;
        rdf.push(out);
    }
    let out = folder.join("test.terrapin");
    let options = LoadOptions { rdf, memory: 1 << 26, lexical_forms, ..LoadOptions::new(out.clone()) };
    // Some data files of the suite are intentionally empty.
    let empty = Entities { allow_empty: true, ..Entities::default() };
    load::load_entities(&options, &empty, &Quiet).map_err(|e| e.to_string())?;
    Ok(out)
}
