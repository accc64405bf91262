//! `/openapi.json`, the description of all routes for programs (OpenAPI 3.1), and `/llms.txt`, that for language
//! models. Both are made of the table of routes.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::routing::on;
use serde_json::{Map, Value, json};

use super::wikibase;
use crate::App;
use crate::operation::{operation_id, parameter, reason, security, security_schemes};
use crate::route::{Access, JSON, Methods, Route, TEXT};

/// The routes of the descriptions.
pub const ROUTES: &[Route] = &[
    Route::get("/openapi.json", "All services for programs (OpenAPI 3.1)", |_, methods| on(methods, openapi)),
    Route::get("/llms.txt", "The services for language models", |_, methods| on(methods, llms)).answers(&[TEXT]),
];

/// Answers `/openapi.json`.
async fn openapi(State(app): State<Arc<App>>) -> Json<Value> {
    Json(description(&app))
}

fn description(app: &App) -> Value {
    let has_tokens = app.tokens.is_some();
    let routes = app.shown_routes().filter(|route| route.described_at.is_none());
    let mut paths: Map<String, Value> =
        routes.map(|route| (route.shown_path().to_owned(), path_item(route, has_tokens))).collect();
    if app.engine.triples().is_some() {
        paths.extend(wikibase::described_paths("/w/rest.php/wikibase/v1", has_tokens));
    }
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
        "security": security(has_tokens),
        "paths": paths,
        "components": { "securitySchemes": security_schemes() },
    })
}

fn path_item(route: &Route, has_tokens: bool) -> Value {
    let parameters: Vec<Value> = route.parameters().map(parameter).collect();
    let operation = |method: &&str| {
        let mut operation = json!({
            "operationId": operation_id(method, route.shown_path()),
            "summary": route.summary,
            "parameters": parameters,
            "responses": responses(route, has_tokens),
        });
        if !route.details.is_empty() {
            operation["description"] = json!(route.details);
        }
        if *method == "post" && !route.bodies.is_empty() {
            let content: Map<String, Value> = route
                .bodies
                .iter()
                .map(|media| (media.name.to_owned(), json!({ "schema": (media.schema)() })))
                .collect();
            // With two methods the query string can have everything.
            let is_required = route.methods != Methods::GetAndPost;
            operation["requestBody"] = json!({ "content": content, "required": is_required });
        }
        if matches!(route.access, Access::Page | Access::Probe | Access::Operator) {
            operation["security"] = json!([]);
        }
        ((*method).to_owned(), operation)
    };
    Value::Object(route.methods.names().iter().map(operation).collect())
}

fn responses(route: &Route, has_tokens: bool) -> Value {
    let any = |name: &str| json!({ "schema": if name == JSON { json!({}) } else { json!({ "type": "string" }) } });
    let content = |names: &[&str]| names.iter().map(|name| ((*name).to_owned(), any(name))).collect::<Map<_, _>>();
    let mut all = Map::new();
    all.insert("200".to_owned(), json!({ "description": "The answer", "content": content(route.answers) }));
    for status in route.statuses(has_tokens) {
        let mut response = json!({ "description": reason(status) });
        // A redirect or an unchanged answer has no body.
        if status >= 400 {
            response["content"] = json!(content(route.wording.media_types()));
        }
        all.insert(status.to_string(), response);
    }
    Value::Object(all)
}

/// Answers `/llms.txt`.
async fn llms(State(app): State<Arc<App>>) -> String {
    let has_triples = app.engine.triples().is_some();
    let services: String = app
        .shown_routes()
        .filter(|route| matches!(route.access, Access::Query))
        .map(|route| {
            // The required parameters, or else the first one, which selects the result.
            let required = route.parameters().filter(|parameter| parameter.is_required);
            let mut names: Vec<&str> = required.map(|parameter| parameter.name).collect();
            names.extend(route.parameters().next().filter(|_| names.is_empty()).map(|parameter| parameter.name));
            let needs = if names.is_empty() { String::new() } else { format!(" (`{}`)", names.join("`, `")) };
            let post = if route.methods == Methods::Post { "POST: " } else { "" };
            format!("- [{}]({}): {post}{}{needs}\n", name(route), link(route), route.summary)
        })
        .collect();
    format!(
        "# Terrapin\n\n\
         > One immutable snapshot of OpenStreetMap{of_wikidata}, {digest}. The same query has the same answer every day.\n\n\
         Find the tags of a thing first (`/api/4/search/by_keyword`), then the area of a place (`/search`), then run an \
         OverpassQL query (begin it with `[out:json]`). `/feedback` explains why a query fails or finds nothing. Answers may be \
         long: count with `out count;`, take the first with `out tags center 20;`.\n\n\
         ## Services\n\n\
         {services}\n\
         ## Descriptions\n\n\
         - [OpenAPI](/openapi.json): every service with its parameters\n\
         - [The snapshot](/services): its sources and their licences\n",
        of_wikidata = if has_triples { " and a part of Wikidata" } else { "" },
        digest = app.engine.digest(),
    )
}

/// Returns the address of a link: of a path with parameters, its description or the part before them.
fn link(route: &Route) -> &'static str {
    let path = route.shown_path();
    route.described_at.unwrap_or_else(|| path.split('{').next().unwrap_or(path))
}

/// Returns a name for a link: the path without its slash.
fn name(route: &Route) -> &'static str {
    route.shown_path().trim_start_matches('/')
}
