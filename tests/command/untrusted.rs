//! Tests keys, values and file names that forge lines or control terminals, in all output for people, models and
//! programs. The control sequences are from ECMA-48 (CSI as ESC [ and as U+009B) and CVE-2021-42574 (U+202E).

use serde_json::{Value, json};

use crate::ask::questions::MENTIONS;
use crate::common::model::{Act, TestModel};
use crate::common::server::TestServer;
use crate::common::terrapin;

const KEY: &str = "cafe\ncontent      forged\u{9b}2J\u{202e}";
const FILE: &str = "cafe\ncontent      forged\u{1b}[2J.osm";

/// Loads a snapshot of nodes with such keys, from a file with such a name.
fn hostile() -> (tempfile::TempDir, std::path::PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let key = "cafe&#10;content      forged&#x9b;2J&#x202e;";
    let node = |id: u32| {
        format!(
            "<node id=\"{id}\" lat=\"10.0\" lon=\"20.0\" version=\"1\" timestamp=\"2020-01-01T00:00:00Z\">\
             <tag k=\"{key}\" v=\"{key}\"/><tag k=\"name\" v=\"Ladle&#10;content forged\"/><tag k=\"place\" v=\"{key}\"/></node>"
        )
    };
    let nodes: String = (1..9).map(node).collect();
    std::fs::write(folder.path().join(FILE), format!("<osm version=\"0.6\">{nodes}</osm>")).unwrap();
    let snapshot = folder.path().join("a.terrapin");
    let load = terrapin().arg("load").arg("--osm").arg(folder.path().join(FILE)).arg("--out").arg(&snapshot).output();
    let load = load.unwrap();
    assert!(load.status.success(), "{load:?}");
    harmless(&String::from_utf8(load.stderr).unwrap());
    (folder, snapshot)
}

/// Checks that a text has no control sequences and no forged lines.
fn harmless(text: &str) {
    let steers = |c: char| (c.is_control() && c != '\n' && c != '\t') || c == '\u{202e}';
    assert!(!text.contains(steers), "{text:?}");
    assert!(!text.lines().any(|line| line.starts_with("content") && line.contains("forged")), "{text}");
}

#[test]
fn a_key_or_a_file_forges_no_line() {
    let (_folder, snapshot) = hostile();
    let print = |arguments: &[&str]| {
        let mut command = terrapin();
        command.arg(arguments[0]).arg(&snapshot).args(&arguments[1..]);
        let done = command.output().unwrap();
        assert!(done.status.success(), "{arguments:?}: {done:?}");
        String::from_utf8(done.stdout).unwrap()
    };
    for arguments in [&["info"][..], &["tags", "cafe"], &["tags", "content forged"], &["tags", "ladle"]] {
        let text = print(arguments);
        harmless(&text);
        assert!(text.contains("forged"), "{arguments:?}: {text}");
    }
    let text = print(&["info"]);
    assert_eq!(text.lines().filter(|line| line.starts_with("content")).count(), 1, "{text}");
    // JSON output has the original values, escaped so that they cannot control a terminal.
    let text = print(&["info", "--json"]);
    harmless(&text);
    let facts: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(facts["sources"][0]["name"], FILE);
    let text = print(&["tags", "cafe", "--json"]);
    harmless(&text);
    let found: Value = serde_json::from_str(&text).unwrap();
    assert!(found["tags"].as_array().unwrap().iter().any(|tag| tag["key"] == KEY), "{found}");
    let missing = terrapin().args(["info", "no\nsuch\u{1b}[2J"]).output().unwrap();
    harmless(&String::from_utf8(missing.stderr).unwrap());
}

#[test]
fn a_prompt_has_a_line_for_each_thing() {
    let (_folder, snapshot) = hostile();
    let model = TestModel::start(|_, number| Act::say(if number == 0 { MENTIONS } else { "I do not know." }));
    let (status, out, err) = crate::ask::questions::ask(&snapshot, &model, &["Cafes in Ladle?", "--repairs", "0"]);
    assert!(status <= 1, "{out}{err}");
    harmless(&out);
    harmless(&err);
    let prompt = model.asked()[1].last().to_owned();
    harmless(&prompt);
    assert!(prompt.contains("forged"), "the data is in it: {prompt}");
}

#[test]
fn resources_and_hints_of_agents_are_harmless() {
    let (_folder, snapshot) = hostile();
    let server = TestServer::of(&snapshot, &[]);
    let ask = |method: &str, params: Value| -> Value {
        let message = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).to_string();
        let headers = "Accept: application/json, text/event-stream\r\nContent-Type: application/json\r\n";
        let answer = server.ask("POST", "/mcp", headers, &message);
        assert_eq!(answer.status, 200, "{}", answer.text());
        serde_json::from_slice(&answer.body).unwrap()
    };
    for uri in ["terrapin://manifest", "terrapin://schema/tags"] {
        let answer = ask("resources/read", json!({"uri": uri}));
        let text = answer["result"]["contents"][0]["text"].as_str().unwrap();
        harmless(text);
        assert!(text.contains("forged"), "{text}");
        let read: Value = serde_json::from_str(text).unwrap();
        let name = if uri.ends_with("tags") { &read["keys"][0]["key"] } else { &read["sources"][0]["name"] };
        assert!([json!(KEY), json!(FILE), json!("name"), json!("place")].contains(name), "{name}");
    }
    let wrong = ask("tools/call", json!({"name": "describe_tag", "arguments": {"key": "caf"}}));
    let text = wrong["result"]["content"][0]["text"].as_str().unwrap();
    harmless(text);
}
