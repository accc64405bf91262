//! Questions in plain language, as the command and the service answer them, with a model that follows a script.

use std::io::Read;
use std::path::Path;
use std::process::Stdio;

use serde_json::{Value, json};

use crate::common::model::{Act, Asked, Model};
use crate::common::server::Server;
use crate::common::{Town, terrapin};

const KEY: &str = "sk-very-secret-0123456789";
const MENTIONS: &str = r#"{"places": ["Ladle"], "things": ["cafe"], "names": ["Ladle"], "properties": ["population"]}"#;
const SLIP: &str = "map: yes\n```overpassql\nnode[amenty=cafe](area:3600000031); out center;\n```";
const RIGHT: &str = "map: yes\n```overpassql\narea(3600000031)->.a; node[amenity=cafe](area.a); out center;\n```";

/// What the command gives: its status, standard output, standard error.
fn ask(snapshot: &Path, model: &Model, arguments: &[&str]) -> (i32, String, String) {
    let mut command = terrapin();
    command.env_remove("TERRAPIN_MODEL_KEY").arg("ask").arg(snapshot).args(model.options()).args(arguments);
    let done = command.output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (done.status.code().unwrap(), text(done.stdout), text(done.stderr))
}

/// The same as JSON, where there is an answer.
fn answer(snapshot: &Path, model: &Model, arguments: &[&str]) -> Value {
    let (status, out, err) = ask(snapshot, model, &[arguments, &["--format", "json"]].concat());
    assert_eq!(status, 0, "{out}{err}");
    serde_json::from_str(&out).unwrap()
}

fn names(answer: &Value) -> Vec<&str> {
    answer["steps"].as_array().unwrap().iter().map(|step| step["step"].as_str().unwrap()).collect()
}

/// A model that first tells what is mentioned, then writes these, and says how many it sees.
fn writing(replies: &[&'static str]) -> Model {
    let replies = replies.to_vec();
    Model::start(move |asked, _| {
        let messages = asked.body["messages"].as_array().unwrap();
        if asked.last().starts_with("Say what this question mentions") {
            return Act::say(MENTIONS);
        }
        if asked.last().starts_with("This came of the query") {
            let count = asked.last().lines().find(|line| line.contains(" results; columns: ")).unwrap_or_default();
            return Act::Say(format!("I see {}.", count.split(';').next().unwrap()));
        }
        let turn = messages.iter().filter(|message| message["role"] == "assistant").count();
        Act::say(replies[turn.min(replies.len() - 1)])
    })
}

#[test]
fn a_question_is_answered_step_by_step() {
    let town = Town::with_triples();
    let model = writing(&[RIGHT]);
    let answer = answer(&town.snapshot(), &model, &["Which cafes are in Ladle?", "--context", "Only inside the town."]);
    assert_eq!(names(&answer), ["mentions", "candidates", "prompt", "reply", "query", "result", "text"]);
    assert_eq!(
        (&answer["text"], &answer["map"], &answer["repairs"]),
        (&json!("I see 3 results."), &json!(true), &json!(0))
    );
    let features = answer["features"]["features"].as_array().unwrap();
    assert_eq!(features.len(), 3);
    assert_eq!(features[0]["geometry"], json!({"type": "Point", "coordinates": [20.001, 10.001]}));
    assert_eq!(answer["results"][0]["rows"][0][1], "Bean & Leaf");
    let asked = model.asked();
    let prompt = asked[1].last();
    for real in [
        "tag \"amenity\"=\"cafe\": 4 elements",
        "area(3600000031)",
        "item wd:Q1, Ladle",
        "Only inside the town.",
        "Which cafes",
    ] {
        assert!(prompt.contains(real), "{real}: {prompt}");
    }
    assert_eq!((&asked[1].body["model"], &asked[1].body["temperature"]), (&json!("scripted"), &json!(0)));
    assert!(asked[1].body["messages"][0]["content"].as_str().unwrap().contains("4 triples"), "{}", asked[1].body);
    assert!(asked.iter().all(|asked| !asked.head.to_ascii_lowercase().contains("authorization")));
}

#[test]
fn people_get_words_and_rows_programs_get_places() {
    let town = Town::new();
    let model = writing(&[RIGHT]);
    let (status, out, err) = ask(&town.snapshot(), &model, &["Cafes in Ladle?", "--show-steps"]);
    assert_eq!(status, 0, "{err}");
    assert!(out.starts_with("I see 3 results.\n\nelement  name"), "{out}");
    assert!(out.contains("node/1   Bean & Leaf"), "{out}");
    for step in
        ["== mentions", "== candidates", "== prompt", "== query\noverpassql", "== result\n3 results, 3 features"]
    {
        assert!(err.contains(step), "{step}: {err}");
    }
    let (_, out, _) = ask(&town.snapshot(), &model, &["Cafes in Ladle?", "--format", "geojson"]);
    let places: Value = serde_json::from_str(&out).unwrap();
    assert_eq!((&places["type"], places["features"].as_array().unwrap().len()), (&json!("FeatureCollection"), 3));
    assert_eq!(places["features"][1]["properties"]["tags"]["name"], "Zur M\u{fc}hle");
}

#[test]
fn what_is_wrong_with_a_query_goes_back_until_it_is_repaired() {
    let town = Town::new();
    let wrong = "```overpassql\nnode[amenity=caffe](area:1;\nout;\n```";
    let empty = "```overpassql\nnode[amenity=caffe]; out;\n```";
    let model = writing(&["Let me think about cafes.", wrong, empty, RIGHT]);
    let answer = answer(&town.snapshot(), &model, &["Cafes in Ladle?", "--repairs", "3"]);
    assert_eq!(
        (&answer["repairs"], &answer["results"][0]["total"], &answer["problem"]),
        (&json!(3), &json!(3), &Value::Null)
    );
    let asked = model.asked();
    let repairs: Vec<&str> =
        asked.iter().map(Asked::last).filter(|last| last.starts_with("That did not answer")).collect();
    assert_eq!(repairs.len(), 3);
    for (repair, says) in repairs.iter().zip(["no query between fences", "parse error", "there is amenity=cafe (4)"]) {
        assert!(repair.contains(says), "{says}: {repair}");
    }
}

#[test]
fn repairs_end() {
    let town = Town::new();
    let model = writing(&["```overpassql\nnode[amenity=cafe;out;\n```"]);
    let (status, out, err) = ask(&town.snapshot(), &model, &["Cafes?", "--repairs", "1"]);
    assert_eq!((status, out.as_str()), (1, "No query that answers this was found.\n"));
    assert!(err.contains("no query answers this: parse error"), "{err}");
    assert_eq!(model.asked().len(), 3, "mentions, a query, its repair");
    // What finds nothing to the end is the answer.
    let model = writing(&["```overpassql\nnode[amenity=bar];out;\n```"]);
    let answer = answer(&town.snapshot(), &model, &["Bars?", "--repairs", "0"]);
    assert_eq!(
        (&answer["text"], &answer["map"], &answer["features"]),
        (&json!("I see 0 results."), &json!(false), &Value::Null)
    );
    assert_eq!(model.asked().len(), 3, "mentions, a query, words");
}

#[test]
fn a_question_that_needs_no_map_gets_none() {
    let town = Town::with_triples();
    for reply in [
        "map: no\n```overpassql\nnode[amenity=cafe];out count;\n```",
        "map: yes\n```overpassql\nnode[amenity=cafe];out count;\n```",
        "map: no\n```sparql\nSELECT (1200 AS ?people) {}\n```",
    ] {
        let model = Model::saying(&[MENTIONS, reply, "So many."]);
        let answer = answer(&town.snapshot(), &model, &["How many?"]);
        assert_eq!((&answer["map"], &answer["features"]), (&json!(false), &Value::Null), "{reply}");
    }
    let model = Model::saying(&[MENTIONS, "no query: this is about love."]);
    let answer = answer(&town.snapshot(), &model, &["What is love?"]);
    assert_eq!((&answer["text"], &answer["results"]), (&json!("this is about love."), &json!([])));
}

#[test]
fn queries_in_both_languages_are_run() {
    let town = Town::with_triples();
    let both = format!("{RIGHT}\n```sparql\nSELECT ?n {{ wd:Q1 wdt:P1082 ?n }}\n```");
    let model = Model::saying(&[MENTIONS, &both, "3 cafes, 1200 people."]);
    let answer = answer(&town.snapshot(), &model, &["How many people share a cafe?"]);
    let results = answer["results"].as_array().unwrap();
    assert_eq!(
        (results.len(), &results[1]["language"], &results[1]["rows"]),
        (2, &json!("sparql"), &json!([["1200"]]))
    );
    assert_eq!(answer["features"]["features"].as_array().unwrap().len(), 3);
}

#[test]
fn nothing_is_looked_up_where_that_is_not_wanted() {
    let town = Town::new();
    let model = Model::saying(&[RIGHT, "Three."]);
    let answer = answer(&town.snapshot(), &model, &["Cafes in Ladle?", "--no-search"]);
    assert_eq!(names(&answer), ["prompt", "reply", "query", "result", "text"]);
    assert_eq!(model.asked().len(), 2);
}

#[test]
fn replies_come_whole_in_pieces_and_as_the_server_likes() {
    let town = Town::new();
    let whole = |words: &str| json!({"choices": [{"message": {"content": words}}]});
    let pieces = |words: &str| {
        format!("data: {}\r\n\r\ndata: [DONE]\r\n\r\n", json!({"choices": [{"delta": {"content": words}}]}))
            .into_bytes()
    };
    let script = [MENTIONS, RIGHT, "Three."];
    let models = [
        (Model::saying(&script), &[][..]),
        (Model::saying(&script), &["--model-whole"][..]),
        (Model::start(move |_, number| Act::Whole(whole(script[number]))), &[][..]),
        (
            Model::start(move |_, number| Act::Bytes("text/event-stream; charset=utf-8", pieces(script[number]))),
            &["--model-whole"][..],
        ),
    ];
    for (model, options) in models {
        let answer = answer(&town.snapshot(), &model, &[&["Cafes in Ladle?"], options].concat());
        assert_eq!((&answer["text"], &answer["results"][0]["total"]), (&json!("Three."), &json!(3)));
        assert_eq!(model.asked()[0].body["stream"], options.is_empty());
    }
}

#[test]
fn mentions_that_cannot_be_read_are_guessed() {
    let town = Town::new();
    for act in ["I cannot say.", "{\"places\": \"Ladle\"", "{broken"] {
        let model = Model::saying(&[act, RIGHT, "Three."]);
        let answer = answer(&town.snapshot(), &model, &["Which cafe is in Ladle?"]);
        assert_eq!(answer["steps"][0]["mentions"]["places"], json!(["Ladle"]), "{act}");
        assert!(answer["steps"][0]["note"].is_string(), "{act}");
        assert!(answer["steps"][1]["candidates"].as_str().unwrap().contains("area(3600000031)"), "{answer}");
    }
}

#[test]
fn tools_that_are_called_though_there_are_none() {
    let town = Town::new();
    let call = |arguments: &str| json!({"choices": [{"message": {"content": null, "tool_calls": [{"type": "function", "function": {"name": "query_overpass", "arguments": arguments}}]}, "finish_reason": "tool_calls"}]});
    let model = Model::start(move |_, number| match number {
        0 => Act::say(MENTIONS),
        1 => Act::Whole(call("{\"place\": \"Ladle\"}")),
        2 => Act::Whole(call("{\"query\": \"node[amenity=cafe];out;\"}")),
        _ => Act::say("Four."),
    });
    let answer = answer(&town.snapshot(), &model, &["Cafes?"]);
    assert_eq!((&answer["repairs"], &answer["results"][0]["total"]), (&json!(1), &json!(4)));
    assert!(model.asked()[2].last().contains("no tools to call"), "{}", model.asked()[2].last());
}

#[test]
fn refusals_broken_replies_and_endless_ones() {
    let town = Town::new();
    let refusal = json!({"choices": [{"message": {"content": null, "refusal": "I must not."}}]});
    let model =
        Model::start(move |_, number| if number == 0 { Act::say(MENTIONS) } else { Act::Whole(refusal.clone()) });
    let refused = answer(&town.snapshot(), &model, &["Cafes?"]);
    assert_eq!((&refused["text"], &refused["map"]), (&json!("I must not."), &json!(false)));
    // One that ends nowhere is cut, and asked for a query.
    let model = Model::start(|_, number| match number {
        0 => Act::say(MENTIONS),
        1 => Act::Endless,
        2 => Act::Bytes("application/json", b"{\"choices\": [".to_vec()),
        3 => Act::say(RIGHT),
        _ => Act::say("Three."),
    });
    let repaired = answer(&town.snapshot(), &model, &["Cafes?"]);
    assert_eq!((&repaired["repairs"], &repaired["results"][0]["total"]), (&json!(2), &json!(3)));
    let reply = repaired["steps"].as_array().unwrap().iter().find(|step| step["step"] == "reply").unwrap();
    assert!(reply["cut"] == true && reply["reply"].as_str().unwrap().len() <= 64 << 10, "{}", reply["cut"]);
    model.wait_until_left(1);
    assert!(model.asked()[2].last().contains("cut off"), "{}", model.asked()[2].last());
    assert!(model.asked()[3].last().contains("could not be read"), "{}", model.asked()[3].last());
    // A line that has no end is no stream.
    let model = Model::start(|_, number| {
        if number == 0 { Act::say(MENTIONS) } else { Act::Bytes("text/event-stream", vec![b'x'; 3 << 20]) }
    });
    let (status, _, err) = ask(&town.snapshot(), &model, &["Cafes?", "--repairs", "0"]);
    assert_eq!(status, 1, "{err}");
    assert!(err.contains("has no end"), "{err}");
}

#[test]
fn a_busy_or_failing_server_is_asked_again() {
    let town = Town::new();
    let model = Model::start(|_, number| match number {
        0 => Act::Status(429, "Retry-After: 1\r\n", json!({"error": {"message": "slow down"}})),
        1 => Act::say(MENTIONS),
        2 => Act::Status(500, "", json!({"error": "oops"})),
        3 => Act::Status(503, "", Value::Null),
        4 => Act::say(RIGHT),
        _ => Act::say("Three."),
    });
    assert_eq!(answer(&town.snapshot(), &model, &["Cafes?"])["text"], "Three.");
    assert_eq!(model.asked().len(), 6);
}

#[test]
fn models_that_call_options_otherwise_are_asked_so() {
    let town = Town::new();
    let model = Model::start(|asked, number| match &asked.body["max_tokens"] {
        Value::Null if asked.body["max_completion_tokens"] == 4096 && asked.body["temperature"].is_null() => {
            Act::say([MENTIONS, RIGHT, "Three."][number / 2])
        }
        _ => Act::Status(400, "", json!({"error": {"message": "Unsupported parameter: use 'max_completion_tokens'."}})),
    });
    assert_eq!(answer(&town.snapshot(), &model, &["Cafes?"])["text"], "Three.");
}

#[test]
fn why_there_is_no_reply_is_told_without_the_key() {
    let town = Town::new();
    let key = town.path("key");
    std::fs::write(&key, format!("{KEY}\n")).unwrap();
    let echo =
        json!({"error": {"message": format!("Incorrect API key provided: {KEY}"), "type": "invalid_request_error"}});
    let cases: [(Act, &str, usize); 7] = [
        (Act::Status(401, "", echo.clone()), "answered with status 401", 1),
        (
            Act::Status(400, "", json!({"error": {"message": format!("no model for {KEY}")}})),
            "status 400: no model for [key]",
            1,
        ),
        (
            Act::Status(429, "Retry-After: 3600\r\n", json!({"error": {"message": "come back in an hour"}})),
            "status 429: come back in an hour",
            1,
        ),
        (Act::Status(500, "", echo), "status 500: Incorrect API key provided: [key]", 3),
        (Act::Status(302, "Location: http://192.0.2.1/\r\n", Value::Null), "answered with status 302", 1),
        (Act::Silence, "did not reply within 1 seconds", 1),
        (
            Act::Bytes(
                "text/event-stream",
                format!("data: {{\"error\": {{\"message\": \"{KEY} is over\"}}}}\n\n").into_bytes(),
            ),
            "it says: [key] is over",
            3,
        ),
    ];
    for (act, says, times) in cases {
        let act = std::sync::Mutex::new(act);
        let model = Model::start(move |_, _| match &*act.lock().unwrap() {
            Act::Status(status, headers, body) => Act::Status(*status, headers, body.clone()),
            Act::Bytes(media_type, bytes) => Act::Bytes(media_type, bytes.clone()),
            _ => Act::Silence,
        });
        let options = [
            "Cafes?",
            "--show-steps",
            "--model-time",
            if times == 1 { "1" } else { "60" },
            "--model-key-file",
            key.to_str().unwrap(),
        ];
        let (status, out, err) = ask(&town.snapshot(), &model, &options);
        assert_eq!(status, 4, "{says}: {err}");
        assert!(err.contains(says), "{says}: {err}");
        assert!(!err.contains(KEY) && !out.contains(KEY), "{err}");
        assert_eq!(model.asked().len(), times, "{says}");
        assert!(model.asked()[0].head.contains(&format!("Bearer {KEY}")), "{}", model.asked()[0].head);
    }
}

#[test]
fn the_key_comes_from_the_environment_and_is_in_no_answer() {
    let town = Town::new();
    let leak = format!("The key is {KEY}.");
    let model = Model::saying(&[MENTIONS, RIGHT, &leak]);
    let mut command = terrapin();
    command.env("TERRAPIN_MODEL_KEY", KEY).env("TERRAPIN_MODEL_URL", &model.url).env("TERRAPIN_MODEL_NAME", "scripted");
    let done = command.arg("ask").arg(town.snapshot()).args(["Cafes?", "--format", "json"]).output().unwrap();
    let out = String::from_utf8(done.stdout).unwrap();
    assert!(out.contains("The key is [key]."), "{out}");
    assert!(!out.contains(KEY));
    assert!(model.asked().iter().all(|asked| asked.head.contains(KEY)));
}

#[test]
fn what_is_wrong_with_the_options_is_told_and_nothing_is_sent() {
    let town = Town::new();
    let run = |options: &[&str]| {
        let mut command = terrapin();
        command.env_remove("TERRAPIN_MODEL_URL").arg("ask").arg(town.snapshot()).arg("Cafes?").args(options);
        let done = command.output().unwrap();
        (done.status.code().unwrap(), String::from_utf8(done.stderr).unwrap())
    };
    let nowhere = ["--model-url", "http://127.0.0.1:1/v1", "--model-name", "x"];
    for (options, status, says) in [
        (&[][..], 2, "no model: say by --model-url"),
        (&["--model-url", "http://127.0.0.1:1/v1"], 2, "--model-name"),
        (&["--model-name", "x"], 2, "--model-url"),
        (&["--model-url", "ftp://127.0.0.1/", "--model-name", "x"], 2, "begins with http://"),
        (&["--model-url", "http://a:b@127.0.0.1/", "--model-name", "x"], 2, "no user and no password"),
        (&[&nowhere[..], &["--model-key-file", "/nowhere"]].concat(), 3, "/nowhere"),
        (&[&nowhere[..], &["--prompts", "/nowhere"]].concat(), 3, "no prompt"),
        (&[&nowhere[..], &["--repairs", "4"]].concat(), 2, "0..=3"),
        (&nowhere, 4, "cannot be reached"),
    ] {
        let (code, err) = run(options);
        assert_eq!(code, status, "{options:?}: {err}");
        assert!(err.contains(says), "{options:?}: {err}");
    }
}

#[test]
fn prompts_are_files_that_can_be_replaced() {
    let town = Town::new();
    let folder = town.path("prompts");
    std::fs::create_dir(&folder).unwrap();
    std::fs::write(folder.join("query.md"), "MINE {{question}} | {{candidates}} | {{context}}").unwrap();
    let model = Model::saying(&[MENTIONS, RIGHT, "Three."]);
    answer(&town.snapshot(), &model, &["Cafes?", "--prompts", folder.to_str().unwrap()]);
    let prompt = model.asked()[1].last().to_owned();
    assert!(prompt.starts_with("MINE Cafes? | tag \"amenity\"=\"cafe\""), "{prompt}");
}

/// A server that asks this model.
fn served(town: Town, model: &Model, options: &[&str]) -> Server {
    Server::over(town, &[&model.options()[..], options].concat())
}

#[test]
fn the_service_answers_at_once_or_step_by_step() {
    let model = writing(&[SLIP, RIGHT]);
    let server = served(Town::new(), &model, &[]);
    let question = json!({"question": "Cafes in Ladle?", "context": "inside"}).to_string();
    let whole = server.ask("POST", "/ask", "", &question);
    assert_eq!((whole.status, whole.header("content-type")), (200, Some("application/json")), "{}", whole.text());
    let whole: Value = serde_json::from_slice(&whole.body).unwrap();
    assert_eq!((&whole["repairs"], &whole["features"]["features"][0]["id"]), (&json!(1), &json!("node/1")));
    let events = server.ask("POST", "/ask", "Accept: text/event-stream\r\n", &question);
    assert_eq!(events.header("content-type"), Some("text/event-stream"));
    let text = events.text();
    let told: Vec<(&str, Value)> = text
        .split("\n\n")
        .filter_map(|event| event.strip_prefix("event: ")?.split_once("\ndata: "))
        .map(|(name, data)| (name, serde_json::from_str(data).unwrap()))
        .collect();
    let steps: Vec<&Value> = told.iter().filter(|(name, _)| *name == "step").map(|(_, step)| step).collect();
    let (name, last) = told.last().unwrap();
    assert_eq!((*name, &last["text"]), ("answer", &json!("I see 3 results.")));
    assert_eq!(last["steps"], json!(steps));
    let facts: Value = serde_json::from_slice(&server.get("/api/snapshot").body).unwrap();
    assert_eq!(facts["ask"], true);
    assert!(server.get("/llms.txt").text().contains("(/ask)"));
    assert!(server.get("/openapi.json").text().contains("\"/ask\""));
}

#[test]
fn an_answer_goes_on_from_a_step_that_was_changed() {
    let model = writing(&[RIGHT]);
    let server = served(Town::new(), &model, &[]);
    let post = |body: Value| -> Value {
        let answer = server.ask("POST", "/ask", "", &body.to_string());
        assert_eq!(answer.status, 200, "{}", answer.text());
        serde_json::from_slice(&answer.body).unwrap()
    };
    let question = "Cafes?";
    let mentions = post(json!({"question": question, "mentions": {"things": ["street"]}}));
    assert_eq!(names(&mentions)[0], "candidates");
    assert!(mentions["steps"][0]["candidates"].as_str().unwrap().contains("highway"), "{mentions}");
    let candidates = post(json!({"question": question, "candidates": "tag \"a\"=\"b\": 1 element"}));
    assert_eq!(names(&candidates)[0], "prompt");
    assert!(candidates["steps"][0]["prompt"].as_str().unwrap().contains("tag \"a\"=\"b\""));
    let prompt = post(json!({"question": question, "prompt": "Write: node[amenity=cafe]"}));
    assert_eq!(names(&prompt)[0], "reply");
    let before = model.asked().len();
    let query = json!({"language": "overpassql", "query": "node[amenity=cafe];out;"});
    let queries = post(json!({"question": question, "queries": [query]}));
    assert_eq!((names(&queries), &queries["results"][0]["total"]), (vec!["query", "result", "text"], &json!(4)));
    assert_eq!(model.asked().len(), before + 1, "words alone");
}

#[test]
fn what_is_no_question_is_refused() {
    let model = writing(&[RIGHT]);
    let server = served(Town::new(), &model, &[]);
    for (body, says) in [
        ("", "not the JSON object expected"),
        ("{}", "missing field `question`"),
        (r#"{"question": " "}"#, "no question"),
        (r#"{"question": "a", "key": "x"}"#, "unknown field"),
        (r#"{"question": "a", "queries": []}"#, "one or two"),
        (r#"{"question": "a", "queries": [{"language": "sql", "query": ""}]}"#, "unknown variant"),
    ] {
        let answer = server.ask("POST", "/ask", "", body);
        assert_eq!(answer.status, 400, "{body}: {}", answer.text());
        assert!(answer.text().contains(says), "{body}: {}", answer.text());
    }
    let long = json!({"question": "a".repeat(9000)}).to_string();
    assert_eq!(server.ask("POST", "/ask", "", &long).status, 400);
    assert_eq!(server.get("/ask").status, 405);
    assert_eq!(model.asked().len(), 0);
    let off = Server::start(&[]);
    let answer = off.ask("POST", "/ask", "", r#"{"question": "a"}"#);
    assert_eq!(answer.status, 404);
    assert!(answer.text().contains("no language model is named here"), "{}", answer.text());
    let facts: Value = serde_json::from_slice(&off.get("/api/snapshot").body).unwrap();
    assert_eq!(facts["ask"], false);
    assert!(!off.get("/openapi.json").text().contains("\"/ask\"") && !off.get("/llms.txt").text().contains("/ask"));
}

#[test]
fn the_models_failures_have_statuses_and_the_log_has_no_key() {
    let town = Town::new();
    let model = Model::start(|asked, _| match asked.last() {
        last if last.contains("QUIET") => Act::Silence,
        last if last.contains("BUSY") => {
            Act::Status(429, "Retry-After: 600\r\n", json!({"error": {"message": "later"}}))
        }
        last if last.contains("WRONG") => Act::Status(403, "", json!({"error": {"message": format!("bad key {KEY}")}})),
        last if last.contains("ECHO") => Act::Say(format!("no query: the key is {KEY}")),
        _ => Act::Status(500, "", json!({"error": {"message": format!("bad key {KEY}")}})),
    });
    let mut command = Server::command(&town.snapshot());
    command
        .args(model.options())
        .args(["--model-time", "2", "--max-time", "60"])
        .env("TERRAPIN_MODEL_KEY", KEY)
        .env("RUST_LOG", "trace");
    let log = town.path("log");
    command.stderr(Stdio::from(std::fs::File::create(&log).unwrap()));
    let server = Server::launch(command);
    let ask = |question: &str| {
        server.ask("POST", "/ask", "", &json!({"question": question, "candidates": "none"}).to_string())
    };
    for (question, status) in [("QUIET", 504), ("BUSY", 503), ("WRONG", 502), ("ECHO", 200), ("FAULT", 502)] {
        let answer = ask(question);
        assert_eq!(answer.status, status, "{question}: {}", answer.text());
        assert!(!answer.text().contains(KEY), "{}", answer.text());
        assert_eq!(answer.header("retry-after"), (question == "BUSY").then_some("600"), "{question}");
    }
    assert!(!server.get("/metrics").text().contains(KEY));
    drop(server);
    let mut text = String::new();
    std::fs::File::open(log).unwrap().read_to_string(&mut text).unwrap();
    assert!(text.contains("no reply") && text.len() > 1000, "{text}");
    assert!(!text.contains(KEY), "{text}");
}

#[test]
fn a_client_that_leaves_takes_the_question_with_it() {
    let model = Model::start(|_, _| Act::Silence);
    let server = served(Town::new(), &model, &[]);
    let body = json!({"question": "Cafes?"}).to_string();
    let head = format!("POST /ask HTTP/1.1\r\nHost: test\r\nContent-Length: {}\r\n\r\n{body}", body.len());
    let waiting = server.send(head.as_bytes());
    while model.asked().is_empty() {
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    drop(waiting);
    model.wait_until_left(1);
    // Questions wait for their own slots, not for those of queries.
    assert_eq!(server.query("node(1);out;").status, 200);
}

#[test]
fn questions_count_among_what_a_client_may_ask() {
    let model = Model::start(|_, _| Act::Silence);
    let server = served(Town::new(), &model, &["--client-queries", "1"]);
    let body = json!({"question": "Cafes?"}).to_string();
    let head = format!("POST /ask HTTP/1.1\r\nHost: test\r\nContent-Length: {}\r\n\r\n{body}", body.len());
    let _waiting = server.send(head.as_bytes());
    while model.asked().is_empty() {
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    let answer = server.ask("POST", "/ask", "", &body);
    assert_eq!(answer.status, 429, "{}", answer.text());
    assert!(answer.text().contains("as many queries"), "{}", answer.text());
}

#[test]
fn the_options_are_checked_and_show_no_key() {
    let town = Town::new();
    let check = |options: &[&str]| {
        let mut command = terrapin();
        command.env("TERRAPIN_MODEL_KEY", KEY).arg("serve").arg(town.snapshot()).arg("--check-config").args(options);
        let done = command.output().unwrap();
        (done.status.code().unwrap(), String::from_utf8([done.stdout, done.stderr].concat()).unwrap())
    };
    let (status, text) = check(&["--model-url", "http://127.0.0.1:1/v1", "--model-name", "m"]);
    assert_eq!(status, 0, "{text}");
    assert!(text.contains("model-url = \"http://127.0.0.1:1/v1\"") && !text.contains(KEY), "{text}");
    assert_eq!(check(&["--model-url", "http://127.0.0.1:1/v1"]).0, 2);
    assert_eq!(
        check(&["--model-url", "http://127.0.0.1:1/v1", "--model-name", "m", "--model-key-file", "/nowhere"]).0,
        3
    );
}

#[test]
fn the_loop_is_scored_against_gold_queries() {
    let town = Town::with_triples();
    let questions = town.path("questions.jsonl");
    let gold = |nl: &str, gold: &str, lang: &str| json!({"nl": nl, "gold": gold, "lang": lang}).to_string();
    let lines = [
        gold("Cafes in Ladle?", "area(3600000031)->.a;node[amenity=cafe](area.a);out;", "overpassql"),
        gold("All cafes?", "node[amenity=cafe];out;", "overpassql"),
        gold("People of Ladle?", "SELECT ?n { wd:Q1 wdt:P1082 ?n }", "sparql"),
    ];
    std::fs::write(&questions, lines.join("\n")).unwrap();
    // It is right about Ladle's cafes once it was told what is wrong, about all cafes with the tag it is shown, never about people.
    let model = || {
        Model::start(|asked, _| {
            let messages = asked.body["messages"].as_array().unwrap();
            let is_repair = messages.len() > 2;
            let first = messages[1]["content"].as_str().unwrap();
            Act::say(match first {
                first if first.starts_with("Say what") => MENTIONS,
                first if first.contains("Cafes in Ladle?") && !is_repair => {
                    "```overpassql\nnode[amenty=cafe];out;\n```"
                }
                first if first.contains("Cafes in Ladle?") => RIGHT,
                first if first.contains("All cafes?") && first.contains("tag \"amenity\"=\"cafe\"") => {
                    "```overpassql\nnode[amenity=cafe];out;\n```"
                }
                first if first.contains("All cafes?") => "```overpassql\nnode[shop=coffee];out;\n```",
                _ => "```sparql\nSELECT ?n { wd:Q1 wdt:P31 ?n }\n```",
            })
        })
    };
    let score = |model: &Model, out: &str, options: &[&str]| -> Value {
        let mut command = terrapin();
        command.args(["eval", "ask"]).arg(town.snapshot()).arg(&questions).args(model.options()).args(options);
        let done = command.arg("--out").arg(town.path(out)).args(["--no-cache", "--json"]).output().unwrap();
        assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
        serde_json::from_slice(&std::fs::read(town.path(out).join("summary.json")).unwrap()).unwrap()
    };
    let right = |out: &str| -> Vec<Option<u64>> {
        let results = std::fs::read_to_string(town.path(out).join("results.jsonl")).unwrap();
        let lines = results.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
        lines.map(|line| line["ex"].as_u64().or_else(|| line["strict"]["multiset"].as_u64())).collect()
    };
    for (out, options, expected) in [
        ("bare", &["--no-search", "--repairs", "0"][..], [0, 0, 0]),
        ("repaired", &["--no-search", "--repairs", "1"], [1, 0, 0]),
        ("searched", &["--repairs", "0"], [0, 1, 0]),
        ("both", &["--repairs", "3"], [1, 1, 0]),
    ] {
        let model = model();
        score(&model, out, options);
        assert_eq!(right(out), expected.map(Some), "{out}");
        let asked = model.asked().len();
        // The same again asks nothing.
        score(&model, out, options);
        assert_eq!(model.asked().len(), asked);
    }
    let asked = std::fs::read_to_string(town.path("both").join("asked.jsonl")).unwrap();
    let first: Value = serde_json::from_str(asked.lines().nth(1).unwrap()).unwrap();
    assert_eq!((&first["repairs"], &first["steps"][0]["step"]), (&json!(1), &json!("mentions")));
    let other = model();
    let mut command = terrapin();
    command.args(["eval", "ask"]).arg(town.snapshot()).arg(&questions).args(other.options()).args(["--repairs", "1"]);
    let done = command.arg("--out").arg(town.path("both")).output().unwrap();
    assert_eq!(done.status.code(), Some(2), "another run is there");
}

/// A question that is asked and whose answer is not read yet.
fn leave_unread(server: &Server, question: &str) -> std::net::TcpStream {
    let body = json!({ "question": question }).to_string();
    server.send(
        format!(
            "POST /ask HTTP/1.1\r\nHost: test\r\nConnection: close\r\nContent-Length: {}\r\n\r\n{body}",
            body.len()
        )
        .as_bytes(),
    )
}

#[test]
fn a_running_question_is_listed_and_stopped() {
    let model = Model::start(|_, _| Act::Silence);
    let server = served(Town::new(), &model, &["--max-queries", "3"]);
    let listed = |count: usize| {
        for _ in 0..600 {
            let status = server.get("/api/status").text();
            // It has none of the slots that queries have.
            assert!(status.contains("3 slots available now.") && !status.contains("Slot available after"), "{status}");
            let running: Vec<&str> = status.lines().filter(|line| line.contains('\t')).collect();
            if running.len() == count {
                return running.iter().map(|line| (*line).to_owned()).collect::<Vec<_>>();
            }
            std::thread::sleep(std::time::Duration::from_millis(50));
        }
        panic!("{count} questions do not run");
    };
    for stop in 1..=2 {
        let mut asked = leave_unread(&server, "Cafes?");
        let running = listed(1);
        assert!(running[0].starts_with(&format!("{stop}\t")), "{running:?}");
        let killed = server.get("/api/kill_my_queries").text();
        assert_eq!(killed, format!("Killing query (pid {stop}) from IP 127.0.0.1 ...\nDone!\n"));
        let mut answer = String::new();
        asked.read_to_string(&mut answer).unwrap();
        assert!(answer.starts_with("HTTP/1.1 503 ") && answer.contains("it was stopped"), "{answer}");
        model.wait_until_left(stop);
        listed(0);
    }
}

#[test]
fn waiting_for_the_model_uses_up_nothing_of_a_clients_seconds() {
    // More than the client has.
    let model = Model::start(|_, number| {
        std::thread::sleep(std::time::Duration::from_secs(4));
        Act::say([RIGHT, "Three."][number % 2])
    });
    let server = served(Town::new(), &model, &["--client-seconds", "6"]);
    let question = json!({"question": "Cafes in Ladle?", "candidates": "nothing"}).to_string();
    assert_eq!(server.ask("POST", "/ask", "", &question).status, 200);
    let after = server.query("node[amenity=cafe];out;");
    assert_eq!(after.status, 200, "{}", after.text());
}
