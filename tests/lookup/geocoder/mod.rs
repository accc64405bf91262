//! Tests the geocoder over HTTP, on a made-up island and on real extracts.

mod addresses;
mod answers;
mod houses;
mod index;
mod names;

use std::fmt::Write;
use std::path::Path;

use serde_json::Value;

use crate::common::server::{TestServer, encoded};
use crate::common::terrapin;

/// Tags of an element of the island.
type Tags<'a> = &'a [(&'a str, &'a str)];

/// OSM XML under construction.
#[derive(Default)]
struct Island {
    nodes: String,
    ways: String,
    relations: String,
    id: i64,
}

impl Island {
    fn next(&mut self) -> i64 {
        self.id += 1;
        self.id
    }

    fn tags(out: &mut String, tags: Tags<'_>) {
        for (key, value) in tags {
            write!(out, "<tag k=\"{key}\" v=\"{}\"/>", value.replace('&', "&amp;")).unwrap();
        }
    }

    fn node(&mut self, lat: f64, lon: f64, tags: Tags<'_>) -> i64 {
        let id = self.next();
        write!(self.nodes, "<node id=\"{id}\" lat=\"{lat:.7}\" lon=\"{lon:.7}\" version=\"1\">").unwrap();
        Self::tags(&mut self.nodes, tags);
        self.nodes.push_str("</node>\n");
        id
    }

    fn way(&mut self, points: &[(f64, f64)], close: bool, tags: Tags<'_>) -> i64 {
        let mut nodes: Vec<i64> = points.iter().map(|&(lat, lon)| self.node(lat, lon, &[])).collect();
        nodes.extend(nodes.first().copied().filter(|_| close));
        let id = self.next();
        write!(self.ways, "<way id=\"{id}\" version=\"1\">").unwrap();
        nodes.iter().for_each(|node| write!(self.ways, "<nd ref=\"{node}\"/>").unwrap());
        Self::tags(&mut self.ways, tags);
        self.ways.push_str("</way>\n");
        id
    }

    /// Adds a closed way with these nodes.
    fn closed(&mut self, nodes: &[i64], tags: Tags<'_>) -> i64 {
        let id = self.next();
        write!(self.ways, "<way id=\"{id}\" version=\"1\">").unwrap();
        nodes.iter().chain(nodes.first()).for_each(|node| write!(self.ways, "<nd ref=\"{node}\"/>").unwrap());
        Self::tags(&mut self.ways, tags);
        self.ways.push_str("</way>\n");
        id
    }

    /// Adds a boundary around a box: south, west, north, east.
    fn border(&mut self, sides: [f64; 4], tags: Tags<'_>) -> i64 {
        self.area(sides, &[&[("type", "boundary"), ("boundary", "administrative")], tags].concat())
    }

    /// Adds a relation around a box: south, west, north, east.
    fn area(&mut self, [s, w, n, e]: [f64; 4], tags: Tags<'_>) -> i64 {
        let way = self.way(&[(s, w), (s, e), (n, e), (n, w)], true, &[]);
        let id = self.next();
        write!(
            self.relations,
            "<relation id=\"{id}\" version=\"1\"><member type=\"way\" ref=\"{way}\" role=\"outer\"/>"
        )
        .unwrap();
        Self::tags(&mut self.relations, tags);
        self.relations.push_str("</relation>\n");
        id
    }

    fn load(&self, folder: &Path) -> std::path::PathBuf {
        let (from, to) = (folder.join("island.osm"), folder.join("island.terrapin"));
        let all = [&self.nodes, &self.ways, &self.relations].map(String::as_str).concat();
        std::fs::write(&from, format!("<osm version=\"0.6\">\n{all}</osm>\n")).unwrap();
        terrapin().arg("load").arg("--osm").arg(&from).arg("--out").arg(&to).assert().success();
        to
    }
}

/// Ids of the elements that the tests look for.
struct GeocoderTestIds {
    country: i64,
    town: i64,
    other: i64,
    street: i64,
    house: i64,
    cafe: i64,
    quarter: i64,
    shops: Shops,
}

struct Shops {
    code: i64,
    fort: i64,
    /// Two in the town, the second without a name, and one in the other town.
    pubs: [i64; 3],
    road: i64,
    door: i64,
    hall: i64,
}

fn island() -> (Island, GeocoderTestIds) {
    let mut island = Island::default();
    let country =
        [("name", "Ínsula"), ("name:en", "Isle"), ("name:ja", "島"), ("admin_level", "2"), ("ISO3166-1:alpha2", "IX")];
    let country = island.border([0.0, 0.0, 1.0, 1.0], &country);
    let town = [("name", "Żebbuġ"), ("name:en", "Olive"), ("alt_name", "Old Town;Città Olive"), ("admin_level", "8")];
    let town = island.border([0.1, 0.1, 0.3, 0.3], &town);
    island.node(0.2, 0.2, &[("name", "Żebbuġ"), ("place", "town")]);
    let other = island.border([0.6, 0.6, 0.8, 0.8], &[("name", "Harbour"), ("admin_level", "8")]);
    let quarter = island.node(0.21, 0.21, &[("name", "Upper Quarter"), ("place", "suburb")]);
    // A street of two ways, and another street of the same name elsewhere.
    let street = [("name", "Triq il-Kbira"), ("name:en", "Main Street"), ("highway", "residential")];
    let street = island.way(&[(0.2, 0.2), (0.2, 0.205)], false, &street);
    island.way(&[(0.2, 0.205), (0.2, 0.21)], false, &[("name", "Triq il-Kbira"), ("highway", "residential")]);
    island.way(&[(0.7, 0.7), (0.7, 0.71)], false, &[("name", "Triq il-Kbira"), ("highway", "residential")]);
    let address = |number| [("addr:housenumber", number), ("addr:street", "Triq il-Kbira"), ("addr:postcode", "ZB 1")];
    let house = island.node(0.2003, 0.201, &address("12A"));
    island.node(0.7003, 0.701, &address("12A"));
    island.node(0.2003, 0.202, &address("14"));
    let cafe = island.node(0.2005, 0.204, &[("name", "Café Größe & Söhne"), ("amenity", "cafe")]);
    island.node(0.7005, 0.704, &[("name", "Olive Bar"), ("amenity", "bar")]);
    let rock = [("type", "multipolygon"), ("name", "Big Rock"), ("place", "island")];
    island.area([0.55, 0.55, 0.85, 0.85], &rock);
    let code = [("type", "boundary"), ("boundary", "postal_code"), ("postal_code", "HB-20")];
    let code = island.area([0.65, 0.65, 0.75, 0.75], &code);
    let fort = island.node(
        0.95,
        0.05,
        &[
            ("name", "Fort St. Elm"),
            ("historic", "fort"),
            ("addr:city", "Faraway Bay"),
            ("alt_name", "Elmfort;Hall of Elm"),
        ],
    );
    let pub_ = island.node(0.2006, 0.2045, &[("name", "The Pub"), ("amenity", "pub")]);
    let nameless = island.node(0.2007, 0.205, &[("amenity", "pub")]);
    let other_pub = island.node(0.7006, 0.7045, &[("name", "Anchor"), ("amenity", "pub")]);
    let road = island.way(&[(0.4, 0.4), (0.4, 0.45)], false, &[("ref", "A 12"), ("highway", "trunk")]);
    let door = island.node(0.2201, 0.22, &[("entrance", "main"), ("wheelchair", "yes")]);
    let corners = [(0.2202, 0.2201), (0.2203, 0.22), (0.2202, 0.2199)].map(|(lat, lon)| island.node(lat, lon, &[]));
    let hall = island.closed(&[&[door][..], &corners].concat(), &[("name", "Hall"), ("building", "civic")]);
    let shops = Shops { code, fort, pubs: [pub_, nameless, other_pub], road, door, hall };
    (island, GeocoderTestIds { country, town, other, street, house, cafe, quarter, shops })
}

struct GeocoderServer {
    server: TestServer,
    _folder: tempfile::TempDir,
}

impl GeocoderServer {
    fn json(&self, path: &str) -> Value {
        let answer = self.server.get(path);
        assert_eq!(answer.status, 200, "{path}: {}", answer.text());
        serde_json::from_str(&answer.text()).unwrap_or_else(|error| panic!("{path}: {error}"))
    }

    /// Returns the ids that a search finds.
    fn ids(&self, text: &str, more: &str) -> Vec<i64> {
        let found = self.json(&format!("/search?q={}{more}", encoded(text)));
        found.as_array().unwrap().iter().map(|place| place["osm_id"].as_i64().unwrap()).collect()
    }
}

fn asked() -> (GeocoderServer, GeocoderTestIds) {
    let folder = tempfile::tempdir().unwrap();
    let (island, ids) = island();
    let server = TestServer::of(&island.load(folder.path()), &[]);
    (GeocoderServer { server, _folder: folder }, ids)
}
