//! `terrapin lint`: reports probable mistakes in files of queries, and fixes some.

use std::path::{Path, PathBuf};

use serde_json::json;
use terrapin_lint::{LintFinding, LintSeverity, OverpassData, OverpassLintError, fixed};

use super::query_files::{self, QueryFile};
use super::stdout::{print, print_json, tell};
use super::{CommandError, diagnose, open};
use crate::base::untrusted;
use crate::engine::Engine;
use crate::eval::language::QueryLanguage;
use crate::sparql::SparqlSettings;

/// The maximum number of rounds of fixes; a fix may make another one possible.
const ROUNDS: usize = 10;

/// Report probable mistakes in OverpassQL and SPARQL
///
/// Rules read the text, and with --snapshot compare its names with the data. The exit status is 1 if a rule of
/// severity warning finds something or a query has errors; notes do not count.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  terrapin lint cafes.overpassql cities.rq
  echo 'node[amenty=cafe];' | terrapin lint --snapshot malta.terrapin
  terrapin lint --fix queries/*.rq
  terrapin lint --rules")]
pub struct LintArgs {
    /// The files; `-` is standard input, the default
    files: Vec<PathBuf>,
    /// Snapshot to compare keys, values, ids, areas, items and properties with
    #[arg(long, value_name = "FILE")]
    snapshot: Option<PathBuf>,
    /// Apply fixes that do not change the answer: files in place, standard input to standard output
    #[arg(long)]
    fix: bool,
    /// Codes of rules to leave out
    #[arg(long, value_name = "CODES", value_delimiter = ',')]
    ignore: Vec<String>,
    /// Language of the queries: overpassql or sparql [default: detected from the beginning of each]
    #[arg(long, value_name = "LANGUAGE")]
    lang: Option<QueryLanguage>,
    /// List the rules
    #[arg(long)]
    rules: bool,
    /// Print findings as one JSON array, and errors as JSON objects
    #[arg(long)]
    json: bool,
}

/// Runs the command.
pub fn run(args: &LintArgs) -> Result<(), CommandError> {
    if args.rules {
        return rules(args.json);
    }
    for code in &args.ignore {
        if terrapin_lint::rules().all(|rule| rule.code != code) {
            return Err(CommandError::usage(format!("unknown rule '{code}': terrapin lint --rules lists them")));
        }
    }
    let engine = args.snapshot.as_deref().map(open::engine).transpose()?;
    let (mut failed, mut warnings, mut listed) = (0, 0, Vec::new());
    let paths = query_files::paths(&args.files);
    for path in paths.iter() {
        let found = file(args, path, engine.as_ref());
        let (file, findings) = match found {
            Ok(found) => found,
            Err(error) if paths.len() == 1 => return Err(error),
            Err(error) => {
                diagnose::report(&error, args.json);
                failed += 1;
                continue;
            }
        };
        for finding in &findings {
            warnings += usize::from(finding.rule.severity == LintSeverity::Warning);
            match args.json {
                true => listed.push(to_json(finding, &file)),
                false => show(finding, &file, args.fix)?,
            }
        }
    }
    if let Some(engine) = &engine {
        engine.fail_if_damaged().map_err(open::error)?;
    }
    if args.json {
        print_json(&listed)?;
    }
    match (failed, warnings) {
        (0, 0) => Ok(()),
        (0, count) => Err(CommandError::refused("lint", format!("warnings: {count}"))),
        (count, _) => Err(CommandError::refused("not-linted", format!("queries with errors: {count}"))),
    }
}

fn rules(as_json: bool) -> Result<(), CommandError> {
    let mut rules: Vec<_> = terrapin_lint::rules().collect();
    rules.sort_by_key(|rule| rule.code);
    // Both languages have some of the codes.
    rules.dedup_by_key(|rule| rule.code);
    if as_json {
        let rules = rules
            .iter()
            .map(|rule| json!({"code": rule.code, "severity": rule.severity.name(), "summary": rule.summary}));
        return print_json(&rules.collect::<Vec<_>>());
    }
    let lines = rules.iter().map(|rule| format!("{:<24}{:<9}{}\n", rule.code, rule.severity.name(), rule.summary));
    print(&lines.collect::<String>())
}

/// Examines a file, and fixes it with `--fix`. Returns the text after the fixes and the findings that are left.
fn file(args: &LintArgs, path: &Path, engine: Option<&Engine>) -> Result<(QueryFile, Vec<LintFinding>), CommandError> {
    let mut file = QueryFile::read(path)?;
    let language = query_files::language(args.lang, &file.text);
    let written = file.text.clone();
    let mut findings = examined(args, &file, language, engine)?;
    for _ in 0..ROUNDS {
        let text = fixed(&file.text, &findings);
        if !args.fix || text == file.text {
            break;
        }
        query_files::check(&text, &file.origin, language)?;
        file.text = text;
        findings = examined(args, &file, language, engine)?;
    }
    if args.fix && (file.path.is_none() || file.text != written) {
        file.replace(&file.text)?;
    }
    Ok((file, findings))
}

fn examined(
    args: &LintArgs,
    file: &QueryFile,
    language: QueryLanguage,
    engine: Option<&Engine>,
) -> Result<Vec<LintFinding>, CommandError> {
    let refused =
        |text: &str, problems| CommandError::Query { text: text.to_owned(), origin: file.origin.clone(), problems };
    let mut findings = match language {
        QueryLanguage::OverpassQl => {
            let data = OverpassData { osm: engine.map(|engine| &**engine.osm()) };
            terrapin_lint::overpass(&file.text, data).map_err(|error| match error {
                OverpassLintError::Shortcut(problem) => refused(&file.text, vec![problem.diagnostic(None).erase()]),
                OverpassLintError::Query(text, failure) => refused(&text, failure.erase()),
            })?
        }
        QueryLanguage::Sparql => {
            // Without triples, only queries about elements can be compared with the data.
            let prepared = engine.map(|engine| engine.prepare_sparql(&file.text, &SparqlSettings::default()));
            let environment = prepared.and_then(|prepared| Some(prepared.ok()?.1));
            terrapin_lint::sparql(&file.text, environment).map_err(|error| refused(&file.text, vec![error.erase()]))?
        }
    };
    findings.retain(|finding| args.ignore.iter().all(|code| code != finding.rule.code));
    Ok(findings)
}

/// Returns the line and the column in characters of a byte, both from 1.
fn position(text: &str, at: usize) -> (usize, usize) {
    let before = text.get(..at).unwrap_or(text);
    let line = before.rfind('\n').map_or(0, |end| end + 1);
    (before.matches('\n').count() + 1, before.get(line..).map_or(1, |line| line.chars().count() + 1))
}

fn show(finding: &LintFinding, file: &QueryFile, is_fixing: bool) -> Result<(), CommandError> {
    let (line, column) = position(&file.text, finding.range.start);
    let (rule, origin) = (finding.rule, &file.origin);
    let nearest = match finding.nearest.is_empty() {
        true => String::new(),
        false => format!("; there is {}", finding.nearest.join(", ")),
    };
    let fixable = if finding.fix.is_empty() { "" } else { " (--fix)" };
    let text = format!(
        "{origin}:{line}:{column}: {}[{}]: {}{nearest}{fixable}",
        rule.severity.name(),
        rule.code,
        finding.message
    );
    let text = untrusted::lines(&text).into_owned();
    // With --fix, standard output has the fixed text.
    if is_fixing && file.path.is_none() {
        tell(&text);
        return Ok(());
    }
    print(&(text + "\n"))
}

fn to_json(finding: &LintFinding, file: &QueryFile) -> serde_json::Value {
    let (line, column) = position(&file.text, finding.range.start);
    let (end_line, end_column) = position(&file.text, finding.range.end);
    json!({
        "file": file.origin,
        "code": finding.rule.code,
        "severity": finding.rule.severity.name(),
        "message": finding.message,
        "start": {"byte": finding.range.start, "line": line, "column": column},
        "end": {"byte": finding.range.end, "line": end_line, "column": end_column},
        "nearest": finding.nearest,
        "fix": finding.fix,
    })
}
