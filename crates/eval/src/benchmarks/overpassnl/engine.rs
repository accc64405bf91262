//! Runs a prepared query in this process and returns the result an Overpass server would have sent.

use std::io::{self, Write};
use std::time::{Duration, Instant};

use super::answer::{self, MAX_CHARACTERS};
use super::class::class_of;
use super::prepared::PreparedQuery;
use crate::metrics::execution::ExecutionResults;
use crate::record::{ErrorClass, FailedQuery};
use terrapin_osm::Osm;
use terrapin_overpass::{DiagnosticClass, Limits, OverpassCode, OverpassFailure};

/// The time that the published code waits for an answer. The prepared limit is shorter, but a text can have several.
const TIMEOUT: Duration = Duration::from_secs(500);

/// Limits of a query, in addition to those of the published evaluation.
#[derive(Debug, Clone)]
pub struct AnswerBounds {
    /// Time and memory.
    pub limits: Limits,
    /// The length in characters from which an answer is a `memory_error`.
    pub largest: u64,
    /// The time limit of each query, from its start.
    pub each: Option<Duration>,
}

impl AnswerBounds {
    /// Returns the limits of a query that starts now with at most this time.
    pub fn of_query(&self, most: Duration) -> Limits {
        let now = Instant::now();
        let own = now.checked_add(self.each.map_or(most, |each| each.min(most)));
        let deadline = [own, self.limits.deadline].into_iter().flatten().min();
        Limits { deadline, ..self.limits.clone() }
    }
}

impl Default for AnswerBounds {
    fn default() -> Self {
        AnswerBounds { limits: Limits::default(), largest: MAX_CHARACTERS, each: None }
    }
}

/// Runs a prepared query and reads its answer like the published code.
///
/// The answer is parsed from its text instead of taken from the engine's sets, because the published numbers come
/// from the text: the requested format, elements without ids, tags of a count made by the query. Writing and parsing
/// it takes about a quarter of a run over the Malta benchmark.
pub fn run(
    osm: &Osm,
    query: &PreparedQuery,
    bounds: &AnswerBounds,
) -> Result<ExecutionResults, FailedQuery<ErrorClass>> {
    let script = query.parse().map_err(refused)?;
    let start = Instant::now();
    let limits = bounds.of_query(TIMEOUT);
    let mut body = BoundedAnswer { largest: bounds.largest, bytes: Vec::new(), characters: None, full: false };
    let outcome = terrapin_overpass::run_to_end(osm, &script, &limits, &mut body);
    if start.elapsed() >= TIMEOUT {
        let text = format!("no answer after {} seconds", TIMEOUT.as_secs());
        return Err(FailedQuery::new(ErrorClass::ServerErrorTimeout, text));
    }
    if body.full {
        let text = format!("an answer of more than {} characters", bounds.largest);
        return Err(FailedQuery::new(ErrorClass::MemoryError, text));
    }
    match outcome {
        Err(failure) if !stopped(&failure) => return Err(refused(failure)),
        _ => {}
    }
    let text = String::from_utf8(body.bytes)
        .map_err(|e| FailedQuery::new(ErrorClass::UnknownError, format!("not UTF-8: {e}")))?;
    answer::read(&text)
}

/// Returns the class of a failure by the text that a server sends.
fn refused(failure: OverpassFailure) -> FailedQuery<ErrorClass> {
    let text = failure.to_string();
    FailedQuery::new(class_of(&text).unwrap_or(ErrorClass::UnknownError), text)
}

/// Reports whether a running query exceeded a limit. Over HTTP, its answer is then a normal one with the elements so
/// far and a remark.
fn stopped(failure: &OverpassFailure) -> bool {
    let ours = [OverpassCode::Unsupported, OverpassCode::Cancelled];
    !failure.is_fault()
        && failure.diagnostics.iter().all(|d| d.class == DiagnosticClass::Runtime && !ours.contains(&d.code))
}

/// An answer in memory, up to the length that is an error.
struct BoundedAnswer {
    largest: u64,
    bytes: Vec<u8>,
    /// Counted only if there are more bytes than allowed characters.
    characters: Option<u64>,
    full: bool,
}

/// Counts all bytes of UTF-8 except continuation bytes.
fn characters(bytes: &[u8]) -> u64 {
    bytes.iter().filter(|byte| (**byte & 0xC0) != 0x80).count() as u64
}

impl Write for BoundedAnswer {
    fn write(&mut self, part: &[u8]) -> io::Result<usize> {
        self.bytes.extend_from_slice(part);
        if self.bytes.len() as u64 > self.largest {
            let count = match self.characters {
                Some(count) => count + characters(part),
                None => characters(&self.bytes),
            };
            self.characters = Some(count);
            if count > self.largest {
                self.full = true;
                return Err(io::Error::other("the answer is too long to be scored"));
            }
        }
        Ok(part.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
