//! Tests `terrapin extract`: it takes the same elements as osmium with the strategy of the same name, or those that a
//! query prints.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::common::{Town, place, skip, terrapin};
use crate::snapshot::export::{has_osmium, load};
use serde_json::Value;

/// Extracts, each with a box that cuts through ways and relations.
const BOXES: [(&str, &str); 3] = [
    ("monaco", "7.41,43.72,7.43,43.74"),
    ("malta-2016", "14.45,35.88,14.52,35.92"),
    ("malta-2024", "14.2,36.02,14.3,36.07"),
];

fn source(name: &str) -> Option<PathBuf> {
    let path = place::shared().join(format!("data/osm/{name}.osm.pbf"));
    if !path.exists() {
        skip::skipped(skip::Need::Shared, format_args!("no {}", path.display()));
        return None;
    }
    Some(path)
}

fn extract(folder: &Path, arguments: &[&str], out: &str) -> Value {
    let done =
        terrapin().current_dir(folder).args(["extract", "--json", "--out", out]).args(arguments).assert().success();
    serde_json::from_slice(&done.get_output().stdout).unwrap()
}

fn osmium(folder: &Path, arguments: &[&str]) -> String {
    let done = Command::new("osmium").current_dir(folder).args(arguments).output().unwrap();
    assert!(done.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&done.stderr));
    String::from_utf8(done.stdout).unwrap()
}

/// Returns types and ids of a file's elements in osmium's notation, such as `n1`.
fn ids(folder: &Path, file: &str) -> BTreeSet<String> {
    let lines = osmium(folder, &["cat", "--no-progress", "-f", "opl,add_metadata=false", file]);
    lines.lines().map(|line| line.split(' ').next().unwrap_or_default().to_owned()).collect()
}

/// Returns an irregular polygon over most of a box, with a hole.
fn polygon(area: &str) -> [String; 2] {
    let sides: Vec<f64> = area.split(',').map(|side| side.parse().unwrap()).collect();
    let at = |x: f64, y: f64| (sides[0] + x * (sides[2] - sides[0]), sides[1] + y * (sides[3] - sides[1]));
    let outer = [at(0.1, 0.05), at(0.93, 0.17), at(0.71, 0.52), at(0.88, 0.97), at(0.33, 0.81), at(0.02, 0.9)];
    let hole = [at(0.3, 0.3), at(0.57, 0.31), at(0.51, 0.62)];
    let lines = |ring: &[(f64, f64)]| -> String {
        ring.iter().chain(&ring[..1]).map(|(lon, lat)| format!("  {lon:.9} {lat:.9}\n")).collect()
    };
    let poly = format!("town\n1\n{}END\n!2\n{}END\nEND\n", lines(&outer), lines(&hole));
    let positions = |ring: &[(f64, f64)]| -> String {
        let all: Vec<String> = ring.iter().chain(&ring[..1]).map(|(lon, lat)| format!("[{lon:.9},{lat:.9}]")).collect();
        format!("[{}]", all.join(","))
    };
    let (outer, hole) = (positions(&outer), positions(&hole));
    let geojson = format!(
        r#"{{"type":"Feature","properties":{{}},"geometry":{{"type":"Polygon","coordinates":[{outer},{hole}]}}}}"#
    );
    [poly, geojson]
}

#[test]
fn strategies_take_what_osmium_takes() {
    if !has_osmium() {
        return;
    }
    for (name, area) in BOXES {
        let Some(source) = source(name) else { return };
        let (folder, source) = (tempfile::tempdir().unwrap(), source.to_str().unwrap().to_owned());
        let whole = load(["--osm", &source], folder.path(), "a.terrapin");
        let [poly, geojson] = polygon(area);
        std::fs::write(folder.path().join("a.poly"), poly).unwrap();
        std::fs::write(folder.path().join("a.geojson"), geojson).unwrap();
        let regions = [
            ("--bbox", area, "-b", area),
            ("--poly", "a.poly", "-p", "a.poly"),
            ("--poly", "a.geojson", "-p", "a.geojson"),
        ];
        for (ours, region, theirs, same) in regions {
            for strategy in ["complete_ways", "smart"] {
                let made = extract(folder.path(), &["a.terrapin", ours, region, "--strategy", strategy], "b.terrapin");
                let arguments = [
                    "extract",
                    "--no-progress",
                    "--overwrite",
                    "-o",
                    "b.osm.pbf",
                    theirs,
                    same,
                    "-s",
                    strategy,
                    &source,
                ];
                osmium(folder.path(), &arguments);
                let expected = load(["--osm", "b.osm.pbf"], folder.path(), "c.terrapin");
                assert_eq!(made["counts"]["ways"], expected["counts"]["ways"], "{name} {region} {strategy}");
                assert_eq!(made["content"], expected["content"], "{name} {region} {strategy}");
                // The manifest records the provenance.
                assert_eq!(made["replication_timestamp"], whole["replication_timestamp"]);
                let remark = made["remarks"][0].as_str().unwrap();
                assert!(remark.contains(whole["digest"].as_str().unwrap()), "{remark}");
                assert!(remark.ends_with(&format!("strategy {}", strategy.replace('_', "-"))), "{remark}");
            }
        }
    }
}

/// The simple strategy here follows osmium's manual: ways with any node in the region, and relations with
/// any member. Osmium before version 1.19 checked only the first node and the first member, so its result may be
/// smaller.
#[test]
fn the_simple_strategy_is_what_the_manual_says() {
    if !has_osmium() {
        return;
    }
    let Some(source) = source("monaco") else { return };
    let (folder, source, area) = (tempfile::tempdir().unwrap(), source.to_str().unwrap().to_owned(), BOXES[0].1);
    load(["--osm", &source], folder.path(), "a.terrapin");
    extract(folder.path(), &["a.terrapin", "--bbox", area, "--strategy", "simple"], "b.terrapin");
    terrapin().current_dir(folder.path()).args(["export", "b.terrapin", "--osm-pbf", "b.osm.pbf"]).assert().success();
    osmium(folder.path(), &["extract", "--no-progress", "-o", "c.osm.pbf", "-b", area, "-s", "simple", &source]);
    let (ours, theirs) = (ids(folder.path(), "b.osm.pbf"), ids(folder.path(), "c.osm.pbf"));
    assert!(theirs.is_subset(&ours));
    let of = |ids: &BTreeSet<String>, kind: char| ids.iter().filter(|id| id.starts_with(kind)).cloned().collect();
    let (nodes, expected): (BTreeSet<String>, BTreeSet<String>) = (of(&ours, 'n'), of(&theirs, 'n'));
    assert_eq!(nodes, expected);
    // Derive the expected elements from the source.
    let mut taken = nodes;
    for (kind, part) in [("way", 'N'), ("relation", 'M')] {
        let lines =
            osmium(folder.path(), &["cat", "--no-progress", "-t", kind, "-f", "opl,add_metadata=false", &source]);
        let mut found = BTreeSet::new();
        for line in lines.lines() {
            let parts = line.split(' ').find_map(|field| field.strip_prefix(part)).unwrap_or_default();
            let mut parts = parts.split(',').map(|part| part.split('@').next().unwrap_or_default());
            if parts.any(|part| taken.contains(part)) {
                found.insert(line.split(' ').next().unwrap().to_owned());
            }
        }
        taken.extend(found);
    }
    assert_eq!(ours.len(), taken.len());
    assert_eq!(ours, taken);
}

#[test]
fn a_query_says_what_is_taken() {
    let town = Town::with_triples();
    let folder = town.snapshot().parent().unwrap().to_owned();
    let counts = |made: &Value| ["nodes", "ways", "relations"].map(|kind| made["counts"][kind].as_u64().unwrap());
    let take = |query: &str, strategy| {
        extract(&folder, &["town.terrapin", "--overpass", query, "--strategy", strategy], "a.terrapin")
    };
    let query = "[out:json]; rel[name=Ladle]; out; node[amenity=cafe](10,20,10.01,20.01); out ids;";
    assert_eq!(counts(&take(query, "simple")), [3, 0, 1]);
    assert_eq!(counts(&take(query, "complete-ways")), [3, 0, 1]);
    let smart = take(query, "smart");
    assert_eq!(counts(&smart), [7, 1, 1]);
    assert_eq!(smart["counts"]["areas"], 1);
    assert_eq!(counts(&take("way[highway]; out;", "complete-ways")), [2, 1, 0]);
    assert!(smart["remarks"][0].as_str().unwrap().ends_with(&format!("query {query}, strategy smart")));
    assert!(smart["remarks"][1].as_str().unwrap().contains("triples"));
    std::fs::write(folder.join("cafes.overpassql"), "node[amenity=cafe]; out;").unwrap();
    assert_eq!(counts(&take("cafes.overpassql", "simple")), [4, 0, 0]);
    // The same region gives the same bytes, independent of threads and memory.
    let again = ["town.terrapin", "--overpass", query, "--strategy", "smart", "--threads", "1", "--memory", "16MiB"];
    assert_eq!(extract(&folder, &again, "b.terrapin")["digest"], smart["digest"]);
}

#[test]
fn what_cannot_be_taken_is_said() {
    let town = Town::new();
    let folder = town.snapshot().parent().unwrap().to_owned();
    std::fs::write(folder.join("bad.poly"), "a\n1\n 1 1\nEND\nEND\n").unwrap();
    let fails = |arguments: &[&str], code: i32, expected: &str| {
        let arguments = ["extract", "town.terrapin", "--out", "a.terrapin"].iter().chain(arguments);
        let failed = terrapin().current_dir(&folder).args(arguments.clone()).assert().code(code);
        let said = String::from_utf8_lossy(&failed.get_output().stderr).into_owned();
        assert!(said.contains(expected), "{:?}: {said}", arguments.collect::<Vec<_>>());
        assert!(!folder.join("a.terrapin").exists());
    };
    fails(&[], 2, "--bbox");
    fails(&["--bbox", "1,2,3"], 2, "west,south,east,north");
    fails(&["--bbox", "20,10,20.1,95"], 2, "latitudes are from -90 to 90");
    fails(&["--bbox", "50,50,51,51"], 3, "the snapshot has no elements in the requested part: bbox 50,50,51,51");
    fails(&["--poly", "none.poly"], 3, "none.poly");
    fails(&["--poly", "bad.poly"], 3, "line 4: a ring of fewer than three positions");
    fails(&["--overpass", "node(1;out;"], 1, "parse error");
    fails(&["--overpass", "node(1);out count;"], 1, "an extract takes nodes, ways and relations");
    fails(&["--overpass", "area[name=Ladle];out;"], 1, "an extract takes nodes, ways and relations");
    fails(&["--overpass", "node(999);out;"], 3, "the snapshot has no elements in the requested part");
    fails(&["--bbox", "20,10,21,11", "--strategy", "all"], 2, "complete-ways");
    let own = ["extract", "town.terrapin", "--bbox", "20,10,21,11", "--out", "town.terrapin"];
    terrapin().current_dir(&folder).args(own).assert().code(2);
}
