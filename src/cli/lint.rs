//! `terrapin lint`: reports probable mistakes in files of queries, and fixes some.

use std::path::{Path, PathBuf};

use serde_json::json;
use terrapin_lint::{LintFinding, LintSeverity, OverpassData, OverpassLintError, SparqlLintError, fixed};

use super::query_files::{self, QueryFile};
use super::stdout::{print, print_json, tell};
use super::{CommandError, diagnose, open};
use crate::base::untrusted;
use crate::budget::StopReason;
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
  terrapin lint --field query gold.jsonl
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
    /// Read JSON lines, and examine the query in this field of each
    #[arg(long, value_name = "FIELD")]
    field: Option<String>,
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
    let mut report = LintReport { args, engine: engine.as_ref(), failed: 0, warnings: 0, listed: Vec::new() };
    let paths = query_files::paths(&args.files);
    for path in paths.iter() {
        match report.file(path) {
            Ok(()) => {}
            Err(error) if paths.len() == 1 => return Err(error),
            Err(error) => report.failed(&error),
        }
    }
    let LintReport { failed, warnings, listed, .. } = report;
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

/// A run over files, and what it found.
struct LintReport<'a> {
    args: &'a LintArgs,
    engine: Option<&'a Engine>,
    /// Number of files or lines with errors.
    failed: usize,
    warnings: usize,
    /// The findings as JSON, with `--json`.
    listed: Vec<serde_json::Value>,
}

impl LintReport<'_> {
    /// Reports an error in one of several files or lines.
    fn failed(&mut self, error: &CommandError) {
        diagnose::report(error, self.args.json);
        self.failed += 1;
    }

    /// Examines a file, and fixes it with `--fix`.
    fn file(&mut self, path: &Path) -> Result<(), CommandError> {
        let mut file = QueryFile::read(path)?;
        let text = match &self.args.field {
            Some(field) => query_files::change_lines(&file, field, &mut |query, origin| {
                let mut line = QueryFile { path: file.path.clone(), origin: origin.to_owned(), text: query.to_owned() };
                match self.query(&mut line) {
                    Ok(findings) => self.show(&line, &findings)?,
                    Err(error) => self.failed(&error),
                }
                Ok(line.text)
            })?,
            None => {
                let written = file.text.clone();
                let findings = self.query(&mut file)?;
                self.show(&file, &findings)?;
                std::mem::replace(&mut file.text, written)
            }
        };
        if self.args.fix && (file.path.is_none() || file.text != text) {
            file.replace(&text)?;
        }
        Ok(())
    }

    /// Examines a query, with `--fix` after its fixes. Returns the findings that are left.
    fn query(&self, file: &mut QueryFile) -> Result<Vec<LintFinding>, CommandError> {
        let language = query_files::language(self.args.lang, &file.text);
        let mut findings = examined(self.args, file, language, self.engine)?;
        for _ in 0..ROUNDS {
            let text = fixed(&file.text, &findings);
            if !self.args.fix || text == file.text {
                break;
            }
            query_files::check(&text, &file.origin, language)?;
            file.text = text;
            findings = examined(self.args, file, language, self.engine)?;
        }
        Ok(findings)
    }

    fn show(&mut self, file: &QueryFile, findings: &[LintFinding]) -> Result<(), CommandError> {
        for finding in findings {
            self.warnings += usize::from(finding.rule.severity == LintSeverity::Warning);
            match self.args.json {
                true => self.listed.push(to_json(finding, file)),
                false => show(finding, file, self.args.fix)?,
            }
        }
        Ok(())
    }
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
                OverpassLintError::Stopped(reason) => stopped(&file.origin, &reason),
            })?
        }
        QueryLanguage::Sparql => {
            // Without triples, only queries about elements can be compared with the data.
            let environment = engine.and_then(|engine| {
                let prepared = engine.prepare_sparql(&file.text, &SparqlSettings::default());
                prepared.map_or_else(|_| engine.triples(), |(_, environment)| Some(environment))
            });
            terrapin_lint::sparql(&file.text, environment).map_err(|error| match error {
                SparqlLintError::Query(error) => refused(&file.text, vec![error.erase()]),
                SparqlLintError::Stopped(reason) => stopped(&file.origin, &reason),
            })?
        }
    };
    findings.retain(|finding| args.ignore.iter().all(|code| code != finding.rule.code));
    Ok(findings)
}

/// Returns the error of a query whose comparison with the data was stopped.
fn stopped(origin: &str, reason: &StopReason) -> CommandError {
    let message = match reason {
        StopReason::Exceeded(exceeded) => exceeded.to_string(),
        StopReason::Panicked(panic) => format!("a defect of this program: {panic}"),
    };
    CommandError::system("not-linted", format!("{origin}: cannot compare the names with the data: {message}"))
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
