//! Compares CodeBLEU with the code of Instruct-to-SPARQL's authors, on 300 pairs derived from the shared queries.
//!
//! Needs a Python with rdflib 7.0.0, codebleu 0.7.0 and tree-sitter-python 0.21.0 (TERRAPIN_PEER_PYTHON) and a checkout
//! of their repository (TERRAPIN_INSTRUCT_TO_SPARQL). Skipped if one is missing.

use std::path::PathBuf;
use std::process::{Command, Stdio};

use crate::common::place;
use crate::common::skip;
use serde_json::Value;
use terrapin::eval::metrics::codebleu::codebleu;

fn lines(output: std::process::Output) -> Vec<Value> {
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap().lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn equal_to_the_published_code() {
    let var = |name: &str| std::env::var_os(name).map(PathBuf::from);
    let (Some(python), Some(checkout)) = (var("TERRAPIN_PEER_PYTHON"), var("TERRAPIN_INSTRUCT_TO_SPARQL")) else {
        skip::skipped(skip::Need::Peers, "no peer (set TERRAPIN_PEER_PYTHON and TERRAPIN_INSTRUCT_TO_SPARQL)");
        return;
    };
    let root = place::root();
    let shared = var("TERRAPIN_SHARED").unwrap_or_else(|| root.join("../shared"));
    let queries = shared.join("data/instruct-to-sparql/queries.jsonl.gz");
    if !queries.exists() {
        skip::skipped(skip::Need::Shared, format_args!("{} is not there (set TERRAPIN_SHARED)", queries.display()));
        return;
    }
    let script = |name: &str| root.join("tests/peers").join(name);
    let made = Command::new(&python).arg(script("query_pairs.py")).arg(&queries).output().unwrap();
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("pairs"), &made.stdout).unwrap();
    let pairs = lines(made);
    let input = std::fs::File::open(folder.path().join("pairs")).unwrap();
    let mut peer = Command::new(&python);
    peer.arg(script("instruct_to_sparql.py")).arg(checkout).stdin(Stdio::from(input));
    let expected = lines(peer.output().unwrap());
    assert_eq!((pairs.len(), expected.len()), (300, 300));
    // Counts of all pairs and of equal ones: first those for which rdflib parses both queries, then the others.
    let mut counts = [[0; 2]; 2];
    for (pair, expected) in pairs.iter().zip(&expected) {
        let [gold, pred] = ["gold", "pred"].map(|name| pair[name].as_str().unwrap());
        let ours = codebleu(gold, pred);
        let parses = expected["parses"].as_bool().unwrap();
        assert_eq!(ours.is_some_and(|ours| ours.parsed), parses, "{pair}");
        let score = ours.map_or(0.0, |ours| ours.score());
        let equal = expected["codebleu"].as_f64().is_some_and(|expected| (expected - score).abs() < 1e-6);
        counts[usize::from(!parses)][0] += 1;
        counts[usize::from(!parses)][1] += usize::from(equal);
        assert!(equal || !parses, "{pair}: {score}, {expected}");
    }
    let [[parsed, parsed_equal], [raw, raw_equal]] = counts;
    println!("parsed by rdflib: {parsed_equal} of {parsed} equal; not parsed: {raw_equal} of {raw} equal");
}
