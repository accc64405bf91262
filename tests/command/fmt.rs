//! `terrapin fmt`, and the formatters on all shared queries: the output has the same tree and comments, and formatting
//! it again changes nothing. The latter is skipped if the shared data is missing.

use std::collections::BTreeSet;
use std::io::Read;
use std::path::Path;
use std::sync::LazyLock;

use regex::Regex;
use serde_json::Value;
use terrapin::overpass::turbo;
use terrapin::sparql::Extension;

use crate::common::skip::{self, Need};
use crate::common::{place, terrapin};

fn read(path: &Path) -> String {
    let bytes = std::fs::read(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    if path.extension().is_none_or(|ending| ending != "gz") {
        return String::from_utf8(bytes).expect("text");
    }
    let mut text = String::new();
    flate2::read::GzDecoder::new(bytes.as_slice()).read_to_string(&mut text).expect("text");
    text
}

fn fields(path: &Path, field: &str) -> Vec<String> {
    let lines = read(path);
    let values = lines.lines().map(|line| serde_json::from_str::<Value>(line).expect("JSON"));
    values.filter_map(|value| Some(value[field].as_str()?.to_owned())).collect()
}

/// The distinct queries of the shared data in OverpassQL and in SPARQL.
fn shared_queries() -> Option<(BTreeSet<String>, BTreeSet<String>)> {
    let shared = place::shared();
    if !shared.join("conformance/sparql").is_dir() {
        skip::skipped(Need::Shared, format_args!("no queries in {}", shared.display()));
        return None;
    }
    let mut overpass = BTreeSet::new();
    for name in ["train", "dev"] {
        let text = read(&shared.join(format!("data/overpassnl/dataset.{name}.query")));
        overpass.extend(text.lines().map(str::to_owned));
    }
    for name in ["gold.query", "gold.raw", "pred.query", "pred.raw", "dev-pred.query"] {
        overpass.extend(read(&shared.join("conformance/malta-benchmark").join(name)).lines().map(str::to_owned));
    }
    for file in std::fs::read_dir(shared.join("conformance/overpass")).expect("vectors") {
        let path = file.expect("a file").path();
        overpass.extend(fields(&path, "query"));
        overpass.extend(fields(&path, "prepared"));
        overpass.extend(fields(&path, "xml"));
    }
    let mut sparql = BTreeSet::from_iter(fields(&shared.join("conformance/sparql/vectors.jsonl.gz"), "query"));
    let golds = read(&shared.join("data/instruct-to-sparql/queries.jsonl.gz"));
    for line in golds.lines() {
        let value: Value = serde_json::from_str(line).expect("JSON");
        let texts = value.as_object().expect("an object").values().filter_map(Value::as_str);
        sparql.extend(texts.filter(|text| terrapin::sparql::syntax::parse(text, DIALECT).is_ok()).map(str::to_owned));
    }
    Some((overpass, sparql))
}

const DIALECT: terrapin::sparql::Dialect = terrapin::sparql::Dialect::Wdqs;

/// Returns the syntax tree of an OverpassQL query without positions.
pub fn overpass_tree(text: &str) -> Option<String> {
    static POSITION: LazyLock<Regex> =
        LazyLock::new(|| Regex::new(r"span: SourceSpan \{ start: \d+, end: \d+ \}, |line: \d+, ").expect("pattern"));
    let script = terrapin::overpass::parse(&turbo::with_stand_ins(text).ok()?).ok()?;
    Some(POSITION.replace_all(&format!("{script:?}"), "").into_owned())
}

/// Returns the algebra of a SPARQL query. Terms are compared by value, without positions. A comparison such as `?x<?y>`
/// looks like an IRI only until it is formatted.
pub fn sparql_tree(text: &str) -> Option<String> {
    let mut parsed = terrapin::sparql::syntax::parse(text, DIALECT).ok()?;
    parsed.extensions.retain(|extension| *extension != Extension::ComparedIri);
    Some(format!("{:?} {:?} {:?}", parsed.query, parsed.named, parsed.extensions))
}

/// Counts of one language.
#[derive(Default)]
pub struct FormatCount {
    valid: usize,
    comments: usize,
    wrong: Vec<String>,
}

impl FormatCount {
    pub fn add(&mut self, text: &str, tree: fn(&str) -> Option<String>, format: impl Fn(&str) -> Option<String>) {
        let Some(before) = tree(text) else { return };
        self.valid += 1;
        let Some(formatted) = format(text) else { return self.wrong.push(format!("not formatted: {text}")) };
        if tree(&formatted).as_ref() != Some(&before) {
            self.wrong.push(format!("another tree: {text}\n{formatted}"));
        }
        let again = format(&formatted);
        if again.as_ref() != Some(&formatted) {
            self.wrong.push(format!("not idempotent: {text}\n--\n{formatted}\n--\n{}", again.unwrap_or_default()));
        }
        self.comments += usize::from(text.contains("//") || text.contains("/*") || text.contains('#'));
    }

    pub fn passes(&self, name: &str) {
        println!("{name}: {} valid queries, {} wrong", self.valid, self.wrong.len());
        let shown: Vec<&str> = self.wrong.iter().take(5).map(String::as_str).collect();
        assert!(self.wrong.is_empty(), "{} of {}:\n{}", self.wrong.len(), self.valid, shown.join("\n====\n"));
    }
}

/// The formatters return an error if a token or a comment is lost, so that comments need no other check here.
#[test]
fn shared_queries_keep_their_tree() {
    let Some((overpass, sparql)) = shared_queries() else { return };
    let [mut ql, mut rq] = [FormatCount::default(), FormatCount::default()];
    for text in &overpass {
        ql.add(text, overpass_tree, |text| terrapin_format::overpass(text).ok());
    }
    for text in &sparql {
        rq.add(text, sparql_tree, |text| terrapin_format::sparql(text).ok());
    }
    ql.passes("OverpassQL");
    rq.passes("SPARQL");
    assert!(ql.valid > 7_000 && rq.valid > 2_000, "{} and {}", ql.valid, rq.valid);
}

const MESSY: &str = "[out:json];  // settings\nnode [ amenity=cafe ] ;\nout   ;";
const NEAT: &str = "[out:json]; // settings\nnode[amenity=cafe];\nout;\n";

#[test]
fn files_are_formatted_in_place() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = |name: &str| folder.path().join(name);
    std::fs::write(path("a.overpassql"), MESSY).expect("a file");
    std::fs::write(path("b.rq"), "select*{?s?p?o}").expect("a file");
    let run = |args: &[&str]| terrapin().current_dir(folder.path()).arg("fmt").args(args).assert();
    let found = run(&["--check", "a.overpassql", "b.rq"]).code(1).get_output().clone();
    let told = String::from_utf8_lossy(&found.stderr).into_owned();
    assert!(told.contains("not formatted: a.overpassql") && told.contains("not formatted: b.rq"), "{told}");
    assert_eq!(read(&path("a.overpassql")), MESSY, "--check writes nothing");
    run(&["a.overpassql", "b.rq"]).success();
    assert_eq!(read(&path("a.overpassql")), NEAT);
    assert_eq!(read(&path("b.rq")), "SELECT * {\n  ?s ?p ?o\n}\n");
    run(&["--check", "a.overpassql", "b.rq"]).success();
    assert_eq!(std::fs::read_dir(folder.path()).expect("files").count(), 2, "no temporary file is left");
}

#[test]
fn standard_input_is_formatted_to_standard_output() {
    for args in [&["fmt"][..], &["fmt", "-"], &["fmt", "--lang", "overpassql"]] {
        terrapin().args(args).write_stdin(MESSY).assert().success().stdout(NEAT);
    }
}

#[test]
fn queries_with_errors_are_not_changed() {
    let folder = tempfile::tempdir().expect("a folder");
    for (name, text) in [("bad.overpassql", "nod(1);out;"), ("good.overpassql", "out ;")] {
        std::fs::write(folder.path().join(name), text).expect("a file");
    }
    let found = terrapin().current_dir(folder.path()).args(["fmt", "bad.overpassql", "good.overpassql"]).assert();
    let told = String::from_utf8_lossy(&found.code(1).get_output().stderr).into_owned();
    assert!(told.contains("bad.overpassql:1:1") && told.contains("Unknown type \"nod\""), "{told}");
    assert_eq!(read(&folder.path().join("bad.overpassql")), "nod(1);out;");
    assert_eq!(read(&folder.path().join("good.overpassql")), "out;\n", "the other files are formatted");
}

#[test]
fn one_field_of_json_lines_is_formatted() {
    let lines = "{\"b\": 1.50, \"query\": \"out ;\", \"a\": \"out ;\"}\n\n{\"query\":null}\n";
    let expected = "{\"b\": 1.50, \"query\": \"out;\", \"a\": \"out ;\"}\n\n{\"query\":null}\n";
    terrapin().args(["fmt", "--field", "query"]).write_stdin(lines).assert().success().stdout(expected);
    let found = terrapin().args(["fmt", "--field", "query"]).write_stdin("{}\n").assert().code(3);
    let told = String::from_utf8_lossy(&found.get_output().stderr).into_owned();
    assert!(told.contains("stdin:1: the object has no field \"query\""), "{told}");
}
