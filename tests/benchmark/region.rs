//! Tests `terrapin benchmark region` and `terrapin extract --for-benchmark`: the cut answers every gold query as the
//! whole snapshot does.

use serde_json::Value;

use crate::common::{TOWN, Town, place, terrapin};

/// Queries with a box, a recursion, an area, a chain of `around`, an id, and no place.
const QUERIES: [&str; 8] = [
    "[out:json];node[amenity=cafe](10.0,20.0,10.002,20.002);out;",
    "[out:json];way(10.0,20.0,10.002,20.002);out geom;>;out;<;out;",
    "[out:json];area[name=Ladle]->.a;nwr(area.a);out center;",
    "[out:json];node(1)->.a;way(around.a:500)->.b;node(around.b:200);out;",
    "[out:json];rel(id:1,2,3);out geom;",
    "[out:json];way[highway];out count;",
    "[out:json];is_in(10.001,20.001);out;",
    "[out:json];node[amenity];out;",
];

fn written(town: &Town, queries: &[&str]) -> String {
    let rows: Vec<String> =
        queries.iter().map(|query| serde_json::json!({"nl": "?", "gold": query}).to_string()).collect();
    let path = town.path("gold.jsonl");
    std::fs::write(&path, rows.join("\n")).unwrap();
    path.to_str().unwrap().to_owned()
}

fn json(town: &Town, args: &[&str]) -> Value {
    let done = terrapin().current_dir(town.path("")).args(args).arg("--json").assert().success();
    serde_json::from_slice(&done.get_output().stdout).unwrap()
}

#[test]
fn regions_are_written_with_their_union() {
    let town = Town::new();
    let gold = written(&town, &QUERIES);
    let args = ["benchmark", "region", &gold, "--snapshot", "town.terrapin", "--margin", "0"];
    let report = json(&town, &[&args[..], &["--out", "regions.jsonl", "--union", "union.geojson"]].concat());
    assert_eq!(report["queries"], 8);
    assert_eq!(report["observed"], 8);
    assert_eq!(report["kinds"]["global"], 2);
    let text = std::fs::read_to_string(town.path("regions.jsonl")).unwrap();
    let rows: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let kinds: Vec<&str> = rows.iter().map(|row| row["kind"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["box", "box", "area", "box", "ids", "global", "box", "global"]);
    assert_eq!(rows[0]["boxes"], serde_json::json!([[10.0, 20.0, 10.002, 20.002]]));
    assert_eq!(rows[7]["reason"], "line 1: node[amenity]");
    // The union is a region that extract reads.
    json(&town, &["extract", "town.terrapin", "--poly", "union.geojson", "--out", "part.terrapin"]);
    let poly = [&args[..], &["--union", "union.poly"]].concat();
    json(&town, &poly);
    json(&town, &["extract", "town.terrapin", "--poly", "union.poly", "--out", "part.terrapin"]);
}

#[test]
fn a_cut_for_a_benchmark_answers_as_the_whole() {
    let town = Town::new();
    let gold = written(&town, &QUERIES);
    let part = json(&town, &["extract", "town.terrapin", "--for-benchmark", &gold, "--out", "cut.terrapin"]);
    let remark = part["remarks"][0].as_str().unwrap();
    assert!(remark.contains("region of 8 gold queries of SHA-256 "), "{remark}");
    assert!(remark.ends_with("strategy complete-relations"), "{remark}");
    let drift = json(&town, &["benchmark", "drift", "town.terrapin", "cut.terrapin", &gold]);
    assert_eq!(drift["totals"]["differ"], 0, "{drift}");
    assert_eq!(drift["totals"]["errors"], 0, "{drift}");
    // The same without regions: only the elements that the queries read are taken.
    let read = ["extract", "town.terrapin", "--for-benchmark", &gold, "--largest", "0", "--out", "read.terrapin"];
    json(&town, &read);
    let drift = json(&town, &["benchmark", "drift", "town.terrapin", "read.terrapin", &gold]);
    assert_eq!(drift["totals"]["differ"], 0, "{drift}");
}

/// Without the query for all cafes, the cafe outside of the town is not needed.
#[test]
fn a_cut_for_a_benchmark_is_smaller_than_the_whole() {
    let town = Town::new();
    let [local @ .., _] = QUERIES;
    let gold = written(&town, &local);
    let part = json(&town, &["extract", "town.terrapin", "--for-benchmark", &gold, "--out", "cut.terrapin"]);
    let whole = TOWN.matches("<node ").count() as u64;
    assert_eq!(part["counts"]["nodes"].as_u64(), Some(whole - 1), "{part}");
    let drift = json(&town, &["benchmark", "drift", "town.terrapin", "cut.terrapin", &gold]);
    assert_eq!((&drift["totals"]["differ"], &drift["totals"]["errors"]), (&0.into(), &0.into()), "{drift}");
}

/// The cut has no older versions, so that a query about another date is not covered.
#[test]
fn queries_about_older_states_are_not_covered() {
    let town = Town::new();
    let village = place::root().join("tests/snapshot/history/village.osh");
    let load = ["load", "--osm", village.to_str().unwrap(), "--history", "--out", "history.terrapin"];
    terrapin().current_dir(town.path("")).args(load).assert().success();
    let area = "(10.0,20.0,10.01,20.01)";
    let queries = [
        format!("[date:\"2020-01-06T00:00:00Z\"];node{area};out;"),
        format!("retro(\"2020-01-06T00:00:00Z\"){{node{area};out;}}"),
        format!("node{area};out;"),
    ];
    let gold = written(&town, &queries.each_ref().map(String::as_str));
    let args = ["benchmark", "region", &gold, "--snapshot", "history.terrapin", "--out", "regions.jsonl"];
    assert_eq!(json(&town, &args)["observed"], 1);
    let text = std::fs::read_to_string(town.path("regions.jsonl")).unwrap();
    let rows: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert!(rows[..2].iter().all(|row| row["reason"].as_str().unwrap().contains("older state")), "{text}");
}
