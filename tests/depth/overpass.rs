//! Cases for the productions of OverpassQL, of its XML form, and the shortcuts.

use std::time::Instant;

use regex::Regex;
use terrapin::eval::benchmarks::overpassnl::similarity;
use terrapin::eval::feedback::{FeedbackRequest, feedback};
use terrapin::eval::language::QueryLanguage;
use terrapin::geocoder::AreaLookup;
use terrapin::overpass::Limits;
use terrapin::overpass::convert::{self, ConversionForm};
use terrapin::overpass::syntax::vocabulary;
use terrapin::overpass::turbo::{ShortcutValues, expand};
use terrapin::overpass::{parse, run};

use super::{DepthCase, DepthTown, is_all, limit, open, try_all};

/// Sources of the front end, which are searched for words that the vocabulary does not list.
const EVALUATORS: &str = include_str!("../../crates/overpass-syntax/src/check/evaluators.rs");
const SETTINGS: &str = include_str!("../../crates/overpass-syntax/src/parse/settings.rs");
const SIGNS: &str = include_str!("../../crates/overpass-syntax/src/parse/expression.rs");
const SHORTCUTS: &str = include_str!("../../crates/overpass/src/turbo.rs");

fn found(pattern: &str, text: &str) -> Vec<String> {
    Regex::new(pattern).expect("a pattern").captures_iter(text).map(|found| found[1].to_owned()).collect()
}

fn functions() -> Vec<String> {
    let functions = found(r#"spec\(\s*"([a-z_]+)""#, EVALUATORS);
    assert!(functions.len() >= 50);
    functions
}

fn elements() -> Vec<String> {
    let all = vocabulary::elements().map(str::to_owned).collect::<std::collections::BTreeSet<_>>();
    assert!(all.len() > 50, "{all:?}");
    all.into_iter().collect()
}

fn signs() -> Vec<String> {
    let body = SIGNS.split("fn binding(").nth(1).and_then(|rest| rest.split("\n}").next()).unwrap_or_default();
    let signs = found(r#""([^"a-z]+)""#, body);
    assert!(signs.len() > 20, "{signs:?}");
    signs
}

fn statements() -> Vec<DepthCase> {
    let mut cases = Vec::new();
    let simple = [
        "out;",
        "out ids 1;",
        "out geom(1,2,3,4);",
        "out count;",
        ".a out;",
        ">;",
        ">>;",
        "<;",
        "<<;",
        ".a > ->.b;",
        "is_in;",
        "is_in(1,2)->.a;",
        "map_to_area;",
        "local;",
        "local l(1,2,3,4);",
        "make x;",
        "make x a=1;",
        "convert x ::=::;",
        "compare;",
        "timeline(node,1);",
        ".a;",
        ".a->.b;",
        "node(#);",
        "node._->.s#;",
        "(node(1);node(2););",
        "(node(1);-node(2););",
        "foreach{out;}",
        "for(id()){out;}",
        "if(1){out;}else{out;}",
        "complete{>;}",
        "complete(2){>;}",
        "retro(1){out;}",
        "compare(delta:id()){out;}",
    ];
    for statement in simple {
        cases.push(DepthCase::chain("node(1);", statement, "", "out;"));
        cases.push(DepthCase::chain("(", statement, "", ");out;"));
        cases.push(DepthCase::chain("foreach{", statement, "", "};out;"));
    }
    let blocks = [
        ("(", ");"),
        ("(node(1);", ");"),
        ("(", "-node(1););"),
        ("(node(1);-", ");"),
        ("foreach{", "}"),
        ("foreach.a->.b(", ");"),
        ("for(id()){", "}"),
        ("if(1){", "}"),
        ("if(0){}else{", "}"),
        ("if(1){", "}else{}"),
        ("complete{", "}"),
        ("retro(1){", "}"),
        ("compare(delta:id()){", "}"),
        ("{", "}"),
        ("[", "]"),
    ];
    for (open, close) in blocks {
        cases.push(DepthCase::nest("", open, "node(1);", close, "out;"));
        cases.push(DepthCase::nest("", open, "", close, ""));
        let tail = "node(1);out;".repeat(40);
        cases.push(DepthCase::nest("", open, "node(1);", &format!("{tail}{close}"), "out;"));
    }
    for what in vocabulary::queries() {
        cases.push(DepthCase::chain("", &format!("{what}(1);"), "", "out;"));
        cases.push(DepthCase::chain(&format!("{what}(1)"), "[a]", "", ";out;"));
    }
    for filter in [
        "[a]",
        "[!a]",
        "[a=b]",
        "[a!=b]",
        "[a~b]",
        "[a!~\"b#\"]",
        "[~a~b]",
        "[a~b,i]",
        "[\"k#\"=v]",
        ".a",
        "(1)",
        "(1,2,3,4)",
    ] {
        cases.push(DepthCase::chain("node(1)", filter, "", ";out;"));
    }
    for clause in vocabulary::filters().chain(["<", ">>"]) {
        for arguments in ["", ":1", ":1,2,3", ":\"a\"", ".a", ".a:1", ":1-2"] {
            for what in ["node", "nwr"] {
                cases.push(DepthCase::chain(&format!("{what}(1)"), &format!("({clause}{arguments})"), "", ";out;"));
            }
        }
        cases.push(DepthCase::chain(&format!("node({clause}:"), "1", ",", ");out;"));
        cases.push(DepthCase::nest("node(", &format!("{clause}:("), "1", ")", ");out;"));
    }
    for name in found(r#""([a-z]+)"(?: \||\s=>)"#, SETTINGS).iter().map(String::as_str).chain(["date", "csv", "foo"]) {
        cases.push(DepthCase::chain("", &format!("[{name}:1]"), "", ";node(1);out;"));
        cases.push(DepthCase::chain(&format!("[{name}:"), "1", ",", "];node(1);out;"));
        cases.push(DepthCase::chain(&format!("[{name}:"), "1", " ", "];node(1);out;"));
    }
    cases.push(DepthCase::chain("[out:csv(", "::id,\"a#\"", ",", ")];node(1);out;"));
    cases.push(DepthCase::chain("[out:popup", "(\"a\";[b=c];\"d\";)", "", "];node(1);out;"));
    cases.push(DepthCase::chain("[out:popup(\"a\";", "[b=c]", "", ";\"d\";)];node(1);out;"));
    cases.push(DepthCase::chain("node(1);out ", "ids", " ", ";"));
    cases.push(DepthCase::chain("node(poly:\"", "1 2", " ", "\");out;"));
    cases.push(DepthCase::chain("node(around:1,", "1,2", ",", ");out;"));
    cases.push(DepthCase::chain("make x ", "k#=#", ",", ";out;"));
    cases.push(DepthCase::chain("node(1);convert x ", "k#=t[\"a\"]", ",", ";out;"));
    cases.push(DepthCase::chain("make x ", "!a", ",", ";out;"));
    cases.push(DepthCase::chain("", "/* a */", "", "node(1);out;"));
    cases.push(DepthCase::nest("", "/*", "", "*/", "node(1);out;"));
    for (open, close) in
        [("(", ")"), ("(a|", ")"), ("(", ")*"), ("[", "]"), ("[[:", ":]]"), ("(", "){1,2}"), ("\\\\(", ")")]
    {
        cases.push(DepthCase::nest("node[a~\"", open, "x", close, "\"];out;"));
    }
    for item in ["a", "a|", "a*", "a{9}", "[a-z]", "(a)", "(a|b)+", ".", "^", "$", "\\\\", "[[:alpha:]]", "a{1,9}"] {
        cases.push(DepthCase::chain("node[a~\"", item, "", "\"];out;"));
    }
    cases
}

fn evaluators() -> Vec<DepthCase> {
    let mut cases = Vec::new();
    let places =
        [("node(1)(if:", ");out;"), ("node(1);convert x a=", ";out;"), ("if(", "){out;}"), ("for(", "){out;}")];
    for (before, after) in places {
        for sign in signs() {
            for term in ["1", "t[\"a\"]", "-1", "!1", "id()"] {
                cases.push(DepthCase::chain(before, term, &sign, after));
            }
            cases.push(DepthCase::nest(before, &format!("(1{sign}"), "1", ")", after));
            cases.push(DepthCase::nest(before, "(", "1", &format!("{sign}1)"), after));
            cases.push(DepthCase::nest(before, &sign, "1", "", after));
            // The operand to the left of an operator may be deeply nested on its right side, in each of many brackets.
            let deep = |prefixes: usize, chain: usize| {
                (format!("{}(", "!".repeat(prefixes)), format!("{})", format!("{sign}1").repeat(chain)))
            };
            for (prefixes, chain) in [(1, 200), (2, 100), (60, 60)] {
                let (open, close) = deep(prefixes, chain);
                cases.push(DepthCase::nest(before, &open, "1", &close, after));
                cases.push(DepthCase::nest(
                    before,
                    &open,
                    "1",
                    &format!("){}", format!("{sign}1").repeat(chain)),
                    after,
                ));
            }
        }
        for (open, close) in
            [("(", ")"), ("t[", "]"), ("1?", ":1"), ("", "?1:1"), ("(", "?1:1)"), ("1?1:", ""), (".a.count(", ")")]
        {
            cases.push(DepthCase::nest(before, open, "1", close, after));
        }
    }
    for name in functions() {
        for (before, after) in &places[..2] {
            for (open, close) in [("(", ")"), ("(1,", ")"), ("(", ",1)")] {
                for core in ["1", "id()", "geom()", "pt(1,2)", ""] {
                    cases.push(DepthCase::nest(before, &format!("{name}{open}"), core, close, after));
                }
            }
            cases.push(DepthCase::chain(&format!("{before}{name}("), "pt(1,2)", ",", &format!("){after}")));
            cases.push(DepthCase::chain(&format!("{before}{name}("), "1", ",", &format!("){after}")));
            cases.push(DepthCase::chain(before, &format!("{name}(1)"), "+", after));
        }
        let (before, after) = ("node(1);make x ::geom=", ";out geom;");
        cases.push(DepthCase::nest(before, &format!("{name}("), "pt(1,2)", ")", after));
        cases.push(DepthCase::chain(&format!("{before}{name}("), "pt(1,#)", ",", &format!("){after}")));
        cases.push(DepthCase::nest("node(1);make x a=", &format!("_.{name}("), "1", ")", ";out;"));
    }
    cases
}

fn xml() -> Vec<DepthCase> {
    let mut cases = Vec::new();
    let attributes = "k=\"a\" v=\"1\" type=\"node\" ref=\"1\" from=\"_\"";
    for name in elements() {
        for attributes in ["", attributes] {
            let (open, close) = (format!("<{name} {attributes}>"), format!("</{name}>"));
            let alone = format!("<{name} {attributes}/>");
            cases.push(DepthCase::chain("<osm-script>", &alone, "", "</osm-script>"));
            cases.push(DepthCase::nest("<osm-script>", &open, "<eval-fixed v=\"1\"/>", &close, "</osm-script>"));
            cases.push(DepthCase::nest("", &open, "<id-query type=\"node\" ref=\"1\"/>", &close, ""));
            cases.push(DepthCase::chain(&format!("<osm-script>{open}"), &alone, "", &format!("{close}</osm-script>")));
            for outer in ["query type=\"node\"", "union", "foreach", "make type=\"x\"", "filter"] {
                let end = outer.split(' ').next().unwrap_or_default();
                let (before, after) = (format!("<osm-script><{outer}>"), format!("</{end}></osm-script>"));
                cases.push(DepthCase::chain(&before, &alone, "", &after));
            }
        }
    }
    cases.push(DepthCase::chain("<osm-script", " a#=\"1\"", "", "/>"));
    cases.push(DepthCase::chain("<osm-script>", "<!-- a -->", "", "</osm-script>"));
    cases.push(DepthCase::chain("<osm-script>", "<![CDATA[ ]]>", "", "</osm-script>"));
    cases.push(DepthCase::chain("<osm-script>", "&amp;", "", "</osm-script>"));
    cases.push(DepthCase::nest("", "<a>", "", "</a>", ""));
    cases.push(DepthCase::chain("", "<", "", ""));
    cases
}

fn shortcuts() -> Vec<DepthCase> {
    let mut cases = Vec::new();
    for name in found(r"`\{\{([A-Za-z]+)[:}]", SHORTCUTS) {
        cases.push(DepthCase::chain("", &format!("node({{{{{name}}}}});"), "", "out;"));
        cases.push(DepthCase::chain("", &format!("node({{{{{name}:Ladle}}}});"), "", "out;"));
        cases.push(DepthCase::nest("node(", &format!("{{{{{name}:"), "Ladle", "}}", ");out;"));
    }
    cases.push(DepthCase::chain("", "{{k#=v}}", "", "node(1);out;"));
    cases.push(DepthCase::nest("", "{{", "a", "}}", "node(1);out;"));
    cases.push(DepthCase::nest("", "{{a=", "1", "}}", "node({{a}});out;"));
    for times in [1, 2, 3] {
        cases.push(DepthCase::new(format!("definitions, each {times} times in the next"), move |count| {
            let define = |n: usize| format!("{{{{d{n}={}}}}}", format!("{{{{d{}}}}}", n + 1).repeat(times));
            let all: String = (0..count).map(define).collect();
            format!("{all}{{{{d{count}=1}}}}node({{{{d0}}}});out;")
        }));
    }
    cases.push(DepthCase::chain("", "{{a={{a}}}}", "", "node({{a}});out;"));
    cases
}

pub fn all() -> Vec<DepthCase> {
    [statements(), evaluators(), xml(), shortcuts()].into_iter().flatten().collect()
}

fn limits() -> Limits {
    Limits { deadline: Instant::now().checked_add(limit()), ..Limits::default() }
}

/// Runs everything that the program does with a text.
fn go(opened: &DepthTown, text: &str) -> String {
    let areas = AreaLookup::new(opened.engine.osm());
    let surroundings = ShortcutValues { bbox: None, now: 0, places: &areas };
    let Ok(text) = expand(text, &surroundings) else { return "shortcut".to_owned() };
    for form in [ConversionForm::Xml, ConversionForm::Pretty, ConversionForm::Compact] {
        drop(convert::convert(&text, form));
    }
    let script = match parse(&text) {
        Ok(script) => script,
        Err(failure) => return failure.diagnostics.first().map_or_else(String::new, |first| first.code.to_string()),
    };
    let mut answer = Vec::new();
    match run(opened.engine.osm(), &script.clone(), &limits(), &mut answer) {
        Ok(summary) => format!("{} elements", summary.elements),
        Err(failure) => failure.diagnostics.first().map_or_else(String::new, |first| first.code.to_string()),
    }
}

#[test]
fn no_statement_ends_the_process() {
    let opened = open();
    try_all(&statements(), |text| go(&opened, text));
}

#[test]
fn no_evaluator_ends_the_process() {
    let opened = open();
    try_all(&evaluators(), |text| go(&opened, text));
}

#[test]
fn no_xml_ends_the_process() {
    let opened = open();
    try_all(&xml(), |text| go(&opened, text));
}

#[test]
fn no_shortcut_ends_the_process() {
    let opened = open();
    try_all(&shortcuts(), |text| go(&opened, text));
}

/// Runs feedback and similarity on some of the cases, because they take longer.
#[test]
fn no_text_ends_feedback_or_a_comparison() {
    let opened = open();
    let areas = AreaLookup::new(opened.engine.osm());
    let step = if is_all() { 1 } else { 17 };
    let some: Vec<DepthCase> = all().into_iter().step_by(step).collect();
    try_all(&some, |text| {
        let language = Some(QueryLanguage::OverpassQl);
        let (places, limits) = (&areas, limits());
        let asked = FeedbackRequest {
            query: text,
            language,
            dialect: Default::default(),
            bbox: None,
            places,
            sample: 5,
            run: true,
            limits,
        };
        let said = feedback(&opened.engine, &asked).expect("OverpassQL needs no triples");
        let alike = if text.len() < 20_000 { similarity(text, text).get("trees").unwrap() } else { 1.0 };
        format!("{} errors, {alike}", said.errors.len())
    });
}

#[test]
fn every_word_of_the_language_is_tried() {
    let texts: Vec<String> = all().iter().map(|case| case.text(2)).collect();
    let words = vocabulary::statements().chain(vocabulary::filters()).map(str::to_owned);
    let words = words.chain(functions()).chain(elements()).chain(signs());
    for word in words {
        assert!(texts.iter().any(|text| text.contains(&word)), "no text has {word}");
    }
}
