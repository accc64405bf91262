//! What a crowd does to a server: clients with short queries beside clients with long ones, some of whom leave in the
//! middle, read slowly or send rubbish; all attacks at once on a server as confined as the container that is shipped; and
//! each way in alone, with nothing but the defaults: messages of agents, half and trickled bodies, trees of JSON, dates, a
//! hostile model; and a server that is killed and restarted at random while clients read, some of whom are killed, too.
//!
//! By default each for ten seconds over a small extract. With TERRAPIN_FLOOD_SECONDS, as `make flood` sets it, so long
//! (the siege half as long) over the largest data at hand; then, in the release profile, latencies are held against
//! their bounds, too. All need the shared data.

#[path = "../common/mod.rs"]
mod common;

mod cage;
mod client;
mod crowd;
mod doors;
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

/// How large and how long it is.
struct Scale {
    osm: &'static str,
    triples: &'static [&'static str],
    /// Of the crowd.
    time: Duration,
    /// Whether latencies are held against their bounds.
    timed: bool,
}

impl Scale {
    fn get() -> Scale {
        match std::env::var("TERRAPIN_FLOOD_SECONDS") {
            Err(_) => Scale {
                osm: "malta-2016",
                triples: &["subset-br-municipalities"],
                time: Duration::from_secs(10),
                timed: false,
            },
            Ok(seconds) => Scale {
                osm: "patchwork-world",
                triples: &["subset-br-municipalities", "subset-full-entities", "subset-kgtk-arnold", "subset-wd50k"],
                time: Duration::from_secs(seconds.parse().expect("TERRAPIN_FLOOD_SECONDS: a number of seconds")),
                timed: !cfg!(debug_assertions),
            },
        }
    }

    /// Loads the snapshot into a folder; nothing where the data is not at hand.
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

/// Says what came of it: at once, and past the capture of output.
fn report(text: &str) {
    let _ = std::io::stderr().write_all(text.as_bytes());
}

/// One after another, whatever the harness does: each has the machine for itself.
static MACHINE: Mutex<()> = Mutex::new(());

#[test]
fn short_queries_are_quick_beside_long_ones_and_nothing_is_left_of_a_crowd() {
    let _machine = MACHINE.lock().unwrap_or_else(PoisonError::into_inner);
    let (scale, folder) = (Scale::get(), tempfile::tempdir().expect("a folder"));
    let Some(snapshot) = scale.snapshot(folder.path()) else { return };
    crowd::stand(&snapshot, &scale);
}

#[test]
fn a_container_holds_under_all_attacks_at_once() {
    let _machine = MACHINE.lock().unwrap_or_else(PoisonError::into_inner);
    let (mut scale, folder) = (Scale::get(), tempfile::tempdir().expect("a folder"));
    let Some(snapshot) = scale.snapshot(folder.path()) else { return };
    if std::env::var_os("TERRAPIN_FLOOD_SECONDS").is_some() {
        scale.time /= 2;
    }
    siege::stand(&snapshot, &scale);
}

#[test]
fn each_way_in_holds_alone_by_the_defaults() {
    let _machine = MACHINE.lock().unwrap_or_else(PoisonError::into_inner);
    let (mut scale, folder) = (Scale::get(), tempfile::tempdir().expect("a folder"));
    let Some(snapshot) = scale.snapshot(folder.path()) else { return };
    if std::env::var_os("TERRAPIN_FLOOD_SECONDS").is_some() {
        scale.time /= 10;
    }
    doors::stand(&snapshot, &scale);
}

#[test]
fn no_answer_is_short_where_servers_and_clients_are_killed() {
    let _machine = MACHINE.lock().unwrap_or_else(PoisonError::into_inner);
    let (scale, folder) = (Scale::get(), tempfile::tempdir().expect("a folder"));
    let Some(snapshot) = scale.snapshot(folder.path()) else { return };
    restarts::stand(&snapshot, &scale);
}
