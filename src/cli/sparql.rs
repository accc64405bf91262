//! `terrapin query --lang sparql`: answers one SPARQL query on standard output.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use super::stdout::Output;
use super::{Error, open};
use crate::budget::Limits;
use crate::sparql::results::{Formats, Table, Writer};
use crate::sparql::{Bounds, Dialect, Settings, prepare};

/// How a query is asked.
pub struct Asked<'a> {
    /// The snapshot file.
    pub snapshot: &'a Path,
    /// The query's text.
    pub text: String,
    /// What to call the text.
    pub origin: String,
    /// `table`, or a name that [`Formats::named`] knows.
    pub format: &'a str,
    /// What `[AUTO_LANGUAGE]` stands for.
    pub language: &'a str,
    /// The language that it is read in.
    pub dialect: Dialect,
    /// Seconds until the query is stopped.
    pub timeout: Option<u64>,
    /// Bytes that it may hold.
    pub memory: Option<u64>,
    /// Rows that its answer may have.
    pub rows: Option<u64>,
    /// Whether to show the plan instead of the answer.
    pub explain: bool,
}

/// Runs the query.
pub fn run(asked: Asked<'_>) -> Result<(), Error> {
    let formats = match asked.format {
        "table" => None,
        name => Some(Formats::named(name).ok_or_else(|| Error::usage(format!("there is no format '{name}'")))?),
    };
    let opened = open::snapshot(asked.snapshot)?;
    let stop = Arc::new(AtomicBool::new(false));
    let limits = Limits {
        deadline: asked.timeout.and_then(|seconds| Instant::now().checked_add(Duration::from_secs(seconds))),
        memory: asked.memory,
        cancelled: Arc::clone(&stop),
        ..Limits::default()
    };
    let bounds = Bounds { limits, rows: asked.rows };
    let settings = Settings { language: asked.language.to_owned(), dialect: asked.dialect, ..Settings::default() };
    let mut out = Output::new(stop);
    let (text, origin) = (asked.text, asked.origin);
    let query = match prepare(&text, &settings) {
        Ok(query) => query,
        Err(error) => return Err(Error::Query { text, origin, problems: vec![error.into()] }),
    };
    let environment = open::asked(&opened, asked.snapshot, &query)?;
    let mut run = || {
        if asked.explain {
            let text = query.explain(&environment, &bounds)?;
            // What cannot be written is told by the output's end.
            let _ = std::io::Write::write_all(&mut out, text.as_bytes());
            return Ok(());
        }
        match formats {
            None => {
                let mut table = Table::new(&mut out);
                query.run(&environment, &bounds, &mut table)?;
                let _ = table.finish();
            }
            Some(formats) => {
                let mut writer = Writer::new(&mut out, formats);
                query.run(&environment, &bounds, &mut writer)?;
                let _ = writer.finish();
            }
        }
        Ok(())
    };
    let result: Result<(), crate::sparql::Error> = run();
    out.finish()?;
    environment.store.check().map_err(open::error)?;
    result.map_err(|error| Error::Query { text, origin, problems: vec![error.into()] })
}
