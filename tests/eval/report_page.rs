//! Tests the report pages of runs with node: the content that the script generates, and the view of a comparison.

use std::process::Command;

use crate::common;
use crate::common::skip;
use crate::common::{Town, place};
use serde_json::{Value, json};

/// Scores a run with instances of every outcome into the folder `out`.
fn scored(town: &Town, out: &str, preds: &[&str]) {
    let golds = [
        "node[amenity=cafe];out;",
        "node[amenity=cafe];out;",
        "node[amenity=cafe];out;",
        "node[amenity=pub];out;",
        "node[amenity=cafe];out;",
    ];
    let line = |(i, (gold, pred)): (usize, (&&str, &&str))| {
        format!("{}\n", json!({"id": format!("q{}", i + 1), "gold": gold, "pred": pred, "nl": "Where, \"please\"?"}))
    };
    std::fs::write(town.path("lines"), golds.iter().zip(preds).enumerate().map(line).collect::<String>()).unwrap();
    let mut command = common::terrapin();
    command.current_dir(town.path("")).args(["eval", "jsonl", "town.terrapin", "lines", "--no-cache", "--out", out]);
    command.args(["--name", "A <b>run</b>", "--model", "mine-7b", "--dataset", "towns"]).assert().success();
}

const PREDS: [&str; 5] = [
    "node[amenity=cafe];out;",
    "node[amenity=cafe](if:id()<3);out;",
    "node[amenity=bar];out;",
    "node[amenity=bar];out;",
    "{{geocodeArea:Nowhere}}->.a;node(area.a);out;",
];

/// Returns the content of the page of `run`, opened with this fragment, or `None` if node is missing.
fn seen(town: &Town, hash: &str) -> Option<Value> {
    let script = place::root().join("tests/eval/report_page.mjs");
    let mut node = Command::new("node");
    let Ok(done) = node.arg(script).arg(town.path("run/report.html")).arg(hash).output() else {
        skip::skipped(skip::Need::System, "there is no node");
        return None;
    };
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    Some(serde_json::from_slice(&done.stdout).unwrap())
}

#[test]
fn a_page_says_what_came_of_every_instance() {
    let town = Town::new();
    scored(&town, "run", &PREDS);
    let page = std::fs::read_to_string(town.path("run/report.html")).unwrap();
    assert!(page.contains("<title>A &lt;b&gt;run&lt;/b&gt;</title>") && !page.contains("<b>run"));
    let Some(seen) = seen(&town, "#line-3") else { return };
    let about = seen["about"].as_str().unwrap();
    assert!(about.starts_with("mine-7b · towns · jsonl · snapshot "), "{about}");
    assert_eq!(seen["notice"], "2 of 5 predictions have a name that the snapshot lacks.");
    let head: Vec<(&str, &str)> =
        seen["head"].as_array().unwrap().iter().map(|th| (th[0].as_str().unwrap(), th[1].as_str().unwrap())).collect();
    assert_eq!((head[1].0, head[2].0, head[3].0), ("EX", "EX_soft", "EM"), "{head:?}");
    assert!(head[1].1.starts_with("1 where both queries give the same results"), "{head:?}");
    assert_eq!(seen["titles"][1], "EX");
    assert_eq!((&seen["legend"][0], seen["legend"][1].as_str()), (&json!("EX"), Some(head[1].1)));
    let outcomes = ["same results", "other results", "no results", "both without results", "place not found"];
    assert_eq!(seen["outcomes"], json!(outcomes));
    assert_eq!((&seen["gold"], &seen["empty"]), (&json!(["q4"]), &json!(["q3"])));
    assert!(seen["classes"].as_array().unwrap().contains(&"place not found".into()), "{}", seen["classes"]);
    // Every instance has its own address, which opens the page at that instance.
    assert_eq!((&seen["opened"], &seen["scrolled"]), (&json!(["line-3"]), &json!(["line-3"])));
    assert_eq!(seen["own"][1], json!(["#line-2"]));
    let links: Vec<String> = (1..=5).map(|line| format!("#line-{line}")).collect();
    assert_eq!(seen["scatter"], json!(links), "OQS against EX has a point for each");
    let elements = seen["elements"].as_array().unwrap();
    assert!(elements.contains(&"https://www.openstreetmap.org/node/4".into()), "{elements:?}");

    let files = &seen["downloads"];
    let csv: Vec<&str> = files["scores.csv"].as_str().unwrap().lines().collect();
    assert!(csv[0].starts_with("part,n,ex,ex_low,ex_high,ex_soft,"), "{csv:?}");
    assert!(csv[1].starts_with("all,5,20,0,"), "{csv:?}");
    let latex = files["scores.tex"].as_str().unwrap();
    assert!(latex.contains(" & EX & EX\\_soft & EM & ") && latex.contains("all & 20.0 & "), "{latex}");
    assert!(latex.starts_with("\\begin{tabular}{l") && latex.ends_with("\\end{tabular}\n"), "{latex}");
    let instances = files["instances.csv"].as_str().unwrap();
    let mut reader = csv::Reader::from_reader(instances.as_bytes());
    let columns = reader.headers().unwrap().clone();
    let at = |name: &str| columns.iter().position(|column| column == name).unwrap();
    let rows: Vec<csv::StringRecord> = reader.records().map(Result::unwrap).collect();
    assert_eq!((rows.len(), &rows[1][at("prediction")], &rows[1][at("ex")]), (5, PREDS[1], "0"));
    assert_eq!((&rows[4][at("error")], &rows[0][at("question")]), ("nominatim", "Where, \"please\"?"));
}

#[test]
fn predictions_that_are_no_queries_are_told_on_the_page() {
    let town = Town::new();
    let mut preds = PREDS;
    preds[2] = "I do not know.";
    scored(&town, "run", &preds);
    let Some(seen) = seen(&town, "") else { return };
    assert_eq!(
        seen["notice"],
        "1 of 5 predictions have a name that the snapshot lacks. 1 of 5 predictions do not look like queries."
    );
    assert_eq!(seen["opened"], json!([]));
}

#[test]
fn a_comparison_has_a_page() {
    let town = Town::new();
    scored(&town, "run", &PREDS);
    let mut better = PREDS;
    better[1] = PREDS[0];
    scored(&town, "tuned", &better);
    let mut command = common::terrapin();
    command.current_dir(town.path("")).args(["eval", "compare", "run", "tuned", "--html", "page.html"]);
    command.assert().success();
    let page = std::fs::read_to_string(town.path("page.html")).unwrap();
    for part in ["Better by EX: 1", "Worse by EX: 0", "id=\"line-2\"", "mine-7b", "gold: 4 results", "first: 2 results"]
    {
        assert!(page.contains(part), "{part}");
    }
    assert!(!page.contains("<script") && !page.contains("src=") && !page.contains("{{"), "it needs nothing else");
}
