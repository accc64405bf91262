//! `POST /feedback`: takes a query and returns the feedback that a model needs to repair it.

use std::sync::Arc;

use axum::Extension;
use axum::extract::State;
use axum::routing::on;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::body::Received;
use crate::context::HttpRequestContext;
use crate::outcome::Outcome;
use crate::reply::Reply;
use crate::route::{Access, Route, json_body, schema_of};
use crate::{App, json};
use terrapin_eval::feedback::{Feedback, FeedbackRequest, NoTriples, feedback as look, without_triples};
use terrapin_eval::language::QueryLanguage;
use terrapin_osm::BoundingBox;
use terrapin_sparql::{Dialect, WITHOUT_TRIPLES};

/// The route of feedback.
pub const ROUTES: &[Route] = &[Route::post(
    "/feedback",
    "Check a query of either language: errors with hints, a sample of results, warnings",
    |_, methods| on(methods, feedback),
)
.reads(&[json_body(schema_of::<FeedbackQuestion>)])
.access(Access::Query)];

/// Maximum number of results that are shown.
const MOST: usize = 100;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct FeedbackQuestion {
    query: String,
    /// Its language; detected from its beginning if not given.
    #[schemars(extend("enum" = ["overpassql", "sparql", null]))]
    lang: Option<String>,
    /// The dialect of SPARQL. Default: auto.
    #[schemars(extend("enum" = ["auto", "wdqs", "qlever", "standard", null]))]
    dialect: Option<String>,
    /// south,west,north,east in degrees.
    #[schemars(regex(
        pattern = r"^-?[0-9]{1,2}(\.[0-9]+)?,-?[0-9]{1,3}(\.[0-9]+)?,-?[0-9]{1,2}(\.[0-9]+)?,-?[0-9]{1,3}(\.[0-9]+)?$"
    ))]
    bbox: Option<String>,
    /// Maximum number of results to show, at most 100. Default: 5.
    #[serde(default, deserialize_with = "json::whole_number")]
    #[schemars(range(min = 0))]
    sample: Option<usize>,
    run: Option<bool>,
}

#[derive(Serialize)]
struct FeedbackResponse {
    #[serde(flatten)]
    feedback: Feedback,
    /// The whole feedback as one text, for a prompt.
    text: String,
}

/// Answers `{"query": "...", "bbox": "south,west,north,east", "sample": 5, "lang": "sparql", "run": false}`; all fields
/// but `query` are optional. Without `lang`, the language is detected from the query's beginning. `dialect` is that of
/// `/sparql`. With `"run": false`,
/// the query is only parsed and checked against the data, for example by an editor during typing.
pub async fn feedback(
    State(app): State<Arc<App>>,
    Extension(context): Extension<Arc<HttpRequestContext>>,
    body: Received,
) -> Reply {
    let asked = Arc::clone(&context);
    json::serve(app, context, "feedback", body, move |app, question: FeedbackQuestion, limits| {
        asked.set_query(&question.query);
        let wrong = |message: String| Err((Outcome::Refused, message));
        let bbox = match question.bbox.as_deref().map(|text| (text, text.parse::<BoundingBox>().ok())) {
            Some((text, None)) => {
                return wrong(format!("bbox {text:?}: expected \"south,west,north,east\" in degrees"));
            }
            Some((_, bbox)) => bbox,
            None => None,
        };
        let run = question.run.unwrap_or(true);
        let sample = question.sample.unwrap_or(5).min(MOST);
        let language = match question.lang.as_deref().map(|lang| (lang, QueryLanguage::named(lang))) {
            Some((lang, None)) => {
                return wrong(format!("lang {lang:?}: expected \"overpassql\" or \"sparql\""));
            }
            Some((_, named)) => named,
            None => None,
        };
        let dialect = match question.dialect.as_deref().map(|name| (name, Dialect::named(name))) {
            Some((name, None)) => {
                let known = Dialect::ALL.map(Dialect::name).join(", ");
                return wrong(format!("dialect {name:?}: expected one of {known}"));
            }
            Some((_, named)) => named.unwrap_or_default(),
            None => Dialect::default(),
        };
        let places = app.engine.places(None);
        let (query, limits) = (question.query.as_str(), limits.clone());
        let request = FeedbackRequest { query, language, dialect, bbox, places: &places, sample, run, limits };
        let feedback = match look(&app.engine, &request) {
            Ok(feedback) => feedback,
            // A client that sets `lang` relies on it and gets an error status. Any other client gets this as feedback,
            // like other errors.
            Err(NoTriples) if language.is_some() => {
                return wrong(format!("the query is SPARQL, and this snapshot has no triples: {WITHOUT_TRIPLES}"));
            }
            Err(NoTriples) => without_triples(),
        };
        Ok(FeedbackResponse { text: feedback.to_string(), feedback })
    })
    .await
}
