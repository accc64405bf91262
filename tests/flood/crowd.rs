//! Tests a server with 64 clients, half of them with long queries and half with short ones.

use std::fmt::Write;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::Path;
use std::process::Stdio;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use super::FloodScale;
use super::client::{FloodClient, ReadPace, once};
use super::common::attacks::WORLD;
use super::common::server::TestServer;
use super::tally::Tally;
use super::watch::{MemorySample, quarter, watch};

const OVERPASS: (&str, &str) = ("/api/interpreter", "text/plain");
const SPARQL: (&str, &str) = ("/sparql", "application/sparql-query");

/// Queries that take milliseconds.
const SHORT: &[((&str, &str), &str)] = &[
    (OVERPASS, "[out:json];node(1);out;"),
    (OVERPASS, "[out:json];node[amenity=cafe](35.89,14.5,35.91,14.53);out 20;"),
    (SPARQL, "ASK { ?s wdt:P31 wd:Q3184121 }"),
];

/// Queries that take seconds on a large extract.
const LONG: &[((&str, &str), &str)] = &[
    (OVERPASS, "[out:json];way[highway](-90,-180,90,180);out geom;"),
    (OVERPASS, "[out:json];node[amenity](-90,-180,90,180);node(around:500);out count;"),
    (OVERPASS, "[out:json];nwr(-90,-180,90,180);>>;<<;out count;"),
    (OVERPASS, "[out:json];nwr(-90,-180,90,180)[~\"^name\"~\"a.*e.*i.*o\"];out;"),
    (OVERPASS, "[out:json];way[highway](-90,-180,90,180);foreach(node(w);out count;);"),
    (OVERPASS, "[out:json];node[place](-90,-180,90,180);is_in;out count;"),
    (OVERPASS, "[out:json];nwr(-90,-180,90,180)(if:length()>100000);out count;"),
    (OVERPASS, "[out:json];nwr(-90,-180,90,180);out meta geom;"),
    (SPARQL, "SELECT (COUNT(*) AS ?n) { ?s ?p ?o FILTER(REGEX(STR(?o), \"a.*e.*i\")) }"),
    (SPARQL, "SELECT DISTINCT ?a ?b { ?a wdt:P31 ?x . ?b wdt:P31 ?x } LIMIT 2000000"),
];

/// Requests that must get neither status 200 nor an internal error.
const RUBBISH: &[&[u8]] = &[
    b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
    b"GET /api/interpreter?data=%ff%fe HTTP/1.1\r\nHost: test\r\n\r\n",
    b"POST /api/interpreter HTTP/1.1\r\nHost: test\r\nContent-Length: 9\r\n\r\nnode(((((",
    b"POST /score HTTP/1.1\r\nHost: test\r\nContent-Length: 2\r\n\r\n[]",
    b"POST /sparql HTTP/1.1\r\nHost: test\r\nContent-Type: application/sparql-query\r\nContent-Length: 4\r\n\r\nASK{",
    b"POST /api/interpreter HTTP/1.1\r\nHost: test\r\nContent-Length: 99999999999\r\n\r\n",
    b"DELETE / HTTP/1.1\r\nHost: test\r\n\r\n",
    b"GET /no/such/page HTTP/1.1\r\nHost: test\r\n\r\n",
];

/// Acceptable statuses of a long query under load: answered, out of memory or time, or rejected because no slot was
/// free.
const LONG_STATUSES: &[&str] = &["200", "400", "429", "500", "503", "504"];

#[derive(Clone, Copy, PartialEq, Eq)]
enum Manner {
    Short,
    Long,
    Slow,
    Leaving,
    Rubbish,
}

const MANNERS: [(Manner, &str, u8); 5] = [
    (Manner::Short, "short", 32),
    (Manner::Long, "long", 20),
    (Manner::Slow, "long, slowly read", 4),
    (Manner::Leaving, "long, left", 4),
    (Manner::Rubbish, "rubbish", 4),
];

/// Sends requests according to the client's manner until the test ends.
fn behave(manner: Manner, number: u8, to: SocketAddr, over: &AtomicBool, tally: &Tally) {
    let mut client = FloodClient::new(Ipv4Addr::new(127, 0, 1, number + 1), to, over);
    let mut turn = usize::from(number);
    while !client.is_over() {
        let start = Instant::now();
        let mut ask =
            |((path, content_type), text): ((&str, &str), &str), how| client.ask("POST", path, content_type, text, how);
        let answered = match manner {
            Manner::Short => ask(SHORT[turn % SHORT.len()], ReadPace::Whole),
            Manner::Long => ask(LONG[turn % LONG.len()], ReadPace::Whole),
            Manner::Slow => ask(LONG[turn % LONG.len()], ReadPace::Slowly),
            Manner::Leaving => {
                ask(LONG[turn % LONG.len()], ReadPace::Leaving(Duration::from_millis(turn as u64 * 377 % 2000)))
            }
            Manner::Rubbish => client.send(RUBBISH[turn % RUBBISH.len()], ReadPace::Whole),
        };
        if !client.is_over() {
            tally.add(answered, start.elapsed());
        }
        turn += 1;
        client.rest(Duration::from_millis(200));
    }
}

pub fn stand(snapshot: &Path, scale: &FloodScale) {
    // Use the default settings.
    let mut command = TestServer::command(snapshot);
    command.stderr(Stdio::null());
    let mut server = TestServer::launch(command);
    let process = server.child.id();
    for ((path, content_type), text) in SHORT {
        assert_eq!(server.ask("POST", path, &format!("Content-Type: {content_type}\r\n"), text).status, 200, "{text}");
    }
    // Fill the caches of the snapshot first. They grow until they are full and do not count as memory of queries.
    for kept in [";out count;", "[name~\"a\"];out meta geom;", ";is_in;out count;"] {
        let kind = if kept.starts_with(";is_in") { "node[place]" } else { "nwr" };
        server.query(&format!("{kind}{WORLD}{kept}"));
    }
    let now = || MemorySample::now(process, Instant::now()).expect("a process");
    let before = now();
    let over = AtomicBool::new(false);
    let tallies: [Tally; MANNERS.len()] = Default::default();
    let held = std::thread::scope(|threads| {
        let mut number = 0;
        for ((manner, _, count), tally) in MANNERS.iter().zip(&tallies) {
            for _ in 0..*count {
                let (own, over, to) = (number, &over, server.address);
                threads.spawn(move || behave(*manner, own, to, over, tally));
                number += 1;
            }
        }
        let held = watch(process, scale.time);
        over.store(true, Ordering::Relaxed);
        held
    });
    // Queries of clients that left end soon, and so do their connections. Idle threads end a while later.
    let deadline = Instant::now() + Duration::from_secs(30);
    while (now().descriptors > before.descriptors || now().threads > before.threads) && Instant::now() < deadline {
        std::thread::sleep(Duration::from_millis(100));
    }
    let after = now();

    let mut text = format!("\n64 clients, {} s\n", scale.time.as_secs());
    for ((_, name, count), tally) in MANNERS.iter().zip(&tallies) {
        let _ = writeln!(text, "  {count:>2} {name:<18} {tally}");
    }
    let _ = writeln!(text, "  before  {before}");
    for held in held.iter().step_by(10) {
        let _ = writeln!(text, "          {held}");
    }
    let _ = writeln!(text, "  after   {after}");
    let (second, last) = (quarter(&held, 1), quarter(&held, 3));
    let _ = writeln!(text, "  memory in the second quarter {} MiB, in the last {} MiB", second >> 20, last >> 20);
    super::report(&text);

    assert!(server.child.try_wait().expect("a process").is_none(), "the server is gone");
    assert_eq!(once(server.address, "/healthz"), Some(200));
    let [short, long, slow, _, rubbish] = &tallies;
    assert!(short.count("200") > 0 && long.count("200") > 0, "nothing was answered");
    let late: &[&str] = if scale.timed { &["200"] } else { &["200", "429", "503", "504"] };
    assert_eq!(short.besides(late), [""; 0], "short queries");
    assert_eq!(long.besides(LONG_STATUSES), [""; 0], "long queries");
    // A query that times out while its response is read gives an incomplete response.
    let cut: Vec<&str> = LONG_STATUSES.iter().copied().chain(["200 broken off"]).collect();
    assert_eq!(slow.besides(&cut), [""; 0], "long queries that are read slowly");
    assert_eq!(rubbish.besides(&["400", "404", "405", "413", "429", "503", "504", "none"]), [""; 0], "rubbish");
    assert!(after.descriptors <= before.descriptors, "descriptors are left");
    if scale.timed {
        // In a run of seconds the caches are still cold.
        assert!(last <= second + second / 4 + (128 << 20), "memory grows");
        assert!(short.at(990) <= Duration::from_millis(50), "short queries are late");
    }
}
