//! Queries and requests that are made to take as much memory and time as possible.

use std::io::Write;

use flate2::Compression;
use flate2::write::GzEncoder;

/// A bounding box of the whole world.
pub const WORLD: &str = "(-90,-180,90,180)";

fn repeated(count: usize, part: impl Fn(usize) -> String) -> String {
    (0..count).map(part).collect()
}

/// Returns attacks in OverpassQL with their names. They take unlimited time or memory.
pub fn overpass() -> Vec<(&'static str, String)> {
    let long = "x".repeat(1000);
    let queries = vec![
        (
            "a text that doubles",
            format!("node{WORLD}[name]->.s;make a t=set(t[\"name\"])->.s;")
                + &"make a t=s.set(t[\"t\"])+s.set(t[\"t\"])->.s;".repeat(40)
                + "out;",
        ),
        ("many patterns", format!("node{WORLD}{};out;", repeated(25_600, |n| format!("[name~\"N.*a{n}\"]")))),
        ("one pattern many times", format!("node{WORLD}{};out;", "[name~\"N.*a\"]".repeat(25_600))),
        ("geometries made", format!("nwr{WORLD};convert a ::geom=geom(),::id=id();out geom;")),
        (
            "long texts made",
            format!("nwr{WORLD};convert a {};out;", repeated(50, |n| format!("k{n}=\"{long}\",")) + "z=1"),
        ),
        ("a hull of all", format!("nwr{WORLD};make a ::geom=hull(gcat(geom()));out geom;")),
        ("a trace of all", format!("way{WORLD};make a ::geom=trace(gcat(geom()));out geom;")),
        ("a group for each", format!("nwr{WORLD};for(id()){{out count;}}")),
        ("areas around all", format!("node{WORLD};is_in;out count;")),
        ("sets of ids", format!("node{WORLD};make a {};out;", repeated(64, |n| format!("k{n}=set(id()),")) + "z=1")),
        ("many conditions", format!("node{WORLD}{};out;", "(if:t[\"name\"]==\"a\")".repeat(25_600))),
        ("pieces", format!("nwr{WORLD};local ll;out geom;")),
        ("everything made", format!("nwr{WORLD};convert a ::=::,::id=id(),::geom=geom();out geom;")),
        ("a round for each", format!("nwr{WORLD};foreach(out count;);")),
        ("a complete", format!("node{WORLD};complete{{nwr(around:1000);}};out count;")),
        ("lists", format!("node{WORLD};make a t=lrs_union(set(t[\"name\"]),set(id()));out;")),
        ("around all", format!("node{WORLD};node(around:10000);out count;")),
        ("up and down", format!("nwr{WORLD};>>;<<;out count;")),
        ("all, by tiles", format!("nwr{WORLD};out meta geom qt;")),
    ];
    let unbounded = |(name, query)| (name, format!("[timeout:1000][maxsize:20000000000];{query}"));
    queries.into_iter().map(unbounded).collect()
}

/// Returns attacks in SPARQL with their names.
pub fn sparql() -> Vec<(&'static str, String)> {
    let binds = |count, first: &str, step: fn(usize) -> String| {
        let steps = repeated(count, |n| format!("BIND({} AS ?x{}) ", step(n), n + 1));
        format!("SELECT * {{ {first} {steps} }}")
    };
    let metre = "<http://www.opengis.net/def/uom/OGC/1.0/metre>";
    vec![
        ("a text that doubles", binds(40, "BIND(\"x\" AS ?x0)", |n| format!("CONCAT(?x{n},?x{n})"))),
        ("texts that double", binds(40, "?s ?p ?o BIND(STR(?o) AS ?x0)", |n| format!("CONCAT(?x{n},?x{n})"))),
        ("replaced fourfold", binds(20, "BIND(\"x\" AS ?x0)", |n| format!("REPLACE(?x{n},\"x\",\"xxxx\")"))),
        ("encoded", binds(30, "BIND(\"%\" AS ?x0)", |n| format!("ENCODE_FOR_URI(?x{n})"))),
        (
            "replaced all",
            "SELECT (COUNT(?r) AS ?n) { ?s ?p ?o BIND(REPLACE(STR(?o),\".\",\"$0$0$0\") AS ?r) }".to_owned(),
        ),
        ("many keys", format!("SELECT * {{ ?s ?p ?o }} ORDER BY {}", repeated(20_000, |n| format!("?v{n} ")))),
        (
            "wide buffers",
            format!("SELECT ?b {{ ?s wdt:P625 ?c BIND(geof:buffer(?c,1000000,{metre}) AS ?b) }} ORDER BY ?b"),
        ),
        (
            "a union a row",
            format!(
                "SELECT (COUNT(?u) AS ?n) {{ ?s wdt:P625 ?c . ?t wdt:P625 ?d \
                 BIND(geof:union(geof:buffer(?c,100000,{metre}),geof:buffer(?c,200000,{metre})) AS ?u) }}"
            ),
        ),
        (
            "many groups' keys",
            format!("SELECT (COUNT(*) AS ?n) {{ ?s ?p ?o }} GROUP BY {}", repeated(102_400, |n| format!("?v{n} "))),
        ),
        (
            "a long list",
            format!(
                "SELECT (COUNT(*) AS ?n) {{ ?s ?p ?o FILTER(?o IN (\"\"{})) }}",
                repeated(100_000, |n| format!(",\"v{n}\""))
            ),
        ),
        (
            "many expressions",
            format!("SELECT {} {{ ?s ?p ?o }}", repeated(25_600, |n| format!("(STRLEN(?o)+{n} AS ?e{n}) "))),
        ),
        ("all in order", "SELECT * { ?s ?p ?o } ORDER BY ?o ?s".to_owned()),
        ("one long text", "SELECT (GROUP_CONCAT(?o) AS ?n) { ?s ?p ?o }".to_owned()),
        ("distinct pairs", "SELECT DISTINCT ?a ?b { ?a ?p ?x . ?b ?q ?x }".to_owned()),
        ("a closure", "SELECT * { ?a (wdt:P31|wdt:P279)* ?b } ORDER BY ?a".to_owned()),
        ("many alternatives", format!("ASK {{ ?s {}wdt:P31 ?o }}", "wdt:P31|".repeat(6_000))),
    ]
}

/// Returns a POST request with a body for a persistent connection.
pub fn post(path: &str, headers: &str, body: &[u8]) -> Vec<u8> {
    let length = body.len();
    let head = format!("POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Length: {length}\r\n{headers}\r\n");
    [head.as_bytes(), body].concat()
}

/// Compresses a text with gzip.
fn packed(text: &str) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(text.as_bytes()).expect("memory takes all");
    encoder.finish().expect("memory takes all")
}

const JSON: &str = "Content-Type: application/json\r\n";
const GZIP: &str = "Content-Encoding: gzip\r\n";
/// The headers of a message of the Model Context Protocol.
const MCP: &str = "Content-Type: application/json\r\nAccept: application/json, text/event-stream\r\n";

/// Returns a tool call with an argument of `count` small objects. Each takes about 400 bytes as a tree, and 7 in the
/// text.
fn call(count: usize) -> String {
    let objects = "{\"\":0},".repeat(count);
    let params = format!("{{\"name\":\"search_tags\",\"arguments\":{{\"text\":\"a\",\"x\":[{objects}0]}}}}");
    format!("{{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{params}}}")
}

/// Returns messages of the Model Context Protocol with their names.
pub fn mcp() -> Vec<(&'static str, Vec<u8>)> {
    let initialize = "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\",\"params\":{\"x\":[";
    let initialize = format!("{initialize}{}0]}}}}", "{\"\":0},".repeat(9_000));
    vec![
        // 2 MiB, compressed to 3 KB.
        ("a tree of 2 MiB, packed", post("/mcp", &format!("{MCP}{GZIP}"), &packed(&call(299_000)))),
        ("a tree of 2 MiB", post("/mcp", MCP, call(299_000).as_bytes())),
        // The maximum length of a message.
        ("a tree of 64 KiB, packed", post("/mcp", &format!("{MCP}{GZIP}"), &packed(&call(9_000)))),
        ("a tree of 64 KiB", post("/mcp", MCP, call(9_000).as_bytes())),
        ("a greeting of 64 KiB", post("/mcp", MCP, initialize.as_bytes())),
        ("many empty packs", post("/mcp", &format!("{MCP}{GZIP}"), &packed("").repeat(3_000))),
    ]
}

/// Returns JSON requests to other services with their names.
pub fn json() -> Vec<(&'static str, Vec<u8>)> {
    let objects = "{\"\":0},".repeat(299_000);
    let both = format!("{JSON}{GZIP}");
    let places = format!("{{\"predictions\":[],\"references\":[],\"places\":{{\"x\":[{objects}0]}}}}");
    let strings = format!("{{\"predictions\":[{}\"\"],\"references\":[]}}", "\"\",".repeat(690_000));
    let ndjson = format!("Content-Type: application/x-ndjson\r\n{GZIP}");
    vec![
        ("pairs with a tree", post("/score", &both, &packed(&places))),
        ("very many pairs", post("/score", &both, &packed(&strings))),
        (
            "a line that is a tree",
            post("/score", &ndjson, &packed(&format!("{{\"gold\":\"a\",\"pred\":\"b\",\"x\":[{objects}0]}}"))),
        ),
        ("feedback on a tree", post("/feedback", &both, &packed(&format!("{{\"query\":[{objects}0]}}")))),
        (
            "a question with trees",
            post("/ask", &both, &packed(&format!("{{\"question\":\"a\",\"queries\":[{objects}0]}}"))),
        ),
    ]
}
