//! `terrapin fmt`: formats files of queries.

use std::path::PathBuf;

use super::query_files::{self, QueryFile};
use super::stdout::tell;
use super::{CommandError, diagnose};
use crate::eval::language::QueryLanguage;

/// Format OverpassQL and SPARQL
///
/// Files are formatted in place, standard input to standard output. Only white space and the case of SPARQL's keywords
/// change; comments and {{shortcuts}} stay. A query with errors is not changed. The exit status is 1 if a file has
/// errors, and with --check if a file is not formatted.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  terrapin fmt cafes.overpassql cities.rq
  echo 'node[amenity=cafe];out;' | terrapin fmt
  terrapin fmt --check queries/*.rq
  terrapin fmt --field query gold.jsonl")]
pub struct FmtArgs {
    /// The files; `-` is standard input, the default
    files: Vec<PathBuf>,
    /// Write nothing; list the files that are not formatted
    #[arg(long)]
    check: bool,
    /// Language of the queries: overpassql or sparql [default: detected from the beginning of each]
    #[arg(long, value_name = "LANGUAGE")]
    lang: Option<QueryLanguage>,
    /// Read JSON lines, and format the query in this field of each
    #[arg(long, value_name = "FIELD")]
    field: Option<String>,
    /// Print errors as JSON objects
    #[arg(long)]
    json: bool,
}

/// Runs the command.
pub fn run(args: &FmtArgs) -> Result<(), CommandError> {
    let (mut failed, mut unformatted) = (0, 0);
    let paths = query_files::paths(&args.files);
    for path in paths.iter() {
        match file(args, path) {
            Ok(true) => {}
            Ok(false) => unformatted += 1,
            Err(error) if paths.len() == 1 => return Err(error),
            Err(error) => {
                diagnose::report(&error, args.json);
                failed += 1;
            }
        }
    }
    match (failed, unformatted) {
        (0, 0) => Ok(()),
        (0, count) => Err(CommandError::refused("unformatted", format!("files that are not formatted: {count}"))),
        (count, _) => Err(CommandError::refused("not-formatted", format!("files with errors: {count}"))),
    }
}

/// Formats a file. With `--check`, returns whether it is formatted already.
fn file(args: &FmtArgs, path: &std::path::Path) -> Result<bool, CommandError> {
    let file = QueryFile::read(path)?;
    let text = match &args.field {
        Some(field) => query_files::change_lines(&file, field, &mut |query, origin| {
            Ok(formatted(args.lang, query, origin)?.trim_end().to_owned())
        })?,
        None => formatted(args.lang, &file.text, &file.origin)?,
    };
    let is_formatted = text == file.text;
    if args.check {
        if !is_formatted {
            tell(&format!("not formatted: {}", file.origin));
        }
        return Ok(is_formatted);
    }
    if !is_formatted || file.path.is_none() {
        file.replace(&text)?;
    }
    Ok(true)
}

fn formatted(lang: Option<QueryLanguage>, text: &str, origin: &str) -> Result<String, CommandError> {
    let language = query_files::language(lang, text);
    query_files::check(text, origin, language)?;
    let formatted = match language {
        QueryLanguage::OverpassQl => terrapin_format::overpass(text),
        QueryLanguage::Sparql => terrapin_format::sparql(text),
    };
    formatted.map_err(|error| CommandError::refused("format", format!("{origin}: {error}")))
}
