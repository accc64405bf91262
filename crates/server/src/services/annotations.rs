//! `/annotate` and `/annotations`: people write questions for the queries of a queue, and validate those of others. The
//! routes exist only with `--annotate`. An annotator is the name of a token. Without tokens the name is in the request,
//! and only clients on the same machine are answered.

use std::io::Write;
use std::sync::Arc;

use axum::extract::{RawQuery, State};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::on;
use axum::{Extension, Json};
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::web;
use crate::body::{LongestBody, Received};
use crate::context::HttpRequestContext;
use crate::job::{Job, Lane};
use crate::json::{self, JsonWording};
use crate::outcome::Outcome;
use crate::rejected::{Rejected, retry_after};
use crate::reply::Reply;
use crate::route::{Access, Route, Schema, json_body, query, schema_of};
use crate::service::{self, Wording};
use crate::tokens::Bearer;
use crate::{App, form};
use terrapin_eval::annotation::{
    AnnotationDesk, AnnotationError, AnnotationStatus, TaskKind, Verdict, VerdictOnQuestion, WantedTask,
    WrittenQuestion, is_annotator_name,
};

/// The routes of annotation.
pub const ROUTES: &[Route] = &[
    of_annotation(Route::get("/annotate", "The page for annotators", |_, methods| on(methods, web::page)))
        .access(Access::Page)
        .hidden(),
    of_annotation(Route::get("/annotations", "The annotations as JSON lines", |_, methods| on(methods, export)))
        .details(
            "A line has the fields of `terrapin eval jsonl` (`id`, `nl`, `gold`, `lang`, ...), the status, the authors, and \
             all questions and verdicts with names and times. By default: the entries with a question that was not rejected.",
        )
        .takes(&[&[
            query("status", Schema::Text, "Statuses with commas: open, answered, corrected, rejected, agreed; or all"),
            query("disputed", Schema::OneOf(&["true", "false"]), "true: only entries that somebody corrected or rejected"),
        ]])
        .answers(&[LINES])
        .statuses_too(&[429, 500, 503, 504])
        .guarded(),
    of_annotation(Route::get("/annotations/summary", "Counts of annotations, and agreement", |_, methods| {
        on(methods, summary)
    }))
    .statuses_too(&[429, 500, 503, 504])
    .guarded(),
    writing(Route::post("/annotations/next", "The next entry to annotate", |_, methods| {
        on(methods, next).layer(Extension(LONGEST))
    }))
    .details("No other annotator gets the entry for some minutes. `task` is null if there is nothing to do now.")
    .reads(&[json_body(schema_of::<NextRequest>)]),
    writing(Route::post("/annotations/question", "Record the question for an entry", |_, methods| {
        on(methods, question).layer(Extension(LONGEST))
    }))
    .details("The question is saved before the answer. A repeated request is answered like the first.")
    .reads(&[json_body(schema_of::<QuestionRequest>)]),
    writing(Route::post("/annotations/verdict", "Record the validation of another annotator's question", |_, methods| {
        on(methods, verdict).layer(Extension(LONGEST))
    }))
    .details("The verdict is saved before the answer. A repeated request is answered like the first.")
    .reads(&[json_body(schema_of::<VerdictRequest>)]),
    writing(Route::post("/annotations/skip", "Put an entry back until all others were offered", |_, methods| {
        on(methods, skip).layer(Extension(LONGEST))
    }))
    .reads(&[json_body(schema_of::<SkipRequest>)]),
];

/// The media type of JSON lines.
const LINES: &str = "application/x-ndjson";
/// Maximum size of a body in bytes.
const LONGEST: LongestBody = LongestBody(32 << 10);
/// Number of entries that are exported at once, while the desk is locked.
const AT_ONCE: usize = 256;

const fn of_annotation(route: Route) -> Route {
    Route { needs_annotation: true, ..route }
}

const fn writing(route: Route) -> Route {
    of_annotation(route).statuses_too(&[404, 409, 429, 500, 503, 504]).guarded()
}

/// A request with the name of its annotator.
trait AnnotatorRequest: DeserializeOwned + Send + 'static {
    fn annotator(&self) -> Option<&str>;
}

macro_rules! annotator_requests {
    ($($request:ty),*) => {
        $(impl AnnotatorRequest for $request {
            fn annotator(&self) -> Option<&str> {
                self.annotator.as_deref()
            }
        })*
    };
}

annotator_requests!(NextRequest, QuestionRequest, VerdictRequest, SkipRequest);

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct NextRequest {
    /// The annotator's name, if the server has no tokens.
    annotator: Option<String>,
    /// The kind of task; default: questions to write first, then questions to validate.
    #[schemars(extend("enum" = ["write", "validate", null]))]
    task: Option<String>,
    /// The id of an entry; default: the server chooses.
    entry: Option<String>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct QuestionRequest {
    /// The annotator's name, if the server has no tokens.
    annotator: Option<String>,
    /// The id of the entry.
    entry: String,
    /// The question, at most 2000 characters.
    question: String,
    /// The number of the suggestion that the question began with, from 0.
    #[serde(default, deserialize_with = "json::whole_number")]
    #[schemars(range(min = 0))]
    suggestion: Option<usize>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct VerdictRequest {
    /// The annotator's name, if the server has no tokens.
    annotator: Option<String>,
    /// The id of the entry.
    entry: String,
    /// The number of the question, from 1.
    #[schemars(range(min = 1))]
    number: u32,
    #[schemars(extend("enum" = ["agree", "correct", "reject"]))]
    verdict: String,
    /// The corrected question: required for `correct`.
    question: Option<String>,
    /// The reason, at most 1000 characters: required for `reject`.
    reason: Option<String>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct SkipRequest {
    /// The annotator's name, if the server has no tokens.
    annotator: Option<String>,
    /// The id of the entry.
    entry: String,
    /// The reason, at most 1000 characters.
    reason: Option<String>,
}

async fn next(
    State(app): State<Arc<App>>,
    Extension(context): Extension<Arc<HttpRequestContext>>,
    body: Received,
) -> Reply {
    annotate(app, context, body, |desk, who, request: NextRequest, now| {
        let wanted = match (request.entry, request.task.as_deref()) {
            (Some(_), Some(_)) => Err("entry, task: give one of them"),
            (Some(id), None) => Ok(WantedTask::Entry(id)),
            (None, None) => Ok(WantedTask::Any),
            (None, Some("write")) => Ok(WantedTask::Only(TaskKind::Write)),
            (None, Some("validate")) => Ok(WantedTask::Only(TaskKind::Validate)),
            (None, Some(_)) => Err("task: expected write or validate"),
        };
        let wanted = wanted.map_err(|message| AnnotationError::Invalid(message.to_owned()))?;
        Ok(json!({ "task": desk.take(who, &wanted, now)? }))
    })
    .await
}

async fn question(
    State(app): State<Arc<App>>,
    Extension(context): Extension<Arc<HttpRequestContext>>,
    body: Received,
) -> Reply {
    annotate(app, context, body, |desk, who, request: QuestionRequest, now| {
        let QuestionRequest { entry, question, suggestion, .. } = request;
        desk.write(who, &entry, &WrittenQuestion { question, suggestion }, now)?;
        Ok(json!({ "entry": entry }))
    })
    .await
}

async fn verdict(
    State(app): State<Arc<App>>,
    Extension(context): Extension<Arc<HttpRequestContext>>,
    body: Received,
) -> Reply {
    annotate(app, context, body, |desk, who, request: VerdictRequest, now| {
        let VerdictRequest { entry, number, question, reason, .. } = request;
        let wrong = || AnnotationError::Invalid("verdict: expected agree, correct or reject".to_owned());
        let verdict = Verdict::named(&request.verdict).ok_or_else(wrong)?;
        desk.judge(who, &entry, &VerdictOnQuestion { number: number as usize, verdict, question, reason }, now)?;
        Ok(json!({ "entry": entry }))
    })
    .await
}

async fn skip(
    State(app): State<Arc<App>>,
    Extension(context): Extension<Arc<HttpRequestContext>>,
    body: Received,
) -> Reply {
    annotate(app, context, body, |desk, who, request: SkipRequest, now| {
        desk.skip(who, &request.entry, request.reason.as_deref(), now)?;
        Ok(json!({ "entry": request.entry }))
    })
    .await
}

/// Parses a request, runs `work` for its annotator and adds name and progress to its answer. The work runs on a thread of
/// its own, because it waits for the disk.
async fn annotate<Q: AnnotatorRequest>(
    app: Arc<App>,
    context: Arc<HttpRequestContext>,
    body: Received,
    work: impl FnOnce(&AnnotationDesk, &str, Q, Timestamp) -> Result<Value, AnnotationError> + Send + 'static,
) -> Reply {
    let answer = move |job: Job| {
        let Some((job, request)) = json::question::<Q>(job, body) else { return };
        let Some(desk) = job.app().desk.as_ref() else { return job.refuse(off()) };
        let who = match annotator(&job, request.annotator()) {
            Ok(who) => who,
            Err(response) => return job.refuse(*response),
        };
        let now = Timestamp::now();
        match work(desk, &who, request, now) {
            Ok(mut answer) => {
                answer["annotator"] = json!(who);
                answer["progress"] = json!(desk.progress(&who, now));
                job.tell(Json(answer).into_response());
            }
            Err(error) => job.refuse(refusal(&error)),
        }
    };
    service::run(&app, &context, Lane::Search, &JsonWording, answer).await
}

/// Returns the name of a request's annotator.
fn annotator(job: &Job, given: Option<&str>) -> Result<String, Box<Response>> {
    let wrong = |message: &str| Err(Box::new(JsonWording.refusal(StatusCode::BAD_REQUEST, message)));
    if let Bearer::Known { name, .. } = &job.context().bearer {
        return match given {
            None => Ok(name.to_string()),
            Some(given) if given == &**name => Ok(name.to_string()),
            Some(_) => wrong("annotator: it is the name of the token; leave it out"),
        };
    }
    refuse_distant(job.app(), job.context())?;
    match given {
        None => wrong("annotator: give your name"),
        Some(name) if is_annotator_name(name) => Ok(name.to_owned()),
        Some(_) => wrong("annotator: expected at most 64 letters, digits and `.`, `_`, `@`, `-`"),
    }
}

/// Refuses clients of other machines if there are no tokens.
fn refuse_distant(app: &App, context: &HttpRequestContext) -> Result<(), Box<Response>> {
    if app.tokens.is_some() || context.address.to_canonical().is_loopback() {
        return Ok(());
    }
    let why = Rejected::Forbidden("without tokens only clients on the same machine may annotate: start with --tokens");
    app.metrics.rejected(&why);
    Err(Box::new(JsonWording.reject(&why)))
}

fn off() -> Response {
    JsonWording.refusal(StatusCode::NOT_FOUND, "there is no queue to annotate: start with --annotate")
}

fn refusal(error: &AnnotationError) -> Response {
    let status = match error {
        AnnotationError::NoEntry(_) => StatusCode::NOT_FOUND,
        AnnotationError::Invalid(_) => StatusCode::BAD_REQUEST,
        AnnotationError::OwnQuestion => StatusCode::FORBIDDEN,
        AnnotationError::Conflict(_) => StatusCode::CONFLICT,
        AnnotationError::TooFast(_) => StatusCode::TOO_MANY_REQUESTS,
        AnnotationError::NotSaved(problem) => {
            tracing::error!(%problem, "an annotation was not saved");
            StatusCode::INTERNAL_SERVER_ERROR
        }
    };
    let mut response = JsonWording.refusal(status, &error.to_string());
    if let AnnotationError::TooFast(wait) = error {
        response.headers_mut().insert(header::RETRY_AFTER, retry_after(*wait));
    }
    response
}

async fn summary(State(app): State<Arc<App>>, Extension(context): Extension<Arc<HttpRequestContext>>) -> Reply {
    let answer = |job: Job| {
        if let Err(response) = refuse_distant(job.app(), job.context()) {
            return job.refuse(*response);
        }
        match job.app().desk.as_ref().map(AnnotationDesk::summary) {
            Some(summary) => job.tell(Json(summary).into_response()),
            None => job.refuse(off()),
        }
    };
    service::run(&app, &context, Lane::Search, &JsonWording, answer).await
}

/// The entries that a client wants.
struct ExportSelection {
    statuses: Vec<AnnotationStatus>,
    disputed: bool,
}

impl ExportSelection {
    fn parse(address: &str) -> Result<ExportSelection, String> {
        let with_question = AnnotationStatus::ALL.into_iter().filter(|status| status.has_question()).collect();
        let mut selection = ExportSelection { statuses: with_question, disputed: false };
        let (mut has_status, mut unknown) = (false, None);
        for (name, value) in form::pairs(address.as_bytes()) {
            let [name, value] = [name, value].map(|text| form::decoded(text).unwrap_or_default());
            match (name.as_str(), value.as_str()) {
                ("status" | "disputed", "") => {}
                ("status", "all") => (selection.statuses, has_status) = (AnnotationStatus::ALL.to_vec(), true),
                ("status", list) => {
                    let named = |name: &str| {
                        let unknown =
                            || format!("status {name:?}: expected open, answered, corrected, rejected, agreed");
                        AnnotationStatus::named(name.trim()).ok_or_else(unknown)
                    };
                    (selection.statuses, has_status) = (list.split(',').map(named).collect::<Result<_, _>>()?, true);
                }
                ("disputed", "true") => selection.disputed = true,
                ("disputed", "false") => {}
                ("disputed", _) => return Err("disputed: expected true or false".to_owned()),
                _ => unknown = Some(name),
            }
        }
        if let Some(name) = unknown {
            return Err(format!("{name}: expected status or disputed"));
        }
        if selection.disputed && !has_status {
            // A rejected question is a dispute.
            selection.statuses = AnnotationStatus::ALL.to_vec();
        }
        Ok(selection)
    }

    fn has(&self, status: AnnotationStatus, is_disputed: bool) -> bool {
        self.statuses.contains(&status) && (is_disputed || !self.disputed)
    }
}

async fn export(
    State(app): State<Arc<App>>,
    Extension(context): Extension<Arc<HttpRequestContext>>,
    RawQuery(address): RawQuery,
) -> Reply {
    let answer = move |job: Job| {
        if let Err(response) = refuse_distant(job.app(), job.context()) {
            return job.refuse(*response);
        }
        let selection = match ExportSelection::parse(address.as_deref().unwrap_or_default()) {
            Ok(selection) => selection,
            Err(message) => return job.refuse(JsonWording.refusal(StatusCode::BAD_REQUEST, &message)),
        };
        let (time, memory) = (job.app().settings.max_time, job.memory());
        let (run, mut sink) = job.begin(time, memory, LINES);
        let write = |app: &App| {
            let Some(desk) = &app.desk else { return Ok(0) };
            let (mut from, mut lines) = (Some(0), 0);
            while let Some(first) = from {
                let mut text = Vec::new();
                let is_wanted = |status, is_disputed| selection.has(status, is_disputed);
                let (count, next) =
                    desk.export(first, AT_ONCE, &is_wanted, &mut text).map_err(|e| (Outcome::Failed, e.to_string()))?;
                // A client that left is the only reason for a failed write.
                sink.write_all(&text).map_err(|_| service::disconnected())?;
                (from, lines) = (next, lines + count);
            }
            Ok(lines)
        };
        match run.work(write).map_err(|stop| service::stopped(&JsonWording, stop)).flatten() {
            Ok(lines) => run.answered(sink, "annotations", lines),
            Err(failed) => service::fail(run, sink, &JsonWording, "annotations", failed),
        }
    };
    service::run(&app, &context, Lane::Search, &JsonWording, answer).await
}

/// Returns how annotators are named, for the page: `token`, `name`, or null if nothing is annotated.
pub fn naming(app: &App) -> Option<&'static str> {
    app.desk.as_ref().map(|_| if app.tokens.is_some() { "token" } else { "name" })
}
