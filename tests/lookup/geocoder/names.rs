//! Tests names: spellings, abbreviations, categories, and countries without a boundary.

use std::fmt::Write;

use serde_json::Value;

use super::{GeocoderServer, Island, asked};
use crate::common::server::{TestServer, encoded};

#[test]
fn names_are_found_however_they_are_written() {
    let (asked, ids) = asked();
    for text in [
        "Żebbuġ",
        "zebbug",
        "ZEBBUG",
        "Olive",
        "old town",
        "Citta Olive",
        "zebug",
        "Żebbuġ, Ínsula",
        "olive isle",
        "isle olive",
        // The larger area comes first.
        "Isle, Olive",
    ] {
        assert_eq!(asked.ids(text, ""), [ids.town], "{text}");
    }
    for text in ["Cafe Grosse Sohne", "größe", "Café Größe & Söhne, Zebbug", "cafe grose, olive, IX"] {
        assert_eq!(asked.ids(text, ""), [ids.cafe], "{text}");
    }
    assert_eq!(asked.ids("島", ""), [ids.country]);
    for nothing in ["Atlantis", "Harbour, Olive", "Atlantis, Olive", "Olive Atlantis", "Olive, Finland", "..."] {
        assert!(asked.ids(nothing, "").is_empty(), "{nothing}");
    }
    // An unknown part of the address does not make the result empty.
    assert_eq!(asked.ids("Olive, Atlantis", ""), [ids.town]);
    // A word prefix matches while typing, or if nothing else is found.
    assert_eq!(asked.ids("zeb", "&typing=1"), [ids.town]);
    assert_eq!(asked.ids("zeb", ""), [ids.town]);
    assert_eq!(asked.ids("upper qua", "&typing=1"), [ids.quarter]);
    // A prefix may also match a surrounding place.
    for text in ["main street, oli", "main street oli"] {
        assert_eq!(asked.ids(text, "&typing=1"), [ids.street], "{text}");
    }
}

#[test]
fn names_are_found_as_people_shorten_them() {
    let (asked, ids) = asked();
    for text in ["Main St, Olive", "main st. zebbug", "Olive, Main Street"] {
        assert_eq!(asked.ids(text, ""), [ids.street], "{text}");
    }
    // Surrounding places include those in address tags, and an island of the same importance as the town on it.
    for text in ["Fort Saint Elm", "fort st elm, Faraway Bay", "Faraway, Fort St. Elm", "Fort St Elm, Isle"] {
        assert_eq!(asked.ids(text, ""), [ids.shops.fort], "{text}");
    }
    assert_eq!(asked.ids("Harbour, Big Rock", ""), [ids.other]);
    for text in ["A 12", "a12", "A12, Isle"] {
        assert_eq!(asked.ids(text, ""), [ids.shops.road], "{text}");
    }
    assert_eq!(asked.ids("Olive Town", "")[0], ids.town);
    // A value with two names matches by one of them, also in part.
    assert_eq!(asked.ids("hall", ""), [ids.shops.hall]);
    assert_eq!(asked.ids("elmfort", ""), [ids.shops.fort]);
    for text in ["0.20031, 0.20101", "N 0.20031 E 0.20101", "0°12'1.1\"N 0°12'3.6\"E"] {
        assert_eq!(asked.ids(text, ""), [ids.house], "{text}");
    }
    for (text, far) in [("0.20031, 190.5", 0), ("12 0.5", 0)] {
        assert_eq!(asked.ids(text, "").len(), far, "{text}");
    }
    // With `dedupe=0`, each way of a street is a result.
    let all = asked.ids("main street, olive", "&dedupe=0");
    assert_eq!((all.len(), all[0]), (1, ids.street));
    assert_eq!(asked.ids("triq il kbira, olive", "&dedupe=0").len(), 2);
}

#[test]
fn kinds_of_things_are_found_where_they_are() {
    let (asked, ids) = asked();
    let [named, nameless, other] = ids.shops.pubs;
    for text in ["pubs in Olive", "pub, Zebbug", "[pub] Olive", "[amenity=pub] Olive, Isle", "Olive pub"] {
        assert_eq!(asked.ids(text, ""), [named, nameless], "{text}");
    }
    assert_eq!(asked.ids("pubs near Harbour", ""), [other]);
    // Near something that is not an area, the nearest places come first.
    assert_eq!(asked.ids("pubs near Cafe Grosse Sohne", ""), [named, nameless]);
    assert_eq!(asked.ids("pub near 0.7, 0.7", ""), [other]);
    assert_eq!(asked.ids("pub 0.2007,0.205", ""), [nameless, named]);
    let parts = asked.json("/search?amenity=pub&city=Harbour");
    assert_eq!(parts[0]["osm_id"], other);
    // Without a place, the view box limits the search.
    let near = "&bounded=1&viewbox=0.6,0.6,0.8,0.8";
    assert_eq!((asked.ids("[pub]", near), asked.ids("pub", near)), (vec![other], vec![other]));
    assert!(asked.ids("[pub]", "").is_empty() && asked.ids("pubs in Atlantis", "").is_empty());
    // A place with that name comes before places of that category.
    assert_eq!(asked.ids("the pub", ""), [named]);
    assert_eq!(asked.ids("the pub, olive", ""), [named]);
}

/// Tests names of countries and regions without a boundary in the extract, as in CLDR and ISO 3166.
#[test]
fn countries_are_known_without_a_border() {
    let folder = tempfile::tempdir().unwrap();
    let mut island = Island::default();
    let honolulu = island.node(21.3045, -157.8557, &[("name", "Honolulu"), ("place", "city")]);
    let helsinki = island.node(60.1675, 24.9428, &[("name", "Helsinki"), ("place", "city")]);
    let vancouver = island.node(49.2609, -123.114, &[("name", "Vancouver"), ("place", "city")]);
    let fiji = [("name", "Viti"), ("place", "island"), ("type", "multipolygon")];
    let parts = [[-18.0, 177.0, -17.0, 179.0], [-17.0, -180.0, -16.0, -179.0]];
    let ways = parts.map(|[s, w, n, e]| island.way(&[(s, w), (s, e), (n, e), (n, w)], true, &[]));
    let viti = island.next();
    write!(
        island.relations,
        "<relation id=\"{viti}\" version=\"1\"><member type=\"way\" ref=\"{}\" role=\"outer\"/><member type=\"way\" ref=\"{}\" role=\"outer\"/>",
        ways[0], ways[1]
    )
    .unwrap();
    Island::tags(&mut island.relations, &fiji);
    island.relations.push_str("</relation>\n");
    let server = TestServer::of(&island.load(folder.path()), &[]);
    let asked = GeocoderServer { server, _folder: folder };
    for (text, more, place) in [
        ("Honolulu, USA", "", honolulu),
        ("Honolulu, Hawaii", "", honolulu),
        ("Helsinki, Finland", "", helsinki),
        ("Helsinki Suomi", "", helsinki),
        ("Vancouver, BC", "", vancouver),
        ("Vancouver, Canada", "&countrycodes=ca", vancouver),
    ] {
        assert_eq!(asked.ids(text, more), [place], "{text}");
    }
    assert!(asked.ids("Helsinki", "&countrycodes=se").is_empty() && asked.ids("Helsinki, Sweden", "").is_empty());
    let found = asked.json("/search?q=Helsinki&addressdetails=1&accept-language=de");
    assert_eq!(
        (&found[0]["display_name"], &found[0]["address"]["country_code"]),
        (&"Helsinki, Finnland".into(), &"fi".into())
    );
    let country = asked.json("/search?q=Finnland&accept-language=en");
    assert_eq!((&country[0]["name"], &country[0]["type"]), (&"Finland".into(), &"country".into()));
    // Of two parts on both sides of the antimeridian, the larger one has the point.
    let viti = asked.json(&format!("/lookup?osm_ids=R{viti}"))[0].clone();
    let degrees = |value: &Value| value.as_str().unwrap().parse::<f64>().unwrap();
    assert!(
        (177.0..179.0).contains(&degrees(&viti["lon"])) && (-18.0..-17.0).contains(&degrees(&viti["lat"])),
        "{viti}"
    );
}

/// Tests unusual names, codes, categories and positions.
#[test]
fn strange_texts_are_answered() {
    let (asked, _) = asked();
    let texts = [
        ",".repeat(5000),
        "1 ".repeat(3000),
        "ZB 1 ".repeat(500),
        "[".repeat(3000),
        "[pub]".repeat(500),
        "pubs in ".repeat(300),
        "0.2,0.2 ".repeat(500),
        "N 1 ".repeat(1000),
        "st ".repeat(1000),
        "\u{202e}Olive\u{202c}\u{0}".to_owned(),
        "é".repeat(2000),
        "[=]".to_owned(),
        "][".to_owned(),
        "\u{1f600} \u{10ffff}".to_owned(),
    ];
    for text in texts {
        let started = std::time::Instant::now();
        let answer = asked.server.get(&format!("/search?q={}", encoded(&text)));
        assert_eq!(answer.status, 200, "{}: {}", text.chars().take(20).collect::<String>(), answer.text());
        assert!(
            started.elapsed() < std::time::Duration::from_secs(20),
            "{}",
            text.chars().take(20).collect::<String>()
        );
    }
}
