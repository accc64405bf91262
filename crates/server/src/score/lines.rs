//! Scores pairs line by line: `application/x-ndjson` in and out. A line of the answer is sent as soon as its pair is
//! scored, in the order of the request's lines.

use std::collections::BTreeSet;
use std::io::{self, Write};
use std::sync::Arc;
use std::sync::atomic::Ordering;

use axum::http::StatusCode;
use axum::response::Response;
use serde::Serialize;
use serde_json::{Map, Value};

use super::super::App;
use super::super::body::{Received, Unreadable};
use super::super::context::Context;
use super::super::form;
use super::super::job::{Job, Lane, Run};
use super::super::json::{self, Json};
use super::super::outcome::Outcome;
use super::super::pipe::Sink;
use super::super::service::{self, Refused, Wording};
use super::{Known, NO_TRIPLES, Options};
use terrapin_budget::{self as budget, Budget, Stopped};
use terrapin_eval::benchmarks::jsonl;
use terrapin_eval::input::rows::Row;
use terrapin_eval::language::Language;
use terrapin_eval::record::Instance;
use terrapin_geocoder::Table;

/// The content type.
const NDJSON: &str = "application/x-ndjson";

/// Returns whether a content type stands for lines of JSON.
pub fn are_named(media_type: &str) -> bool {
    let name = media_type.split(';').next().unwrap_or_default().trim();
    [NDJSON, "application/ndjson", "application/jsonl"].iter().any(|known| name.eq_ignore_ascii_case(known))
}

/// The answer line for a request line that is not a valid pair.
#[derive(Serialize)]
struct Unfit {
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
    context: Arc<Context>,
    in_address: Option<String>,
    body: Result<Received, Unreadable>,
) -> Result<Response, Refused> {
    let body = service::body(&app, &Json, body)?;
    let work = move |job: Job| work(job, in_address.as_deref().unwrap_or_default(), body);
    let answer = service::run(&app, &context, Lane::Query, &Json, work).await?;
    Ok(answer.into_response(&app))
}

fn work(job: Job, in_address: &str, body: Received) {
    let options = match options(job.app(), in_address) {
        Ok(options) => options,
        Err(message) => return job.refuse(Json.refusal(StatusCode::BAD_REQUEST, &message)),
    };
    let text = match body.decoded() {
        Ok(text) => text,
        Err(why) => return job.refuse(service::unreadable(&Json, &why)),
    };
    let (time, memory) = (job.app().settings.max_time, job.memory());
    let (run, mut sink) = job.begin(time, memory, NDJSON);
    let done = each(&run, &mut sink, &text, &options);
    let Some((run, sink)) = service::sound(run, sink, &Json, "score") else { return };
    match done {
        Ok(pairs) => run.answered(sink, "score", pairs),
        // The client has disconnected.
        Err(_) => {
            let instead = Json.refusal(Outcome::Abandoned.status(), "it was stopped");
            run.refused(sink, "score", Outcome::Abandoned, instead);
        }
    }
}

/// Parses the options in the URL.
fn options(app: &App, in_address: &str) -> Result<Options, String> {
    let (mut lang, mut timeout, mut similarity, mut summary, mut extract) = (None, None, None, None, None);
    for (name, value) in form::pairs(in_address.as_bytes()) {
        let [name, value] = [name, value].map(|text| form::decoded(text).unwrap_or_default());
        let flag = || match value.as_str() {
            "true" | "1" => Ok(Some(true)),
            "false" | "0" => Ok(Some(false)),
            _ => Err(format!("{name}: expected true or false")),
        };
        match name.as_str() {
            "lang" => lang = Some(value),
            "timeout" => timeout = Some(value.parse().unwrap_or(f64::NAN)),
            "similarity" => similarity = flag()?,
            "summary" => summary = flag()?,
            "extract" => extract = flag()?,
            _ => return Err(format!("{name}: expected lang, timeout, similarity, summary or extract")),
        }
    }
    let options = Options::new(app, lang.as_deref(), timeout)?;
    let (similarity, summary) = (similarity.unwrap_or(options.similarity), summary.unwrap_or(options.summary));
    Ok(Options { similarity, summary, extract: extract.unwrap_or(options.extract), ..options })
}

/// Scores all lines and returns the number of pairs. If damage to the snapshot is detected, it stops early; the caller
/// checks for damage.
fn each(run: &Run, sink: &mut Sink, text: &[u8], options: &Options) -> io::Result<u64> {
    let (app, limits) = (run.app(), run.limits());
    let cache = Known::new(&app.results);
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
            Stopped::Exceeded(exceeded) => Err(format!("{exceeded}, while the line was read")),
            Stopped::Panicked(_) => Err("the line could not be read".to_owned()),
        });
        match read {
            Ok((instance, table)) => {
                let scored = options.score(app, instance, table.as_ref(), limits, &cache);
                if app.engine.osm().check().is_err() {
                    break;
                }
                write(sink, &scored)?;
                pairs += 1;
            }
            Err(problem) => write(sink, &Unfit { line: index + 1, problem })?,
        }
    }
    Ok(pairs)
}

fn write(sink: &mut Sink, line: &impl Serialize) -> io::Result<()> {
    serde_json::to_writer(&mut *sink, line)?;
    sink.write_all(b"\n")?;
    sink.pass_on()
}

/// Parses the pair of a line, and its table of places if it has one.
fn pair(app: &App, line: &[u8], number: usize, options: &Options) -> Result<(Instance, Option<Table>), String> {
    let fields: Map<String, Value> =
        json::parse(line).map_err(|wrong| format!("not the JSON object expected: {wrong}"))?;
    let row = Row { number, place: format!("line {number}"), fields };
    let mut instance = jsonl::instance(row, &mut BTreeSet::new())?;
    if instance.lang.is_none() && options.language == Language::Sparql {
        instance.lang = Some("sparql".to_owned());
    }
    if instance.language() == Language::Sparql && app.engine.triples().is_none() {
        return Err(NO_TRIPLES.to_owned());
    }
    let places = instance.places.take();
    let table = places.map(|places| Table::parse(places.to_string().as_bytes())).transpose();
    Ok((instance, table.map_err(|wrong| format!("places: {wrong}"))?))
}
