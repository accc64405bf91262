//! Tests GeoJSON at a shell and over HTTP. `make geojson` compares with osmtogeojson itself over recorded queries.

use serde_json::Value;

use crate::common::server::{FORM, TestServer};
use crate::common::{Town, terrapin};

const CAFES: &str = "[out:csv(name)];node[amenity=cafe];out;";

fn collection(text: &str) -> Vec<Value> {
    let collection: Value = serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"));
    assert_eq!(collection["type"], "FeatureCollection");
    collection["features"].as_array().expect("features").clone()
}

fn ids(features: &[Value]) -> Vec<&str> {
    features.iter().map(|feature| feature["id"].as_str().expect("an id")).collect()
}

fn run(town: &Town, args: &[&str]) -> (i32, String, String) {
    let output = terrapin().arg("query").arg(town.snapshot()).args(args).output().expect("it runs");
    let text = |bytes| String::from_utf8(bytes).expect("UTF-8");
    (output.status.code().expect("ended by itself"), text(output.stdout), text(output.stderr))
}

#[test]
fn whatever_a_query_asks_for_can_be_had_as_features() {
    let town = Town::new();
    let (status, out, err) = run(&town, &[CAFES, "--format", "geojson"]);
    assert_eq!((status, err.as_str()), (0, ""));
    let features = collection(&out);
    assert_eq!(ids(&features), ["node/1", "node/2", "node/3", "node/4"]);
    assert_eq!(features[0]["properties"]["tags"]["name"], "Bean & Leaf");
    assert_eq!(features[0]["geometry"]["type"], "Point");

    let (_, out, _) = run(&town, &["way[highway];out geom;", "--format", "geojsonseq"]);
    let lines: Vec<&str> = out.lines().collect();
    assert!(!lines.is_empty() && lines.iter().all(|line| line.starts_with("\u{1e}{\"type\":\"Feature\"")), "{out}");

    // The nodes of ways are in the answer but are not features.
    let (_, out, _) = run(&town, &["way[highway];out;>;out skel qt;", "--format", "geojson"]);
    let lines = collection(&out);
    assert!(ids(&lines).iter().all(|id| id.starts_with("way/")), "{out}");
}

#[test]
fn an_answer_without_places_says_what_it_lacks() {
    let town = Town::new();
    let (status, out, err) = run(&town, &["way[highway];out;", "--format", "geojson"]);
    assert_eq!((status, collection(&out).len()), (0, 0));
    assert!(err.contains("out geom;"), "{err}");
    let (status, _, err) = run(&town, &["node(1);out;", "--format", "shapefile"]);
    assert_eq!(status, 2);
    assert!(err.contains("geojson or geojsonseq"), "{err}");
    let (status, out, err) = run(&town, &["[diff:\"2020-01-01T00:00:00Z\"];node(1);out;", "--format", "geojson"]);
    assert_eq!((status, out.as_str()), (1, ""));
    assert!(err.contains("GeoJSON"), "{err}");
}

#[test]
fn a_client_that_would_rather_have_geojson_gets_it() {
    let server = TestServer::start(&[]);
    let ask = |accept: &str| {
        let headers = format!("{FORM}Accept: {accept}\r\n");
        server.ask("POST", "/api/interpreter", &headers, CAFES)
    };
    let answer = ask("application/geo+json");
    assert_eq!((answer.status, answer.header("content-type")), (200, Some("application/geo+json")));
    assert_eq!(answer.header("vary").map(|vary| vary.contains("accept")), Some(true), "{}", answer.headers);
    assert_eq!(ids(&collection(&answer.text())).len(), 4);
    assert_eq!(ask("application/geo+json-seq, */*;q=0.1").header("content-type"), Some("application/geo+json-seq"));
    assert_eq!(ask("*/*").header("content-type"), Some("text/csv; charset=utf-8"));
    let table = ask("text/csv, application/geo+json;q=0.9");
    assert_eq!(table.header("content-type"), Some("text/csv; charset=utf-8"));

    // Invalid queries are rejected as in other formats.
    let refused = server.ask("POST", "/api/interpreter", "Accept: application/geo+json\r\n", "node(");
    assert_eq!((refused.status, refused.text().contains("parse error")), (400, true));
}

#[test]
fn features_are_within_the_memory_of_a_query() {
    let town = Town::new();
    let query = "[out:json];nwr(0,0,90,180);out geom;";
    let (status, out, err) = run(&town, &[query, "--format", "geojson", "--memory", "1kB"]);
    assert_eq!((status, out.as_str()), (1, ""), "{err}");
    assert!(err.contains("memory"), "{err}");
}
