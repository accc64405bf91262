//! Tests the feedback on a query, by the command and over HTTP, and scores over HTTP in the form that the Python module
//! uses.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};

use crate::common;
use crate::common::Town;
use crate::common::skip;
use serde_json::{Value, json};

fn say(town: &Town, query: &str, more: &[&str]) -> String {
    let done = common::terrapin().arg("feedback").arg(town.snapshot()).args(more).arg(query).output().unwrap();
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    String::from_utf8(done.stdout).unwrap()
}

#[test]
fn errors_have_their_place_and_a_hint() {
    let town = Town::new();
    let said = say(&town, "[out:json];\nnod[amenity=cafe];out;", &[]);
    assert!(said.starts_with("parse error: ") && said.contains("(line 2, column 1)"), "{said}");
    assert!(said.contains("at: [out:json];\n>>nod<<[amenity=cafe];out;"), "{said}");
    assert!(said.contains("hint: did you mean \"node\"?"), "{said}");
    let said: Value =
        serde_json::from_str(&say(&town, "{{geocodeArea:Atlantis}}->.a;node(area.a);out;", &["--json"])).unwrap();
    assert_eq!((said["errors"][0]["code"].as_str(), said["results"].is_null()), (Some("shortcut"), true));
    assert_eq!(said["errors"][0]["column"], 1);
}

#[test]
fn results_in_few_words() {
    let town = Town::new();
    let said = say(&town, "node[amenity=cafe];out;way[highway];out;", &["--sample", "2"]);
    assert_eq!(
        said,
        "5 results (4 node, 1 way)\n  node/1 amenity=cafe name=Bean & Leaf\n  node/2 amenity=cafe name=Zur Mühle\n  \
         ... and 3 more\n"
    );
    assert_eq!(say(&town, "node[amenity=cafe];out count;", &[]).lines().next(), Some("1 results"));
}

#[test]
fn what_is_not_in_the_data_is_named_with_what_is() {
    let town = Town::new();
    for (query, warning) in [
        ("node[amenty=cafe];out;", "no element has the key \"amenty\"; there is amenity (4), amenity=cafe (4)"),
        ("node[amenity=caffe];out;", "no element has amenity=caffe; there is amenity=cafe (4)"),
        ("node[highway=cafe];out;", "no element has highway=cafe; there is amenity=cafe (4), highway=residential (1)"),
        ("area[name=Ladel]->.a;node(area.a);out;", "no element has name=Ladel; there is name=Ladle (1)"),
        ("area[name=Ladle][admin_level=8][type]->.a;way(area.a);out;", ""),
        ("area[name=\"Ladle Street\"]->.a;node(area.a);out;", "no area fits area[name=\"Ladle Street\"]->.a"),
        ("node(5);out;", "no element has the id 5"),
        ("node(21);out;", "no element has the id 21; there is way/21"),
        ("area(3600000032)->.a;node(area.a);out;", "there is no area 3600000032"),
        ("node(area:3600000031)[amenity];out;", ""),
        ("node[amenity=cafe](11,20,12,21);out;", "alone, node[amenity=cafe](11,20,12,21) finds nothing"),
        (
            "area(3600000031)->.a;node[amenity=cafe][highway](area.a);out;",
            "node[amenity=cafe][highway](area.a) finds nothing; it finds 3 without [highway]",
        ),
        // A count of 0 is treated like an empty result.
        (
            "area(3600000031)->.a;(node[amenity=cafe][highway](area.a);way[amenity](area.a););out count;",
            "node[amenity=cafe][highway](area.a) finds nothing; it finds 3 without [highway]",
        ),
        (
            "node[amenity=cafe](10,20,10.01,20.01)[highway];out;",
            "alone, node[amenity=cafe](10,20,10.01,20.01)[highway] finds nothing; it finds 3 without [highway]",
        ),
        ("area(3600000031)->.a;node[amenity=cafe](area.a);out count;", ""),
        ("node[amenity=cafe]->.x;node(1);out;", "the set .x is filled and never used or output"),
        ("node[amenity=cafe](area.x);out;", "the set .x is used and never filled"),
        ("node[amenity=cafe];", "nothing is output: add `out;`"),
    ] {
        let said = say(&town, query, &[]);
        let warnings: Vec<&str> = said.lines().filter_map(|line| line.strip_prefix("warning: ")).collect();
        match warning {
            "" => assert!(warnings.is_empty(), "{query}: {warnings:?}"),
            _ => assert!(warnings.iter().any(|w| w.starts_with(warning)), "{query}: {said}"),
        }
    }
}

#[test]
fn queries_without_results_and_with_errors_are_repaired() {
    let town = Town::new();
    for (query, title, repaired, results) in [
        ("node[amenity=caffe];out;", "replace [amenity=caffe] with [amenity=cafe]", "node[amenity=cafe];out;", 4),
        ("node[amenity=cafe];", "add out geom;", "node[amenity=cafe];\nout geom;", 4),
        ("nod[amenity=cafe];out;", "replace nod with node", "node[amenity=cafe];out;", 4),
        ("node[amenity=cafe]out;", "add the missing \";\"", "node[amenity=cafe];out;", 4),
        ("node[amenity=cafe;out;", "add the missing \"]\"", "node[amenity=cafe];out;", 4),
        (
            "node(arround:1,36,14)[amenity];nwr[amenity=cafe];out;",
            "replace arround with around",
            "node(around:1,36,14)[amenity];nwr[amenity=cafe];out;",
            4,
        ),
        ("way[amenity=cafe];out;", "replace way with nwr", "nwr[amenity=cafe];out;", 4),
    ] {
        let said: Value = serde_json::from_str(&say(&town, query, &["--json"])).unwrap();
        let repairs = said["repairs"].as_array().unwrap();
        let found = repairs.iter().find(|repair| repair["title"] == title);
        let found = found.unwrap_or_else(|| panic!("{query}: {said}"));
        assert_eq!(found["query"], repaired, "{query}");
        assert_eq!((&found["results"], &found["lang"]), (&json!(results), &json!("overpassql")), "{query}");
        // The edits lead to the repaired query.
        let edit = &found["edits"][0];
        let place = |name: &str| usize::try_from(edit[name].as_u64().unwrap()).unwrap();
        let edited = [&query[..place("start")], edit["text"].as_str().unwrap(), &query[place("end")..]].concat();
        assert_eq!(edited, repaired, "{query}");
    }
    // The key and the tag that are near give one repair.
    let said: Value = serde_json::from_str(&say(&town, "node[amenty=cafe];out;", &["--json"])).unwrap();
    let repairs: Vec<&Value> = said["repairs"].as_array().unwrap().iter().map(|repair| &repair["query"]).collect();
    assert_eq!(repairs.iter().filter(|query| **query == "node[amenity=cafe];out;").count(), 1, "{said}");
    // A query with results has none, nor has one that no single edit repairs.
    for query in ["node[amenity=cafe];out;", "node[amenity=caffe][highway=nothing];out;"] {
        let said: Value = serde_json::from_str(&say(&town, query, &["--json"])).unwrap();
        assert_eq!(said["repairs"], json!([]), "{query}");
    }
    let sparql = "SELECT * WHERE { ?x ?y ?z }";
    let said: Value = serde_json::from_str(&say(&town, sparql, &["--json", "--lang", "overpassql"])).unwrap();
    let repair = &said["repairs"][0];
    assert_eq!((&repair["lang"], &repair["query"]), (&json!("sparql"), &json!(sparql)));
    let text = say(&town, "node[amenity=caffe];out;", &[]);
    assert!(text.ends_with("repair: replace [amenity=caffe] with [amenity=cafe] (4 results)\n"), "{text}");
}

struct FeedbackServer {
    child: Child,
    url: String,
    town: Town,
}

impl FeedbackServer {
    fn start() -> FeedbackServer {
        FeedbackServer::over(Town::new())
    }

    fn over(town: Town) -> FeedbackServer {
        let mut child = Command::new(assert_cmd::cargo::cargo_bin("terrapin"))
            .arg("serve")
            .arg(town.snapshot())
            .args(["--bind", "127.0.0.1:0", "--json"])
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let ready: Value = serde_json::from_str(&line).unwrap();
        FeedbackServer { child, url: ready["url"].as_str().unwrap().to_owned(), town }
    }

    fn post(&self, path: &str, body: &str) -> (u16, Value) {
        let mut stream = TcpStream::connect(self.url.strip_prefix("http://").unwrap()).unwrap();
        let length = body.len();
        let head = format!("POST {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: {length}\r\n\r\n");
        stream.write_all((head + body).as_bytes()).unwrap();
        let mut text = String::new();
        stream.read_to_string(&mut text).unwrap();
        let (head, body) = text.split_once("\r\n\r\n").unwrap();
        (head.split(' ').nth(1).unwrap().parse().unwrap(), serde_json::from_str(body).unwrap())
    }
}

impl Drop for FeedbackServer {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn over_http() {
    let server = FeedbackServer::start();
    let (status, said) = server.post("/feedback", r#"{"query": "node[amenty];out;", "sample": 1}"#);
    assert_eq!((status, said["warnings"][0]["code"].as_str()), (200, Some("no-such-key")));
    assert_eq!(said["results"]["count"], 0);
    assert!(said["text"].as_str().unwrap().starts_with("0 results\nwarning: no element has the key \"amenty\""));
    let (status, said) = server.post("/feedback", r#"{"query": "node({{bbox}});out;", "bbox": "1,2"}"#);
    assert_eq!((status, said["error"].as_str().is_some()), (400, true));
    assert_eq!(server.post("/feedback", "node(1);out;").0, 400);

    let pairs = json!({
        "references": ["node[amenity=cafe];out;", "node(1);out;", "node(1);out;"],
        "predictions": ["node[amenity=cafe]({{bbox}});out;", "[out:json];node(1);out;", "node(1;out;"],
        "bbox": ["10,20,10.0025,20.1", "", ""],
    });
    let (status, scored) = server.post("/score", &pairs.to_string());
    assert_eq!(status, 200, "{scored}");
    let field = |name: &str| (0..3).map(|i| scored["results"][i][name].clone()).collect::<Vec<_>>();
    assert_eq!(field("ex"), [0, 1, 0]);
    assert_eq!(field("ex_soft"), [0.5, 1.0, 0.0]);
    assert_eq!(field("error"), [Value::Null, Value::Null, "parse_error".into()]);
    assert!(scored["results"][1]["oqs"].as_f64().unwrap() > 0.5);
    let (status, said) = server.post("/score", r#"{"references": [], "predictions": ["a"]}"#);
    assert_eq!(
        (status, said["error"].as_str()),
        (400, Some("predictions, references and bbox must have the same length"))
    );
}

/// A query with results, one without results, and an invalid one.
const SPARQL: [&str; 3] = [
    "SELECT ?x ?n { ?x wdt:P31 wd:Q3957; rdfs:label ?n }",
    "SELECT ?x { ?x wdt:P31 wd:Q99 }",
    "SELECT ?x { ?x wdt:P31 wd:Q3957 ",
];

#[test]
fn sparql_is_looked_at_by_both() {
    let server = FeedbackServer::over(Town::with_triples());
    for (query, text) in [
        (SPARQL[0], "1 results\n  x=wd:Q1 n=Ladle@en\n"),
        (SPARQL[1], "0 results\nwarning: no triple has wd:Q99\n"),
        ("ASK { wd:Q1 ?p ?o }", "1 results\n  true\n"),
        (
            "SELECT ?e { ?e osmkey:amnity 'cafe' }",
            "0 results\nwarning: no element has the key \"amnity\"; there is amenity (4), amenity=cafe (4)\n",
        ),
        (
            "SELECT ?e { ?e osmkey:amenity 'cafee' }",
            "0 results\nwarning: no element has amenity=cafee; there is amenity=cafe (4)\n",
        ),
        (
            "SELECT ?e { ?e osmkey:admin_level '8' }",
            "0 results\nwarning: admin_level has whole numbers, '8' is a text; there is osmkey:admin_level 8\n",
        ),
        ("SELECT ?e { ?e osmkey:admin_level 8 }", "1 results\n  e=osmrel:31\n"),
        (
            "SELECT ?e { ?e ogc:contains osmnode:1 }",
            "0 results\nwarning: no element has ogc:contains; there is ogc:sfContains\n",
        ),
        (
            "SELECT ?e { ?e <https://wiki.openstreetmap.org/wiki/Key:amenity> 'cafe' }",
            "0 results\nwarning: no element has <https://wiki.openstreetmap.org/wiki/Key:amenity>; there is osmkey:amenity\n",
        ),
        // Unknown names of any vocabulary are reported wherever they occur in the query.
        ("SELECT * { ?x schema:about ?y }", "0 results\nwarning: no triple has schema:about\n"),
        (
            "SELECT * { ?x <http://e/label> ?y }",
            "0 results\nwarning: no triple has <http://e/label>; there is rdfs:label (1)\n",
        ),
        (
            "SELECT * { ?x wdt:P31 ?y . FILTER NOT EXISTS { ?x <http://e/q>/^<http://e/r>* ?z } }",
            "1 results\n  x=wd:Q1 y=wd:Q3957\nwarning: no triple has <http://e/q>\nwarning: no triple has <http://e/r>\n",
        ),
        (
            "SELECT * { ?x ?p ?y VALUES ?p { <http://e/q> wdt:P31 } }",
            "1 results\n  p=wdt:P31 x=wd:Q1 y=wd:Q3957\nwarning: no triple has <http://e/q>\n",
        ),
        ("SELECT * { ?x wdt:P31 wd:Q1 }", "0 results\nwarning: nothing is of the class wd:Q1\n"),
        ("SELECT * { ?x wd:Q1 ?y }", "0 results\nwarning: no triple has the predicate wd:Q1\n"),
        ("SELECT * { GRAPH <http://e/g> { ?x wdt:P31 ?y } }", "0 results\nwarning: there is no graph <http://e/g>\n"),
        (
            "SELECT * { ?x wdt:P31 ?y SERVICE SILENT <http://e/sparql> { ?x <http://e/p> ?z } }",
            "1 results\n  x=wd:Q1 y=wd:Q3957\nwarning: a snapshot has no answers of the service <http://e/sparql>\n",
        ),
        ("SELECT * { ?x wdt:P31 ?y . ?x !<http://e/q> ?y }", "1 results\n  x=wd:Q1 y=wd:Q3957\n"),
        (
            "SELECT ?x { SERVICE wikibase:around { ?x wdt:P31 ?l . bd:serviceParam wikibase:center 'Point(1 1)'; wikibase:radius '1' } }",
            "0 results\n",
        ),
        ("CONSTRUCT WHERE { wd:Q2 wdt:P131 ?o }", "1 results\n  wd:Q2 wdt:P131 wd:Q1\n"),
    ] {
        assert_eq!(say(&server.town, query, &[]), text, "{query}");
        let (status, said) = server.post("/feedback", &json!({ "query": query }).to_string());
        assert_eq!((status, said["text"].as_str()), (200, Some(text)), "{query}");
    }
    let said = say(&server.town, SPARQL[2], &["--lang", "SPARQL"]);
    assert!(said.starts_with("parse error: ") && said.contains("(line 1, column 33)"), "{said}");
    let wrong = json!({ "query": SPARQL[0], "lang": "sql" }).to_string();
    assert_eq!(server.post("/feedback", &wrong).0, 400);
    // In QLever's dialect the predicate is a search, in that of the Wikidata Query Service one that no triple has.
    let words = "SELECT ?t { ?t ql:contains-word 'ladle' }";
    for (dialect, count) in [("auto", 1), ("qlever", 1), ("wdqs", 0)] {
        let (status, said) = server.post("/feedback", &json!({ "query": words, "dialect": dialect }).to_string());
        assert_eq!((status, said["results"]["count"].as_u64()), (200, Some(count)), "{dialect}: {said}");
        let text = said["text"].as_str().unwrap();
        assert_eq!(say(&server.town, words, &["--dialect", dialect]), text, "{dialect}");
        assert_eq!(text.contains("no triple has ql:contains-word"), count == 0, "{dialect}: {text}");
    }
    let (status, said) = server.post("/feedback", &json!({ "query": words, "dialect": "virtuoso" }).to_string());
    assert!(status == 400 && said["error"].as_str().unwrap().contains("auto, wdqs, qlever, standard"), "{said}");
    let without = FeedbackServer::start();
    let asked = json!({ "query": SPARQL[0], "lang": "sparql" }).to_string();
    let (status, said) = without.post("/feedback", &asked);
    assert!(status == 400 && said["error"].as_str().unwrap().contains("no triples"), "{said}");
    // Queries about elements need no triples.
    let asked = json!({ "query": "SELECT ?e { ?e osmkey:amenity 'cafe' }", "lang": "sparql" }).to_string();
    let (status, said) = without.post("/feedback", &asked);
    assert!(status == 200 && said["results"]["count"] == 4, "{said}");
    // A client that omits the language gets a hint about the possible ones.
    let (status, said) = without.post("/feedback", &json!({ "query": SPARQL[0] }).to_string());
    assert!(status == 200 && said["errors"][0]["hint"].as_str().unwrap().contains("SPARQL"), "{said}");
    assert_eq!(said["errors"][0]["code"], "no-triples");
}

#[test]
fn scores_are_those_of_a_run_and_a_shared_reference_runs_once() {
    let server = FeedbackServer::over(Town::with_triples());
    let run = |lang: &str, pairs: &[(&str, &str)]| -> Vec<Value> {
        let line = |(gold, pred): &(&str, &str)| format!("{}\n", json!({"gold": gold, "pred": pred, "lang": lang}));
        let [lines, out] = ["lines", "out"].map(|name| server.town.path(name));
        std::fs::write(&lines, pairs.iter().map(line).collect::<String>()).unwrap();
        let mut command = common::terrapin();
        command.args(["eval", "jsonl"]).arg(server.town.snapshot()).arg(&lines).arg("--out").arg(&out);
        command.args(["--no-cache", "--overwrite"]).assert().success();
        let text = std::fs::read_to_string(out.join("results.jsonl")).unwrap();
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    };
    let score = |lang: &str, pairs: &[(&str, &str)]| {
        let (golds, preds): (Vec<&str>, Vec<&str>) = pairs.iter().copied().unzip();
        let asked = json!({"references": golds, "predictions": preds, "lang": lang});
        let (status, said) = server.post("/score", &asked.to_string());
        assert_eq!(status, 200, "{said}");
        (said["results"].as_array().unwrap().clone(), said["reused"].as_u64().unwrap())
    };
    let mut pairs: Vec<(&str, &str)> = SPARQL.iter().map(|pred| (SPARQL[0], *pred)).collect();
    pairs.push((SPARQL[0], "ASK { }"));
    pairs.push((SPARQL[0], ""));
    let (scored, reused) = score("sparql", &pairs);
    assert_eq!(scored, run("sparql", &pairs));
    assert_eq!(scored[0]["strict"]["jaccard"], 1.0);
    assert_eq!(scored[4]["strict"]["error"], "no_query");
    assert_eq!(reused, 4, "the reference was run for the first pair only");

    let gold = "[out:json];node[amenity=cafe];out;";
    let preds = ["[out:json];node(1);out;", "[out:json];node(2);out;", "[out:json];node(1);out;", "node[;"];
    let pairs: Vec<(&str, &str)> = preds.iter().map(|pred| (gold, *pred)).collect();
    let (scored, reused) = score("overpassql", &pairs);
    assert_eq!(reused, 4, "the reference three times, a prediction once");
    let ex: Vec<f64> = scored.iter().map(|record| record["ex_soft"].as_f64().unwrap()).collect();
    assert_eq!(ex, [0.25, 0.25, 0.25, 0.0]);
    for wrong in [
        json!({"references": [gold], "predictions": [gold], "lang": "sql"}),
        json!({"references": [SPARQL[0]], "predictions": [SPARQL[0]], "lang": "sparql", "bbox": [""]}),
    ] {
        assert_eq!(server.post("/score", &wrong.to_string()).0, 400, "{wrong}");
    }
}

#[test]
fn the_python_module() {
    if Command::new("python3").arg("--version").output().is_err() {
        skip::skipped(skip::Need::Python, "there is no python3");
        return;
    }
    let server = FeedbackServer::start();
    let done = Command::new("python3")
        .args(["-m", "unittest", "discover", "-s", "tests"])
        .current_dir(common::place::root().join("python"))
        .env("TERRAPIN_URL", &server.url)
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .output()
        .unwrap();
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
}
