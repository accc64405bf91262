//! Tests `--with-wikidata`, which adds data of linked Wikidata items to features, at a shell and over HTTP.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::common::server::TestServer;
use crate::common::skip::{Need, skipped};
use crate::common::{Town, place, terrapin};

const PLACES: &str = "nwr[wikidata];out center;";

fn run(snapshot: &Path, args: &[&str]) -> (i32, String, String) {
    let output = terrapin().arg("query").arg(snapshot).args(args).output().expect("it runs");
    let text = |bytes| String::from_utf8(bytes).expect("UTF-8");
    (output.status.code().expect("ended by itself"), text(output.stdout), text(output.stderr))
}

/// Returns the features of an answer by their ids.
fn features(text: &str) -> BTreeMap<String, Value> {
    let collection: Value = serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"));
    let all = collection["features"].as_array().expect("features").clone();
    all.into_iter().map(|feature| (feature["id"].as_str().expect("an id").to_owned(), feature)).collect()
}

/// Loads the elements of an extract together with entities of Wikidata.
fn loaded(town: &Town, extract: &Path, entities: &Path) -> PathBuf {
    let made = town.path("linked.terrapin");
    let loaded = terrapin()
        .arg("load")
        .args(["--osm".as_ref(), extract.as_os_str()])
        .args(["--wikidata".as_ref(), entities.as_os_str()])
        .args(["--out".as_ref(), made.as_os_str()])
        .output()
        .expect("it runs");
    assert!(loaded.status.success(), "{}", String::from_utf8_lossy(&loaded.stderr));
    made
}

/// Returns an entity in the JSON of a dump.
fn entity(id: &str, labels: &[(&str, &str)], claims: &Value) -> Value {
    let label =
        |(language, value): &(&str, &str)| ((*language).to_owned(), json!({"language": language, "value": value}));
    let labels: serde_json::Map<String, Value> = labels.iter().map(label).collect();
    json!({"type": "item", "id": id, "labels": labels, "descriptions": {}, "aliases": {}, "claims": claims, "sitelinks": {}})
}

/// Returns a statement; its number must be unique.
fn statement(number: u64, property: &str, rank: &str, datatype: &str, value: &Value) -> Value {
    json!({
        "mainsnak": {"snaktype": "value", "property": property, "datatype": datatype, "datavalue": value},
        "type": "statement", "rank": rank, "id": format!("Q1${number:08}-0000-0000-0000-000000000000"),
    })
}

fn quantity(amount: &str, unit: &str) -> Value {
    json!({"type": "quantity", "value": {"amount": amount, "unit": unit}})
}

fn time(time: &str, precision: u8) -> Value {
    json!({"type": "time", "value": {"time": time, "timezone": 0, "before": 0, "after": 0, "precision": precision,
        "calendarmodel": "http://www.wikidata.org/entity/Q1985727"}})
}

/// Loads Malta's elements and made-up items for every second item in its tags.
fn malta(town: &Town) -> Option<(PathBuf, Vec<(String, String)>)> {
    let extract = place::shared().join("data/osm/malta-2024.osm.pbf");
    if !extract.exists() {
        skipped(Need::Shared, extract.display());
        return None;
    }
    let bare = town.path("bare.terrapin");
    let paths = ["load".as_ref(), "--osm".as_ref(), extract.as_os_str(), "--out".as_ref(), bare.as_os_str()];
    assert!(terrapin().args(paths).output().expect("it runs").status.success());
    let (_, rows, _) = run(&bare, &["[out:csv(wikidata,name;false)];nwr[wikidata][name];out;"]);
    let named: BTreeMap<String, String> = rows
        .lines()
        .filter_map(|row| row.split_once('\t'))
        .filter(|(id, _)| id.starts_with('Q') && id[1..].bytes().all(|b| b.is_ascii_digit()))
        .map(|(id, name)| (id.to_owned(), name.to_owned()))
        .collect();
    // Only every second item: elements with an item that is not in the snapshot stay unchanged.
    let chosen: Vec<(String, String)> = named.into_iter().step_by(2).collect();
    let lines: Vec<String> = chosen
        .iter()
        .map(|(id, name)| {
            let number = id[1..].parse::<u64>().expect("a number");
            let people = quantity(&format!("+{}", number % 100_000), "1");
            let claims = json!({"P1082": [statement(number, "P1082", "normal", "quantity", &people)]});
            entity(id, &[("en", name)], &claims).to_string()
        })
        .collect();
    let dump = town.path("dump.json");
    std::fs::write(&dump, format!("[\n{}\n]\n", lines.join(",\n"))).expect("it is written");
    Some((loaded(town, &extract, &dump), chosen))
}

#[test]
fn features_of_malta_tell_of_their_items() {
    let town = Town::new();
    let Some((snapshot, chosen)) = malta(&town) else { return };
    let asked = [PLACES, "--format", "geojson"];
    let (status, plain, _) = run(&snapshot, &asked);
    assert_eq!(status, 0);
    let (status, told, err) = run(&snapshot, &[&asked[..], &["--with-wikidata", "P1082,P571"]].concat());
    assert_eq!((status, err.as_str()), (0, "note: property P571 does not occur in this snapshot\n"));
    assert_eq!(
        told,
        run(&snapshot, &[&asked[..], &["--with-wikidata", "P1082,P571"]].concat()).1,
        "the same each time"
    );

    let names: BTreeMap<&str, &str> = chosen.iter().map(|(id, name)| (id.as_str(), name.as_str())).collect();
    let (plain, mut told) = (features(&plain), features(&told));
    let mut linked = 0;
    for (id, feature) in &mut told {
        let properties = feature["properties"].as_object_mut().expect("properties");
        let item = properties.remove("wikidata_item");
        let tag = properties["tags"]["wikidata"].as_str().expect("a tag").to_owned();
        let known = tag.split(';').map(str::trim).find(|id| names.contains_key(id));
        match (item, known) {
            (Some(item), Some(known)) => {
                let people = known[1..].parse::<u64>().expect("a number") % 100_000;
                assert_eq!(item, json!({"id": known, "label": names[known], "P1082": [people]}), "{id}");
                linked += 1;
            }
            (item, known) => assert_eq!((item, known), (None, None), "{id}"),
        }
    }
    // Everything else is the same as without the option.
    assert_eq!(plain, told);
    assert!(linked > 100 && linked < plain.len(), "{linked} of {}", plain.len());

    // GeoJSON sequences have the same features; without properties, only the label is added.
    let (_, lines, _) = run(&snapshot, &[PLACES, "--format", "geojsonseq", "--with-wikidata="]);
    let of_lines = lines.lines().filter(|line| line.contains("\"wikidata_item\":{\"id\":\"Q")).count();
    assert_eq!((of_lines, lines.contains("\"P1082\":[")), (linked, false));

    // HTTP returns the same bytes.
    let server = TestServer::of(&snapshot, &[]);
    let path = format!("/api/interpreter?data={}&with-wikidata=P1082%2CP571", crate::common::server::encoded(PLACES));
    let answer = server.ask("GET", &path, "Accept: application/geo+json\r\n", "");
    assert_eq!((answer.status, answer.header("content-type")), (200, Some("application/geo+json")));
    assert!(answer.headers.contains("accept-language"), "{}", answer.headers);
    let (_, told, _) = run(&snapshot, &[&asked[..], &["--with-wikidata", "P1082,P571"]].concat());
    assert!(answer.text() == told, "not the same over HTTP");
}

/// Creates an item with every type of value, every rank, and several languages.
fn valued(town: &Town) -> PathBuf {
    let item = |id: u64| json!({"type": "wikibase-entityid", "value": {"entity-type": "item", "numeric-id": id, "id": format!("Q{id}")}});
    let claims = json!({
        "P1082": [
            statement(1, "P1082", "normal", "quantity", &quantity("+10", "1")),
            statement(2, "P1082", "preferred", "quantity", &quantity("+12.5", "1")),
            statement(3, "P1082", "deprecated", "quantity", &quantity("+99", "1")),
        ],
        "P2046": [statement(4, "P2046", "normal", "quantity", &quantity("+3", "http://www.wikidata.org/entity/Q2"))],
        "P571": [
            statement(5, "P571", "normal", "time", &time("+1571-00-00T00:00:00Z", 9)),
            statement(6, "P571", "normal", "time", &time("+1571-03-28T00:00:00Z", 11)),
        ],
        "P31": [statement(7, "P31", "normal", "wikibase-item", &item(2))],
        "P625": [statement(8, "P625", "normal", "globe-coordinate", &json!({"type": "globecoordinate", "value":
            {"latitude": 35.9, "longitude": 14.5, "altitude": null, "precision": 0.1, "globe": "http://www.wikidata.org/entity/Q2"}}))],
        "P1448": [statement(9, "P1448", "normal", "monolingualtext",
            &json!({"type": "monolingualtext", "value": {"text": "Belt", "language": "mt"}}))],
        "P214": [statement(10, "P214", "normal", "external-id", &json!({"type": "string", "value": "123"}))],
        "P17": [{"mainsnak": {"snaktype": "somevalue", "property": "P17", "datatype": "wikibase-item"},
            "type": "statement", "rank": "normal", "id": "Q1$00000011-0000-0000-0000-000000000000"}],
    });
    let town_item = entity("Q1", &[("en", "Town"), ("de", "Stadt")], &claims);
    let lines = [town_item, entity("Q2", &[("en", "square mile"), ("de", "Quadratmeile")], &json!({}))];
    let dump = town.path("dump.json");
    let lines: Vec<String> = lines.iter().map(Value::to_string).collect();
    std::fs::write(&dump, format!("[\n{}\n]\n", lines.join(",\n"))).expect("it is written");
    let extract = town.path("linked.osm");
    std::fs::write(
        &extract,
        "<osm version=\"0.6\"><node id=\"1\" version=\"1\" lat=\"1\" lon=\"2\"><tag k=\"wikidata\" v=\"Q7; Q1\"/></node>\
         <node id=\"2\" version=\"1\" lat=\"1\" lon=\"2\"><tag k=\"wikidata\" v=\"P31\"/></node>\
         <node id=\"3\" version=\"1\" lat=\"1\" lon=\"2\"><tag k=\"wikidata\" v=\"&quot;}Q\"/></node></osm>",
    )
    .expect("it is written");
    loaded(town, &extract, &dump)
}

#[test]
fn values_are_plain_and_of_the_rank_that_counts() {
    let town = Town::new();
    let snapshot = valued(&town);
    let all = "P1082,P2046,P571,P31,P625,P1448,P214,P17";
    let (status, out, err) =
        run(&snapshot, &["node(id:1,2,3);out;", "--format", "geojson", "--with-wikidata", all, "--language", "de-AT"]);
    assert_eq!((status, err.as_str()), (0, ""));
    let told = features(&out);
    assert_eq!(
        told["node/1"]["properties"]["wikidata_item"],
        json!({
            "id": "Q1", "label": "Stadt", "P1082": [12.5],
            "P2046": [{"amount": 3, "unit": {"id": "Q2", "label": "Quadratmeile"}}],
            "P571": ["1571", "1571-03-28"],
            "P31": [{"id": "Q2", "label": "Quadratmeile"}], "P625": [[14.5, 35.9]],
            "P1448": [{"text": "Belt", "language": "mt"}], "P214": ["123"],
        })
    );
    for other in ["node/2", "node/3"] {
        assert_eq!(told[other]["properties"].get("wikidata_item"), None, "{other}");
    }
    // The languages come from the header; a parameter of the same name has precedence.
    let server = TestServer::of(&snapshot, &[]);
    let label = |parameters: &str, headers: &str| {
        let path = format!("/api/interpreter?data=node(1)%3Bout%3B&with-wikidata={parameters}");
        let answer = server.ask("GET", &path, &format!("Accept: application/geo+json\r\n{headers}"), "");
        features(&answer.text())["node/1"]["properties"]["wikidata_item"].to_string()
    };
    assert_eq!(label("", ""), "{\"id\":\"Q1\",\"label\":\"Town\"}");
    assert!(label("", "Accept-Language: de-AT, en;q=0.5\r\n").contains("Stadt"));
    assert!(label("&accept-language=en", "Accept-Language: de\r\n").contains("Town"));
}

#[test]
fn what_cannot_be_told_is_said() {
    let town = Town::with_triples();
    let (with, without) = (town.snapshot(), Town::new());
    let cases: [(&Path, &[&str], i32, &str); 5] = [
        (&with, &["--format", "geojson", "--with-wikidata", "P1082,population"], 2, "'population' is no property"),
        (&with, &["--format", "geojson", "--with-wikidata", "Q1"], 2, "'Q1' is no property"),
        (&with, &["--with-wikidata", "P1082"], 2, "needs --format geojson"),
        (&with, &["--format", "json", "--with-wikidata", "P1082"], 2, "geojson"),
        (&without.snapshot(), &["--format", "geojson", "--with-wikidata", "P1082"], 3, "has no triples"),
    ];
    for (snapshot, options, status, says) in cases {
        let (code, out, err) = run(snapshot, &[&["node(1);out;"], options].concat());
        assert_eq!((code, out.as_str()), (status, ""), "{options:?}: {err}");
        assert!(err.contains(says), "{options:?}: {err}");
    }
    let ask = |server: &TestServer, parameter: &str, accept: &str| {
        let path = format!("/api/interpreter?data=node(1)%3Bout%3B&with-wikidata={parameter}");
        let answer = server.ask("GET", &path, &format!("Accept: {accept}\r\n"), "");
        (answer.status, answer.text())
    };
    let geojson = "application/geo+json";
    let server = TestServer::of(&with, &[]);
    for (parameter, accept, says) in [("population", geojson, "is no property"), ("P1082", "*/*", "the header Accept")]
    {
        let (status, text) = ask(&server, parameter, accept);
        assert!(status == 400 && text.contains(says), "{status} {text}");
    }
    let bare = TestServer::start(&[]);
    let (status, text) = ask(&bare, "P1082", geojson);
    assert!(status == 400 && text.contains("has no triples"), "{status} {text}");
}
