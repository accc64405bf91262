//! Attacks each service of a server separately, with the defaults and 1 GiB of memory. Measures how long other clients
//! wait for a small query, and the memory of the server.

use std::fmt::Write;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpSocket;

use super::FloodScale;
use super::client::{FloodClient, ReadPace};
use super::common::attacks;
use super::common::server::TestServer;
use super::common::{place, skip, terrapin};
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

pub fn stand(snapshot: &Path, scale: &FloodScale) {
    let requests =
        |all: Vec<(&'static str, Vec<u8>)>| -> Vec<Vec<u8>> { all.into_iter().map(|(_, bytes)| bytes).collect() };
    let Some(dated) = history(snapshot.with_file_name("history.terrapin").as_path()) else { return };
    let dates = || -> Vec<Vec<u8>> { (0..4096).map(date).collect() };
    let plain = |name, requests| Door { name, snapshot, options: &[], requests, slow: None };
    let doors: [Door<'_>; 7] = [
        plain("messages of agents", requests(attacks::mcp())),
        plain("trees of JSON", requests(attacks::json())),
        Door { slow: Some(Slow::Half), ..plain("half bodies", Vec::new()) },
        Door { slow: Some(Slow::Trickle), ..plain("bodies byte by byte", Vec::new()) },
        Door { snapshot: &dated, ..plain("dates", dates()) },
        Door { snapshot: &dated, options: &NO_FOLDER, ..plain("dates, without a folder for files", dates()) },
        Door { snapshot: &dated, options: &FULL, ..plain("dates, with a full spool", dates()) },
    ];
    doors.iter().for_each(|one| door(scale, one));
}

const NO_FOLDER: [&str; 2] = ["--spool-dir", "/proc/self"];
/// Answers and states of dates reach their limits.
const FULL: [&str; 4] = ["--spool", "4k", "--spool-total", "2m"];

/// A snapshot with all versions; nothing where the data is not at hand.
fn history(out: &Path) -> Option<PathBuf> {
    let file = place::shared().join("data/osm/niue.osh.pbf");
    if !file.exists() {
        skip::skipped(skip::Need::Shared, format_args!("{} is not there (set TERRAPIN_SHARED)", file.display()));
        return None;
    }
    terrapin().args(["load", "--history", "--osm"]).arg(file).arg("--out").arg(out).assert().success();
    Some(out.to_owned())
}

/// A query for a date of its own, from 2012 to 2022, scattered.
fn date(number: u64) -> Vec<u8> {
    let day = number * 1009 % 4000;
    let (year, month, day) = (2012 + day / 365, 1 + day % 365 / 31, 1 + day % 28);
    let rest = if number.is_multiple_of(2) { "node(1);out;" } else { "nwr(-30,-180,0,180);out meta geom;" };
    let timeout = if number.is_multiple_of(3) { "[timeout:1]" } else { "" };
    let query = format!("[date:\"{year}-{month:02}-{day:02}T00:00:00Z\"]{timeout};{rest}");
    attacks::post("/api/interpreter", "Content-Type: text/plain\r\n", query.as_bytes())
}

/// A way in.
pub struct Door<'a> {
    pub name: &'a str,
    pub snapshot: &'a Path,
    /// Of the server.
    pub options: &'a [&'a str],
    /// What the attackers send in turn.
    pub requests: Vec<Vec<u8>>,
    /// How one client sends the bodies of many connections.
    pub slow: Option<Slow>,
}

/// How a body is sent that never ends.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Slow {
    /// Its first byte.
    Half,
    /// A byte each half second.
    Trickle,
}

/// Attacks a server, and checks its memory and how long small queries of others take.
pub fn door(scale: &FloodScale, Door { name, snapshot, options, requests, slow }: &Door<'_>) {
    let mut command = TestServer::command(snapshot);
    command.args(["--memory", "1GiB"]).args(*options).stderr(Stdio::null());
    let mut server = TestServer::launch(command);
    let (process, to) = (server.child.id(), server.address);
    assert_eq!(server.query("node(1);out;").status, 200);
    let over = AtomicBool::new(false);
    let (kept, anew, attack) = (Tally::default(), Tally::default(), Tally::default());
    let counts: Arc<Halves> = Arc::default();
    let node = attacks::post("/api/interpreter", "Content-Type: text/plain\r\n", b"node(1);out;");
    // A client with small queries that keeps its connection, or connects for each query.
    let small = |address: u8, keeps: bool, tally: &Tally| {
        let client = || FloodClient::new(Ipv4Addr::new(127, 0, 3, address), to, &over);
        let mut kept = client();
        while !over.load(Ordering::Relaxed) {
            let start = Instant::now();
            let answered =
                if keeps { kept.send(&node, ReadPace::Whole) } else { client().send(&node, ReadPace::Whole) };
            if !over.load(Ordering::Relaxed) {
                tally.add(answered, start.elapsed());
            }
            std::thread::sleep(Duration::from_millis(20).saturating_sub(start.elapsed()));
        }
    };
    let held = std::thread::scope(|threads| {
        let (small, over, kept, anew, attack) = (&small, &over, &kept, &anew, &attack);
        for number in (1..=CLIENTS).filter(|_| !requests.is_empty()) {
            // Each goes through its own part of them.
            let own = requests.iter().cycle().skip(usize::from(number)).step_by(usize::from(CLIENTS));
            threads.spawn(move || {
                let mut client = FloodClient::new(Ipv4Addr::new(127, 0, 2, number), to, over);
                for request in own {
                    if client.is_over() {
                        break;
                    }
                    let start = Instant::now();
                    let answered = client.send(request, ReadPace::Whole);
                    if !client.is_over() {
                        attack.add(answered, start.elapsed());
                    }
                }
            });
        }
        if let Some(slow) = *slow {
            let counts = &counts;
            threads.spawn(move || slow_bodies(to, slow, over, counts));
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
    if slow.is_some() {
        let [made, closed] = [&counts.connected, &counts.closed].map(|count| count.load(Ordering::Relaxed));
        let _ = writeln!(text, "  {made} connections with a part of a body, {closed} closed");
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

/// One client with many connections, each with a complete head and a part of its body, half of them waiting to be told
/// to go on; a connection that is closed is made anew.
fn slow_bodies(to: SocketAddr, slow: Slow, over: &AtomicBool, halves: &Arc<Halves>) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    let tasks = tokio::task::LocalSet::new();
    for number in 0..HALVES {
        let halves = Arc::clone(halves);
        tasks.spawn_local(async move {
            loop {
                let _ = slow_body(to, slow, number, &halves.connected).await;
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

/// Returns when the server closes it.
async fn slow_body(to: SocketAddr, slow: Slow, number: u64, connected: &AtomicU64) -> std::io::Result<()> {
    let socket = TcpSocket::new_v4()?;
    socket.bind((Ipv4Addr::new(127, 0, 4, 1), 0).into())?;
    let mut stream = socket.connect(to).await?;
    let expect = if number.is_multiple_of(2) { "Expect: 100-continue\r\n" } else { "" };
    let head = "POST /api/interpreter HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2000000\r\n";
    stream.write_all(format!("{head}{expect}\r\nn").as_bytes()).await?;
    connected.fetch_add(1, Ordering::Relaxed);
    let (mut reader, mut writer) = stream.split();
    let trickle = async {
        while slow == Slow::Trickle && writer.write_all(b"n").await.is_ok() {
            tokio::time::sleep(Duration::from_millis(500)).await;
        }
        std::future::pending().await
    };
    let end = async {
        let mut answer = [0; 512];
        while reader.read(&mut answer).await? > 0 {}
        Ok(())
    };
    tokio::select! {
        ended = end => ended,
        () = trickle => Ok(()),
    }
}
