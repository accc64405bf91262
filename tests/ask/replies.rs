//! Tests replies of weak, slow and endless models. The cases are replies of a real model with 135 million parameters:
//! endless lists of mentions, empty lists, examples copied from the prompt, queries with prose, repetition until the
//! timeout.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::{Value, json};

use crate::ask::questions::{MENTIONS, RIGHT, answer, ask};
use crate::common::model::{Act, ModelRequest, TestModel, pieces};
use crate::common::{Town, terrapin};

/// Returns the step of this name.
fn step<'a>(answer: &'a Value, name: &str) -> &'a Value {
    answer["steps"].as_array().unwrap().iter().find(|step| step["step"] == name).unwrap()
}

/// Returns the purpose of a request by its prompt.
fn purpose(asked: &ModelRequest) -> &'static str {
    match asked.last() {
        last if last.starts_with("Say what this question mentions") => "mentions",
        last if last.starts_with("This came of the query") => "text",
        _ => "query",
    }
}

#[test]
fn a_list_of_mentions_that_does_not_end_is_replaced_by_a_guess() {
    let town = Town::new();
    let model = TestModel::start(|asked, _| match purpose(asked) {
        "mentions" => Act::Endless,
        "query" => Act::say(RIGHT),
        _ => Act::say("Three."),
    });
    let answer = answer(&town.snapshot(), &model, &["Which cafes are in Ladle?"]);
    model.wait_until_left(1);
    let mentions = step(&answer, "mentions");
    assert_eq!((&mentions["mentions"]["places"], &answer["text"]), (&json!(["Ladle"]), &json!("Three.")));
    assert_eq!(mentions["note"], "the reply was cut off after 512 tokens");
    let tokens: Vec<Value> = model.asked().iter().map(|asked| asked.body["max_tokens"].clone()).collect();
    assert_eq!(tokens, [512, 4096, 512]);
    // The limits are options. None exceeds the limit for all replies.
    let options = ["Cafes?", "--model-mention-tokens", "20", "--model-text-tokens", "900", "--model-tokens", "800"];
    self::answer(&town.snapshot(), &model, &options);
    let tokens: Vec<Value> = model.asked()[3..].iter().map(|asked| asked.body["max_tokens"].clone()).collect();
    assert_eq!(tokens, [20, 800, 800]);
}

#[test]
fn late_mentions_are_replaced_by_a_guess_and_late_words_by_a_count() {
    let town = Town::new();
    let model = TestModel::start(|asked, _| match purpose(asked) {
        "mentions" => Act::Silence,
        "query" => Act::say(RIGHT),
        _ => Act::Trickle,
    });
    let answer = answer(&town.snapshot(), &model, &["Which cafes are in Ladle?", "--model-time", "1"]);
    for (name, note) in [("mentions", "in time"), ("text", "in time")] {
        assert!(step(&answer, name)["note"].as_str().unwrap().contains(note), "{answer}");
    }
    assert_eq!((&answer["text"], &answer["repairs"]), (&json!("3 elements."), &json!(0)));
}

#[test]
fn empty_mentions_and_examples_of_the_prompt_are_no_mentions() {
    let town = Town::new();
    for (reply, note) in [
        (r#"{"places": [], "things": [], "names": [], "properties": []}"#, "the reply mentions nothing"),
        (
            r#"{"places": ["Valletta", "12 Republic Street, Valletta"], "things": ["museum", "fast food that is vegan"],
                "names": ["municipality of Brazil", "Douglas Adams"], "properties": ["population", "inception", "instance of"]}"#,
            "the reply only repeats the examples of the prompt",
        ),
    ] {
        let model = TestModel::saying(&[reply, RIGHT, "Three."]);
        let answer = answer(&town.snapshot(), &model, &["Which cafes are in Ladle?"]);
        let mentions = step(&answer, "mentions");
        assert_eq!((&mentions["note"], &mentions["mentions"]["places"]), (&json!(note), &json!(["Ladle"])));
        assert!(step(&answer, "candidates")["candidates"].as_str().unwrap().contains("area(3600000031)"), "{answer}");
    }
    // Of a mixed list, only the examples of the prompt are removed.
    let mixed = r#"{"places": ["Ladle", "Valletta"], "things": ["cafe", "museum"]}"#;
    let model = TestModel::saying(&[mixed, RIGHT, "Three."]);
    let answer = answer(&town.snapshot(), &model, &["Which cafes are in Ladle?"]);
    let mentions = step(&answer, "mentions");
    assert_eq!((&mentions["note"], &answer["missing"]), (&Value::Null, &json!([])));
    assert_eq!(
        (&mentions["mentions"]["places"], &mentions["mentions"]["things"]),
        (&json!(["Ladle"]), &json!(["cafe"]))
    );
}

#[test]
fn reading_stops_at_the_end_of_the_object_and_of_the_block() {
    let town = Town::new();
    let model = TestModel::start(|asked, _| match purpose(asked) {
        "mentions" => Act::RunOn(MENTIONS.to_owned()),
        "query" => Act::RunOn(format!("{RIGHT}\n")),
        _ => Act::Endless,
    });
    let answer = answer(&town.snapshot(), &model, &["Cafes in Ladle?"]);
    model.wait_until_left(3);
    assert_eq!((&answer["repairs"], &answer["results"][0]["total"]), (&json!(0), &json!(3)));
    let (mentions, reply, text) = (step(&answer, "mentions"), step(&answer, "reply"), step(&answer, "text"));
    assert_eq!((&mentions["note"], &reply["cut"]), (&Value::Null, &Value::Null));
    assert!(reply["reply"].as_str().unwrap().len() < RIGHT.len() + 300, "{reply}");
    assert!(reply["tokens"]["completion"].as_u64().unwrap() < 80 && reply["tokens"]["estimate"] == true, "{reply}");
    assert_eq!(
        (&answer["text"], &text["note"]),
        (&json!("3 elements."), &json!("the reply was cut off after 512 tokens"))
    );
    // If only one language is allowed, reading stops at the end of the code block.
    let questions = town.path("questions.jsonl");
    std::fs::write(&questions, json!({"nl": "Cafes in Ladle?", "gold": "node(1);out;"}).to_string()).unwrap();
    run_eval(&town, &questions, &model, "run", &[]);
    let lines = std::fs::read_to_string(town.path("run").join("asked.jsonl")).unwrap();
    let asked: Value = serde_json::from_str(lines.lines().nth(1).unwrap()).unwrap();
    assert_eq!(step(&asked, "reply")["reply"], RIGHT);
}

#[test]
fn repairs_send_the_query_and_its_errors() {
    let town = Town::new();
    let prose = "Sure! Cafes are tagged in many ways. ".repeat(8);
    let wrong = format!("{prose}\n```overpassql\nnode[amenity=caffe](area:1;\nout;\n```\n{prose}");
    let replies =
        [MENTIONS.to_owned(), wrong, "I would look at the map. ".repeat(99), RIGHT.to_owned(), "Three.".to_owned()];
    let model = TestModel::start(move |_, number| Act::Say(replies[number].clone()));
    let answer = answer(&town.snapshot(), &model, &["Cafes in Ladle?"]);
    assert_eq!((&answer["repairs"], &answer["results"][0]["total"]), (&json!(2), &json!(3)));
    let asked = model.asked();
    let messages = asked[3].body["messages"].as_array().unwrap();
    let said = |at: usize| messages[at]["content"].as_str().unwrap();
    assert_eq!(messages.len(), 6);
    assert_eq!(said(2), "map: yes\n```overpassql\nnode[amenity=caffe](area:1;\nout;\n```");
    assert!(said(3).contains("parse error"), "{}", said(3));
    assert_eq!(said(4), "...");
    // The steps contain the original reply.
    assert!(step(&answer, "reply")["reply"].as_str().unwrap().starts_with("Sure!"), "{answer}");
}

/// Returns words as llama.cpp b11669 streams them, with its counts.
fn counted(words: &str, prompt: u64, completion: u64, cached: u64) -> Act {
    let end = json!({"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]});
    let usage = json!({
        "choices": [], "model": "/srv/models/tiny.gguf", "system_fingerprint": "b11669-Debian",
        "usage": {"prompt_tokens": prompt, "completion_tokens": completion, "prompt_tokens_details": {"cached_tokens": cached}},
    });
    let text = format!("{}data: {end}\n\ndata: {usage}\n\ndata: [DONE]\n\n", pieces(words));
    Act::Bytes("text/event-stream", text.into_bytes())
}

#[test]
fn tokens_of_each_step_are_recorded_and_shown() {
    let town = Town::new();
    let model = || {
        TestModel::start(|asked, _| match purpose(asked) {
            "mentions" => counted(MENTIONS, 393, 40, 0),
            "query" => counted(RIGHT, 2352, 38, 205),
            _ => counted("Three.", 300, 3, 205),
        })
    };
    let first = answer(&town.snapshot(), &model(), &["Cafes in Ladle?"]);
    for (name, prompt, completion) in [("mentions", 393, 40), ("reply", 2352, 38), ("text", 300, 3)] {
        assert_eq!(step(&first, name)["tokens"], json!({"prompt": prompt, "completion": completion}), "{name}");
    }
    // An answer does not depend on time or on the server's cache.
    assert_eq!(answer(&town.snapshot(), &model(), &["Cafes in Ladle?"]), first);
    let (_, _, err) = ask(&town.snapshot(), &model(), &["Cafes in Ladle?", "--show-steps"]);
    assert!(err.contains("== reply (2352 tokens in, 205 of them cached, 38 tokens out, "), "{err}");
    assert!(err.contains("== mentions (393 tokens in, 0 of them cached, 40 tokens out, "), "{err}");
}

#[test]
fn a_model_that_repeats_itself_is_still_replying() {
    let town = Town::new();
    let model =
        TestModel::start(|asked, _| if purpose(asked) == "mentions" { Act::say(MENTIONS) } else { Act::Trickle });
    let (status, _, err) = ask(&town.snapshot(), &model, &["Cafes?", "--model-time", "2"]);
    assert_eq!(status, 4, "{err}");
    assert!(err.contains("was still replying after 2 seconds and about ") && err.contains(" tokens"), "{err}");
    assert!(err.contains("a smaller --model-tokens cuts off"), "{err}");
    assert!(!err.contains("did not reply"), "{err}");
}

#[test]
fn places_that_are_not_there_are_named() {
    let town = Town::with_triples();
    let mentions = r#"{"places": ["Paris", "Ladle"], "things": ["cafe"]}"#;
    let all = "map: yes\n```overpassql\nnode[amenity=cafe];out;\n```";
    let model = TestModel::saying(&[mentions, all, "There are four."]);
    let told = answer(&town.snapshot(), &model, &["Which cafes are in Paris or Ladle?"]);
    assert_eq!(
        (&told["missing"], &told["text"]),
        (&json!(["Paris"]), &json!("There are four. Paris is not in this snapshot."))
    );
    assert!(model.asked()[1].last().contains("\"Paris\" is not in this snapshot"), "{}", model.asked()[1].last());
    // No query can answer this question.
    let model = TestModel::saying(&[mentions, "I cannot say."]);
    let (status, out, _) = ask(&town.snapshot(), &model, &["Cafes in Paris?", "--repairs", "0"]);
    assert_eq!((status, out.as_str()), (1, "No query that answers this was found. Paris is not in this snapshot.\n"));
    let model = TestModel::saying(&[mentions, "no query: this needs other data."]);
    let words = answer(&town.snapshot(), &model, &["Cafes in Paris?"]);
    assert_eq!(words["text"], "this needs other data. Paris is not in this snapshot.");
    // A guessed mention may not be a place; it is reported as missing only if nothing was found.
    for (query, text) in [
        ("map: yes\n```overpassql\nnode[amenity=cafe];out;\n```", "So."),
        ("map: yes\n```overpassql\nnode[amenity=bar];out;\n```", "So. Italian is not in this snapshot."),
    ] {
        let model = TestModel::saying(&["?", query, "So."]);
        let guessed = answer(&town.snapshot(), &model, &["Which Italian cafes are there?", "--repairs", "0"]);
        assert_eq!((&guessed["missing"], &guessed["text"]), (&json!(["Italian"]), &json!(text)));
    }
}

#[test]
fn fields_of_the_user_are_sent() {
    let town = Town::new();
    let file = town.path("extra.json");
    let fields = json!({"seed": 7, "cache_prompt": false, "steps": {"query": {"grammar": "root ::= \"a\""}}});
    std::fs::write(&file, fields.to_string()).unwrap();
    let model = TestModel::saying(&[MENTIONS, RIGHT, "Three."]);
    let option = ["--model-extra", file.to_str().unwrap()];
    answer(&town.snapshot(), &model, &[&["Cafes?"], &option[..]].concat());
    for asked in model.asked() {
        assert_eq!((&asked.body["seed"], &asked.body["cache_prompt"]), (&json!(7), &json!(false)));
        assert_eq!(asked.body["grammar"].is_string(), purpose(&asked) == "query", "{}", asked.body);
    }
    for (text, says) in [
        ("{\"messages\": []}", "the field `messages` is set by the program"),
        ("{\"steps\": {\"query\": {\"stream\": true}}}", "the field `stream` is set by the program"),
        (
            "{\"steps\": {\"words\": {}}}",
            "unknown step `words` in `steps`: expected an object with mentions, query, text",
        ),
        ("[]", "expected a JSON object"),
    ] {
        std::fs::write(&file, text).unwrap();
        let (status, _, err) = ask(&town.snapshot(), &model, &[&["Cafes?"], &option[..]].concat());
        assert!(status == 3 && err.contains(says), "{text}: {status} {err}");
    }
    assert_eq!(model.asked().len(), 3);
}

fn run_eval(town: &Town, questions: &Path, model: &TestModel, out: &str, options: &[&str]) -> Value {
    let mut command = terrapin();
    command.args(["eval", "ask"]).arg(town.snapshot()).arg(questions).args(model.options()).args(options);
    let done = command.arg("--out").arg(town.path(out)).args(["--no-cache", "--json"]).output().unwrap();
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    serde_json::from_slice(&std::fs::read(town.path(out).join("summary.json")).unwrap()).unwrap()
}

/// Returns the files of a run, except those with times.
fn files(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let listed = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap());
    let files = listed.filter(|entry| entry.file_type().unwrap().is_file());
    let name = |entry: &std::fs::DirEntry| entry.file_name().into_string().unwrap();
    files
        .filter(|entry| !["times.jsonl", "timings.jsonl"].contains(&name(entry).as_str()))
        .map(|entry| (name(&entry), std::fs::read(entry.path()).unwrap()))
        .collect()
}

#[test]
fn equal_runs_have_equal_files_but_those_with_times() {
    let town = Town::new();
    let questions = town.path("questions.jsonl");
    let gold = |nl: &str| json!({"nl": nl, "gold": "node[amenity=cafe];out;"}).to_string();
    let lines = ["Cafes?", "Cafes in Ladle?", "Every cafe?", "Which cafes?", "Late cafes?"].map(gold);
    std::fs::write(&questions, lines.join("\n")).unwrap();
    let extra = town.path("extra.json");
    std::fs::write(&extra, "{\"seed\": 7}").unwrap();
    // Response times differ between runs, and so does the use of the server's cache. The last question times out.
    let model = || {
        TestModel::start(|asked, number| {
            std::thread::sleep(std::time::Duration::from_millis(number as u64 % 7 * 20));
            match purpose(asked) {
                "mentions" => counted(MENTIONS, 393, 40, number as u64),
                _ if asked.last().contains("Late cafes") => Act::Trickle,
                _ => counted(RIGHT, 2352, 38, number as u64),
            }
        })
    };
    let options = ["--model-extra", extra.to_str().unwrap(), "--threads", "3", "--model-time", "2"];
    let run = |out: &str| run_eval(&town, &questions, &model(), out, &options);
    let summary = run("one");
    let requests = &summary["requests"];
    assert_eq!((&requests["model"], &requests["extra"]), (&json!("scripted"), &json!({"seed": 7})));
    assert_eq!(requests["servers"], json!([{"model": "tiny.gguf", "fingerprint": "b11669-Debian"}]));
    assert_eq!(requests["tokens"], json!({"mentions": 512, "query": 4096, "text": 512}));
    run("two");
    let (one, two) = (files(&town.path("one")), files(&town.path("two")));
    assert_eq!(one.keys().collect::<Vec<_>>(), two.keys().collect::<Vec<_>>());
    for (name, bytes) in &one {
        assert_eq!(String::from_utf8_lossy(bytes), String::from_utf8_lossy(&two[name]), "{name}");
    }
    let asked = String::from_utf8(one["asked.jsonl"].clone()).unwrap();
    assert!(
        asked.contains("\"tokens\":{\"prompt\":2745,\"completion\":78}") && !asked.contains("seconds\":0."),
        "{asked}"
    );
    assert!(asked.contains("its reply did not end in time"), "{asked}");
    let times = std::fs::read_to_string(town.path("one").join("times.jsonl")).unwrap();
    let times: Vec<Value> = times.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(times.iter().map(|times| times["line"].as_u64().unwrap()).collect::<Vec<_>>(), [1, 2, 3, 4, 5]);
    assert!(times[0]["seconds"].as_f64().is_some() && times[0]["steps"][1]["cached"].is_u64(), "{times:?}");
    assert!(times[4]["error"].as_str().unwrap().contains("still replying after 2 seconds"), "{times:?}");
    // A run that was killed in the middle of a line and resumed gives the same files as an uninterrupted one.
    let half = &asked[..asked.find("\"line\":3").unwrap() + 20];
    let killed = town.path("killed");
    std::fs::create_dir(&killed).unwrap();
    std::fs::write(killed.join("asked.jsonl"), half).unwrap();
    run("killed");
    assert_eq!(files(&killed), one);
}
