//! Cases of each rule in `cases/`: queries that it reports, and similar ones that it does not. More cases, from the
//! queries of benchmarks, and rules that need data are in `tests/command/lint.rs`.

use std::collections::BTreeSet;

use super::*;

/// The queries of a rule: whether it has a finding in each.
struct RuleCases {
    code: String,
    is_sparql: bool,
    queries: Vec<(String, bool)>,
}

/// Reads `cases/CODE.txt`. The first line names rule and language. A query follows each `== finding` and `== none`.
fn case_files() -> Vec<RuleCases> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/cases");
    let mut files: Vec<RuleCases> = std::fs::read_dir(folder)
        .unwrap()
        .map(|file| {
            let text = std::fs::read_to_string(file.unwrap().path()).unwrap();
            let (head, cases) = text.split_once('\n').unwrap();
            let code = head.trim_start_matches("# ").split(' ').next().unwrap().to_owned();
            let query = |case: &str| {
                let (kind, query) = case.split_once('\n').unwrap();
                (query.trim_end().to_owned(), kind == "finding")
            };
            let cases = format!("\n{cases}");
            let queries = cases.split("\n== ").skip(1).map(query).collect();
            RuleCases { code, is_sparql: head.contains("(sparql)"), queries }
        })
        .collect();
    files.sort_by(|one, other| one.code.cmp(&other.code));
    files
}

fn codes_of(text: &str, is_sparql: bool) -> BTreeSet<&'static str> {
    let findings = match is_sparql {
        true => sparql(text, None).unwrap_or_else(|error| panic!("{text}: {error:?}")),
        false => overpass(text, OverpassData::default()).unwrap_or_else(|error| panic!("{text}: {error:?}")),
    };
    for finding in &findings {
        assert!(text.get(finding.range.clone()).is_some_and(|part| !part.is_empty()), "{text}: {finding:?}");
    }
    findings.iter().map(|finding| finding.rule.code).collect()
}

#[test]
fn cases() {
    let mut wrong = Vec::new();
    for RuleCases { code, is_sparql, queries } in case_files() {
        let found = queries.iter().filter(|(_, expected)| *expected).count();
        assert!(found > 0 && found < queries.len(), "{code} has {} cases, {found} with a finding", queries.len());
        for (text, expected) in queries {
            match std::panic::catch_unwind(|| codes_of(&text, is_sparql)) {
                Err(_) => wrong.push(format!("{code}: an error in {text}")),
                Ok(codes) if codes.contains(code.as_str()) != expected => {
                    wrong.push(format!("{code} {} {text}", if expected { "misses" } else { "reports" }));
                }
                Ok(_) => {}
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_rule_has_cases_and_a_section() {
    let docs = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/reference/lint.md")).unwrap();
    let tested: BTreeSet<String> = case_files().into_iter().map(|cases| cases.code).collect();
    for rule in rules() {
        // Rules that need data are tested with the program.
        let needs_data = rule.code.starts_with("no-such") || rule.code == "incomplete-containment";
        assert!(needs_data || tested.contains(rule.code), "{} has no cases", rule.code);
        assert!(
            docs.contains(&format!("\n### {}\n", rule.code)),
            "docs/reference/lint.md has no section {}",
            rule.code
        );
    }
}

#[test]
fn fixes_keep_the_meaning() {
    for (text, expected) in [
        ("node[a=b] [a=b](1);out;", "node[a=b](1);out;"),
        ("node(1,2,3,4)[a](1,2,3,4)->.b;.b out;", "node(1,2,3,4)[a]->.b;.b out;"),
        ("node[\"name\" ~ '^St. X$'];out;", "node[\"name\" ~ '^St. X$'];out;"),
        ("node[\"name\" ~ '^Malta$'][a!~\"^b$\"];out;", "node[\"name\"=\"Malta\"][a!=\"b\"];out;"),
        ("node[a];foreach->.b(.b out;);out;", "node[a];foreach->.b{.b out;};out;"),
        ("node[{{k}}][{{k}}]; {{k=a}}out;", "node[{{k}}][{{k}}]; {{k=a}}out;"),
        ("node[a/* key */~\"^b$\"];out; // end", "node[a/* key */~\"^b$\"];out; // end"),
        ("node[a]/* 1 */[a];/* 2 */out;", "node[a]/* 1 */;/* 2 */out;"),
    ] {
        let findings = overpass(text, OverpassData::default()).unwrap();
        assert_eq!(fixed(text, &findings), expected);
    }
    let text = "PREFIX a: <http://a/>\nPREFIX b: <http://b/>\nSELECT * { ?a b:c ?b }";
    let findings = sparql(text, None).unwrap();
    assert_eq!(fixed(text, &findings), "PREFIX b: <http://b/>\nSELECT * { ?a b:c ?b }");
}

#[test]
fn positions_are_those_of_the_text_with_shortcuts() {
    let text = "{{geocodeArea:Malta}}->.a;\nnode[\"a=b\"](area.a);out;";
    let findings = overpass(text, OverpassData::default()).unwrap();
    assert_eq!(findings.len(), 1);
    assert_eq!(&text[findings[0].range.clone()], "[\"a=b\"]");
}

#[test]
fn queries_with_errors_are_errors() {
    assert!(matches!(overpass("nod(1);", OverpassData::default()), Err(OverpassLintError::Query(..))));
    assert!(matches!(overpass("{{date:soon}}", OverpassData::default()), Err(OverpassLintError::Shortcut(_))));
    assert!(sparql("SELECT", None).is_err());
}

/// The number of random queries of each language; `TERRAPIN_SAMPLES` is another number.
fn samples() -> u64 {
    std::env::var("TERRAPIN_SAMPLES").map_or(300, |count| count.parse().expect("TERRAPIN_SAMPLES is a number"))
}

/// Applies fixes until nothing is left to fix, at most three times: a fix may make room for another one.
fn all_fixed(text: &str, findings: impl Fn(&str) -> Vec<LintFinding>) -> String {
    let mut text = text.to_owned();
    for _ in 0..3 {
        text = fixed(&text, &findings(&text));
    }
    let left: Vec<LintFinding> = findings(&text).into_iter().filter(|finding| !finding.fix.is_empty()).collect();
    assert_eq!(fixed(&text, &left), text, "not a fixed point: {left:?}");
    text
}

/// Random queries with unused declarations keep their tree, and their comments.
#[test]
fn fixed_samples_of_sparql_keep_their_tree() {
    use terrapin_sparql::syntax::grammar::{sample_settings, sparql_grammar};
    use terrapin_sparql::syntax::parse;
    let grammar = sparql_grammar(&Default::default());
    let parsed = |text: &str| parse(text, terrapin_sparql::Dialect::Auto).unwrap_or_else(|e| panic!("{e}: {text}"));
    let findings = |text: &str| sparql(text, None).unwrap_or_else(|error| panic!("{error:?}: {text}"));
    let prologues =
        ["PREFIX unused: <http://e/> ", "PREFIX unused:<http://e/>", "prefix\tunused:\n<http://e/>\r\n# kept\n", ""];
    let (mut changed, mut wrong) = (0, Vec::new());
    for seed in 0..samples() {
        let prologue = prologues[seed as usize % prologues.len()];
        let text = prologue.to_owned() + &grammar.sample(seed, &sample_settings());
        let result = all_fixed(&text, findings);
        changed += usize::from(result != text);
        let (before, after) = (parsed(&text), parsed(&result));
        if (&before.query, &before.named) != (&after.query, &after.named) {
            wrong.push(format!("sample {seed}:\n{text}\n---\n{result}\n{before:?}\n{after:?}"));
        }
    }
    assert!(wrong.is_empty(), "{}: {}", wrong.len(), wrong[0]);
    assert!(changed * 2 > samples() as usize, "{changed} samples have a fix");
}
