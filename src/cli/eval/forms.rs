//! Options that name the form of predictions and the fields of questions.

use super::super::CommandError;
use crate::eval::input::extract::PredictionFormat;
use crate::eval::input::published::FieldMap;

/// A form of predictions on the command line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum ExtractionFormat {
    /// One query per line, unchanged
    Lines,
    /// JSON lines, or a JSON array, of objects with `prediction`
    Json,
    /// A table with a header line and a column `prediction`
    Csv,
    /// Replies of a language model: the query is found by the rules of docs/reference/replies.md
    Reply,
    /// The same as reply: queries between fences of three backticks
    Fenced,
    /// The same as reply: queries in quotes
    Quoted,
}

/// Parses a list of forms.
pub fn forms(named: &[ExtractionFormat]) -> Vec<PredictionFormat> {
    let form = |named: &ExtractionFormat| match named {
        ExtractionFormat::Lines => PredictionFormat::Lines,
        ExtractionFormat::Json => PredictionFormat::Json,
        ExtractionFormat::Csv => PredictionFormat::Csv,
        ExtractionFormat::Reply => PredictionFormat::Reply,
        ExtractionFormat::Fenced => PredictionFormat::Fenced,
        ExtractionFormat::Quoted => PredictionFormat::Quoted,
    };
    named.iter().map(form).collect()
}

/// Parses the new names of fields.
pub fn field_map(texts: &[String]) -> Result<FieldMap, CommandError> {
    let mut map = FieldMap::default();
    for text in texts {
        map.add(text).map_err(|message| CommandError::usage(format!("--map {message}")))?;
    }
    Ok(map)
}
