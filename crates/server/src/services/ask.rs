//! `POST /ask`: answers a question in plain language, as one JSON object or as server-sent events with one event for
//! each step. If no model is configured, the service is off and sends nothing to other hosts.

use std::io::{self, Write};
use std::sync::Arc;

use axum::Extension;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, header};
use axum::routing::on;
use serde::Serialize;
use terrapin_chat::{ChatErrorKind, LanguageModel, Patience, Reply as ModelReply, Request};

use crate::App;
use crate::accept::{self, AcceptHeader};
use crate::body::Received;
use crate::context::HttpRequestContext;
use crate::job::{Job, Lane, RequestJob};
use crate::json::{self, JSON, JsonWording};
use crate::outcome::Outcome;
use crate::pipe::PipeSink;
use crate::rejected::retry_after;
use crate::reply::Reply;
use crate::route::{Access, Route, json_body, schema_of};
use crate::service::{self, Wording};
use terrapin_assist::ask::{AskFailure, AskStep, QuestionAnswer, UserQuestion, ask as answer};
use terrapin_engine::Stop;

/// The route of questions.
pub const ROUTES: &[Route] = &[Route {
    needs_model: true,
    ..Route::post("/ask", "Answer a question in plain language with the queries of a language model", |_, methods| {
        on(methods, ask)
    })
    .details(
        "Each of mentions, candidates, prompt and queries is a step of an earlier answer, perhaps edited, and replaces the \
         steps up to it. `Accept: text/event-stream` sends each step as an event.",
    )
    .reads(&[json_body(schema_of::<UserQuestion>)])
    .answers(&["application/json", "text/event-stream"])
    .access(Access::Query)
    .statuses_too(&[404, 502])
    .guarded()
}];

/// The content type of server-sent events.
const EVENTS: &str = "text/event-stream";
/// The service's name in the log.
const NAME: &str = "ask";

/// Answers `{"question": "...", "context": "...", "mentions", "candidates", "prompt", "queries"}`; all but the first
/// are optional. Each of the last four is a step of an earlier answer, perhaps edited, and replaces the steps up to it.
pub async fn ask(
    State(app): State<Arc<App>>,
    Extension(context): Extension<Arc<HttpRequestContext>>,
    headers: HeaderMap,
    body: Received,
) -> Reply {
    if app.asker.is_none() {
        app.metrics.refused(Outcome::Refused);
        let message = "no language model is configured: start the server with --model-url";
        return JsonWording.refusal(StatusCode::NOT_FOUND, message).into();
    }
    let wanted = accept::text(&headers).unwrap_or_default();
    let wanted = AcceptHeader::of(&wanted);
    let in_steps = wanted.quality(EVENTS) > wanted.quality(JSON);
    let work = move |job: Job| work(job, body, in_steps);
    service::run(&app, &context, Lane::Ask, &JsonWording, work).await
}

fn work(job: Job, body: Received, in_steps: bool) {
    let Some((job, question)) = json::question::<UserQuestion>(job, body) else { return };
    job.context().set_query(&question.question);
    let (time, memory) = (job.app().settings.max_time, job.memory());
    let (run, mut sink) = job.begin(time, memory, if in_steps { EVENTS } else { JSON });
    let Some(asker) = &run.app().asker else { return };
    let mut tell = |step: &AskStep| {
        if in_steps {
            // If the client has left, the flag that cancels the work is set.
            let _ = event(&mut sink, "step", step);
        }
    };
    let model = UncountedModel { model: &*asker.model, context: run.context() };
    let done = answer(&run.app().engine, &model, &asker.settings, &question, run.limits(), &mut tell);
    match done {
        Ok(answer) => write(run, sink, &answer, in_steps),
        Err(AskFailure::Damaged(damage)) => {
            let failed = service::stopped(&JsonWording, Stop::Damaged(damage));
            service::fail(run, sink, &JsonWording, NAME, failed);
        }
        Err(failure) => refuse(run, sink, &failure, in_steps, NAME),
    }
}

/// A model whose response time does not count against the client's quota.
pub(super) struct UncountedModel<'a> {
    /// The model.
    pub model: &'a dyn LanguageModel,
    /// The request.
    pub context: &'a HttpRequestContext,
}

impl LanguageModel for UncountedModel<'_> {
    fn name(&self) -> &str {
        self.model.name()
    }

    fn reply(&self, request: &Request<'_>, patience: Patience<'_>) -> Result<ModelReply, terrapin_chat::ChatError> {
        let _wait = self.context.waiting();
        self.model.reply(request, patience)
    }

    fn capabilities(&self) -> terrapin_chat::ServerCapabilities {
        let _wait = self.context.waiting();
        self.model.capabilities()
    }
}

fn event(sink: &mut PipeSink, name: &str, data: &impl Serialize) -> io::Result<()> {
    write!(sink, "event: {name}\ndata: ")?;
    serde_json::to_writer(&mut *sink, data)?;
    sink.write_all(b"\n\n")?;
    sink.pass_on()
}

fn write(run: RequestJob, mut sink: PipeSink, answer: &QuestionAnswer, in_steps: bool) {
    let results = answer.results.iter().map(|result| result.total).sum();
    let written = if in_steps {
        event(&mut sink, "answer", answer)
    } else {
        serde_json::to_writer(&mut sink, answer).map_err(Into::into)
    };
    match written {
        Ok(()) => run.answered(sink, NAME, results),
        Err(_) => service::fail(run, sink, &JsonWording, NAME, service::disconnected()),
    }
}

/// Reports a failure: as an event if steps were sent, else as a status. `what` is the service's name in the log.
pub(super) fn refuse(run: RequestJob, mut sink: PipeSink, failure: &AskFailure, in_steps: bool, what: &'static str) {
    let (outcome, status) = match failure {
        AskFailure::Question(_) => (Outcome::Refused, StatusCode::BAD_REQUEST),
        AskFailure::Model(error) => match error.kind {
            ChatErrorKind::Late => (Outcome::TimedOut, StatusCode::GATEWAY_TIMEOUT),
            ChatErrorKind::Busy => (Outcome::Busy, StatusCode::SERVICE_UNAVAILABLE),
            ChatErrorKind::Cancelled => (Outcome::Abandoned, StatusCode::SERVICE_UNAVAILABLE),
            _ => (Outcome::Refused, StatusCode::BAD_GATEWAY),
        },
        AskFailure::Exceeded(exceeded) => (Outcome::from(*exceeded), Outcome::from(*exceeded).status()),
        AskFailure::Damaged(_) | AskFailure::Fault(_) => (Outcome::Failed, StatusCode::INTERNAL_SERVER_ERROR),
    };
    match failure {
        AskFailure::Model(error) if error.kind != ChatErrorKind::Cancelled => {
            tracing::warn!(request_id = run.context().id(), kind = error.kind.name(), %error, "no reply");
        }
        AskFailure::Fault(message) => {
            tracing::error!(request_id = run.context().id(), message, "a question could not be answered")
        }
        _ => {}
    }
    let message = match failure {
        AskFailure::Fault(_) => "the request failed: see the server's log".to_owned(),
        AskFailure::Model(error) if error.kind == ChatErrorKind::Cancelled => "it was stopped".to_owned(),
        failure => failure.to_string(),
    };
    if in_steps && sink.written() > 0 {
        let told = event(&mut sink, "error", &serde_json::json!({"error": message, "status": status.as_u16()}));
        if told.is_ok() {
            return run.answered(sink, what, 0);
        }
    }
    let mut instead = JsonWording.refusal(status, &message);
    if let AskFailure::Model(error) = failure
        && let Some(wait) = error.wait
    {
        instead.headers_mut().insert(header::RETRY_AFTER, retry_after(wait));
    }
    run.refused(sink, what, outcome, instead);
}
