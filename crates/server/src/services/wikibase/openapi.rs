//! The paths of the REST API for `/openapi.json`, and for `/w/rest.php/wikibase/v1/openapi.json`, where Wikibase has
//! its own.

use serde_json::{Map, Value, json};

use crate::operation::{operation_id, parameter, reason, security, security_schemes};
use crate::route::{Parameter, Schema, path, query, required};

/// A path below the prefix, its summary, and its parameters.
type DescribedPath = (&'static str, &'static str, &'static [Parameter]);

/// The pattern of language codes, for ECMA 262.
const LANGUAGE_CODE: &str = "^([A-Za-z]{2,3}|[Ss][Ii][Mm][Pp][Ll][Ee])(-[A-Za-z0-9]{1,12}){0,2}$";
/// The pattern of languages to search in: those of [`LANGUAGE_CODE`] without `mul`, which stands for several.
const SEARCH_LANGUAGE: &str = "^(?!mul$)([A-Za-z]{2,3}|[Ss][Ii][Mm][Pp][Ll][Ee])(-[A-Za-z0-9]{1,12}){0,2}$";
const LANGUAGE: &[Parameter] =
    &[path("language_code", Schema::Pattern(LANGUAGE_CODE), "A language of Wikidata, such as en")];
const STATEMENT: &[Parameter] =
    &[path("statement_id", Schema::Pattern(STATEMENT_ID), "The statement's id: Q42$F078E5B3-...")];
const STATEMENT_ID: &str =
    r"^[QPLqpl][1-9][0-9]{0,18}\$[0-9A-Fa-f]{8}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{12}$";
const ITEM_ID: &str = "^[Qq][1-9][0-9]{0,18}$";
const PROPERTY_ID: &str = "^[Pp][1-9][0-9]{0,18}$";
const SITE: &[Parameter] = &[path("site_id", Schema::Text, "A site, such as enwiki")];
const SEARCH: &[Parameter] = &[
    required("q", Schema::Pattern(r"\S"), "The text to search for"),
    required("language", Schema::Pattern(SEARCH_LANGUAGE), "The language of the search, such as en"),
    query("limit", Schema::Integer(1, 500, Some(10)), "Maximum number of results"),
    query("offset", Schema::Integer(0, 10_000, Some(0)), "Number of results to skip"),
];

/// The parts of items and of properties, below their ids.
const PARTS: [DescribedPath; 11] = [
    ("/labels", "Labels by language", &[]),
    ("/labels/{language_code}", "The label in a language", LANGUAGE),
    ("/labels_with_language_fallback/{language_code}", "The label in a language or its fallbacks", LANGUAGE),
    ("/descriptions", "Descriptions by language", &[]),
    ("/descriptions/{language_code}", "The description in a language", LANGUAGE),
    (
        "/descriptions_with_language_fallback/{language_code}",
        "The description in a language or its fallbacks",
        LANGUAGE,
    ),
    ("/aliases", "Aliases by language", &[]),
    ("/aliases/{language_code}", "The aliases in a language", LANGUAGE),
    ("/statements", "Statements by property", &[query("property", Schema::Pattern(PROPERTY_ID), "Only this property")]),
    ("/statements/{statement_id}", "A statement", STATEMENT),
    ("", "The entity", &[]),
];

const OTHERS: [DescribedPath; 9] = [
    ("/entities/items/{item_id}/sitelinks", "An item's sitelinks by site", &[]),
    ("/entities/items/{item_id}/sitelinks/{site_id}", "An item's sitelink", SITE),
    ("/statements/{statement_id}", "A statement", STATEMENT),
    ("/search/items", "Items by name", SEARCH),
    ("/search/properties", "Properties by name", SEARCH),
    ("/suggest/items", "Items by the prefix of a name", SEARCH),
    ("/suggest/properties", "Properties by the prefix of a name", SEARCH),
    ("/property-data-types", "Data types of properties, with their value types", &[]),
    ("/openapi.json", "This description", &[]),
];

const ITEM: Parameter = path("item_id", Schema::Pattern(ITEM_ID), "The item's id");
const PROPERTY: Parameter = path("property_id", Schema::Pattern(PROPERTY_ID), "The property's id");

const ITEM_FIELDS: Parameter = query(
    "_fields",
    Schema::Pattern(
        "^,*(id|type|labels|descriptions|aliases|statements|sitelinks)(,+(id|type|labels|descriptions|aliases|statements|sitelinks))*,*$",
    ),
    "Only these members, such as labels,statements",
);
const PROPERTY_FIELDS: Parameter = query(
    "_fields",
    Schema::Pattern(
        "^,*(id|type|labels|descriptions|aliases|statements|data_type)(,+(id|type|labels|descriptions|aliases|statements|data_type))*,*$",
    ),
    "Only these members, such as labels,statements",
);

/// Returns the paths of the API below `prefix`.
pub fn paths(prefix: &str, has_tokens: bool) -> Map<String, Value> {
    let mut paths = Map::new();
    let mut add = |path: String, summary, parameters: &[&Parameter]| {
        let path = format!("{prefix}{path}");
        let item = json!({ "get": operation(&path, summary, parameters, has_tokens) });
        paths.insert(path, item);
    };
    for (entities, id, fields) in [("items", &ITEM, &ITEM_FIELDS), ("properties", &PROPERTY, &PROPERTY_FIELDS)] {
        for (part, summary, parameters) in &PARTS {
            let whole = part.is_empty().then_some(fields);
            let parameters: Vec<&Parameter> = std::iter::once(id).chain(whole).chain(*parameters).collect();
            add(format!("/entities/{entities}/{{{}}}{part}", id.name), summary, &parameters);
        }
    }
    for (path, summary, parameters) in &OTHERS {
        let id = path.contains("{item_id}").then_some(&ITEM);
        let parameters: Vec<&Parameter> = id.into_iter().chain(*parameters).collect();
        add((*path).to_owned(), summary, &parameters);
    }
    paths
}

/// Returns the description of a version of the API.
pub fn description(version: &str, has_tokens: bool) -> Value {
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "Wikibase REST API",
            "version": env!("CARGO_PKG_VERSION"),
            "description": "The entities of one immutable snapshot; read-only",
        },
        "servers": [{ "url": format!("/w/rest.php/wikibase/{version}") }],
        "security": security(has_tokens),
        "paths": paths("", has_tokens),
        "components": { "securitySchemes": security_schemes() },
    })
}

fn operation(path: &str, summary: &str, parameters: &[&Parameter], has_tokens: bool) -> Value {
    let refusal = |status: u16| {
        let mut response = json!({ "description": reason(status) });
        if status >= 400 {
            response["content"] = json!({ "application/json": { "schema": {
                "type": "object",
                "required": ["code", "message"],
                "properties": {
                    "code": { "type": "string" }, "message": { "type": "string" }, "context": { "type": "object" },
                },
            } } });
        }
        (status.to_string(), response)
    };
    let answer = json!({ "description": "The answer", "content": { "application/json": { "schema": {} } } });
    let statuses = [308, 400, 404, 429, 500, 503, 504].into_iter().chain(has_tokens.then_some(401));
    let responses: Map<String, Value> =
        std::iter::once(("200".to_owned(), answer)).chain(statuses.map(refusal)).collect();
    json!({
        "operationId": operation_id("get", path),
        "summary": summary,
        "parameters": parameters.iter().map(|one| parameter(one)).collect::<Vec<_>>(),
        "responses": responses,
    })
}
