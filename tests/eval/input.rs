//! Tests the input of `terrapin eval`: predictions as systems write them, instances in other formats, a folder that is
//! in use.

use std::path::PathBuf;

use crate::common;
use crate::common::Town;
use serde_json::{Value, json};

const QUERIES: [&str; 2] = ["node[\"amenity\"=\"cafe\"];out;", "way[highway];out;"];

struct EvalInputFiles {
    town: Town,
}

impl EvalInputFiles {
    fn new() -> EvalInputFiles {
        let files = EvalInputFiles { town: Town::new() };
        files.write("gold", &format!("{}\n{}\n", QUERIES[0], QUERIES[1]));
        files
    }

    fn write(&self, name: &str, text: &str) {
        std::fs::write(self.path(name), text).unwrap();
    }

    fn path(&self, name: &str) -> PathBuf {
        self.town.path(name)
    }

    /// Runs `terrapin eval` with these arguments in the folder; returns its exit status and all output.
    fn eval(&self, args: &[&str]) -> (Option<i32>, String) {
        let mut command = common::terrapin();
        let done = command.current_dir(self.path("")).arg("eval").args(args).arg("--no-cache").output().unwrap();
        let said = [done.stdout, done.stderr].concat();
        (done.status.code(), String::from_utf8(said).unwrap())
    }

    fn overpassnl(&self, pred: &str, more: &[&str]) -> (Option<i32>, String) {
        self.eval(&[&["overpassnl", "town.terrapin", "--gold", "gold", "--pred", pred], more].concat())
    }

    fn summary(&self, out: &str) -> Value {
        serde_json::from_slice(&std::fs::read(self.path(out).join("summary.json")).unwrap()).unwrap()
    }
}

#[test]
fn predictions_of_another_form_are_refused_and_read_by_name() {
    let files = EvalInputFiles::new();
    let lines = |of: &dyn Fn(&str) -> String| QUERIES.map(of).join("\n") + "\n";
    let doubled = |query: &str| query.replace('"', "\"\"");
    for (form, file) in [
        ("json", lines(&|query| json!({"id": 1, "prediction": query}).to_string())),
        ("csv", format!("id,prediction\n{}", lines(&|query| format!("1,\"{}\"", doubled(query))))),
        ("fenced", lines(&|query| format!("Here it is:\n```overpassql\n{query}\n```\nThat is all."))),
        ("fenced", lines(&|query| format!("```{query}```"))),
        ("quoted", lines(&|query| json!(query).to_string())),
        ("json,fenced", lines(&|query| json!({"output": format!("It is\n```\n{query}\n```")}).to_string())),
        ("quoted,reply", lines(&|query| json!(query).to_string())),
        ("fenced,reply", lines(&|query| format!("<think>{query}</think>```{query}```</s>"))),
    ] {
        files.write("pred", &file);
        let (first, _) = form.split_once(',').unwrap_or((form, ""));
        let (status, said) = files.overpassnl("pred", &["--out", "refused"]);
        assert_eq!(status, Some(3), "{said}");
        assert!(said.contains("pred: ") && said.contains(&format!("--extract {first}")), "{said}");
        assert!(!files.path("refused").exists());
        let form = form.split_once(",reply").map_or(form, |_| "reply");
        let (status, said) = files.overpassnl("pred", &["--extract", form, "--out", "run", "--overwrite"]);
        assert_eq!(status, Some(0), "{said}");
        let summary = files.summary("run");
        assert_eq!((&summary["ex"], summary.get("not_queries")), (&json!(100.0), None), "{form}: {said}");
    }
}

#[test]
fn what_is_no_query_is_counted() {
    let files = EvalInputFiles::new();
    files.write("pred", &format!("{}\nI cannot help with that.\n", QUERIES[0]));
    let (status, said) = files.overpassnl("pred", &["--out", "run"]);
    assert_eq!(status, Some(0), "{said}");
    assert!(said.contains("not queries    1 prediction does not look like one"), "{said}");
    assert!(said.contains("1 of 2 predictions do not look like queries, the first is line 2"), "{said}");
    assert_eq!(files.summary("run")["not_queries"], 1);
    let page = std::fs::read_to_string(files.path("run/report.html")).unwrap();
    assert!(page.contains("\"not_queries\":1"));
    // A summary from before this count existed remains valid.
    let path = files.path("run/summary.json");
    let text = std::fs::read_to_string(&path).unwrap();
    std::fs::write(&path, text.replacen("  \"not_queries\": 1,\n", "", 1)).unwrap();
    assert_eq!(files.summary("run").get("not_queries"), None);
    let verify = common::terrapin().arg("eval").arg("verify").arg(files.path("run")).output().unwrap();
    assert!(verify.status.success(), "{}", String::from_utf8_lossy(&verify.stdout));
    // With `--extract lines`, predictions are used unchanged.
    files.write("pred", "```a```\n```b```\n");
    let (status, said) = files.overpassnl("pred", &["--extract", "lines", "--out", "other"]);
    assert_eq!((status, files.summary("other")["not_queries"].as_u64()), (Some(0), Some(2)), "{said}");
}

#[test]
fn predictions_that_the_authors_script_spoils_are_scored() {
    let files = EvalInputFiles::new();
    // OverpassNL's script inserts the time limit before the comment, or before the XML.
    let xml = "<osm-script><query type=\"way\"><has-kv k=\"highway\"/></query><print/></osm-script>";
    let commented = format!("/* all cafes */[out:json];{}", QUERIES[0]);
    files.write("pred", &format!("{commented}\n{xml}\n"));
    let (status, said) = files.overpassnl("pred", &["--out", "run"]);
    assert_eq!(status, Some(0), "{said}");
    let summary = files.summary("run");
    assert_eq!((&summary["ex"], &summary["errors"]), (&json!(100.0), &json!({})), "{summary}");
    assert_eq!((&summary["compat.ex"], &summary["compat.ex_soft"]), (&json!(0.0), &json!(0.0)), "{summary}");
    let records = std::fs::read_to_string(files.path("run/results.jsonl")).unwrap();
    for (line, text) in records.lines().zip([commented.as_str(), xml]) {
        let record: Value = serde_json::from_str(line).unwrap();
        assert_eq!((&record["compat"]["error"], &record["pred"]), (&json!("parse_error"), &json!(text)), "{line}");
        assert_eq!((&record["ex"], record.get("error")), (&json!(1), None), "{line}");
    }
    let verify =
        common::terrapin().arg("eval").arg("verify").arg(files.path("run")).arg(files.town.snapshot()).output();
    let verify = verify.unwrap();
    assert!(verify.status.success(), "{}", String::from_utf8_lossy(&verify.stdout));
    // Other benchmarks have no script that spoils these queries.
    let pair = |gold: &str, pred: &str| json!({"gold": gold, "pred": pred}).to_string();
    files
        .write("lines", &format!("{}\n{}\n", pair(QUERIES[0], &format!("// all\n{commented}")), pair(QUERIES[1], xml)));
    let (status, said) = files.eval(&["jsonl", "town.terrapin", "lines", "--out", "other"]);
    assert_eq!(status, Some(0), "{said}");
    let summary = files.summary("other");
    assert_eq!((&summary["ex"], summary.get("compat.ex")), (&json!(100.0), None), "{summary}");
}

#[test]
fn nothing_is_earned_by_finding_nothing() {
    let files = EvalInputFiles::new();
    let nothing = "node[amenity=nowhere];out;";
    files.write("gold", &format!("{nothing}\n{}\n{nothing}\n", QUERIES[0]));
    files.write("pred", "node(1000000);out;\nnode(1000000);out;\nnode(1000000);out;\n");
    let (status, said) = files.overpassnl("pred", &["--out", "run"]);
    assert_eq!(status, Some(0), "{said}");
    assert!(said.starts_with("warning        only 1 of 3 gold queries give something"), "{said}");
    let summary = files.summary("run");
    assert_eq!(summary["usable"], 1);
    for score in ["ex", "ex_soft", "f1", "multiset"] {
        assert_eq!(summary[score], 0.0, "{score}: {summary}");
    }
    // As documented, the record reports two empty results as equal.
    let records = std::fs::read_to_string(files.path("run/results.jsonl")).unwrap();
    let first: Value = serde_json::from_str(records.lines().next().unwrap()).unwrap();
    assert_eq!((&first["f1"], &first["ref_n"], &first["pred_n"]), (&json!(1.0), &json!(0), &json!(0)));
    let page = std::fs::read_to_string(files.path("run/report.html")).unwrap();
    assert!(page.contains("\"usable\":1"));
    files.write("right", &format!("{}\n{}\n", QUERIES[0], QUERIES[1]));
    files.write("gold", &format!("{}\n{}\n", QUERIES[0], QUERIES[1]));
    let (_, said) = files.overpassnl("right", &["--out", "right.run"]);
    assert!(!said.contains("warning") && said.contains("usable golds   2"), "{said}");
}

#[test]
fn instances_in_other_forms_score_the_same() {
    let files = EvalInputFiles::new();
    let [a, b] = QUERIES.map(|query| json!(query).to_string());
    let doubled = |text: &str| text.replace('"', "\"\"");
    for (name, text) in [
        ("lines", format!("{{\"gold\": {a}, \"pred\": {b}}}\n{{\"gold\": {b}, \"pred\": \"\"}}\n")),
        (
            "names",
            format!(
                "{{\"reference\": [{a}], \"prediction\": {b}, \"seed\": 7}}\n{{\"reference\": {b}, \"prediction\": null}}\n"
            ),
        ),
        ("array", format!("[{{\"gold\": {a}, \"pred\": {b}}},\n{{\"gold\": {b}, \"pred\": null}}]\n")),
        (
            "table",
            format!("reference,prediction\n\"{}\",\"{}\"\n\"{}\",\n", doubled(QUERIES[0]), QUERIES[1], QUERIES[1]),
        ),
    ] {
        files.write(name, &text);
        let out = format!("{name}.run");
        let (status, said) = files.eval(&["jsonl", "town.terrapin", name, "--out", &out]);
        assert_eq!(status, Some(0), "{said}");
        assert_eq!(said.contains("note: unused fields: seed"), name == "names", "{said}");
        let [ours, first] =
            [&out, "lines.run"].map(|run| std::fs::read(files.path(run).join("results.jsonl")).unwrap());
        assert!(ours == first, "{name}: {}", String::from_utf8_lossy(&ours));
    }
    for (text, says) in [
        ("{\"gold\": \"out;\", \"answer\": \"out;\"}", "there is no `pred` (or `prediction`)"),
        ("question,sql\na,b\n", "there is no `gold` (or `reference`); it has `question`, `sql`"),
        ("PAR1xxxx", "Parquet"),
        ("{\"gold\": \"out;\", \"pred\": \"```out;```\"}", "--extract fenced"),
    ] {
        files.write("wrong", text);
        let (status, said) = files.eval(&["jsonl", "town.terrapin", "wrong", "--out", "no"]);
        assert!(status == Some(3) && said.contains(says), "{status:?} {said}");
    }
}

#[test]
fn a_run_is_not_lost_to_another() {
    let files = EvalInputFiles::new();
    let right = format!("{}\n{}\n", QUERIES[0], QUERIES[1]);
    files.write("right", &right);
    files.write("wrong", &format!("{}\n{}\n", QUERIES[1], QUERIES[0]));
    assert_eq!(files.overpassnl("right", &["--out", "run"]).0, Some(0));
    assert_eq!(files.overpassnl("right", &["--out", "run", "--name", "again"]).0, Some(0), "the same inputs");
    let (status, said) = files.overpassnl("wrong", &["--out", "run"]);
    assert_eq!(status, Some(2), "{said}");
    assert!(said.contains("its input `pred` is another") && said.contains("--overwrite"), "{said}");
    assert_eq!(files.summary("run")["ex"], 100.0, "nothing was lost");
    let (status, said) = files.overpassnl("right", &["--out", "run", "--shard", "1/2"]);
    assert!(status == Some(2) && said.contains("a run over all instances"), "{said}");
    let (status, said) = files.eval(&["overpassnl", "--gold", "gold", "--pred", "right", "--out", "run"]);
    assert!(status == Some(2) && said.contains("its snapshot is "), "{said}");
    assert_eq!(files.overpassnl("wrong", &["--out", "run", "--overwrite"]).0, Some(0));
    assert_eq!(files.summary("run")["ex"], 0.0);
}

#[test]
fn sparql_without_its_tags_is_refused() {
    let town = Town::with_triples();
    let gold = "SELECT ?x { ?x wdt:P31 wd:Q3957 }";
    let write = |name: &str, line: Value| std::fs::write(town.path(name), format!("{line}\n")).unwrap();
    write("gold", json!({ "query": gold }));
    let score = |more: &[&str]| {
        let args = ["eval", "instruct-to-sparql", "town.terrapin", "--gold", "gold", "--pred", "pred", "--out", "run"];
        let mut command = common::terrapin();
        command.current_dir(town.path("")).args(args).args(["--overwrite", "--no-cache"]).args(more);
        let done = command.output().unwrap();
        let said = String::from_utf8([done.stdout, done.stderr].concat()).unwrap();
        (done.status.code(), said)
    };
    for (pred, option) in [
        (gold.to_owned(), "--plain"),
        (format!("So:\n```sparql\n{gold}\n```"), "--extract fenced"),
        (format!("\"{gold}\""), "--extract quoted"),
    ] {
        write("pred", json!({ "prediction": pred }));
        let (status, said) = score(&[]);
        assert!(status == Some(3) && said.contains(option), "{said}");
        let (status, said) = score(&option.split(' ').collect::<Vec<_>>());
        assert!(status == Some(0) && said.contains("strict Jaccard 100.00"), "{said}");
    }
    assert_eq!(score(&["--extract", "tags"]).0, Some(0));
}
