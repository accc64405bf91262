//! Tests tag statistics in the form of taginfo's API, and the search for tags by words.

use std::collections::{BTreeMap, BTreeSet};

use quick_xml::Reader;
use quick_xml::events::Event;
use serde_json::{Value, json};

use crate::common::server::{TestServer, encoded};
use crate::common::{Town, place, skip, terrapin};

fn ask(server: &TestServer, path: &str) -> Value {
    let answer = server.get(path);
    assert_eq!(answer.status, 200, "{path}: {}", answer.text());
    assert!(answer.headers.contains("content-type: application/json"), "{}", answer.headers);
    serde_json::from_slice(&answer.body).unwrap()
}

/// Returns a field of all rows.
fn column<'a>(answer: &'a Value, name: &str) -> Vec<&'a Value> {
    answer["data"].as_array().unwrap().iter().map(|row| &row[name]).collect()
}

#[test]
fn keys_and_values_with_their_counts() {
    let server = TestServer::start(&[]);
    let keys = ask(&server, "/api/4/keys/all");
    assert_eq!((&keys["total"], keys.get("page"), keys.get("rp")), (&json!(5), None, None));
    assert_eq!(keys["data_until"], "2020-01-06T12:00:00Z");
    assert_eq!(keys["url"], "http://localhost/api/4/keys/all");
    assert_eq!(column(&keys, "key"), ["amenity", "name", "type", "admin_level", "highway"]);
    assert_eq!(
        keys["data"][1],
        json!({"key": "name", "count_all": 4, "count_all_fraction": 4.0 / 12.0, "count_nodes": 2,
               "count_nodes_fraction": 0.25, "count_ways": 1, "count_ways_fraction": 0.5, "count_relations": 1,
               "count_relations_fraction": 0.5, "values_all": 4, "in_wiki": false})
    );
    let sorted = ask(&server, "/api/4/keys/all?sortname=key&sortorder=desc&page=2&rp=2");
    assert_eq!((column(&sorted, "key"), &sorted["total"]), (vec![&json!("highway"), &json!("amenity")], &json!(5)));
    // Prefix matches come before more frequent keys.
    assert_eq!(column(&ask(&server, "/api/4/keys/all?query=A"), "key"), ["amenity", "admin_level", "name", "highway"]);
    let prevalent = ask(&server, "/api/4/keys/all?query=amenity&include=prevalent_values");
    assert_eq!(prevalent["data"][0]["prevalent_values"], json!([{"value": "cafe", "count": 4, "fraction": 1.0}]));

    let names = ask(&server, "/api/4/key/values?key=name&query=l");
    assert_eq!(column(&names, "value"), ["Ladle", "Ladle Street", "Bean & Leaf", "Zur M\u{fc}hle"]);
    assert_eq!(names["data"][0], json!({"value": "Ladle", "count": 1, "fraction": 0.25, "in_wiki": false}));
    let of_nodes = ask(&server, "/api/4/key/values?key=name&filter=nodes&sortname=value&sortorder=desc");
    assert_eq!(column(&of_nodes, "value"), ["Zur M\u{fc}hle", "Bean & Leaf"]);
    assert_eq!(ask(&server, "/api/4/key/values?key=nothing")["total"], 0);

    let stats = ask(&server, "/api/4/key/stats?key=name");
    assert_eq!(column(&stats, "type"), ["all", "nodes", "ways", "relations"]);
    assert_eq!(
        (column(&stats, "count"), column(&stats, "values")),
        (vec![&json!(4), &json!(2), &json!(1), &json!(1)], vec![&json!(4), &json!(2), &json!(1), &json!(1)])
    );
    let stats = ask(&server, "/api/4/tag/stats?key=amenity&value=cafe");
    assert_eq!(column(&stats, "count"), [4, 4, 0, 0]);
    assert_eq!(column(&stats, "count_fraction"), [4.0 / 12.0, 0.5, 0.0, 0.0]);
}

#[test]
fn what_is_found_together_and_what_is_popular() {
    let server = TestServer::start(&[]);
    let keys = ask(&server, "/api/4/key/combinations?key=amenity");
    let name = json!({"other_key": "name", "together_count": 2, "to_fraction": 0.5, "from_fraction": 0.5});
    assert_eq!((&keys["total"], &keys["data"]), (&json!(1), &json!([name])));
    let tags = ask(&server, "/api/4/tag/combinations?key=amenity&value=cafe&rp=2");
    assert_eq!(tags["total"], 3);
    assert_eq!(column(&tags, "other_value"), ["", "Bean & Leaf"]);
    // The second request is answered from the cache.
    assert_eq!(ask(&server, "/api/4/tag/combinations?key=amenity&value=cafe&rp=2")["data"], tags["data"]);
    let some = ask(&server, "/api/4/tag/combinations?key=amenity&value=cafe&filter=ways");
    assert_eq!(some["data"], json!([]));

    let popular = ask(&server, "/api/4/tags/popular?rp=2");
    assert_eq!(column(&popular, "value"), ["cafe", "8"]);
    assert_eq!((&popular["total"], &popular["data"][0]["count_nodes"]), (&json!(9), &json!(4)));
    let found = ask(&server, "/api/4/search/by_key_and_value?query=na%3Dleaf");
    assert_eq!(found["data"], json!([{"key": "name", "value": "Bean & Leaf", "count_all": 1}]));
    assert_eq!(ask(&server, "/api/4/search/by_value?query=resid")["data"][0]["key"], "highway");
    let listed = ask(&server, "/api/4/tags/list?tags=highway%3Dresidential,primary,amenity%3Dcafe");
    assert_eq!(column(&listed, "count_all"), [1, 0, 4]);
    assert_eq!(ask(&server, "/api/4/site/info")["name"], "Terrapin");
    let words = ask(&server, "/api/4/search/by_keyword?query=residential%20highways");
    assert_eq!((&words["data"][0]["value"], &words["total"]), (&json!("residential"), &json!(1)));
}

#[test]
fn bad_requests_are_told_what_is_wrong() {
    let server = TestServer::start(&[]);
    let cases = [
        ("key/values", "the parameter \"key\" is missing"),
        ("key/values?key=a&rp=-1", "rp: expected a number of rows, or 0 for all"),
        ("key/values?key=a&page=x", "page: expected a number above 0"),
        ("key/values?key=%ff", "the address is not in UTF-8"),
        ("keys/all?sortname=users", "sortname: expected one of key, count_all"),
        ("keys/all?sortorder=up", "sortorder: expected asc or desc"),
        ("keys/all?filter=nodes", "filter: expected one of all, characters_plain"),
        ("key/combinations?key=a&filter=areas", "filter: expected one of all, nodes, ways, relations"),
        ("tags/list", "one of the parameters"),
        ("tags/list?tags=a", "tags: expected key=value"),
        ("search/by_key_and_value?query=a", "query: expected key=value"),
        ("keys/all?format=xml", "format: expected one of json"),
    ];
    for (path, message) in cases {
        let answer = server.get(&format!("/api/4/{path}"));
        assert_eq!(answer.status, 400, "{path}: {}", answer.text());
        let told: Value = serde_json::from_slice(&answer.body).unwrap();
        assert!(told["error"].as_str().unwrap().starts_with(message), "{path}: {told}");
    }
    // A page far beyond the end is empty and not an error.
    let far = ask(&server, &format!("/api/4/keys/all?page={}&rp={}", u64::MAX, u64::MAX));
    assert_eq!((&far["data"], &far["total"]), (&json!([]), &json!(5)));
    assert_eq!(server.get("/api/4/nothing").status, 404);
}

/// Tag counts computed from an export.
#[derive(Default)]
struct ExportTagCounts {
    keys: BTreeMap<String, [u64; 3]>,
    tags: BTreeMap<(String, String), [u64; 3]>,
    /// Number of elements that have both keys.
    together: BTreeMap<(String, String), u64>,
}

impl ExportTagCounts {
    fn of(xml: &str) -> ExportTagCounts {
        let mut counted = ExportTagCounts::default();
        let mut reader = Reader::from_str(xml);
        let mut tags: Vec<(String, String)> = Vec::new();
        loop {
            let (event, is_whole) = match reader.read_event().unwrap() {
                Event::Eof => return counted,
                Event::Start(start) => (start, false),
                Event::Empty(empty) => (empty, true),
                Event::End(end) => {
                    counted.add(end.name().as_ref(), &mut tags);
                    continue;
                }
                _ => continue,
            };
            if event.name().as_ref() == "tag" {
                let value = |name: &str| {
                    let attribute = event.try_get_attribute(name).unwrap().unwrap();
                    attribute.normalized_value(quick_xml::XmlVersion::Implicit1_0).unwrap().into_owned()
                };
                tags.push((value("k"), value("v")));
            } else if is_whole {
                counted.add(event.name().as_ref(), &mut tags);
            }
        }
    }

    fn add(&mut self, kind: &str, tags: &mut Vec<(String, String)>) {
        let Some(kind) = ["node", "way", "relation"].iter().position(|name| *name == kind) else { return };
        for (key, _) in tags.iter() {
            self.keys.entry(key.clone()).or_default()[kind] += 1;
            for (other, _) in tags.iter().filter(|(other, _)| other != key) {
                *self.together.entry((key.clone(), other.clone())).or_default() += 1;
            }
        }
        for tag in tags.drain(..) {
            self.tags.entry(tag).or_default()[kind] += 1;
        }
    }
}

fn counts(row: &Value) -> [u64; 3] {
    ["count_nodes", "count_ways", "count_relations"].map(|name| row[name].as_u64().unwrap())
}

#[test]
fn counts_are_those_of_an_export() {
    let source = place::shared().join("data/osm/monaco.osm.pbf");
    if !source.exists() {
        return skip::skipped(skip::Need::Shared, format_args!("no {}", source.display()));
    }
    let folder = tempfile::tempdir().unwrap();
    let snapshot = folder.path().join("monaco.terrapin");
    let run = |args: &[&str]| terrapin().current_dir(folder.path()).args(args).assert().success();
    run(&["load", "--osm", source.to_str().unwrap(), "--out", "monaco.terrapin"]);
    run(&["export", "monaco.terrapin", "--osm-xml", "monaco.osm"]);
    let counted = ExportTagCounts::of(&std::fs::read_to_string(folder.path().join("monaco.osm")).unwrap());
    let server = TestServer::of(&snapshot, &[]);

    let keys = ask(&server, "/api/4/keys/all?sortname=key");
    let told: BTreeMap<String, [u64; 3]> = keys["data"]
        .as_array()
        .unwrap()
        .iter()
        .map(|row| (row["key"].as_str().unwrap().to_owned(), counts(row)))
        .collect();
    assert_eq!(told, counted.keys);
    let values: BTreeMap<&str, u64> = counted.tags.keys().fold(BTreeMap::new(), |mut all, (key, _)| {
        *all.entry(key).or_default() += 1;
        all
    });
    for row in keys["data"].as_array().unwrap() {
        assert_eq!(row["values_all"], values[row["key"].as_str().unwrap()], "{row}");
    }
    let tags = ask(&server, "/api/4/tags/popular");
    let told: BTreeMap<(String, String), [u64; 3]> = tags["data"]
        .as_array()
        .unwrap()
        .iter()
        .map(|row| ((row["key"].as_str().unwrap().to_owned(), row["value"].as_str().unwrap().to_owned()), counts(row)))
        .collect();
    assert_eq!(told, counted.tags);
    for key in ["highway", "building", "name", "wheelchair", "addr:street"] {
        let rows = ask(&server, &format!("/api/4/key/combinations?key={}", encoded(key)));
        let told: BTreeSet<(String, u64)> = rows["data"]
            .as_array()
            .unwrap()
            .iter()
            .map(|row| (row["other_key"].as_str().unwrap().to_owned(), row["together_count"].as_u64().unwrap()))
            .collect();
        let expected = counted.together.iter().filter(|((one, _), _)| one == key);
        assert_eq!(told, expected.map(|((_, other), n)| (other.clone(), *n)).collect(), "{key}");
    }
}

#[test]
fn a_command_finds_tags_in_words() {
    let town = Town::new();
    let run = |args: &[&str]| {
        let output = terrapin().arg("tags").arg(town.snapshot()).args(args).output().unwrap();
        assert!(output.status.success(), "{output:?}");
        String::from_utf8(output.stdout).unwrap()
    };
    let text = run(&["caf\u{e9}s in Ladle"]);
    assert!(text.starts_with("           4  amenity=cafe\n"), "{text}");
    let told: Value = serde_json::from_str(&run(&["residential streets", "--json"])).unwrap();
    assert_eq!((&told["tags"][0]["key"], &told["tags"][0]["ways"]), (&json!("highway"), &json!(1)));
    assert_eq!(run(&["zzz"]), "no tag matches any of these words\n");
    assert_eq!(run(&[""]), "no tag matches any of these words\n");
}
