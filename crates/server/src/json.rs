//! Services with JSON objects as request and response: runs them behind the gate, and formats their errors.

use std::io::{self, Read};
use std::sync::Arc;

use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::de::{DeserializeOwned, Error};
use serde::{Deserialize, Deserializer, Serialize};

use crate::App;
use crate::body::Received;
use crate::context::HttpRequestContext;
use crate::job::{Job, Lane, RequestJob};
use crate::outcome::Outcome;
use crate::pipe::PipeSink;
use crate::reply::Reply;
use crate::service::{self, Wording};
use terrapin_budget::{self as budget, Limits};

/// The content type.
pub const JSON: &str = "application/json";

/// Waits for a slot, parses the request on a thread of its own and runs `work` there within the server's limits. If the
/// client disconnects, the work is cancelled. If `work` has no answer, it returns how it ended, with the message. `what`
/// is the service's name in the log.
pub(super) async fn serve<Q, A>(
    app: Arc<App>,
    context: Arc<HttpRequestContext>,
    what: &'static str,
    body: Received,
    work: impl FnOnce(&App, Q, &Limits) -> Result<A, (Outcome, String)> + Send + 'static,
) -> Reply
where
    Q: DeserializeOwned,
    A: Serialize,
{
    let work = move |job: Job| answer(job, what, body, work);
    service::run(&app, &context, Lane::Query, &JsonWording, work).await
}

fn answer<Q: DeserializeOwned, A: Serialize>(
    job: Job,
    what: &'static str,
    body: Received,
    work: impl FnOnce(&App, Q, &Limits) -> Result<A, (Outcome, String)>,
) {
    let Some((job, question)) = question::<Q>(job, body) else { return };
    let (time, memory) = (job.app().settings.max_time, job.memory());
    let (run, sink) = job.begin(time, memory, JSON);
    let answer = run.checked(|app| work(app, question, run.limits()));
    match answer.map_err(|stop| service::stopped(&JsonWording, stop)).flatten() {
        Ok(answer) => write(run, sink, what, &answer, 0),
        Err(failed) => service::fail(run, sink, &JsonWording, what, failed),
    }
}

/// Parses the JSON object of a request within the job's limits. The text is dropped afterwards; the object counts in
/// the job's memory account. Ends the job and returns `None` if the body is not the expected object, or if a limit of
/// the job was reached.
pub(super) fn question<Q: DeserializeOwned>(job: Job, body: Received) -> Option<(Job, Q)> {
    let read = || {
        let text = body.decoded().map_err(|why| Box::new(JsonWording.reject(&why)))?;
        parse(&text).map_err(|wrong| {
            let message = format!("not the JSON object expected: {wrong}");
            Box::new(JsonWording.refusal(StatusCode::BAD_REQUEST, &message))
        })
    };
    match job.within(read) {
        Ok(Ok(question)) => return Some((job, question)),
        Ok(Err(instead)) => job.refuse(*instead),
        Err(stop) => service::halt(job, &JsonWording, &stop),
    }
    None
}

/// Parses untrusted JSON within the budget of this thread. A parsed tree takes many times the bytes of its text, so
/// that a limit must be able to stop the parser midway.
///
/// # Errors
/// Returns an error if the text is not JSON or does not match the type.
pub(super) fn parse<T: DeserializeOwned>(text: &[u8]) -> serde_json::Result<T> {
    serde_json::from_reader(MeteredReader(text))
}

/// A reader that counts every byte as a step of the budget.
struct MeteredReader<'a>(&'a [u8]);

impl Read for MeteredReader<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.0.read(buffer)?;
        budget::checkpoints(read);
        Ok(read)
    }
}

/// Reads a whole number, which may be written with a fraction of zero: JSON Schema takes `5.0` for an integer.
///
/// # Errors
/// It is another value.
pub(super) fn whole_number<'de, D: Deserializer<'de>>(value: D) -> Result<Option<usize>, D::Error> {
    let Some(number) = Option::<f64>::deserialize(value)? else { return Ok(None) };
    // Above 2^53 neighbours are one number, and anything so large is a limit that is never reached.
    let is_whole = number >= 0.0 && number.fract() == 0.0;
    is_whole.then_some(Some(number as usize)).ok_or_else(|| D::Error::custom("expected a whole number of at least 0"))
}

/// Writes an answer with `results` results.
pub(super) fn write(run: RequestJob, mut sink: PipeSink, what: &'static str, answer: &impl Serialize, results: u64) {
    match serde_json::to_writer(&mut sink, answer) {
        Ok(()) => run.answered(sink, what, results),
        Err(_) => service::fail(run, sink, &JsonWording, what, service::disconnected()),
    }
}

/// The error format of Terrapin's own services: `{"error": "..."}`.
#[derive(Debug, Clone, Copy)]
pub(super) struct JsonWording;

impl Wording for JsonWording {
    fn names_snapshot(&self) -> bool {
        true
    }

    fn refusal(&self, status: StatusCode, message: &str) -> Response {
        refusal(status, &serde_json::json!({ "error": message }))
    }
}

/// Returns an error response with a JSON object.
pub(super) fn refusal(status: StatusCode, object: &serde_json::Value) -> Response {
    (status, [(header::CONTENT_TYPE, JSON)], object.to_string()).into_response()
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;
    use terrapin_budget::{Budget, ExceededLimit, StopReason};

    #[test]
    fn a_tree_is_stopped_while_it_grows() {
        // 2 MiB of small objects, which take some 100 bytes each.
        let text = format!("[{}{{}}]", "{\"\":0},".repeat(299_000));
        let limits = Limits { memory: Some(8 << 20), ..Limits::default() };
        let stopped = budget::watched(&Arc::new(Budget::new(&limits)), || parse::<Value>(text.as_bytes()).is_ok());
        let Err(StopReason::Exceeded(ExceededLimit::Memory(held))) = stopped else { panic!("{stopped:?}") };
        assert!(held < 9 << 20, "{held}");
        let small = budget::watched(&Arc::new(Budget::new(&limits)), || parse::<Value>(&text.as_bytes()[..9]).is_ok());
        assert_eq!(small, Ok(false));
    }
}
