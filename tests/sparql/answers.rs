//! Tests SPARQL answers over the triples of the shared data. Standard queries are compared with an independent
//! evaluator. Every query of the dialect must end in an answer or a documented error, and answers must not differ
//! between runs.
//!
//! By default a sample of the queries runs; TERRAPIN_ALL=1 runs all. Those that are compared take a minute, the others
//! half an hour.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read};
use std::sync::{Arc, LazyLock};
use std::time::{Duration, Instant};

use crate::common::place::shared;
use crate::common::skip;
use crate::common::wikidata;
use flate2::read::GzDecoder;
use oxrdf::{Term, Triple, Variable};
use serde_json::Value;
use sha2::{Digest, Sha256};
use terrapin::budget::Limits;
use terrapin::snapshot::Snapshot;
use terrapin::sparql::labelled::{BracketedName, SnapshotNames, label, unlabel};
use terrapin::sparql::{Environment, ResultSink, SparqlBounds, SparqlError, SparqlErrorClass, SparqlSettings, prepare};

fn lines(name: &str) -> Option<Vec<Value>> {
    sample(name, 40)
}

/// Returns one line in `one_in`, or all lines.
fn sample(name: &str, one_in: usize) -> Option<Vec<Value>> {
    let path = shared().join(name);
    let Ok(file) = File::open(&path) else {
        skip::skipped(skip::Need::Shared, format_args!("{} is not there (set TERRAPIN_SHARED)", path.display()));
        return None;
    };
    let mut text = String::new();
    GzDecoder::new(file).read_to_string(&mut text).expect("a gzip file");
    let lines = text.lines().map(|line| serde_json::from_str(line).expect("a JSON object a line"));
    Some(lines.enumerate().filter(|(n, _)| skip::all() || n % one_in == 7 % one_in).map(|(_, line)| line).collect())
}

fn environment() -> Option<Environment> {
    static SNAPSHOT: LazyLock<Option<Arc<Snapshot>>> = LazyLock::new(wikidata::snapshot);
    Environment::open(SNAPSHOT.as_ref()?).expect("it is whole")
}

/// An answer as lines: solutions with terms separated by tabs, triples, or `true` and `false`.
#[derive(Default)]
struct AnswerLines {
    variables: Vec<String>,
    lines: Vec<String>,
}

impl ResultSink for AnswerLines {
    fn variables(&mut self, variables: &[Variable]) -> io::Result<()> {
        self.variables = variables.iter().map(|v| v.as_str().to_owned()).collect();
        Ok(())
    }

    fn solution(&mut self, values: &[Option<Term>]) -> io::Result<()> {
        let cells: Vec<String> = values.iter().map(|v| v.as_ref().map(Term::to_string).unwrap_or_default()).collect();
        self.lines.push(cells.join("\t"));
        Ok(())
    }

    fn boolean(&mut self, value: bool) -> io::Result<()> {
        self.lines.push(value.to_string());
        Ok(())
    }

    fn triple(&mut self, triple: &Triple) -> io::Result<()> {
        self.lines.push(triple.to_string());
        Ok(())
    }
}

fn ask(environment: &Environment, text: &str, seconds: u64) -> Result<AnswerLines, SparqlError> {
    let limits = Limits {
        deadline: Some(Instant::now() + Duration::from_secs(seconds)),
        memory: Some(2 << 30),
        ..Limits::default()
    };
    let mut lines = AnswerLines::default();
    prepare(text, &SparqlSettings::default())?.run(
        environment,
        &SparqlBounds { limits, rows: Some(300_000) },
        &mut lines,
    )?;
    Ok(lines)
}

fn sha(lines: &[String]) -> String {
    Sha256::digest(lines.join("\n").as_bytes()).iter().map(|b| format!("{b:02x}")).collect()
}

/// Returns whether a query needs extensions that only WDQS accepts.
fn tolerated(text: &str) -> bool {
    prepare(text, &SparqlSettings::default()).is_ok_and(|prepared| !prepared.extensions().is_empty())
}

/// Returns whether there are solutions only because a path of length zero connects a term of the query with itself. By
/// the standard this holds even if the term is in no triple
/// (<https://www.w3.org/TR/sparql11-query/#defn_evalZeroOrOnePath>, tests `zero_or_more_set_start` and others of the
/// W3C). The reference has no solution in this case.
fn is_without_step(text: &str, vector: &Value, lines: &[String]) -> bool {
    let has_path = [")*", ")?", ">*", ">?"].iter().any(|path| text.contains(path));
    let Some(term) = lines.first().and_then(|line| line.rsplit('\t').next()) else { return false };
    let is_end = |line: &String| line.rsplit('\t').next() == Some(term);
    vector["count"] == 0 && has_path && term.starts_with('<') && text.contains(term) && lines.iter().all(is_end)
}

/// Returns the rows with the plus sign of decimals that have 21 digits or more before the point. The reference cannot
/// represent them (its decimals have 128 bits and 18 digits after the point) and leaves their texts unchanged.
fn with_plus_signs(lines: &[String]) -> Vec<String> {
    const DECIMAL: &str = "\"^^<http://www.w3.org/2001/XMLSchema#decimal>";
    let signed = |term: &str| {
        let digits = term.strip_prefix('"').and_then(|term| term.strip_suffix(DECIMAL));
        let digits = digits.filter(|digits| digits.bytes().take_while(u8::is_ascii_digit).count() > 20);
        digits.map_or_else(|| term.to_owned(), |digits| format!("\"+{digits}{DECIMAL}"))
    };
    let mut lines: Vec<String> =
        lines.iter().map(|line| line.split('\t').map(signed).collect::<Vec<_>>().join("\t")).collect();
    lines.sort();
    lines
}

#[test]
fn standard_queries_have_the_reference_answers() {
    let Some(vectors) = lines("conformance/sparql/vectors.jsonl.gz") else { return };
    let Some(environment) = environment() else { return };
    let (mut equal, mut wrong, mut stopped, mut slow) = (0, Vec::new(), 0, Vec::new());
    let (mut counted, mut unknown, mut tolerated_count, mut without_step, mut large) = (0, 0, 0, 0, 0);
    let (mut ours, mut theirs) = (0.0, 0.0);
    for vector in &vectors {
        let (id, text, form) = (&vector["id"], vector["query"].as_str().unwrap(), vector["form"].as_str().unwrap());
        let start = Instant::now();
        let answer = ask(&environment, text, 20);
        let ms = start.elapsed().as_secs_f64() * 1000.0;
        let reference = vector["ms"].as_f64().unwrap_or(0.0);
        if ms > reference * 1.5 + 5.0 {
            slow.push((ms, reference, id.to_string()));
        }
        (ours, theirs) = (ours + ms, theirs + reference);
        match (form, answer) {
            ("timeout" | "toobig", Err(error)) if error.class == SparqlErrorClass::Limit => stopped += 1,
            // The reference has no answer to compare with.
            ("timeout" | "toobig", Ok(_)) => unknown += 1,
            ("syntax", Err(error)) if error.class == SparqlErrorClass::Syntax => equal += 1,
            // Queries that the standard's grammar rejects and WDQS accepts have their extensions listed.
            ("syntax", Ok(_)) if tolerated(text) => tolerated_count += 1,
            ("ask", Ok(answer)) => {
                let expected = vector["value"].as_bool();
                match expected {
                    Some(value) if answer.lines != [value.to_string()] => wrong.push(format!("{id}: {value} expected")),
                    Some(_) => equal += 1,
                    None => wrong.push(format!("{id}: an ASK without a result: {vector}")),
                }
            }
            ("select", Ok(mut answer)) => {
                answer.lines.sort();
                let as_many = vector["count"].as_u64() == Some(answer.lines.len() as u64);
                let is_same = |lines: &[String]| vector["rows"].as_str() == Some(sha(lines).as_str());
                if as_many && is_same(&answer.lines) {
                    equal += 1;
                } else if as_many && is_same(&with_plus_signs(&answer.lines)) {
                    large += 1;
                } else if as_many && answer.lines.iter().any(|line| line.contains("_:")) {
                    // The reference assigned random labels to blank nodes while loading.
                    counted += 1;
                } else if is_without_step(text, vector, &answer.lines) {
                    without_step += 1;
                } else {
                    let got: Vec<&String> = answer.lines.iter().take(3).collect();
                    let body: Vec<&Value> = vector["body"].as_array().into_iter().flatten().take(3).collect();
                    wrong.push(format!("{id}: {} rows, not {}: {got:?} {body:?}", answer.lines.len(), vector["count"]));
                }
            }
            (_, Err(error)) => wrong.push(format!("{id}: {error}")),
            (form, Ok(_)) => wrong.push(format!("{id}: an answer instead of {form}")),
        }
    }
    slow.sort_by(|a, b| b.0.total_cmp(&a.0));
    for line in wrong.iter().take(40) {
        println!("{}", line.chars().take(500).collect::<String>());
    }
    for (ms, reference, id) in slow.iter().take(20) {
        println!("slow: {id}: {ms:.1} ms, the reference {reference:.1} ms");
    }
    println!(
        "{} vectors: {equal} equal, {counted} with blank nodes of equal count, {stopped} stopped by a limit as there, {unknown} answered where the reference was stopped, {tolerated_count} refused there and taken by WDQS, {without_step} paths without a step, {large} with decimals that the reference cannot read, {} wrong; {ours:.0} ms, the reference {theirs:.0} ms",
        vectors.len(),
        wrong.len()
    );
    assert!(wrong.is_empty());
}

#[test]
fn every_dialect_query_ends_in_an_answer_or_a_documented_error() {
    let Some(queries) = lines("data/instruct-to-sparql/queries.jsonl.gz") else { return };
    let Some(environment) = environment() else { return };
    let mut errors: BTreeMap<(&str, &str), Vec<String>> = BTreeMap::new();
    let (mut answered, mut filled) = (0, 0);
    for query in &queries {
        let text = query["query"].as_str().unwrap();
        let start = Instant::now();
        match ask(&environment, text, 20) {
            Ok(answer) => {
                answered += 1;
                filled += usize::from(!answer.lines.is_empty());
            }
            Err(error) => {
                errors
                    .entry((error.class.name(), error.code.name()))
                    .or_default()
                    .push(format!("{}: {error}", query["id"]));
            }
        }
        if start.elapsed() > Duration::from_secs(3) {
            println!("slow: {}: {:.1} s", query["id"], start.elapsed().as_secs_f64());
        }
    }
    println!("{} queries: {answered} answered, {filled} of them with rows", queries.len());
    for ((class, code), list) in &errors {
        println!("{class}, {code}: {}", list.len());
        for line in list.iter().take(12) {
            println!("    {}", line.chars().take(300).collect::<String>());
        }
    }
    assert!(
        errors
            .keys()
            .all(|(class, _)| [SparqlErrorClass::Syntax.name(), SparqlErrorClass::Unsupported.name()].contains(class))
    );
}

#[test]
fn labels_lead_back_to_identifiers() {
    let Some(environment) = environment() else { return };
    let Some(queries) = sample("data/instruct-to-sparql/queries.jsonl.gz", 4) else { return };
    let names = SnapshotNames { store: &environment.store, language: "en" };
    let (mut whole, mut back, mut doubtful, mut told) = (0_u32, 0_u32, 0_usize, 0_u32);
    for line in &queries {
        let query = line["query"].as_str().unwrap();
        let labelled = label(query, &environment.store, "en");
        // Skip queries with an identifier that has no label in the snapshot.
        if labelled.replaced == 0 || !labelled.kept.is_empty() {
            continue;
        }
        whole += 1;
        let unlabelled = unlabel(&labelled.text, &names);
        let ambiguous = unlabelled.names.iter().any(BracketedName::is_ambiguous);
        doubtful += usize::from(ambiguous);
        if unlabelled.text == query {
            back += 1;
            continue;
        }
        // A wrong choice is reported as ambiguous, with the right entity among the candidates.
        let ids: Vec<&str> = unlabelled.names.iter().flat_map(|n| &n.candidates).map(|c| c.id.as_str()).collect();
        let lost = unlabelled.names.iter().filter_map(|name| name.chosen()).find(|c| !query.contains(&c.id));
        told += u32::from(ambiguous);
        println!("{}: {:?} of {ids:?}", line["id"], lost.map(|c| &c.id));
    }
    let share = 100.0 * f64::from(back) / f64::from(whole.max(1));
    println!("{whole} of {} queries have only labels; {back} ({share:.1} %) come back as they were", queries.len());
    println!("{doubtful} have ambiguous names; {told} of the {} others are among them", whole - back);
    assert!(whole > 0 && share >= 95.0, "{share}");
    assert_eq!(told, whole - back, "a wrong choice that is not told");
}
