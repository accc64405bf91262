//! Attacks each service of a server separately, with the defaults and 1 GiB of memory. Measures how long other clients
//! wait for a small query, and the memory of the server.

use std::fmt::Write;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::Path;
use std::process::Stdio;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpSocket;

use super::Scale;
use super::client::{Client, Reading};
use super::common::attacks;
use super::common::model::{Act, Model};
use super::common::server::Server;
use super::tally::Tally;
use super::watch::watch;

/// Memory limit of the server, and additional memory that a process may have.
const MEMORY: u64 = 1 << 30;
const BESIDES: u64 = 64 << 20;
/// Number of clients that send the same attack.
const CLIENTS: u8 = 24;
/// Number of connections with half a body.
const HALVES: u64 = 1200;
/// Pause of a rejected client before it connects again.
const REST: Duration = Duration::from_secs(1);

pub fn stand(snapshot: &Path, scale: &Scale) {
    let requests =
        |all: Vec<(&'static str, Vec<u8>)>| -> Vec<Vec<u8>> { all.into_iter().map(|(_, bytes)| bytes).collect() };
    let hostile = Model::start(|_, number| {
        let objects = json!(vec![json!({"": 0}); 50_000]);
        match number % 6 {
            0 => Act::Status(429, "Retry-After: 18446744073709551615\r\n", json!({"error": "busy"})),
            1 => Act::Whole(json!({"error": objects})),
            2 => Act::Whole(json!({"choices": objects})),
            3 => Act::Endless,
            4 => Act::Bytes("text/event-stream", format!("data: {{\"choices\":{objects}}}\n\n").into_bytes()),
            _ => Act::Bytes("application/json", vec![b'['; 400_000]),
        }
    });
    let question =
        attacks::post("/ask", "Content-Type: application/json\r\n", br#"{"question": "Cafes in Valletta?"}"#);
    let model: Vec<&str> = hostile.options().to_vec();
    let doors: [Door<'_>; 4] = [
        ("messages of agents", &[], requests(attacks::mcp()), 0),
        ("trees of JSON", &[], requests(attacks::json()), 0),
        ("half bodies", &[], Vec::new(), HALVES),
        ("a hostile model", &model, vec![question], 0),
    ];
    for (name, options, requests, halves) in doors {
        door(snapshot, scale, name, options, &requests, halves);
    }
}

/// An attack: its name, options of the server, requests that attackers send in turn, and number of connections with
/// half a body.
type Door<'a> = (&'a str, &'a [&'a str], Vec<Vec<u8>>, u64);

fn door(snapshot: &Path, scale: &Scale, name: &str, options: &[&str], requests: &[Vec<u8>], halves: u64) {
    let mut command = Server::command(snapshot);
    command.args(["--memory", "1GiB"]).args(options).stderr(Stdio::null());
    let mut server = Server::launch(command);
    let (process, to) = (server.child.id(), server.address);
    assert_eq!(server.query("node(1);out;").status, 200);
    let over = AtomicBool::new(false);
    let (kept, anew, attack) = (Tally::default(), Tally::default(), Tally::default());
    let counts: Arc<Halves> = Arc::default();
    let node = attacks::post("/api/interpreter", "Content-Type: text/plain\r\n", b"node(1);out;");
    // A client with small queries that keeps its connection, or connects for each query.
    let small = |address: u8, keeps: bool, tally: &Tally| {
        let client = || Client::new(Ipv4Addr::new(127, 0, 3, address), to, &over);
        let mut kept = client();
        while !over.load(Ordering::Relaxed) {
            let start = Instant::now();
            let answered = if keeps { kept.send(&node, Reading::Whole) } else { client().send(&node, Reading::Whole) };
            if !over.load(Ordering::Relaxed) {
                tally.add(answered, start.elapsed());
            }
            std::thread::sleep(Duration::from_millis(20).saturating_sub(start.elapsed()));
        }
    };
    let held = std::thread::scope(|threads| {
        let (small, over, kept, anew, attack) = (&small, &over, &kept, &anew, &attack);
        for (number, request) in (1..=CLIENTS).zip(requests.iter().cycle()) {
            threads.spawn(move || {
                let mut client = Client::new(Ipv4Addr::new(127, 0, 2, number), to, over);
                while !client.is_over() {
                    let start = Instant::now();
                    let answered = client.send(request, Reading::Whole);
                    if !client.is_over() {
                        attack.add(answered, start.elapsed());
                    }
                }
            });
        }
        if halves > 0 {
            let counts = &counts;
            threads.spawn(move || half_bodies(to, halves, over, counts));
        }
        threads.spawn(move || small(1, true, kept));
        threads.spawn(move || small(2, false, anew));
        let held = watch(process, scale.time);
        over.store(true, Ordering::Relaxed);
        held
    });

    let most = held.iter().map(|held| held.memory).max().unwrap_or_default();
    let mut text = format!("\n{name}, {} s\n", scale.time.as_secs());
    for (name, tally) in [("node(1)", &kept), ("node(1), connecting anew", &anew), ("the attack", &attack)] {
        let _ = writeln!(text, "  {name:<24} {tally}");
    }
    if halves > 0 {
        let [made, closed] = [&counts.connected, &counts.closed].map(|count| count.load(Ordering::Relaxed));
        let _ = writeln!(text, "  {made} connections with half a body, {closed} closed");
    }
    let _ = writeln!(text, "  at most {} MiB of {}", most >> 20, MEMORY >> 20);
    super::report(&text);

    assert!(server.child.try_wait().expect("a process").is_none(), "{name}: the server is gone");
    assert!(most <= MEMORY + BESIDES, "{name}: {} MiB", most >> 20);
    let late: &[&str] = if scale.timed { &["200"] } else { &["200", "429", "504"] };
    assert_eq!((kept.besides(late), anew.besides(late)), (Vec::new(), Vec::new()), "{name}: node(1)");
    let expected = ["200", "200 broken off", "400", "404", "413", "415", "429", "500", "502", "503", "504"];
    assert_eq!(attack.besides(&expected), [""; 0], "{name}");
    if scale.timed {
        let bound = Duration::from_millis(100);
        assert!(kept.at(990) <= bound && anew.at(990) <= bound, "{name}: node(1) is late");
    }
}

/// Numbers of connections with half a body: opened ones and closed ones.
#[derive(Default)]
struct Halves {
    connected: AtomicU64,
    closed: AtomicU64,
}

/// Runs one client with many connections, each with a complete head and one byte of its body. Half of them wait for
/// `100 Continue`. A closed connection is opened again.
fn half_bodies(to: SocketAddr, count: u64, over: &AtomicBool, halves: &Arc<Halves>) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    let tasks = tokio::task::LocalSet::new();
    for number in 0..count {
        let halves = Arc::clone(halves);
        tasks.spawn_local(async move {
            loop {
                let _ = half_body(to, number, &halves.connected).await;
                halves.closed.fetch_add(1, Ordering::Relaxed);
                tokio::time::sleep(REST).await;
            }
        });
    }
    runtime.block_on(tasks.run_until(async {
        while !over.load(Ordering::Relaxed) {
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    }));
}

/// Opens a connection with half a body; returns when the server closes it.
async fn half_body(to: SocketAddr, number: u64, connected: &AtomicU64) -> std::io::Result<()> {
    let socket = TcpSocket::new_v4()?;
    socket.bind((Ipv4Addr::new(127, 0, 4, 1), 0).into())?;
    let mut stream = socket.connect(to).await?;
    let expect = if number.is_multiple_of(2) { "Expect: 100-continue\r\n" } else { "" };
    let head = "POST /api/interpreter HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2000000\r\n";
    stream.write_all(format!("{head}{expect}\r\nn").as_bytes()).await?;
    connected.fetch_add(1, Ordering::Relaxed);
    let mut answer = [0; 512];
    while stream.read(&mut answer).await? > 0 {}
    Ok(())
}
