//! Tests streets, houses and postal codes.

use std::fmt::Write;

use serde_json::Value;

use super::{GeocoderServer, asked, island};
use crate::common::server::{TestServer, encoded};

#[test]
fn streets_and_houses_lie_in_towns() {
    let (asked, ids) = asked();
    // The two ways of the street are one place.
    assert_eq!(asked.ids("Triq il-Kbira, Żebbuġ", ""), [ids.street]);
    assert_eq!(asked.ids("main street", ""), [ids.street]);
    assert_eq!(asked.ids("triq il kbira", "").len(), 2);
    for text in [
        "12A Triq il-Kbira, Olive",
        "Triq il-Kbira 12a, Zebbug",
        "12A, Triq il-Kbira, Olive, Isle",
        "12a triq il-kbira olive",
    ] {
        assert_eq!(asked.ids(text, ""), [ids.house], "{text}");
    }
    // For an unknown house number, the street is found.
    assert_eq!(asked.ids("99 Triq il-Kbira, Olive", ""), [ids.street]);
    let by_parts = |parts: &str| -> Vec<i64> {
        let found = asked.json(&format!("/search?{parts}"));
        found.as_array().unwrap().iter().map(|place| place["osm_id"].as_i64().unwrap()).collect()
    };
    assert_eq!(by_parts("street=12A+Triq+il-Kbira&city=Olive&country=Isle"), [ids.house]);
    assert_eq!(by_parts("city=olive&country=insula"), [ids.town]);
    assert_eq!(by_parts("country=isle"), [ids.country]);
    assert_eq!(by_parts("amenity=cafe+grosse+sohne&city=olive"), [ids.cafe]);
    assert!(by_parts("city=olive+bar").is_empty());
}

/// Tests houses with other forms of addresses, which come from Nominatim's scenarios, in a street of the island's town.
#[test]
fn houses_are_found_by_every_form_of_a_number() {
    let folder = tempfile::tempdir().unwrap();
    let (mut island, ids) = island();
    let street = |number| [("addr:housenumber", number), ("addr:street", "Triq il-Kbira")];
    let slash = island.node(0.20031, 0.2061, &street("731/27"));
    let list = island.node(0.20031, 0.2063, &street("46;48"));
    let blank = island.node(0.20031, 0.2065, &street("15 B"));
    // A house without a street is assigned to the nearest one, Triq il-Kbira; another belongs to a place.
    let beside = island.node(0.2002, 0.2071, &[("addr:housenumber", "70-15")]);
    let village = island.node(0.25, 0.25, &[("name", "Silum"), ("place", "hamlet")]);
    let placed = island.node(0.2501, 0.2501, &[("addr:housenumber", "6"), ("addr:place", "Silum")]);
    let ends = [(0.2006, 0.2075, "2"), (0.2006, 0.2095, "18")]
        .map(|(lat, lon, number)| island.node(lat, lon, &street(number)));
    let id = island.next();
    write!(
        island.ways,
        "<way id=\"{id}\" version=\"1\"><nd ref=\"{}\"/><nd ref=\"{}\"/><tag k=\"addr:interpolation\" v=\"even\"/></way>",
        ends[0], ends[1]
    )
    .unwrap();
    let server = TestServer::of(&island.load(folder.path()), &[]);
    let asked = GeocoderServer { server, _folder: folder };
    for (text, house) in [
        ("731/27 Triq il-Kbira, Olive", slash),
        ("Triq il-Kbira 731-27, Olive", slash),
        ("48, Triq il-Kbira, Olive", list),
        ("Triq il-Kbira 15b", blank),
        ("15 b triq il kbira", blank),
        ("70/15 Triq il-Kbira, Olive", beside),
        ("Silum 6", placed),
        ("6, Silum, Olive, Isle", placed),
        ("10 Triq il-Kbira, Olive", id),
    ] {
        assert_eq!(asked.ids(text, ""), [house], "{text}");
    }
    assert_eq!(asked.ids("11 Triq il-Kbira, Olive", ""), [ids.street], "of the other side of the street");
    let between = asked.json("/search?q=10+Triq+il-Kbira,+Olive");
    assert_eq!((&between[0]["lat"], &between[0]["lon"]), (&"0.2006".into(), &"0.2085".into()));
    let at = asked.json("/reverse?lat=0.20065&lon=0.20851&format=jsonv2");
    assert_eq!((&at["osm_id"], &at["address"]["house_number"]), (&id.into(), &"10".into()), "{at}");
    // A search for the name that the geocoder returns finds the same place, and so does a name with its nearest street.
    for id in [format!("N{slash}"), format!("N{beside}"), format!("N{placed}"), format!("N{}", ids.cafe)] {
        let told = asked.json(&format!("/lookup?osm_ids={id}"))[0].clone();
        let again = asked.ids(told["display_name"].as_str().unwrap(), "");
        assert_eq!(again.first().copied(), told["osm_id"].as_i64(), "{told}");
    }
    assert_eq!(asked.ids("Cafe Grosse & Sohne, Main Street, Olive", ""), [ids.cafe]);
    assert_eq!(asked.ids("Cafe Grosse and Sohne, Olive", ""), [ids.cafe]);
    assert_eq!(asked.ids("Silum", ""), [village]);
}

#[test]
fn postal_codes_lead_somewhere() {
    let (asked, ids) = asked();
    let found = |query: &str| asked.json(&format!("/search?{query}"));
    // Three houses have this code, two of them far from the third. Each town has a place for the code; the one with
    // more houses comes first.
    for text in ["ZB 1", "zb1"] {
        let places = found(&format!("q={}&addressdetails=1", encoded(text)));
        assert_eq!(places.as_array().unwrap().len(), 2, "{places}");
        let first = &places[0];
        assert_eq!(
            (&first["category"], &first["type"], &first["name"]),
            (&"place".into(), &"postcode".into(), &"ZB 1".into())
        );
        assert!(first.get("osm_id").is_none() && first["address"]["postcode"] == "ZB 1", "{first}");
        assert_eq!(first["address"]["town"], "Żebbuġ");
    }
    for query in ["q=ZB+1+Olive", "q=Olive,+ZB1", "q=zb+1,+Olive,+Isle", "city=Olive&postalcode=ZB+1"] {
        let places = found(query);
        assert_eq!((&places[0]["name"], &places[1]["osm_id"]), (&"ZB 1".into(), &ids.town.into()), "{query}: {places}");
    }
    assert_eq!(found("q=HB20")[0]["osm_id"], ids.shops.code);
    assert_eq!(found("q=HB-20+Harbour")[0]["display_name"], "HB-20, Harbour, Big Rock, Ínsula");
    // A postal code prefers places with that code, and does not exclude others.
    assert_eq!(asked.ids("12A Triq il-Kbira, ZB 1 Olive", ""), [ids.house]);
    assert_eq!(asked.ids("triq il-kbira 12A, HB-20", ""), asked.ids("12A triq il-kbira, Harbour", ""));
    assert_eq!(found("city=Olive&postalcode=99999")[0]["osm_id"], ids.town);
    assert_eq!(asked.ids("99999 Olive", "")[0], ids.town);
    // A place without an element can also be excluded.
    let id = &found("q=ZB+1")[0]["place_id"];
    assert_eq!(found(&format!("q=ZB+1&exclude_place_ids={id}")).as_array().unwrap().len(), 1);
    assert_eq!(found("q=ZB+1&exclude_place_ids=Pix:ZB_1"), Value::Array(Vec::new()));
    let xml = asked.server.get("/search?q=ZB+1+Olive&format=xml").text();
    assert!(
        xml.contains(&format!("exclude_place_ids=\"Pix:ZB_1,R{}\" more_url=\"/search?q=ZB+1+Olive", ids.town)),
        "{xml}"
    );
    let shown = found("q=ZB+1&format=geocodejson&polygon_geojson=1");
    assert_eq!(shown["features"][0]["geometry"]["type"], "Point");
}
