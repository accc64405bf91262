//! Cases for the productions of SPARQL.

use std::time::Instant;

use oxrdf::{Term, Triple, Variable};
use regex::Regex;
use terrapin::budget::Limits;
use terrapin::sparql::{Dialect, Environment, ResultSink, SparqlBounds, SparqlSettings, prepare};

use super::{DepthCase, is_all, limit, open, try_all};

/// Sources of the parser, which are searched for its keywords.
const PARSER: [&str; 7] = [
    include_str!("../../crates/sparql-syntax/src/parser.rs"),
    include_str!("../../crates/sparql-syntax/src/query.rs"),
    include_str!("../../crates/sparql-syntax/src/pattern.rs"),
    include_str!("../../crates/sparql-syntax/src/triples.rs"),
    include_str!("../../crates/sparql-syntax/src/expression.rs"),
    include_str!("../../crates/sparql-syntax/src/function.rs"),
    include_str!("../../crates/sparql-syntax/src/reified.rs"),
];
const TOKENS: &str = include_str!("../../crates/sparql-syntax/src/token.rs");

fn found(pattern: &str, text: &str) -> Vec<String> {
    Regex::new(pattern).expect("a pattern").captures_iter(text).map(|found| found[1].to_owned()).collect()
}

/// Returns the names of the built-in functions.
fn functions() -> Vec<String> {
    let functions = found(r#"\("([A-Z_0-9]+)", Function::"#, PARSER[5]);
    assert!(functions.len() > 40, "{functions:?}");
    functions.into_iter().chain(["IF", "COALESCE", "SAMETERM", "BOUND"].map(str::to_owned)).collect()
}

/// Returns the punctuation tokens.
fn marks() -> Vec<String> {
    let marks = found(r"(?s)MARKS: \[&str; [0-9]+\] = \[(.*?)\n\];", TOKENS).concat();
    let marks = found(r#""([^"]+)""#, &marks);
    assert!(marks.len() >= 34, "{marks:?}");
    marks
}

fn aggregates() -> Vec<String> {
    let list = found(r"AGGREGATES: \[&str; [0-9]+\] = \[([^\]]*)\]", PARSER[5]).concat();
    let aggregates = found(r#""([A-Z_]+)""#, &list);
    assert!(aggregates.len() >= 7);
    aggregates
}

fn paths() -> Vec<DepthCase> {
    let mut cases = Vec::new();
    for step in [
        "a",
        "^a",
        "!a",
        "!^a",
        "a*",
        "a+",
        "a?",
        "(a)*",
        "!(a|^a)",
        "!()",
        "(a/a)",
        "(a|^a)*",
        "wdt:P31/wdt:P279",
        "a{1,2}",
    ] {
        for sign in ["/", "|"] {
            cases.push(DepthCase::chain("ASK{?s ", step, sign, " ?o}"));
            cases.push(DepthCase::chain("ASK{?s (", step, sign, ")* ?o}"));
            cases.push(DepthCase::chain("ASK{wd:Q1 (", step, sign, ")+ ?o}"));
        }
    }
    cases.push(DepthCase::chain("ASK{?s !(", "a", "|", ") ?o}"));
    cases.push(DepthCase::chain("ASK{?s !(", "^<u:#>", "|", ") ?o}"));
    cases.push(DepthCase::chain("ASK{?s (", "<u:#>", "|", ")* ?o}"));
    cases.push(DepthCase::chain("ASK{?s (", "(<u:#>/<v:#>)", "|", ")* ?o}"));
    for (open, close) in [
        ("(", ")"),
        ("(", ")*"),
        ("(", ")+"),
        ("(", ")?"),
        ("^(", ")"),
        ("(a/", ")"),
        ("(a|", ")"),
        ("(", "/a)"),
        ("(", "|a)*"),
    ] {
        cases.push(DepthCase::nest("ASK{?s ", open, "a", close, " ?o}"));
    }
    // A long chain in each of many brackets.
    for sign in ["/", "|"] {
        let chain = ["a"; 300].join(sign);
        cases.push(DepthCase::nest("ASK{?s ", "(", "a", &format!("{sign}{chain})*"), " ?o}"));
    }
    cases
}

fn triples() -> Vec<DepthCase> {
    let mut cases = Vec::new();
    for item in [
        "?s ?p ?o",
        "?s# ?p ?o#",
        "?x# a ?y",
        "_:b# a 1",
        "[] a []",
        "[a 1]",
        "(1 2) a ()",
        "?s a*/^a ?o",
        "?s (a|a)* ?o#",
        "?s a <<(?s ?p _:b#)>>",
        "?s ?p ?o#~?r#{|a ?x|}{|a 1|}~<u:r>",
        "<<?s ?p ?o#~?r#>>",
        "?s a 'x'@en, 'x'@ar--rtl, -1.5, 1e3, true, \"\"\"y\"\"\"^^<u:x>",
    ] {
        cases.push(DepthCase::chain("ASK{", item, ".", "}"));
        cases.push(DepthCase::chain("ASK{", item, ".", ". FILTER(?s = 1)}"));
    }
    for template in [
        "<<?s ?p ?o~[]>> a 1",
        "?s ?p ?o{|a 1|}",
        "?s ?p <<(?s ?p ?o)>>",
        "?s ?p ?o",
        "?s ?p _:b#",
        "[] a []",
        "(1 2) a ()",
    ] {
        cases.push(DepthCase::chain("CONSTRUCT{", template, ".", "}{?s ?p ?o}"));
        cases.push(DepthCase::chain("CONSTRUCT WHERE{", template, ".", "}"));
    }
    for (item, between) in [("a ?o#", ";"), ("a ?o", ";"), ("?p# ?o#", ";;"), ("a* ?o", ";")] {
        cases.push(DepthCase::chain("ASK{?s ", item, between, "}"));
    }
    cases.push(DepthCase::chain("ASK{?s a ", "?o", ",", "}"));
    cases.push(DepthCase::chain("ASK{?s a* ", "?o#", ",", "}"));
    cases.push(DepthCase::chain("ASK{?s a/a ", "?o#", ",", "}"));
    cases.push(DepthCase::chain("ASK{(", "1", " ", ") a ?o}"));
    cases.push(DepthCase::chain("ASK{?s a (", "[a 1]", " ", ")}"));
    for (open, close) in [("[a ", "]"), ("(", ")"), ("(1 ", ")"), ("[a (", ")]"), ("[a* ", "]")] {
        cases.push(DepthCase::nest("ASK{?s a ", open, "1", close, "}"));
        cases.push(DepthCase::nest("CONSTRUCT{?s a ", open, "1", close, "}{?s ?p ?o}"));
    }
    cases.push(DepthCase::nest("ASK{", "[a ", "1", "]", "}"));
    for (open, close) in [
        ("<<(?s a ", ")>>"),
        ("<<?s a ", ">>"),
        ("<<?s a ", "~?r#>>"),
        ("?o#{|a ", "|}"),
        ("?o~_:b#{|a ", "|}"),
        ("[a <<(?s a ", ")>>]"),
    ] {
        cases.push(DepthCase::nest("ASK{?s a ", open, "1", close, "}"));
        cases.push(DepthCase::nest("CONSTRUCT{?s a ", open, "1", close, "}{?s ?p ?o}"));
    }
    cases.push(DepthCase::nest("ASK{?s a ", "<<(", "?s", " a ?o)>>", "}"));
    cases.push(DepthCase::nest("ASK{", "<<", "?s", " a ?o>>", "}"));
    cases.push(DepthCase::nest("ASK{VALUES ?s{", "<<(<u:s> a ", "1", ")>>", "}?s ?p ?o}"));
    for mark in ["~", "~?r#", "{|a 1|}", "~<u:#>{|a 1|}"] {
        cases.push(DepthCase::chain("ASK{?s a ?o", mark, "", "}"));
        cases.push(DepthCase::chain("CONSTRUCT{?s a ?o", mark, "", "}{?s a ?o}"));
    }
    cases
}

fn groups() -> Vec<DepthCase> {
    let mut cases = Vec::new();
    let parts = [
        "{}",
        "{?s ?p ?o}",
        "{?s ?p ?o FILTER(?s=1)}",
        "{?s ?p ?o}UNION{?s a ?o}",
        "OPTIONAL{?s ?p ?o}",
        "OPTIONAL{?s ?p ?o FILTER(?s!=?o)}",
        "MINUS{?s ?p ?o}",
        "LATERAL{?s ?p ?l#}",
        "FILTER(?s=?o)",
        "FILTER EXISTS{?s ?p ?o}",
        "FILTER NOT EXISTS{?s ?p ?o MINUS{?s a ?o}}",
        "BIND(1 AS ?b#)",
        "BIND(?o AS ?o)",
        "BIND(?e AS ?b#)",
        "BIND(STR(?b#0) AS ?b#)",
        "GRAPH ?g{?s ?p ?o}",
        "GRAPH <u:g>{?s ?p ?o}",
        "SERVICE SILENT <u:s>{?s ?p ?o}",
        "SERVICE wikibase:label{bd:serviceParam wikibase:language 'en'}",
        "SERVICE wikibase:label{?s rdfs:label ?l#}",
        "SERVICE wikibase:around{?s wdt:P625 ?l#. bd:serviceParam wikibase:center ?c; wikibase:radius '1'}",
        "SERVICE wikibase:box{?s wdt:P625 ?l#. bd:serviceParam wikibase:cornerWest ?c; wikibase:cornerEast ?d}",
        "SERVICE wikibase:mwapi{bd:serviceParam wikibase:api 'EntitySearch'; mwapi:search 'x'. ?s wikibase:apiOutputItem mwapi:item}",
        "SERVICE gas:service{gas:program gas:gasClass 'com.bigdata.rdf.graph.analytics.BFS'; gas:in wd:Q1; gas:out ?g#; gas:linkType wdt:P31}",
        "SERVICE pathSearch:{_:p pathSearch:source wd:Q1; pathSearch:pathColumn ?p#; pathSearch:edgeColumn ?e; pathSearch:start ?a#; pathSearch:end ?z#. {?a# ?q ?z#}}",
        "SERVICE spatialSearch:{_:c spatialSearch:left ?o; spatialSearch:right ?r#; spatialSearch:maxDistance 10. ?i wdt:P625 ?r#}",
        "SERVICE textSearch:{?o textSearch:contains [textSearch:word 'x*'; textSearch:prefix-match ?m#]}",
        "?o ql:contains-word 'x'.",
        "SERVICE bd:sample{?s wdt:P31 ?o. bd:serviceParam bd:sample.limit 1}",
        "SERVICE bd:slice{?s wdt:P31 ?o. bd:serviceParam bd:slice.limit 1}",
        "VALUES ?v{1}",
        "VALUES(?v ?w){(1 UNDEF)}",
        "INCLUDE %n",
        "{SELECT ?s{?s ?p ?o}}",
        "{SELECT ?s{?s ?p ?o}ORDER BY ?s LIMIT 1}",
        "{SELECT DISTINCT ?s{?s ?p ?o}}",
        "{SELECT(COUNT(*)AS ?n#){?s ?p ?o}GROUP BY ?s HAVING(COUNT(*)>1)}",
        "?s ?p ?o. hint:Query hint:optimizer 'None'.",
    ];
    for part in parts {
        let with = if part.contains('%') { "SELECT*WITH{SELECT ?s{?s ?p ?o}}AS %n{" } else { "SELECT*{" };
        for start in ["", "?s ?p ?o "] {
            cases.push(DepthCase::chain(&format!("{with}{start}"), part, " ", "}"));
        }
        // Many groups, each with the maximum number of parts.
        let (many, with) = (part.replace('#', "").repeat(120), with.to_owned());
        cases.push(DepthCase::new(format!("120 {part} in each group"), move |count| {
            format!("{with}{}{}}}", format!("{{{many}").repeat(count), "}".repeat(count))
        }));
    }
    let around = [
        ("{", "}"),
        ("{}UNION{", "}"),
        ("{", "}UNION{}"),
        ("OPTIONAL{", "}"),
        ("?s ?p ?o OPTIONAL{?s ?p ?o ", "}"),
        ("MINUS{", "}"),
        ("LATERAL{", "}"),
        ("?s ?p ?o MINUS{?s ?p ?o ", "}"),
        ("GRAPH ?g{", "}"),
        ("SERVICE SILENT <u:s>{", "}"),
        ("SERVICE wikibase:label{", "}"),
        ("FILTER EXISTS{?s ?p ?o ", "}"),
        ("FILTER NOT EXISTS{", "}"),
        ("FILTER(1=1||EXISTS{", "})"),
        ("{SELECT*{", "}}"),
        ("{SELECT ?s{?s ?p ?o ", "}LIMIT 1}"),
        ("{SELECT(COUNT(*)AS ?n){", "}GROUP BY ?s}"),
        ("BIND(EXISTS{", "}AS ?b)"),
        ("BIND(?z AS ?y){", "}"),
        ("{BIND(?late AS ?b)", "}"),
    ];
    for (open, close) in around {
        cases.push(DepthCase::nest("SELECT*{", open, "?s ?p ?o", close, "}"));
        cases.push(DepthCase::nest("ASK{", open, "", close, "}"));
        // Each level also has a tail.
        cases.push(DepthCase::nest(
            "SELECT*{",
            open,
            "?s ?p ?o",
            &format!("{close} ?s ?p ?o OPTIONAL{{?s a ?o}}"),
            "}",
        ));
    }
    cases.push(DepthCase::chain("ASK{", "{?s ?p ?o}", "UNION", "}"));
    cases.push(DepthCase::chain("ASK{", "{?s ?p ?o FILTER(?s=1) ?s a* ?o}", "UNION", "}"));
    cases.push(DepthCase::chain("ASK{VALUES ?v{", "1", " ", "}}"));
    cases.push(DepthCase::chain("ASK{VALUES ?v{", "'x#'@en", " ", "}}"));
    cases.push(DepthCase::chain("ASK{VALUES(?v ?w){", "(1 UNDEF)", " ", "}}"));
    cases.push(DepthCase::chain("ASK{VALUES(", "?v#", " ", "){}}"));
    // Named subqueries: in sequence, each in the next one, each twice in the next one.
    cases.push(DepthCase::chain("SELECT*", "WITH{SELECT*{?s ?p ?o}}AS %n#", " ", "{INCLUDE %n0}"));
    for (name, times) in [("each in the next", 1), ("each twice in the next", 2)] {
        cases.push(DepthCase::new(format!("named subqueries, {name}"), move |count| {
            let with = |n: usize| {
                let body = format!("INCLUDE %n{} ", n + 1).repeat(times);
                format!("WITH{{SELECT*{{{body}OPTIONAL{{?s ?p ?o}}}}}}AS %n{n} ")
            };
            let all: String = (0..count).map(with).collect();
            format!("SELECT*{all}WITH{{SELECT*{{?s ?p ?o}}}}AS %n{count}{{INCLUDE %n0}}")
        }));
    }
    cases
}

fn expressions() -> Vec<DepthCase> {
    let mut cases = Vec::new();
    let (before, after) = ("SELECT*{?s ?p ?o FILTER(", ")}");
    for sign in ["||", "&&", "+", "-", "*", "/", "=", "!=", "<", "<=", ">", ">="] {
        for term in ["1", "false", "?s", "?v#", "(?s=1)", "-1", "!?s"] {
            cases.push(DepthCase::chain(before, term, sign, after));
        }
        cases.push(DepthCase::nest(before, &format!("(?s{sign}"), "1", ")", after));
        cases.push(DepthCase::nest(before, "(", "1", &format!("{sign}?s)"), after));
        cases.push(DepthCase::nest(before, &format!("NOW(){sign}("), "1", ")", after));
        cases.push(DepthCase::nest(before, &format!("'1'^^xsd:date{sign}("), "?s", ")", after));
        // A long chain in each of many brackets.
        let chain = ["?s"; 300].join(sign);
        cases.push(DepthCase::nest(before, "(", "1", &format!("{sign}{chain})"), after));
    }
    cases.push(DepthCase::chain(before, "1<1&&2>1", "||", after));
    cases.push(DepthCase::chain(before, "?s=?o&&?s!=1", "||", after));
    for (open, close) in [("(", ")"), ("!", ""), ("-(", ")"), ("+(", ")"), ("!(", ")"), ("!!(", "=1)")] {
        cases.push(DepthCase::nest(before, open, "1", close, after));
    }
    for word in ["IN", "NOT IN"] {
        cases.push(DepthCase::chain(&format!("{before}?o {word}("), "#", ",", &format!("){after}")));
        cases.push(DepthCase::chain(&format!("{before}?o {word}("), "?s+1", ",", &format!("){after}")));
        cases.push(DepthCase::nest(before, &format!("1 {word}("), "1", ")", after));
        cases.push(DepthCase::nest(before, "(", "1", &format!(" {word}(1))"), after));
    }
    for name in functions() {
        for (first, rest) in [("", ""), ("", ",?s"), ("?s,", ""), ("?s,", ",?s")] {
            cases.push(DepthCase::nest(before, &format!("{name}({first}"), "?o", &format!("{rest})"), after));
        }
        cases.push(DepthCase::chain(&format!("{before}{name}("), "?o", ",", &format!("){after}")));
        cases.push(DepthCase::chain(before, &format!("{name}(?s)=1"), "||", after));
    }
    cases.push(DepthCase::nest(before, "<<(?s a ", "?o", ")>>", &format!("=?o{after}")));
    cases.push(DepthCase::chain(&format!("{before}?o IN("), "<<(?s a #)>>", ",", &format!("){after}")));
    for name in ["xsd:integer", "geof:distance", "<u:f>", "fn:concat", "wikibase:isSomeValue"] {
        cases.push(DepthCase::nest(before, &format!("{name}("), "?o", ")", after));
        cases.push(DepthCase::nest(before, &format!("{name}(?s,"), "?o", ")", after));
        cases.push(DepthCase::chain(&format!("{before}{name}("), "?o", ",", &format!("){after}")));
    }
    for name in aggregates() {
        for distinct in ["", "DISTINCT "] {
            let call = |inner: &str| format!("{name}({distinct}{inner})");
            cases.push(DepthCase::chain("SELECT", &format!("({} AS ?a#)", call("?o")), "", "{?s ?p ?o}"));
            cases.push(DepthCase::chain("SELECT(", &call("?o+#"), "+", " AS ?a){?s ?p ?o}"));
            cases.push(DepthCase::chain("SELECT(CONCAT(", &call("?o+#"), ",", ") AS ?a){?s ?p ?o}"));
            cases.push(DepthCase::chain(
                "SELECT ?s{?s ?p ?o}GROUP BY ?s HAVING",
                &format!("({}>#)", call("?o")),
                "",
                "",
            ));
            cases.push(DepthCase::nest("SELECT(", &format!("{name}({distinct}"), "?o", ")", " AS ?a){?s ?p ?o}"));
            cases.push(DepthCase::nest(&format!("SELECT({name}({distinct}"), "(", "?o", ")", ") AS ?a){?s ?p ?o}"));
        }
    }
    cases.push(DepthCase::chain("SELECT(GROUP_CONCAT(?o;SEPARATOR='", "x", "", "') AS ?a){?s ?p ?o}"));
    cases.push(DepthCase::nest("ASK{", "FILTER(1 IN (EXISTS{", "", "}))", "}"));
    cases
}

fn modifiers() -> Vec<DepthCase> {
    let mut cases = Vec::new();
    let select = "SELECT*{?s ?p ?o}";
    for item in ["?s", "?v#", "(1)", "(?s+#)", "STR(?s)", "xsd:integer(?o)", "ASC(?s)", "DESC(?v#)", "DESC(?o+#)"] {
        cases.push(DepthCase::chain(&format!("{select}ORDER BY "), item, " ", ""));
    }
    for item in ["?s", "?v#", "(1)", "(?s+#)", "(1 AS ?v#)", "STR(?s)"] {
        cases.push(DepthCase::chain("SELECT(COUNT(*)AS ?n){?s ?p ?o}GROUP BY ", item, " ", ""));
    }
    for item in ["(1)", "(?s=#)", "(COUNT(*)>#)", "STR(?s)", "xsd:integer(?o)"] {
        cases.push(DepthCase::chain("SELECT(COUNT(*)AS ?n){?s ?p ?o}GROUP BY ?s HAVING ", item, " ", ""));
        cases.push(DepthCase::chain("SELECT(COUNT(*)AS ?n){?s ?p ?o}HAVING ", item, " ", ""));
    }
    for item in ["?s", "?v#", "(1 AS ?v#)", "(?s+1 AS ?v#)", "(?v AS ?v)", "?v#Label"] {
        for word in ["", "DISTINCT ", "REDUCED "] {
            cases.push(DepthCase::chain(&format!("SELECT {word}"), item, " ", "{?s ?p ?o}"));
        }
        cases.push(DepthCase::chain("SELECT ", item, " ", "{?s ?p ?o}GROUP BY ?s"));
    }
    let labels = "{?s ?p ?o SERVICE wikibase:label{bd:serviceParam wikibase:language 'en'}}";
    cases.push(DepthCase::chain("SELECT ", "?sLabel", " ", labels));
    cases.push(DepthCase::new("labels of many variables", |count| {
        let names: String = (0..count).map(|n| format!(" ?v{n}Label")).collect();
        let triples: String = (0..count).map(|n| format!("OPTIONAL{{?s ?p ?v{n}}}")).collect();
        format!("SELECT{names}{{{triples}SERVICE wikibase:label{{bd:serviceParam wikibase:language 'en'}}}}")
    }));
    for item in ["<u:a>", "<u:#>", "?s", "?v#", "wd:Q#"] {
        cases.push(DepthCase::chain("DESCRIBE ", item, " ", ""));
        cases.push(DepthCase::chain("DESCRIBE ", item, " ", "{?s ?p ?o}ORDER BY ?s LIMIT 2"));
    }
    cases.push(DepthCase::chain("DESCRIBE*{", "?s ?p ?o", ".", "}"));
    cases.push(DepthCase::chain("SELECT*", "FROM <u:#>", " ", "{?s ?p ?o}"));
    cases.push(DepthCase::chain("SELECT*", "FROM NAMED <u:#>", " ", "{GRAPH ?g{?s ?p ?o}}"));
    cases.push(DepthCase::chain("", "PREFIX p#: <u:>", " ", "ASK{?s ?p ?o}"));
    cases.push(DepthCase::chain("", "BASE <u:#>", " ", "ASK{?s ?p ?o}"));
    cases.push(DepthCase::chain("", "VERSION '1.2'", " ", "ASK{?s ?p ?o}"));
    cases.push(DepthCase::chain("", "WITH{SELECT ?s{?s ?p ?o}}AS %n#", " ", "SELECT*{INCLUDE %n0}"));
    cases.push(DepthCase::chain(&format!("{select}INTERNAL SORT BY "), "?s", " ", ""));
    cases.push(DepthCase::chain(select, "TEXTLIMIT 1", " ", ""));
    cases.push(DepthCase::chain(&format!("{select}LIMIT 1"), "OFFSET 1", " ", ""));
    cases.push(DepthCase::chain(&format!("{select}VALUES ?s{{"), "wd:Q#", " ", "}"));
    cases.push(DepthCase::chain("", "{", "", ""));
    for mark in marks() {
        cases.push(DepthCase::chain("ASK{?s ?p ?o FILTER(?s", &mark, "", ")}"));
        cases.push(DepthCase::chain("ASK{?s ", &mark, "", "}"));
    }
    cases
}

pub fn all() -> Vec<DepthCase> {
    [paths(), triples(), groups(), expressions(), modifiers()].into_iter().flatten().collect()
}

/// A sink that discards everything.
struct DepthSink;

impl ResultSink for DepthSink {
    fn variables(&mut self, _: &[Variable]) -> std::io::Result<()> {
        Ok(())
    }

    fn solution(&mut self, _: &[Option<Term>]) -> std::io::Result<()> {
        Ok(())
    }

    fn boolean(&mut self, _: bool) -> std::io::Result<()> {
        Ok(())
    }

    fn triple(&mut self, _: &Triple) -> std::io::Result<()> {
        Ok(())
    }
}

fn run(environment: &Environment, text: &str, settings: &SparqlSettings) -> String {
    let limits = Limits { deadline: Instant::now().checked_add(limit()), memory: Some(256 << 20), ..Limits::default() };
    let bounds = SparqlBounds { limits, rows: Some(100_000) };
    let done = prepare(text, settings).and_then(|query| query.run(environment, &bounds, &mut DepthSink));
    done.map_or_else(|error| error.code.to_string(), |summary| format!("{} rows", summary.rows))
}

#[test]
fn no_text_of_sparql_ends_the_process() {
    let opened = open();
    let environment = opened.engine.triples().expect("it has triples");
    let standard = SparqlSettings { dialect: Dialect::Standard, ..SparqlSettings::default() };
    try_all(&all(), |text| {
        let outcome = run(environment, text, &SparqlSettings::default());
        if is_all() && text.len() < 10_000 {
            format!("{outcome}/{}", run(environment, text, &standard))
        } else {
            outcome
        }
    });
}

#[test]
fn every_word_and_mark_of_sparql_is_tried() {
    let texts: Vec<String> = all().iter().map(|case| case.text(2)).collect();
    let mut words: Vec<String> =
        PARSER.iter().flat_map(|text| found(r#"word(?:_at)?\((?:[0-9], )?"([A-Za-z]+)"\)"#, text)).collect();
    words.extend(functions());
    words.extend(aggregates());
    assert!(words.len() > 80, "{words:?}");
    // Every keyword must occur in some text.
    let has = |word: &str| texts.iter().any(|text| text.to_ascii_uppercase().contains(&word.to_ascii_uppercase()));
    let missing: Vec<&String> = words.iter().filter(|word| !has(word)).collect();
    assert!(missing.is_empty(), "no text has {missing:?}");
    for mark in marks() {
        assert!(texts.iter().any(|text| text.contains(&mark)), "no text has {mark}");
    }
}
