//! `terrapin lint`: findings, positions, fixes, names in the data. The rules have cases of their own in the crate
//! `lint`.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Read;

use serde_json::Value;
use terrapin_lint::OverpassData;

use crate::common::{TOWN, Town, place, skip, terrapin};

/// Runs the command on a query, and returns its exit status, standard output and standard error.
fn lint(query: &str, args: &[&str]) -> (i32, String, String) {
    let output = terrapin().arg("lint").args(args).write_stdin(query).output().expect("the program runs");
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("text");
    (output.status.code().expect("a status"), text(output.stdout), text(output.stderr))
}

#[test]
fn findings_have_a_position_and_a_code() {
    let (status, out, err) = lint("node[a]->.x;\nout;\n", &[]);
    let expected = "stdin:1:1: warning[unused-set]: the set .x is filled and never used or output\n\
                    stdin:2:1: warning[empty-output]: the default set is empty here; there is .x out\n";
    assert_eq!((status, out.as_str(), err.trim()), (1, expected, "error: warnings: 2"));
    let (status, out, _) = lint("node[a];out;", &[]);
    assert_eq!((status, out.as_str()), (0, ""));
}

#[test]
fn notes_do_not_fail_and_rules_can_be_ignored() {
    let (status, out, _) = lint("node({{bbox}});out;", &[]);
    assert_eq!((status, out.contains("note[place-dependent]")), (0, true), "{out}");
    let (status, out, _) = lint("node[a];", &["--ignore", "no-output,place-dependent"]);
    assert_eq!((status, out.as_str()), (0, ""));
    let (status, _, err) = lint("node[a];", &["--ignore", "no-putout"]);
    assert!(status == 2 && err.contains("unknown rule 'no-putout'"), "{err}");
}

#[test]
fn json_has_ranges_and_fixes() {
    let (status, out, _) = lint("node[a~\"^b$\"]; out;", &["--json"]);
    let found: Value = serde_json::from_str(&out).expect("JSON");
    assert_eq!(status, 1);
    assert_eq!(found[0]["code"], "plain-regex");
    assert_eq!(found[0]["start"], serde_json::json!({"byte": 4, "line": 1, "column": 5}));
    assert_eq!(found[0]["fix"][0]["text"], "[a=\"b\"]");
}

#[test]
fn fixes_are_applied() {
    let (status, out, err) = lint("node[a~\"^b$\"][a=\"b\"]; out;", &["--fix"]);
    assert_eq!((status, out.as_str()), (0, "node[a=\"b\"]; out;"), "{err}");
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("a.rq");
    std::fs::write(&path, "PREFIX a: <http://a/>\nASK { ?s ?p ?o }\n").expect("a file");
    terrapin().args(["lint", "--fix"]).arg(&path).assert().success();
    assert_eq!(std::fs::read_to_string(&path).expect("a file"), "ASK { ?s ?p ?o }\n");
}

#[test]
fn names_are_compared_with_the_data() {
    let town = Town::with_triples();
    let snapshot = town.snapshot();
    let data = ["--snapshot", snapshot.to_str().expect("a path")];
    for (query, code, nearest) in [
        ("node[amenty=cafe];out;", "no-such-key", "amenity"),
        ("node[amenity=caffe];out;", "no-such-value", "cafe"),
        ("node(99999);out;", "no-such-id", ""),
        ("node(area:3600000099);out;", "no-such-area", ""),
        ("SELECT * { ?x wdt:P99 ?y }", "no-such-term", ""),
        ("SELECT * { ?x wdt:P31 wd:Q2 }", "no-such-class", ""),
        ("SELECT * { GRAPH wd:Q1 { ?x wdt:P31 ?y } }", "no-such-graph", ""),
        (
            "SELECT * { ?x wdt:P31 ?y SERVICE <http://e/sparql> { ?x <http://e/p> ?z } }",
            "no-such-service",
            "http://e/sparql",
        ),
        (
            "SELECT * { ?x wdt:P31 ?y SERVICE SILENT <http://e/sparql> { ?y ?p ?z } }",
            "no-such-service",
            "http://e/sparql",
        ),
    ] {
        let (status, out, err) = lint(query, &data);
        assert!(status == 1 && out.contains(&format!("warning[{code}]")), "{query}: {out}{err}");
        assert!(out.contains(nearest), "{query}: {out}");
    }
    // A finding of SPARQL is at its name, also if the message has only the key of the element.
    let (_, out, _) = lint("SELECT * { ?x osmkey:amenity ?y . ?x osmkey:amenty ?z }", &data);
    assert!(out.contains("stdin:1:38: warning[no-such-key]"), "{out}");
    // A filter without a match is reported once, by the rule of its kind.
    let (_, out, _) = lint("node[amenty=cafe];out;node[amenty=cafe];out;", &data);
    assert_eq!(out.matches("no-such").count(), 1, "{out}");
    for query in [
        "node[amenity=cafe];out;",
        "node(1);out;",
        "{{geocodeArea:Ladle}}->.a;node(area.a);out;",
        "node[amenity!=bar];out;",
        "node[!amenty];out;",
        "SELECT * { ?x wdt:P31 wd:Q3957 }",
        "SELECT * { SERVICE <https://query.wikidata.org/sparql> { ?x wdt:P31 wd:Q3957 } }",
    ] {
        let (status, out, err) = lint(query, &data);
        assert_eq!((status, out.as_str()), (0, ""), "{query}: {err}");
    }
}

const ITEM: &str = "http://www.wikidata.org/entity/Q";
const DIRECT: &str = "http://www.wikidata.org/prop/direct/P";

/// Two museums in the area of the town, one of which its chain reaches, and one outside.
fn museums() -> String {
    let mut out = format!("<{ITEM}2> <{DIRECT}131> <{ITEM}1> .\n");
    for (number, place) in [(2, "20.002 10.002"), (3, "20.003 10.003"), (4, "20.5 10.5")] {
        let wkt = "^^<http://www.opengis.net/ont/geosparql#wktLiteral>";
        out += &format!("<{ITEM}{number}> <{DIRECT}31> <{ITEM}33506> .\n");
        out += &format!("<{ITEM}{number}> <{DIRECT}625> \"Point({place})\"{wkt} .\n");
    }
    out
}

#[test]
fn chains_of_containment_are_compared_with_geometry() {
    let folder = tempfile::tempdir().expect("a folder");
    let level = "<tag k=\"admin_level\" v=\"8\"/>";
    let town = TOWN.replace(level, &format!("{level}<tag k=\"wikidata\" v=\"Q1\"/>"));
    std::fs::write(folder.path().join("town.osm"), town).expect("a file");
    std::fs::write(folder.path().join("town.nt"), museums()).expect("a file");
    let load = ["load", "--osm", "town.osm", "--rdf", "town.nt", "--out", "town.terrapin"];
    terrapin().current_dir(folder.path()).args(load).assert().success();
    let snapshot = folder.path().join("town.terrapin");
    let data = ["--snapshot", snapshot.to_str().expect("a path")];
    let (status, out, _) = lint("SELECT (COUNT(?x) AS ?n) { ?x wdt:P31 wd:Q33506 ; wdt:P131* wd:Q1 . }", &data);
    let expected = "stdin:1:51: warning[incomplete-containment]: the chain finds 1 items, and 2 items have their coordinates \
                    in the area of wd:Q1; there is ?area osm2rdfkey:wikidata wd:Q1 ; geo:hasGeometry/geo:asWKT ?shape . \
                    ?x wdt:P625 ?position . FILTER(geof:sfWithin(?position, ?shape))\n";
    assert_eq!((status, out.as_str()), (1, expected));
    // Both find the two items.
    let (status, out, err) = lint("SELECT * { VALUES ?x { wd:Q2 } ?x wdt:P131* wd:Q1 }", &data);
    assert_eq!((status, out.as_str()), (0, ""), "{err}");
}

#[test]
fn fields_of_json_lines_are_examined_and_fixed() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("gold.jsonl");
    let lines = "{\"q\":\"node[a][a];out;\",\"n\":1}\n{\"q\":\"node[\\u0061];out;\"}\n{\"q\":\"nod;\"}\n";
    std::fs::write(&path, lines).expect("a file");
    let run = terrapin().args(["lint", "--field", "q", "--fix"]).arg(&path).assert().code(1).get_output().clone();
    assert!(String::from_utf8_lossy(&run.stderr).contains("gold.jsonl:3"), "{run:?}");
    let fixed = lines.replace("node[a][a]", "node[a]");
    assert_eq!(std::fs::read_to_string(&path).expect("a file"), fixed);
}

#[test]
fn queries_with_errors_are_reported() {
    let (status, _, err) = lint("nod(1);out;", &[]);
    assert!(status == 1 && err.contains("Unknown type \"nod\"") && err.contains("stdin:1:1"), "{err}");
}

#[test]
fn the_rules_are_listed() {
    let (status, out, _) = lint("", &["--rules"]);
    assert!(status == 0 && out.lines().count() >= 30, "{out}");
    assert!(out.contains("no-output") && out.contains("cartesian-product"), "{out}");
}

/// Returns the lines of a file of the shared data.
fn shared_lines(name: &str) -> Option<Vec<String>> {
    let path = place::shared().join("data").join(name);
    let Ok(bytes) = std::fs::read(&path) else {
        skip::skipped(skip::Need::Shared, format_args!("no {}", path.display()));
        return None;
    };
    let mut text = String::new();
    if name.ends_with(".gz") {
        flate2::read::GzDecoder::new(bytes.as_slice()).read_to_string(&mut text).expect("text");
    } else {
        text = String::from_utf8(bytes).expect("text");
    }
    Some(text.lines().map(str::to_owned).collect())
}

/// Cases of the rules among the training and development queries of benchmarks, which are named by file and line.
#[test]
fn queries_of_benchmarks_have_the_expected_findings() {
    let mut files: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    let mut wrong = Vec::new();
    for case in include_str!("lint/shared.tsv").lines().skip(1) {
        let fields: Vec<&str> = case.split('\t').collect();
        let [code, expected, file, line, ..] = fields[..] else { panic!("{case}: expected four fields") };
        if !files.contains_key(file) {
            let Some(lines) = shared_lines(file) else { return };
            files.insert(file, lines);
        }
        let text = &files[file][line.parse::<usize>().expect("a line") - 1];
        let findings = match fields.get(4) {
            Some(field) => {
                let row: Value = serde_json::from_str(text).expect("JSON");
                terrapin_lint::sparql(row[field].as_str().expect("a query"), None).expect("no error")
            }
            None => terrapin_lint::overpass(text, OverpassData::default()).expect("no error"),
        };
        let found: BTreeSet<&str> = findings.iter().map(|finding| finding.rule.code).collect();
        if found.contains(code) != (expected == "finding") {
            wrong.push(case);
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The requirement of each rule: about twenty cases, with and without findings.
#[test]
fn each_rule_has_enough_cases() {
    let mut counts: BTreeMap<String, [usize; 2]> = BTreeMap::new();
    for file in std::fs::read_dir(place::root().join("crates/lint/cases")).expect("cases") {
        let path = file.expect("a file").path();
        let text = std::fs::read_to_string(&path).expect("text");
        let own = ["\n== finding", "\n== none"].map(|kind| text.matches(kind).count());
        counts.insert(path.file_stem().expect("a name").to_string_lossy().into_owned(), own);
    }
    for case in include_str!("lint/shared.tsv").lines().skip(1) {
        let mut fields = case.split('\t');
        let (code, expected) = (fields.next().expect("a rule"), fields.next().expect("what is expected"));
        counts.entry(code.to_owned()).or_default()[usize::from(expected != "finding")] += 1;
    }
    for (code, [found, none]) in counts {
        assert!(found + none >= 19 && found >= 8, "{code} has {found} cases with a finding and {none} without");
    }
}
