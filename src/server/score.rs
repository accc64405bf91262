//! `POST /score`: predictions and references in, a record for each pair out.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Instant;

use axum::body::Bytes;
use axum::extract::State;
use axum::extract::rejection::BytesRejection;
use axum::response::Response;
use serde::{Deserialize, Serialize};

use super::{App, json};
use crate::eval::benchmarks::overpassnl::{Bounds, OverpassNl};
use crate::eval::record::{Instance, Record};
use crate::eval::runs::{Benchmark, NoCache, engine};
use crate::overpass::run::Limits;
use crate::places::{Areas, Chain, Places, Table};

/// Pairs that one request may have.
const MOST: usize = 200;
/// Bytes that the answer to one query may have.
const LARGEST: u64 = 256 << 20;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Question {
    predictions: Vec<String>,
    references: Vec<String>,
    bbox: Option<Vec<String>>,
    places: Option<serde_json::Value>,
}

#[derive(Serialize)]
struct Scored {
    snapshot: String,
    engine: String,
    /// In the order of the predictions.
    results: Vec<Record>,
}

/// Answers `{"predictions": [...], "references": [...], "bbox": [...], "places": {...}}` as `terrapin eval overpassnl`
/// does; boxes and places may be left out.
pub async fn score(State(app): State<Arc<App>>, body: Result<Bytes, BytesRejection>) -> Response {
    json::serve(app, body, |app, question: Question, limits| {
        let count = question.predictions.len();
        if question.references.len() != count || question.bbox.as_ref().is_some_and(|bbox| bbox.len() != count) {
            return Err("predictions, references and bbox must have the same length".to_owned());
        }
        if count > MOST {
            return Err(format!("{count} pairs: send at most {MOST} at once"));
        }
        let table = question.places.map(|places| Table::parse(places.to_string().as_bytes())).transpose();
        let table = table.map_err(|e| format!("places: {e}"))?;
        let areas = Areas::new(&app.osm);
        let mut places = Chain::default();
        places.0.extend(table.as_ref().map(|table| table as &dyn Places));
        places.0.push(&areas);
        let mut results = Vec::with_capacity(count);
        for (index, (gold, pred)) in question.references.into_iter().zip(question.predictions).enumerate() {
            if limits.cancelled.load(Ordering::Relaxed) {
                return Err("nobody waits for the answer".to_owned());
            }
            // The time is each pair's, not the request's.
            let limits = Limits { deadline: Instant::now().checked_add(app.settings.max_time), ..limits.clone() };
            let benchmark = OverpassNl {
                osm: Some(&app.osm),
                snapshot: &app.about.digest,
                places: &places,
                similarity: true,
                cache: &NoCache,
                bounds: Bounds { limits, largest: LARGEST },
            };
            let bbox = question.bbox.as_ref().and_then(|boxes| boxes.get(index)).cloned();
            let instance = Instance { line: index + 1, gold, pred, bbox, ..Instance::default() };
            results.push(benchmark.score(&instance).record);
        }
        Ok(Scored { snapshot: app.about.digest.clone(), engine: engine(), results })
    })
    .await
}
