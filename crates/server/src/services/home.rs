//! `/services` and `/api/snapshot`: describe the server and its snapshot, for people and for programs. `/` is the same
//! as `/services` for clients that do not prefer HTML.

use std::sync::Arc;

use axum::extract::State;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use axum::routing::on;
use serde_json::json;

use super::status::iso;
use crate::json::JSON;
use crate::route::{Access, Methods, Route, TEXT};
use crate::{App, job};
use terrapin_base::size::count;
use terrapin_osm::history::History;

/// The routes that describe the server.
pub const ROUTES: &[Route] = &[
    Route::get("/", "The page for browsers; for other clients the list of services", |_, methods| on(methods, home))
        .answers(&[TEXT, "text/html"])
        .statuses_too(&[304])
        .access(Access::Browser),
    Route::get("/services", "The list of services", |_, methods| on(methods, home)).answers(&[TEXT]),
    Route::get("/api/snapshot", "The served snapshot: digests, time, bounding box, counts, sources", |_, methods| {
        on(methods, snapshot)
    }),
];

/// Returns the list of services, with the snapshot, its sources and counts.
pub async fn home(State(app): State<Arc<App>>) -> String {
    let manifest = app.engine.manifest();
    let counts = &manifest.counts;
    let sources: Vec<String> =
        manifest.sources.iter().map(|s| format!("{} (sha256 {}, {})", s.name, s.sha256, s.licence)).collect();
    let services: String = app
        .shown_routes()
        .map(|route| {
            let post = if route.methods == Methods::Post { "POST: " } else { "" };
            format!("{:<36}  {post}{}\n", route.shown_path(), route.summary)
        })
        .collect();
    format!(
        "Terrapin {version}\n\n\
         snapshot   {digest}\n\
         source     {sources}\n\
         data time  {time}\n\
         elements   {nodes} nodes, {ways} ways, {relations} relations, {areas} areas\n\n\
         {services}\n\
         Map data \u{a9} OpenStreetMap contributors, under the licence named with its source.\n",
        version = env!("CARGO_PKG_VERSION"),
        digest = app.engine.digest(),
        sources = sources.join("\n           "),
        time = iso(manifest.data_timestamp),
        nodes = count(counts.nodes),
        ways = count(counts.ways),
        relations = count(counts.relations),
        areas = count(counts.areas),
    )
}

/// Returns the description of the snapshot as JSON: digests, time and bounding box of the data (south, west, north,
/// east in degrees; `null` without nodes), counts, whether there are older versions of elements, and the sources with
/// their licences. `triples` is `null` if there are no triples. `ask` is whether questions in plain language are
/// answered. `annotate` is how annotators are named (`token` or `name`), and `null` without a queue to annotate.
/// `page` is the operator's identity on the page, and `null` without one.
pub async fn snapshot(State(app): State<Arc<App>>) -> Response {
    let manifest = app.engine.manifest();
    let counts = &manifest.counts;
    let content = manifest.content.map(|digest| digest.iter().map(|b| format!("{b:02x}")).collect::<String>());
    let sources: Vec<_> = manifest
        .sources
        .iter()
        .map(|source| json!({ "name": source.name, "sha256": source.sha256, "licence": source.licence }))
        .collect();
    let facts = json!({
        "digest": app.engine.digest(),
        "content": content,
        "version": env!("CARGO_PKG_VERSION"),
        "data_time": iso(manifest.data_timestamp),
        "bounding_box": manifest.bounding_box.map(|sides| sides.map(|side| f64::from(side) / 1e7)),
        "counts": {
            "nodes": counts.nodes,
            "ways": counts.ways,
            "relations": counts.relations,
            "areas": counts.areas,
            "keys": counts.keys,
            "tags": counts.tags,
        },
        "history": History::of(app.engine.osm()).is_some(),
        "ask": app.asker.is_some(),
        "annotate": super::annotations::naming(&app),
        "page": app.settings.page,
        "triples": manifest.triples.map(|counts| counts.triples),
        "sources": sources,
    });
    let answer = ([(header::CONTENT_TYPE, JSON)], facts.to_string()).into_response();
    job::from_snapshot(&app, answer)
}
