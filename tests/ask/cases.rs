//! Tests the three kinds of questions that GeoQAMap was demonstrated with: things of a kind in a city, the parts of a
//! country with a fact about each, and a selection of them. The places are Malta and Brazil instead of Paris, Germany
//! and the United Kingdom, which are not in the data. The scripted model takes each identifier from its prompt.

use std::collections::BTreeSet;
use std::io::{BufRead, BufReader, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use flate2::read::GzDecoder;
use serde_json::{Value, json};

use crate::common::model::{Act, TestModel};
use crate::common::place::shared;
use crate::common::skip::{Need, skipped};
use crate::common::terrapin;

/// The properties of municipalities in the test data.
const PROPERTIES: [&str; 5] = ["P31", "P131", "P625", "P1082", "P18"];
const DIRECT: &str = "<http://www.wikidata.org/prop/direct/";
const LABEL: &str = "<http://www.w3.org/2000/01/rdf-schema#label>";

fn lines(name: &str) -> Option<impl Iterator<Item = String>> {
    let file = std::fs::File::open(shared().join("data/wikidata").join(name)).ok()?;
    Some(BufReader::new(GzDecoder::new(file)).lines().map_while(Result::ok))
}

/// Writes the triples of Brazil's municipalities, and the English labels of everything in them.
fn triples(out: &Path) -> Option<()> {
    let mut file = BufWriter::new(std::fs::File::create(out).unwrap());
    let mut named: BTreeSet<String> =
        PROPERTIES.iter().map(|property| format!("<http://www.wikidata.org/entity/{property}>")).collect();
    for line in lines("subset-br-municipalities.nt.gz")? {
        let mut parts = line.splitn(3, ' ');
        let (subject, predicate, object) = (parts.next().unwrap(), parts.next().unwrap(), parts.next().unwrap());
        let property = predicate.strip_prefix(DIRECT).map(|rest| rest.trim_end_matches('>'));
        if property.is_some_and(|property| PROPERTIES.contains(&property)) {
            named.extend([subject, object.trim_end_matches(" .")].map(str::to_owned));
            writeln!(file, "{line}").unwrap();
        }
    }
    for line in lines("subset-kgtk-arnold.nt.gz")? {
        let mut parts = line.splitn(3, ' ');
        let (subject, predicate) = (parts.next().unwrap(), parts.next().unwrap());
        if predicate == LABEL && line.ends_with("@en .") && named.contains(subject) {
            writeln!(file, "{line}").unwrap();
        }
    }
    Some(())
}

/// Returns a snapshot of Malta's elements and Brazil's municipalities. The first test that needs it creates it.
fn snapshot() -> Option<&'static Path> {
    static MADE: LazyLock<Option<(tempfile::TempDir, PathBuf)>> = LazyLock::new(|| {
        let folder = tempfile::tempdir().unwrap();
        let extract = shared().join("data/osm/malta-2024.osm.pbf");
        let rdf = folder.path().join("brazil.nt");
        if !extract.exists() || triples(&rdf).is_none() {
            skipped(Need::Shared, "no extract of Malta, or no triples of Brazil");
            return None;
        }
        let path = folder.path().join("cases.terrapin");
        let mut load = terrapin();
        load.args(["load", "--osm"]).arg(extract).arg("--rdf").arg(rdf).arg("--out").arg(&path).assert().success();
        Some((folder, path))
    });
    MADE.as_ref().map(|(_, path)| path.as_path())
}

/// Returns the identifier in the prompt's line of this kind and label, such as `wd:Q43235`, `wdt:P1082` or
/// `area(3600000031)`.
fn id<'a>(prompt: &'a str, kind: &str, label: &str) -> &'a str {
    let line = prompt.lines().find(|line| line.starts_with(kind) && line.contains(label));
    let line = line.unwrap_or_else(|| panic!("{kind} {label}: {prompt}"));
    line.split([' ', ',']).find(|word| ["wd:", "wdt:", "area("].iter().any(|head| word.starts_with(head))).unwrap()
}

/// Returns a model that sends these mentions, and then the results of `write` for the prompt and the number of the
/// attempt.
fn model(mentions: Value, write: impl Fn(&str, usize) -> String + Send + Sync + 'static) -> TestModel {
    TestModel::start(move |asked, _| {
        let messages = asked.body["messages"].as_array().unwrap();
        match asked.last() {
            last if last.starts_with("Say what this question mentions") => Act::Say(mentions.to_string()),
            last if last.starts_with("This came of the query") => Act::say("Here they are."),
            _ => Act::Say(write(messages[1]["content"].as_str().unwrap(), messages.len() / 2 - 1)),
        }
    })
}

fn ask(snapshot: &Path, model: &TestModel, question: &str, context: &str) -> Value {
    let mut command = terrapin();
    command.env_remove("TERRAPIN_MODEL_KEY").arg("ask").arg(snapshot).arg(question).args(["--context", context]);
    let done = command.args(model.options()).args(["--format", "json"]).output().unwrap();
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    serde_json::from_slice(&done.stdout).unwrap()
}

/// Returns the features of an answer, each of which must have a point in this box: west, south, east, north.
fn places(answer: &Value, [west, south, east, north]: [f64; 4]) -> &Vec<Value> {
    assert_eq!((&answer["map"], &answer["features"]["type"]), (&json!(true), &json!("FeatureCollection")), "{answer}");
    let features = answer["features"]["features"].as_array().unwrap();
    for feature in features {
        assert_eq!((&feature["type"], &feature["geometry"]["type"]), (&json!("Feature"), &json!("Point")), "{feature}");
        let at = |axis: usize| feature["geometry"]["coordinates"][axis].as_f64().unwrap();
        assert!((west..east).contains(&at(0)) && (south..north).contains(&at(1)), "{feature}");
    }
    features
}

const BRAZIL: [f64; 4] = [-74.1, -33.9, -32.3, 5.4];

#[test]
fn things_of_a_kind_in_a_city() {
    let Some(snapshot) = snapshot() else { return };
    let mentions = json!({"places": ["Valletta"], "things": ["place of worship", "restaurant"]});
    let model = model(mentions, |prompt, _| {
        assert!(prompt.contains("tag \"amenity\"=\"restaurant\": "), "{prompt}");
        let area = id(prompt, "place", "Valletta");
        format!("map: yes\n```overpassql\n{area}->.a;\nnwr[amenity=restaurant](area.a);\nout center;\n```")
    });
    let answer = ask(snapshot, &model, "Where are restaurants in Valletta?", "");
    let found = places(&answer, [14.49, 35.88, 14.53, 35.91]);
    assert!(found.len() >= 5, "{}", found.len());
    // Compare with a query by the city's name, without the search.
    let mut by_name = terrapin();
    let query = "[out:csv(::id;false)];{{geocodeArea:Valletta}}->.a;nwr[amenity=restaurant](area.a);out;";
    let ids = by_name.arg("query").arg(snapshot).arg(query).output().unwrap().stdout;
    let expected: BTreeSet<String> = String::from_utf8(ids).unwrap().lines().map(str::to_owned).collect();
    let id = |feature: &Value| feature["properties"]["id"].to_string();
    assert_eq!(found.iter().map(id).collect::<BTreeSet<_>>(), expected);
    assert_eq!(answer["results"][0]["total"], found.len());
    for feature in found {
        assert_eq!(feature["properties"]["tags"]["amenity"], "restaurant", "{feature}");
    }
    assert_eq!(answer["repairs"], 0);
}

#[test]
fn the_parts_of_a_country_with_a_fact_of_each() {
    let Some(snapshot) = snapshot() else { return };
    let mentions = json!({"places": ["Rond\u{f4}nia"], "names": ["municipality of Brazil"], "properties": ["population", "located in the administrative territorial entity"]});
    let model = model(mentions, |prompt, number| {
        let (class, state) = (id(prompt, "item", "municipality of Brazil"), id(prompt, "item", "Rond\u{f4}nia"));
        let (people, within) = (id(prompt, "property", "population"), id(prompt, "property", "located in"));
        // The first attempt uses the property "country", which the snapshot does not have.
        let within = if number == 0 { "wdt:P17" } else { within };
        format!(
            "map: yes\n```sparql\nSELECT ?town (SAMPLE(?n) AS ?people) {{ ?town wdt:P31 {class}; {within} {state}; {people} ?n }} GROUP BY ?town\n```"
        )
    });
    let answer = ask(snapshot, &model, "Show the municipalities of Rond\u{f4}nia with their populations", "");
    assert_eq!(answer["repairs"], 1);
    let found = places(&answer, BRAZIL);
    assert_eq!((found.len(), &answer["results"][0]["total"]), (52, &json!(52)));
    for feature in found {
        let people: f64 = feature["properties"]["people"].as_str().unwrap().parse().unwrap();
        assert!(people > 1000.0 && feature["id"].as_str().unwrap().starts_with("wd:Q"), "{feature}");
    }
    let images = found.iter().filter(|feature| feature["properties"]["image"].is_string()).count();
    assert!(images > 0 && images < found.len(), "{images}");
    let feedback = model.asked()[2].last().to_owned();
    assert!(feedback.contains("0 results") && feedback.contains("wdt:P17"), "{feedback}");
}

#[test]
fn a_choice_among_them_by_what_is_said_besides() {
    let Some(snapshot) = snapshot() else { return };
    let mentions = || json!({"names": ["municipality of Brazil", "Bahia"], "properties": ["population", "located in the administrative territorial entity", "coordinate location"]});
    let write = |prompt: &str, number: usize| {
        assert!(
            number == 0 && prompt.contains("What is to be known besides: Only those with more than 200,000 people."),
            "{prompt}"
        );
        let (class, state) = (id(prompt, "item", "municipality of Brazil"), id(prompt, "item", "Bahia"));
        let (people, within) = (id(prompt, "property", "population"), id(prompt, "property", "located in"));
        format!(
            "map: yes\n```sparql\nSELECT ?town (MAX(?n) AS ?people) (SAMPLE(?at) AS ?place) {{ ?town wdt:P31 {class}; {within} {state}; {people} ?n; \
             wdt:P625 ?at FILTER(?n > 200000) }} GROUP BY ?town ORDER BY DESC(?people) LIMIT 5\n```"
        )
    };
    let model = self::model(mentions(), write);
    let answer =
        ask(snapshot, &model, "Which are the largest towns of Bahia?", "Only those with more than 200,000 people.");
    let found = places(&answer, BRAZIL);
    let people: Vec<f64> =
        found.iter().map(|feature| feature["properties"]["people"].as_str().unwrap().parse().unwrap()).collect();
    assert_eq!(people.len(), 5);
    assert!(people[0] > 2_000_000.0 && people.is_sorted_by(|a, b| a >= b) && people[4] > 200_000.0, "{people:?}");
    // Q36947 is Salvador.
    assert_eq!(found[0]["id"], "wd:Q36947");
    assert_eq!(answer["results"][0]["columns"], json!(["town", "people", "place"]));

    let count = self::model(mentions(), |prompt, _| {
        let state = id(prompt, "item", "Bahia");
        format!("map: no\n```sparql\nSELECT (COUNT(?town) AS ?towns) {{ ?town wdt:P131 {state} }}\n```")
    });
    let answer = ask(snapshot, &count, "How many municipalities has Bahia?", "");
    assert_eq!((&answer["map"], &answer["features"]), (&json!(false), &Value::Null));
    assert_eq!(answer["results"][0]["rows"], json!([["417"]]));
}
