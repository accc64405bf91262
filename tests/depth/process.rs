//! Tests the same through the binary, where an abort is visible: some texts that once ended the process.

use std::process::Output;

use serde_json::{Value, json};

use super::common::{Town, terrapin};

/// Texts with their languages.
fn texts() -> Vec<(&'static str, String)> {
    let mut texts: Vec<(&str, String)> = Vec::new();
    let mut sparql = |text: String| texts.push(("sparql", text));
    sparql(format!("ASK{{?s {} ?o}}", ["a"; 6000].join("|")));
    sparql(format!("ASK{{?s {} ?o}}", ["a"; 20_000].join("/")));
    sparql(format!("ASK{{?s {} ?o}}", ["wdt:P31/wdt:P279"; 20_000].join("/")));
    sparql(format!("ASK{{?s {} ?o}}", ["(a)*"; 20_000].join("/")));
    sparql(format!("ASK{{?s {} ?o}}", ["!a"; 20_000].join("/")));
    sparql(format!("SELECT(COUNT(*)AS ?n){{?s ?p ?o}}HAVING {}", "(1)".repeat(30_000)));
    sparql(format!("DESCRIBE {}", "<u:a>".repeat(51_200)));
    sparql(format!("SELECT*{{?s ?p ?o}}ORDER BY {}", "(1)".repeat(30_000)));
    sparql(format!("ASK{{{}}}", "?s a* ?o.".repeat(20_000)));
    sparql(format!("SELECT({} AS ?x){{}}", ["?a"; 60].join("-")));
    let mut ql = |text: String| texts.push(("overpassql", text));
    ql(format!("node(1)(if:{}1);out;", "(".repeat(20_000)));
    ql(format!("{}node(1);{}out;", "(".repeat(20_000), ");".repeat(20_000)));
    ql(format!("node(1)(if:{}1{});out;", "!(".repeat(100), format!("{})", "==1".repeat(200)).repeat(100)));
    ql(format!("<osm-script>{}</osm-script>", "<union>".repeat(20_000)));
    texts
}

/// Checks that a process was not ended by a signal, which would leave no exit status.
fn ended(done: &Output, what: &str) {
    let code = done.status.code();
    let said = String::from_utf8_lossy(&done.stderr);
    assert!(matches!(code, Some(0 | 1)), "{what}: {code:?}: {}", said.chars().take(500).collect::<String>());
}

#[test]
fn the_commands_end_by_themselves() {
    let town = Town::with_triples();
    for (lang, text) in texts() {
        let short: String = text.chars().take(40).collect();
        std::fs::write(town.path("query"), &text).unwrap();
        let (snapshot, file) = (town.snapshot(), town.path("query"));
        let lang = if lang == "sparql" { "sparql" } else { "overpassql" };
        let mut query = terrapin();
        query.arg("query").arg(&snapshot).arg("-f").arg(&file);
        if lang == "sparql" {
            query.args(["--lang", "sparql"]);
        }
        ended(&query.output().unwrap(), &format!("query {short}"));
        let done = terrapin().arg("feedback").arg(&snapshot).arg("-f").arg(&file).output().unwrap();
        ended(&done, &format!("feedback {short}"));
    }
}

/// Limits the stack as a shell with a small stack does.
#[test]
#[cfg(unix)]
fn a_small_stack_of_the_shell_is_enough() {
    let town = Town::with_triples();
    std::fs::write(town.path("query"), format!("ASK{{?s {} ?o}}", ["a"; 390].join("/"))).unwrap();
    let program = assert_cmd::cargo::cargo_bin("terrapin");
    let command = format!(
        "ulimit -s 512; exec '{}' query --lang sparql '{}' -f '{}'",
        program.display(),
        town.snapshot().display(),
        town.path("query").display()
    );
    let done = std::process::Command::new("sh").arg("-c").arg(command).output().unwrap();
    assert_eq!(done.status.code(), Some(0), "{}", String::from_utf8_lossy(&done.stderr));
}

#[test]
fn a_prediction_that_loops_is_one_error_of_a_run() {
    let town = Town::with_triples();
    let mut lines = Vec::new();
    for (lang, text) in texts() {
        let gold = if lang == "sparql" { "ASK{?s ?p ?o}" } else { "node(1);out;" };
        lines.push(json!({"gold": gold, "pred": text, "lang": lang}).to_string());
        lines.push(json!({"gold": gold, "pred": gold, "lang": lang}).to_string());
    }
    std::fs::write(town.path("lines.jsonl"), lines.join("\n")).unwrap();
    let out = town.path("scores");
    let done = terrapin()
        .args(["eval", "jsonl", "--no-cache", "--json"])
        .arg(town.snapshot())
        .arg(town.path("lines.jsonl"))
        .arg("--out")
        .arg(&out)
        .output()
        .unwrap();
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    let results = std::fs::read_to_string(out.join("results.jsonl")).unwrap();
    let results: Vec<Value> = results.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(results.len(), lines.len());
    for pair in results.chunks(2) {
        let score = |record: &Value| {
            record["strict"]["multiset"].as_u64().or_else(|| record["multiset"].as_u64()).expect("a score")
        };
        assert_eq!(score(&pair[1]), 1, "{}", pair[1]);
    }
    // Rejected queries have an error.
    assert_eq!(results[2]["strict"]["error"], "unsupported", "{}", results[2]["strict"]);
}
