//! Tests `terrapin eval` with published benchmarks of other authors, Parquet files, and texts.

use std::io::Write;
use std::process::Stdio;

use serde_json::{Value, json};

use crate::common;
use crate::common::Town;
use crate::common::skip::{Need, skipped};

fn write(town: &Town, name: &str, text: &str) {
    std::fs::write(town.path(name), text).unwrap();
}

/// Runs `terrapin eval`; returns exit status, summary and standard error.
fn eval(town: &Town, args: &[&str]) -> (Option<i32>, Value, String) {
    let mut command = common::terrapin();
    let command = command.current_dir(town.path("")).arg("eval").args(args).args(["--json", "--no-cache"]);
    let done = command.args(["--out", "run", "--overwrite"]).output().unwrap();
    let said = String::from_utf8(done.stderr).unwrap();
    (done.status.code(), serde_json::from_slice(&done.stdout).unwrap_or_default(), said)
}

const TOWNS: &str = "SELECT ?town { ?town wdt:P31 wd:Q3957 }";
const ALL: &str = "SELECT ?x { { ?x wdt:P31 wd:Q3957 } UNION { ?x wdt:P131 wd:Q1 } }";

#[test]
fn every_benchmark_runs_on_a_snapshot() {
    let town = Town::with_triples();
    write(&town, "preds", &format!("{ALL}\nSELECT ?x {{ wd:Q77 wdt:P31 ?x }}\n"));
    let qald = |id: &str, query: &str| json!({"id": id, "question": [{"language": "en", "string": "Which?"}], "query": {"sparql": query}, "answers": []});
    write(&town, "qald.json", &json!({"questions": [qald("1", TOWNS), qald("2", TOWNS)]}).to_string());
    let lcquad = |uid: u32| json!({"uid": uid, "question": "Which?", "sparql_wikidata": TOWNS});
    write(&town, "lcquad.json", &json!([lcquad(1), lcquad(2)]).to_string());
    let spinach = |id: &str| json!({"id": id, "question": "Which?", "sparql": TOWNS});
    write(&town, "spinach.json", &json!([spinach("dev_1"), spinach("dev_2")]).to_string());
    let geo = |query: &str| json!({"Category": "A", "Query": query, "Question": "Which?"});
    write(&town, "geo.json", &json!({"1": geo(ALL), "2": geo(TOWNS)}).to_string());
    let run = |what: &str, gold: &str| {
        let (status, summary, said) = eval(&town, &[what, "town.terrapin", "--gold", gold, "--pred", "preds"]);
        assert_eq!(status, Some(0), "{what}: {said}");
        summary
    };
    let number = |summary: &Value, name: &str| (summary[name].as_f64().unwrap() * 1e6).round() / 1e6;
    for (what, gold) in [("qald", "qald.json"), ("lcquad2", "lcquad.json")] {
        let summary = run(what, gold);
        let of = |name| number(&summary, name);
        assert_eq!([of("gerbil.precision"), of("gerbil.recall"), of("gerbil.f1")], [25.0, 50.0, 33.333333]);
        // In QALD's variant an empty answer is not a wrong one: precision is 0.75, recall 0.5.
        assert_eq!([of("gerbil.precision_qald"), of("gerbil.f1_qald")], [75.0, 60.0]);
    }
    let summary = run("spinach", "spinach.json");
    assert_eq!([number(&summary, "spinach.f1"), number(&summary, "spinach.em")], [33.333333, 0.0]);
    let summary = run("geoquestions1089", "geo.json");
    assert_eq!([number(&summary, "geo.executable"), number(&summary, "geo.correct")], [100.0, 50.0]);
    assert_eq!(summary["complexity"]["A"]["n"].as_u64(), Some(2));
    // A published run can be verified.
    let verify =
        common::terrapin().current_dir(town.path("")).args(["eval", "verify", "run", "town.terrapin"]).output();
    assert!(verify.is_ok_and(|done| done.status.success()));
    let (status, _, said) = eval(&town, &["qald", "town.terrapin", "--gold", "spinach.json", "--pred", "preds"]);
    assert!(status == Some(3) && said.contains("expected an object with `questions`"), "{said}");
    let (status, _, said) = eval(&town, &["spinach", "--gold", "spinach.json", "--pred", "preds"]);
    assert!(status == Some(2) && said.contains("pass a snapshot"), "{said}");
}

#[test]
fn answers_in_files_are_scored_without_a_snapshot() {
    let town = Town::new();
    let uri = |value: &str| json!({"x": {"type": "uri", "value": value}});
    let output = |pred: Value| json!({"question": "Which?", "predicted_sparql": "SELECT", "gold_sparql": "SELECT", "predicted_answer_tuple": pred, "gold_answer_tuple": [uri("a"), uri("b")]});
    let file = json!([output(json!([uri("a"), uri("c")])), output(Value::Null), output(json!([uri("b"), uri("a")]))]);
    write(&town, "output.json", &file.to_string());
    let (status, summary, said) = eval(&town, &["spinach", "--gold", "output.json"]);
    assert_eq!((status, summary["spinach.f1"].as_f64()), (Some(0), Some(50.0)), "{said}");
    let results = |values: &[&str]| json!([{"head": {"vars": ["x"]}, "results": {"bindings": values.iter().map(|v| uri(v)).collect::<Vec<_>>()}}]);
    let entry = |id: &str, values: &[&str]| json!({"id": id, "question": [], "query": {"sparql": "SELECT"}, "answers": results(values)});
    write(&town, "gold.json", &json!({"questions": [entry("1", &["a", "b"]), entry("2", &["c"])]}).to_string());
    write(&town, "pred.json", &json!({"questions": [entry("2", &["c"])]}).to_string());
    let (status, summary, said) = eval(&town, &["qald", "--gold", "gold.json", "--pred", "pred.json"]);
    assert_eq!((status, summary["gerbil.f1"].as_f64()), (Some(0), Some(50.0)), "{said}");
    assert!((summary["gerbil.f1_qald"].as_f64().unwrap() - 200.0 / 3.0).abs() < 1e-9, "{summary}");
}

#[test]
fn texts_are_compared_as_texts() {
    let town = Town::new();
    write(&town, "gold.nl", "Cafes in the town of Ladle\nStreets\n");
    write(&town, "pred.nl", "Cafes in the town of Spoon\nStreets\n");
    let (status, summary, said) = eval(&town, &["text", "--gold", "gold.nl", "--pred", "pred.nl"]);
    assert_eq!((status, summary["not_queries"].as_u64()), (Some(0), None), "{said}");
    let of = |name: &str| summary[name].as_f64().unwrap();
    // Matches: 6 of 7 words, then 4 of 5, 3 of 4 and 2 of 3 longer n-grams.
    let bleu = 100.0 * (6.0 / 7.0 * 4.0 / 5.0 * 3.0 / 4.0 * 2.0 / 3.0_f64).powf(0.25);
    assert!((of("corpus_bleu") - bleu).abs() < 1e-9, "{} {bleu}", of("corpus_bleu"));
    assert!((of("text.rouge_l") - 100.0 * (5.0 / 6.0 + 1.0) / 2.0).abs() < 1e-9, "{}", of("text.rouge_l"));
    assert!(of("corpus_chrf") < 100.0 && of("text.chrf") < 100.0);
    write(&town, "pred.nl", "one line\n");
    assert_eq!(eval(&town, &["text", "--gold", "gold.nl", "--pred", "pred.nl"]).0, Some(3));
}

/// Compares the scores with those of sacreBLEU and rouge-score, if a Python with both is available.
#[test]
fn texts_have_the_numbers_of_the_packages() {
    let Some(python) = std::env::var_os("TERRAPIN_TEXT_PYTHON") else {
        return skipped(Need::Peers, "TERRAPIN_TEXT_PYTHON is not set: a Python with sacrebleu and rouge-score");
    };
    let path = common::place::shared().join("data/overpassnl/dataset.dev.nl");
    let Ok(questions) = std::fs::read_to_string(&path) else {
        return skipped(Need::Shared, path.display());
    };
    let questions: Vec<&str> = questions.lines().take(200).collect();
    // Questions with omitted, reversed or repeated words, other letter case or punctuation, and other questions.
    let perturbed = |(index, question): (usize, &&str)| {
        let words: Vec<&str> = question.split(' ').collect();
        match index % 8 {
            0 => question.to_string(),
            1 => words[..words.len() - words.len() / 3].join(" "),
            2 => words.iter().rev().copied().collect::<Vec<_>>().join(" "),
            3 => question.to_uppercase(),
            4 => format!("{question}, {question}"),
            5 => question.replace(' ', " – ") + " (1.5, 2-3) &amp; \"x\"...",
            6 => questions[(index * 7 + 3) % questions.len()].to_owned(),
            _ => {
                if index % 16 == 7 {
                    String::new()
                } else {
                    words.join("  ") + "?"
                }
            }
        }
    };
    let texts: Vec<String> = questions.iter().enumerate().map(perturbed).collect();
    let town = Town::new();
    write(&town, "gold.nl", &(questions.join("\n") + "\n"));
    write(&town, "pred.nl", &(texts.join("\n") + "\n"));
    let (status, summary, said) =
        eval(&town, &["text", "--gold", "gold.nl", "--pred", "pred.nl", "--extract", "lines"]);
    assert_eq!(status, Some(0), "{said}");
    let script = r#"
import json, sys
import sacrebleu
from rouge_score import rouge_scorer
gold, pred = json.load(sys.stdin)
scorer = rouge_scorer.RougeScorer(["rougeL"], use_stemmer=False)
print(json.dumps({
    "corpus_bleu": sacrebleu.corpus_bleu(pred, [gold]).score,
    "corpus_chrf": sacrebleu.corpus_chrf(pred, [gold]).score,
    "lines": [[sacrebleu.sentence_bleu(p, [g]).score, sacrebleu.sentence_chrf(p, [g]).score,
               100 * scorer.score(g, p)["rougeL"].fmeasure] for g, p in zip(gold, pred)],
}))
"#;
    let mut child = std::process::Command::new(python)
        .args(["-c", script])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(json!([questions, texts]).to_string().as_bytes()).unwrap();
    let expected: Value = serde_json::from_slice(&child.wait_with_output().unwrap().stdout).unwrap();
    for name in ["corpus_bleu", "corpus_chrf"] {
        let (ours, theirs) = (summary[name].as_f64().unwrap(), expected[name].as_f64().unwrap());
        assert!((ours - theirs).abs() < 1e-9, "{name}: {ours} {theirs}");
    }
    let records = std::fs::read_to_string(town.path("run/results.jsonl")).unwrap();
    for (record, theirs) in records.lines().zip(expected["lines"].as_array().unwrap()) {
        let record: Value = serde_json::from_str(record).unwrap();
        for (name, theirs) in ["text.bleu", "text.chrf", "text.rouge_l"].iter().zip(theirs.as_array().unwrap()) {
            let (ours, theirs) = (100.0 * record[*name].as_f64().unwrap(), theirs.as_f64().unwrap());
            assert!((ours - theirs).abs() < 1e-9, "{name}: {ours} {theirs}: {record}");
        }
    }
}

#[test]
fn parquet_is_read_as_it_is_exported() {
    let town = Town::new();
    let bytes = std::fs::read(common::place::root().join("tests/snapshot/formats/pairs.parquet")).unwrap();
    std::fs::write(town.path("train-00000-of-00001.parquet"), &bytes).unwrap();
    let (status, summary, said) = eval(&town, &["jsonl", "town.terrapin", "train-00000-of-00001.parquet"]);
    assert_eq!((status, summary["n"].as_u64(), summary["ex"].as_f64()), (Some(0), Some(2), Some(50.0)), "{said}");
    assert!(said.contains("unused fields: meta"), "{said}");
    let check = ["benchmark", "check", "town.terrapin", "train-00000-of-00001.parquet", "--json"];
    let done = common::terrapin().current_dir(town.path("")).args(check).output().unwrap();
    let report: Value = serde_json::from_slice(&done.stdout).unwrap();
    assert_eq!((done.status.code(), report["splits"].clone()), (Some(0), json!({"train": 2})), "{report}");
    for damaged in [&bytes[..bytes.len() / 2], &bytes[..8], &[&bytes[..100], &[255; 300], &bytes[400..]].concat()] {
        std::fs::write(town.path("damaged"), damaged).unwrap();
        let (status, _, said) = eval(&town, &["jsonl", "town.terrapin", "damaged"]);
        assert!(status == Some(3) && said.contains("Parquet"), "{status:?} {said}");
    }
}

/// Compares with SPINACH's own code and with GERBIL's formulas on the same 200 made-up answers.
#[test]
fn answers_have_the_numbers_of_the_published_code() {
    let (Some(python), Some(spinach)) =
        (std::env::var_os("TERRAPIN_TEXT_PYTHON"), std::env::var_os("TERRAPIN_SPINACH"))
    else {
        return skipped(
            Need::Peers,
            "TERRAPIN_TEXT_PYTHON and TERRAPIN_SPINACH are not set: a Python with scipy, and SPINACH's eval.py",
        );
    };
    let mut state = 7_u64;
    let mut draw = |below: u64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % below
    };
    let mut answer = |like: Option<&Value>| -> Value {
        if draw(12) == 0 {
            return if draw(2) == 0 { json!(draw(2) == 0) } else { Value::Null };
        }
        let mut rows: Vec<Value> = like.and_then(Value::as_array).cloned().unwrap_or_default();
        rows.retain(|_| draw(4) > 0);
        let columns = 1 + draw(4);
        for _ in 0..draw(7) + u64::from(rows.is_empty()) {
            let mut row = serde_json::Map::new();
            for column in 0..columns {
                let value = match draw(3) {
                    0 => json!({"type": "literal", "value": format!("v{}", draw(3)), "xml:lang": "en"}),
                    _ => json!({"type": "uri", "value": format!("http://x/{}", draw(4))}),
                };
                let ending = ["", "", "Label", "Description"][draw(4) as usize];
                if draw(8) > 0 {
                    row.insert(format!("c{column}{ending}"), value);
                }
            }
            rows.insert(draw(rows.len() as u64 + 1) as usize, row.into());
        }
        rows.into()
    };
    let mut pairs = Vec::new();
    while pairs.len() < 200 {
        let gold = answer(None);
        let pred = answer(Some(&gold));
        if !gold.is_null() {
            pairs.push((gold, pred));
        }
    }
    let town = Town::new();
    let output = |(gold, pred): &(Value, Value)| json!({"question": "", "gold_sparql": "SELECT", "predicted_sparql": "SELECT", "gold_answer_tuple": gold, "predicted_answer_tuple": pred});
    write(&town, "output.json", &pairs.iter().map(output).collect::<Value>().to_string());
    let script = r#"
import json, sys, types
for name in ("chainlite", "tqdm"):
    module = types.ModuleType(name)
    module.get_logger = lambda _: types.SimpleNamespace(error=lambda *_: None)
    module.tqdm = lambda x, **_: x
    sys.modules[name] = module
sys.path.insert(0, sys.argv[1])
import eval as spinach
def values(answer):
    if answer is None: return set()
    if type(answer) is bool: return {str(answer).lower()}
    return {v["value"] for row in answer for v in row.values()}
rows, sums = [], [0, 0, 0, 0]
pairs = json.load(sys.stdin)
for gold, pred in pairs:
    rows.append(float(spinach.f1(pred, gold)))
    g, p = values(gold), values(pred)
    tp, fp, fn = len(g & p), len(p - g), len(g - p)
    if tp == 0:
        plain = [1, 1, 1] if fp == 0 and fn == 0 else [0, 0, 0]
        qald = 1 if fp == 0 else 0
    else:
        precision, recall = tp / (tp + fp), tp / (tp + fn)
        plain, qald = [precision, recall, 2 * precision * recall / (precision + recall)], precision
    sums = [s + x for s, x in zip(sums, plain + [qald])]
means = [s / len(pairs) for s in sums]
print(json.dumps({"f1": rows, "means": means, "qald": 2 * means[3] * means[1] / (means[3] + means[1])}))
"#;
    let mut child = std::process::Command::new(python)
        .args(["-c", script])
        .arg(spinach)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(json!(pairs).to_string().as_bytes()).unwrap();
    let expected: Value = serde_json::from_slice(&child.wait_with_output().unwrap().stdout).unwrap();
    let (status, _, said) = eval(&town, &["spinach", "--gold", "output.json"]);
    assert_eq!(status, Some(0), "{said}");
    let records = std::fs::read_to_string(town.path("run/results.jsonl")).unwrap();
    let mut compared = 0;
    for ((record, theirs), pair) in records.lines().zip(expected["f1"].as_array().unwrap()).zip(&pairs) {
        let record: Value = serde_json::from_str(record).unwrap();
        let (ours, theirs) = (record["spinach.f1"].as_f64().unwrap(), theirs.as_f64().unwrap());
        assert!((ours - theirs).abs() < 1e-9, "{ours} {theirs}: {pair:?}");
        compared += 1;
    }
    assert_eq!(compared, 200);
    let entry = |(index, answer): (usize, &Value)| {
        let answer = match answer {
            Value::Bool(yes) => json!([{"head": {}, "boolean": yes}]),
            Value::Null => json!([]),
            rows => json!([{"head": {}, "results": {"bindings": rows}}]),
        };
        json!({"id": index.to_string(), "question": [], "query": {"sparql": "SELECT"}, "answers": answer})
    };
    let golds: Vec<Value> = pairs.iter().map(|(gold, _)| gold).enumerate().map(entry).collect();
    let preds: Vec<Value> = pairs.iter().map(|(_, pred)| pred).enumerate().map(entry).collect();
    write(&town, "gold.json", &json!({"questions": golds}).to_string());
    write(&town, "pred.json", &json!({"questions": preds}).to_string());
    let (status, summary, said) = eval(&town, &["qald", "--gold", "gold.json", "--pred", "pred.json"]);
    assert_eq!(status, Some(0), "{said}");
    let names = ["gerbil.precision", "gerbil.recall", "gerbil.f1", "gerbil.precision_qald"];
    for (name, theirs) in names.iter().zip(expected["means"].as_array().unwrap()) {
        assert!(
            (summary[*name].as_f64().unwrap() - 100.0 * theirs.as_f64().unwrap()).abs() < 1e-9,
            "{name}: {summary}"
        );
    }
    let f1 = 100.0 * expected["qald"].as_f64().unwrap();
    assert!((summary["gerbil.f1_qald"].as_f64().unwrap() - f1).abs() < 1e-9, "{f1}: {summary}");
}
