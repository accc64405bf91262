//! Tests vector tiles with the requests of a map. The content of tiles is tested with the code, and with another
//! decoder in `tests/tiles/`.

use std::fmt::Write;
use std::io::Read;
use std::sync::Arc;
use std::time::Instant;

use flate2::read::GzDecoder;
use serde_json::Value;
use terrapin::budget::{self, Budget, ExceededLimit, Limits, StopReason};
use terrapin::osm::Osm;
use terrapin::snapshot::Snapshot;
use terrapin::tiles::{TileCache, TileId};

use crate::common::server::{HttpAnswer, TestServer};
use crate::common::terrapin;

const GZIP: &str = "Accept-Encoding: gzip\r\n";

fn ask(server: &TestServer, path: &str, headers: &str) -> HttpAnswer {
    server.ask("GET", path, headers, "")
}

fn unpacked(answer: &HttpAnswer) -> Vec<u8> {
    decompressed(&answer.body)
}

fn decompressed(packed: &[u8]) -> Vec<u8> {
    let mut tile = Vec::new();
    GzDecoder::new(packed).read_to_end(&mut tile).expect("gzip");
    tile
}

fn has(tile: &[u8], text: &[u8]) -> bool {
    tile.windows(text.len()).any(|bytes| bytes == text)
}

/// Returns the path of the tile at the deepest zoom that contains a place, given in degrees.
fn deepest(lat: f64, lon: f64) -> String {
    let n = f64::from(1 << 14);
    let x = ((lon + 180.0) / 360.0 * n) as u32;
    let y = ((1.0 - lat.to_radians().tan().asinh() / std::f64::consts::PI) / 2.0 * n) as u32;
    format!("/tiles/14/{x}/{y}.mvt")
}

#[test]
fn a_map_finds_the_tiles_and_what_is_in_them() {
    let server = TestServer::start(&[]);
    let answer = ask(&server, "/tiles.json", "");
    assert_eq!(answer.status, 200);
    let about: Value = serde_json::from_str(&answer.text()).expect("JSON");
    assert_eq!((about["tilejson"].as_str(), about["maxzoom"].as_u64()), (Some("3.0.0"), Some(14)));
    let layers = about["vector_layers"].as_array().expect("layers");
    assert_eq!(layers.len(), 27);
    assert!(layers.iter().any(|layer| layer["id"] == "streets" && layer["fields"]["kind"] == "String"));
    let template = about["tiles"][0].as_str().expect("an address");
    let (_, path) = template.split_once("/tiles/").expect("this server's tiles");
    let path = format!("/tiles/{path}");
    let bounds: Vec<f64> = about["bounds"].as_array().expect("bounds").iter().filter_map(Value::as_f64).collect();
    // The tile with the houses of the town.
    let tile = deepest(bounds[1] + 0.001, bounds[0] + 0.001);
    let [_, _, z, x, y] = tile.split('/').collect::<Vec<_>>()[..] else { panic!("{tile}") };
    let path = path.replace("{z}", z).replace("{x}", x).replace("{y}.mvt", y);
    let answer = ask(&server, &path, GZIP);
    assert_eq!((answer.status, answer.header("content-encoding")), (200, Some("gzip")), "{path}");
    assert_eq!(answer.header("content-type"), Some("application/vnd.mapbox-vector-tile"));
    assert!(answer.header("cache-control").is_some_and(|kept| kept.contains("immutable")), "{}", answer.headers);
    let tile = unpacked(&answer);
    assert!(has(&tile, b"streets") && has(&tile, b"pois") && has(&tile, "Bean & Leaf".as_bytes()));

    // The bytes are the same with and without the cache, compressed or not.
    assert_eq!(unpacked(&ask(&server, &path, GZIP)), tile);
    let plain = ask(&server, &path, "");
    assert_eq!((plain.header("content-encoding"), &plain.body), (None, &tile));
}

#[test]
fn tiles_are_kept_by_clients_and_what_is_none_is_refused() {
    let server = TestServer::start(&[]);
    let answer = ask(&server, "/tiles/0/0/0.mvt", GZIP);
    assert_eq!((answer.status, answer.header("cache-control")), (200, Some("no-cache")));
    // The test client converts headers to lower case.
    let tag = answer.header("etag").expect("a tag").replacen("w/", "W/", 1);
    let again = ask(&server, "/tiles/0/0/0.mvt", &format!("{GZIP}If-None-Match: {tag}\r\n"));
    assert_eq!((again.status, again.body.len()), (304, 0));
    // Intermediate caches send strong tags or lists of tags.
    let strong = tag.trim_start_matches("W/");
    for known in [strong.to_owned(), format!("\"other\", {tag}"), "*".to_owned()] {
        let again = ask(&server, "/tiles/0/0/0.mvt", &format!("{GZIP}If-None-Match: {known}\r\n"));
        assert_eq!(again.status, 304, "{known}");
    }
    let other = ask(&server, "/tiles/0/0/0.mvt", &format!("{GZIP}If-None-Match: \"other\"\r\n"));
    assert_eq!(other.status, 200);
    for path in [
        "/tiles/15/0/0.mvt",
        "/tiles/1/2/0.mvt",
        "/tiles/1/0/0",
        "/tiles/1/0/0.png",
        "/tiles/a/b/c.mvt",
        "/tiles/1/0/-1.mvt",
    ] {
        let answer = ask(&server, path, "");
        assert_eq!(answer.status, 404, "{path}");
        assert!(answer.text().contains("/tiles/z/x/y.mvt"), "{}", answer.text());
    }
}

/// Returns a round island around 1 north, 10 east that is a country. It has more coastlines than are read at once for
/// low zooms.
fn island() -> String {
    const WAYS: usize = 5000;
    let mut osm = String::from("<osm version='0.6'>");
    for node in 0..WAYS {
        let angle = node as f64 / WAYS as f64 * std::f64::consts::TAU;
        let (lat, lon) = (1.0 + 2.0 * angle.sin(), 10.0 + 2.0 * angle.cos());
        write!(osm, "<node id='{}' version='1' lat='{lat:.7}' lon='{lon:.7}'/>", node + 1).expect("memory");
    }
    for way in 0..WAYS {
        let (from, to) = (way + 1, (way + 1) % WAYS + 1);
        let tag = "<tag k='natural' v='coastline'/>";
        write!(osm, "<way id='{from}' version='1'><nd ref='{from}'/><nd ref='{to}'/>{tag}</way>").expect("memory");
    }
    osm.push_str("<relation id='1' version='1'>");
    for way in 1..=WAYS {
        write!(osm, "<member type='way' ref='{way}' role='outer'/>").expect("memory");
    }
    for (key, value) in [("type", "boundary"), ("boundary", "administrative"), ("admin_level", "2"), ("name", "Isle")] {
        write!(osm, "<tag k='{key}' v='{value}'/>").expect("memory");
    }
    osm + "</relation></osm>"
}

#[test]
fn low_zooms_are_the_same_whatever_was_asked_before() {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("isle.osm"), island()).expect("written");
    let load = ["load", "--osm", "isle.osm", "--out", "isle.terrapin"];
    terrapin().current_dir(folder.path()).args(load).assert().success();
    let open = || {
        let snapshot = Snapshot::open(&folder.path().join("isle.terrapin")).expect("a snapshot");
        (Osm::open(Arc::new(snapshot)).expect("elements"), TileCache::new(1 << 20))
    };
    // The tile with the middle of the island, a little north of the equator.
    let place =
        |z: u8| TileId::new(z, (1 << z) / 2 + ((1 << z) * 10 / 360), (1 << z) / 2 - u32::from(z > 0)).expect("a tile");
    let (osm, tiles) = open();
    let upwards: Vec<_> = (0..=6).map(|z| tiles.make(&osm, place(z))).collect();
    let (osm, tiles) = open();
    let downwards: Vec<_> = (0..=6).rev().map(|z| tiles.make(&osm, place(z))).collect();
    assert!(upwards.iter().eq(downwards.iter().rev()), "another order, other bytes");

    for (z, tile) in upwards.iter().enumerate() {
        let tile = decompressed(tile);
        assert!(has(&tile, b"ocean") && has(&tile, b"boundaries"), "zoom {z}");
        // Its area is 150,000 square kilometres.
        assert_eq!(has(&tile, b"Isle"), z >= 4, "zoom {z}");
    }

    // A request that times out leaves the data it has read to the next one.
    let (osm, tiles) = open();
    for _ in 0..3 {
        let limits = Limits { deadline: Some(Instant::now()), ..Limits::default() };
        let stopped = budget::watched(&Arc::new(Budget::new(&limits)), || tiles.make(&osm, place(0)));
        assert!(matches!(stopped, Err(StopReason::Exceeded(ExceededLimit::Time(_)))), "{stopped:?}");
    }
    assert_eq!(tiles.make(&osm, place(0)), upwards[0]);
}

#[test]
fn landforms_have_names_and_elevations() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut osm = String::from("<osm version='0.6'>");
    let mut node = |id: u32, lat: f64, lon: f64, tags: &[(&str, &str)]| {
        write!(osm, "<node id='{id}' version='1' lat='{lat}' lon='{lon}'>").expect("memory");
        for (key, value) in tags {
            write!(osm, "<tag k='{key}' v='{value}'/>").expect("memory");
        }
        osm.push_str("</node>");
    };
    node(1, 46.20, 7.20, &[("natural", "peak"), ("name", "Highest"), ("ele", "3210.4 m")]);
    node(2, 46.21, 7.21, &[("natural", "peak"), ("ele", "2000")]);
    node(3, 46.22, 7.22, &[("natural", "bay"), ("name", "Inlet"), ("ele", "unknown")]);
    for (id, lat, lon) in [(4, 46.15, 7.15), (5, 46.15, 7.18), (6, 46.17, 7.18)] {
        node(id, lat, lon, &[]);
    }
    osm.push_str("<way id='1' version='1'><nd ref='4'/><nd ref='5'/><nd ref='6'/><nd ref='4'/>");
    osm.push_str("<tag k='place' v='island'/><tag k='name' v='Holm'/></way></osm>");
    std::fs::write(folder.path().join("forms.osm"), osm).expect("written");
    let load = ["load", "--osm", "forms.osm", "--out", "forms.terrapin"];
    terrapin().current_dir(folder.path()).args(load).assert().success();
    let snapshot = Snapshot::open(&folder.path().join("forms.terrapin")).expect("a snapshot");
    let (osm, tiles) = (Osm::open(Arc::new(snapshot)).expect("elements"), TileCache::new(1 << 20));
    let tile = |z: u8| {
        let n = f64::from(1 << z);
        let y = (1.0 - 46.2_f64.to_radians().tan().asinh() / std::f64::consts::PI) / 2.0 * n;
        decompressed(&tiles.make(&osm, TileId::new(z, (187.2 / 360.0 * n) as u32, y as u32).expect("a tile")))
    };
    // Bays and islands are named from zoom 10 on, peaks from 11 on.
    let (ten, eleven) = (tile(10), tile(11));
    assert!(has(&ten, b"landform_labels") && has(&ten, b"Inlet") && has(&ten, b"Holm") && !has(&ten, b"Highest"));
    // The elevation is rounded to metres: 3210 is 0x8a 0x19 as a varint, after the tag of an unsigned value.
    assert!(has(&eleven, b"Highest") && has(&eleven, &[0x28, 0x8a, 0x19]));
    // A peak without a name has no label: 2000 is 0xd0 0x0f.
    assert!(!has(&eleven, &[0x28, 0xd0, 0x0f]));
    // The way is not drawn as land.
    assert!(!has(&eleven, b"place_labels"));
}
