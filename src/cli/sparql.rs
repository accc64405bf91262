//! `terrapin query --lang sparql`: runs a SPARQL query and prints the answer.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use super::stdout::StdoutWriter;
use super::{CommandError, open};
use crate::budget::Limits;
use crate::engine::SparqlRejection;
use crate::sparql::results::{Formats, ResultWriter, TextTableWriter};
use crate::sparql::{Dialect, SparqlBounds, SparqlSettings};

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
        "table" => None,
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
    let settings =
        SparqlSettings { language: asked.language.to_owned(), dialect: asked.dialect, ..SparqlSettings::default() };
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
            let text = query.explain(environment, &bounds)?;
            // Errors of writing are reported when the output is finished.
            let _ = std::io::Write::write_all(&mut out, text.as_bytes());
            return Ok(());
        }
        match formats {
            None => {
                let mut table = TextTableWriter::new(&mut out);
                query.run(environment, &bounds, &mut table)?;
                let _ = table.finish();
            }
            Some(formats) => {
                let mut writer = ResultWriter::new(&mut out, formats);
                query.run(environment, &bounds, &mut writer)?;
                let _ = writer.finish();
            }
        }
        Ok(())
    };
    let result: Result<Result<(), crate::sparql::SparqlError>, _> = engine.checked(&mut run);
    out.finish()?;
    let result = result.map_err(open::error)?;
    result.map_err(|error| CommandError::Query { text, origin, problems: vec![error.erase()] })
}
