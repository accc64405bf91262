//! `terrapin query --words`: the query that words stand for.

use std::fmt::Write;
use std::path::Path;

use super::stdout::{print, print_json, tell};
use super::{CommandError, open};
use crate::base::untrusted;
use crate::osm::BoundingBox;
use crate::size;
use crate::words::{UnderstoodWords, WordsChoice, WordsOptions, understand};

/// The options.
pub struct WordsQueryOptions<'a> {
    pub snapshot: &'a Path,
    pub text: &'a str,
    pub bbox: Option<BoundingBox>,
    /// The language of labels and of the text.
    pub language: &'a str,
    /// The only query language: overpassql or sparql.
    pub only: Option<&'static str>,
    /// Whether to print the meaning instead.
    pub explain: bool,
    /// Whether to print it as JSON.
    pub json: bool,
}

/// Returns the query; prints the meaning of the words and returns `None` if that is wanted.
///
/// # Errors
/// The snapshot cannot be read, or no words were understood.
pub fn query(options: &WordsQueryOptions<'_>) -> Result<Option<String>, CommandError> {
    let engine = open::engine(options.snapshot)?;
    let words =
        WordsOptions { bbox: options.bbox, language: Some(options.language.to_owned()), ..WordsOptions::default() };
    let understood = engine.checked(|| understand(&engine, options.text, &words)).map_err(open::error)?;
    let understood = understood.map_err(CommandError::usage)?;
    if options.explain && options.json {
        print_json(&understood)?;
        return Ok(None);
    }
    if options.explain {
        print(&explained(&understood))?;
        return Ok(None);
    }
    for unknown in &understood.unknown {
        tell(&format!("note: not understood: {}: {}", untrusted::line(&unknown.text), unknown.reason));
    }
    let query = match options.only {
        Some(only) => understood.query_in(only),
        None => understood.queries.first(),
    };
    match query {
        Some(query) => Ok(Some(query.query.clone())),
        None => Err(CommandError::refused(
            "words",
            "no query for these words: name a thing and a place, such as \"cafes in Valletta\"",
        )),
    }
}

fn explained(understood: &UnderstoodWords) -> String {
    let mut out = String::new();
    for part in &understood.parts {
        let kind = serde_json::to_value(part.kind).ok().and_then(|kind| Some(kind.as_str()?.to_owned()));
        let _ = writeln!(out, "{:<10} {:<24} {}", kind.unwrap_or_default(), part.text, chosen(&part.chosen));
        for other in &part.alternatives {
            let _ = writeln!(out, "{:<35} or {}", "", chosen(other));
        }
    }
    for unknown in &understood.unknown {
        let _ = writeln!(out, "{:<10} {:<24} {}", "unknown", unknown.text, unknown.reason);
    }
    for query in &understood.queries {
        let _ = writeln!(out, "\n{} ({}):\n{}", query.language, query.about, query.query.trim_end());
    }
    untrusted::lines(&out).into_owned()
}

fn chosen(choice: &WordsChoice) -> String {
    let mut text = choice.label.clone();
    for part in [&choice.tags, &choice.id].into_iter().flatten() {
        if *part != choice.label {
            let _ = write!(text, "  {part}");
        }
    }
    if let Some(count) = choice.count {
        let _ = write!(text, "  ({})", size::count(count));
    }
    text
}
