//! Tests `terrapin benchmark move`, `perturb`, `label` and `instruct`, and the map of `stats`, on a town.

use serde_json::{Value, json};

use super::folder::BenchmarkFolder;
use crate::common::model::{Act, TestModel};

#[test]
fn a_benchmark_is_moved_to_a_snapshot() {
    let files = BenchmarkFolder::with_triples();
    files.lines(
        "dev.jsonl",
        &[
            json!({"id": "place", "nl": "Cafes in Bonn, Germany",
                   "gold": "{{geocodeArea:\"Bonn\"}}->.a;node[amenity=cafe](area.a);out;"}),
            json!({"id": "code", "nl": "Cafes in Germany",
                   "gold": "area[\"ISO3166-1\"=\"DE\"][admin_level=2]->.a;node[amenity=cafe](area.a);out;"}),
            json!({"id": "value", "nl": "Every bakery here", "gold": "node[amenity=bakery](50,7,50.1,7.1);out;"}),
            json!({"id": "user", "nl": "Changes by carl on 2018-10-27",
                   "gold": "nwr(user:\"carl\")(changed:\"2018-10-27T00:00:00Z\",\"2018-10-27T23:59:59Z\");out;"}),
            json!({"id": "id", "nl": "The node 123", "gold": "node(123);out;"}),
            json!({"id": "item", "nl": "Places in Q99", "gold": "SELECT ?x { ?x wdt:P131 wd:Q99 }", "lang": "sparql"}),
            json!({"id": "same", "nl": "Cafes in Ladle", "gold": "area[name=Ladle]->.a;node[amenity](area.a);out;"}),
            json!({"id": "box", "nl": "Cafes in the view", "gold": "node[amenity=cafe]({{bbox}});out;", "bbox": "1,2,3,4"}),
            json!({"id": "unknown", "nl": "cafes somewhere", "gold": "{{geocodeArea:Ulm}}->.a;node[amenity=cafe](area.a);out;"}),
            json!({"id": "broken", "nl": "x", "gold": "node[;"}),
            json!({"id": "view", "nl": "Bakeries in the view", "split": "test",
                   "gold": "node[amenity=cafe](50,7,50.1,7.1);node[amenity=cafe]({{bbox}});out;"}),
            json!({"id": "types", "nl": "The element 2", "gold": "wr(31);out;"}),
            json!({"id": "past", "nl": "Cafes then", "gold": "[date:\"2020-01-01T00:00:00Z\"];node[amenity=cafe];out;"}),
            json!({"id": "iri", "nl": "Places in Q98",
                   "gold": "SELECT ?x { ?x wdt:P131 <http://www.wikidata.org/entity/Q98> }", "lang": "sparql"}),
        ],
    );
    let args = ["benchmark", "move", "dev.jsonl", "--to", "town.terrapin", "--seed", "3", "--out", "moved.jsonl"];
    let report = files.json(&[&args[..], &["--json"]].concat());
    assert_eq!(
        (&report["pairs"], &report["answered"], &report["failed"], &report["unread"]),
        (&json!(14), &json!(13), &json!(1), &json!(1))
    );
    let (pairs, moves) = (files.rows("moved.jsonl"), files.rows("moved.moves.jsonl"));
    let of = |id: &str| {
        let at = pairs.iter().position(|pair| pair["id"] == id).unwrap();
        (pairs[at]["nl"].as_str().unwrap(), pairs[at]["gold"].as_str().unwrap(), &moves[at])
    };
    let (question, query, record) = of("place");
    assert_eq!((question, query), ("Cafes in Ladle", "{{geocodeArea:\"Ladle\"}}->.a;node[amenity=cafe](area.a);out;"));
    assert_eq!((&record["question"], &record["results"]), (&json!("moved"), &json!(3)));
    assert_eq!(record["replacements"], json!([{"kind": "place", "old": "Bonn", "new": "Ladle", "in_question": true}]));
    let (question, query, _) = of("code");
    assert_eq!(question, "Cafes in Ladle");
    assert_eq!(query, "area[\"name\"=\"Ladle\"][\"admin_level\"=\"8\"]->.a;node[amenity=cafe](area.a);out;");
    let (question, query, record) = of("value");
    assert!(question == "Every cafe here" && query.starts_with("node[amenity=\"cafe\"](10"), "{question} {query}");
    let kinds: Vec<&str> =
        record["replacements"].as_array().unwrap().iter().map(|r| r["kind"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["value", "box"]);
    let (question, query, _) = of("user");
    assert!(
        question.contains("on 2020-01-0") && !query.contains("carl") && query.contains("T23:59:59Z"),
        "{question} {query}"
    );
    let (question, query, _) = of("id");
    let id = query.trim_start_matches("node(").trim_end_matches(");out;");
    assert_eq!(question, format!("The node {id}"));
    let (question, query, record) = of("item");
    assert_eq!((question, query), ("Places in Ladle", "SELECT ?x { ?x wdt:P131 wd:Q1 }"));
    assert_eq!(record["replacements"][0]["new"], "Q1");
    let (question, query, record) = of("same");
    assert!(
        question == "Cafes in Ladle" && query.starts_with("area[name=Ladle]") && record["replacements"] == json!([])
    );
    assert!(pairs[7]["bbox"].as_str().unwrap().starts_with("10"), "{}", pairs[7]);
    assert_eq!(of("unknown").2["question"], "place-not-found");
    assert!(of("broken").2["error"].is_string());
    // Both boxes are in the snapshot.
    let (_, query, _) = of("view");
    assert!(
        query.starts_with("node[amenity=cafe](10") && pairs[10]["bbox"].as_str().unwrap().starts_with("10"),
        "{query}"
    );
    assert_eq!((&pairs[10]["split"], &pairs[0]["split"]), (&json!("test"), &json!("dev")));
    // There is no way 31, but a relation.
    assert_eq!((of("types").1, &of("types").2["replacements"]), ("wr(31);out;", &json!([])));
    assert_eq!(of("past").2["question"], "differs");
    assert_eq!(of("iri").1, "SELECT ?x { ?x wdt:P131 <http://www.wikidata.org/entity/Q1> }");
    let (status, _, said) =
        files.run(&["benchmark", "move", "dev.jsonl", "--to", "town.terrapin", "--out", "dev.jsonl"]);
    assert!(status == Some(2) && said.contains("dev.jsonl would be replaced"), "{said}");
    // The same again, and fewer pairs.
    let before = files.text("moved.jsonl") + &files.text("moved.moves.jsonl");
    let (status, table, said) = files.run(&args);
    assert!(status == Some(0) && table.contains("13 (92.9 %)"), "{table}{said}");
    assert_eq!(files.text("moved.jsonl") + &files.text("moved.moves.jsonl"), before);
    let keep = ["--keep", "answered", "--question", "moved,guessed", "--json"];
    assert_eq!(files.json(&[&args[..], &keep].concat())["written"], 11);
    assert_eq!(files.rows("moved.jsonl").len(), 11);
    // What is written is read again.
    let stats = files.json(&["benchmark", "stats", "moved.jsonl", "--db", "town.terrapin", "--json"]);
    assert_eq!((&stats["instances"], &stats["results"]["empty"]), (&json!(11), &json!(0)));
}

#[test]
fn perturbed_copies_have_digests_and_provenance() {
    let files = BenchmarkFolder::with_triples();
    files.lines("dev.jsonl", &[json!({"nl": "Cafes", "gold": "node[amenity=cafe];out;"})]);
    let perturb = |out: &str, more: &[&str]| {
        let args = ["benchmark", "perturb", "town.terrapin", "--count", "2", "--rate", "0.3", "--out", out, "--json"];
        files.json(&[&args[..], more].concat())["copies"].clone()
    };
    let copies = perturb("suite", &["--seed", "7"]);
    let digests = |copies: &Value| -> Vec<String> {
        copies.as_array().unwrap().iter().map(|copy| copy["digest"].as_str().unwrap().to_owned()).collect()
    };
    let first = digests(&copies);
    assert!(first.len() == 2 && first[0] != first[1], "{copies}");
    let remark = copies[0]["remarks"][0].as_str().unwrap();
    let info = files.json(&["info", "town.terrapin", "--json"]);
    let source = info["digest"].as_str().unwrap();
    assert!(remark.starts_with(&format!("perturbed from the snapshot {source}")), "{remark}");
    assert!(remark.contains("copy 1, seed 7, rate 0.3:") && remark.contains("no state of OpenStreetMap"), "{remark}");
    // The same with one thread and little memory; another seed and aims give others.
    assert_eq!(digests(&perturb("again", &["--seed", "7", "--threads", "1", "--memory", "64MiB"])), first);
    assert_ne!(digests(&perturb("other", &["--seed", "8"])), first);
    let aimed = perturb("aimed", &["--seed", "7", "--for", "dev.jsonl"]);
    assert!(aimed[0]["remarks"][0].as_str().unwrap().contains("aimed at 1 tags"), "{aimed}");
    let (status, out, said) = files.run(&["verify", "suite/town-1.terrapin"]);
    assert_eq!(status, Some(0), "{out}{said}");
    // Cafes are dropped, retagged or moved at 0.9 of the time: some answer differs.
    let cafes = |file: &str| files.run(&["query", file, "[out:csv(::id,::lat)];node[amenity=cafe];out;"]).1;
    let original = cafes("town.terrapin");
    assert!(["aimed/town-1.terrapin", "aimed/town-2.terrapin"].iter().any(|file| cafes(file) != original));
    let (status, _, said) = files.run(&["benchmark", "perturb", "town.terrapin", "--rate", "0.5", "--out", "x"]);
    assert!(status == Some(2) && said.contains("at most 0.3"), "{said}");
}

#[test]
fn queries_are_labelled() {
    let files = BenchmarkFolder::with_triples();
    let golds = ["node(area:3600000031)(id:1,99);out;", "SELECT ?x { ?x wdt:P131 wd:Q1 }"];
    files.lines("dev.jsonl", &[json!({"gold": golds[0]}), json!({"gold": golds[1], "lang": "sparql"})]);
    let label = ["benchmark", "label", "dev.jsonl", "--db", "town.terrapin", "--out", "labelled.jsonl"];
    let (status, _, said) = files.run(&label);
    assert_eq!(status, Some(0), "{said}");
    let rows = files.rows("labelled.jsonl");
    assert_eq!(rows[0]["labelled"], "node(area:[area:Ladle])(id:[node:Bean & Leaf],99);out;");
    assert_eq!(rows[0]["without_label"], json!(["node 99"]));
    assert_eq!(rows[0]["labels"][0], json!({"name": "area 3600000031", "label": "Ladle"}));
    assert_eq!(rows[1]["labelled"], "SELECT ?x { ?x wdt:P131 wd:[entity:Ladle] }");
    assert_eq!(rows[1]["gold"], golds[1]);
}

#[test]
fn a_model_writes_instructions_and_a_stopped_run_resumes() {
    let files = BenchmarkFolder::with_triples();
    files.lines(
        "dev.jsonl",
        &[
            json!({"nl": "The cafes", "gold": "node[amenity=cafe](area:3600000031);out;"}),
            json!({"gold": "SELECT ?x { ?x wdt:P131 wd:Q1 }", "lang": "sparql"}),
        ],
    );
    let model =
        TestModel::start(|_, _| Act::say("Here they are:\n1. Which places?\n2. \"List the places\"\n3. Too many"));
    let base = ["benchmark", "instruct", "dev.jsonl", "--db", "town.terrapin", "--count", "2", "--out", "out.jsonl"];
    let options = model.options();
    let args = [&base[..], &options].concat();
    let (status, out, said) = files.run(&args);
    assert!(status == Some(0) && out.contains("2 queries, 0 with fewer than 2 instructions"), "{out}{said}");
    let asked = model.asked();
    assert_eq!(asked.len(), 2);
    assert!(asked[0].last().contains("node[amenity=cafe](area:[area:Ladle]);out;"), "{}", asked[0].last());
    assert!(asked[0].last().contains("Context: The cafes") && asked[0].last().contains("- area 3600000031: Ladle"));
    assert!(asked[1].last().contains("wd:[entity:Ladle]") && !asked[1].last().contains("Context"));
    let rows = files.rows("out.jsonl");
    assert_eq!(rows[0]["nl"], "The cafes");
    assert_eq!(rows[0]["paraphrases"], json!(["Which places?", "List the places"]));
    assert_eq!((&rows[1]["nl"], &rows[1]["paraphrases"]), (&json!("Which places?"), &json!(["List the places"])));
    let provenance = &rows[1]["provenance"];
    assert_eq!(
        (&provenance["model"], &provenance["requested"], &provenance["received"]),
        (&json!("scripted"), &json!(2), &json!(2))
    );
    // A run that was killed while writing the second line.
    let whole = files.text("out.jsonl");
    let first = whole.find('\n').unwrap() + 1;
    std::fs::write(files.0.path("out.jsonl"), &whole[..first + 20]).unwrap();
    let (status, out, said) = files.run(&args);
    assert!(status == Some(0) && out.contains("1 of them before"), "{out}{said}");
    assert_eq!((files.text("out.jsonl"), model.asked().len()), (whole, 3));
    // Other prompts are another run.
    let (status, _, said) = files.run(&[&args[..], &["--no-context"]].concat());
    assert!(status == Some(3) && said.contains("line 1 is of other queries"), "{said}");
    let stats = files.json(&["benchmark", "stats", "out.jsonl", "--json"]);
    assert_eq!(stats["questions"]["questions"], 5);
}

#[test]
fn a_map_shows_where_results_lie() {
    let files = BenchmarkFolder::with_triples();
    files.lines(
        "dev.jsonl",
        &[
            json!({"nl": "Cafes", "gold": "node[amenity=cafe];out;"}),
            json!({"nl": "Named", "gold": "node[name];out;"}),
            json!({"nl": "How many", "gold": "node[name];out count;"}),
        ],
    );
    let stats = ["benchmark", "stats", "dev.jsonl", "--db", "town.terrapin", "--cell", "0.01", "--json"];
    files.json(&[&stats[..], &["--result-map", "map.geojson"]].concat());
    let map: Value = serde_json::from_str(&files.text("map.geojson")).unwrap();
    let counts: Vec<(&Value, &Value)> = map["features"]
        .as_array()
        .unwrap()
        .iter()
        .map(|feature| (&feature["properties"]["results"], &feature["properties"]["queries"]))
        .collect();
    // Nodes 1 to 3, of which two have names, and node 4.
    assert_eq!(counts, [(&json!(5), &json!(2)), (&json!(1), &json!(1))]);
    assert_eq!(map["features"][0]["geometry"]["coordinates"][0][0], json!([20.0, 10.0]));
    files.json(&[&stats[..], &["--result-map", "map.svg"]].concat());
    assert!(files.text("map.svg").contains("<title>5 results</title>"));
}
