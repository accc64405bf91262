//! Vector tiles as a map asks for them. What is in tiles is tested beside the code and, by another decoder, in
//! `tests/tiles/`.

use std::io::Read;

use flate2::read::GzDecoder;
use serde_json::Value;

use crate::common::server::{Answer, Server};

const GZIP: &str = "Accept-Encoding: gzip\r\n";

fn ask(server: &Server, path: &str, headers: &str) -> Answer {
    server.ask("GET", path, headers, "")
}

fn unpacked(answer: &Answer) -> Vec<u8> {
    let mut tile = Vec::new();
    GzDecoder::new(answer.body.as_slice()).read_to_end(&mut tile).expect("gzip");
    tile
}

/// The tile of the deepest zoom with a place, in degrees.
fn deepest(lat: f64, lon: f64) -> String {
    let n = f64::from(1 << 14);
    let x = ((lon + 180.0) / 360.0 * n) as u32;
    let y = ((1.0 - lat.to_radians().tan().asinh() / std::f64::consts::PI) / 2.0 * n) as u32;
    format!("/tiles/14/{x}/{y}.mvt")
}

#[test]
fn a_map_finds_the_tiles_and_what_is_in_them() {
    let server = Server::start(&[]);
    let answer = ask(&server, "/tiles.json", "");
    assert_eq!(answer.status, 200);
    let about: Value = serde_json::from_str(&answer.text()).expect("JSON");
    assert_eq!((about["tilejson"].as_str(), about["maxzoom"].as_u64()), (Some("3.0.0"), Some(14)));
    let layers = about["vector_layers"].as_array().expect("layers");
    assert_eq!(layers.len(), 26);
    assert!(layers.iter().any(|layer| layer["id"] == "streets" && layer["fields"]["kind"] == "String"));
    let template = about["tiles"][0].as_str().expect("an address");
    let (_, path) = template.split_once("/tiles/").expect("this server's tiles");
    let path = format!("/tiles/{path}");
    let bounds: Vec<f64> = about["bounds"].as_array().expect("bounds").iter().filter_map(Value::as_f64).collect();
    // Where the houses of the town are.
    let tile = deepest(bounds[1] + 0.001, bounds[0] + 0.001);
    let [_, _, z, x, y] = tile.split('/').collect::<Vec<_>>()[..] else { panic!("{tile}") };
    let path = path.replace("{z}", z).replace("{x}", x).replace("{y}.mvt", y);
    let answer = ask(&server, &path, GZIP);
    assert_eq!((answer.status, answer.header("content-encoding")), (200, Some("gzip")), "{path}");
    assert_eq!(answer.header("content-type"), Some("application/vnd.mapbox-vector-tile"));
    assert!(answer.header("cache-control").is_some_and(|kept| kept.contains("immutable")), "{}", answer.headers);
    let tile = unpacked(&answer);
    let names = |name: &[u8]| tile.windows(name.len()).any(|bytes| bytes == name);
    assert!(names(b"streets") && names(b"pois") && names(b"Bean & Leaf"));

    // The same bytes again, from memory or not, packed or not.
    assert_eq!(unpacked(&ask(&server, &path, GZIP)), tile);
    let plain = ask(&server, &path, "");
    assert_eq!((plain.header("content-encoding"), &plain.body), (None, &tile));
}

#[test]
fn tiles_are_kept_by_clients_and_what_is_none_is_refused() {
    let server = Server::start(&[]);
    let answer = ask(&server, "/tiles/0/0/0.mvt", GZIP);
    assert_eq!((answer.status, answer.header("cache-control")), (200, Some("no-cache")));
    let tag = answer.header("etag").expect("a tag").to_owned();
    let again = ask(&server, "/tiles/0/0/0.mvt", &format!("{GZIP}If-None-Match: {tag}\r\n"));
    assert_eq!((again.status, again.body.len()), (304, 0));
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
