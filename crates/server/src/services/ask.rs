//! `POST /ask`: answers a question in plain language, as one JSON object or as server-sent events with one event for
//! each step. If no model is configured, the service is off and sends nothing to other hosts.

use std::io::{self, Write};
use std::sync::Arc;

use axum::Extension;
use axum::extract::State;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::Response;
use axum::routing::on;
use serde::Serialize;
use terrapin_chat::{Kind, Model, Patience, Reply, Request};

use crate::App;
use crate::accept::{self, Accept};
use crate::admit::{LONGEST_WAIT, whole_seconds};
use crate::body::{Received, Unreadable};
use crate::context::Context;
use crate::job::{Job, Lane, Run};
use crate::json::{self, JSON, Json};
use crate::outcome::Outcome;
use crate::pipe::Sink;
use crate::route::{Access, Route, json_body, schema_of};
use crate::service::{self, Refused, Wording};
use terrapin_assist::ask::{Answer, Failure, Question, Step, ask as answer};

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
    .reads(&[json_body(schema_of::<Question>)])
    .answers(&["application/json", "text/event-stream"])
    .access(Access::Query)
    .statuses_too(&[404, 502])
    .guarded()
}];

/// The content type of server-sent events.
const EVENTS: &str = "text/event-stream";
/// The service's name in the log.
const NAME: &str = "ask";

/// Answers `{"question": "...", "context": "...", "mentions", "candidates", "prompt", "queries"}`; all but the first are
/// optional. Each of the last four is a step of an earlier answer, perhaps edited, and replaces the steps up to it.
pub async fn ask(
    State(app): State<Arc<App>>,
    Extension(context): Extension<Arc<Context>>,
    headers: HeaderMap,
    body: Result<Received, Unreadable>,
) -> Result<Response, Refused> {
    let body = service::body(&app, &Json, body)?;
    if app.asker.is_none() {
        app.metrics.refused(Outcome::Refused);
        let message = "no language model is configured: start the server with --model-url";
        return Err(Json.refusal(StatusCode::NOT_FOUND, message).into());
    }
    let wanted = accept::text(&headers).unwrap_or_default();
    let wanted = Accept::of(&wanted);
    let in_steps = wanted.quality(EVENTS) > wanted.quality(JSON);
    let work = move |job: Job| work(job, body, in_steps);
    let answer = service::run(&app, &context, Lane::Ask, &Json, work).await?;
    Ok(answer.into_response(&app))
}

fn work(job: Job, body: Received, in_steps: bool) {
    let question: Question = match json::question(&job, body) {
        Ok(question) => question,
        Err(unreadable) => return unreadable.end(job),
    };
    job.context().set_query(&question.question);
    let (time, memory) = (job.app().settings.max_time, job.memory());
    let (run, mut sink) = job.begin(time, memory, if in_steps { EVENTS } else { JSON });
    let Some(asker) = &run.app().asker else { return };
    let mut tell = |step: &Step| {
        if in_steps {
            // If the client has left, the flag that cancels the work is set.
            let _ = event(&mut sink, "step", step);
        }
    };
    let model = UncountedModel { model: &*asker.model, context: run.context() };
    let done = answer(&run.app().engine, &model, &asker.settings, &question, run.limits(), &mut tell);
    let Some((run, sink)) = service::sound(run, sink, &Json, NAME) else { return };
    match done {
        Ok(answer) => write(run, sink, &answer, in_steps),
        Err(failure) => refuse(run, sink, &failure, in_steps),
    }
}

/// A model whose response time does not count against the client's quota.
struct UncountedModel<'a> {
    model: &'a dyn Model,
    context: &'a Context,
}

impl Model for UncountedModel<'_> {
    fn name(&self) -> &str {
        self.model.name()
    }

    fn reply(&self, request: &Request<'_>, patience: Patience<'_>) -> Result<Reply, terrapin_chat::Error> {
        let _wait = self.context.waiting();
        self.model.reply(request, patience)
    }
}

fn event(sink: &mut Sink, name: &str, data: &impl Serialize) -> io::Result<()> {
    write!(sink, "event: {name}\ndata: ")?;
    serde_json::to_writer(&mut *sink, data)?;
    sink.write_all(b"\n\n")?;
    sink.pass_on()
}

fn write(run: Run, mut sink: Sink, answer: &Answer, in_steps: bool) {
    let results = answer.results.iter().map(|result| result.total).sum();
    let written = if in_steps {
        event(&mut sink, "answer", answer)
    } else {
        serde_json::to_writer(&mut sink, answer).map_err(Into::into)
    };
    match written {
        Ok(()) => run.answered(sink, NAME, results),
        Err(_) => {
            run.refused(sink, NAME, Outcome::Abandoned, Json.refusal(StatusCode::SERVICE_UNAVAILABLE, "it was stopped"))
        }
    }
}

/// Reports a failure: as an event if steps were sent, else as a status.
fn refuse(run: Run, mut sink: Sink, failure: &Failure, in_steps: bool) {
    let (outcome, status) = match failure {
        Failure::Question(_) => (Outcome::Refused, StatusCode::BAD_REQUEST),
        Failure::Model(error) => match error.kind {
            Kind::Late => (Outcome::TimedOut, StatusCode::GATEWAY_TIMEOUT),
            Kind::Busy => (Outcome::Busy, StatusCode::SERVICE_UNAVAILABLE),
            Kind::Cancelled => (Outcome::Abandoned, StatusCode::SERVICE_UNAVAILABLE),
            _ => (Outcome::Refused, StatusCode::BAD_GATEWAY),
        },
        Failure::Exceeded(exceeded) => (Outcome::from(*exceeded), Outcome::from(*exceeded).status()),
        Failure::Fault(_) => (Outcome::Broken, StatusCode::INTERNAL_SERVER_ERROR),
    };
    match failure {
        Failure::Model(error) if error.kind != Kind::Cancelled => {
            tracing::warn!(request_id = run.context().id(), kind = error.kind.name(), %error, "no reply");
        }
        Failure::Fault(message) => {
            tracing::error!(request_id = run.context().id(), message, "a question could not be answered")
        }
        _ => {}
    }
    let message = match failure {
        Failure::Fault(_) => "the request failed: see the server's log".to_owned(),
        Failure::Model(error) if error.kind == Kind::Cancelled => "it was stopped".to_owned(),
        failure => failure.to_string(),
    };
    if in_steps && sink.written() > 0 {
        let told = event(&mut sink, "error", &serde_json::json!({"error": message, "status": status.as_u16()}));
        if told.is_ok() {
            return run.answered(sink, NAME, 0);
        }
    }
    let mut instead = Json.refusal(status, &message);
    if let Failure::Model(error) = failure
        && let Some(wait) = error.wait
    {
        let seconds = whole_seconds(wait.min(LONGEST_WAIT));
        instead.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from(seconds));
    }
    run.refused(sink, NAME, outcome, instead);
}
