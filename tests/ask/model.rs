//! Tests the requests to a model's server: how its responses, rejected parameters and timeouts are handled.

use serde_json::{Value, json};

use crate::ask::questions::{KEY, MENTIONS, RIGHT, answer, ask};
use crate::common::model::{Act, TestModel};
use crate::common::server::TestServer;
use crate::common::{Town, terrapin};

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
        (TestModel::saying(&script), &[][..]),
        (TestModel::saying(&script), &["--model-whole"][..]),
        (TestModel::start(move |_, number| Act::Whole(whole(script[number]))), &[][..]),
        (
            TestModel::start(move |_, number| Act::Bytes("text/event-stream; charset=utf-8", pieces(script[number]))),
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
fn tools_that_are_called_though_there_are_none() {
    let town = Town::new();
    let call = |arguments: &str| json!({"choices": [{"message": {"content": null, "tool_calls": [{"type": "function", "function": {"name": "query_overpass", "arguments": arguments}}]}, "finish_reason": "tool_calls"}]});
    let model = TestModel::start(move |_, number| match number {
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
        TestModel::start(move |_, number| if number == 0 { Act::say(MENTIONS) } else { Act::Whole(refusal.clone()) });
    let refused = answer(&town.snapshot(), &model, &["Cafes?"]);
    assert_eq!((&refused["text"], &refused["map"]), (&json!("I must not."), &json!(false)));
    // An endless reply is cut off; then a query is requested again.
    let model = TestModel::start(|_, number| match number {
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
    // A line without an end is not a valid stream.
    let model = TestModel::start(|_, number| {
        if number == 0 { Act::say(MENTIONS) } else { Act::Bytes("text/event-stream", vec![b'x'; 3 << 20]) }
    });
    let (status, _, err) = ask(&town.snapshot(), &model, &["Cafes?", "--repairs", "0"]);
    assert_eq!(status, 1, "{err}");
    assert!(err.contains("has no end"), "{err}");
}

#[test]
fn a_busy_or_failing_server_is_asked_again() {
    let town = Town::new();
    let model = TestModel::start(|_, number| match number {
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

/// RFC 9110, section 10.2.3, allows any number of digits.
#[test]
fn a_server_that_asks_for_ages_is_not_waited_for() {
    let town = Town::new();
    for wait in ["18446744073709551615", "99999999999999999999999999", "31536000000"] {
        let header: &'static str = format!("Retry-After: {wait}\r\n").leak();
        let model = TestModel::start(move |_, _| Act::Status(429, header, json!({"error": {"message": "slow down"}})));
        let (status, out, err) = ask(&town.snapshot(), &model, &["Cafes?"]);
        assert_eq!(status, 4, "{out}{err}");
        assert!(err.contains("status 429: slow down"), "{err}");
        assert_eq!(model.asked().len(), 1);
        let server = TestServer::of(&town.snapshot(), &model.options());
        let answer = server.ask("POST", "/ask", "", r#"{"question": "Cafes?"}"#);
        assert_eq!((answer.status, answer.header("retry-after")), (503, Some("3600")), "{}", answer.text());
    }
}

#[test]
fn models_that_call_options_otherwise_are_asked_so() {
    let town = Town::new();
    let model = TestModel::start(|asked, number| {
        let refused = |message: &str| Act::Status(400, "", json!({"error": {"message": message}}));
        if !asked.body["max_tokens"].is_null() {
            return refused("Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead.");
        }
        if !asked.body["temperature"].is_null() {
            return refused("Unsupported value: 'temperature' does not support 0 with this model.");
        }
        if asked.body["stream"] == true {
            return refused("Your organization must be verified to stream this model.");
        }
        if asked.body["messages"][0]["role"] == "system" {
            return refused("System role not supported");
        }
        // Later requests omit the rejected fields.
        assert_eq!(asked.body["max_completion_tokens"], [512, 4096, 512][number - 4]);
        Act::say([MENTIONS, RIGHT, "Three."][number - 4])
    });
    let answer = answer(&town.snapshot(), &model, &["Cafes?"]);
    assert_eq!((&answer["text"], &answer["results"][0]["total"]), (&json!("Three."), &json!(3)));
    assert_eq!(model.asked().len(), 7);
    let first = model.asked()[4].body["messages"][0]["content"].as_str().unwrap().to_owned();
    assert!(first.starts_with("You answer questions") && first.contains("Say what this question mentions"), "{first}");
}

#[test]
fn half_a_reply_is_none() {
    let town = Town::new();
    let half = |words: &str| {
        let piece = json!({"choices": [{"delta": {"content": words}}]});
        Act::Bytes("text/event-stream", format!("data: {piece}\n\n").into_bytes())
    };
    let model = TestModel::start(move |_, number| match number {
        0 => half("{\"places\": []}"),
        1 => Act::say(MENTIONS),
        2 => half(&RIGHT[..30]),
        3 => Act::say(RIGHT),
        _ => Act::say("Three."),
    });
    let repaired = answer(&town.snapshot(), &model, &["Cafes?"]);
    assert_eq!((&repaired["text"], &repaired["repairs"]), (&json!("Three."), &json!(0)));
    assert_eq!(repaired["steps"][0]["mentions"]["places"], json!(["Ladle"]));
    let model = TestModel::start(move |_, _| half("{"));
    let (status, _, err) = ask(&town.snapshot(), &model, &["Cafes?"]);
    assert_eq!((status, model.asked().len()), (4, 3), "{err}");
    assert!(err.contains("broke off before it ended"), "{err}");
}

#[test]
fn who_named_the_model_is_told_what_to_do() {
    let town = Town::new();
    let says = |message: &str| json!({"error": {"message": message}});
    for (status, body, advice) in [
        (401, says("no"), "TERRAPIN_MODEL_KEY"),
        (404, says("page not found"), "--model-url the root"),
        (400, says("Invalid model name passed in model=scripted"), "--model-name one of those"),
        (400, says("This model's maximum context length is 2048 tokens."), "fewer --model-tokens"),
        (308, Value::Null, "status 308: a redirect, which is not followed"),
    ] {
        let model = TestModel::start(move |_, _| Act::Status(status, "Location: http://192.0.2.1/\r\n", body.clone()));
        let (code, _, err) = ask(&town.snapshot(), &model, &["Cafes?"]);
        assert_eq!((code, model.asked().len()), (4, 1), "{err}");
        assert!(err.contains(advice), "{advice}: {err}");
    }
    let model = TestModel::start(|_, _| Act::Silence);
    let (_, _, err) = ask(&town.snapshot(), &model, &["Cafes?", "--model-time", "1"]);
    assert!(err.contains("larger --model-time"), "{err}");
}

#[test]
fn a_key_in_the_address_is_shown_nowhere() {
    let town = Town::new();
    let model = TestModel::start(|asked, _| {
        let line = asked.head.lines().next().unwrap().to_owned();
        Act::Status(500, "Retry-After: 3600\r\n", json!({"error": {"message": format!("cannot do {line}")}}))
    });
    let url = format!("{}?api-version=1&code={KEY}", model.url);
    let mut command = terrapin();
    command.arg("ask").arg(town.snapshot()).args(["Cafes?", "--model-url", &url, "--model-name", "m", "--show-steps"]);
    let done = command.env_remove("TERRAPIN_MODEL_KEY").output().unwrap();
    let err = String::from_utf8(done.stderr).unwrap();
    assert!(err.contains("api-version=1&code=[key]") && !err.contains(KEY), "{err}");
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
        // If the mentions are late, they are guessed; the query is not.
        (Act::Silence, "did not reply within 1 seconds", 2),
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
        let model = TestModel::start(move |_, _| match &*act.lock().unwrap() {
            Act::Status(status, headers, body) => Act::Status(*status, headers, body.clone()),
            Act::Bytes(media_type, bytes) => Act::Bytes(media_type, bytes.clone()),
            _ => Act::Silence,
        });
        let options = [
            "Cafes?",
            "--show-steps",
            "--model-time",
            if times < 3 { "1" } else { "60" },
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
    let model = TestModel::saying(&[MENTIONS, RIGHT, &leak]);
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
        (&[][..], 2, "no model: pass --model-url"),
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
