//! `/`: what this is, for somebody who opens the address in a browser.

use std::sync::Arc;

use axum::extract::State;

use super::{App, status::iso};
use crate::size::count;

/// Tells what is served.
pub async fn home(State(app): State<Arc<App>>) -> String {
    let manifest = &app.about.manifest;
    let counts = &manifest.counts;
    let sources: Vec<String> =
        manifest.sources.iter().map(|s| format!("{} (sha256 {}, {})", s.name, s.sha256, s.licence)).collect();
    format!(
        "Terrapin {version}\n\n\
         snapshot   {digest}\n\
         source     {sources}\n\
         data time  {time}\n\
         elements   {nodes} nodes, {ways} ways, {relations} relations, {areas} areas\n\n\
         /api/interpreter  OverpassQL; the query as the parameter `data` (GET or POST) or as the body of a POST\n\
         /api/convert      a query in another form: `data`, and `target` = xml, mapql or compact\n\
         /sparql           SPARQL; the query as the parameter `query` (GET or POST) or as the body of a POST\n\
         /search           where a name leads; the name as the parameter `q`\n\
         /api/status       slots and running queries\n\
         /api/kill_my_queries  stops your running queries\n\
         /api/timestamp    the time of the data\n\
         /readyz           200 while queries are let in\n\
         /healthz          200 while the snapshot is sound\n\
         /metrics          for Prometheus\n\n\
         Map data \u{a9} OpenStreetMap contributors, under the licence named with its source.\n",
        version = env!("CARGO_PKG_VERSION"),
        digest = app.about.digest,
        sources = sources.join("\n           "),
        time = iso(manifest.data_timestamp),
        nodes = count(counts.nodes),
        ways = count(counts.ways),
        relations = count(counts.relations),
        areas = count(counts.areas),
    )
}
