//! Tests the routes of annotation, their file, and `terrapin benchmark annotations`. `tests/page/annotate.mjs` tests the
//! page.

use std::io::Write as _;
use std::process::Stdio;

use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::common::server::{HttpAnswer, TestServer};
use crate::common::{Town, terrapin};

const ANN: &str = "Authorization: Bearer one\r\n";
const BOB: &str = "Authorization: Bearer two\r\n";
const CEE: &str = "Authorization: Bearer three\r\n";

/// A town with a queue of queries and a file of tokens.
struct AnnotatedTown {
    town: Town,
}

impl AnnotatedTown {
    fn new(entries: usize) -> AnnotatedTown {
        let entry = |n: usize| json!({"id": format!("q{n}"), "query": format!("[out:json];node({n});out;")});
        AnnotatedTown::of(&(1..=entries).map(entry).collect::<Vec<Value>>())
    }

    fn of(entries: &[Value]) -> AnnotatedTown {
        let town = Town::with_triples();
        let lines: String = entries.iter().map(|entry| format!("{entry}\n")).collect();
        std::fs::write(town.path("queue.jsonl"), lines).unwrap();
        let hex = |token: &str| Sha256::digest(token).iter().map(|byte| format!("{byte:02x}")).collect::<String>();
        let token = |(name, token)| format!("{name} {}\n", hex(token));
        let tokens: String = [("ann", "one"), ("bob", "two"), ("cee", "three")].map(token).concat();
        std::fs::write(town.path("tokens"), tokens).unwrap();
        AnnotatedTown { town }
    }

    fn path(&self, name: &str) -> String {
        self.town.path(name).to_str().unwrap().to_owned()
    }

    /// Starts a server with tokens.
    fn serve(&self, more: &[&str]) -> TestServer {
        let (queue, tokens) = (self.path("queue.jsonl"), self.path("tokens"));
        TestServer::of(&self.town.snapshot(), &[&["--annotate", &queue, "--tokens", &tokens], more].concat())
    }

    /// Starts a server without tokens.
    fn serve_open(&self, more: &[&str]) -> TestServer {
        let queue = self.path("queue.jsonl");
        TestServer::of(&self.town.snapshot(), &[&["--annotate", &queue], more].concat())
    }

    /// Runs `terrapin` in the folder of the town: exit status, output, errors.
    fn run(&self, args: &[&str]) -> (i32, String, String) {
        let done = terrapin().current_dir(self.town.path("")).args(args).output().unwrap();
        let text = |bytes| String::from_utf8(bytes).unwrap();
        (done.status.code().unwrap(), text(done.stdout), text(done.stderr))
    }

    fn log(&self) -> String {
        std::fs::read_to_string(self.town.path("queue.annotations.jsonl")).unwrap()
    }
}

fn post(server: &TestServer, who: &str, what: &str, body: &Value) -> HttpAnswer {
    server.ask(
        "POST",
        &format!("/annotations/{what}"),
        &format!("Content-Type: application/json\r\n{who}"),
        &body.to_string(),
    )
}

/// Sends a request that succeeds; returns its answer.
fn done(server: &TestServer, who: &str, what: &str, body: &Value) -> Value {
    let answer = post(server, who, what, body);
    assert_eq!(answer.status, 200, "{what} {body}: {}", answer.text());
    serde_json::from_slice(&answer.body).unwrap()
}

/// Sends a request that is refused; returns the status and the message.
fn refused(server: &TestServer, who: &str, what: &str, body: &Value) -> (u16, String) {
    let answer = post(server, who, what, body);
    let said: Value = serde_json::from_slice(&answer.body).unwrap_or_default();
    (answer.status, said["error"].as_str().unwrap_or_default().to_owned())
}

/// Returns the id of the next entry of an annotator, and what to do with it.
fn next(server: &TestServer, who: &str) -> Option<(String, String)> {
    let task = done(server, who, "next", &json!({}))["task"].clone();
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    (!task.is_null()).then(|| (text(&task["entry"]["id"]), text(&task["task"])))
}

fn lines(text: &str) -> Vec<Value> {
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn without_a_queue_there_is_no_route() {
    let server = TestServer::start(&[]);
    for path in ["/annotate", "/annotations", "/annotations/summary"] {
        assert_eq!(server.get(path).status, 404, "{path}");
    }
    assert_eq!(post(&server, "", "next", &json!({})).status, 404);
    assert!(!server.get("/openapi.json").text().contains("annotations"));
    assert!(!server.get("/services").text().contains("annotations"));
    let snapshot: Value = serde_json::from_str(&server.get("/api/snapshot").text()).unwrap();
    assert_eq!(snapshot["annotate"], Value::Null);
}

#[test]
fn a_question_is_written_validated_and_exported() {
    let town = AnnotatedTown::of(&[
        json!({"id": "a", "query": "node[amenity=cafe];out;", "context": "a wiki", "suggestions": ["Cafes?"], "split": "dev"}),
        json!({"id": "b", "query": "ASK {}", "lang": "sparql"}),
        json!({"id": "c", "query": "node[amenity=bar];out;", "bbox": "1,2,3,4"}),
    ]);
    let server = town.serve(&[]);
    let page = server.get("/annotate");
    assert_eq!((page.status, page.header("content-type")), (200, Some("text/html; charset=utf-8")));
    let first = done(&server, ANN, "next", &json!({}));
    assert_eq!((first["annotator"].as_str(), first["task"]["task"].as_str()), (Some("ann"), Some("write")));
    assert_eq!(first["task"]["entry"]["suggestions"], json!(["Cafes?"]));
    assert_eq!(first["progress"]["to_write"], 3);
    let question = json!({"entry": "a", "question": "Which  cafes\nare there?", "suggestion": 0});
    done(&server, ANN, "question", &question);
    done(&server, ANN, "question", &json!({"entry": "b", "question": "Is there anything?"}));
    done(&server, BOB, "question", &json!({"entry": "c", "question": "Which bars?"}));
    // Nobody validates their own question, neither when asked nor when it is tried.
    assert_eq!(next(&server, ANN), Some(("c".to_owned(), "validate".to_owned())));
    let own = json!({"entry": "a", "number": 1, "verdict": "agree"});
    let (status, message) = refused(&server, ANN, "verdict", &own);
    assert!(status == 403 && message.contains("another person"), "{status} {message}");
    done(&server, BOB, "verdict", &own);
    done(&server, BOB, "verdict", &own);
    let correction =
        json!({"entry": "b", "number": 1, "verdict": "correct", "question": "Is there a triple?", "reason": "vague"});
    done(&server, BOB, "verdict", &correction);
    let (status, _) = refused(&server, BOB, "verdict", &json!({"entry": "b", "number": 2, "verdict": "agree"}));
    assert_eq!(status, 403, "a correction is the corrector's own");
    done(&server, ANN, "verdict", &json!({"entry": "c", "number": 1, "verdict": "reject", "reason": "no bars"}));

    let answer = server.ask("GET", "/annotations", BOB, "");
    assert_eq!(answer.header("content-type"), Some("application/x-ndjson"));
    let export = lines(&answer.text());
    assert_eq!(export.len(), 2, "a rejected question is none");
    assert_eq!(
        (export[0]["nl"].as_str(), export[0]["status"].as_str(), export[0]["split"].as_str()),
        (Some("Which cafes are there?"), Some("agreed"), Some("dev"))
    );
    assert_eq!((&export[0]["annotator"], &export[0]["validators"]), (&json!("ann"), &json!(["bob"])));
    assert_eq!(export[0]["rounds"][0]["suggestion"], "Cafes?");
    assert_eq!((&export[1]["nl"], &export[1]["status"]), (&json!("Is there a triple?"), &json!("corrected")));
    assert_eq!(export[1]["rounds"][0]["verdicts"][0]["reason"], "vague");
    let ids = |path: &str| -> Vec<Value> {
        let text = server.ask("GET", path, ANN, "").text();
        lines(&text).iter().map(|line| line["id"].clone()).collect()
    };
    assert_eq!(ids("/annotations?disputed=true"), ["b", "c"]);
    assert_eq!(ids("/annotations?status=agreed,rejected"), ["a", "c"]);
    assert_eq!(ids("/annotations?status=all&disputed="), ["a", "b", "c"]);
    for (query, says) in
        [("status=done", "expected open"), ("disputed=1", "true or false"), ("x=1", "status or disputed")]
    {
        let answer = server.ask("GET", &format!("/annotations?{query}"), ANN, "");
        assert!(answer.status == 400 && answer.text().contains(says), "{query}: {}", answer.text());
    }
    let summary: Value = serde_json::from_str(&server.ask("GET", "/annotations/summary", ANN, "").text()).unwrap();
    assert_eq!((&summary["validated"], &summary["as_written"]), (&json!(3), &json!(1)));
    assert_eq!(summary["share_as_written"], json!(0.333_333_333_333));
    assert_eq!(summary["kappa"], Value::Null, "one verdict for each question");
    assert_eq!(summary["annotators"]["ann"]["written"], 2);

    // The program reads the same while the server runs, and the other commands read its output.
    let (status, out, _) = town.run(&["benchmark", "annotations", "queue.jsonl"]);
    assert_eq!((status, lines(&out)), (0, export));
    let (status, out, _) = town.run(&["benchmark", "annotations", "queue.jsonl", "--summary"]);
    assert!(status == 0 && out.contains("right as written   1 of 3 validated (33.3 %)"), "{out}");
    let (status, out, said) = town.run(&["benchmark", "annotations", "queue.jsonl", "--out", "all.jsonl"]);
    assert!(status == 0 && out.is_empty() && said.contains("2 of 3 entries"), "{out}{said}");
    let (status, out, said) = town.run(&["benchmark", "stats", "all.jsonl"]);
    assert!(status == 0 && !said.contains("unused"), "{out}{said}");
    let (status, out, said) = town.run(&["benchmark", "check", "town.terrapin", "all.jsonl", "--allow", "empty"]);
    assert_eq!(status, 0, "{out}{said}");
    let scored: String = lines(&std::fs::read_to_string(town.town.path("all.jsonl")).unwrap())
        .into_iter()
        .map(|mut line| {
            line["pred"] = line["gold"].clone();
            format!("{line}\n")
        })
        .collect();
    std::fs::write(town.town.path("scored.jsonl"), scored).unwrap();
    let eval = ["eval", "jsonl", "town.terrapin", "scored.jsonl", "--out", "scores", "--no-cache", "--json"];
    let (status, out, said) = town.run(&eval);
    assert_eq!(status, 0, "{out}{said}");
    let scores: Value = serde_json::from_str(&out).unwrap();
    assert_eq!(scores["ex"], json!(100.0), "{out}");
}

#[test]
fn bad_requests_are_refused_with_their_reason() {
    let town = AnnotatedTown::new(2);
    let server = town.serve(&[]);
    for path in ["/annotations", "/annotations/summary"] {
        assert_eq!(server.get(path).status, 401, "{path}");
        assert_eq!(server.ask("GET", path, "Authorization: Bearer four\r\n", "").status, 401, "{path}");
        assert_eq!(server.ask("POST", path, ANN, "").status, 405, "{path}");
    }
    for what in ["next", "question", "verdict", "skip"] {
        assert_eq!(post(&server, "", what, &json!({})).status, 401, "{what}");
        assert_eq!(post(&server, "Authorization: Bearer four\r\n", what, &json!({})).status, 401, "{what}");
        let foreign = format!("{ANN}Origin: https://evil.example\r\n");
        assert_eq!(post(&server, &foreign, what, &json!({})).status, 403, "{what}");
        assert_eq!(server.ask("GET", &format!("/annotations/{what}"), ANN, "").status, 405, "{what}");
    }
    let foreign = format!("{ANN}Sec-Fetch-Site: cross-site\r\n");
    assert_eq!(server.ask("GET", "/annotations", &foreign, "").status, 403);
    let long = "x".repeat(2001);
    for (what, body, status, says) in [
        ("next", json!({"annotator": "bob"}), 400, "the name of the token"),
        ("next", json!({"task": "read"}), 400, "expected write or validate"),
        ("next", json!({"task": "write", "entry": "q1"}), 400, "give one of them"),
        ("next", json!({"entry": "q9"}), 404, "no entry \"q9\""),
        ("next", json!({"other": 1}), 400, "unknown field"),
        ("next", json!([]), 400, "not the JSON object"),
        ("question", json!({"entry": "q1"}), 400, "missing field"),
        ("question", json!({"entry": "q1", "question": ""}), 400, "it is empty"),
        ("question", json!({"entry": "q1", "question": 7}), 400, "expected a string"),
        ("question", json!({"entry": "q1", "question": long}), 400, "at most 2000"),
        ("question", json!({"entry": "q1", "question": "a\u{0}b"}), 400, "control characters"),
        ("question", json!({"entry": "q1", "question": "a", "suggestion": 0}), 400, "the entry has 0"),
        ("question", json!({"entry": "q9", "question": "a"}), 404, "no entry"),
        ("verdict", json!({"entry": "q1", "number": 1, "verdict": "yes"}), 400, "agree, correct or reject"),
        ("verdict", json!({"entry": "q1", "number": 1, "verdict": "agree"}), 409, "no longer"),
        ("verdict", json!({"entry": "q1", "number": -1, "verdict": "agree"}), 400, "invalid value"),
        ("verdict", json!({"entry": "q1", "number": 1, "verdict": "reject"}), 400, "needs a reason"),
        ("skip", json!({"entry": "q9"}), 404, "no entry"),
        ("skip", json!({"entry": "q1", "reason": "x".repeat(1001)}), 400, "at most 1000"),
    ] {
        let (found, message) = refused(&server, ANN, what, &body);
        assert!(found == status && message.contains(says), "{what} {body}: {found} {message}");
    }
    let (status, message) = refused(&server, ANN, "question", &json!({"entry": "q1", "question": "x".repeat(40_000)}));
    assert!(status == 413 && message.contains("32768"), "{status} {message}");
    assert_eq!(town.log().lines().count(), 1, "nothing was recorded: {}", town.log());
}

#[test]
fn an_entry_is_with_one_annotator_until_the_lease_is_over() {
    let town = AnnotatedTown::new(2);
    let server = town.serve(&["--annotate-lease", "2"]);
    let write = |id: &str| Some((id.to_owned(), "write".to_owned()));
    assert_eq!((next(&server, ANN), next(&server, BOB), next(&server, CEE)), (write("q1"), write("q2"), None));
    assert_eq!(next(&server, ANN), write("q1"));
    let question = json!({"entry": "q1", "question": "Which?"});
    let (status, message) = refused(&server, BOB, "question", &question);
    assert!(status == 409 && message.contains("another annotator has this entry"), "{status} {message}");
    assert_eq!(refused(&server, CEE, "next", &json!({"entry": "q1"})).0, 409);
    std::thread::sleep(std::time::Duration::from_millis(2100));
    assert_eq!(next(&server, CEE), write("q1"));
    // The first answer counts; a later one is told so.
    done(&server, CEE, "question", &question);
    let (status, message) = refused(&server, ANN, "question", &json!({"entry": "q1", "question": "What?"}));
    assert!(status == 409 && message.contains("another annotator wrote"), "{status} {message}");
    // A skipped entry is free at once, and returns to the same annotator last.
    assert_eq!(next(&server, BOB), write("q2"));
    done(&server, BOB, "skip", &json!({"entry": "q2", "reason": "unclear"}));
    assert_eq!(next(&server, BOB), Some(("q1".to_owned(), "validate".to_owned())));
    assert_eq!(next(&server, CEE), write("q2"));
}

#[test]
fn a_killed_server_loses_nothing_and_only_one_has_the_file() {
    let town = AnnotatedTown::new(3);
    let mut server = town.serve(&[]);
    next(&server, ANN);
    next(&server, BOB);
    done(&server, ANN, "question", &json!({"entry": "q1", "question": "One?"}));
    done(&server, BOB, "verdict", &json!({"entry": "q1", "number": 1, "verdict": "agree"}));
    // A second server is refused while the first has the file.
    let (queue, tokens) = (town.path("queue.jsonl"), town.path("tokens"));
    let second = ["serve", "town.terrapin", "--bind", "127.0.0.1:0", "--annotate", &queue, "--tokens", &tokens];
    let (status, _, said) = town.run(&second);
    assert!(status == 4 && said.contains("another server uses this file"), "{status} {said}");
    // The check reads it without the lock.
    let (status, out, said) = town.run(&[&second[..], &["--check-config"]].concat());
    assert!(status == 0 && out.contains("annotate = "), "{status} {out}{said}");
    server.child.kill().unwrap();
    server.child.wait().unwrap();
    drop(server);
    let mut log = std::fs::OpenOptions::new().append(true).open(town.town.path("queue.annotations.jsonl")).unwrap();
    log.write_all(b"{\"entry\":\"q2\",\"query\":\"0").unwrap();
    drop(log);
    let mut command = TestServer::command(&town.town.snapshot());
    command.args(["--annotate", &queue, "--tokens", &tokens]).stderr(Stdio::null());
    let server = TestServer::launch(command);
    let export = lines(&server.ask("GET", "/annotations?status=all", ANN, "").text());
    assert_eq!((&export[0]["nl"], &export[0]["status"]), (&json!("One?"), &json!("agreed")));
    assert_eq!(export.len(), 3);
    done(&server, CEE, "question", &json!({"entry": "q3", "question": "Three?"}));
    assert!(town.log().lines().all(|line| serde_json::from_str::<Value>(line).is_ok()), "{}", town.log());
    drop(server);
    // Damage before the last line is an error that names it.
    let damaged = town.log().replacen("\"verdict\"", "\"verdikt\"", 1);
    std::fs::write(town.town.path("queue.annotations.jsonl"), damaged).unwrap();
    let (status, _, said) = town.run(&second);
    assert!(status == 3 && said.contains("queue.annotations.jsonl: line 5: the line is damaged"), "{status} {said}");
}

#[test]
fn without_tokens_a_name_is_given_on_the_same_machine_only() {
    let town = AnnotatedTown::new(1);
    let (queue, tokens) = (town.path("queue.jsonl"), town.path("tokens"));
    let everywhere = ["serve", "town.terrapin", "--bind", "0.0.0.0:0", "--annotate", &queue];
    let (status, _, said) = town.run(&everywhere);
    assert!(status == 2 && said.contains("needs --tokens"), "{status} {said}");
    let (status, _, said) = town.run(&[&everywhere[..], &["--tokens", &tokens, "--check-config"]].concat());
    assert_eq!(status, 0, "{said}");
    let server = town.serve_open(&["--trusted-proxy", "127.0.0.1"]);
    for (body, says) in [
        (json!({}), "give your name"),
        (json!({"annotator": ""}), "at most 64"),
        (json!({"annotator": "a b"}), "at most 64"),
        (json!({"annotator": "x".repeat(65)}), "at most 64"),
    ] {
        let (status, message) = refused(&server, "", "next", &body);
        assert!(status == 400 && message.contains(says), "{body}: {status} {message}");
    }
    assert_eq!(done(&server, "", "next", &json!({"annotator": "ann"}))["annotator"], "ann");
    // A proxy on this machine brings clients of others.
    let distant = "X-Forwarded-For: 192.0.2.1\r\n";
    let (status, message) = refused(&server, distant, "next", &json!({"annotator": "ann"}));
    assert!(status == 403 && message.contains("--tokens"), "{status} {message}");
    assert_eq!(server.ask("GET", "/annotations", distant, "").status, 403);
    let snapshot: Value = serde_json::from_str(&server.get("/api/snapshot").text()).unwrap();
    assert_eq!(snapshot["annotate"], "name");
    let openapi = server.get("/openapi.json").text();
    assert!(openapi.contains("/annotations/verdict") && !openapi.contains("\"/annotate\""), "{openapi}");
}

#[test]
fn requests_of_one_annotator_are_limited() {
    let town = AnnotatedTown::new(1);
    let server = town.serve(&[]);
    // Two events are allowed in a second after the first 120.
    let limited = (0..400).map(|number| match number % 2 {
        0 => post(&server, ANN, "next", &json!({})),
        _ => post(&server, ANN, "skip", &json!({"entry": "q1"})),
    });
    let answer = limited.into_iter().find(|answer| answer.status != 200);
    let answer = answer.unwrap_or_else(|| post(&server, ANN, "next", &json!({})));
    assert_eq!((answer.status, answer.header("retry-after").is_some()), (429, true), "{}", answer.text());
    assert!(next(&server, BOB).is_some() || refused(&server, BOB, "skip", &json!({"entry": "q1"})).0 == 200);
}

#[test]
fn a_queue_that_cannot_be_used_is_refused_at_the_start() {
    let town = AnnotatedTown::new(1);
    let start = |text: &str, more: &[&str]| {
        std::fs::write(town.town.path("queue.jsonl"), text).unwrap();
        let args = ["serve", "town.terrapin", "--annotate", "queue.jsonl", "--check-config"];
        let (status, _, said) = town.run(&[&args[..], more].concat());
        (status, said)
    };
    for (text, says) in [
        ("", "no queries to annotate"),
        ("{\"id\": \"a\"}\n", "line 1: there is no `gold`"),
        (
            "{\"id\": \"a\", \"query\": \"out;\"}\n{\"id\": \"a\", \"query\": \"out;\"}\n",
            "line 2: the id \"a\" is used twice",
        ),
        ("{\"query\": \"out;\", \"suggestions\": 1}\n", "expected an array of texts"),
    ] {
        let (status, said) = start(text, &[]);
        assert!(status == 3 && said.contains(says), "{text}: {status} {said}");
    }
    let good = "{\"id\": \"a\", \"query\": \"out;\"}\n";
    assert_eq!(start(good, &["--annotate-validations", "2"]).0, 0);
    assert_eq!(start(good, &["--annotate-validations", "0"]).0, 2);
    assert_eq!(start(good, &["--annotate-lease", "0"]).0, 2);
    let (status, _, said) = town.run(&["serve", "town.terrapin", "--annotate", "missing.jsonl", "--check-config"]);
    assert!(status == 3 && said.contains("missing.jsonl"), "{status} {said}");
}
