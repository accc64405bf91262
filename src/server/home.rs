//! `/`: what this is, for somebody who opens the address in a browser.

use std::sync::Arc;

use axum::extract::State;

use super::{App, LISTED, status::iso};
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
         {LISTED}\n\
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
