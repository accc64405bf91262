//! What people look for, over an island that was made up for it, and over real extracts the places that a benchmark's
//! queries name.

use std::fmt::Write;
use std::path::Path;

use serde_json::Value;

use crate::common::server::{Server, encoded};
use crate::common::{place, skip, terrapin};

/// A thing of the island: its tags.
type Tags<'a> = &'a [(&'a str, &'a str)];

/// OSM XML, made thing by thing.
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

    /// A closed way along nodes.
    fn closed(&mut self, nodes: &[i64], tags: Tags<'_>) -> i64 {
        let id = self.next();
        write!(self.ways, "<way id=\"{id}\" version=\"1\">").unwrap();
        nodes.iter().chain(nodes.first()).for_each(|node| write!(self.ways, "<nd ref=\"{node}\"/>").unwrap());
        Self::tags(&mut self.ways, tags);
        self.ways.push_str("</way>\n");
        id
    }

    /// A border around a box: south, west, north, east.
    fn border(&mut self, sides: [f64; 4], tags: Tags<'_>) -> i64 {
        self.area(sides, &[&[("type", "boundary"), ("boundary", "administrative")], tags].concat())
    }

    /// A relation around a box: south, west, north, east.
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

/// Ids of what the tests look for.
struct Ids {
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
    /// Two in the town, the second without a name; one in the other.
    pubs: [i64; 3],
    road: i64,
    door: i64,
    hall: i64,
}

fn island() -> (Island, Ids) {
    let mut island = Island::default();
    let country =
        [("name", "Ínsula"), ("name:en", "Isle"), ("name:ja", "島"), ("admin_level", "2"), ("ISO3166-1:alpha2", "IX")];
    let country = island.border([0.0, 0.0, 1.0, 1.0], &country);
    let town = [("name", "Żebbuġ"), ("name:en", "Olive"), ("alt_name", "Old Town;Città Olive"), ("admin_level", "8")];
    let town = island.border([0.1, 0.1, 0.3, 0.3], &town);
    island.node(0.2, 0.2, &[("name", "Żebbuġ"), ("place", "town")]);
    let other = island.border([0.6, 0.6, 0.8, 0.8], &[("name", "Harbour"), ("admin_level", "8")]);
    let quarter = island.node(0.21, 0.21, &[("name", "Upper Quarter"), ("place", "suburb")]);
    // A street of two ways, and one of this name elsewhere.
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
    (island, Ids { country, town, other, street, house, cafe, quarter, shops })
}

struct Asked {
    server: Server,
    _folder: tempfile::TempDir,
}

impl Asked {
    fn json(&self, path: &str) -> Value {
        let answer = self.server.get(path);
        assert_eq!(answer.status, 200, "{path}: {}", answer.text());
        serde_json::from_str(&answer.text()).unwrap_or_else(|error| panic!("{path}: {error}"))
    }

    /// The ids of what a search finds.
    fn ids(&self, text: &str, more: &str) -> Vec<i64> {
        let found = self.json(&format!("/search?q={}{more}", encoded(text)));
        found.as_array().unwrap().iter().map(|place| place["osm_id"].as_i64().unwrap()).collect()
    }
}

fn asked() -> (Asked, Ids) {
    let folder = tempfile::tempdir().unwrap();
    let (island, ids) = island();
    let server = Server::of(&island.load(folder.path()), &[]);
    (Asked { server, _folder: folder }, ids)
}

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
        // From right to left.
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
    // A part that nothing is called empties no answer.
    assert_eq!(asked.ids("Olive, Atlantis", ""), [ids.town]);
    // The beginning of a word, where it is typed, and where nothing else is found.
    assert_eq!(asked.ids("zeb", "&typing=1"), [ids.town]);
    assert_eq!(asked.ids("zeb", ""), [ids.town]);
    assert_eq!(asked.ids("upper qua", "&typing=1"), [ids.quarter]);
    // Of what lies around, where it is that.
    for text in ["main street, oli", "main street oli"] {
        assert_eq!(asked.ids(text, "&typing=1"), [ids.street], "{text}");
    }
}

#[test]
fn streets_and_houses_lie_in_towns() {
    let (asked, ids) = asked();
    // Its two ways are one place.
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
    // A number that nobody has: the street.
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

#[test]
fn searches_are_bounded_as_asked() {
    let (asked, ids) = asked();
    let near = "&viewbox=0.6,0.6,0.8,0.8";
    let all = asked.ids("triq il kbira", "");
    let turned = asked.ids("triq il kbira", near);
    assert_eq!((all[0], turned[1]), (ids.street, ids.street));
    assert_eq!(asked.ids("triq il kbira", &format!("{near}&bounded=1")), turned[..1]);
    assert_eq!(asked.ids("triq il kbira", "&limit=1").len(), 1);
    assert_eq!(
        (asked.ids("olive", "&countrycodes=ix,fr"), asked.ids("olive", "&countrycodes=fr")),
        (vec![ids.town], vec![])
    );
    assert_eq!(asked.ids("olive bar", "&layer=address"), Vec::<i64>::new());
    assert_eq!(asked.ids("olive bar", "&layer=poi").len(), 1);
    let first = asked.json("/search?q=triq+il+kbira")[0]["place_id"].clone();
    assert!(!asked.ids("triq il kbira", &format!("&exclude_place_ids={first}")).contains(&all[0]));
    assert_eq!(asked.ids("harbour", "&featureType=country"), Vec::<i64>::new());
    assert_eq!(asked.ids("harbour", "&featureType=city"), [ids.other]);
}

#[test]
fn a_place_has_its_address_in_the_language_asked_for() {
    let (asked, ids) = asked();
    let found = asked.json("/search?q=12A+Triq+il-Kbira,+Olive&addressdetails=1&accept-language=en");
    assert_eq!(found[0]["display_name"], "12A, Triq il-Kbira, Upper Quarter, Olive, ZB 1, Isle");
    let address = &found[0]["address"];
    // The node of its name says that it is a town.
    let told = ["house_number", "road", "suburb", "town", "postcode", "country", "country_code"];
    let expected = ["12A", "Triq il-Kbira", "Upper Quarter", "Olive", "ZB 1", "Isle", "ix"];
    assert_eq!(told.map(|name| address[name].as_str().unwrap_or_default()), expected, "{address}");
    assert_eq!((&found[0]["category"], &found[0]["type"]), (&"place".into(), &"house".into()));
    let local = asked.json(&format!("/lookup?osm_ids=R{}&addressdetails=1", ids.town));
    assert_eq!(local[0]["display_name"], "Żebbuġ, Ínsula");
    assert_eq!(local[0]["address"]["town"], "Żebbuġ");
    let header =
        asked.server.ask("GET", &format!("/lookup?osm_ids=R{}", ids.town), "Accept-Language: xx, en;q=0.5\r\n", "");
    assert!(header.text().contains("\"display_name\":\"Olive, Isle\""), "{}", header.text());

    let xml = asked.server.get("/search?q=gr%C3%B6%C3%9Fe&format=xml&addressdetails=1");
    assert!(xml.header("content-type").is_some_and(|kind| kind.starts_with("text/xml")));
    for part in [
        "<searchresults timestamp=",
        "querystring=\"größe\"",
        "class=\"amenity\" type=\"cafe\"",
        "<country_code>ix</country_code>",
    ] {
        assert!(xml.text().contains(part), "{part}: {}", xml.text());
    }
    let mut reader = quick_xml::Reader::from_str(std::str::from_utf8(&xml.body).unwrap());
    while reader.read_event().expect("well-formed") != quick_xml::events::Event::Eof {}
}

#[test]
fn points_lead_back() {
    let (asked, ids) = asked();
    let at = |lat: f64, lon: f64, more: &str| asked.json(&format!("/reverse?format=jsonv2&lat={lat}&lon={lon}{more}"));
    assert_eq!(at(0.20031, 0.20101, "")["osm_id"], ids.house);
    assert_eq!(at(0.20051, 0.20401, "&layer=poi")["osm_id"], ids.cafe);
    assert_eq!(at(0.20051, 0.20401, "")["address"]["road"], "Triq il-Kbira");
    assert_eq!(at(0.2, 0.2035, "&zoom=17")["osm_id"], ids.street);
    for (zoom, id) in [(3, ids.country), (10, ids.town), (14, ids.quarter)] {
        assert_eq!(at(0.2003, 0.2011, &format!("&zoom={zoom}"))["osm_id"], id, "{zoom}");
    }
    assert_eq!(at(0.9, 0.9, "")["osm_id"], ids.country);
    // Maps have more levels than there are.
    assert_eq!(at(0.20031, 0.20101, "&zoom=22")["osm_id"], ids.house);
    // As Nominatim has it: nothing at sea and off the globe, a country where no border is.
    for (lat, lon) in [(30.0, -45.0), (91.3, 0.4), (0.2, 324.44)] {
        assert_eq!(at(lat, lon, "")["error"], "Unable to geocode");
    }
    let unknown = at(45.174, -103.072, "");
    assert_eq!((&unknown["display_name"], &unknown["type"]), (&"United States".into(), &"country".into()));
    assert!(unknown.get("osm_id").is_none(), "{unknown}");
    let error = asked.server.get("/reverse?lat=x&lon=0&format=xml");
    assert_eq!((error.status, error.header("content-type")), (400, Some("text/xml; charset=utf-8")));
    assert!(error.text().contains("<error><code>400</code><message>Parameter "), "{}", error.text());
    let features = asked.json("/reverse?lat=0.20031&lon=0.20101&format=geocodejson");
    assert_eq!(features["features"][0]["properties"]["geocoding"]["housenumber"], "12A");
    // As Nominatim's documentation has it, without a word.
    let xml = asked.server.get("/reverse?lat=0.20031&lon=0.20101").text();
    assert!(xml.contains("<reversegeocode") && xml.contains("<house_number>12A</house_number>"), "{xml}");
    for wrong in ["/reverse", "/reverse?lat=1", "/reverse?lat=nan&lon=0", "/reverse?lat=1&lon=1&zoom=x"] {
        assert_eq!(asked.server.get(wrong).status, 400, "{wrong}");
    }
    assert_eq!(asked.server.get("/status").text(), "OK");
    assert_eq!(asked.json("/status?format=json")["status"], 0);
}

#[test]
fn postal_codes_lead_somewhere() {
    let (asked, ids) = asked();
    let found = |query: &str| asked.json(&format!("/search?{query}"));
    // Three houses have it, two of them far from the other: a place in each town, that with more of them first.
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
    // It narrows what has it, and spoils nothing that has not.
    assert_eq!(asked.ids("12A Triq il-Kbira, ZB 1 Olive", ""), [ids.house]);
    assert_eq!(asked.ids("triq il-kbira 12A, HB-20", ""), asked.ids("12A triq il-kbira, Harbour", ""));
    assert_eq!(found("city=Olive&postalcode=99999")[0]["osm_id"], ids.town);
    assert_eq!(asked.ids("99999 Olive", "")[0], ids.town);
    // A place without an element can be left out, too.
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

#[test]
fn kinds_of_things_are_found_where_they_are() {
    let (asked, ids) = asked();
    let [named, nameless, other] = ids.shops.pubs;
    for text in ["pubs in Olive", "pub, Zebbug", "[pub] Olive", "[amenity=pub] Olive, Isle", "Olive pub"] {
        assert_eq!(asked.ids(text, ""), [named, nameless], "{text}");
    }
    assert_eq!(asked.ids("pubs near Harbour", ""), [other]);
    // Near to what is no place, the nearest first.
    assert_eq!(asked.ids("pubs near Cafe Grosse Sohne", ""), [named, nameless]);
    assert_eq!(asked.ids("pub near 0.7, 0.7", ""), [other]);
    assert_eq!(asked.ids("pub 0.2007,0.205", ""), [nameless, named]);
    let parts = asked.json("/search?amenity=pub&city=Harbour");
    assert_eq!(parts[0]["osm_id"], other);
    // Without a place a box says where.
    let near = "&bounded=1&viewbox=0.6,0.6,0.8,0.8";
    assert_eq!((asked.ids("[pub]", near), asked.ids("pub", near)), (vec![other], vec![other]));
    assert!(asked.ids("[pub]", "").is_empty() && asked.ids("pubs in Atlantis", "").is_empty());
    // What is called so comes first.
    assert_eq!(asked.ids("the pub", ""), [named]);
    assert_eq!(asked.ids("the pub, olive", ""), [named]);
}

#[test]
fn names_are_found_as_people_shorten_them() {
    let (asked, ids) = asked();
    for text in ["Main St, Olive", "main st. zebbug", "Olive, Main Street"] {
        assert_eq!(asked.ids(text, ""), [ids.street], "{text}");
    }
    // What lies around is also what addresses say, and an island on which a town lies that is as important.
    for text in ["Fort Saint Elm", "fort st elm, Faraway Bay", "Faraway, Fort St. Elm", "Fort St Elm, Isle"] {
        assert_eq!(asked.ids(text, ""), [ids.shops.fort], "{text}");
    }
    assert_eq!(asked.ids("Harbour, Big Rock", ""), [ids.other]);
    for text in ["A 12", "a12", "A12, Isle"] {
        assert_eq!(asked.ids(text, ""), [ids.shops.road], "{text}");
    }
    assert_eq!(asked.ids("Olive Town", "")[0], ids.town);
    // Of two names in one value one is said in part.
    assert_eq!(asked.ids("hall", ""), [ids.shops.hall]);
    assert_eq!(asked.ids("elmfort", ""), [ids.shops.fort]);
    for text in ["0.20031, 0.20101", "N 0.20031 E 0.20101", "0°12'1.1\"N 0°12'3.6\"E"] {
        assert_eq!(asked.ids(text, ""), [ids.house], "{text}");
    }
    for (text, far) in [("0.20031, 190.5", 0), ("12 0.5", 0)] {
        assert_eq!(asked.ids(text, "").len(), far, "{text}");
    }
    // The same street twice, where somebody wants it so.
    let all = asked.ids("main street, olive", "&dedupe=0");
    assert_eq!((all.len(), all[0]), (1, ids.street));
    assert_eq!(asked.ids("triq il kbira, olive", "&dedupe=0").len(), 2);
}

#[test]
fn answers_have_the_forms_that_are_documented() {
    let (asked, ids) = asked();
    let town = format!("osm_ids=R{}", ids.town);
    // Two points of the border lie on a line between others.
    let told = asked.json(&format!("/lookup?{town}&format=json&polygon_kml=1&polygon_svg=1"));
    let ring = "0.1,0.1 0.3,0.1 0.3,0.3 0.1,0.3 0.1,0.1";
    let kml = format!(
        "<Polygon><outerBoundaryIs><LinearRing><coordinates>{ring}</coordinates></LinearRing></outerBoundaryIs></Polygon>"
    );
    assert_eq!(
        (&told[0]["geokml"], &told[0]["svg"]),
        (&kml.as_str().into(), &"M 0.1 -0.1 L 0.3 -0.1 0.3 -0.3 0.1 -0.3 Z".into())
    );
    assert_eq!(told[0]["address"]["country_code"], "ix", "a look-up has the address without a word");
    let xml = asked.server.get(&format!("/lookup?{town}&format=xml&polygon_kml=1")).text();
    assert!(xml.contains("<searchresults ") && xml.contains(&format!("querystring=\"R{}\"", ids.town)), "{xml}");
    assert!(xml.contains(&format!("<geokml>{kml}</geokml>")), "{xml}");
    let hall = format!("osm_ids=W{}", ids.shops.hall);
    let points = |threshold: &str| {
        let shape = asked.json(&format!("/lookup?{hall}&polygon_geojson=1&polygon_threshold={threshold}"));
        shape[0]["geojson"]["coordinates"][0].as_array().unwrap().len()
    };
    assert_eq!([points("0"), points("0.00001"), points("1")], [5, 5, 4]);

    let door = asked.json(&format!("/lookup?{hall}&entrances=1"))[0]["entrances"].clone();
    let expected = serde_json::json!([{
        "osm_id": ids.shops.door, "type": "main", "lat": "0.2201", "lon": "0.22", "extratags": { "wheelchair": "yes" },
    }]);
    assert_eq!(door, expected);
    assert!(asked.json(&format!("/lookup?{town}&entrances=1"))[0]["entrances"].is_null());

    let features = asked.json(&format!("/lookup?osm_ids=N{},R{}&format=geocodejson&extratags=1", ids.house, ids.town));
    let of = |at: usize| &features["features"][at]["properties"]["geocoding"];
    assert_eq!((&of(0)["type"], &of(1)["type"]), (&"house".into(), &"city".into()));
    assert_eq!(of(0)["admin"], serde_json::json!({ "level2": "Ínsula", "level8": "Żebbuġ" }));
    assert_eq!((&of(0)["country_code"], &of(0)["city"]), (&"ix".into(), &"Żebbuġ".into()));
    assert_eq!(of(1)["extra"]["admin_level"], "8");

    let script = asked.server.get("/search?q=olive&json_callback=show.places");
    assert!(script.text().starts_with("show.places([{") && script.text().ends_with("])"), "{}", script.text());
    assert!(script.header("content-type").is_some_and(|kind| kind.starts_with("application/javascript")));
    for wrong in ["json_callback=alert(1)", "polygon_threshold=1m", "viewbox=1,2,1,2", "zoom=1&format=html"] {
        assert_eq!(asked.server.get(&format!("/search?q=olive&{wrong}")).status, 400, "{wrong}");
    }
    // A node has a box that a map can show.
    let quarter = asked.json("/search?q=upper+quarter")[0].clone();
    let side = |at: usize| quarter["boundingbox"][at].as_str().unwrap().parse::<f64>().unwrap();
    assert!(side(0) < 0.2 && side(1) > 0.22 && side(1) - side(0) < 0.1, "{quarter}");
}

/// Houses whose addresses are written in other ways: the forms of Nominatim's scenarios, in a street of the island's town.
#[test]
fn houses_are_found_by_every_form_of_a_number() {
    let folder = tempfile::tempdir().unwrap();
    let (mut island, ids) = island();
    let street = |number| [("addr:housenumber", number), ("addr:street", "Triq il-Kbira")];
    let slash = island.node(0.20031, 0.2061, &street("731/27"));
    let list = island.node(0.20031, 0.2063, &street("46;48"));
    let blank = island.node(0.20031, 0.2065, &street("15 B"));
    // Without a street: that beside it, which is Triq il-Kbira, and a place.
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
    let server = Server::of(&island.load(folder.path()), &[]);
    let asked = Asked { server, _folder: folder };
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
    // What the geocoder says is found again, also a name with the street that it is beside.
    for id in [format!("N{slash}"), format!("N{beside}"), format!("N{placed}"), format!("N{}", ids.cafe)] {
        let told = asked.json(&format!("/lookup?osm_ids={id}"))[0].clone();
        let again = asked.ids(told["display_name"].as_str().unwrap(), "");
        assert_eq!(again.first().copied(), told["osm_id"].as_i64(), "{told}");
    }
    assert_eq!(asked.ids("Cafe Grosse & Sohne, Main Street, Olive", ""), [ids.cafe]);
    assert_eq!(asked.ids("Cafe Grosse and Sohne, Olive", ""), [ids.cafe]);
    assert_eq!(asked.ids("Silum", ""), [village]);
}

/// Names of countries and regions that no border of the extract has, as CLDR and ISO 3166 have them.
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
    let server = Server::of(&island.load(folder.path()), &[]);
    let asked = Asked { server, _folder: folder };
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
    // The larger of two parts on both sides of the antimeridian has the point.
    let viti = asked.json(&format!("/lookup?osm_ids=R{viti}"))[0].clone();
    let degrees = |value: &Value| value.as_str().unwrap().parse::<f64>().unwrap();
    assert!(
        (177.0..179.0).contains(&degrees(&viti["lon"])) && (-18.0..-17.0).contains(&degrees(&viti["lat"])),
        "{viti}"
    );
}

/// Names, codes, kinds and positions that nobody wrote for this.
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

/// Neither threads nor memory show in the index, and damage to it does.
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
        let server = Server::of(&path, &[]);
        // What does not need the index is answered, what needs it is not.
        assert_eq!(server.query("[out:json];node(1);out ids;").status, 200);
        assert_eq!(server.get("/search?q=olive+bar").status, 500, "{section}");
    }
}

/// Names of areas in the benchmark's queries lead to the elements that its geocoder found, where an extract has these as
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
    for extract in ["patchwork-world", "malta-2024", "malta-2016", "monaco", "niue"] {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("extract.terrapin");
        let source = data.join(format!("osm/{extract}.osm.pbf"));
        terrapin().arg("load").arg("--osm").arg(source).arg("--out").arg(&path).assert().success();
        let asked = Asked { server: Server::of(&path, &[]), _folder: folder };
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
