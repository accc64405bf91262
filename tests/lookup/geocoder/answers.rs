//! Tests formats, languages and filters of answers, and the place at a point.

use super::asked;

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
    // The place node of the same name makes the area a town.
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
    // Maps may have more zoom levels than Nominatim.
    assert_eq!(at(0.20031, 0.20101, "&zoom=22")["osm_id"], ids.house);
    // Like Nominatim, finds nothing at sea and off the globe, and the country if the extract has no border there.
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
    // As in Nominatim's documentation, the default format is XML.
    let xml = asked.server.get("/reverse?lat=0.20031&lon=0.20101").text();
    assert!(xml.contains("<reversegeocode") && xml.contains("<house_number>12A</house_number>"), "{xml}");
    for wrong in ["/reverse", "/reverse?lat=1", "/reverse?lat=nan&lon=0", "/reverse?lat=1&lon=1&zoom=x"] {
        assert_eq!(asked.server.get(wrong).status, 400, "{wrong}");
    }
    assert_eq!(asked.server.get("/status").text(), "OK");
    assert_eq!(asked.json("/status?format=json")["status"], 0);
}

#[test]
fn answers_have_the_forms_that_are_documented() {
    let (asked, ids) = asked();
    let town = format!("osm_ids=R{}", ids.town);
    // Two points of the border are on a straight line between others and are omitted.
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
    // The bounding box of a node is large enough for a map.
    let quarter = asked.json("/search?q=upper+quarter")[0].clone();
    let side = |at: usize| quarter["boundingbox"][at].as_str().unwrap().parse::<f64>().unwrap();
    assert!(side(0) < 0.2 && side(1) > 0.22 && side(1) - side(0) < 0.1, "{quarter}");
}
