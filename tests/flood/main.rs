//! Load tests of a server. The first has clients with short queries next to clients with long ones; some of them leave
//! early, read slowly or send invalid requests. The second runs all attacks at once on a server with the limits of the
//! shipped container. The third attacks each service separately with default settings: messages of agents, half bodies,
//! JSON trees. The fourth attacks the questions in plain language with a hostile model.
//!
//! By default each test takes ten seconds over a small extract. TERRAPIN_FLOOD_SECONDS, as set by `make flood`, sets
//! the duration (half of it for the siege) and selects the largest data available; in the release profile latencies are
//! then also checked against limits. All tests need the shared data.

#[path = "../common/mod.rs"]
mod common;

mod cage;
mod client;
mod crowd;
mod doors;
mod hostile;
mod restarts;
mod siege;
mod tally;
mod watch;

use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use common::skip;
use common::terrapin;

/// The data and the duration of a test.
struct FloodScale {
    osm: &'static str,
    triples: &'static [&'static str],
    /// Duration of the crowd.
    time: Duration,
    /// Whether to check latencies against limits.
    timed: bool,
}

impl FloodScale {
    fn get() -> FloodScale {
        match std::env::var("TERRAPIN_FLOOD_SECONDS") {
            Err(_) => FloodScale {
                osm: "malta-2016",
                triples: &["subset-br-municipalities"],
                time: Duration::from_secs(10),
                timed: false,
            },
            Ok(seconds) => FloodScale {
                osm: "patchwork-world",
                triples: &["subset-br-municipalities", "subset-full-entities", "subset-kgtk-arnold", "subset-wd50k"],
                time: Duration::from_secs(seconds.parse().expect("TERRAPIN_FLOOD_SECONDS: a number of seconds")),
                timed: !cfg!(debug_assertions),
            },
        }
    }

    /// Loads the snapshot into a folder. Returns `None` if the data is not available.
    fn snapshot(&self, folder: &Path) -> Option<PathBuf> {
        let shared = std::env::var_os("TERRAPIN_SHARED").map_or_else(|| PathBuf::from("../shared"), PathBuf::from);
        let snapshot = folder.join("a.terrapin");
        let mut command = terrapin();
        command.arg("load").arg("--out").arg(&snapshot);
        let triples = self.triples.iter().map(|name| ("--rdf", format!("data/wikidata/{name}.nt.gz")));
        for (option, file) in triples.chain([("--osm", format!("data/osm/{}.osm.pbf", self.osm))]) {
            let file = shared.join(file);
            if !file.exists() {
                skip::skipped(
                    skip::Need::Shared,
                    format_args!("{} is not there (set TERRAPIN_SHARED)", file.display()),
                );
                return None;
            }
            command.arg(option).arg(file);
        }
        command.assert().success();
        Some(snapshot)
    }
}

/// Prints a result immediately, bypassing the capture of output.
fn report(text: &str) {
    let _ = std::io::stderr().write_all(text.as_bytes());
}

/// Serializes the tests, so that each has the machine for itself.
static MACHINE: Mutex<()> = Mutex::new(());

#[test]
fn short_queries_are_quick_beside_long_ones_and_nothing_is_left_of_a_crowd() {
    let _machine = MACHINE.lock().unwrap_or_else(PoisonError::into_inner);
    let (scale, folder) = (FloodScale::get(), tempfile::tempdir().expect("a folder"));
    let Some(snapshot) = scale.snapshot(folder.path()) else { return };
    crowd::stand(&snapshot, &scale);
}

#[test]
fn a_container_holds_under_all_attacks_at_once() {
    let _machine = MACHINE.lock().unwrap_or_else(PoisonError::into_inner);
    let (mut scale, folder) = (FloodScale::get(), tempfile::tempdir().expect("a folder"));
    let Some(snapshot) = scale.snapshot(folder.path()) else { return };
    if std::env::var_os("TERRAPIN_FLOOD_SECONDS").is_some() {
        scale.time /= 2;
    }
    siege::stand(&snapshot, &scale);
}

#[test]
fn each_way_in_holds_alone_by_the_defaults() {
    let _machine = MACHINE.lock().unwrap_or_else(PoisonError::into_inner);
    let (mut scale, folder) = (FloodScale::get(), tempfile::tempdir().expect("a folder"));
    let Some(snapshot) = scale.snapshot(folder.path()) else { return };
    if std::env::var_os("TERRAPIN_FLOOD_SECONDS").is_some() {
        scale.time /= 10;
    }
    doors::stand(&snapshot, &scale);
}

#[test]
fn a_hostile_model_delays_no_other_client() {
    let _machine = MACHINE.lock().unwrap_or_else(PoisonError::into_inner);
    let (mut scale, folder) = (FloodScale::get(), tempfile::tempdir().expect("a folder"));
    let Some(snapshot) = scale.snapshot(folder.path()) else { return };
    // At least a minute in a long run: the slowest replies take seconds.
    if std::env::var_os("TERRAPIN_FLOOD_SECONDS").is_some() {
        scale.time = (scale.time / 10).max(Duration::from_secs(60));
    }
    hostile::stand(&snapshot, &scale);
}

#[test]
fn no_answer_is_short_where_servers_and_clients_are_killed() {
    let _machine = MACHINE.lock().unwrap_or_else(PoisonError::into_inner);
    let (scale, folder) = (FloodScale::get(), tempfile::tempdir().expect("a folder"));
    let Some(snapshot) = scale.snapshot(folder.path()) else { return };
    restarts::stand(&snapshot, &scale);
}
