//! Tests the entity services of a Wikibase over HTTP: on a few made-up entities, on Wikidata's own JSON that is loaded
//! and returned again, and on the shared triples.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use serde_json::{Map, Value, json};

use super::entity_json::{as_triples_have_it, datatypes, differences, is_kept, snaks};
use crate::common::place::shared;
use crate::common::server::{HttpAnswer, TestServer, encoded};
use crate::common::skip::{Need, skipped};
use crate::common::{terrapin, wikidata};

const TOWNS: &str = r#"
@prefix wd: <http://www.wikidata.org/entity/> . @prefix wdt: <http://www.wikidata.org/prop/direct/> .
@prefix p: <http://www.wikidata.org/prop/> . @prefix ps: <http://www.wikidata.org/prop/statement/> .
@prefix pq: <http://www.wikidata.org/prop/qualifier/> . @prefix s: <http://www.wikidata.org/entity/statement/> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> . @prefix skos: <http://www.w3.org/2004/02/skos/core#> .
@prefix schema: <http://schema.org/> . @prefix wikibase: <http://wikiba.se/ontology#> .
@prefix owl: <http://www.w3.org/2002/07/owl#> . @prefix ontolex: <http://www.w3.org/ns/lemon/ontolex#> .
@prefix dct: <http://purl.org/dc/terms/> . @prefix pr: <http://www.wikidata.org/prop/reference/> .
@prefix prov: <http://www.w3.org/ns/prov#> .
wd:Q1 rdfs:label "Ladle"@en, "Kelle"@de ; schema:description "town by the sea"@en ; skos:altLabel "Spoonton"@en ;
  wikibase:sitelinks 7 ; wdt:P31 wd:Q3 .
wd:Q2 rdfs:label "Ladle"@en ; schema:description "kitchen tool"@en ; wikibase:sitelinks 90 ; p:P31 s:q2-a .
s:q2-a ps:P31 wd:Q4 ; wikibase:rank wikibase:PreferredRank ; pq:P1082 5 .
wd:Q3 rdfs:label "town"@en ; skos:altLabel "burgh"@en .
wd:Q4 rdfs:label "tool"@en .
wd:Q5 rdfs:label "Ladle Castle"@en .
wd:Q6 rdfs:label "Łódka Nowa"@pl ; skos:altLabel "New Łódka"@en .
wd:Q7 owl:sameAs wd:Q1 .
wd:Q8 rdfs:label "Schöpfkelle"@de-at, "Louche"@fr ; p:P31 s:Q8-a .
s:Q8-a ps:P31 wd:Q4 ; prov:wasDerivedFrom [ pr:P31 wd:Q4 ] .
wd:L1 wikibase:lemma "ladle"@en ; dct:language wd:Q4 ; wikibase:lexicalCategory wd:Q3 ;
  ontolex:lexicalForm wd:L1-F1 ; ontolex:sense wd:L1-S1 .
wd:L1-F1 ontolex:representation "ladles"@en ; wikibase:grammaticalFeature wd:Q3 ; wdt:P31 wd:Q4 .
wd:L1-S1 skos:definition "big spoon"@en .
wd:P31 rdfs:label "instance of"@en ; wikibase:propertyType wikibase:WikibaseItem .
wd:P1082 rdfs:label "population"@en ; wikibase:propertyType wikibase:Quantity .
<https://en.wikipedia.org/wiki/Ladle_(town)> schema:about wd:Q1 ; schema:isPartOf <https://en.wikipedia.org/> ;
  schema:name "Ladle (town)"@en .
"#;

fn load(folder: &Path, option: &str, from: &Path) -> PathBuf {
    let to = folder.join("entities.terrapin");
    terrapin().arg("load").arg(option).arg(from).arg("--out").arg(&to).assert().success();
    to
}

fn towns() -> (tempfile::TempDir, TestServer) {
    let folder = tempfile::tempdir().unwrap();
    let from = folder.path().join("towns.ttl");
    std::fs::write(&from, TOWNS).unwrap();
    let server = TestServer::of(&load(folder.path(), "--rdf", &from), &[]);
    (folder, server)
}

fn object(answer: &HttpAnswer) -> Value {
    serde_json::from_slice(&answer.body).unwrap_or_else(|_| panic!("{}", answer.text()))
}

/// Returns the response of the action API, which has status 200 also for errors.
fn action(server: &TestServer, parameters: &str) -> Value {
    let answer = server.get(&format!("/w/api.php?format=json&{parameters}"));
    assert_eq!(answer.status, 200, "{}", answer.text());
    let said = object(&answer);
    assert_eq!(answer.header("mediawiki-api-error"), said["error"]["code"].as_str(), "{said}");
    said
}

fn found(server: &TestServer, text: &str, more: &str) -> Vec<String> {
    let said = action(server, &format!("action=wbsearchentities&search={}&language=en{more}", encoded(text)));
    said["search"].as_array().unwrap().iter().map(|hit| hit["id"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn names_lead_to_entities() {
    let (_folder, server) = towns();
    // Exact matches come first, better known entities before others; then come prefix matches.
    assert_eq!(found(&server, "Ladle", ""), ["Q2", "Q1", "Q5"]);
    assert_eq!(found(&server, "ladle", ""), ["Q2", "Q1", "Q5"]);
    assert_eq!(found(&server, "ladl", "&limit=2"), ["Q2", "Q1"]);
    assert_eq!(found(&server, "ladl", "&limit=2&continue=2"), ["Q5"]);
    assert_eq!(found(&server, "castle lad", ""), ["Q5"]);
    assert_eq!(found(&server, "spoonton", ""), ["Q1"]);
    assert_eq!(found(&server, "new lodka", ""), ["Q6"]);
    assert_eq!(found(&server, "Spoonten", ""), ["Q1"]);
    assert_eq!(found(&server, "town sea", ""), ["Q1"]);
    assert_eq!(found(&server, "Q5", ""), ["Q5"]);
    assert_eq!(found(&server, "instance", "&type=property"), ["P31"]);
    assert_eq!(found(&server, "instance of", ""), Vec::<String>::new());
    // German falls back to English, unless `strictlanguage` is set.
    let german = |more| {
        let said = action(&server, &format!("action=wbsearchentities&search=Ladle&language=de{more}"));
        said["search"].as_array().unwrap().len()
    };
    assert_eq!((german(""), german("&strictlanguage=1")), (3, 0));
}

#[test]
fn hits_are_as_wikidata_tells_them() {
    let (_folder, server) = towns();
    let said = action(&server, "action=wbsearchentities&search=spoon&language=en&uselang=de");
    let hit = json!({
        "id": "Q1", "title": "Q1", "repository": "wikidata",
        "concepturi": "http://www.wikidata.org/entity/Q1", "url": "//www.wikidata.org/wiki/Q1",
        "label": "Kelle", "description": "town by the sea",
        "display": {
            "label": { "value": "Kelle", "language": "de" },
            "description": { "value": "town by the sea", "language": "en" },
        },
        "match": { "type": "alias", "language": "en", "text": "Spoonton" },
        "aliases": ["Spoonton"],
    });
    assert_eq!(said, json!({ "searchinfo": { "search": "spoon" }, "search": [hit], "success": 1 }));
    let said = action(&server, "action=wbsearchentities&search=ladle&language=en&limit=1");
    assert_eq!((&said["search-continue"], &said["search"][0]["match"]["type"]), (&json!(1), &json!("label")));
    let said = action(&server, "action=wbsearchentities&search=population&language=en&type=property&props=");
    assert_eq!((&said["search"][0]["datatype"], &said["search"][0]["url"]), (&json!("quantity"), &Value::Null));
    assert_eq!(said["search"][0]["title"], "Property:P1082");

    let said = object(&server.get("/w/rest.php/wikibase/v1/search/items?q=Ladle&language=en&limit=1"));
    let hit = json!({
        "id": "Q2",
        "display-label": { "language": "en", "value": "Ladle" },
        "description": { "language": "en", "value": "kitchen tool" },
        "match": { "type": "label", "language": "en", "text": "Ladle" },
    });
    assert_eq!(said, json!({ "results": [hit] }));
    let ids = |path: &str| {
        let said = object(&server.get(&format!("/w/rest.php/wikibase/{path}")));
        said["results"].as_array().unwrap().iter().map(|hit| hit["id"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(ids("v0/suggest/properties?q=inst&language=en"), ["P31"]);
    assert_eq!(ids("v1/suggest/items?q=lad&language=en&offset=1"), ["Q1", "Q5"]);
    assert_eq!(ids("v1/suggest/items?q=sea&language=en"), Vec::<String>::new());
}

#[test]
fn entities_are_told_whole_and_in_part() {
    let (_folder, server) = towns();
    let said =
        action(&server, "action=wbgetentities&ids=Q2|Q7|Q99&languages=en|de&languagefallback=1&props=labels|claims");
    let q2 = &said["entities"]["Q2"];
    assert_eq!(q2["labels"]["de"], json!({ "language": "en", "value": "Ladle", "for-language": "de" }));
    let claim = json!({
        "id": "q2$a", "type": "statement", "rank": "preferred",
        "mainsnak": {
            "snaktype": "value", "property": "P31", "datatype": "wikibase-item",
            "hash": "440e12b97105146939e3e8bee5b185433bc581ac",
            "datavalue": { "type": "wikibase-entityid", "value": { "entity-type": "item", "id": "Q4", "numeric-id": 4 } },
        },
        "qualifiers": { "P1082": [{
            "snaktype": "value", "property": "P1082", "datatype": "quantity",
            "hash": "9a46c49b3aff43f704c3ea06c2a48ee208c38ad3",
            "datavalue": { "type": "quantity", "value": { "amount": "+5", "unit": "1" } },
        }] },
        "qualifiers-order": ["P1082"],
    });
    assert_eq!(q2["claims"], json!({ "P31": [claim] }));
    assert_eq!(q2["descriptions"], Value::Null);
    // Q7 was merged into Q1; Q99 does not exist.
    assert_eq!(said["entities"]["Q7"]["redirects"], json!({ "from": "Q7", "to": "Q1" }));
    assert_eq!(said["entities"]["Q7"]["id"], "Q1");
    assert_eq!(said["entities"]["Q99"], json!({ "id": "Q99", "missing": "" }));
    // A statement that is known only as a direct claim gets an id derived from its content.
    let made = said["entities"]["Q7"]["claims"]["P31"][0]["id"].as_str().unwrap();
    assert!(made.starts_with("Q1$") && made.len() == "Q1$".len() + 36, "{made}");
    // Find entities by the title of a page, with a POST form.
    let body = "action=wbgetentities&sites=enwiki&titles=Ladle+(town)%7CNowhere&props=sitelinks/urls&format=json";
    let form = "content-type: application/x-www-form-urlencoded\r\n";
    let said = object(&server.ask("POST", "/w/api.php", form, body));
    let link = json!({
        "site": "enwiki", "title": "Ladle (town)", "badges": [], "url": "https://en.wikipedia.org/wiki/Ladle_(town)",
    });
    assert_eq!(said["entities"]["Q1"]["sitelinks"], json!({ "enwiki": link }));
    assert_eq!(said["entities"]["-2"], json!({ "site": "enwiki", "title": "Nowhere", "missing": "" }));

    let data = object(&server.get("/wiki/Special:EntityData/Q1.json"));
    assert_eq!(data["entities"]["Q1"]["aliases"]["en"], json!([{ "language": "en", "value": "Spoonton" }]));
    let moved = server.get("/wiki/Special:EntityData/Q7.json");
    assert_eq!((moved.status, moved.header("location")), (303, Some("/wiki/special:entitydata/q1.json")));
    let moved = server.get("/entity/Q1.json");
    assert_eq!((moved.status, moved.header("location")), (303, Some("/wiki/special:entitydata/q1.json")));
    let moved = server.ask("GET", "/entity/Q1", "accept: application/json\r\n", "");
    assert_eq!((moved.status, moved.header("location")), (303, Some("/wiki/special:entitydata/q1.json")));
    assert_eq!(server.ask("GET", "/entity/Q1", "accept: text/html\r\n", "").status, 200);
}

/// MediaWiki's API: "Unrecognized values for parameter" is a warning for lists, under the module's name (API:Errors and
/// warnings), as `*` in the first format version and as `warnings` in the second.
#[test]
fn unknown_values_in_lists_are_warnings() {
    let (_folder, server) = towns();
    let q1 = |more: &str| action(&server, &format!("action=wbgetentities&ids=Q1{more}"));
    let text = |said: &Value| said["warnings"]["wbgetentities"]["*"].as_str().unwrap_or_default().to_owned();
    assert_eq!(q1("&props=labels&languages=en|de")["warnings"], Value::Null);
    let said = q1("&props=labels|colour");
    assert_eq!(text(&said), "Unrecognized value for parameter \"props\": colour.");
    assert_eq!(said["entities"]["Q1"]["labels"]["de"]["value"], "Kelle");
    let said = q1("&props=a|b&languages=e%20n|de&sitefilter=enwiki|nosuchwiki");
    assert_eq!(
        text(&said),
        "Unrecognized values for parameter \"props\": a, b.\nUnrecognized value for parameter \"languages\": e n.\n\
         Unrecognized value for parameter \"sitefilter\": nosuchwiki."
    );
    // A list without a known value is empty; it is not the default.
    assert_eq!(said["entities"]["Q1"], json!({ "id": "Q1", "type": "item" }));
    assert_eq!(q1("&props=labels&languages=e%20n")["entities"]["Q1"]["labels"], json!({}));
    let said = q1("&props=colour&formatversion=2");
    assert_eq!(said["warnings"]["wbgetentities"]["warnings"], "Unrecognized value for parameter \"props\": colour.");
    let said = action(&server, "action=wbgetentities&sites=enwiki|nosuchwiki&titles=Ladle+(town)&props=");
    assert!(text(&said).contains("\"sites\": nosuchwiki") && said["entities"]["Q1"].is_object(), "{said}");
    let said = action(&server, "action=wbsearchentities&search=Ladle&language=en&props=colour");
    let warning = &said["warnings"]["wbsearchentities"]["*"];
    assert_eq!(
        (warning, said["search"][0]["url"].is_null()),
        (&json!("Unrecognized value for parameter \"props\": colour."), true)
    );
}

/// The API's help for `wbgetentities`: `redirects=no` does not resolve redirects. The response for a merged item has
/// the requested id as its key. With `languagefallback`, a text has its own language and the requested one
/// (`for-language`).
#[test]
fn redirects_and_fallbacks_are_named() {
    let (_folder, server) = towns();
    let said = action(&server, "action=wbgetentities&ids=Q7&props=info&redirects=no");
    assert_eq!(said["entities"], json!({ "Q7": { "id": "Q7", "missing": "" } }));
    let said = action(&server, "action=wbgetentities&ids=Q7&props=info&redirects=yes");
    assert_eq!(said["entities"]["Q7"]["redirects"], json!({ "from": "Q7", "to": "Q1" }));
    assert_eq!(action(&server, "action=wbgetentities&ids=Q7&redirects=maybe")["error"]["code"], "badvalue");
    for ending in ["json", "ttl"] {
        let moved = server.get(&format!("/wiki/Special:EntityData/Q7.{ending}"));
        let location = format!("/wiki/special:entitydata/q1.{ending}");
        assert_eq!((moved.status, moved.header("location")), (303, Some(location.as_str())));
    }
    let labels = |languages: &str, more: &str| {
        let parameters = format!("action=wbgetentities&ids=Q8&props=labels&languages={languages}{more}");
        action(&server, &parameters)["entities"]["Q8"]["labels"].clone()
    };
    let own = json!({ "de-at": { "language": "de-at", "value": "Schöpfkelle" } });
    assert_eq!(labels("de-at", "&languagefallback"), own);
    assert_eq!(labels("de|en", "&languagefallback"), json!({}));
    let french = json!({ "fr-ca": { "language": "fr", "value": "Louche", "for-language": "fr-ca" } });
    assert_eq!(labels("fr-ca", "&languagefallback=1"), french);
    assert_eq!(labels("fr-ca", ""), json!({}));
}

/// Tests the JSON of forms and senses in the data model of the extension WikibaseLexeme.
#[test]
fn forms_and_senses_have_identifiers() {
    let (_folder, server) = towns();
    let said = action(&server, "action=wbgetentities&ids=L1-F1|L1-S1|L1-F2|l1-f1&props=claims");
    let form = &said["entities"]["L1-F1"];
    assert_eq!(form["representations"], json!({ "en": { "language": "en", "value": "ladles" } }));
    assert_eq!((&form["id"], &form["type"]), (&json!("L1-F1"), &json!("form")));
    assert_eq!(form["grammaticalFeatures"], json!(["Q3"]));
    assert_eq!(form["claims"]["P31"][0]["mainsnak"]["datavalue"]["value"]["id"], "Q4");
    let sense = &said["entities"]["L1-S1"];
    assert_eq!((&sense["type"], &sense["glosses"]["en"]["value"]), (&json!("sense"), &json!("big spoon")));
    assert_eq!(said["entities"]["L1-F2"], json!({ "id": "L1-F2", "missing": "" }));
    let data = object(&server.get("/wiki/Special:EntityData/L1-F1.json"));
    assert_eq!(data["entities"]["L1-F1"]["title"], "Lexeme:L1");
    assert_eq!(data["entities"]["L1-F1"]["representations"], form["representations"]);
    assert_eq!(server.get("/wiki/Special:EntityData/L1-F2.json").status, 404);
    assert_eq!(server.get("/wiki/Special:EntityData/Q1-F1.json").status, 400);
    assert_eq!(action(&server, "action=wbgetentities&ids=Q1-F1")["error"]["code"], "no-such-entity");
}

/// mediawiki.org, "Wikibase/EntityData": types of content negotiation and endings. IRIs of entities answer with 303 as
/// Wikidata's do (Wikidata:Data access, "Linked Data Interface").
#[test]
fn iris_of_entities_lead_to_what_a_client_accepts() {
    let (_folder, server) = towns();
    let browser = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8";
    let get = |path: &str, accept: &str| {
        let answer = server.ask("GET", path, &format!("accept: {accept}\r\n"), "");
        assert!(answer.header("vary").is_some_and(|vary| vary.contains("accept")), "{path}");
        (answer.status, answer.header("location").unwrap_or_default().to_owned())
    };
    assert_eq!(get("/entity/Q1", browser).0, 200);
    for (path, accept, location) in [
        ("/entity/Q1", "*/*", "/wiki/special:entitydata/q1.json"),
        ("/entity/Q1", "text/turtle", "/wiki/special:entitydata/q1.ttl"),
        ("/entity/L1-F1", "application/rdf+xml", "/wiki/special:entitydata/l1-f1.rdf"),
        ("/entity/Q1.nt", browser, "/wiki/special:entitydata/q1.nt"),
        ("/wiki/Special:EntityData/Q1", browser, "/entity/q1"),
    ] {
        assert_eq!(get(path, accept), (303, location.to_owned()), "{path} {accept}");
    }
    let data = server.ask("GET", "/wiki/Special:EntityData/Q1", "accept: */*\r\n", "");
    assert_eq!((data.status, &object(&data)["entities"]["Q1"]["id"]), (200, &json!("Q1")));
    // The test client converts headers to lower case, so the query's original case is restored.
    for (ending, media_type) in
        [("ttl", "text/turtle"), ("nt", "application/n-triples"), ("rdf", "application/rdf+xml"), ("n3", "text/n3")]
    {
        let (status, location) = get(&format!("/wiki/Special:EntityData/Q1.{ending}"), "*/*");
        assert_eq!((status, location.ends_with(&format!("&format={ending}"))), (303, true), "{location}");
        let query = location.replace("describe", "DESCRIBE").replace("/q1", "/Q1").replace("%20%3c", "%20%3C");
        let triples = server.get(&query);
        assert_eq!(triples.status, 200, "{query}: {}", triples.text());
        assert!(triples.header("content-type").unwrap().starts_with(media_type), "{ending}");
        assert!(triples.text().contains("Kelle"), "{}", triples.text());
    }
    assert_eq!(server.get("/wiki/Special:EntityData/Q1.php").status, 415);
}

/// A reference without a name has the hash that Wikidata would compute: the SHA-1 of its snaks' hashes, here of one.
#[test]
fn references_have_hashes() {
    let (_folder, server) = towns();
    let said = action(&server, "action=wbgetentities&ids=Q8&props=claims");
    let reference = &said["entities"]["Q8"]["claims"]["P31"][0]["references"][0];
    assert_eq!(reference["snaks"]["P31"][0]["hash"], "440e12b97105146939e3e8bee5b185433bc581ac");
    // printf %s 440e12b97105146939e3e8bee5b185433bc581ac | sha1sum
    assert_eq!(reference["hash"], "a6895df2a9e462de3927210ee478e32f4e3115e3");
}

#[test]
fn the_rest_api_tells_the_parts() {
    let (_folder, server) = towns();
    let get = |path: &str| object(&server.get(&format!("/w/rest.php/wikibase/v1/entities/{path}")));
    let q1 = get("items/Q1");
    assert_eq!((&q1["type"], &q1["labels"]), (&json!("item"), &json!({ "de": "Kelle", "en": "Ladle" })));
    assert_eq!(q1["sitelinks"]["enwiki"]["title"], "Ladle (town)");
    let statement = json!({
        "id": "q2$a", "rank": "preferred", "references": [],
        "property": { "id": "P31", "data_type": "wikibase-item" }, "value": { "type": "value", "content": "Q4" },
        "qualifiers": [{
            "property": { "id": "P1082", "data_type": "quantity" },
            "value": { "type": "value", "content": { "amount": "+5", "unit": "1" } },
        }],
    });
    assert_eq!(get("items/Q2/statements"), json!({ "P31": [statement] }));
    assert_eq!(get("items/Q2/statements?property=P17"), json!({}));
    assert_eq!(get("items/Q2/statements/q2$a"), statement);
    assert_eq!(object(&server.get("/w/rest.php/wikibase/v1/statements/q2$a")), statement);
    assert_eq!(get("items/Q1/labels/de"), json!("Kelle"));
    assert_eq!(get("items/Q2/labels_with_language_fallback/de"), json!("Ladle"));
    assert_eq!(get("items/Q1/descriptions"), json!({ "en": "town by the sea" }));
    assert_eq!(get("items/Q1/aliases/en"), json!(["Spoonton"]));
    assert_eq!(get("items/Q1?_fields=labels"), json!({ "id": "Q1", "labels": { "de": "Kelle", "en": "Ladle" } }));
    assert_eq!(get("properties/P31")["data_type"], "wikibase-item");
    let types = object(&server.get("/w/rest.php/wikibase/v1/property-data-types"));
    assert_eq!((&types["quantity"], &types["wikibase-item"]), (&json!("quantity"), &json!("wikibase-entityid")));
    // Every path of the description that needs only an entity id has a response.
    let told = object(&server.get("/w/rest.php/wikibase/v1/openapi.json"));
    assert_eq!(told["servers"][0]["url"], "/w/rest.php/wikibase/v1");
    let paths = told["paths"].as_object().expect("paths");
    assert!(paths.len() > 25, "{}", paths.len());
    for path in paths.keys().filter(|path| path.starts_with("/entities/items/{item_id}")) {
        let filled = path.replace("{item_id}", "Q1").replace("{language_code}", "en");
        if !filled.contains('{') {
            let answer = server.get(&format!("/w/rest.php/wikibase/v1{filled}"));
            assert!(!answer.text().contains("rest-no-match"), "{filled}: {}", answer.text());
        }
    }
    let moved = server.get("/w/rest.php/wikibase/v1/entities/items/Q7/labels");
    assert_eq!(
        (moved.status, moved.header("location")),
        (308, Some("/w/rest.php/wikibase/v1/entities/items/q1/labels"))
    );
}

/// The description of the REST API is a document of its own, to which lists of services lead.
#[test]
fn the_rest_api_is_in_the_lists_of_services() {
    let folder = tempfile::tempdir().unwrap();
    let from = folder.path().join("towns.ttl");
    std::fs::write(&from, TOWNS).unwrap();
    let snapshot = load(folder.path(), "--rdf", &from);
    let open = TestServer::of(&snapshot, &[]);
    assert!(open.get("/services").text().contains("\n/w/rest.php/wikibase/v1/{path} "));
    assert!(open.get("/llms.txt").text().contains("(/w/rest.php/wikibase/v1/openapi.json)"));
    let path = "/w/rest.php/wikibase/v1/openapi.json";
    let described = object(&open.get(path));
    assert_eq!(described["security"], json!([]));
    assert!(described["paths"]["/search/items"]["get"]["responses"]["401"].is_null());
    // Identifiers are read in either case (Wikibase normalizes them).
    assert_eq!(object(&open.get("/w/rest.php/wikibase/v1/entities/items/q1/labels/de")), json!("Kelle"));
    drop(open);

    let tokens = folder.path().join("tokens");
    // printf %s secret | sha256sum
    let digest = "2bb80d537b1da3e38bd30361aa855686bde0eacd7162fef6a25fe97bf527a25b";
    std::fs::write(&tokens, format!("ann {digest}\n")).unwrap();
    let server = TestServer::of(&snapshot, &["--tokens", tokens.to_str().unwrap()]);
    assert_eq!(server.get(path).status, 401);
    let described = object(&server.ask("GET", path, "Authorization: Bearer secret\r\n", ""));
    assert_eq!(described["security"], json!([{ "token": [] }]));
    assert_eq!(described["components"]["securitySchemes"]["token"], json!({ "type": "http", "scheme": "bearer" }));
    assert!(described["paths"]["/search/items"]["get"]["responses"]["401"].is_object());
}

#[test]
fn what_is_wrong_is_told_as_clients_expect_it() {
    let (_folder, server) = towns();
    let cases = [
        ("action=wbgetentities&ids=X1", "no-such-entity"),
        ("action=wbgetentities", "param-missing"),
        ("action=wbsearchentities&search=x", "missingparam"),
        ("action=wbsearchentities&language=en", "missingparam"),
        ("action=wbsearchentities&search=x&language=en&limit=x", "badinteger"),
        ("action=wbsearchentities&search=x&language=en&limit=0", "outofrange"),
        ("action=wbsearchentities&search=x&language=en&type=town", "badvalue"),
        ("action=edit", "badvalue"),
        ("", "missingparam"),
    ];
    for (parameters, code) in cases {
        assert_eq!(action(&server, parameters)["error"]["code"], code, "{parameters}");
    }
    let many = (1..=51).map(|number| format!("Q{number}")).collect::<Vec<_>>().join("|");
    assert_eq!(action(&server, &format!("action=wbgetentities&ids={many}"))["error"]["code"], "toomanyvalues");
    assert_eq!(action(&server, "action=wbgetentities&ids=X1")["error"]["id"], "X1");
    // A search without results is not an error.
    for text in ["nothing so", "!!!", "Q999999", &"x".repeat(3000)] {
        assert_eq!(found(&server, text, ""), Vec::<String>::new(), "{text}");
    }
    let cases = [
        ("entities/items/P31", 400, "invalid-path-parameter"),
        ("entities/items/Q99", 404, "resource-not-found"),
        ("entities/items/Q1/labels/mt", 404, "resource-not-found"),
        ("entities/items/Q1/statements?property=Q1", 400, "invalid-query-parameter"),
        ("entities/items/Q1?_fields=colour", 400, "invalid-query-parameter"),
        ("entities/towns/Q1", 404, "rest-no-match"),
        ("entities/items/Q1/colours", 404, "rest-no-match"),
        ("search/items?q=Ladle", 400, "invalid-query-parameter"),
        ("search/items?q=Ladle&language=en&limit=501", 400, "invalid-query-parameter"),
        ("statements/x", 400, "invalid-path-parameter"),
        ("statements/Q1$none", 404, "resource-not-found"),
    ];
    for (path, status, code) in cases {
        let answer = server.get(&format!("/w/rest.php/wikibase/v1/{path}"));
        assert_eq!((answer.status, &object(&answer)["code"]), (status, &json!(code)), "{path}");
    }
    assert_eq!(server.get("/wiki/Special:EntityData/Q99.json").status, 404);
    assert_eq!(server.get("/wiki/Special:EntityData/town.json").status, 400);
    let nothing = TestServer::start(&[]);
    assert_eq!(nothing.get("/w/api.php?action=wbgetentities&ids=Q1").status, 404);
}

#[test]
fn wikidatas_own_json_comes_out_as_it_went_in() {
    let goldens = shared().join("data/wikidata/goldens");
    if !goldens.exists() {
        return skipped(Need::Shared, "no JSON of Wikidata's entities");
    }
    let folder = tempfile::tempdir().unwrap();
    let mut all: Map<String, Value> = Map::new();
    for file in std::fs::read_dir(&goldens).unwrap().map(|file| file.unwrap().path()) {
        if file.extension().is_some_and(|ending| ending == "json") {
            let data: Value = serde_json::from_slice(&std::fs::read(&file).unwrap()).unwrap();
            all.extend(data["entities"].as_object().unwrap_or_else(|| data.as_object().unwrap()).clone());
        }
    }
    let dump = folder.path().join("dump.json");
    let mut types = Map::new();
    all.values().for_each(|entity| datatypes(entity, &mut types));
    let properties = types.iter().map(|(id, datatype)| json!({ "type": "property", "id": id, "datatype": datatype }));
    let lines: Vec<String> = all.values().cloned().chain(properties).map(|entity| entity.to_string()).collect();
    std::fs::write(&dump, format!("[\n{}\n]\n", lines.join(",\n"))).unwrap();
    let server = TestServer::of(&load(folder.path(), "--wikidata", &dump), &[]);
    for (id, given) in &all {
        let said = object(&server.get(&format!("/wiki/Special:EntityData/{id}.json")));
        let (mut before, mut after) = (Vec::new(), Vec::new());
        snaks(given, &mut before);
        snaks(&said["entities"][id], &mut after);
        let after: HashSet<&str> = after.iter().filter_map(|snak| snak["hash"].as_str()).collect();
        let lost = before.iter().find(|snak| is_kept(snak) && !after.contains(snak["hash"].as_str().unwrap()));
        assert_eq!(lost, None, "{id}: a hash of Wikidata's is not told");
        let parts = ["forms", "senses"].into_iter().filter_map(|name| given[name].as_array()).flatten();
        for part in parts.take(4) {
            let name = part["id"].as_str().unwrap();
            let said = object(&server.get(&format!("/wiki/Special:EntityData/{name}.json")));
            for texts in ["representations", "glosses", "grammaticalFeatures"] {
                let (given, told) = (&part[texts], &said["entities"][name][texts]);
                assert_eq!(as_triples_have_it(given), as_triples_have_it(told), "{name}");
            }
        }
        let mut wrong = Vec::new();
        differences("", &as_triples_have_it(given), &as_triples_have_it(&said["entities"][id]), &mut wrong);
        assert!(
            wrong.is_empty(),
            "{id}: {} differences, such as\n{}",
            wrong.len(),
            wrong[..wrong.len().min(8)].join("\n")
        );
    }
}

#[test]
fn the_shared_entities_are_found() {
    let Some(path) = wikidata::path() else { return };
    let server = TestServer::of(&path, &[]);
    for (text, more, id) in [
        ("Germany", "", "Q183"),
        ("germany", "", "Q183"),
        ("Arnold Schwarzenegger", "", "Q2685"),
        ("schwarzenegger arnold", "", "Q2685"),
        ("Arnold Schwarzeneger", "", "Q2685"),
        ("instance of", "&type=property", "P31"),
        ("population", "&type=property", "P1082"),
    ] {
        assert_eq!(found(&server, text, more).first().map(String::as_str), Some(id), "{text}");
    }
    let said = action(&server, "action=wbgetentities&ids=Q953086");
    let place = &said["entities"]["Q953086"]["claims"]["P625"][0]["mainsnak"]["datavalue"]["value"];
    assert_eq!(
        (&place["latitude"], &place["globe"]),
        (&json!(-9.827_777_777_777_8), &json!("http://www.wikidata.org/entity/Q2"))
    );
    assert_eq!(said["entities"]["Q953086"]["claims"]["P625"][0]["id"], "Q953086$br-P625-0");
}
