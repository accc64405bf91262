//! `terrapin query --lang sparql`: runs a SPARQL query and prints the answer.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use super::stdout::StdoutWriter;
use super::{CommandError, open};
use crate::budget::Limits;
use crate::engine::SparqlRejection;
use crate::sparql::results::{AnswerWriter, Formats, QleverJsonWriter, ResultWriter, TextTableWriter};
use crate::sparql::{
    Dialect, Entailment, Environment, RunnableQuery, SparqlBounds, SparqlError, SparqlSettings, syntax,
};

/// The options of a SPARQL query.
pub struct SparqlQueryOptions<'a> {
    /// The snapshot file.
    pub snapshot: &'a Path,
    /// The query's text.
    pub text: String,
    /// The origin of the text, for errors.
    pub origin: String,
    /// `table`, or a name that [`Formats::named`] knows.
    pub format: &'a str,
    /// The language that replaces `[AUTO_LANGUAGE]`.
    pub language: &'a str,
    /// The dialect.
    pub dialect: Dialect,
    /// The entailment regimes.
    pub entailment: Entailment,
    /// The timeout in seconds.
    pub timeout: Option<u64>,
    /// The memory limit in bytes.
    pub memory: Option<u64>,
    /// The maximum number of rows.
    pub rows: Option<u64>,
    /// Print the plan instead of the answer.
    pub explain: bool,
}

/// Runs the query.
pub fn run(asked: SparqlQueryOptions<'_>) -> Result<(), CommandError> {
    let formats = match asked.format {
        "table" | "qlever" => None,
        name => Some(Formats::named(name).ok_or_else(|| CommandError::usage(format!("unknown format '{name}'")))?),
    };
    let engine = open::engine(asked.snapshot)?;
    let stop = Arc::new(AtomicBool::new(false));
    let limits = Limits {
        deadline: asked.timeout.and_then(|seconds| Instant::now().checked_add(Duration::from_secs(seconds))),
        memory: asked.memory,
        cancelled: Arc::clone(&stop),
        ..Limits::default()
    };
    let bounds = SparqlBounds { limits, rows: asked.rows };
    let settings = SparqlSettings {
        language: asked.language.to_owned(),
        dialect: asked.dialect,
        entailment: asked.entailment,
        ..SparqlSettings::default()
    };
    let mut out = StdoutWriter::new(stop);
    let (text, origin) = (asked.text, asked.origin);
    let (query, environment) = match engine.prepare_sparql(&text, &settings) {
        Ok(prepared) => prepared,
        Err(SparqlRejection::NoTriples) => return Err(open::no_triples(asked.snapshot)),
        Err(SparqlRejection::Syntax(error)) => {
            return Err(CommandError::Query { text, origin, problems: vec![error.erase()] });
        }
    };
    let mut run = || {
        if asked.explain {
            let reason = match asked.dialect {
                Dialect::Auto => format!(" ({})", syntax::detect(&text).reason),
                _ => String::new(),
            };
            let plan = query.explain(environment, &bounds)?;
            let text = format!("dialect: {}{reason}\n{plan}", query.dialect().name());
            // Errors of writing are reported when the output is finished.
            let _ = std::io::Write::write_all(&mut out, text.as_bytes());
            return Ok(());
        }
        match formats {
            None if asked.format == "qlever" => {
                answer(&query, environment, &bounds, QleverJsonWriter::new(&mut out, &text, None))
            }
            None => answer(&query, environment, &bounds, TextTableWriter::new(&mut out)),
            Some(formats) => answer(&query, environment, &bounds, ResultWriter::new(&mut out, formats)),
        }
    };
    let result: Result<Result<(), SparqlError>, _> = engine.checked(&mut run);
    out.finish()?;
    let result = result.map_err(open::error)?;
    result.map_err(|error| CommandError::Query { text, origin, problems: vec![error.erase()] })
}

/// Runs a query and writes its answer. Errors of writing are reported when the output is finished.
fn answer(
    query: &RunnableQuery,
    environment: &Environment,
    bounds: &SparqlBounds,
    mut writer: impl AnswerWriter,
) -> Result<(), SparqlError> {
    query.run(environment, bounds, &mut writer)?;
    let _ = writer.finish();
    Ok(())
}
