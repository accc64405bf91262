//! `terrapin load --lexical-forms`: literals are terms as written, and are compared and computed by their values
//! (RDF 1.1 Concepts, 3.3: literals are the same term only with the same lexical form; SPARQL 1.1, 17.3 and 17.4).

use std::path::Path;
use std::sync::Arc;

use crate::common::terrapin;
use crate::common::triples::ValueLines;
use terrapin::snapshot::Snapshot;
use terrapin::sparql::{Dialect, Environment, SparqlBounds, SparqlSettings, prepare};

const DATA: &str = "@prefix : <http://e/> . @prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
:a :p 1 . :b :p 01 . :c :p 1.0 . :d :p \"+1\"^^xsd:integer . :e :p \"1\"^^xsd:boolean . :f :p 1e0 .
:a :q \"2001-01-01T00:00:00+00:00\"^^xsd:dateTime . :b :q \"2001-01-01T00:00:00Z\"^^xsd:dateTime .
:a :same 01 .
";

fn load(folder: &Path, more: &[&str], out: &str) {
    let mut command = terrapin();
    command.current_dir(folder).args(["load", "--out", out]).args(more).assert().success();
}

fn ask(snapshot: &Path, text: &str) -> Vec<String> {
    let environment = Environment::open(&Arc::new(Snapshot::open(snapshot).unwrap())).unwrap().unwrap();
    let settings = SparqlSettings { dialect: Dialect::Standard, ..SparqlSettings::default() };
    let text = format!("PREFIX : <http://e/> PREFIX xsd: <http://www.w3.org/2001/XMLSchema#> {text}");
    let mut lines = ValueLines::new("-");
    prepare(&text, &settings).expect(&text).run(&environment, &SparqlBounds::default(), &mut lines).expect(&text);
    lines.lines.sort();
    lines.lines
}

#[test]
fn literals_are_terms_as_written_and_values_in_expressions() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("x.ttl"), DATA).unwrap();
    load(folder.path(), &["--rdf", "x.ttl", "--lexical-forms"], "kept.terrapin");
    load(folder.path(), &["--rdf", "x.ttl"], "plain.terrapin");
    let [kept, plain] = ["kept.terrapin", "plain.terrapin"].map(|name| folder.path().join(name));
    for (text, in_kept, in_plain) in [
        ("SELECT ?o { ?s :p ?o }", "+1 01 1 1 1.0 1e0", "1 1 1 1 1 true"),
        ("SELECT (COUNT(DISTINCT ?o) AS ?n) { ?s :p ?o }", "6", "4"),
        // A pattern matches terms; `=` compares values.
        ("SELECT ?s { ?s :p 01 }", "b", "a b d"),
        ("SELECT ?s { ?s :p ?o FILTER(?o = 01) }", "a b c d f", "a b c d f"),
        ("SELECT ?s { ?s :p ?o FILTER(?o IN (01)) }", "a b c d f", "a b c d f"),
        ("SELECT ?s { ?s :p ?o FILTER(sameTerm(?o, 01)) }", "b", "a b d"),
        ("SELECT (sameTerm(?o, ?n) AS ?x) { :a :p ?o . :b :p ?n }", "false", "true"),
        ("SELECT ?s { ?s :p ?o . :a :same ?o }", "b", "a b d"),
        // The text is the lexical form; the result of arithmetic is canonical.
        ("SELECT (STR(?o) AS ?x) { :b :p ?o }", "01", "1"),
        ("SELECT (CONCAT(STR(?o), \"-\", STR(\"+7\"^^xsd:integer)) AS ?x) { :b :p ?o }", "01-+7", "1-7"),
        ("SELECT (STRLEN(STR(IF(true, ?o, 5))) AS ?x) { :b :p ?o }", "2", "1"),
        ("SELECT (?o + 0 AS ?x) { :b :p ?o }", "1", "1"),
        ("SELECT (DATATYPE(?o) AS ?x) { :b :p ?o }", "XMLSchema#integer", "XMLSchema#integer"),
        // An expression that returns an operand returns the term.
        ("SELECT (IF(?o > 0, ?o, 5) AS ?x) { :b :p ?o }", "01", "1"),
        ("SELECT (COALESCE(?none, ?o) AS ?x) { :d :p ?o }", "+1", "1"),
        ("SELECT (\"007\"^^xsd:integer AS ?x) (COALESCE(1/0, 01.50) AS ?y) {}", "007 01.50", "7 1.5"),
        ("SELECT (GROUP_CONCAT(?o) AS ?x) { VALUES ?s { :b :d } ?s :p ?o }", "+1 01", "1 1"),
        ("SELECT (SUM(?o) AS ?x) { VALUES ?s { :b :d } ?s :p ?o }", "2", "2"),
        ("SELECT (COUNT(*) AS ?n) { ?s :q ?o } GROUP BY ?o", "1 1", "2"),
        ("ASK { :a :q ?a . :b :q ?b FILTER(?a = ?b && !sameTerm(?a, ?b)) }", "true", "false"),
        ("SELECT ?s { ?s :p ?o FILTER(?o) }", "a b c d e f", "a b c d e f"),
        ("SELECT ?s { ?s :p ?o } ORDER BY ?o ?s LIMIT 1", "a", "a"),
    ] {
        for (snapshot, expected) in [(&kept, in_kept), (&plain, in_plain)] {
            assert_eq!(ask(snapshot, text).join(" "), expected, "{text} over {}", snapshot.display());
        }
    }
    // In triple terms too, which the snapshot without lexical forms has in canonical form.
    let said = "@prefix : <http://e/> . :a :says <<( :b :p 01 )>> ; :name \"\u{633}\"@ar--rtl . :b :p 01 .";
    std::fs::write(folder.path().join("z.ttl"), said).unwrap();
    load(folder.path(), &["--rdf", "z.ttl", "--lexical-forms"], "said.terrapin");
    let said = folder.path().join("said.terrapin");
    for (text, expected) in [
        ("SELECT ?s { ?s :says <<( :b :p 01 )>> }", "a"),
        ("SELECT ?s { ?s :says <<( :b :p 1 )>> }", ""),
        ("SELECT ?o { :a :says <<( :b :p ?o )>> }", "01"),
        ("SELECT ?s { :b :p ?o . ?s :says <<( :b :p ?o )>> }", "a"),
        ("SELECT ?s { :b :p ?o BIND(TRIPLE(:b, :p, ?o) AS ?t) ?s :says ?t }", "a"),
        ("SELECT ?s { BIND(TRIPLE(:b, :p, 1) AS ?t) ?s :says ?t }", ""),
        ("SELECT ?s { ?s :says ?t FILTER(?t = <<( :b :p 1 )>>) }", "a"),
        ("SELECT ?s { ?s :says ?t FILTER(?t IN (<<( :b :p 1 )>>)) }", "a"),
        ("SELECT ?s { ?s :says ?t FILTER(sameTerm(?t, TRIPLE(:b, :p, 01))) }", "a"),
        ("SELECT ?s { ?s :says ?t FILTER(sameTerm(?t, TRIPLE(:b, :p, 1))) }", ""),
        ("SELECT (OBJECT(?t) AS ?o) (OBJECT(?t) + 1 AS ?n) { :a :says ?t }", "01 2"),
        ("SELECT (STR(OBJECT(?t)) AS ?o) { :a :says ?t }", "01"),
        ("SELECT (OBJECT(COALESCE(?none, ?t)) AS ?o) { :a :says ?t }", "01"),
        ("SELECT ?s { :a :says ?t BIND(COALESCE(?none, ?t) AS ?u) ?s :says ?u }", "a"),
        // A string with a base direction keeps it.
        ("SELECT (COALESCE(?none, ?n) AS ?m) (LANGDIR(?m) AS ?d) { :a :name ?n }", "\u{633} rtl"),
        ("SELECT ?s { :a :name ?n BIND(IF(true, ?n, 1) AS ?m) ?s :name ?m }", "a"),
        ("ASK { :a :name ?n FILTER(sameTerm(?n, \"\u{633}\"@ar--ltr)) }", "false"),
    ] {
        assert_eq!(ask(&said, text).join(" "), expected, "{text}");
    }
    // The forms that a base does not keep cannot come back. A base without triples has none to lose.
    let base =
        |name: &'static str| ["load", "--base", name, "--rdf", "x.ttl", "--lexical-forms", "--out", "again.terrapin"];
    let refused = terrapin().current_dir(folder.path()).args(base("plain.terrapin")).assert().code(3);
    let said = String::from_utf8(refused.get_output().stderr.clone()).unwrap();
    assert!(said.contains("--lexical-forms") && said.contains("the base"), "{said}");
    assert!(!folder.path().join("again.terrapin").exists());
    // A snapshot made from one that keeps lexical forms keeps them.
    std::fs::write(folder.path().join("y.ttl"), "<http://e/g> <http://e/p> 0010 .").unwrap();
    load(folder.path(), &["--base", "kept.terrapin", "--rdf", "y.ttl"], "more.terrapin");
    assert_eq!(ask(&folder.path().join("more.terrapin"), "SELECT ?s { VALUES ?o { 01 0010 } ?s :p ?o }"), ["b", "g"]);
}
