//! `/w/rest.php/wikibase/v1/openapi.json`: the REST API in OpenAPI's words, as Wikibase has one of its own.

use serde_json::{Map, Value, json};

/// A path below `/w/rest.php/wikibase/v1`: what it gives, and its parameters behind the question mark (needed ones first).
type Described = (&'static str, &'static str, &'static [&'static str], &'static [&'static str]);

/// What an item and a property have alike, behind their identifiers.
const PARTS: [Described; 12] = [
    ("", "The entity", &[], &["_fields"]),
    ("/labels", "Its labels, by language", &[], &[]),
    ("/labels/{language_code}", "Its label in a language", &[], &[]),
    ("/labels_with_language_fallback/{language_code}", "The same, or in a language that stands in for it", &[], &[]),
    ("/descriptions", "Its descriptions, by language", &[], &[]),
    ("/descriptions/{language_code}", "Its description in a language", &[], &[]),
    (
        "/descriptions_with_language_fallback/{language_code}",
        "The same, or in a language that stands in for it",
        &[],
        &[],
    ),
    ("/aliases", "Its other names, by language", &[], &[]),
    ("/aliases/{language_code}", "Its other names in a language", &[], &[]),
    ("/statements", "Its statements, by property", &[], &["property"]),
    ("/statements/{statement_id}", "One of its statements", &[], &[]),
    ("/sitelinks", "Its links to sites, by site", &[], &[]),
];

const OTHERS: [Described; 8] = [
    ("/entities/items/{item_id}/sitelinks/{site_id}", "An item's link to a site", &[], &[]),
    ("/statements/{statement_id}", "A statement", &[], &[]),
    ("/search/items", "Items by name", &["q", "language"], &["limit", "offset"]),
    ("/search/properties", "Properties by name", &["q", "language"], &["limit", "offset"]),
    ("/suggest/items", "Items by the beginning of a name", &["q", "language"], &["limit", "offset"]),
    ("/suggest/properties", "Properties by the beginning of a name", &["q", "language"], &["limit", "offset"]),
    ("/property-data-types", "The types of properties, each with the type of its values", &[], &[]),
    ("/openapi.json", "This description", &[], &[]),
];

/// The description of a version of the API.
pub fn description(version: &str) -> Value {
    let mut paths = Map::new();
    for (entities, id) in [("items", "item_id"), ("properties", "property_id")] {
        // Properties have no pages of their own.
        let parts = PARTS.iter().filter(|(part, ..)| entities == "items" || *part != "/sitelinks");
        for (part, summary, needed, optional) in parts {
            let path = format!("/entities/{entities}/{{{id}}}{part}");
            let told = operation(&path, summary, needed, optional);
            paths.insert(path, told);
        }
    }
    for (path, summary, needed, optional) in &OTHERS {
        paths.insert((*path).to_owned(), operation(path, summary, needed, optional));
    }
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "Wikibase REST API",
            "version": env!("CARGO_PKG_VERSION"),
            "description": "The entities of one immutable snapshot; nothing can be written",
        },
        "servers": [{ "url": format!("/w/rest.php/wikibase/{version}") }],
        "paths": paths,
        "components": { "schemas": { "Error": {
            "type": "object",
            "required": ["code", "message"],
            "properties": {
                "code": { "type": "string" }, "message": { "type": "string" }, "context": { "type": "object" },
            },
        } } },
    })
}

fn operation(path: &str, summary: &str, needed: &[&str], optional: &[&str]) -> Value {
    let in_path = path.split(['{', '}']).skip(1).step_by(2).map(|name| (name, "path", true));
    let needed = needed.iter().map(|name| (*name, "query", true));
    let optional = optional.iter().map(|name| (*name, "query", false));
    let parameters: Vec<Value> = in_path
        .chain(needed)
        .chain(optional)
        .map(|(name, place, required)| {
            let schema = match name {
                "item_id" => json!({ "type": "string", "pattern": "^Q[1-9][0-9]*$" }),
                "property_id" => json!({ "type": "string", "pattern": "^P[1-9][0-9]*$" }),
                "limit" => json!({ "type": "integer", "minimum": 1, "maximum": 500, "default": 10 }),
                "offset" => json!({ "type": "integer", "minimum": 0, "default": 0 }),
                _ => json!({ "type": "string" }),
            };
            json!({ "name": name, "in": place, "required": required, "schema": schema })
        })
        .collect();
    let name: String = path.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
    let refused = |text: &str| {
        json!({ "description": text, "content": { "application/json": {
            "schema": { "$ref": "#/components/schemas/Error" } } } })
    };
    json!({ "get": {
        "operationId": format!("get{name}"),
        "summary": summary,
        "parameters": parameters,
        "responses": {
            "200": { "description": "What was asked for", "content": { "application/json": { "schema": {} } } },
            "400": refused("A parameter is wrong"),
            "404": refused("There is no such thing in the snapshot"),
        },
    } })
}
