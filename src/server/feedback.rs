//! `POST /feedback`: a query in, what a model needs to repair it out.

use std::sync::Arc;

use axum::extract::State;
use axum::response::Response;
use serde::{Deserialize, Serialize};

use super::body::{Received, Unreadable};
use super::client::ClientKey;
use super::json::Wrong;
use super::{App, json};
use crate::eval::benchmarks::jsonl::parse_box;
use crate::eval::feedback::{Asked, Feedback, feedback as look};
use crate::places::Areas;

/// Most results that are shown.
const MOST: usize = 100;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Question {
    query: String,
    bbox: Option<String>,
    sample: Option<usize>,
}

#[derive(Serialize)]
struct Said {
    #[serde(flatten)]
    feedback: Feedback,
    /// All of it in one text, for a prompt.
    text: String,
}

/// Answers `{"query": "...", "bbox": "south,west,north,east", "sample": 5}`; all but the query may be left out.
pub async fn feedback(State(app): State<Arc<App>>, client: ClientKey, body: Result<Received, Unreadable>) -> Response {
    json::serve(app, client, "feedback", body, |app, question: Question, limits| {
        let bbox = match question.bbox.as_deref().map(|text| (text, parse_box(text))) {
            Some((text, None)) => {
                return Err(Wrong::Question(format!("bbox {text:?}: expected \"south,west,north,east\" in degrees")));
            }
            Some((_, bbox)) => bbox,
            None => None,
        };
        let places = Areas::new(&app.osm);
        let sample = question.sample.unwrap_or(5).min(MOST);
        let limits = limits.clone();
        let feedback = look(&app.osm, &Asked { query: &question.query, bbox, places: &places, sample, limits });
        Ok(Said { text: feedback.to_string(), feedback })
    })
    .await
}
