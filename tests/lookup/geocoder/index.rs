//! Tests the index of names: determinism, damage, and the names of a benchmark.

use serde_json::Value;

use super::{GeocoderServer, island};
use crate::common::server::TestServer;
use crate::common::{place, skip, terrapin};

/// The index does not depend on threads or memory, and damage to it is detected.
#[test]
fn the_index_is_the_same_everywhere_and_checked() {
    let folder = tempfile::tempdir().unwrap();
    let (island, _) = island();
    let first = island.load(folder.path());
    let second = folder.path().join("second.terrapin");
    let mut again = terrapin();
    again.env("RAYON_NUM_THREADS", "1").arg("load").args(["--memory", "16MiB"]);
    again.arg("--osm").arg(folder.path().join("island.osm")).arg("--out").arg(&second).assert().success();
    let bytes = std::fs::read(&first).unwrap();
    assert!(bytes == std::fs::read(&second).unwrap());

    let snapshot = terrapin::snapshot::Snapshot::open(&first).unwrap();
    for section in ["names", "names.lists", "names.words"] {
        let place = snapshot.place(section).unwrap();
        let path = folder.path().join(format!("{section}.damaged"));
        let mut damaged = bytes.clone();
        damaged[place.start + place.len() / 3] ^= 0x55;
        std::fs::write(&path, damaged).unwrap();
        let server = TestServer::of(&path, &[]);
        // Queries that do not need the index are answered; others fail.
        assert_eq!(server.query("[out:json];node(1);out ids;").status, 200);
        assert_eq!(server.get("/search?q=olive+bar").status, 500, "{section}");
    }
}

/// Names of areas in the benchmark's queries lead to the elements that its geocoder found, if the extract has these as
/// administrative areas.
#[test]
fn names_of_a_benchmark_lead_where_its_geocoder_found_them() {
    let data = place::shared().join("data");
    let cache = data.join("overpassnl/nominatim_cache.json");
    if !cache.exists() {
        skip::skipped(skip::Need::Shared, format_args!("{} is not there (set TERRAPIN_SHARED)", cache.display()));
        return;
    }
    let cache: Value = serde_json::from_slice(&std::fs::read(cache).unwrap()).unwrap();
    let (mut all, mut wrong) = (0, Vec::new());
    let small: &[&str] = if skip::all() { &["malta-2024", "malta-2016", "monaco", "niue"] } else { &[] };
    for extract in ["patchwork-world"].iter().chain(small) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("extract.terrapin");
        let source = data.join(format!("osm/{extract}.osm.pbf"));
        terrapin().arg("load").arg("--osm").arg(source).arg("--out").arg(&path).assert().success();
        let asked = GeocoderServer { server: TestServer::of(&path, &[]), _folder: folder };
        for (name, found) in cache.as_object().unwrap() {
            let (Some("relation"), Some(id)) = (found["osm_type"].as_str(), found["osm_id"].as_i64()) else { continue };
            let known = asked.json(&format!("/lookup?osm_ids=R{id}"));
            if known[0]["category"] == "boundary" && known[0]["type"] == "administrative" {
                all += 1;
                if asked.ids(name, "&limit=1") != [id] {
                    wrong.push(format!("{extract}: {name}: {id}"));
                }
            }
        }
    }
    println!("{} of {all} names lead to the same element; not {wrong:?}", all - wrong.len());
    assert!(all >= 3 && wrong.len() * 100 <= all * 2, "{} of {all}: {wrong:#?}", wrong.len());
}
