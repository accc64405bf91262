//! Runs all attacks at once on a server with the limits of the shipped container.

use std::fmt::Write;
use std::net::Ipv4Addr;
use std::path::Path;
use std::process::Stdio;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use super::FloodScale;
use super::cage::Cage;
use super::client::{FloodClient, ReadPace};
use super::common::attacks;
use super::common::server::TestServer;
use super::tally::Tally;
use super::watch::watch;
use crate::common::place;

/// Returns the settings of `docker/compose.yaml`: environment variables and the memory limit in bytes.
fn shipped() -> (Vec<(String, String)>, u64) {
    let path = place::root().join("docker/compose.yaml");
    let text = std::fs::read_to_string(path).expect("docker/compose.yaml");
    let pairs = || text.lines().filter_map(|line| line.trim().split_once(": "));
    let variables = pairs().filter(|(name, _)| name.starts_with("TERRAPIN_"));
    let variables = variables.map(|(name, value)| (name.to_owned(), value.trim_matches('"').to_owned())).collect();
    let limit = pairs().find(|(name, _)| *name == "mem_limit").and_then(|(_, value)| value.strip_suffix('g'));
    let gib: u64 = limit.and_then(|gib| gib.parse().ok()).expect("mem_limit: in whole GiB");
    (variables, gib << 30)
}

pub fn stand(snapshot: &Path, scale: &FloodScale) {
    let (variables, limit) = shipped();
    assert!(!variables.is_empty(), "docker/compose.yaml has no settings");
    let cage = Cage::new(limit);
    let mut command = cage.around(&TestServer::command(snapshot));
    command.envs(variables.iter().cloned()).stderr(Stdio::null());
    let mut server = TestServer::launch(command);
    let (process, to) = (server.child.id(), server.address);
    let query = |path: &'static str, content_type: &'static str| {
        move |(name, text): (&'static str, String)| {
            (name, attacks::post(path, &format!("Content-Type: {content_type}\r\n"), text.as_bytes()))
        }
    };
    let overpass = attacks::overpass().into_iter().map(query("/api/interpreter", "text/plain"));
    let sparql = attacks::sparql().into_iter().map(query("/sparql", "application/sparql-query"));
    let attacks: Vec<_> = overpass.chain(sparql).chain(attacks::mcp()).chain(attacks::json()).collect();
    let over = AtomicBool::new(false);
    let (node, health, readiness) = (Tally::default(), Tally::default(), Tally::default());
    let tallies: Vec<Tally> = attacks.iter().map(|_| Tally::default()).collect();
    // Sends the same request repeatedly, with a pause of `every` between requests.
    let steady = |address: u8, path: &str, body: &str, every: Duration, tally: &Tally| {
        let mut client = FloodClient::new(Ipv4Addr::new(127, 0, 3, address), to, &over);
        while !client.is_over() {
            let start = Instant::now();
            let method = if body.is_empty() { "GET" } else { "POST" };
            let answered = client.ask(method, path, "text/plain", body, ReadPace::Whole);
            if !client.is_over() {
                tally.add(answered, start.elapsed());
            }
            std::thread::sleep(every.saturating_sub(start.elapsed()));
        }
    };
    let held = std::thread::scope(|threads| {
        for (number, ((_, request), tally)) in attacks.iter().zip(&tallies).enumerate() {
            let (over, number) = (&over, u8::try_from(number + 1).expect("few attacks"));
            threads.spawn(move || {
                let mut client = FloodClient::new(Ipv4Addr::new(127, 0, 2, number), to, over);
                while !client.is_over() {
                    let start = Instant::now();
                    let answered = client.send(request, ReadPace::Whole);
                    if !client.is_over() {
                        tally.add(answered, start.elapsed());
                    }
                }
            });
        }
        let steady = &steady;
        let node = &node;
        let (health, readiness) = (&health, &readiness);
        threads.spawn(move || steady(1, "/api/interpreter", "node(1);out;", Duration::from_millis(20), node));
        threads.spawn(move || steady(2, "/healthz", "", Duration::from_millis(100), health));
        threads.spawn(move || steady(3, "/readyz", "", Duration::from_millis(100), readiness));
        let held = watch(process, scale.time);
        over.store(true, Ordering::Relaxed);
        held
    });

    let most = held.iter().map(|held| held.memory).max().unwrap_or_default();
    let kind = cage.kind();
    let mut text =
        format!("\n{} attacks at once, {} s, {} GiB: {kind}\n", attacks.len(), scale.time.as_secs(), limit >> 30);
    for (name, tally) in [("node(1)", &node), ("/healthz", &health), ("/readyz", &readiness)] {
        let _ = writeln!(text, "  {name:<24} {tally}");
    }
    for ((name, _), tally) in attacks.iter().zip(&tallies) {
        let _ = writeln!(text, "  {name:<24} {tally}");
    }
    for held in held.iter().step_by(20) {
        let _ = writeln!(text, "  {held}");
    }
    let _ = writeln!(text, "  at most {} MiB; killed: {:?}", most >> 20, cage.kills());
    super::report(&text);

    assert!(server.child.try_wait().expect("a process").is_none(), "the server is gone");
    assert_eq!(cage.kills().unwrap_or_default(), 0, "the limit of memory was reached");
    assert!(most < limit, "{} MiB", most >> 20);
    assert_eq!(health.besides(&["200"]), [""; 0], "/healthz");
    assert_eq!(readiness.besides(&["200"]), [""; 0], "/readyz");
    for ((name, _), tally) in attacks.iter().zip(&tallies) {
        let expected = ["200", "200 broken off", "400", "404", "413", "415", "429", "500", "503", "504"];
        assert_eq!(tally.besides(&expected), [""; 0], "{name}");
    }
    let late: &[&str] = if scale.timed { &["200"] } else { &["200", "429", "504"] };
    assert_eq!(node.besides(late), [""; 0], "node(1)");
    if scale.timed {
        assert!(node.at(990) <= Duration::from_millis(100), "node(1) is late");
    }
    drop(server);
    drop(cage);
}
