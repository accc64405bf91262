//! Damage that occurs under an open snapshot, for each service and each command: each gives the error, and none an
//! incomplete answer. `tests/snapshot/damage.rs` tests the library, section by section.

use std::io::{Seek, SeekFrom, Write};
use std::path::Path;

use serde_json::{Value, json};
use terrapin::snapshot::Snapshot;

use crate::common::server::{HttpAnswer, TestServer, encoded};
use crate::common::{Town, terrapin};

const JSON: &str = "Content-Type: application/json\r\n";
const MCP: &str = "Content-Type: application/json\r\nAccept: application/json, text/event-stream\r\n\
                   MCP-Protocol-Version: 2025-06-18\r\n";

/// A request: its name, method, path, headers and body.
type ServiceRequest = (&'static str, &'static str, String, &'static str, String);

fn get(name: &'static str, path: impl Into<String>) -> ServiceRequest {
    (name, "GET", path.into(), "", String::new())
}

fn post(name: &'static str, path: &str, headers: &'static str, body: &Value) -> ServiceRequest {
    (name, "POST", path.to_owned(), headers, body.to_string())
}

fn tool(name: &'static str, arguments: Value) -> ServiceRequest {
    let params = json!({"name": name, "arguments": arguments});
    post(name, "/mcp", MCP, &json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}))
}

/// A request for each kind of data that each service reads.
fn requests() -> Vec<ServiceRequest> {
    let overpass = |text: &str| format!("/api/interpreter?data={}", encoded(text));
    let items = overpass("[out:json];nwr(9,19,11,21);out geom;") + "&with-wikidata=P1082";
    let (query, triples) = ("node[amenity=cafe];out meta;", "SELECT * { ?s ?p ?o }");
    let pair = |text: &str| json!({"predictions": [text], "references": [text]});
    let mut of_triples = pair(triples);
    of_triples["lang"] = "sparql".into();
    vec![
        get("interpreter", overpass("[out:json];nwr(9,19,11,21);out meta geom;")),
        ("linked items", "GET", items, "Accept: application/geo+json\r\n", String::new()),
        get("map", "/api/map?bbox=19,9,21,11"),
        get("sparql", format!("/sparql?query={}", encoded(triples))),
        get("search", "/search?q=Ladle"),
        get("lookup", "/lookup?osm_ids=W22"),
        get("reverse", "/reverse?lat=10.001&lon=20.001"),
        get("tile", "/tiles/14/9102/7735.mvt"),
        get("keys", "/api/4/keys/all"),
        get("values", "/api/4/key/values?key=amenity"),
        get("combinations", "/api/4/key/combinations?key=amenity"),
        get("roles", "/api/4/relations/roles"),
        get("entity search", "/w/api.php?action=wbsearchentities&search=Ladle&language=en&format=json"),
        get("entities", "/w/api.php?action=wbgetentities&ids=Q1&format=json"),
        get("entity by REST", "/w/rest.php/wikibase/v1/entities/items/Q1"),
        get("entity data", "/wiki/Special:EntityData/Q1.json"),
        post("feedback", "/feedback", JSON, &json!({"query": query})),
        post("feedback on SPARQL", "/feedback", JSON, &json!({"query": triples})),
        post("score", "/score", JSON, &pair(query)),
        post("score of SPARQL", "/score", JSON, &of_triples),
        post(
            "score of lines",
            "/score",
            "Content-Type: application/x-ndjson\r\n",
            &json!({"pred": query, "gold": query}),
        ),
        tool("query_overpass", json!({"query": query})),
        tool("query_sparql", json!({"query": triples})),
        tool("check_query", json!({"query": query})),
        tool("geocode", json!({"name": "Ladle"})),
        tool("reverse", json!({"lat": 10.001, "lon": 20.001})),
        tool("search_tags", json!({"text": "cafe"})),
        tool("search_entities", json!({"text": "Ladle"})),
        tool("describe_entity", json!({"id": "Q1"})),
    ]
}

/// Changes a bit in every 32 bytes of all sections of a file, which a server may have mapped.
fn damage(path: &Path) {
    let mut bytes = std::fs::read(path).unwrap();
    for section in &Snapshot::open(path).unwrap().manifest().unwrap().sections {
        for at in (section.offset..section.offset + section.len).step_by(32) {
            bytes[at as usize] ^= 0x10;
        }
    }
    // The file keeps its inode, and the mapping sees the change.
    let mut file = std::fs::OpenOptions::new().write(true).open(path).unwrap();
    file.seek(SeekFrom::Start(0)).unwrap();
    file.write_all(&bytes).unwrap();
}

fn send(server: &TestServer, (_, method, path, headers, body): &ServiceRequest) -> HttpAnswer {
    server.ask(method, path, headers, body)
}

#[test]
fn each_service_reports_damage_that_occurs_while_it_runs() {
    let town = Town::with_triples();
    let copy = town.path("copy.terrapin");
    let sound = TestServer::of(&town.snapshot(), &[]);
    for request in requests() {
        let name = request.0;
        assert_eq!(send(&sound, &request).status, 200, "{name}: over a sound snapshot");
        std::fs::copy(town.snapshot(), &copy).unwrap();
        let server = TestServer::of(&copy, &[]);
        damage(&copy);
        let answer = send(&server, &request);
        let text = String::from_utf8_lossy(&answer.body);
        if request.2 == "/mcp" {
            // The protocol has errors of tools in answers with status 200.
            assert!(text.contains("\"isError\":true") && text.contains("damaged snapshot"), "{name}: {text}");
        } else {
            assert_eq!(answer.status, 500, "{name}: {text}");
        }
        // The damage is known from here on, also to services that did not meet it.
        assert_eq!(server.get("/healthz").status, 503, "{name}");
        std::fs::remove_file(&copy).unwrap();
    }
}

/// The commands that read elements or triples.
const COMMANDS: [&[&str]; 8] = [
    &["query", "copy.terrapin", "[out:json];nwr(9,19,11,21);out meta geom;"],
    &["query", "copy.terrapin", "{{geocodeArea:Ladle}}->.a;node(area.a);out;"],
    &["query", "copy.terrapin", "SELECT * { ?s ?p ?o }"],
    &["tags", "copy.terrapin", "cafe"],
    &["feedback", "copy.terrapin", "node[amenity=cafe];out;"],
    &["feedback", "copy.terrapin", "SELECT * { ?s ?p ?o }"],
    &["label", "copy.terrapin", "SELECT * { ?s wdt:P31 wd:Q1 }"],
    &["extract", "copy.terrapin", "--overpass", "node[amenity=cafe];out;", "--out", "part.terrapin"],
];

/// Changes one section at a time: a command that reads it fails, any other prints the same as before.
#[test]
fn each_command_reports_damage_or_answers_from_the_rest() {
    let town = Town::with_triples();
    let whole = std::fs::read(town.snapshot()).unwrap();
    let sections = Snapshot::open(&town.snapshot()).unwrap().manifest().unwrap().sections.clone();
    let run = |args: &[&str]| {
        let output = terrapin().current_dir(town.path("")).args(args).output().unwrap();
        let _ = std::fs::remove_file(town.path("part.terrapin"));
        (output.status.success(), output.stdout, String::from_utf8_lossy(&output.stderr).into_owned())
    };
    for args in COMMANDS {
        std::fs::write(town.path("copy.terrapin"), &whole).unwrap();
        let (worked, right, error) = run(args);
        assert!(worked, "{args:?}: {error}");
        let mut refused = 0;
        for section in sections.iter().filter(|section| section.len > 0) {
            let mut bytes = whole.clone();
            bytes[(section.offset + section.len / 2) as usize] ^= 0x10;
            std::fs::write(town.path("copy.terrapin"), bytes).unwrap();
            let (worked, out, error) = run(args);
            if worked {
                // The summary of an extract has the digest and the size of its file, which names its base.
                assert!(out == right || args[0] == "extract", "{args:?}: damage in {}", section.name);
            } else {
                assert!(error.contains("damaged"), "{args:?}: damage in {}: {error}", section.name);
                refused += 1;
            }
        }
        assert!(refused > 0, "{args:?} reads no section");
    }
}
