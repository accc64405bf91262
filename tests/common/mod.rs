//! A small made-up town, and the program to run over it.

#![allow(dead_code, reason = "each test uses some of it")]

use std::path::{Path, PathBuf};

use assert_cmd::Command;

pub mod attacks;
pub mod elements;
pub mod model;
pub mod place;
pub mod server;
pub mod skip;
pub mod triples;
pub mod vectors;
pub mod wikidata;

/// Sends a signal such as `-TERM` to a process; returns whether the process exists. Uses the shell's built-in `kill`,
/// because a minimal system has no program of that name.
pub fn signal(name: &str, process: u32) -> bool {
    let mut shell = std::process::Command::new("sh");
    let told = shell.args(["-c", "kill \"$0\" \"$1\" 2>/dev/null", name, &process.to_string()]).status();
    told.expect("a shell").success()
}

/// Three cafes in the area Ladle and one outside, a closed way, a street, and a relation with a missing member.
pub const TOWN: &str = r#"<?xml version="1.0" encoding="UTF-8"?>
<osm version="0.6" generator="hand">
  <node id="1" lat="10.0010" lon="20.0010" version="1" timestamp="2020-01-01T00:00:00Z" changeset="11" uid="7" user="ann"><tag k="amenity" v="cafe"/><tag k="name" v="Bean &amp; Leaf"/></node>
  <node id="2" lat="10.0020" lon="20.0020" version="2" timestamp="2020-01-02T00:00:00Z" changeset="12" uid="8" user="bob"><tag k="amenity" v="cafe"/><tag k="name" v="Zur Mühle"/></node>
  <node id="3" lat="10.0030" lon="20.0030" version="1" timestamp="2020-01-03T00:00:00Z" changeset="13" uid="7" user="ann"><tag k="amenity" v="cafe"/></node>
  <node id="4" lat="10.0500" lon="20.0500" version="1" timestamp="2020-01-04T00:00:00Z" changeset="14" uid="7" user="ann"><tag k="amenity" v="cafe"/></node>
  <node id="11" lat="10.0000" lon="20.0000" version="1" timestamp="2020-01-01T00:00:00Z" changeset="11" uid="7" user="ann"/>
  <node id="12" lat="10.0000" lon="20.0100" version="1" timestamp="2020-01-01T00:00:00Z" changeset="11" uid="7" user="ann"/>
  <node id="13" lat="10.0100" lon="20.0100" version="1" timestamp="2020-01-01T00:00:00Z" changeset="11" uid="7" user="ann"/>
  <node id="14" lat="10.0100" lon="20.0000" version="1" timestamp="2020-01-01T00:00:00Z" changeset="11" uid="7" user="ann"/>
  <way id="21" version="1" timestamp="2020-01-05T00:00:00Z" changeset="15" uid="7" user="ann"><nd ref="11"/><nd ref="12"/><nd ref="13"/><nd ref="14"/><nd ref="11"/></way>
  <way id="22" version="3" timestamp="2020-01-06T12:00:00Z" changeset="16" uid="8" user="bob"><nd ref="11"/><nd ref="13"/><tag k="highway" v="residential"/><tag k="name" v="Ladle Street"/></way>
  <relation id="31" version="1" timestamp="2020-01-05T00:00:00Z" changeset="15" uid="7" user="ann"><member type="way" ref="21" role="outer"/><tag k="type" v="multipolygon"/><tag k="name" v="Ladle"/><tag k="admin_level" v="8"/></relation>
  <relation id="32" version="1" timestamp="2020-01-05T00:00:00Z" changeset="15" uid="7" user="ann"><member type="way" ref="22" role=""/><member type="way" ref="99" role=""/><tag k="type" v="route"/></relation>
</osm>
"#;

/// Triples about the town in the form of Wikidata.
pub const TRIPLES: &str = "\
<http://www.wikidata.org/entity/Q1> <http://www.wikidata.org/prop/direct/P31> <http://www.wikidata.org/entity/Q3957> .
<http://www.wikidata.org/entity/Q1> <http://www.w3.org/2000/01/rdf-schema#label> \"Ladle\"@en .
<http://www.wikidata.org/entity/Q1> <http://www.wikidata.org/prop/direct/P1082> \"+1200\"^^<http://www.w3.org/2001/XMLSchema#decimal> .
<http://www.wikidata.org/entity/Q2> <http://www.wikidata.org/prop/direct/P131> <http://www.wikidata.org/entity/Q1> .
";

/// A temporary folder for one test, with the town loaded into `town.terrapin`.
pub struct Town {
    folder: tempfile::TempDir,
}

impl Town {
    /// Loads the town's elements.
    pub fn new() -> Self {
        Town::load(&[])
    }

    /// Loads the town's elements and [`TRIPLES`].
    pub fn with_triples() -> Self {
        Town::load(&["--rdf", "town.nt"])
    }

    /// Loads the town's elements and some N-Quads.
    pub fn with_quads(quads: &str) -> Self {
        Town::load_with(quads, &["--rdf", "town.nt"])
    }

    fn load(more: &[&str]) -> Self {
        Town::load_with(TRIPLES, more)
    }

    fn load_with(triples: &str, more: &[&str]) -> Self {
        let town = Town { folder: tempfile::tempdir().unwrap() };
        std::fs::write(town.path("town.osm"), TOWN).unwrap();
        if more.contains(&"town.nt") {
            std::fs::write(town.path("town.nt"), triples).unwrap();
        }
        let args = ["load", "--osm", "town.osm", "--out", "town.terrapin"];
        terrapin().current_dir(town.folder.path()).args(args).args(more).assert().success();
        town
    }

    /// Returns the path of a file in the folder.
    pub fn path(&self, name: impl AsRef<Path>) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Returns the path of the snapshot.
    pub fn snapshot(&self) -> PathBuf {
        self.path("town.terrapin")
    }
}

/// Returns a command that runs the program.
pub fn terrapin() -> Command {
    let mut command = Command::cargo_bin("terrapin").unwrap();
    command.env_remove("RUST_LOG");
    command
}
