//! Questions in plain language to a model server that replies as badly as it can: streams without an end, byte by byte,
//! large pieces, broken JSON, redirects, queries that are as expensive as possible.

use std::collections::HashSet;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use serde_json::{Value, json};

use super::FloodScale;
use super::common::attacks;
use super::common::model::{Act, ModelRequest, TestModel};
use super::doors::{Door, door};

/// Number of questions. All differ, so that the model can count them.
const QUESTIONS: usize = 4096;
/// Words in a question before its number.
const BEFORE: &str = "Cafes near stop";
/// More questions at once than by default, and less time for each reply, so that a minute is enough for all replies.
const OPTIONS: [&str; 4] = ["--max-asks", "8", "--model-time", "2"];

const STREAM: &str = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n";
const WHOLE: &str = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nConnection: close\r\n\r\n";

pub fn stand(snapshot: &Path, scale: &FloodScale) {
    let asked: Arc<Mutex<HashSet<String>>> = Arc::default();
    let seen = Arc::clone(&asked);
    let hostile = TestModel::start(move |request, number| {
        seen.lock().unwrap_or_else(PoisonError::into_inner).extend(question(request));
        act(number)
    });
    let requests = (0..QUESTIONS).map(|number| {
        let body = json!({"question": format!("{BEFORE} {number}?")}).to_string();
        attacks::post("/ask", "Content-Type: application/json\r\n", body.as_bytes())
    });
    let options: Vec<&str> = hostile.options().into_iter().chain(OPTIONS).collect();
    door(
        scale,
        &Door { name: "a hostile model", snapshot, options: &options, requests: requests.collect(), slow: None },
    );

    let asked = asked.lock().unwrap_or_else(PoisonError::into_inner).len();
    super::report(&format!("  {asked} questions in {} requests to the model\n", hostile.asked().len()));
    assert!(asked as u64 >= scale.time.as_secs(), "only {asked} questions in {} s", scale.time.as_secs());
}

/// Returns the question of a request to the model.
fn question(request: &ModelRequest) -> Option<String> {
    let text = request.body["messages"].to_string();
    let rest = &text[text.find(BEFORE)?..];
    Some(rest[..=rest.find('?')?].to_owned())
}

fn event(data: &Value) -> Vec<u8> {
    format!("data: {data}\n\n").into_bytes()
}

fn delta(text: &str) -> Value {
    json!({"choices": [{"index": 0, "delta": {"content": text}}]})
}

/// Returns the reply to a request. Requests get all replies in turn.
fn act(number: usize) -> Act {
    let stream = |piece: Vec<u8>| Act::Repeat(STREAM.into(), piece, Duration::ZERO);
    let slow = Duration::from_millis(20);
    match number % 6 {
        0 => errors(number / 6),
        1 => objects(number / 6),
        2 => [Act::Endless, Act::Trickle, Act::Silence].into_iter().nth(number / 6 % 3).unwrap_or(Act::Silence),
        3 => match number / 6 % 5 {
            0 => stream(event(&delta(&"word ".repeat(100_000)))),
            1 => stream(b": still here\n\n".repeat(500)),
            2 => stream(vec![b'x'; 64 << 10]),
            3 => stream(event(&json!({"choices": [{"delta": {"reasoning": "so"}}], "usage": {"prompt_tokens": -1}}))),
            _ => {
                let call = json!({"index": 15, "function": {"name": "x".repeat(100_000)}});
                stream(event(&json!({"choices": [{"delta": {"tool_calls": [call]}}]})))
            }
        },
        4 => match number / 6 % 5 {
            0 => Act::Repeat(b"HTTP/1.1 200 OK\r\n".to_vec(), b"X: y\r\n".repeat(1000), Duration::ZERO),
            1 => Act::Repeat(Vec::new(), b"HTTP/1.1 100 Continue\r\n\r\n".repeat(100), Duration::ZERO),
            2 => Act::Repeat(Vec::new(), b"H".to_vec(), slow),
            3 => Act::Repeat(WHOLE.into(), b" ".repeat(64 << 10), Duration::ZERO),
            _ => Act::Repeat(WHOLE.into(), b"[".to_vec(), slow),
        },
        _ => Act::say(QUERIES[number / 6 % QUERIES.len()]),
    }
}

/// Replies whose queries are as expensive as possible.
const QUERIES: [&str; 4] = [
    "```overpassql\n[out:json][timeout:9999][maxsize:99999999999];nwr(-90,-180,90,180);>>;<<;out meta geom;\n```",
    "```overpassql\n[out:json];way[highway](-90,-180,90,180);foreach(node(w);node(around:5000);out;);\n```",
    "```sparql\nSELECT * { ?a ?p ?x . ?b ?q ?y . ?c ?r ?z }\n```",
    "```sparql\nSELECT DISTINCT ?a ?b { ?a ?p ?x . ?b ?q ?x FILTER(REGEX(STR(?a), \"(a*)*(b*)*c\")) }\n```",
];

/// Returns a response with an error status, a redirect, or a wrong head.
fn errors(turn: usize) -> Act {
    let busy = json!({"error": {"message": "busy"}});
    match turn % 7 {
        0 => Act::Status(429, "Retry-After: 18446744073709551615\r\n", busy),
        1 => Act::Status(503, "Retry-After: 99999999999999999999999999\r\n", busy),
        2 => Act::Status(302, "Location: http://127.0.0.1:9/v1/chat/completions\r\n", busy),
        3 => Act::Status(307, "Location: /v1/chat/completions\r\n", busy),
        4 => Act::Status(400, "", json!({"error": vec![json!({"": 0}); 50_000]})),
        5 => Act::Raw(b"HTTP/1.1 200 OK\r\nContent-Length: 18446744073709551615\r\n\r\n{".to_vec()),
        _ => Act::Raw(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nFFFFFFFFFFFFFFFFF\r\n{".to_vec()),
    }
}

/// Returns a response with status 200 and a body that is not a reply.
fn objects(turn: usize) -> Act {
    let objects = json!(vec![json!({"": 0}); 50_000]);
    match turn % 8 {
        0 => Act::Whole(json!({"error": objects})),
        1 => Act::Whole(json!({"choices": objects})),
        2 => Act::Bytes("text/event-stream", event(&json!({"choices": objects}))),
        3 => Act::Bytes("application/json", vec![b'['; 400_000]),
        4 => Act::Bytes("application/json", b"{\"choices\": [{\"message\": {\"content\": \"node".to_vec()),
        5 => Act::Bytes("application/json", b"\xff\xfe\x00{\"choices\": 1e999}".to_vec()),
        6 => {
            let usage = "{\"prompt_tokens\": 1e999, \"completion_tokens\": 99999999999999999999999999}";
            let reply = "{\"choices\": [{\"message\": {\"content\": \"[]\"}}], \"timings\": {\"cache_n\": 1e308}";
            Act::Bytes("application/json", format!("{reply}, \"usage\": {usage}}}").into_bytes())
        }
        _ => Act::Whole(json!({"choices": [{"message": {"content": "\u{0}".repeat(300_000)}}]})),
    }
}
