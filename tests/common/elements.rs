//! Helpers for tests of OpenStreetMap's elements in SPARQL: answers of both languages as sorted lines, and Malta with
//! items.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use super::place::shared;
use super::skip::{Need, skipped};
use super::terrapin;

const OSM: &str = "https://www.openstreetmap.org/";
const ITEM: &str = "http://www.wikidata.org/entity/";

/// Returns the lines of an answer, sorted.
pub fn lines(text: &str) -> Vec<String> {
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    lines.sort_unstable();
    lines
}

pub fn answer(snapshot: &Path, args: &[&str]) -> String {
    let out = terrapin().arg("query").arg(snapshot).args(args).assert().success();
    String::from_utf8(out.get_output().stdout.clone()).unwrap()
}

/// Returns the error of a rejected query.
pub fn refusal(snapshot: &Path, args: &[&str]) -> String {
    let out = terrapin().arg("query").arg(snapshot).args(args).assert().failure();
    String::from_utf8_lossy(&out.get_output().stderr).into_owned()
}

/// Returns the rows of a SPARQL answer, sorted. Elements are written as `node/1`, items as `Q1`; cells are separated by
/// tabs.
pub fn sparql(snapshot: &Path, query: &str) -> Vec<String> {
    let text = answer(snapshot, &[query, "--lang", "sparql", "--format", "csv"]);
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    let mut rows: Vec<String> = reader
        .records()
        .map(|row| {
            row.unwrap().iter().collect::<Vec<_>>().join("\t").replace('"', "").replace(OSM, "").replace(ITEM, "")
        })
        .collect();
    rows.sort_unstable();
    rows
}

/// Returns the output of an OverpassQL query with these columns as sorted lines.
pub fn overpass(snapshot: &Path, columns: &str, query: &str) -> Vec<String> {
    let separated = format!("[out:csv({columns};false;\"\\t\")];{query}");
    // Cells with commas are quoted.
    lines(&answer(snapshot, &[&separated, "--lang", "overpassql"]).replace('"', ""))
}

/// Returns the elements that an OverpassQL query prints, as `node/1`, sorted.
pub fn elements(snapshot: &Path, query: &str) -> Vec<String> {
    let mut found: Vec<String> =
        overpass(snapshot, "::type,::id", query).iter().map(|line| line.replace('\t', "/")).collect();
    found.sort_unstable();
    found
}

/// Returns the elements that an OverpassQL query prints as JSON.
pub fn json(snapshot: &Path, query: &str) -> Vec<serde_json::Value> {
    let text = answer(snapshot, &[&format!("[out:json];{query}"), "--lang", "overpassql"]);
    let mut value: serde_json::Value = serde_json::from_str(&text).unwrap();
    match value["elements"].take() {
        serde_json::Value::Array(elements) => elements,
        other => panic!("elements are a list: {other}"),
    }
}

/// Returns longitude and latitude of a point in WKT.
pub fn point(wkt: &str) -> (f64, f64) {
    let inner = wkt.rsplit_once('(').unwrap().1.trim_end_matches(')');
    let (lon, lat) = inner.split_once(' ').unwrap();
    (lon.parse().unwrap(), lat.parse().unwrap())
}

/// Malta with an item for each `wikidata` tag. An item has a place at a known distance north of the element's centre,
/// and the population of the element's tags. The item of a municipality has the area of the element, or 20 % more if
/// the item's number is odd.
pub struct Malta {
    _folder: tempfile::TempDir,
    /// Its snapshot.
    pub snapshot: PathBuf,
    /// The elements of each item with their distance from its place in metres.
    pub items: BTreeMap<String, Vec<(String, f64)>>,
}

/// Returns Malta, or skips with a message if the shared data is missing.
pub fn malta() -> Option<&'static Malta> {
    static MALTA: LazyLock<Option<Malta>> = LazyLock::new(|| {
        let pbf = shared().join("data/osm/malta-2024.osm.pbf");
        if !pbf.exists() {
            skipped(Need::Shared, format!("no {}", pbf.display()));
            return None;
        }
        let folder = tempfile::tempdir().unwrap();
        let bare = folder.path().join("bare.terrapin");
        let load = |more: &[&Path], out: &Path| {
            let mut command = terrapin();
            command.arg("load").arg("--osm").arg(&pbf).args(more).arg("--out").arg(out).assert().success();
        };
        load(&[], &bare);
        let (text, items) = triples(&bare);
        let (file, snapshot) = (folder.path().join("items.nt"), folder.path().join("malta.terrapin"));
        std::fs::write(&file, text).unwrap();
        load(&[Path::new("--rdf"), &file], &snapshot);
        Some(Malta { _folder: folder, snapshot, items })
    });
    MALTA.as_ref()
}

/// Returns the areas of municipalities in square kilometres, computed from GeoJSON features on a sphere.
fn areas(snapshot: &Path) -> BTreeMap<String, f64> {
    let query = "rel[boundary=administrative][admin_level=8][wikidata];out geom;";
    let text = answer(snapshot, &[query, "--format", "geojson"]);
    let collection: serde_json::Value = serde_json::from_str(&text).unwrap();
    let mut areas = BTreeMap::new();
    for feature in collection["features"].as_array().unwrap() {
        let geometry = &feature["geometry"];
        let of_polygon = |rings: &serde_json::Value| -> f64 {
            let rings = rings.as_array().unwrap().iter().map(ring);
            rings.enumerate().map(|(at, area)| if at == 0 { area } else { -area }).sum()
        };
        let area = match geometry["type"].as_str() {
            Some("Polygon") => of_polygon(&geometry["coordinates"]),
            Some("MultiPolygon") => geometry["coordinates"].as_array().unwrap().iter().map(of_polygon).sum(),
            _ => continue,
        };
        areas.insert(feature["id"].as_str().unwrap().to_owned(), area / 1e6);
    }
    areas
}

/// Returns the area of a ring in square metres: the sum of the trapezoids below its sides, on a cylinder with the same
/// area as the sphere.
fn ring(ring: &serde_json::Value) -> f64 {
    let points: Vec<(f64, f64)> = ring.as_array().unwrap().iter().map(place).collect();
    let side = |(a, b): (&(f64, f64), &(f64, f64))| (b.0 - a.0) * (a.1.sin() + b.1.sin()) / 2.0;
    points.iter().zip(points.iter().skip(1)).map(side).sum::<f64>().abs() * 6_371_008.8_f64.powi(2)
}

/// Returns longitude and latitude of a position in radians.
fn place(position: &serde_json::Value) -> (f64, f64) {
    let at = |n: usize| position[n].as_f64().unwrap().to_radians();
    (at(0), at(1))
}

/// Returns triples of the items in a snapshot's `wikidata` tags, and the elements of each item.
fn triples(snapshot: &Path) -> (String, BTreeMap<String, Vec<(String, f64)>>) {
    let rows = overpass(snapshot, "::type,::id,wikidata,::lat,::lon,population", "nwr[wikidata];out center;");
    let mut places: BTreeMap<String, (f64, f64)> = BTreeMap::new();
    let areas = areas(snapshot);
    let (mut text, mut items) = (String::new(), BTreeMap::<String, Vec<(String, f64)>>::new());
    for row in rows {
        let cells: Vec<&str> = row.split('\t').collect();
        let [kind, id, named, lat, lon, people] = cells[..] else { panic!("six columns: {row}") };
        let (Ok(lat), Ok(lon)) = (lat.parse::<f64>(), lon.parse::<f64>()) else { continue };
        for item in named.split(';').map(str::trim) {
            let number: Option<u64> = item.strip_prefix('Q').and_then(|number| number.parse().ok());
            let Some(number) = number else { continue };
            let (south, east) = *places.entry(item.to_owned()).or_insert_with(|| {
                let place = (lat + f64::from(number as u32 % 5) * 0.005, lon);
                let _ = writeln!(
                    text,
                    "<{ITEM}{item}> <http://www.wikidata.org/prop/direct/P625> \
                     \"Point({} {})\"^^<http://www.opengis.net/ont/geosparql#wktLiteral> .\n\
                     <{ITEM}{item}> <http://www.wikidata.org/prop/direct/P571> \"{}-01-01T00:00:00Z\"\
                     ^^<http://www.w3.org/2001/XMLSchema#dateTime> .",
                    place.1,
                    place.0,
                    1500 + number % 300
                );
                if let Ok(people) = people.parse::<u32>() {
                    let _ = writeln!(
                        text,
                        "<{ITEM}{item}> <http://www.wikidata.org/prop/direct/P1082> \
                         \"{people}\"^^<http://www.w3.org/2001/XMLSchema#decimal> ."
                    );
                }
                place
            });
            if let Some(area) = areas.get(&format!("{kind}/{id}")) {
                let _ = writeln!(
                    text,
                    "<{ITEM}{item}> <http://www.wikidata.org/prop/direct/P2046> \
                     \"{}\"^^<http://www.w3.org/2001/XMLSchema#decimal> .",
                    if number.is_multiple_of(2) { *area } else { area * 1.2 }
                );
            }
            let away = metres((lat, lon), (south, east));
            items.entry(item.to_owned()).or_default().push((format!("{kind}/{id}"), away));
        }
    }
    (text, items)
}

/// Returns the distance of two places on a sphere in metres.
pub fn metres(a: (f64, f64), b: (f64, f64)) -> f64 {
    let [lat, lon, other_lat, other_lon] = [a.0, a.1, b.0, b.1].map(f64::to_radians);
    let half = |x: f64| (x / 2.0).sin().powi(2);
    let h = half(other_lat - lat) + lat.cos() * other_lat.cos() * half(other_lon - lon);
    2.0 * 6_371_008.8 * h.sqrt().asin()
}
/// Converts `node<tab>1…` to `node/1…`.
pub fn joined(line: &str) -> String {
    line.replacen('\t', "/", 1)
}
