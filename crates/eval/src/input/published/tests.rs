//! Reads a small file of each published shape.

use std::path::PathBuf;

use serde_json::{Value, json};

use super::*;

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("src/input/published/fixtures").join(name)
}

fn rows(name: &str) -> Vec<Value> {
    let rows = read(&fixture(name), &FieldMap::default()).unwrap_or_else(|e| panic!("{e}"));
    rows.into_iter().map(|row| Value::Object(row.fields)).collect()
}

/// Returns one field of each row.
fn each(rows: &[Value], name: &str) -> Vec<Value> {
    rows.iter().map(|row| row.get(name).cloned().unwrap_or_default()).collect()
}

#[test]
fn wdql_and_grasp() {
    let read = rows("wdql.jsonl");
    assert_eq!(each(&read, "id"), [json!("train_0"), json!("train_1")]);
    assert_eq!(read[1]["gold"], "SELECT ?n WHERE { wd:Q23800 wdt:P1082 ?n }");
    assert_eq!((&read[0]["nl"], &read[0]["lang"]), (&json!("Which mountains are in Malta?"), &json!("sparql")));
    assert_eq!(read[0]["paraphrases"], json!(["Mountains of Malta", "What mountains does Malta have?"]));
    assert_eq!(read[0].get("info"), None);
    let folder = rows("grasp");
    assert_eq!(each(&folder, "split"), [json!("test"), json!("val")]);
    assert_eq!(each(&folder, "nl"), [json!("Is Gozo an island?"), json!("Who is the mayor of Valletta?")]);
}

#[test]
fn text2sparql() {
    let read = rows("text2sparql.yml");
    assert_eq!(each(&read, "id"), [json!("ck25:1-en"), json!("ck25:2-de")]);
    let texts = ["Which department has the most members?", "Gibt es Lieferanten: ja oder nein?"];
    assert_eq!(each(&read, "nl"), texts.map(Value::from));
    assert!(read[0]["gold"].as_str().unwrap().ends_with("DESC(COUNT(?m)) LIMIT 1\n"));
    assert_eq!(read[1]["gold"], "ASK { ?s a <http://ld.company.org/prod-vocab/Supplier> }");
}

#[test]
fn t2s_metrics() {
    let read = rows("t2s-metrics.jsonl");
    assert_eq!(each(&read, "order_matters"), [json!(false), json!(true)]);
    assert_eq!(each(&read, "pred"), [json!("SELECT ?y WHERE { ?y a <http://example.org/City> }"), json!("")]);
    assert!(read[1]["gold"].as_str().unwrap().contains("ORDER BY ?n"));
}

#[test]
fn qald_and_lcquad() {
    let qald = rows("qald10.json");
    assert_eq!((each(&qald, "id"), each(&qald, "nl")), (vec![json!("1")], vec![json!("Which island is larger?")]));
    let lcquad = rows("lcquad2.json");
    assert_eq!(each(&lcquad, "id"), [json!(1), json!(2)]);
    let texts = ["What is the capital of Malta?", "Did {Malta} {share border with} {Italy}?"];
    assert_eq!(each(&lcquad, "nl"), texts.map(Value::from));
    assert_eq!(lcquad[0]["paraphrases"], json!(["Which city is the capital of Malta?"]));
    assert_eq!(each(&lcquad, "template"), [json!("<S P ?O ; ?O instanceOf Type>"), Value::Null]);
}

#[test]
fn spider4sparql_gets_its_prefix() {
    let read = rows("spider4sparql.json");
    assert_eq!(each(&read, "database"), [json!("island_guide"), json!("island_guide")]);
    for row in &read {
        terrapin_sparql::syntax::parse(row["gold"].as_str().unwrap(), terrapin_sparql::Dialect::Standard).unwrap();
    }
}

#[test]
fn instruct_to_sparql_keeps_all_instructions() {
    let read = rows("instruct-to-sparql.jsonl");
    assert_eq!((&read[0]["nl"], &read[0]["complexity"]), (&json!("List the islands of Malta."), &json!("simple")));
    assert_eq!(read[0]["paraphrases"].as_array().map(Vec::len), Some(4));
    assert!(read[0]["gold"].as_str().unwrap().contains("wd:Q23442"));
}

#[test]
fn text2geoql_as_rows_and_as_a_folder() {
    let read = rows("text2geoql.jsonl");
    assert_eq!(
        (&read[0]["lang"], &read[0]["nl"]),
        (&json!("overpassql"), &json!("AreaWithConcern: Valletta, Malta; Cafes"))
    );
    let folder = rows("text2geoql");
    assert_eq!(each(&folder, "nl"), vec![read[0]["nl"].clone(); 2]);
    assert!(folder[1]["gold"].as_str().unwrap().ends_with("(area:3600000001);\nout;"));
}

#[test]
fn gs_qa_is_sql() {
    let read = rows("gs-qa");
    assert_eq!(each(&read, "id"), [json!("nearest+name-0"), json!("range+count-3")]);
    assert_eq!(each(&read, "template"), [json!("nearest+name"), json!("range+count")]);
    assert_eq!(each(&read, "complexity"), [json!("name"), json!("count")]);
    assert_eq!(each(&read, "lang"), [json!("sql"), json!("sql")]);
}

#[test]
fn overpassnl_by_folder_and_by_file() {
    let folder = rows("overpassnl");
    assert_eq!(each(&folder, "split"), [json!("dev"), json!("dev"), json!("train")]);
    assert_eq!(each(&folder, "nl"), [json!("cafes in Malta"), json!("bars here"), json!("streets")]);
    assert_eq!(each(&folder, "bbox"), [Value::Null, json!("35.8,14.4,36.0,14.6"), Value::Null]);
    assert_eq!(rows("overpassnl/dataset.dev.query"), folder[..2]);
}

#[test]
fn fields_are_renamed_by_name_or_by_path() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("theirs.jsonl");
    std::fs::write(
        &path,
        "{\"q\": {\"sparql\": \"ASK {}\"}, \"said\": [\"a\", \"b\"], \"text\": \"Is it?\"}\n{\"text\": \"x\"}\n",
    )
    .unwrap();
    let map = |texts: &[&str]| {
        let mut map = FieldMap::default();
        texts.iter().try_for_each(|text| map.add(text)).map(|()| map)
    };
    let read = |texts: &[&str]| read(&path, &map(texts).unwrap()).map_err(|e| e.to_string());
    let renamed = read(&["gold=q.sparql", "pred=said.1", "nl=text"]).unwrap();
    assert_eq!((&renamed[0].fields["gold"], &renamed[0].fields["pred"]), (&json!("ASK {}"), &json!("b")));
    assert_eq!((&renamed[1].fields["gold"], &renamed[1].fields["nl"]), (&Value::Null, &json!("x")));
    let missing = read(&["gold=query"]).unwrap_err();
    assert!(
        missing.contains("no row has the field `query` of `gold=query`; the first has `q`, `said`, `text`"),
        "{missing}"
    );
    assert!(map(&["golden=q"]).unwrap_err().contains("unknown field \"golden\": expected one of bbox"));
    assert!(map(&["gold"]).unwrap_err().contains("expected FIELD=NAME"));
    assert!(map(&["gold=a", "gold=b"]).unwrap_err().contains("set twice"));
}

#[test]
fn damaged_files_are_errors_with_their_place() {
    let folder = tempfile::tempdir().unwrap();
    let read = |name: &str, text: &str| {
        let path = folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        read(&path, &FieldMap::default()).map(|rows| rows.len()).map_err(|e| e.to_string())
    };
    for (name, text, says) in [
        ("a.yml", "questions: [", "the file: YAML:"),
        // Few bytes, and ten to the power of the number of lines in memory.
        ("alias.yml", "a: &a [x, x]\nb: &b [*a, *a]\nquestions: [*b, *b]\n", "are not supported"),
        ("b.yml", "dataset: {id: x}", "expected a list `questions`"),
        ("c.yml", "questions:\n  - id: 1\n    query: {sparql: ASK {}}\n", "YAML:"),
        (
            "d.yml",
            "questions:\n  - id: 1\n    question: {en: Which?}\n",
            "question 1: there is no `query` with `sparql`",
        ),
        ("e.json", "{\"questions\": [7]}", "question 1: expected an object, found a number"),
        ("f.jsonl", "{\"golden\": \"x\", \"order_matters\": \"no\"}", "`order_matters`: expected true or false"),
        ("g.jsonl", "{\"instructions\": \"x\", \"query\": \"y\"}", "`instructions`: expected an array"),
    ] {
        let read = read(name, text);
        assert!(read.as_ref().is_err_and(|e| e.contains(says)), "{name}: {read:?}");
    }
    let lines = folder.path().join("dataset.dev.nl");
    std::fs::write(lines, "one\ntwo\n").unwrap();
    assert!(read("dataset.dev.query", "out;\n").unwrap_err().contains("dataset.dev.nl: 2 lines"));
    let empty = tempfile::tempdir().unwrap();
    let none = super::read(empty.path(), &FieldMap::default()).unwrap_err().to_string();
    assert!(none.contains("the folder: expected dataset.SPLIT.query"), "{none}");
}

#[test]
fn nlmaps_is_translated() {
    let read = rows("nlmaps/nlmaps.test.mrl");
    assert_eq!(each(&read, "lang"), ["overpassql", "overpassql", "nlmaps", "nlmaps"].map(Value::from));
    assert_eq!(read[0]["nl"], "Where are cafes in Valletta?");
    let query = "[out:json];area[\"name\"=\"Valletta\"]->.a;nwr[\"amenity\"=\"cafe\"](area.a);out center;";
    assert_eq!(read[0]["gold"], query);
    let reasons = nlmaps::lines(&fixture("nlmaps/nlmaps.test.mrl")).unwrap();
    let reasons: Vec<&str> =
        reasons.iter().filter_map(|line| line.query.as_ref().err()).map(|why| why.name()).collect();
    assert_eq!(reasons, ["nearest", "distance"]);
}

#[test]
fn comments_of_queries_are_questions() {
    let read = rows("overpassnl-comments.jsonl");
    assert_eq!(each(&read, "nl"), ["cafes in the current view", "all beaches"].map(Value::from));
    assert_eq!((&read[0]["id"], &read[0]["paraphrases"]), (&json!("28"), &json!(["print them"])));
    assert_eq!((&read[1]["gold"], &read[1]["lang"]), (&json!("way[natural=beach];out;"), &json!("overpassql")));
    assert_eq!(read[0].get("comment_content_ratio"), None);
}
