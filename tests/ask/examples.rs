//! Tests in-context examples, published prompts, the baseline without a model, and the refinement of given queries,
//! with a scripted model.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::{Value, json};

use crate::ask::questions::{MENTIONS, RIGHT};
use crate::common::model::{Act, ModelRequest, TestModel};
use crate::common::{Town, terrapin};

const GOLD: &str = "area(3600000031)->.a;node[amenity=cafe](area.a);out center;";

/// Writes rows as JSON lines.
fn write(town: &Town, name: &str, rows: &[Value]) -> String {
    let lines: Vec<String> = rows.iter().map(Value::to_string).collect();
    std::fs::write(town.path(name), lines.join("\n")).unwrap();
    town.path(name).to_str().unwrap().to_owned()
}

/// Writes the examples of most tests.
fn examples(town: &Town) -> String {
    let rows = [
        json!({"id": "bars", "nl": "All bars", "gold": "node[amenity=bar];out;"}),
        json!({"nl": "Cafes in Bonn", "gold": "{{geocodeArea:\"Bonn\"}}->.a;node[\"amenity\"=\"cafe\"](area.a);out;"}),
        json!({"nl": "Bus stops in Bonn", "gold": "area[\"name\"=\"Bonn\"]->.a;node[highway=bus_stop](area.a);out;"}),
        json!({"nl": "People of Ladle", "gold": "SELECT ?n { wd:Q1 wdt:P1082 ?n }", "lang": "sparql"}),
    ];
    write(town, "train.jsonl", &rows)
}

/// Runs a command of `terrapin eval` and returns its exit status and standard error.
fn try_eval(town: &Town, command: &str, questions: &str, out: &str, options: &[&str]) -> (i32, String) {
    let mut program = terrapin();
    program.args(["eval", command]).arg(town.snapshot()).arg(questions).args(options);
    program.env("TERRAPIN_EMBEDDING_KEY", "sk-embedding-0123456789").env("TERRAPIN_MODEL_KEY", "sk-model-0123456789");
    let done = program.arg("--out").arg(town.path(out)).args(["--no-cache", "--json"]).output().unwrap();
    (done.status.code().unwrap(), String::from_utf8(done.stderr).unwrap())
}

fn eval(town: &Town, command: &str, questions: &str, out: &str, options: &[&str]) -> Value {
    let (status, err) = try_eval(town, command, questions, out, options);
    assert_eq!(status, 0, "{err}");
    serde_json::from_slice(&std::fs::read(town.path(out).join("summary.json")).unwrap()).unwrap()
}

/// Returns the rows of a file of a run.
fn rows(town: &Town, out: &str, file: &str) -> Vec<Value> {
    let text = std::fs::read_to_string(town.path(out).join(file)).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn exact(town: &Town, out: &str) -> Vec<Option<u64>> {
    let rows = rows(town, out, "results.jsonl");
    rows.iter().map(|row| row["ex"].as_u64().or_else(|| row["strict"]["multiset"].as_u64())).collect()
}

/// Returns the ids of the examples of each question.
fn ids(town: &Town, out: &str) -> Vec<Value> {
    let of = |row: &Value| {
        let steps = row["steps"].as_array().unwrap().iter();
        steps.clone().find(|step| step["step"] == "examples").map_or(Value::Null, |step| step["ids"].clone())
    };
    rows(town, out, "asked.jsonl")[1..].iter().map(of).collect()
}

/// Returns the files of a run, except those with times.
fn files(folder: &Path) -> BTreeMap<String, String> {
    let listed = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap());
    let files = listed.filter(|entry| entry.file_type().unwrap().is_file());
    let read = |entry: std::fs::DirEntry| {
        let name = entry.file_name().into_string().unwrap();
        (name, String::from_utf8_lossy(&std::fs::read(entry.path()).unwrap()).into_owned())
    };
    files.map(read).filter(|(name, _)| !["times.jsonl", "timings.jsonl"].contains(&name.as_str())).collect()
}

fn contents(asked: &ModelRequest) -> Vec<(String, String)> {
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let messages = asked.body["messages"].as_array().unwrap();
    messages.iter().map(|message| (text(&message["role"]), text(&message["content"]))).collect()
}

#[test]
fn the_baseline_copies_the_nearest_query_and_moves_its_place() {
    let town = Town::with_triples();
    let examples = examples(&town);
    let questions = [
        json!({"nl": "Cafes in Ladle", "gold": GOLD}),
        json!({"nl": "All the bars", "gold": "node[amenity=bar];out;"}),
        json!({"nl": "Which people of Ladle", "gold": "SELECT ?n { wd:Q1 wdt:P1082 ?n }", "lang": "sparql"}),
        json!({"nl": "all BARS?", "gold": "node[amenity=bar];out;"}),
    ];
    let questions = write(&town, "questions.jsonl", &questions);
    for select in ["bm25", "bleu"] {
        let options = ["--examples", &examples, "--model", "nearest", "--select", select];
        let summary = eval(&town, "ask", &questions, select, &options);
        let queries: Vec<Value> =
            rows(&town, select, "asked.jsonl")[1..].iter().map(|row| row["query"].clone()).collect();
        assert_eq!(queries[0], "{{geocodeArea:\"Ladle\"}}->.a;node[\"amenity\"=\"cafe\"](area.a);out;");
        assert_eq!(queries[2], "SELECT ?n { wd:Q1 wdt:P1082 ?n }");
        assert_eq!(ids(&town, select)[..3], [json!(["2"]), json!(["bars"]), json!(["4"])], "{select}");
        // The question itself is not its own example.
        assert_ne!(ids(&town, select)[3], json!(["bars"]));
        assert_eq!(exact(&town, select)[..1], [Some(1)]);
        assert_eq!(exact(&town, select)[2..3], [Some(1)]);
        let requests = &summary["requests"];
        assert_eq!((&summary["model"], &requests["model"]), (&json!("nearest"), &json!("nearest")));
        assert_eq!((&requests["examples"]["select"], &requests["examples"]["count"]), (&json!(select), &json!(4)));
    }
    let (status, err) = try_eval(&town, "ask", &questions, "none", &["--model", "nearest"]);
    assert!(status == 2 && err.contains("pass --examples"), "{err}");
    // The same for one question.
    let mut command = terrapin();
    command.arg("ask").arg(town.snapshot()).args(["Cafes in Ladle?", "--model", "nearest", "--examples", &examples]);
    let done = command.output().unwrap();
    let out = String::from_utf8(done.stdout).unwrap();
    assert!(done.status.success() && out.starts_with("3 elements."), "{out}{}", String::from_utf8_lossy(&done.stderr));
}

#[test]
fn examples_are_turns_before_the_question() {
    let town = Town::new();
    let examples = examples(&town);
    let questions = write(&town, "questions.jsonl", &[json!({"nl": "Cafes in Ladle", "gold": GOLD})]);
    let model = TestModel::start(|asked, _| {
        Act::say(if asked.last().starts_with("Say what this question mentions") { MENTIONS } else { RIGHT })
    });
    let options = [&model.options()[..], &["--examples", &examples, "--shots", "2"]].concat();
    eval(&town, "ask", &questions, "run", &options);
    let messages = contents(&model.asked()[1]);
    let roles: Vec<&str> = messages.iter().map(|(role, _)| role.as_str()).collect();
    assert_eq!(roles, ["system", "user", "assistant", "user", "assistant", "user"]);
    // The nearest example is next to the question.
    assert_eq!((messages[1].1.as_str(), messages[3].1.as_str()), ("Bus stops in Bonn", "Cafes in Bonn"));
    assert!(messages[4].1.starts_with("map: yes\n```overpassql\n{{geocodeArea:\"Bonn\"}}"), "{messages:?}");
    assert_eq!((ids(&town, "run"), exact(&town, "run")), (vec![json!(["3", "2"])], vec![Some(1)]));
    // Without examples the messages are as before.
    let options = [&model.options()[..], &["--examples", &examples, "--shots", "0"]].concat();
    eval(&town, "ask", &questions, "none", &options);
    assert_eq!(contents(model.asked().last().unwrap()).len(), 2);
    assert_eq!(ids(&town, "none"), [json!([])]);
}

#[test]
fn examples_are_left_out_if_the_prompt_is_too_long() {
    let town = Town::new();
    let examples = examples(&town);
    let questions = write(&town, "questions.jsonl", &[json!({"nl": "Cafes in Ladle", "gold": GOLD})]);
    // llama.cpp's message, also in the tests of the client.
    let message = "the request exceeds the available context size. try increasing the context size";
    let model = TestModel::start(move |asked, _| match asked.body["messages"].as_array().unwrap().len() {
        ..=4 => Act::say(RIGHT),
        _ => Act::Status(400, "", json!({"error": {"message": message}})),
    });
    let options = [&model.options()[..], &["--examples", &examples, "--shots", "3", "--no-search"]].concat();
    eval(&town, "ask", &questions, "run", &options);
    let sent: Vec<usize> = model.asked().iter().map(|asked| contents(asked).len()).collect();
    assert_eq!(sent, [8, 6, 4]);
    assert_eq!(contents(&model.asked()[2])[1].1, "Cafes in Bonn");
    let steps = rows(&town, "run", "asked.jsonl")[1]["steps"].clone();
    let ids = |step: &&Value| step["step"] == "examples";
    let last = steps.as_array().unwrap().iter().rfind(ids).unwrap()["ids"].clone();
    assert_eq!((last, exact(&town, "run")), (json!(["2"]), vec![Some(1)]));
}

#[test]
fn published_prompts_are_sent_as_published() {
    let town = Town::with_triples();
    let examples = examples(&town);
    let questions = write(&town, "questions.jsonl", &[json!({"nl": "Cafes in Ladle", "gold": GOLD})]);
    // The model goes on with an example of its own.
    let model = TestModel::saying(&[&format!(" {GOLD}\n\nInput: Bars\nOverpass Query: node[amenity=bar];out;")]);
    let options = [&model.options()[..], &["--examples", &examples, "--prompt", "overpassnl-5shot"]].concat();
    let summary = eval(&town, "ask", &questions, "ql", &options);
    let [(role, prompt)] = &contents(&model.asked()[0])[..] else { panic!() };
    assert_eq!((role.as_str(), model.asked().len()), ("user", 1));
    assert!(prompt.starts_with("The OverpassQL language allows one to formulate questions"), "{prompt}");
    assert!(prompt.ends_with("(area.a);out;\n\nInput: Cafes in Ladle\nOverpass Query:"), "{prompt}");
    assert_eq!(exact(&town, "ql"), [Some(1)]);
    let requests = &summary["requests"];
    assert_eq!((&requests["prompt"], &requests["repairs"]), (&json!("overpassnl-5shot"), &json!(0)));
    assert_eq!(rows(&town, "ql", "asked.jsonl")[1]["query"], GOLD);

    let query = "SELECT ?n { wd:Q1 wdt:P1082 ?n }";
    let sparql = write(&town, "sparql.jsonl", &[json!({"nl": "People in Ladle", "gold": query, "lang": "sparql"})]);
    let model = TestModel::saying(&[&format!("Here is the SPARQL query:\n\n[QUERY]\n{query}\n[/QUERY]")]);
    let options = [&model.options()[..], &["--examples", &examples, "--prompt", "instruct-to-sparql"]].concat();
    eval(&town, "ask", &sparql, "sparql", &options);
    let messages = contents(&model.asked()[0]);
    assert!(
        messages[0].1.contains("Examples:\n- User: People of Ladle\nAnswer: Here is the SPARQL query:"),
        "{messages:?}"
    );
    assert_eq!((messages[1].1.as_str(), exact(&town, "sparql")), ("People in Ladle", vec![Some(1)]));
    let (status, err) = try_eval(&town, "ask", &questions, "wrong", &options);
    assert!(status == 2 && err.contains("the prompt instruct-to-sparql is for sparql"), "{err}");
}

#[test]
fn equal_runs_with_embeddings_have_equal_files_also_after_a_kill() {
    let town = Town::new();
    let examples = examples(&town);
    let gold = |nl: &str| json!({"nl": nl, "gold": "node[amenity=cafe];out;"});
    let questions = ["Cafes?", "Cafes in Ladle?", "Every bar?", "Which cafes?", "Bus stops?"].map(gold);
    let questions = write(&town, "questions.jsonl", &questions);
    let model = || {
        TestModel::start(|asked, number| {
            if asked.head.starts_with("POST /v1/embeddings ") {
                // Counts of letters, in another order than that of the texts.
                let count = |text: &str, letter: char| text.chars().filter(|c| *c == letter).count();
                let texts = asked.body["input"].as_array().unwrap().iter().map(|text| text.as_str().unwrap());
                let vector = |text: &str| json!([count(text, 'f'), count(text, 'r'), count(text, 'p')]);
                let data = texts.enumerate().map(|(index, text)| json!({"index": index, "embedding": vector(text)}));
                return Act::Whole(json!({ "data": data.rev().collect::<Vec<_>>() }));
            }
            std::thread::sleep(std::time::Duration::from_millis(number as u64 % 5 * 20));
            Act::say(if asked.last().starts_with("Say what this question mentions") { MENTIONS } else { RIGHT })
        })
    };
    let run = |model: &TestModel, out: &str| {
        let select = format!("embedding:{}", model.url);
        let options = ["--examples", &examples, "--select", &select, "--threads", "3", "--shots", "1"];
        eval(&town, "ask", &questions, out, &[&model.options()[..], &options].concat())
    };
    // The address is a setting of the run: all runs need the same server.
    let model = model();
    run(&model, "one");
    let embedded = || model.asked().iter().filter(|asked| asked.head.starts_with("POST /v1/embeddings ")).count();
    assert_eq!(embedded(), 1, "one batch");
    assert!(model.asked()[0].head.contains("Bearer sk-model-"), "the same server gets its key");
    assert_eq!(ids(&town, "one"), [json!(["2"]), json!(["2"]), json!(["bars"]), json!(["2"]), json!(["3"])]);
    run(&model, "two");
    let (one, two) = (files(&town.path("one")), files(&town.path("two")));
    assert_eq!(one, two);
    // A run that was killed in the middle of a line of each file.
    let killed = town.path("killed");
    std::fs::create_dir(&killed).unwrap();
    let cut = |name: &str, at: &str| {
        let text = &one[name];
        std::fs::write(killed.join(name), &text[..text.find(at).unwrap() + at.len()]).unwrap();
    };
    cut("asked.jsonl", "\"line\":3");
    cut("embeddings.jsonl", "Every ");
    let before = embedded();
    run(&model, "killed");
    assert_eq!((files(&killed), embedded()), (one, before + 1));

    // Another server does not get the key of the model.
    let other = TestModel::start(|_, _| Act::Status(401, "", json!({"error": {"message": "wrong key sk-embedding"}})));
    let select = format!("embedding:{}", other.url);
    let options = [&model.options()[..], &["--examples", &examples, "--select", &select]].concat();
    let (status, err) = try_eval(&town, "ask", &questions, "other", &options);
    assert!(status == 4 && err.contains("status 401") && !err.contains("sk-"), "{err}");
    assert!(other.asked()[0].head.contains("Bearer sk-embedding-0123456789"), "{}", other.asked()[0].head);
}

#[test]
fn given_queries_are_refined() {
    let town = Town::new();
    let examples = examples(&town);
    let gold = |nl: &str| json!({"nl": nl, "gold": "node[amenity=cafe];out;"});
    let questions = write(&town, "questions.jsonl", &["Cafes?", "Wrong cafes?", "No cafes?", "Hard cafes?"].map(gold));
    let preds = "node[amenity=cafe];out;\nnode[amenity=cafe;out;\nnode[amenity=bar];out;\nnode[amenity=cafe\n";
    std::fs::write(town.path("preds.query"), preds).unwrap();
    let preds = town.path("preds.query").to_str().unwrap().to_owned();
    let model = || {
        TestModel::start(|asked, _| {
            let prompt = asked.last().rsplit("Input: ").next().unwrap().to_owned();
            Act::say(match prompt.split('?').next().unwrap() {
                "Cafes" => "node[amenity=cafe](1,2,3,4);out;",
                "Hard cafes" => "I cannot improve it.",
                _ => "node[amenity=cafe];out;",
            })
        })
    };
    let run = |only: &str, feedback: &str| {
        let (model, out) = (model(), format!("{only}-{feedback}"));
        let options = ["--pred", &preds, "--only", only, "--feedback", feedback, "--examples", &examples];
        let options = [&model.options()[..], &options].concat();
        let summary = eval(&town, "refine", &questions, &out, &options);
        let refine = &summary["requests"]["refine"];
        assert_eq!(refine, &json!({"only": only, "feedback": feedback == "on"}));
        let prompts: Vec<String> = model.asked().iter().map(|asked| asked.last().to_owned()).collect();
        // The same run again sends no request.
        eval(&town, "refine", &questions, &out, &options);
        assert_eq!(model.asked().len(), prompts.len());
        (exact(&town, &out), prompts)
    };
    let (right, prompts) = run("errors", "on");
    assert_eq!((right, prompts.len()), ([1, 1, 0, 0].map(Some).to_vec(), 2));
    assert!(prompts[0].contains("produced by a model: node[amenity=cafe;out;"), "{}", prompts[0]);
    assert!(prompts[0].contains("fits to the asked query: ") && prompts[0].contains("error"), "{}", prompts[0]);
    assert!(prompts[0].contains("Input: Cafes in Bonn\nOverpass Query: "), "{}", prompts[0]);
    let (right, prompts) = run("all", "on");
    assert_eq!((right, prompts.len()), ([0, 1, 1, 0].map(Some).to_vec(), 4));
    assert!(prompts[0].contains("asked query: rows: 4; columns: element | "), "{}", prompts[0]);
    assert!(prompts[2].contains("asked query: No results found\n"), "{}", prompts[2]);
    let (right, prompts) = run("all", "off");
    assert_eq!((right, prompts.len()), ([0, 1, 1, 0].map(Some).to_vec(), 4));
    assert!(!prompts[0].contains("You will now get"), "{}", prompts[0]);
    // A reply without a query keeps the given one.
    assert_eq!(rows(&town, "all-off", "asked.jsonl")[4]["query"], "node[amenity=cafe");
    let model = model();
    let options = [&model.options()[..], &["--only", "all", "--feedback", "on"]].concat();
    let (status, err) = try_eval(&town, "refine", &questions, "none", &options);
    assert!(status == 2 && err.contains("pass --pred"), "{err}");
}

/// The rule of docs/guides/ask.md: a token for every three bytes and eight for each message, a quarter of the context
/// for the reply.
#[test]
fn examples_are_left_out_if_the_server_reports_a_short_context() {
    let town = Town::new();
    let examples = examples(&town);
    let questions = write(&town, "questions.jsonl", &[json!({"nl": "Cafes in Ladle", "gold": GOLD})]);
    let options = ["--examples", &examples, "--shots", "3", "--prompt", "overpassnl-5shot"];
    let shown = |reports: &[(&str, Value)], out: &str| {
        let mut model = TestModel::saying(&[GOLD]);
        for (path, body) in reports {
            model = model.report(path, body.clone());
        }
        eval(&town, "ask", &questions, out, &[&model.options()[..], &options].concat());
        let sent = contents(&model.asked()[0]);
        assert_eq!(model.asked().len(), 1, "no prompt is rejected");
        let steps = rows(&town, out, "asked.jsonl")[1]["steps"].clone();
        let is_examples = |step: &&Value| step["step"] == "examples";
        (sent[0].1.len(), steps.as_array().unwrap().iter().rfind(is_examples).unwrap()["ids"].clone())
    };
    let (whole, ids) = shown(&[], "unknown");
    assert_eq!(ids, json!(["bars", "3", "2"]));
    // The context for the whole prompt: its tokens are three quarters.
    let context = (whole.div_ceil(3) + 8).div_ceil(3) * 4;
    let props = |context: usize| ("/props", json!({"default_generation_settings": {"n_ctx": context}}));
    let models = |context: usize| {
        ("/v1/models", json!({"data": [{"id": "scripted", "owned_by": "vllm", "max_model_len": context}]}))
    };
    assert_eq!(shown(&[props(context)], "enough").1, json!(["bars", "3", "2"]));
    assert_eq!(shown(&[props(context - 8)], "less").1, json!(["3", "2"]));
    assert_eq!(shown(&[models(context - 8)], "vllm").1, json!(["3", "2"]));
    let (_, none) = shown(&[props(16)], "none");
    assert_eq!(none, json!([]));
}

#[test]
fn replies_are_constrained_by_a_grammar_where_the_server_takes_it() {
    let town = Town::new();
    let questions = write(&town, "questions.jsonl", &[json!({"nl": "Cafes in Ladle", "gold": GOLD})]);
    let llama = ("/props", json!({"default_generation_settings": {"n_ctx": 8192}}));
    let vllm = ("/v1/models", json!({"data": [{"id": "scripted", "owned_by": "vllm", "max_model_len": 8192}]}));
    for (name, (path, report)) in [("llama", llama), ("vllm", vllm)] {
        for scope in ["language", "snapshot", "question"] {
            let model = TestModel::saying(&[RIGHT]).report(path, report.clone());
            let options = [&model.options()[..], &["--no-search", "--constrain", scope]].concat();
            let summary = eval(&town, "ask", &questions, &format!("{name}-{scope}"), &options);
            assert_eq!(summary["requests"]["constrain"], scope);
            let body = &model.asked()[0].body;
            let grammar = match name {
                "llama" => &body["grammar"],
                _ => &body["structured_outputs"]["grammar"],
            };
            let grammar = grammar.as_str().expect("a grammar");
            assert_eq!(body["guided_grammar"].is_string(), name == "vllm");
            assert!(grammar.starts_with("root ::= (\"map: yes\\n\" | \"map: no\\n\") "), "{grammar}");
            assert_eq!(grammar.contains("overpassql-known-key"), scope != "language", "{grammar}");
            assert_eq!(grammar.contains("residential"), scope == "snapshot", "{grammar}");
        }
    }
    // A server that reports neither gets no request.
    let model = TestModel::saying(&[RIGHT]);
    let options = [&model.options()[..], &["--no-search", "--constrain", "question"]].concat();
    let (status, err) = try_eval(&town, "ask", &questions, "other", &options);
    assert!(status != 0 && err.contains("needs a server that takes a grammar"), "{status} {err}");
    assert_eq!(model.asked().len(), 0);
    // Two grammars for the same requests.
    std::fs::write(town.path("extra.json"), r#"{"steps": {"query": {"grammar": "root ::= [a]"}}}"#).unwrap();
    let extra = town.path("extra.json");
    let options = [&options[..], &["--model-extra", extra.to_str().unwrap()]].concat();
    let (status, err) = try_eval(&town, "ask", &questions, "both", &options);
    assert!(status == 2 && err.contains("remove `grammar` from --model-extra"), "{status} {err}");
}
