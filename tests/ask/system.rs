//! Tests the interface of the TEXT2SPARQL challenge from both sides: `/text2sparql` of the server, and systems that
//! `terrapin eval ask --system` asks.

use serde_json::{Value, json};

use crate::common::model::{Act, TestModel};
use crate::common::server::{TestServer, encoded};
use crate::common::{Town, terrapin};

const DATASET: &str = "https://example.org/town/";
const PEOPLE: &str = "SELECT ?n { wd:Q1 wdt:P1082 ?n }";
const QUESTIONS: &str = "\
dataset:
  id: https://example.org/town/
  prefix: town
questions:
  - id: 1
    question:
      en: How many people live in Ladle?
    query:
      sparql: SELECT ?people { wd:Q1 wdt:P1082 ?people }
  - id: 2
    question:
      en: Which towns are there?
    features: [SELECT, RESULT_ORDER_MATTERS]
    query:
      sparql: SELECT ?town { ?town wdt:P31 wd:Q3957 } ORDER BY ?town
";

/// Runs `eval` in the town's folder; returns exit status, summary and standard error.
fn eval(town: &Town, args: &[&str]) -> (i32, Value, String) {
    let mut command = terrapin();
    command.current_dir(town.path("")).arg("eval").args(args).args(["--json", "--no-cache"]);
    let done = command.env("TERRAPIN_SYSTEM_KEY", "sk-system-0123456789").output().unwrap();
    let summary = serde_json::from_slice(&done.stdout).unwrap_or_default();
    (done.status.code().unwrap(), summary, String::from_utf8(done.stderr).unwrap())
}

fn asked(town: &Town, run: &str) -> Vec<Value> {
    let text = std::fs::read_to_string(town.path(run).join("asked.jsonl")).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn town() -> Town {
    let town = Town::with_triples();
    std::fs::write(town.path("questions.yml"), QUESTIONS).unwrap();
    town
}

fn path(dataset: &str, question: &str) -> String {
    format!("/text2sparql?dataset={}&question={}", encoded(dataset), encoded(question))
}

#[test]
fn the_service_answers_as_the_challenge_defines_it() {
    let model = TestModel::start(|asked, _| match asked.last() {
        last if last.contains("joke") => Act::say("No query: that is no question."),
        _ => Act::Say(format!("map: no\n```sparql\n{PEOPLE}\n```")),
    });
    let town = town();
    let server = TestServer::of(&town.snapshot(), &[&model.options()[..], &["--dataset", DATASET]].concat());
    let answer = server.get(&path(DATASET, "How many people live in Ladle?"));
    let expected = json!({"dataset": DATASET, "question": "How many people live in Ladle?", "query": PEOPLE});
    assert_eq!(answer.status, 200, "{}", answer.text());
    assert_eq!(serde_json::from_slice::<Value>(&answer.body).unwrap(), expected);
    for (path, status, says) in [
        (path("https://example.org/other/", "Who?"), 404, "unknown dataset"),
        ("/text2sparql".to_owned(), 422, "`dataset` is missing"),
        (format!("/text2sparql?dataset={}", encoded(DATASET)), 422, "`question` is missing"),
        (path(DATASET, "A joke?"), 422, "the model wrote no query"),
        (format!("/text2sparql?dataset={}&question=%ff", encoded(DATASET)), 400, "not UTF-8"),
    ] {
        let answer = server.get(&path);
        assert_eq!(answer.status, status, "{path}: {}", answer.text());
        assert!(answer.text().contains(says), "{}", answer.text());
    }
    // A page of another site may not spend the model's tokens.
    let foreign = server.ask("GET", &path(DATASET, "Who?"), "Origin: https://evil.example\r\n", "");
    assert_eq!(foreign.status, 403);
    let openapi: Value = serde_json::from_slice(&server.get("/openapi.json").body).unwrap();
    assert!(openapi["paths"]["/text2sparql"]["get"].is_object());
    let off = TestServer::start(&[]);
    assert_eq!(off.get(&path(DATASET, "Who?")).status, 404);
    assert!(!off.get("/openapi.json").text().contains("text2sparql"));
}

#[test]
fn our_server_is_a_system_for_our_evaluation() {
    let model = TestModel::start(|asked, _| match asked.last() {
        last if last.contains("Which towns are there?") => {
            Act::say("```sparql\nSELECT ?x { ?x wdt:P31 wd:Q3957 } ORDER BY ?x\n```")
        }
        _ => Act::Say(format!("```sparql\n{PEOPLE}\n```")),
    });
    let town = town();
    let server = TestServer::of(&town.snapshot(), &model.options());
    let url = format!("http://{}/text2sparql", server.address);
    let run = ["ask", "town.terrapin", "questions.yml", "--system", &url, "--out", "run"];
    let (status, summary, said) = eval(&town, &run);
    assert_eq!((status, &summary["strict.multiset"]), (0, &json!(100.0)), "{said}");
    // The order of the second question matters, and that of the first does not.
    assert_eq!(summary["strict.ordered"], json!(100.0));
    let requests = &summary["requests"];
    assert_eq!((&requests["model"], &requests["system"]), (&json!("system"), &json!({"url": url, "dataset": DATASET})));
    let rows = asked(&town, "run");
    assert_eq!((&rows[1]["query"], &rows[1]["total"]), (&json!(PEOPLE), &json!(1)));
    let names: Vec<&str> = rows[1]["steps"].as_array().unwrap().iter().map(|s| s["step"].as_str().unwrap()).collect();
    assert_eq!(names, ["query", "result"]);
    // The same questions are not asked twice, also after half a line of a killed run.
    let before = model.asked().len();
    let file = town.path("run").join("asked.jsonl");
    let whole = std::fs::read_to_string(&file).unwrap();
    std::fs::write(&file, &whole[..whole.len() - 20]).unwrap();
    let (status, _, said) = eval(&town, &run);
    assert!(status == 0 && said.contains("1 of 2 questions are already answered"), "{said}");
    assert!(model.asked().len() > before && std::fs::read_to_string(&file).unwrap() == whole);
}

#[test]
fn a_system_may_fail_on_a_question_but_not_be_absent() {
    let system = TestModel::start(|asked, _| match asked.head.lines().next().unwrap() {
        line if line.contains("towns") => Act::Status(500, "", json!({"detail": "it broke"})),
        _ => {
            Act::Status(200, "", json!({"dataset": "d", "question": "q", "query": "SELECT ?n { wd:Q1 wdt:P1082 ?n }"}))
        }
    });
    let town = town();
    let url = system.url.replace("/v1", "/?lang=en");
    let run = |url: &str, more: &[&str]| {
        let fixed = ["ask", "town.terrapin", "questions.yml", "--overwrite", "--out", "run", "--system", url];
        eval(&town, &[&fixed[..], more].concat())
    };
    let (status, summary, said) = run(&url, &[]);
    assert_eq!((status, &summary["strict.multiset"]), (0, &json!(50.0)), "{said}");
    let rows = asked(&town, "run");
    let problem = rows[2]["problem"].as_str().unwrap();
    assert!(problem.starts_with("the system: http://") && problem.ends_with("status 500: it broke"), "{problem}");
    let heads = system.asked();
    // A failing system is asked again twice.
    assert_eq!(heads.len(), 4);
    let line = heads[0].head.lines().next().unwrap();
    let dataset = encoded(DATASET);
    assert!(
        line.starts_with("GET /?lang=en&dataset=https%3A%2F%2Fexample.org%2Ftown%2F&question=How+many"),
        "{line} {dataset}"
    );
    assert!(heads[0].head.to_ascii_lowercase().contains("authorization: bearer sk-system-0123456789"));
    // Answers that are none.
    let wrong = TestModel::start(|_, number| match number {
        0 => Act::Bytes("text/html", b"<p>".to_vec()),
        _ => Act::Status(200, "", json!({"query": ""})),
    });
    let (status, _, said) = run(&wrong.url, &["--system-dataset", "d"]);
    let problems: Vec<Value> = asked(&town, "run")[1..].iter().map(|row| row["problem"].clone()).collect();
    assert_eq!(status, 0, "{said}");
    assert!(problems[0].as_str().unwrap().contains("not JSON"), "{problems:?}");
    assert!(problems[1].as_str().unwrap().contains("an empty query"), "{problems:?}");
    // A late system.
    let silent = TestModel::start(|_, _| Act::Silence);
    let (status, _, said) = run(&silent.url, &["--timeout", "1"]);
    assert_eq!(
        (status, &asked(&town, "run")[1]["problem"]),
        (0, &json!("the system: its reply did not end in time")),
        "{said}"
    );
    // One that knows no such dataset, and one that is not there.
    let other = TestModel::start(|_, _| Act::Status(404, "", json!({"detail": "Unknown dataset ..."})));
    let (status, _, said) = run(&other.url, &[]);
    assert!(status == 4 && said.contains("status 404: Unknown dataset ..."), "{status} {said}");
    assert!(said.contains("the same command resumes the run") && !said.contains("--model-url"), "{said}");
    let (status, _, said) = run("http://127.0.0.1:9/", &[]);
    assert!(status == 4 && said.contains("the system: http://127.0.0.1:9/ cannot be reached"), "{status} {said}");
}

#[test]
fn a_system_needs_a_dataset_and_is_no_model() {
    let town = town();
    std::fs::write(town.path("q.jsonl"), json!({"nl": "Who?", "gold": PEOPLE, "lang": "sparql"}).to_string()).unwrap();
    let run = |file: &str, more: &[&str]| {
        let fixed = ["ask", "town.terrapin", file, "--out", "run", "--system", "http://127.0.0.1:9/"];
        eval(&town, &[&fixed[..], more].concat())
    };
    let (status, _, said) = run("q.jsonl", &[]);
    assert!(status == 2 && said.contains("pass --system-dataset"), "{said}");
    let (status, _, said) = run("questions.yml", &["--model", "nearest"]);
    assert!(status == 2 && said.contains("two systems"), "{said}");
    let (status, _, said) = run("questions.yml", &["--examples", "q.jsonl"]);
    assert!(status == 2 && said.contains("cannot be used with"), "{said}");
}

#[test]
fn the_challenge_is_scored_as_by_its_client() {
    let town = town();
    let answers = json!([
        {"dataset": DATASET, "question": "?", "query": PEOPLE, "endpoint": "e", "qname": "town:1-en", "uri": "u"},
        {"dataset": DATASET, "question": "?", "query": "SELECT ?x ?y { { ?x wdt:P31 wd:Q3957 } UNION { ?y wdt:P131 wd:Q1 } }",
         "endpoint": "e", "qname": "town:2-en", "uri": "u"},
    ]);
    std::fs::write(town.path("answers.json"), answers.to_string()).unwrap();
    let run = ["text2sparql", "town.terrapin", "--gold", "questions.yml", "--pred", "answers.json", "--out", "run"];
    let (status, summary, said) = eval(&town, &run);
    let number = |name: &str| (summary[name].as_f64().unwrap() * 1e6).round() / 1e6;
    // One of the two given towns is right. Their IRIs differ in the last figure; the right one, wd:Q1, is sorted last.
    assert_eq!(status, 0, "{said}");
    assert_eq!([number("text2sparql.precision"), number("text2sparql.recall")], [75.0, 100.0], "{summary}");
    let f1: f64 = 100.0 * (1.0 + 2.0 / 3.0) / 2.0;
    assert_eq!([number("text2sparql.f1"), number("gerbil.f1")], [(f1 * 1e6).round() / 1e6; 2]);
    let ndcg = 1.0 / 3f64.log2();
    assert_eq!(number("text2sparql.ndcg"), (ndcg * 1e8).round() / 1e6);
    // The client's mean has three parts: F1 of the first question, nDCG of the second, and the mean nDCG.
    assert_eq!(number("text2sparql.f1_ndcg"), ((1.0 + 2.0 * ndcg) / 3.0 * 1e8).round() / 1e6);
    let verify = terrapin().current_dir(town.path("")).args(["eval", "verify", "run", "town.terrapin"]).output();
    assert!(verify.is_ok_and(|done| done.status.success()));
    // Without answers in the files, a snapshot is needed.
    let (status, _, said) =
        eval(&town, &["text2sparql", "--gold", "questions.yml", "--pred", "answers.json", "--out", "r"]);
    assert!(status == 2 && said.contains("pass a snapshot"), "{said}");
}
