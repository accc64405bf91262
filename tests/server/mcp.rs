//! Tests the tools for agents from the view of a client of the Model Context Protocol, over HTTP and over a pipe, and
//! the descriptions of services. `make mcp` runs the protocol's own client.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::common::server::{HttpAnswer, TestServer};
use crate::common::{Town, terrapin};

const VERSION: &str = "2025-06-18";

/// Sends a message with a `Host` header of this machine.
fn send(server: &TestServer, headers: &str, body: &Value) -> HttpAnswer {
    let headers = format!(
        "Accept: application/json, text/event-stream\r\nContent-Type: application/json\r\nMCP-Protocol-Version: \
         {VERSION}\r\n{headers}"
    );
    server.ask("POST", "/mcp", &headers, &body.to_string())
}

fn request(method: &str, params: Value) -> Value {
    json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
}

fn call(server: &TestServer, tool: &str, arguments: Value) -> Value {
    let answer = send(server, "", &request("tools/call", json!({"name": tool, "arguments": arguments})));
    assert_eq!(answer.status, 200, "{}", answer.text());
    serde_json::from_slice(&answer.body).unwrap()
}

/// Returns the result of a tool, which is also sent as text.
fn given(server: &TestServer, tool: &str, arguments: Value) -> Value {
    let answer = call(server, tool, arguments);
    let result = &answer["result"];
    assert_eq!(result["isError"], false, "{answer}");
    let text: Value = serde_json::from_str(result["content"][0]["text"].as_str().unwrap()).unwrap();
    assert_eq!(text, result["structuredContent"]);
    text
}

/// Returns the error of a tool.
fn trouble(server: &TestServer, tool: &str, arguments: Value) -> String {
    let answer = call(server, tool, arguments);
    assert_eq!(answer["result"]["isError"], true, "{answer}");
    answer["result"]["content"][0]["text"].as_str().unwrap().to_owned()
}

/// Starts a server that also has the host name `test`.
fn start(town: Town, options: &[&str]) -> TestServer {
    TestServer::over(town, &[&["--public-host", "test"], options].concat())
}

#[test]
fn tools_are_listed_and_called() {
    let server = start(Town::with_triples(), &[]);
    let hello = json!({"protocolVersion": VERSION, "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}});
    let answer: Value = serde_json::from_slice(&send(&server, "", &request("initialize", hello)).body).unwrap();
    assert_eq!(answer["result"]["serverInfo"]["name"], "terrapin", "{answer}");
    let answer: Value = serde_json::from_slice(&send(&server, "", &request("tools/list", json!({}))).body).unwrap();
    let tools = answer["result"]["tools"].as_array().unwrap();
    assert_eq!(tools.len(), 11);
    assert!(
        tools
            .iter()
            .all(|tool| tool["outputSchema"]["type"] == "object" && tool["annotations"]["readOnlyHint"] == true)
    );

    let found = given(&server, "search_tags", json!({"text": "coffee in Ladle"}));
    assert_eq!((&found["tags"][0]["value"], &found["tags"][0]["count"]), (&json!("cafe"), &json!(4)));
    let tag = given(&server, "describe_tag", json!({"key": "amenity", "value": "cafe"}));
    assert_eq!((&tag["nodes"], &tag["found_with"][0]["key"]), (&json!(4), &json!("name")));
    let key = given(&server, "describe_tag", json!({"key": "name"}));
    assert_eq!((&key["values_total"], &key["ways"]), (&json!(4), &json!(1)));
    let place = given(&server, "geocode", json!({"name": "Ladle"}));
    assert_eq!((&place["osm_id"], &place["area_id"]), (&json!(31), &json!(3_600_000_031_u64)));
    let place = given(&server, "geocode", json!({"name": "zur muhle"}));
    assert_eq!((&place["osm_id"], &place["area_id"]), (&json!(2), &Value::Null));
    let place = given(&server, "reverse", json!({"lat": 10.001, "lon": 20.0011}));
    assert_eq!((&place["name"], &place["osm_id"]), (&json!("Bean & Leaf"), &json!(1)));
    let query = "{{geocodeArea:Ladle}}->.a; node[amenity=cafe](area.a); out;";
    let first = given(&server, "query_overpass", json!({"query": query, "limit": 2}));
    assert_eq!(
        (&first["total"], &first["types"], &first["next_cursor"]),
        (&json!(3), &json!({"node": 3}), &json!("2"))
    );
    assert_eq!(
        (&first["elements"][0]["id"], &first["elements"][1]["tags"]["name"]),
        (&json!(1), &json!("Zur M\u{fc}hle"))
    );
    let rest = given(&server, "query_overpass", json!({"query": query, "limit": 2, "cursor": "2"}));
    assert_eq!(
        (&rest["elements"][0]["id"], &rest["elements"][1], &rest["next_cursor"]),
        (&json!(3), &Value::Null, &Value::Null)
    );
    let shapes = given(&server, "export_geojson", json!({"query": "nwr[amenity=cafe];out;", "limit": 3}));
    assert_eq!((&shapes["total"], &shapes["next_cursor"]), (&json!(4), &json!("3")));
    assert_eq!(shapes["features"][0]["geometry"], json!({"type": "Point", "coordinates": [20.001, 10.001]}));
    let linked = json!({
        "query": "node(1); convert place ::id=id(), ::geom=geom(), wikidata=\"Q1\"; out geom;", "with_wikidata": "P1082",
    });
    let linked = given(&server, "export_geojson", linked);
    assert_eq!(
        linked["features"][0]["properties"]["wikidata_item"],
        json!({"id": "Q1", "label": "Ladle", "P1082": [1200]})
    );
    let nowhere = given(&server, "export_geojson", json!({"query": "nwr[amenity=cafe];out ids;"}));
    assert!(nowhere["hint"].as_str().unwrap().contains("out geom"), "{nowhere}");
    let checked = given(&server, "check_query", json!({"query": "node[amenty=cafe];out;"}));
    assert!(checked["warnings"][0].as_str().unwrap().contains("amenity"), "{checked}");

    let found = given(&server, "search_entities", json!({"text": "Ladle"}));
    assert_eq!(found["entities"][0]["id"], "Q1");
    assert_eq!(found["entities"][0]["instance_of"], json!(["wd:Q3957"]));
    let entity = given(&server, "describe_entity", json!({"id": "Q1"}));
    assert_eq!((&entity["label"], &entity["total"]), (&json!("Ladle"), &json!(2)));
    let rows = given(&server, "query_sparql", json!({"query": "SELECT ?t { ?t wdt:P131 wd:Q1 }"}));
    assert_eq!((&rows["rows"], &rows["variables"]), (&json!([{"t": "wd:Q2"}]), &json!(["t"])));
    assert_eq!(given(&server, "query_sparql", json!({"query": "ASK { wd:Q1 ?p ?o }"}))["boolean"], true);
}

#[test]
fn what_is_wrong_is_told_to_the_model() {
    let server = start(Town::new(), &[]);
    let cases = [
        ("search_tags", json!({"txt": "cafe"}), "unknown field `txt`"),
        ("search_tags", json!({}), "missing field `text`"),
        ("search_tags", json!({"text": 1}), "invalid type"),
        ("describe_tag", json!({"key": "amenity", "value": "cafes"}), "values of amenity: cafe"),
        ("describe_tag", json!({"key": "amen"}), "keys: amenity"),
        ("geocode", json!({"name": "Nowhere"}), "no place is called"),
        ("reverse", json!({"lat": 91.0, "lon": 0.0}), "no such place on the globe"),
        ("reverse", json!({"lat": -45.0, "lon": 0.0}), "nothing is near"),
        ("query_overpass", json!({"query": "node(1) out;"}), "';' expected"),
        ("query_overpass", json!({"query": "{{geocodeArea:Nowhere}};out;"}), "no place of this name"),
        ("query_overpass", json!({"query": "out;", "cursor": "x"}), "no cursor"),
        ("query_overpass", json!({"query": "out;", "bbox": "1,2"}), "south,west,north,east"),
        ("query_sparql", json!({"query": "SELECT * { ?a wdt:P31 ?b }"}), "no triples"),
        ("query_sparql", json!({"query": "SELECT * { ?s ?p ?o }"}), "query its elements in SPARQL"),
        ("query_sparql", json!({"query": "ASK {}", "dialect": "virtuoso"}), "auto, wdqs, qlever or standard"),
        ("check_query", json!({"query": "SELECT * { ?s ?p ?o }"}), "query its elements in SPARQL"),
        ("check_query", json!({"query": "SELECT * { ?a wdt:P31 ?b }"}), "no triples"),
        ("check_query", json!({"query": "out;", "lang": "sql"}), "there is no such language"),
    ];
    for (tool, arguments, message) in cases {
        let text = trouble(&server, tool, arguments);
        assert!(text.contains(message), "{tool}: {text}");
    }
    let listed: Value = serde_json::from_slice(&send(&server, "", &request("tools/list", json!({}))).body).unwrap();
    assert_eq!(listed["result"]["tools"].as_array().unwrap().len(), 9, "those for triples are not offered");
    // SPARQL queries about elements are still possible.
    let query = json!({"query": "SELECT ?e { ?e osmkey:amenity \"cafe\" }"});
    assert_eq!(given(&server, "query_sparql", query.clone())["total"], 4);
    assert_eq!(given(&server, "check_query", query)["results"], 4);
    let unknown = call(&server, "drop_tables", json!({}));
    assert!(unknown["error"]["message"].as_str().unwrap().contains("unknown tool"), "{unknown}");
    let long = json!({"text": "x".repeat(3 << 20)});
    assert_eq!(
        send(&server, "", &request("tools/call", json!({"name": "search_tags", "arguments": long}))).status,
        413
    );
}

/// The codes are those of JSON-RPC 2.0, section 5.1. The statuses are those of the Model Context Protocol 2025-06-18,
/// "Transports": 400 for unacceptable input, and a response with status 200 for each request.
#[test]
fn malformed_messages_have_codes() {
    let server = start(Town::new(), &[]);
    let headers = "Accept: application/json, text/event-stream\r\nContent-Type: application/json\r\n";
    for (body, status, code, id) in MALFORMED {
        let answer = server.ask("POST", "/mcp", headers, body);
        let told: Value = serde_json::from_slice(&answer.body).unwrap_or_else(|_| panic!("{body}: {}", answer.text()));
        assert_eq!(
            (answer.status, &told["error"]["code"], &told["id"]),
            (*status, &json!(code), &json!(id)),
            "{body}: {told}"
        );
        assert_eq!(
            (&told["jsonrpc"], answer.header("content-type")),
            (&json!("2.0"), Some("application/json")),
            "{body}"
        );
    }
    assert_eq!(send(&server, "", &request("ping", json!({}))).status, 200);
}

/// Messages, their HTTP status, the error code, and the id of the response.
const MALFORMED: &[(&str, u16, i32, Option<u32>)] = &[
    (r#"{"jsonrpc": "2.0", "method": "foobar, "params": "bar", "baz]"#, 400, -32700, None),
    ("{", 400, -32700, None),
    ("no json", 400, -32700, None),
    ("[]", 400, -32600, None),
    ("[1, 2]", 400, -32600, None),
    ("{}", 400, -32600, None),
    (r#"{"jsonrpc": "2.0", "method": 1, "params": "bar"}"#, 400, -32600, None),
    (r#"{"jsonrpc": "1.0", "id": 1, "method": "ping"}"#, 400, -32600, Some(1)),
    (r#"{"jsonrpc": "2.0", "id": null, "method": "ping"}"#, 400, -32600, None),
    (r#"{"jsonrpc": "2.0", "id": 1, "method": "tools/call"}"#, 200, -32602, Some(1)),
    (r#"{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": 5}}"#, 200, -32602, Some(1)),
    (r#"{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": ["search_tags"]}"#, 200, -32602, Some(1)),
    (
        r#"{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "no_such_tool"}}"#,
        200,
        -32602,
        Some(1),
    ),
    (r#"{"jsonrpc": "2.0", "id": 1, "method": "resources/read", "params": {}}"#, 200, -32602, Some(1)),
    (r#"{"jsonrpc": "2.0", "id": 1, "method": "no/such/method", "params": {}}"#, 200, -32601, Some(1)),
];

/// JSON Schema 2020-12, validation, section 6.1.1: a number without a fraction is an integer in any notation.
#[test]
fn whole_floats_are_integers() {
    let server = start(Town::new(), &[]);
    let found = given(&server, "query_overpass", json!({"query": "node[amenity=cafe];out ids;", "limit": 2.0}));
    assert_eq!((found["elements"].as_array().unwrap().len(), &found["total"]), (2, &json!(4)));
    assert_eq!(
        given(&server, "search_tags", json!({"text": "cafe", "limit": 1e0}))["tags"].as_array().unwrap().len(),
        1
    );
    assert!(trouble(&server, "search_tags", json!({"text": "cafe", "limit": 1.5})).contains("1.5"));
}

/// The Open Database License 1.0, section 4.3, requires a notice with produced works. OpenStreetMap's copyright page
/// asks for the words "OpenStreetMap contributors".
#[test]
fn answers_name_licence_and_snapshot() {
    let server = start(Town::with_triples(), &[]);
    let digest = serde_json::from_slice::<Value>(&server.get("/api/snapshot").body).unwrap()["digest"].clone();
    for (tool, arguments) in [
        ("search_tags", json!({"text": "cafe"})),
        ("describe_tag", json!({"key": "amenity"})),
        ("geocode", json!({"name": "Ladle"})),
        ("query_overpass", json!({"query": "node(1);out;"})),
        ("export_geojson", json!({"query": "node(1);out geom;"})),
        ("search_entities", json!({"text": "Ladle"})),
        ("describe_entity", json!({"id": "Q1"})),
        ("query_sparql", json!({"query": "ASK { wd:Q1 ?p ?o }"})),
        ("check_query", json!({"query": "node(1);out;"})),
    ] {
        let source = given(&server, tool, arguments)["source"].clone();
        assert_eq!(source["snapshot"], digest, "{tool}");
        let licences = source["licences"].to_string();
        assert!(licences.contains("ODbL-1.0, © OpenStreetMap contributors"), "{tool}: {licences}");
    }
}

#[test]
fn pages_of_other_sites_are_kept_out_and_tokens_and_quotas_hold() {
    let server = start(Town::new(), &[]);
    let ping = request("ping", json!({}));
    assert_eq!(send(&server, "", &ping).status, 200);
    assert_eq!(send(&server, "Origin: http://test\r\n", &ping).status, 200);
    for origin in ["http://evil.example", "null", "http://test.evil.example", "x"] {
        assert_eq!(send(&server, &format!("Origin: {origin}\r\n"), &ping).status, 403, "{origin}");
    }
    // DNS rebinding: a page points its own host name to this server.
    let head = "Accept: application/json, text/event-stream\r\nContent-Type: application/json\r\nConnection: close\r\n";
    let text = ping.to_string();
    for (host, status) in [("evil.example", 403), ("test:8080", 200), ("192.0.2.1", 200)] {
        let length = text.len();
        let message = format!("POST /mcp HTTP/1.1\r\nHost: {host}\r\n{head}Content-Length: {length}\r\n\r\n{text}");
        assert_eq!(HttpAnswer::read(server.send(message.as_bytes())).status, status, "{host}");
    }
    assert_eq!(server.get("/mcp").status, 405);
    let folder = tempfile::tempdir().unwrap();
    let tokens = folder.path().join("tokens");
    // printf %s secret-secret-secret | sha256sum
    let digest = sha256("secret-secret-secret");
    std::fs::write(&tokens, format!("ann {digest}\n")).unwrap();
    let server = start(Town::new(), &["--tokens", tokens.to_str().unwrap()]);
    assert_eq!(send(&server, "", &request("ping", json!({}))).status, 401);
    let bearer = "Authorization: Bearer secret-secret-secret\r\n";
    assert_eq!(send(&server, bearer, &request("ping", json!({}))).status, 200);
}

fn sha256(text: &str) -> String {
    use sha2::{Digest, Sha256};
    Sha256::digest(text).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Returns a message of about 2 MiB with 299,000 small objects as arguments; compressed with gzip it has 3 KB.
fn many_objects() -> String {
    let objects = "{\"\":0},".repeat(299_000);
    let arguments = format!("{{\"text\":\"a\",\"x\":[{objects}0]}}");
    format!(
        "{{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{{\"name\":\"search_tags\",\"arguments\":{arguments}}}}}"
    )
}

#[test]
fn a_message_has_bounds_and_is_read_behind_the_gate() {
    use flate2::Compression;
    use flate2::write::GzEncoder;

    let server = start(Town::new(), &["--max-queries", "1", "--max-waiting", "1", "--max-wait", "1"]);
    let post = |headers: &str, body: &[u8]| {
        let length = body.len();
        let head = format!(
            "POST /mcp HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nAccept: application/json, text/event-stream\r\n\
             Content-Type: application/json\r\nContent-Length: {length}\r\n{headers}\r\n"
        );
        HttpAnswer::read(server.send(&[head.as_bytes(), body].concat()))
    };
    let packed = |text: &str| {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
        encoder.write_all(text.as_bytes()).unwrap();
        encoder.finish().unwrap()
    };
    let bomb = packed(&many_objects());
    assert!(bomb.len() < 8 << 10, "{}", bomb.len());
    assert_eq!(post("Content-Encoding: gzip\r\n", &bomb).status, 413);
    assert_eq!(post("", many_objects().as_bytes()).status, 413);
    let call = request("tools/call", json!({"name": "search_tags", "arguments": {"text": "cafe"}})).to_string();
    let answer = post("Content-Encoding: gzip\r\n", &packed(&call));
    assert!(answer.status == 200 && answer.text().contains("amenity"), "{}", answer.text());
    // While the slot is taken, a call waits unparsed, in one queue with other queries. Messages that are not calls are
    // answered.
    wait_until(|| server.get("/metrics").text().contains("\nterrapin_queries_running 0\n"));
    let running = server.leave_unread(ENDLESS);
    wait_until(|| server.get("/metrics").text().contains("\nterrapin_queries_running 1\n"));
    let late = trouble(&server, "search_tags", json!({"text": "cafe"}));
    assert!(late.contains("no slot became free in time"), "{late}");
    assert_eq!(send(&server, "", &request("ping", json!({}))).status, 200);
    drop(running);
    // Duplicate members do not bypass admission.
    let twice = call.replacen("\"method\"", "\"method\":\"ping\",\"method\"", 1);
    let answer = post("", twice.as_bytes());
    assert!(answer.status != 200 || answer.text().contains("its method twice"), "{}", answer.text());
}

#[test]
fn there_is_something_to_read() {
    let server = start(Town::with_triples(), &[]);
    let listed: Value = serde_json::from_slice(&send(&server, "", &request("resources/list", json!({}))).body).unwrap();
    let resources = listed["result"]["resources"].as_array().unwrap();
    assert_eq!(resources.len(), 6);
    for resource in resources {
        let asked = request("resources/read", json!({"uri": resource["uri"]}));
        let read: Value = serde_json::from_slice(&send(&server, "", &asked).body).unwrap();
        let contents = &read["result"]["contents"][0];
        assert!(contents["text"].as_str().unwrap().len() > 80, "{read}");
        assert_eq!(contents["mimeType"], resource["mimeType"]);
    }
    let missing = send(&server, "", &request("resources/read", json!({"uri": "terrapin://nothing"})));
    assert!(missing.text().contains("unknown resource"), "{}", missing.text());
}

#[test]
fn a_call_ends_with_its_time_or_its_client() {
    let server = start(Town::new(), &["--max-time", "1"]);
    let endless = ENDLESS;
    let started = Instant::now();
    let text = trouble(&server, "query_overpass", json!({"query": endless}));
    assert!(text.contains("timed out") && started.elapsed() < Duration::from_secs(10), "{text}");
    let server = start(Town::new(), &["--max-time", "600"]);
    let body = request("tools/call", json!({"name": "query_overpass", "arguments": {"query": endless}})).to_string();
    let head = format!(
        "POST /mcp HTTP/1.1\r\nHost: test\r\nAccept: application/json, text/event-stream\r\nContent-Type: \
         application/json\r\nContent-Length: {}\r\n\r\n",
        body.len()
    );
    let running = || server.get("/api/status").text().lines().last().is_some_and(|line| line.contains('\t'));
    let stream = server.send(&[head.as_bytes(), body.as_bytes()].concat());
    wait_until(running);
    drop(stream);
    wait_until(|| !running());
    // A cancellation message stops a call of the same session only.
    let body = body.replace("\"id\":1", "\"id\":\"a\"");
    let head = head.replace("Content-Length", "Mcp-Session-Id: ann\r\nContent-Length");
    let head = head.replace(&format!("Content-Length: {}", body.len() - 2), &format!("Content-Length: {}", body.len()));
    let stream = server.send(&[head.as_bytes(), body.as_bytes()].concat());
    wait_until(running);
    let told = json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": "a"}});
    assert_eq!(send(&server, "Mcp-Session-Id: bob\r\n", &told).status, 202);
    assert!(running());
    assert_eq!(send(&server, "Mcp-Session-Id: ann\r\n", &told).status, 202);
    wait_until(|| !running());
    drop(stream);
}

/// A query that does not end: nested loops over all elements.
const ENDLESS: &str = "[timeout:900];nwr(-90,-180,90,180)->.a;foreach.a{foreach.a{foreach.a{foreach.a{foreach.a{foreach.a{foreach.a\
                       {foreach.a{foreach.a{foreach.a{nwr.a(1);}}}}}}}}}}out;";

fn wait_until(is_so: impl Fn() -> bool) {
    let started = Instant::now();
    while !is_so() {
        assert!(started.elapsed() < Duration::from_secs(20), "it does not come to be so");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// A `terrapin mcp` process with its pipes.
struct Pipe {
    child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
    _town: Town,
}

impl Pipe {
    fn start(town: Town) -> Pipe {
        let mut command = Command::new(assert_cmd::cargo::cargo_bin("terrapin"));
        command.arg("mcp").arg(town.snapshot()).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().unwrap();
        let output = BufReader::new(child.stdout.take().unwrap());
        Pipe { input: child.stdin.take(), output, child, _town: town }
    }

    fn send(&mut self, message: &Value) {
        self.send_text(&message.to_string());
    }

    fn send_text(&mut self, line: &str) {
        let input = self.input.as_mut().unwrap();
        writeln!(input, "{line}").unwrap();
        input.flush().unwrap();
    }

    fn receive(&mut self) -> Value {
        let mut line = String::new();
        self.output.read_line(&mut line).unwrap();
        serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line}"))
    }

    fn hello(&mut self) {
        let hello =
            json!({"protocolVersion": VERSION, "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}});
        self.send(&request("initialize", hello));
        assert_eq!(self.receive()["result"]["serverInfo"]["name"], "terrapin");
        self.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
    }
}

#[test]
fn over_a_pipe_calls_are_answered_and_cancelled() {
    let mut pipe = Pipe::start(Town::new());
    pipe.hello();
    let call = |id: u32, query: &str| {
        json!({"jsonrpc": "2.0", "id": id, "method": "tools/call",
               "params": {"name": "query_overpass", "arguments": {"query": query}}})
    };
    pipe.send(&call(2, "node[amenity=cafe];out ids;"));
    let answer = pipe.receive();
    assert_eq!((&answer["id"], &answer["result"]["structuredContent"]["total"]), (&json!(2), &json!(4)));
    // An endless call is cancelled; the next call is answered.
    pipe.send(&call(3, ENDLESS));
    pipe.send(&json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 3}}));
    pipe.send(&call(4, "node(1);out;"));
    let answer = loop {
        let answer = pipe.receive();
        if answer["id"] == 4 {
            break answer;
        }
    };
    assert_eq!(answer["result"]["structuredContent"]["elements"][0]["id"], 1);
    pipe.input = None;
    assert!(pipe.child.wait().unwrap().success());
}

/// The codes are the same as over HTTP, with one response per line. Notifications get no response (JSON-RPC 2.0,
/// section 4.1).
#[test]
fn malformed_lines_have_codes() {
    let mut pipe = Pipe::start(Town::new());
    pipe.hello();
    let notification = r#"{"jsonrpc": "2.0", "method": "tools/call", "params": []}"#;
    for (body, _, code, id) in MALFORMED {
        pipe.send_text(notification);
        pipe.send_text(body);
        let told = pipe.receive();
        assert_eq!((&told["error"]["code"], &told["id"]), (&json!(code), &json!(id)), "{body}: {told}");
    }
    pipe.send_text(&format!("\"{}\"", "x".repeat(1 << 20)));
    assert_eq!(pipe.receive()["error"]["code"], -32600);
    pipe.send(&request("ping", json!({})));
    assert_eq!(pipe.receive()["result"], json!({}));
}

#[test]
fn a_pipe_that_says_nothing_or_nonsense_ends() {
    let town = Town::new();
    for said in ["", "no json\n", "\u{0}\n{}\n[]\n"] {
        let output = terrapin().arg("mcp").arg(town.snapshot()).write_stdin(said).output().unwrap();
        assert!(output.status.success(), "{said:?}: {output:?}");
        for line in String::from_utf8(output.stdout).unwrap().lines() {
            let told: Value = serde_json::from_str(line).unwrap();
            assert!(told["error"]["code"].as_i64().unwrap() < 0, "{said:?}: {told}");
        }
    }
    let wrong = terrapin().args(["mcp", "no-such-file.terrapin"]).output().unwrap();
    assert_eq!(wrong.status.code(), Some(3));
}

#[test]
fn definitions_for_models_and_programs() {
    let print = |format: &str| -> Value {
        let output = terrapin().args(["tools", "--format", format]).output().unwrap();
        serde_json::from_slice(&output.stdout).unwrap()
    };
    let openai = print("openai");
    assert_eq!(openai.as_array().unwrap().len(), 11);
    assert_eq!(openai[0]["function"]["parameters"]["required"], json!(["text"]));
    let anthropic = print("anthropic");
    let mut keys = anthropic.as_array().unwrap().iter().map(|tool| &tool["input_schema"]["properties"]["key"]);
    assert!(keys.any(|key| key["type"] == "string"));
    assert_eq!(print("mcp")[0]["outputSchema"]["type"], "object");

    let server = TestServer::start(&[]);
    let described: Value = serde_json::from_slice(&server.get("/openapi.json").body).unwrap();
    assert_eq!(described["openapi"], "3.1.0");
    for (path, methods) in described["paths"].as_object().unwrap() {
        for method in methods.as_object().unwrap().keys() {
            let path = ["{id}", "{z}", "{x}", "{y}"].iter().fold(path.clone(), |path, name| path.replace(name, "1"));
            let status = server.ask(&method.to_uppercase(), &path, "", "").status;
            // Some paths need triples, a body or permissions.
            assert!(
                status != 405 && (status != 404 || path == "/sparql" || path.starts_with("/w")),
                "{method} {path}: {status}"
            );
        }
    }
    let text = server.get("/llms.txt").text();
    assert!(text.starts_with("# Terrapin\n\n> ") && text.contains("](/openapi.json)"), "{text}");
}
