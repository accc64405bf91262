//! `terrapin lint`: findings, positions, fixes, names in the data. The rules have cases of their own in the crate
//! `lint`.

use serde_json::Value;

use crate::common::{Town, terrapin};

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
    ] {
        let (status, out, err) = lint(query, &data);
        assert!(status == 1 && out.contains(&format!("warning[{code}]")), "{query}: {out}{err}");
        assert!(out.contains(nearest), "{query}: {out}");
    }
    for query in [
        "node[amenity=cafe];out;",
        "node(1);out;",
        "{{geocodeArea:Ladle}}->.a;node(area.a);out;",
        "node[amenity!=bar];out;",
        "node[!amenty];out;",
        "SELECT * { ?x wdt:P31 wd:Q3957 }",
    ] {
        let (status, out, err) = lint(query, &data);
        assert_eq!((status, out.as_str()), (0, ""), "{query}: {err}");
    }
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
