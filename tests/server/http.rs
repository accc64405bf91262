//! Tests the HTTP services from the view of a client.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use serde_json::json;

use crate::common::server::{FORM, HttpAnswer, TestServer, encoded};
use crate::common::terrapin;

const CAFES: &str = "[out:json];node[amenity=cafe];out;";

#[test]
fn a_query_is_answered_however_it_is_sent() {
    let server = TestServer::start(&[]);
    let path = format!("/api/interpreter?data={}", encoded(CAFES));
    let answers = [
        server.query(CAFES),
        server.ask("GET", &path, "", ""),
        server.ask("POST", "/api/interpreter", "Content-Type: text/plain\r\n", CAFES),
        // The form that `curl -d` sends.
        server.ask("POST", "/api/interpreter", FORM, CAFES),
    ];
    for answer in answers {
        assert_eq!((answer.status, answer.ids()), (200, vec![1, 2, 3, 4]), "{}", answer.text());
        assert!(answer.headers.contains("content-type: application/json"), "{}", answer.headers);
        assert!(answer.headers.contains("x-terrapin-snapshot: "), "{}", answer.headers);
    }
    let xml = server.query("node(1);out;");
    assert!(xml.headers.contains("content-type: application/osm3s+xml"), "{}", xml.headers);
    assert!(xml.text().contains("<node id=\"1\""));
}

#[test]
fn a_single_element_in_no_form_is_a_redirection_and_html_runs_nothing() {
    let server = TestServer::start(&[]);
    let moved = server.query("[out:custom];node(1);out;");
    assert_eq!((moved.status, moved.body.len()), (302, 0), "{}", moved.text());
    assert!(moved.headers.contains("location: https://www.openstreetmap.org/browse/node/1\r\n"), "{}", moved.headers);
    for query in ["[out:custom];node(id:1,2);out;", "[out:popup(A;[name];name;)];node(1);out;"] {
        let page = server.query(query);
        assert_eq!(page.status, 200);
        assert!(page.headers.contains("content-type: text/html; charset=utf-8"), "{}", page.headers);
        assert!(page.headers.contains("content-security-policy: default-src 'none'; sandbox"), "{}", page.headers);
        assert!(page.text().starts_with("<?xml version"), "{}", page.text());
    }
}

#[test]
fn a_health_check_needs_no_other_program() {
    let server = TestServer::start(&[]);
    let bind = server.address.to_string();
    let ask = |args: &[&str]| {
        let output = terrapin().arg("health").args(args).env("TERRAPIN_BIND", &bind).output().unwrap();
        let text = |bytes| String::from_utf8(bytes).unwrap();
        (output.status.code().unwrap(), text(output.stdout), text(output.stderr))
    };
    assert_eq!(ask(&[]), (0, "ok\n".to_owned(), String::new()));
    assert_eq!(ask(&[&format!("http://{bind}/api/timestamp")]).0, 0);
    let missing = ask(&[&format!("http://{bind}/no-such-page")]);
    assert!(missing.0 == 1 && missing.2.contains("status 404"), "{missing:?}");
    let spoken = ask(&[&format!("https://{bind}/")]);
    assert!(spoken.0 == 2 && spoken.2.contains("only http is supported"), "{spoken:?}");
    // A server that accepts connections and does not respond, and then no server at all.
    let silent = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = silent.local_addr().unwrap().to_string();
    let started = Instant::now();
    let unanswered = ask(&["--bind", &address, "--timeout", "1"]);
    assert!(unanswered.0 == 1 && unanswered.2.contains("no answer within 1 s"), "{unanswered:?}");
    assert!(started.elapsed() < Duration::from_secs(3), "{:?}", started.elapsed());
    drop(silent);
    let nobody = ask(&["--bind", &address, "--json"]);
    assert!(nobody.0 == 1 && nobody.2.contains("\"unreachable\""), "{nobody:?}");
}

#[test]
fn a_name_leads_where_a_query_would_find_it() {
    let server = TestServer::start(&[]);
    for path in ["/search.php?q=Ladle&format=jsonv2&limit=1", "/search?q=+Ladle+"] {
        let answer = server.ask("GET", path, "", "");
        let found: serde_json::Value = serde_json::from_slice(&answer.body).unwrap();
        assert_eq!((answer.status, found.as_array().unwrap().len()), (200, 1));
        assert_eq!((&found[0]["osm_type"], &found[0]["osm_id"]), (&"relation".into(), &31.into()));
        assert_eq!((&found[0]["lat"], &found[0]["lon"]), (&"10.005".into(), &"20.005".into()));
        assert_eq!(found[0]["boundingbox"], json!(["10", "10.01", "20", "20.01"]));
    }
    let nothing = server.ask("GET", "/search.php?q=Nowhere&format=jsonv2&limit=1", "", "");
    assert_eq!((nothing.status, nothing.text().as_str()), (200, "[]"), "{}", nothing.text());
    for wrong in [
        "/search?format=json",
        "/search?q=Ladle&format=kml",
        "/search?q=Ladle&city=Ladle",
        "/search?q=Ladle&polygon_threshold=x",
        "/lookup",
        "/lookup?format=kml&osm_ids=N1",
    ] {
        assert_eq!(server.get(wrong).status, 400, "{wrong}");
    }
}

#[test]
fn a_place_has_the_fields_that_geocoders_clients_read() {
    let server = TestServer::start(&[]);
    let ask = |path: &str| {
        let answer = server.get(path);
        assert_eq!(answer.status, 200, "{path}: {}", answer.text());
        serde_json::from_slice::<serde_json::Value>(&answer.body).unwrap()
    };
    let licence = "Data © OpenStreetMap contributors, ODbL 1.0. http://osm.org/copyright";
    let ring = json!([[20.0, 10.0], [20.01, 10.0], [20.01, 10.01], [20.0, 10.01], [20.0, 10.0]]);
    let ladle = json!({
        "place_id": 127, "licence": licence, "osm_type": "relation", "osm_id": 31, "lat": "10.005", "lon": "20.005",
        "class": "area", "type": "yes", "place_rank": 30, "importance": 0.0, "addresstype": "area", "name": "Ladle",
        "display_name": "Ladle, تشاد", "boundingbox": ["10", "10.01", "20", "20.01"],
        "geojson": { "type": "Polygon", "coordinates": [ring] },
        "geotext": "POLYGON((20 10,20.01 10,20.01 10.01,20 10.01,20 10))",
        "namedetails": { "name": "Ladle" }, "extratags": { "type": "multipolygon", "admin_level": "8" },
    });
    let everything = "polygon_geojson=1&polygon_text=1&namedetails=1&extratags=1";
    assert_eq!(ask(&format!("/search?q=Ladle&format=json&{everything}")), json!([ladle]));
    let street = ask("/lookup?osm_ids=W22,N1,R99,R32&polygon_geojson=1");
    assert_eq!(street.as_array().unwrap().len(), 2, "what is not there and what lies nowhere is left out: {street}");
    assert_eq!((&street[0]["category"], &street[0]["type"]), (&json!("highway"), &json!("residential")));
    assert_eq!(street[0]["geojson"], json!({ "type": "LineString", "coordinates": [[20.0, 10.0], [20.01, 10.01]] }));
    assert_eq!((&street[1]["name"], &street[1]["type"]), (&json!("Bean & Leaf"), &json!("cafe")));
    assert_eq!(street[1]["geojson"], json!({ "type": "Point", "coordinates": [20.001, 10.001] }));

    let features = ask("/search?q=Ladle&format=geojson");
    assert_eq!((&features["type"], &features["licence"]), (&json!("FeatureCollection"), &json!(licence)));
    let feature = &features["features"][0];
    assert_eq!(feature["bbox"], json!([20.0, 10.0, 20.01, 10.01]));
    assert_eq!(feature["geometry"], json!({ "type": "Point", "coordinates": [20.005, 10.005] }));
    assert_eq!((&feature["properties"]["osm_id"], &feature["properties"]["category"]), (&json!(31), &json!("area")));
    let features = ask("/search?q=Ladle&format=geocodejson&polygon_geojson=1");
    assert_eq!(
        (&features["geocoding"]["query"], &features["geocoding"]["attribution"]),
        (&json!("Ladle"), &json!(licence))
    );
    assert_eq!(
        features["features"][0]["properties"]["geocoding"]["label"], "Ladle, تشاد",
        "the country by its outline"
    );
    assert_eq!(features["features"][0]["geometry"]["type"], "Polygon");
}

#[test]
fn a_box_and_a_function_come_beside_the_query() {
    let server = TestServer::start(&[]);
    let ask =
        |more: &str| server.get(&format!("/api/interpreter?data={}&{more}", encoded("[out:json];node(bbox);out;")));
    assert_eq!(ask("bbox=20.0005,10.0005,20.0025,10.0025").ids(), [1, 2]);
    let form = format!("data={}&bbox=20.0005,10.0005,20.0025,10.0025", encoded("[out:json][bbox];node;out;"));
    assert_eq!(server.ask("POST", "/api/interpreter", FORM, &form).ids(), [1, 2]);
    let plain = ask("bbox=20,10,20.0015,10.0015").text();
    let called = ask("bbox=20,10,20.0015,10.0015&jsonp=my.show");
    assert_eq!(called.text(), format!("my.show({plain});\n"));
    assert!(called.headers.contains("content-type: text/javascript"), "{}", called.headers);
    for wrong in ["bbox=1,2,3", "bbox=20,10,20.1,10.1&jsonp=alert(1)"] {
        let answer = ask(wrong);
        assert!(answer.status == 400 && answer.text().contains("encoding error: The parameter"), "{}", answer.text());
    }
    // Errors are HTML pages as usual, and other formats ignore `jsonp`.
    assert_eq!(ask("jsonp=show").status, 400);
    let xml = server.get(&format!("/api/interpreter?data={}&jsonp=show", encoded("node(1);out;")));
    assert!(xml.text().starts_with("<?xml"), "{}", xml.text());
}

#[test]
fn a_query_that_is_stopped_after_much_was_written_still_gets_its_status() {
    let server = TestServer::start(&["--max-queries", "1"]);
    let stopped = |outs: usize| {
        let query = format!("[out:json][timeout:1];node[amenity=cafe];{}{}", "out meta;".repeat(outs), endless());
        server.query(&query)
    };
    // The query writes a quarter of a megabyte and then nothing more.
    let answer = stopped(300);
    assert_eq!(answer.status, 504, "{}", answer.text());
    assert!(answer.text().contains("runtime error: Query timed out in "), "{}", answer.text());
    // After some megabytes the status has already been sent. The last output is a remark with the reason; the document
    // is not closed and the transfer is incomplete.
    let mut stream = server.leave_unread(&format!(
        "[out:json][timeout:1];node[amenity=cafe];{}{}",
        "out meta;".repeat(4000),
        endless()
    ));
    let mut all = Vec::new();
    stream.read_to_end(&mut all).unwrap();
    let all = String::from_utf8(all).unwrap();
    assert!(all.starts_with("HTTP/1.1 200 OK\r\n"));
    let tail = &all[all.len().saturating_sub(300)..];
    let (_, end) =
        all.rsplit_once("\"remark\": \"runtime error: Query timed out in ").unwrap_or_else(|| panic!("{tail}"));
    assert!(!end.contains('}') && !all.ends_with("\r\n0\r\n\r\n"), "{end}");
}

/// Returns statements that run until the time limit.
fn endless() -> String {
    let loops = 12;
    format!("{}{}", "foreach{nwr._;nwr(10,20,10.1,20.1);".repeat(loops), "}".repeat(loops))
}

#[test]
fn a_wrong_query_gets_the_page_that_clients_know() {
    let server = TestServer::start(&[]);
    let answer = server.query("nod<b>(1);out;");
    assert_eq!(answer.status, 400);
    assert!(answer.headers.contains("content-type: text/html"), "{}", answer.headers);
    let page = answer.text();
    assert!(page.contains("<p><strong style=\"color:#FF0000\">Error</strong>: line 1: parse error: "), "{page}");
    assert!(!page.contains("<b>"), "{page}");

    assert_eq!(server.ask("GET", "/api/interpreter", "", "").status, 400);
    assert_eq!(server.ask("POST", "/api/interpreter", FORM, "data=").status, 400);
    assert_eq!(server.ask("POST", "/api/interpreter", FORM, "data=%ff%fe%00").status, 400);
    assert_eq!(server.ask("DELETE", "/api/interpreter", "", "").status, 405);
    assert_eq!(server.ask("GET", "/nowhere", "", "").status, 404);
}

#[test]
fn a_query_is_converted_on_a_page() {
    let server = TestServer::start(&[]);
    let converted = |parameters: &str| {
        let answer = server.ask("GET", &format!("/api/convert?{parameters}"), "", "");
        let text = answer.text();
        let inner = text.split_once("<pre>").and_then(|(_, rest)| rest.split_once("</pre>")).map(|(inner, _)| inner);
        (answer.status, inner.unwrap_or(&text).replace("&quot;", "\"").replace("&gt;", ">").replace("&lt;", "<"))
    };
    let xml = "<osm-script>\n  <id-query type=\"node\" ref=\"1\"/>\n</osm-script>";
    let query = encoded("node(1);ouy;");
    assert_eq!(converted(&format!("data={query}&target=xml")), (200, xml.to_owned()));
    let xml = encoded(xml);
    assert_eq!(converted(&format!("data={xml}&target=compact")), (200, "node(1);".to_owned()));
    assert_eq!(converted(&format!("data={xml}&target=mapql")), (200, "node(1);".to_owned()));
    assert_eq!(converted("data=out;&target=sql").0, 400);
    let page = server.ask("GET", &format!("/api/convert?data={query}"), "", "");
    assert!(page.text().contains("Error</strong>: line 1: parse error: Unknown type &quot;ouy&quot;"));
}

#[test]
fn calls_of_the_extended_api_are_answered() {
    let server = TestServer::start(&[]);
    let get = |address: &str| server.ask("GET", address, "", "");
    // Compares the whole answer, including the line with the date of the data.
    let same = |address: &str, query: &str| {
        let (answer, expected) = (get(address), server.query(query));
        assert_eq!((answer.status, expected.status), (200, 200), "{address}: {}", answer.text());
        assert_eq!(answer.text(), expected.text(), "{address}");
        assert!(answer.headers.contains("content-type: application/osm3s+xml"), "{}", answer.headers);
    };
    let bbox = "-180,-90,180,90";
    let map = "(node(-90,-180,90,180);rel(bn)->.foo;way(bn);node(w)->.foo;rel(bw););out meta;";
    same(&format!("/api/map?bbox={bbox}"), map);
    same(&format!("/api/map?bbox={}", encoded(bbox)), map);
    same(&format!("/api/xapi?map?bbox={bbox}"), map);
    same("/api/xapi?node[amenity=cafe|bar]", "node[amenity~\"^(cafe|bar)$\"];out;");
    same("/api/xapi_meta?node%5Bamenity=*%5D", "node[amenity];out meta;");
    same("/api/xapi?way[name=*]", "(way[name];node(w););out;");
    assert_eq!(get("/api/xapi?node[amenity=cafe]").text().matches("<node").count(), 4);

    for (address, words) in [
        ("/api/map", "bbox=left,bottom,right,top is needed"),
        ("/api/map?bbox=1,2,3", "bbox=left,bottom,right,top is needed"),
        ("/api/xapi?", "Query must start with 'node'"),
        ("/api/xapi?way[nd]", "Expected '=' after key. (at byte 5 of the query)"),
        ("/api/xapi?node[name=%ff]", "Invalid UTF-8"),
        ("/api/map?bbox=1,200,3,4", "For the attribute &quot;s&quot; of the element &quot;bbox-query&quot;"),
    ] {
        let answer = get(address);
        assert_eq!(answer.status, 400, "{address}");
        assert!(answer.text().contains(words), "{address}: {}", answer.text());
    }
}

#[test]
fn a_huge_body_is_refused_and_the_server_goes_on() {
    let server = TestServer::start(&["--max-body", "10k"]);
    let answer = server.ask("POST", "/api/interpreter", FORM, &format!("data={}", "x".repeat(20 << 10)));
    assert_eq!(answer.status, 413);
    assert!(answer.text().contains("longer than 10240 bytes"), "{}", answer.text());
    assert_eq!(server.query(CAFES).status, 200);
}

#[test]
fn browsers_of_other_sites_may_ask() {
    let server = TestServer::start(&[]);
    let preflight = "Origin: http://a.example\r\nAccess-Control-Request-Method: POST\r\n\
                     Access-Control-Request-Headers: content-type\r\n";
    let answer = server.ask("OPTIONS", "/api/interpreter", preflight, "");
    assert_eq!(answer.status, 200);
    assert!(answer.headers.contains("access-control-allow-origin: *"), "{}", answer.headers);
    assert!(answer.headers.contains("access-control-allow-methods: get,post,options"), "{}", answer.headers);
    let answer = server.ask("POST", "/api/interpreter", "Origin: http://a.example\r\n", CAFES);
    assert!(answer.headers.contains("access-control-allow-origin: *"), "{}", answer.headers);
}

#[test]
fn pages_of_other_sites_change_nothing_and_read_what_they_may() {
    const EVIL: &str = "Origin: https://evil.example\r\n";
    const FRIEND: &str = "Origin: https://friend.example\r\n";
    let server = TestServer::start(&["--cors", "*,https://friend.example"]);
    let kill = "/api/kill_my_queries";
    // The ways in which a page of another site can send a request.
    for (method, path, headers) in [
        ("GET", kill, EVIL),
        ("POST", kill, EVIL),
        ("GET", kill, "Origin: null\r\n"),
        ("GET", kill, "Sec-Fetch-Site: cross-site\r\nSec-Fetch-Mode: no-cors\r\n"),
        ("GET", kill, "Referer: http://evil.example/page\r\n"),
        ("POST", "/api/kill/1", EVIL),
        ("POST", "/ask", "Origin: https://evil.example\r\nContent-Type: text/plain\r\n"),
        ("POST", "/mcp", EVIL),
        ("OPTIONS", "/ask", "Origin: https://evil.example\r\nAccess-Control-Request-Method: POST\r\n"),
    ] {
        let answer = server.ask(method, path, headers, "{\"question\": \"a\"}");
        assert_eq!(answer.status, 403, "{method} {path} {headers}");
        assert_eq!(answer.header("access-control-allow-origin"), None, "{method} {path}");
    }
    for headers in ["", FRIEND, "Origin: http://localhost:3000\r\n", "Sec-Fetch-Site: none\r\n"] {
        assert_eq!(server.ask("GET", kill, headers, "").status, 200, "{headers}");
    }
    assert!(server.get("/metrics").text().contains("terrapin_rejected_total{reason=\"foreign\"} 9"));
    // Only the server's own host name is accepted.
    let named = |host: &str| {
        let head = format!("GET {kill} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n");
        HttpAnswer::read(server.send(head.as_bytes())).status
    };
    assert_eq!([named("evil.example"), named("127.0.0.1:8080"), named("localhost")], [403, 200, 200]);

    let read = |server: &TestServer, origin: &str| {
        let answer = server.ask("POST", "/api/interpreter", origin, CAFES);
        assert_eq!(answer.status, 200);
        answer.header("access-control-allow-origin").map(str::to_owned)
    };
    assert_eq!(read(&server, EVIL).as_deref(), Some("*"));
    let some = TestServer::start(&["--cors", "https://friend.example"]);
    assert_eq!((read(&some, EVIL), read(&some, FRIEND).as_deref()), (None, Some("https://friend.example")));
    let none = TestServer::start(&["--cors", "none"]);
    assert_eq!((read(&none, EVIL), read(&none, FRIEND)), (None, None));
}

#[test]
fn answers_are_compressed_where_the_client_can_read_that() {
    let server = TestServer::start(&[]);
    let answer = server.ask("POST", "/api/interpreter", "Accept-Encoding: gzip\r\n", CAFES);
    assert!(answer.headers.contains("content-encoding: gzip"), "{}", answer.headers);
    let mut plain = String::new();
    flate2::read::GzDecoder::new(&answer.body[..]).read_to_string(&mut plain).unwrap();
    assert_eq!(plain, server.query(CAFES).text());
}

#[test]
fn the_small_services_answer() {
    let server = TestServer::start(&["--max-queries", "3"]);
    let get = |path: &str| server.ask("GET", path, "", "");
    assert_eq!(get("/api/timestamp").text(), "2020-01-06T12:00:00Z\n");
    let status = get("/api/status").text();
    let lines: Vec<&str> = status.lines().collect();
    assert_eq!((lines[3], lines[4]), ("Rate limit: 3", "3 slots available now."));
    assert_eq!((get("/healthz").status, get("/healthz").text().as_str()), (200, "ok\n"));
    assert!(get("/").text().contains("8 nodes, 2 ways, 2 relations, 1 areas"), "{}", get("/").text());
    server.query(CAFES);
    server.query("nod(1);out;");
    // A query is counted shortly after its answer was sent.
    let counted = ["queries_total{outcome=\"answered\"} 1", "queries_total{outcome=\"refused\"} 1", "elements_total 4"];
    let deadline = Instant::now() + Duration::from_secs(5);
    loop {
        let metrics = get("/metrics").text();
        if counted.iter().all(|line| metrics.contains(line)) {
            break;
        }
        assert!(Instant::now() < deadline, "{metrics}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Returns a query with an answer of about 50 MB, more than all buffers on the way.
fn long_query() -> String {
    format!("[out:json];node[amenity=cafe];{}", "out meta;".repeat(60_000))
}

/// Sends the long query and reads only the start of its answer.
fn begin(server: &TestServer) -> TcpStream {
    let mut stream = server.connect();
    let text = long_query();
    write!(stream, "POST /api/interpreter HTTP/1.1\r\nHost: test\r\nContent-Length: {}\r\n\r\n{text}", text.len())
        .unwrap();
    let mut beginning = [0; 15];
    stream.read_exact(&mut beginning).unwrap();
    assert_eq!(&beginning, b"HTTP/1.1 200 OK");
    stream
}

#[test]
fn a_long_answer_comes_whole() {
    let server = TestServer::start(&[]);
    let answer = server.query(&long_query());
    assert_eq!(answer.status, 200);
    assert!(answer.headers.contains("transfer-encoding: chunked"), "{}", answer.headers);
    assert_eq!(answer.ids().len(), 240_000);
}

#[test]
fn a_full_server_sends_clients_away_until_one_leaves() {
    // Without a spool, a client that does not read keeps its slot for a while. Speculative trials are disabled.
    let few = ["--max-queries", "1", "--max-waiting", "1", "--max-wait", "1"];
    let server = TestServer::start(&[&few[..], &["--spool", "0", "--trial", "0"]].concat());
    let sleeper = begin(&server);
    let status = server.ask("GET", "/api/status", "", "").text();
    assert!(status.lines().nth(4).unwrap().starts_with("Slot available after: "), "{status}");
    assert_eq!(status.lines().count(), 7, "{status}");
    std::thread::scope(|scope| {
        let asked: Vec<_> = (0..3).map(|_| scope.spawn(|| server.query(CAFES))).collect();
        let mut answers: Vec<u16> = asked.into_iter().map(|a| a.join().unwrap().status).collect();
        answers.sort_unstable();
        assert_eq!(answers, [429, 429, 504]);
    });
    assert_eq!(server.ask("GET", "/healthz", "", "").status, 200);
    drop(sleeper);
    let answer = server.query(CAFES);
    assert_eq!(answer.status, 200, "the client that left gave its slot back: {}", answer.text());
}

#[test]
fn a_server_that_was_told_to_stop_ends_what_runs_and_never_feigns_a_whole_answer() {
    let mut server = TestServer::start(&["--grace", "1"]);
    let mut sleeper = begin(&server);
    server.signal("-TERM");
    let told = Instant::now();
    assert!(server.child.wait().unwrap().success());
    assert!(told.elapsed() < Duration::from_secs(8), "{:?}", told.elapsed());
    let mut rest = Vec::new();
    let _ = sleeper.read_to_end(&mut rest);
    assert!(!rest.ends_with(b"\r\n0\r\n\r\n"), "a broken answer must not end as a whole one does");
}

#[test]
fn an_idle_server_stops_at_once() {
    let mut server = TestServer::start(&[]);
    server.signal("-INT");
    let told = Instant::now();
    assert!(server.child.wait().unwrap().success());
    assert!(told.elapsed() < Duration::from_secs(5), "{:?}", told.elapsed());
}

/// Returns a query that runs for hours without any output.
fn endless_query(timeout: u32) -> String {
    let nested = (0..16).fold(String::new(), |inner, _| format!("node[amenity=cafe];foreach{{{inner}}}"));
    format!("[out:json][timeout:{timeout}];{nested}out;")
}

#[test]
fn a_query_over_its_time_gets_504() {
    let server = TestServer::start(&[]);
    let answer = server.query(&endless_query(1));
    assert_eq!(answer.status, 504, "{}", answer.text());
    assert!(answer.text().contains("runtime error: Query timed out in "), "{}", answer.text());
    let server = TestServer::start(&["--max-time", "1"]);
    assert_eq!(server.query(&endless_query(600)).status, 504);
}

#[test]
fn a_client_that_leaves_stops_its_query() {
    let server = TestServer::start(&["--max-queries", "1"]);
    let mut stream = server.connect();
    let text = endless_query(600);
    write!(stream, "POST /api/interpreter HTTP/1.1\r\nHost: test\r\nContent-Length: {}\r\n\r\n{text}", text.len())
        .unwrap();
    let deadline = Instant::now() + Duration::from_secs(10);
    while server.ask("GET", "/api/status", "", "").text().lines().count() < 7 {
        assert!(Instant::now() < deadline, "the query does not run");
    }
    drop(stream);
    assert_eq!(server.query(CAFES).status, 200);
}
