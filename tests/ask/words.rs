//! Tests queries from words, from the view of the shell and of HTTP. The town has four cafés, of which three are in Ladle.

use serde_json::{Value, json};

use crate::common::server::{TestServer, encoded};
use crate::common::{Town, terrapin};

fn explained(town: &Town, words: &str) -> Value {
    let snapshot = town.snapshot();
    let run = terrapin().arg("query").arg(snapshot).args(["--words", words, "--explain", "--json"]).assert().success();
    serde_json::from_slice(&run.get_output().stdout).unwrap()
}

fn ids(town: &Town, words: &str) -> Vec<i64> {
    let run = terrapin().arg("query").arg(town.snapshot()).args(["--words", words]).assert().success();
    let answer: Value = serde_json::from_slice(&run.get_output().stdout).unwrap();
    answer["elements"].as_array().unwrap().iter().map(|element| element["id"].as_i64().unwrap()).collect()
}

#[test]
fn words_become_a_query_that_runs() {
    let town = Town::new();
    assert_eq!(ids(&town, "cafes in Ladle"), [1, 2, 3]);
    assert_eq!(ids(&town, "cafes"), [1, 2, 3, 4]);
    // Ladle's name in German text: iD's preset is "Café".
    assert_eq!(ids(&town, "Cafés ohne Name in Ladle"), [3]);
    assert_eq!(ids(&town, "cafe without a name in Ladle"), [3]);
    assert_eq!(ids(&town, "cafes named Bean & Leaf"), [1]);
    assert_eq!(ids(&town, "streets with name"), [22]);
    // The place is no name.
    assert_eq!(ids(&town, "cafes with name in Ladle"), [1, 2]);
    assert_eq!(ids(&town, "nodes with a name in Ladle and amenity=cafe"), [1, 2]);
    // The same thing twice is one, and a quoted text stays in its quotation marks.
    assert_eq!(ids(&town, "cafes, cafes and cafes in Ladle"), [1, 2, 3]);
    assert!(ids(&town, "cafes named \"a\\\"];node(1);out;//\"").is_empty());
    assert_eq!(ids(&town, "amenity=cafe and name=* in Ladle"), [1, 2]);
    assert_eq!(ids(&town, "type:way and (amenity=cafe or highway=residential)"), [22]);
    // 111 m a hundredth of a hundredth of a degree: cafés 1 and 2 are some 150 m apart.
    assert_eq!(ids(&town, "cafes within 50 m of \"Bean & Leaf\""), [1]);
}

#[test]
fn every_part_is_a_chip_or_is_named() {
    let town = Town::new();
    let found = explained(&town, "How many cafes in Ladle that sparkle?");
    let kinds: Vec<&str> =
        found["parts"].as_array().unwrap().iter().map(|part| part["kind"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["count", "thing", "place"]);
    assert_eq!(found["parts"][1]["chosen"]["tags"], "amenity=cafe");
    assert_eq!(found["parts"][1]["chosen"]["count"], 4);
    assert_eq!((&found["parts"][1]["start"], &found["parts"][1]["end"]), (&json!(9), &json!(14)));
    assert_eq!(found["unknown"][0]["text"], "sparkle");
    assert_eq!(found["queries"][0]["language"], "overpassql");
    assert!(found["queries"][0]["query"].as_str().unwrap().ends_with("out count;\n"));
    assert_eq!(found["queries"][1]["language"], "sparql");
    // The same words have the same answer.
    assert_eq!(found, explained(&town, "How many cafes in Ladle that sparkle?"));
    terrapin().arg("query").arg(town.snapshot()).args(["--words", "xyzzy"]).assert().failure();
}

#[test]
fn both_languages_have_the_same_elements() {
    let town = Town::new();
    let args = ["--words", "cafes in Ladle", "--lang", "sparql", "--format", "csv"];
    let run = terrapin().arg("query").arg(town.snapshot()).args(args).assert().success();
    let text = String::from_utf8(run.get_output().stdout.clone()).unwrap();
    assert_eq!(text.lines().count(), 1 + 3, "{text}");
}

#[test]
fn the_route_answers_with_completions() {
    let server = TestServer::start(&[]);
    let words = encoded("cafes in Ladle");
    let answer = server.get(&format!("/words?q={words}&complete=1"));
    assert_eq!(answer.status, 200, "{}", answer.text());
    let found: Value = serde_json::from_slice(&answer.body).unwrap();
    assert_eq!(found["parts"][0]["chosen"]["tags"], "amenity=cafe");
    assert_eq!(found["completions"][0]["kind"], "place");
    let typed: Value = serde_json::from_slice(&server.get("/words?q=caf&complete=1").body).unwrap();
    assert_eq!(
        (&typed["completions"][0]["text"], &typed["completions"][0]["choice"]["count"]),
        (&json!("cafe"), &json!(4))
    );
    assert_eq!(server.get("/words").status, 400);
    assert_eq!(server.get("/words?q=").status, 400);
    assert_eq!(server.get("/words?q=cafes&bbox=1,2").status, 400);
    assert_eq!(server.get(&format!("/words?q={}", "a".repeat(1001))).status, 400);
    // Each character is a word, and each word is looked up: their number is limited.
    let many = server.get(&format!("/words?q={}", encoded(&"駅".repeat(121))));
    assert!(many.status == 400 && many.text().contains("more than 120 words"), "{}", many.text());
}
