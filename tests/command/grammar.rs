//! `terrapin grammar`, and the grammar on OverpassNL's gold queries, which is skipped if the shared data is missing.

use std::path::Path;

use serde_json::Value;
use terrapin::overpass::syntax::grammar::{GrammarNames, overpass_grammar};
use terrapin::overpass::turbo;
use terrapin::sparql::syntax::grammar::{SparqlNames, sparql_grammar};
use terrapin::sparql::syntax::{Dialect, parse};

use crate::common::skip::{self, Need};
use crate::common::{Town, place, terrapin};

/// Every gold query of train and dev that parses is accepted but one, which has `!~` between evaluators. It parses, but
/// has no meaning.
#[test]
fn gold_queries_are_accepted() {
    let folder = place::shared().join("data/overpassnl");
    if !folder.is_dir() {
        return skip::skipped(Need::Shared, format_args!("no queries in {}", folder.display()));
    }
    let grammar = overpass_grammar(&GrammarNames::default());
    let (mut valid, mut refused) = (0, Vec::new());
    for name in ["train", "dev"] {
        let text = std::fs::read_to_string(folder.join(format!("dataset.{name}.query"))).expect("queries");
        for query in text.lines() {
            let Ok(expanded) = turbo::with_stand_ins(query) else { continue };
            if terrapin::overpass::parse(&expanded).is_err() {
                continue;
            }
            valid += 1;
            if !grammar.accepts(query.trim()) {
                refused.push(query.to_owned());
            }
        }
    }
    println!("{valid} valid queries, {} refused", refused.len());
    assert!(valid > 7_000 && refused.len() <= 1, "{} of {valid}:\n{}", refused.len(), refused.join("\n"));
}

/// Returns the values of a field in gzipped JSON lines, where `is_wanted` holds.
fn fields(path: &Path, field: &str, is_wanted: impl Fn(&Value) -> bool) -> Vec<String> {
    let file = std::fs::File::open(path).expect("the shared data");
    let text = std::io::read_to_string(flate2::read::GzDecoder::new(file)).expect("text");
    let lines = text.lines().map(|line| serde_json::from_str::<Value>(line).expect("JSON"));
    lines.filter(is_wanted).map(|line| line[field].as_str().expect("a text").to_owned()).collect()
}

/// The short queries for every statement, filter, evaluator and setting that have an answer.
#[test]
fn feature_queries_are_accepted() {
    let folder = place::shared().join("conformance/overpass");
    if !folder.is_dir() {
        return skip::skipped(Need::Shared, format_args!("no queries in {}", folder.display()));
    }
    let grammar = overpass_grammar(&GrammarNames::default());
    for name in ["malta-2016", "niue"] {
        let queries = fields(&folder.join(format!("{name}.features.jsonl.gz")), "query", |line| line["status"] == "ok");
        let refused: Vec<&String> = queries.iter().filter(|query| !grammar.accepts(query.trim())).collect();
        // The XML form is not in the grammar, and a comment is no query.
        let others: Vec<_> =
            refused.iter().filter(|query| !query.starts_with('<') && **query != "// only a comment").collect();
        println!("{name}: {} queries, {} refused", queries.len(), refused.len());
        assert!(queries.len() > 500 && others.is_empty(), "{name}: {others:#?}");
    }
}

/// Every gold query of Instruct-to-SPARQL and of the public sets that parses is accepted, but one: it nests aggregates,
/// which parses and has no meaning. By default every tenth query is tried.
#[test]
fn sparql_gold_queries_are_accepted() {
    let shared = place::shared();
    let grammar = sparql_grammar(&SparqlNames::default());
    for (path, most) in [("data/instruct-to-sparql/queries.jsonl.gz", 1), ("conformance/sparql/vectors.jsonl.gz", 0)] {
        let path = shared.join(path);
        if !path.is_file() {
            return skip::skipped(Need::Shared, format_args!("no queries in {}", path.display()));
        }
        let mut queries = fields(&path, "query", |_| true);
        let is_sample = std::env::var_os("TERRAPIN_ALL").is_none();
        if is_sample {
            queries = queries.into_iter().step_by(10).collect();
        }
        let valid: Vec<&String> = queries.iter().filter(|query| parse(query, Dialect::Wdqs).is_ok()).collect();
        let refused: Vec<&str> =
            valid.iter().filter(|query| !grammar.accepts(query)).map(|query| query.as_str()).collect();
        println!("{} valid queries, {} refused", valid.len(), refused.len());
        assert!(valid.len() > 200 && refused.len() <= most, "{}:\n{}", refused.len(), refused.join("\n\n"));
    }
}

#[test]
fn the_sparql_grammar_has_the_names_for_a_question() {
    let town = Town::with_triples();
    let snapshot = town.snapshot();
    let snapshot = snapshot.to_str().expect("a path");
    let run = |args: &[&str]| {
        let output = terrapin().args(["grammar", "--lang", "sparql"]).args(args).output().expect("a run");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).expect("text")
    };
    assert!(run(&[]).contains("| \"wdt\" |") && run(&["--format", "lark"]).contains("\"SELECT\"i"));
    let properties = run(&["--snapshot", snapshot]);
    assert!(properties.contains("property-id ::= ") && properties.contains("\"P1082\""), "{properties}");
    let question = run(&["--snapshot", snapshot, "--question", "What is the population of Ladle?"]);
    assert!(question.contains("item ::= \"wd\" \":\" ") && question.contains("\"Q1\""), "{question}");
}

#[test]
fn the_grammar_has_the_names_of_the_snapshot() {
    let town = Town::new();
    let snapshot = town.snapshot();
    let run = |args: &[&str]| {
        let output = terrapin().arg("grammar").args(args).arg("--snapshot").arg(&snapshot).output().expect("a run");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).expect("text")
    };
    let gbnf = run(&[]);
    assert!(gbnf.contains("\"\\\"amenity\\\"\"") && gbnf.contains("\"\\\"cafe\\\"\""), "{gbnf}");
    assert!(gbnf.contains("area-name ::= \"Ladle\"\n"), "{gbnf}");
    let question = run(&["--question", "where is a cafe", "--format", "lark"]);
    assert!(question.contains("\"\\\"cafe\\\"\"") && !question.contains("residential"), "{question}");
}

#[test]
fn the_grammar_needs_no_snapshot() {
    let output = terrapin().arg("grammar").output().expect("a run");
    assert!(String::from_utf8_lossy(&output.stdout).starts_with("root ::= "));
    let output = terrapin().args(["grammar", "--question", "cafes"]).output().expect("a run");
    assert_eq!(output.status.code(), Some(2), "a question needs a snapshot");
}
