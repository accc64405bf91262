//! `/openapi.json`: what services there are, for programs (OpenAPI 3.1); `/llms.txt`: the same for language models.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use serde_json::{Map, Value, json};

use super::App;
use super::taginfo::SERVICES;

/// A service as it is described.
struct Operation {
    path: &'static str,
    summary: &'static str,
    /// Parameters of the address: name, whether it is needed, what it is.
    parameters: &'static [(&'static str, bool, &'static str)],
    /// Media types of a body that is sent, where there is one.
    body: &'static [&'static str],
    /// Whether it is asked by GET, by POST.
    methods: &'static [&'static str],
    /// Media types of answers.
    answers: &'static [&'static str],
}

const JSON: &str = "application/json";
const TEXT: &str = "text/plain";
const FORM: &str = "application/x-www-form-urlencoded";
/// Described where a model is named.
const ASK: &str = "/ask";
const BOTH: &[&str] = &["get", "post"];
const FORMAT_OF_PLACES: (&str, bool, &str) =
    ("format", false, "json, jsonv2, geojson, geocodejson or xml; jsonv2 without a word");

const XAPI: &[&str] = &["application/osm3s+xml", "application/geo+json", "application/geo+json-seq"];

const OPERATIONS: [Operation; 35] = [
    Operation {
        path: "/api/interpreter",
        summary: "Answer a query in OverpassQL, as Overpass API does. By POST the query is the body, or `data` in a form",
        parameters: &[
            ("data", false, "The query"),
            ("bbox", false, "west,south,east,north: what `(bbox)` and `[bbox]` in the query stand for"),
            ("jsonp", false, "A function to call with the answer"),
            (
                "with-wikidata",
                false,
                "P1082,P571: with GeoJSON, what features tell of the items that they are linked with; without a value the label alone",
            ),
            ("accept-language", false, "Languages of labels: de,en; the header of this name says it, too"),
        ],
        body: &[TEXT, FORM],
        methods: BOTH,
        answers: &[
            "application/osm3s+xml",
            JSON,
            "application/geo+json",
            "application/geo+json-seq",
            "text/csv",
            "text/html",
        ],
    },
    Operation {
        path: "/api/convert",
        summary: "Write a query in another form of OverpassQL",
        parameters: &[("data", false, "The query"), ("target", false, "xml, mapql or compact")],
        body: &[TEXT, FORM],
        methods: BOTH,
        answers: &["text/html"],
    },
    Operation {
        path: "/api/map",
        summary: "Everything in a box: nodes, the ways that they are in, the relations of both, with metadata",
        parameters: &[("bbox", true, "left,bottom,right,top in degrees")],
        body: &[],
        methods: &["get"],
        answers: XAPI,
    },
    Operation {
        path: "/api/xapi",
        summary: "Answer a query of the extended API (XAPI), which is the whole of what follows the question mark: \
                  node[amenity=cafe|bar][bbox=14.4,35.8,14.6,36.0]",
        parameters: &[],
        body: &[],
        methods: &["get"],
        answers: XAPI,
    },
    Operation {
        path: "/api/xapi_meta",
        summary: "The same with versions, times, changesets and users",
        parameters: &[],
        body: &[],
        methods: &["get"],
        answers: XAPI,
    },
    Operation {
        path: "/sparql",
        summary: "Answer a query in SPARQL by the SPARQL 1.1 Protocol, as the Wikidata Query Service takes it",
        parameters: &[
            ("query", false, "The query"),
            ("format", false, "The form of the answer; the header Accept says it, too"),
            ("timeout", false, "Seconds that the query may take"),
            ("dialect", false, "The language of the query: wdqs, what the Wikidata Query Service takes, or standard"),
            ("default-graph-uri", false, "A graph of the dataset"),
            ("named-graph-uri", false, "A named graph of the dataset"),
        ],
        body: &["application/sparql-query", FORM],
        methods: BOTH,
        answers: &["application/sparql-results+json", "application/sparql-results+xml", "text/csv", "text/turtle"],
    },
    Operation {
        path: "/search",
        summary: "Where a name leads, as Nominatim answers it. Without `q`: the parts of an address",
        parameters: &[
            (
                "q",
                false,
                "The name, with what it lies in after commas: Sliema, Malta; a kind of thing: pubs in Sliema; a position",
            ),
            ("amenity", false, "The name of a place of interest, or its kind: pub"),
            ("street", false, "A street, with the number of a house before or behind it"),
            ("city", false, "A town"),
            ("county", false, "A county"),
            ("state", false, "A state"),
            ("country", false, "A country"),
            ("postalcode", false, "A postal code"),
            ("typing", false, "1: the last word may be the beginning of one"),
            ("limit", false, "How many places at most: 10 without a word, 40 at most"),
            ("viewbox", false, "What lies in this box comes first: longitude and latitude of two corners"),
            ("bounded", false, "1: nothing outside of the box"),
            ("countrycodes", false, "Only in these countries: mt,it"),
            ("layer", false, "Some of address, poi, railway, natural, manmade"),
            ("featureType", false, "country, state, city or settlement"),
            ("exclude_place_ids", false, "Places that are not wanted"),
            ("accept-language", false, "Languages of names: de,en; the header of this name says it, too"),
            FORMAT_OF_PLACES,
            ("addressdetails", false, "1: with the parts of the address"),
            ("polygon_geojson", false, "1: with its shape as GeoJSON"),
            ("polygon_text", false, "1: with its shape as WKT"),
            ("polygon_kml", false, "1: with its shape as KML"),
            ("polygon_svg", false, "1: with its shape as the path of an SVG"),
            ("polygon_threshold", false, "How many degrees the shape may be off"),
            ("entrances", false, "1: with the entrances of a building"),
            ("dedupe", false, "0: elements that are one place are all told"),
            ("json_callback", false, "A function to call with the answer"),
            ("namedetails", false, "1: with all of its names"),
            ("extratags", false, "1: with its other tags"),
        ],
        body: &[],
        methods: &["get"],
        answers: &[JSON, "text/xml"],
    },
    Operation {
        path: "/lookup",
        summary: "Elements as places, as Nominatim answers it; with the parameters of /search for what is told",
        parameters: &[("osm_ids", true, "Up to 50 elements: R123,W123,N123"), FORMAT_OF_PLACES],
        body: &[],
        methods: &["get"],
        answers: &[JSON, "text/xml"],
    },
    Operation {
        path: "/reverse",
        summary: "What is at a point, as Nominatim answers it: XML without `format`; with the parameters of /search for what is told",
        parameters: &[
            ("lat", true, "Degrees north"),
            ("lon", true, "Degrees east"),
            ("zoom", false, "How much: 3 is a country, 10 a city, 16 a street, 18, as without a word, a house"),
            ("layer", false, "Some of address, poi, railway, natural, manmade; address,poi without a word"),
            FORMAT_OF_PLACES,
        ],
        body: &[],
        methods: &["get"],
        answers: &[JSON, "text/xml"],
    },
    Operation {
        path: "/status",
        summary: "Whether places are found, and of what time they are, as Nominatim answers it",
        parameters: &[("format", false, "text or json")],
        body: &[],
        methods: &["get"],
        answers: &["text/plain", JSON],
    },
    Operation {
        path: "/feedback",
        summary: "What is wrong with a query of either language: {\"query\": \"...\", \"lang\", \"bbox\", \"sample\"}",
        parameters: &[],
        body: &[JSON],
        methods: &["post"],
        answers: &[JSON],
    },
    Operation {
        path: "/score",
        summary: "Scores of predicted queries against references: {\"predictions\": [...], \"references\": [...]}, or as lines \
                  {\"gold\": \"...\", \"pred\": \"...\"}, for which the parameters are",
        parameters: &[
            ("lang", false, "overpassql or sparql"),
            ("timeout", false, "Seconds that each query may take"),
            ("similarity", false, "false: queries are not compared as texts and trees"),
            ("summary", false, "true: with where a prediction is wrong, and what in it finds nothing"),
            ("extract", false, "true: predictions are replies of a language model, in which the query is found"),
        ],
        body: &[JSON, "application/x-ndjson"],
        methods: &["post"],
        answers: &[JSON, "application/x-ndjson"],
    },
    Operation {
        path: ASK,
        summary: "Answer a question in plain language by the queries of a language model, where one is named: {\"question\": \"...\", \
                  \"context\": \"...\"}. With a step of an answer before, changed or not, it goes on from there: \"mentions\", \
                  \"candidates\", \"prompt\", \"queries\"",
        parameters: &[],
        body: &[JSON],
        methods: &["post"],
        answers: &[JSON, "text/event-stream"],
    },
    Operation {
        path: "/mcp",
        summary: "The tools of agents, by the Model Context Protocol over streamable HTTP",
        parameters: &[],
        body: &[JSON],
        methods: &["post"],
        answers: &[JSON, "text/event-stream"],
    },
    telling("/api/status", "A client's free slots and running queries", TEXT),
    telling("/api/timestamp", "The time of the data", TEXT),
    Operation { methods: BOTH, ..telling("/api/kill_my_queries", "Stop a client's running queries", TEXT) },
    Operation {
        path: "/api/cost",
        summary: "What a query of the client's cost: time, work, memory. Of the last that ended",
        parameters: &[("request", true, "The X-Request-Id of its answer")],
        body: &[],
        methods: &["get"],
        answers: &[JSON],
    },
    Operation {
        path: "/api/kill/{id}",
        summary: "Stop a query by its number, with an admin's token",
        parameters: &[],
        body: &[],
        methods: &["post"],
        answers: &[JSON],
    },
    telling("/readyz", "200 while queries are let in", TEXT),
    telling("/healthz", "200 while the snapshot is sound", TEXT),
    telling("/", "What is served, in words; the page for browsers", TEXT),
    telling("/services", "What is served, in words", TEXT),
    telling("/api/snapshot", "What is served: the snapshot, its sources and counts", JSON),
    telling("/tiles.json", "The snapshot's map: TileJSON of its vector tiles", JSON),
    Operation {
        path: "/tiles/{z}/{x}/{y}.mvt",
        summary: "A tile of the map: Mapbox Vector Tile, in Shortbread's layers",
        parameters: &[],
        body: &[],
        methods: &["get"],
        answers: &["application/vnd.mapbox-vector-tile"],
    },
    Operation {
        path: "/w/api.php",
        summary: "Find entities by name, or tell what is said of them, as MediaWiki's action API does on Wikidata",
        parameters: &[
            ("action", true, "wbsearchentities or wbgetentities"),
            ("search", false, "What is looked for: a name or its beginning"),
            ("language", false, "The language of the search, such as en"),
            ("type", false, "item, property or lexeme; item without a word"),
            ("limit", false, "How many are found, at most 50"),
            ("ids", false, "The entities that are told, such as Q42|P31"),
            ("props", false, "What is told of them, such as labels|claims"),
            ("languages", false, "In which languages, such as en|de"),
        ],
        body: &[FORM],
        methods: BOTH,
        answers: &[JSON],
    },
    told_by_wikibase("/w/rest.php/wikibase/v1/entities/items/{id}", "An item, as Wikibase's REST API tells it", &[]),
    told_by_wikibase("/w/rest.php/wikibase/v1/entities/properties/{id}", "A property, likewise", &[]),
    told_by_wikibase(
        "/w/rest.php/wikibase/v1/search/items",
        "Find items by name; the same for properties, and at /suggest for text that is being typed",
        &[("q", true, "The name or its beginning"), ("language", true, "The language of the search, such as en")],
    ),
    told_by_wikibase(
        "/w/rest.php/wikibase/v1/property-data-types",
        "The types of properties, each with that of its values",
        &[],
    ),
    told_by_wikibase("/w/rest.php/wikibase/v1/openapi.json", "All of that REST API, described", &[]),
    told_by_wikibase("/wiki/Special:EntityData/{id}.json", "All that is said of an entity: Wikibase's JSON", &[]),
    telling("/openapi.json", "This description", JSON),
    telling("/llms.txt", "What is served, for language models", TEXT),
];

/// What a Wikibase tells.
const fn told_by_wikibase(
    path: &'static str,
    summary: &'static str,
    parameters: &'static [(&'static str, bool, &'static str)],
) -> Operation {
    Operation { path, summary, parameters, body: &[], methods: &["get"], answers: &[JSON] }
}

/// A service without parameters.
const fn telling(path: &'static str, summary: &'static str, answer: &'static str) -> Operation {
    let answers: &[&str] = if matches!(answer.as_bytes(), b"text/plain") { &[TEXT] } else { &[JSON] };
    Operation { path, summary, parameters: &[], body: &[], methods: &["get"], answers }
}

impl Operation {
    fn described(&self) -> Value {
        let parameter = |(name, needed, text): &(&str, bool, &str)| parameter(name, *needed, text);
        let mut parameters: Vec<Value> = self.parameters.iter().map(parameter).collect();
        for name in ["id", "z", "x", "y"].into_iter().filter(|name| self.path.contains(&format!("{{{name}}}"))) {
            // Entities have a letter before their number.
            let schema = match self.path.starts_with("/w") {
                true => json!({ "type": "string", "pattern": "^[QPL][1-9][0-9]*$" }),
                false => json!({ "type": "integer", "minimum": 0 }),
            };
            parameters.push(json!({ "name": name, "in": "path", "required": true, "schema": schema }));
        }
        let methods = self.methods.iter().map(|method| {
            let answers: Map<String, Value> = self.answers.iter().map(|name| media(name)).collect();
            let mut operation = operation(method, self.path, self.summary, &parameters, Value::Object(answers));
            if *method == "post" && !self.body.is_empty() {
                let content: Map<String, Value> = self.body.iter().map(|name| media(name)).collect();
                operation["requestBody"] = json!({ "content": content });
            }
            ((*method).to_owned(), operation)
        });
        Value::Object(methods.collect())
    }
}

fn media(name: &str) -> (String, Value) {
    let schema = if name == JSON { json!({}) } else { json!({ "type": "string" }) };
    (name.to_owned(), json!({ "schema": schema }))
}

fn parameter(name: &str, needed: bool, text: &str) -> Value {
    let schema = match name {
        "page" | "rp" => json!({ "type": "integer", "minimum": 1 }),
        "timeout" => json!({ "type": "number" }),
        "sortorder" => json!({ "type": "string", "enum": ["asc", "desc"] }),
        "dialect" => json!({ "type": "string", "enum": ["wdqs", "standard"] }),
        _ => json!({ "type": "string" }),
    };
    json!({ "name": name, "in": "query", "required": needed, "description": text, "schema": schema })
}

fn operation(method: &str, path: &str, summary: &str, parameters: &[Value], content: Value) -> Value {
    let name: String = path.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
    let refused = |text: &str| {
        json!({ "description": text, "content": {
        "application/json": { "schema": { "$ref": "#/components/schemas/Refusal" } },
        "text/html": { "schema": { "type": "string" } },
        "text/plain": { "schema": { "type": "string" } },
    } })
    };
    json!({
        "operationId": format!("{method}{name}"),
        "summary": summary,
        "parameters": parameters,
        "responses": {
            "200": { "description": "The answer", "content": content },
            "400": refused("The request is wrong; the text says what"),
            "429": refused("Too many requests: come back later"),
            "504": refused("It took longer than it may"),
        },
    })
}

/// What a parameter of taginfo's is.
fn of_tags(name: &str) -> &'static str {
    match name {
        "key" => "The key",
        "value" => "The value",
        "query" => "What is looked for",
        "filter" => "Which of them: all, nodes, ways, relations; of keys characters_space, characters_problem, in_wiki",
        "include" => "prevalent_values: with the values that one in a hundred of its elements has",
        "page" => "The page, from 1",
        "rp" => "Rows of a page",
        "sortname" => "The column that rows are sorted by",
        "sortorder" => "asc or desc",
        "tags" => "key=value,value,key=value",
        _ => "json or json_pretty",
    }
}

fn description(app: &App) -> Value {
    let offered = OPERATIONS.iter().filter(|operation| operation.path != ASK || app.asker.is_some());
    let mut paths: Map<String, Value> =
        offered.map(|operation| (operation.path.to_owned(), operation.described())).collect();
    for service in &SERVICES {
        let needed = service.needed.iter().map(|name| parameter(name, true, of_tags(name)));
        let optional = service.optional.iter().chain(&["format"]).map(|name| parameter(name, false, of_tags(name)));
        let parameters: Vec<Value> = needed.chain(optional).collect();
        let (name, body) = media(JSON);
        let get = operation("get", service.path, service.summary, &parameters, json!({ name: body }));
        paths.insert(service.path.to_owned(), json!({ "get": get }));
    }
    let security = if app.tokens.is_some() { json!([{ "token": [] }]) } else { json!([]) };
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "Terrapin",
            "version": env!("CARGO_PKG_VERSION"),
            "summary": "One immutable snapshot of OpenStreetMap and a part of Wikidata",
            "description": format!("Snapshot {}", app.engine.digest()),
            "license": { "name": "MIT OR Apache-2.0", "identifier": "MIT OR Apache-2.0" },
        },
        "servers": [{ "url": "/" }],
        "security": security,
        "paths": paths,
        "components": {
            "securitySchemes": { "token": { "type": "http", "scheme": "bearer" } },
            "schemas": { "Refusal": { "type": "object", "properties": { "error": {} }, "required": ["error"] } },
        },
    })
}

/// Answers `/openapi.json`.
pub async fn openapi(State(app): State<Arc<App>>) -> Json<Value> {
    Json(description(&app))
}

/// Answers `/llms.txt`.
pub async fn llms(State(app): State<Arc<App>>) -> String {
    let triples = app.engine.triples().map_or(
        "",
        |_| {
            "- [SPARQL](/sparql): the parameter `query`, as the Wikidata Query Service takes it; `format=json`\n\
             - [Entities by name](/w/api.php): `action=wbsearchentities&search=...&language=en`, as Wikidata answers it\n"
        },
    );
    format!(
        "# Terrapin\n\n\
         > One immutable snapshot of OpenStreetMap{of_wikidata}, {digest}. The same question has the same answer every day.\n\n\
         Find the tags of a thing first (`/api/4/search/by_keyword`), then the area of a place (`/search`), then ask \
         OverpassQL. `/feedback` tells why a query fails or finds nothing. Answers may be long: count with `out count;`, \
         take the first with `out tags center 20;`.\n\n\
         ## Services\n\n\
         - [OverpassQL](/api/interpreter): the parameter `data`; begin it with [out:json]\n\
         {triples}\
         - [Tags in words](/api/4/search/by_keyword): the parameter `query`, such as `fast food that is vegan`\n\
         - [Values of a key](/api/4/key/values): the parameters `key`, `query`, `rp`\n\
         - [Places by name](/search): the parameter `q`\n\
         - [What is wrong with a query](/feedback): POST {{\"query\": \"...\"}}\n\
         {ask}\
         - [Tools by the Model Context Protocol](/mcp): all of the above for agents\n\n\
         ## Descriptions\n\n\
         - [OpenAPI](/openapi.json): every service with its parameters\n\
         - [What is served](/): the snapshot, its sources and their licences\n",
        of_wikidata = if triples.is_empty() { "" } else { " and a part of Wikidata" },
        digest = app.engine.digest(),
        ask = if app.asker.is_some() {
            "- [Questions in plain language](/ask): POST {\"question\": \"...\"}\n"
        } else {
            ""
        },
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_listed_service_is_described() {
        let described = |path: &str| OPERATIONS.iter().any(|operation| operation.path == path);
        for line in crate::LISTED.lines() {
            let path = line.split_whitespace().next().unwrap();
            // Prometheus is told where it is by who runs it.
            assert!(described(path) || path.starts_with("/api/4/") || path == "/metrics", "{path}");
        }
    }
}
