//! Scores pairs line by line: `application/x-ndjson` in and out. A line of the answer is sent as soon as its pair is
//! scored, in the order of the request's lines.

use std::collections::BTreeSet;
use std::io::{self, Write};
use std::sync::Arc;
use std::sync::atomic::Ordering;

use axum::http::StatusCode;
use serde::Serialize;
use serde_json::{Map, Value};

use super::{GivenOptions, NO_TRIPLES, ScoreOptions, ScoredResults};
use crate::App;
use crate::body::Received;
use crate::context::HttpRequestContext;
use crate::job::{Job, Lane, RequestJob};
use crate::json::{self, JsonWording};
use crate::pipe::PipeSink;
use crate::reply::Reply;
use crate::service::{self, Wording};
use terrapin_budget::{self as budget, Budget, StopReason};
use terrapin_eval::benchmarks::jsonl;
use terrapin_eval::input::rows::InputRow;
use terrapin_eval::language::QueryLanguage;
use terrapin_eval::record::Instance;
use terrapin_geocoder::PlaceTable;

/// The content type.
const NDJSON: &str = "application/x-ndjson";

/// Returns whether a content type stands for lines of JSON.
pub fn are_named(media_type: &str) -> bool {
    let name = media_type.split(';').next().unwrap_or_default().trim();
    [NDJSON, "application/ndjson", "application/jsonl"].iter().any(|known| name.eq_ignore_ascii_case(known))
}

/// The answer line for a request line that is not a valid pair.
#[derive(Serialize)]
struct UnscoredLine {
    /// The line number, from 1.
    line: usize,
    /// The error message.
    problem: String,
}

/// Answers lines in the input format of `terrapin eval jsonl` (`{"gold": "...", "pred": "..."}`), each with a line as
/// in `results.jsonl` or with its error; empty lines are skipped. The URL has the options for all pairs: `lang`,
/// `timeout` (seconds of each query), `similarity=false`, `summary=true`, `extract=true`.
pub async fn serve(
    app: Arc<App>,
    context: Arc<HttpRequestContext>,
    in_address: Option<String>,
    body: Received,
) -> Reply {
    let work = move |job: Job| work(job, in_address.as_deref().unwrap_or_default(), body);
    service::run(&app, &context, Lane::Query, &JsonWording, work).await
}

fn work(job: Job, in_address: &str, body: Received) {
    let options = match GivenOptions::in_address(in_address, true).map(|given| ScoreOptions::new(job.app(), &given)) {
        Ok(options) => options,
        Err(message) => return job.refuse(JsonWording.refusal(StatusCode::BAD_REQUEST, &message)),
    };
    let text = match body.decoded() {
        Ok(text) => text,
        Err(why) => return job.refuse(JsonWording.reject(&why)),
    };
    let (time, memory) = (job.app().settings.max_time, job.memory());
    let (run, mut sink) = job.begin(time, memory, NDJSON);
    match run.checked(|_| each(&run, &mut sink, &text, &options)) {
        Ok(Ok(pairs)) => run.answered(sink, "score", pairs),
        Ok(Err(_)) => service::fail(run, sink, &JsonWording, "score", service::disconnected()),
        Err(stop) => {
            let failed = service::stopped(&JsonWording, stop);
            service::fail(run, sink, &JsonWording, "score", failed);
        }
    }
}

/// Scores all lines and returns the number of pairs. It ends early at damage, for which the caller has an error.
fn each(run: &RequestJob, sink: &mut PipeSink, text: &[u8], options: &ScoreOptions) -> io::Result<u64> {
    let (app, limits) = (run.app(), run.limits());
    let cache = ScoredResults::new(&app.results);
    let mut pairs = 0;
    for (index, line) in text.split(|byte| *byte == b'\n').enumerate() {
        let line = line.trim_ascii();
        if line.is_empty() {
            continue;
        }
        if limits.cancelled.load(Ordering::Relaxed) {
            return Err(io::ErrorKind::BrokenPipe.into());
        }
        let read = budget::watched(&Arc::new(Budget::new(limits)), || pair(app, line, index + 1, options));
        let read = read.unwrap_or_else(|stopped| match stopped {
            StopReason::Exceeded(exceeded) => Err(format!("{exceeded}, while the line was read")),
            StopReason::Panicked(_) => Err("the line could not be read".to_owned()),
        });
        match read {
            Ok((instance, table)) => {
                let Ok(scored) = options.score(app, instance, table.as_ref(), limits, &cache) else { break };
                write(sink, &scored)?;
                pairs += 1;
            }
            Err(problem) => write(sink, &UnscoredLine { line: index + 1, problem })?,
        }
    }
    Ok(pairs)
}

fn write(sink: &mut PipeSink, line: &impl Serialize) -> io::Result<()> {
    serde_json::to_writer(&mut *sink, line)?;
    sink.write_all(b"\n")?;
    sink.pass_on()
}

/// Parses the pair of a line, and its table of places if it has one.
fn pair(
    app: &App,
    line: &[u8],
    number: usize,
    options: &ScoreOptions,
) -> Result<(Instance, Option<PlaceTable>), String> {
    let fields: Map<String, Value> =
        json::parse(line).map_err(|wrong| format!("not the JSON object expected: {wrong}"))?;
    let row = InputRow { number, place: format!("line {number}"), fields };
    let mut instance = jsonl::instance(row, &mut BTreeSet::new())?;
    if instance.lang.is_none() && options.language == QueryLanguage::Sparql {
        instance.lang = Some("sparql".to_owned());
    }
    if instance.language() == QueryLanguage::Sparql && app.engine.triples().is_none() {
        return Err(NO_TRIPLES.to_owned());
    }
    let places = instance.places.take();
    let table = places.map(|places| PlaceTable::parse(places.to_string().as_bytes())).transpose();
    Ok((instance, table.map_err(|wrong| format!("places: {wrong}"))?))
}
