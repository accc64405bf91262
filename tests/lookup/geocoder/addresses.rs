//! Tests addresses: estimated postal codes, house names, names of countries, positions.

use serde_json::Value;

use super::{GeocoderServer, Island};
use crate::common::server::{TestServer, encoded};

/// Ids of a made-up part of Liechtenstein.
struct Vale {
    town: i64,
    mixed: i64,
    street: i64,
    house: i64,
    named: [(i64, &'static str); 3],
}

fn vale() -> (GeocoderServer, Vale) {
    let folder = tempfile::tempdir().unwrap();
    let mut island = Island::default();
    let country = [("name", "Liechtenstein"), ("admin_level", "2"), ("ISO3166-1:alpha2", "LI")];
    island.border([47.0, 9.4, 47.3, 9.7], &country);
    let town = island.border([47.10, 9.50, 47.12, 9.54], &[("name", "Triesen"), ("admin_level", "8")]);
    let mixed = island.border([47.13, 9.50, 47.15, 9.54], &[("name", "Zweikirchen"), ("admin_level", "8")]);
    let codes = [(47.105, "9495"), (47.106, "9495"), (47.107, "9495"), (47.108, "9496")];
    let halves = [(47.135, "9497"), (47.136, "9497"), (47.137, "9498"), (47.138, "9498")];
    for (lat, code) in codes.into_iter().chain(halves) {
        island.node(lat, 9.51, &[("addr:housenumber", "1"), ("addr:postcode", code)]);
    }
    // A street without a code, and a house with one 214 m away.
    let street = [("name", "Spiegelstrasse"), ("highway", "residential")];
    let street = island.way(&[(47.21, 9.52), (47.21, 9.522)], false, &street);
    island.node(47.2118, 9.521, &[("addr:housenumber", "4"), ("addr:postcode", "9491")]);
    island.way(&[(47.2101, 9.55), (47.2105, 9.55)], false, &[("name", "Binnenkanal"), ("waterway", "river")]);
    let house = island.node(47.2101, 9.5205, &[("addr:housenumber", "2"), ("addr:street", "Spiegelstrasse")]);
    // Values from OpenStreetMap in Malta and the Maldives.
    let magu = [("name", "Nirolhu Magu"), ("highway", "residential")];
    island.way(&[(47.25, 9.6), (47.25, 9.605)], false, &magu);
    island.node(47.28, 9.65, &[("name", "Thulusdhoo"), ("place", "town")]);
    let mut named =
        [(0, "B-10 (10027), Nirolhu Magu"), (0, "6, puerta A, Nirolhu Magu"), (0, "1329 / 1330, Thulusdhoo")];
    named[0].0 = island.node(47.2501, 9.601, &[("addr:housenumber", "B-10 (10027)")]);
    named[1].0 = island.node(47.2501, 9.602, &[("addr:housenumber", "6, puerta A")]);
    named[2].0 = island.node(47.2805, 9.6505, &[("addr:housenumber", "1329 / 1330")]);
    let server = TestServer::of(&island.load(folder.path()), &[]);
    (GeocoderServer { server, _folder: folder }, Vale { town, mixed, street, house, named })
}

fn degrees(value: &Value) -> f64 {
    value.as_str().and_then(|text| text.parse().ok()).unwrap_or(f64::NAN)
}

/// Nominatim's scenarios "Roads get postcodes from nearby named buildings without other info"
/// (`db/import/postcodes.feature`), "Search with addressdetails" (`api/search/params.feature`) and "Search for natural
/// object" (`api/search/queries.feature`).
#[test]
fn postal_codes_are_estimated() {
    let (asked, vale) = vale();
    let code =
        |query: &str| asked.json(&format!("/search?q={query}&addressdetails=1"))[0]["address"]["postcode"].clone();
    assert_eq!(code("Triesen"), "9495");
    assert_eq!(code("Zweikirchen"), Value::Null, "{}: half of the addresses have another code", vale.mixed);
    assert_eq!(code("Binnenkanal"), Value::Null);
    let street = asked.json(&format!("/lookup?osm_ids=W{}", vale.street))[0].clone();
    assert_eq!(street["display_name"], "Spiegelstrasse, 9491, Liechtenstein");
    for text in ["Spiegelstrasse, 9491, Liechtenstein", "9491 Spiegelstrasse"] {
        assert_eq!(asked.ids(text, ""), [vale.street], "{text}");
    }
    assert_eq!(asked.json("/search?q=Triesen,+9495,+Liechtenstein")[0]["osm_id"], vale.town);
    // A search for the code finds places with that code in a tag.
    assert_eq!(asked.json("/search?q=9491")[0]["type"], "postcode");
}

#[test]
fn houses_are_found_by_the_text_of_their_number() {
    let (asked, vale) = vale();
    for (house, text) in vale.named {
        assert_eq!(asked.ids(text, ""), [house], "{text}");
        let label = asked.json(&format!("/lookup?osm_ids=N{house}"))[0]["display_name"].clone();
        assert_eq!(asked.ids(label.as_str().unwrap(), "").first(), Some(&house), "{label}");
    }
    assert_eq!(asked.ids("2, Spiegelstrasse", ""), [vale.house]);
}

/// Nominatim's scenarios "Reverse - for streets return the closest point as center point"
/// (`api/reverse/geometry.feature`) and "Search - accept-language first" (`api/search/language.feature`).
#[test]
fn streets_have_the_closest_point_and_countries_all_names() {
    let (asked, vale) = vale();
    let at = asked.json("/reverse?lat=47.2104&lon=9.5213&zoom=17&format=jsonv2");
    assert_eq!(at["osm_id"], vale.street);
    assert!((degrees(&at["lat"]) - 47.21).abs() < 1e-6 && (degrees(&at["lon"]) - 9.5213).abs() < 1e-6, "{at}");
    let text = encoded("Liechtenstein");
    for (language, name) in [("zh,de", "列支敦士登"), ("xx", "Liechtenstein"), ("fi", "Liechtenstein")] {
        let found = asked.json(&format!("/search?q={text}&accept-language={language}"));
        assert_eq!(found[0]["display_name"], name, "{language}");
    }
}
