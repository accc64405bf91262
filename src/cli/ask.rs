//! `terrapin ask`: answers a question in plain language by a model's queries over a snapshot.

use std::fmt::Write;
use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use indicatif::ProgressBar;
use serde_json::json;

use super::examples::{ExampleArgs, baseline};
use super::model::{ModelArgs, ReportingModel};
use super::progress::styled;
use super::query::text_of;
use super::stdout::{print, print_json, tell};
use super::{CommandError, open, query_files};
use crate::ask::examples::{Correction, remember};
use crate::ask::{
    AskBaseline, AskFailure, AskSettings, AskStep, AskedQueryResult, Asker, ModelQuery, NEAREST, NoModel,
    QuestionAnswer, StepCost, UserQuestion, ask,
};
use crate::base::untrusted;
use crate::budget::Limits;
use crate::engine::EngineOptions;
use crate::size;

/// The maximum number of rows in text output, and of characters in a cell.
const ROWS: usize = 20;
const LETTERS: usize = 40;
/// The interval between two lines about a pending reply.
const INTERVAL: Duration = Duration::from_secs(10);

/// Answer a question in plain language, by the queries that a language model writes
///
/// You bring the model: any server with OpenAI's chat completions, such as llama.cpp, vLLM or Ollama. Terrapin looks up
/// the names and things in the question, so that the model sees real tags and identifiers, and runs its query. A query
/// that fails or has no results goes back to the model with its errors. The model gets the question, the candidates and
/// the first rows of results. No other data leaves the machine, and without --model-url no data at all.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  terrapin ask malta.terrapin 'Which museums are in Valletta?' --model-url http://127.0.0.1:8080/v1 --model-name qwen
  terrapin ask malta.terrapin 'Where are beaches?' --format geojson > beaches.geojson
  terrapin ask malta.terrapin 'How many bus stops are there?' --context 'in Sliema' --show-steps
  terrapin ask malta.terrapin 'Bus stops in Sliema' --examples train.jsonl --model nearest
  terrapin ask malta.terrapin 'Cafes' --query 'node[amenity=cafe];out;' --remember corrections.jsonl")]
pub struct AskArgs {
    /// The snapshot file
    snapshot: PathBuf,
    /// The question; `-` reads it from standard input
    question: String,
    /// Context of the question: its meaning, what to count, what to show
    #[arg(long, value_name = "TEXT", default_value = "")]
    context: String,
    /// Output: the answer as text with the first rows, everything as JSON, or the features as GeoJSON
    #[arg(long, value_enum, default_value_t = AskFormat::Text)]
    format: AskFormat,
    /// Print each step on standard error, with tokens and seconds: mentions, candidates, prompt, queries, their errors
    #[arg(long)]
    show_steps: bool,
    /// Skip the search for names and things in the question
    #[arg(long)]
    no_search: bool,
    /// Descriptions of keys and tags, which are also searched: data items of OpenStreetMap's wiki as JSON lines, or
    /// taginfo's pages of it (key, value, lang, description) as JSON lines or CSV
    #[arg(long, value_name = "FILE")]
    tag_docs: Option<PathBuf>,
    /// Timeout of the whole question in seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 300)]
    timeout: u64,
    /// Memory limit of queries
    #[arg(long, value_name = "SIZE", value_parser = size::parse)]
    memory: Option<u64>,
    /// The baseline `nearest`: no model, but the query of the nearest question of --examples, with the place put in
    #[arg(long = "model", value_name = "nearest", value_parser = [NEAREST], requires = "examples")]
    built_in: Option<String>,
    /// Run this query instead of a model's; `-` reads it from standard input
    #[arg(long, value_name = "QUERY", conflicts_with = "built_in")]
    query: Option<String>,
    /// Append the question and its right query (--query) to this file of JSON lines, which --examples reads. The query
    /// must have a result
    #[arg(long, value_name = "FILE", requires = "query")]
    remember: Option<PathBuf>,
    /// The mistake to record with --remember: a wrong name, candidate or query
    #[arg(long, value_name = "TEXT", requires = "remember")]
    wrong: Option<String>,
    #[command(flatten)]
    model: ModelArgs,
    #[command(flatten)]
    examples: ExampleArgs,
    /// Print errors as one JSON object
    #[arg(long)]
    json: bool,
}

/// An output format.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum AskFormat {
    /// The answer as text, and the first rows
    Text,
    /// Everything as one JSON object
    Json,
    /// The features
    Geojson,
}

/// Runs the command.
pub fn run(args: &AskArgs) -> Result<(), CommandError> {
    let asker = match (&args.query, &args.built_in) {
        (Some(_), _) => {
            Asker { model: Box::new(NoModel), settings: AskSettings { words: false, ..Default::default() } }
        }
        (None, Some(_)) => baseline(AskBaseline::Nearest, &args.examples)?,
        (None, None) => args.model.needed()?,
    };
    let (question, _) = match args.question.as_str() {
        "-" => text_of(Some("-"), None)?,
        text => (text.to_owned(), String::new()),
    };
    let query = args.query.as_deref().map(right_query).transpose()?;
    let docs = open::tag_docs(args.tag_docs.as_deref())?;
    let engine = open::engine_with(&args.snapshot, EngineOptions { docs, ..EngineOptions::default() })?;
    let limits = Limits {
        deadline: Instant::now().checked_add(Duration::from_secs(args.timeout)),
        memory: args.memory,
        ..Limits::default()
    };
    let mut settings = asker.settings;
    settings.search = !args.no_search;
    settings.words = args.format != AskFormat::Geojson && settings.baseline.is_none() && query.is_none();
    args.examples.apply(&mut settings);
    if let Some(examples) = args.examples.read()? {
        settings.examples = Some(examples.into_selector(&args.model, None)?);
    }
    let queries = query.clone().map(|query| vec![query]);
    let question = UserQuestion { question, context: args.context.clone(), queries, ..UserQuestion::default() };
    let waiting = ReplySpinner::new();
    let model = ReportingModel { model: &*asker.model, report: &|text| waiting.show(text) };
    let mut show = |step: &AskStep| {
        waiting.clear();
        if args.show_steps {
            tell(&shown(step));
        }
    };
    let answer = ask(&engine, &model, &settings, &question, &limits, &mut show);
    waiting.clear();
    let answer = answer.map_err(failed)?;
    match args.format {
        AskFormat::Text => print(&for_people(&answer))?,
        AskFormat::Json => print_json(&answer)?,
        AskFormat::Geojson => {
            if answer.features.is_none() && answer.problem.is_none() {
                tell(&format!("note: the answer has no features: {}", answer.text));
            }
            match &answer.features {
                Some(features) => print_json(features)?,
                None => print_json(&json!({"type": "FeatureCollection", "features": []}))?,
            }
        }
    }
    if let (Some(path), Some(query), None) = (&args.remember, query, &answer.problem) {
        keep(path, &question, query, args.wrong.as_deref())?;
    }
    match answer.problem {
        Some(problem) => {
            Err(CommandError::refused("no-answer", format!("no query answers this: {}", problem.trim_end())))
        }
        None => Ok(()),
    }
}

/// Returns the query of `--query`.
fn right_query(text: &str) -> Result<ModelQuery, CommandError> {
    let (query, _) = text_of(Some(text), None)?;
    Ok(ModelQuery { language: query_files::language(None, &query).into(), query })
}

/// Appends a question and its right query to a file.
fn keep(path: &Path, question: &UserQuestion, query: ModelQuery, wrong: Option<&str>) -> Result<(), CommandError> {
    let correction = Correction {
        question: question.question.clone(),
        wrong: wrong.map(str::to_owned),
        lang: query.language.name(),
        query: query.query,
    };
    remember(path, &correction)
        .map_err(|error| CommandError::system("output", format!("cannot write {}: {error}", path.display())))
}

/// Returns the error of the command for a failure.
pub fn failed(failure: AskFailure) -> CommandError {
    match failure {
        AskFailure::Question(message) => CommandError::usage(message),
        failure @ AskFailure::Model(_) => CommandError::system("model", failure),
        AskFailure::Damaged(damage) => open::error(damage),
        AskFailure::Exceeded(exceeded) => CommandError::refused("stopped", exceeded),
        AskFailure::Fault(message) => CommandError::input("snapshot-damaged", message),
    }
}

/// Shows that a reply is pending: a spinner on a terminal, otherwise a line every ten seconds.
struct ReplySpinner {
    spinner: Option<ProgressBar>,
    last: Mutex<Instant>,
}

impl ReplySpinner {
    fn new() -> ReplySpinner {
        let spinner =
            std::io::stderr().is_terminal().then(|| ProgressBar::new_spinner().with_style(styled("{spinner} {msg}")));
        ReplySpinner { spinner, last: Mutex::new(Instant::now()) }
    }

    fn show(&self, text: &str) {
        match &self.spinner {
            Some(spinner) => {
                spinner.set_message(text.to_owned());
                spinner.tick();
            }
            None => {
                let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
                if last.elapsed() >= INTERVAL {
                    *last = Instant::now();
                    tell(text);
                }
            }
        }
    }

    fn clear(&self) {
        if let Some(spinner) = &self.spinner {
            spinner.set_message("");
            spinner.finish_and_clear();
        }
        *self.last.lock().unwrap_or_else(PoisonError::into_inner) = Instant::now();
    }
}

/// Returns a step for people: its name and cost, then its text.
fn shown(step: &AskStep) -> String {
    let with_note = |text: String, note: &Option<String>| {
        text + &note.as_ref().map(|note| format!("\n({note})")).unwrap_or_default()
    };
    let text = match step {
        AskStep::Mentions { mentions, note, .. } => {
            with_note(serde_json::to_string(mentions).unwrap_or_default(), note)
        }
        AskStep::Candidates { candidates, .. } => candidates.clone(),
        AskStep::Examples { ids } => ids.join("\n"),
        AskStep::Prompt { prompt } => prompt.clone(),
        AskStep::Reply { reply, cut, .. } => format!("{reply}{}", if *cut { "\n(cut off)" } else { "" }),
        AskStep::Query(query) => format!("{}\n{}", query.language.name(), query.query),
        AskStep::Result { total, features, .. } => format!("{total} results, {features} features"),
        AskStep::Feedback { feedback } => feedback.clone(),
        AskStep::Text { text, note, .. } => with_note(text.clone(), note),
    };
    let cost = step.cost().map(cost).unwrap_or_default();
    untrusted::lines(&format!("== {}{cost}\n{}\n", step.name(), text.trim_end())).into_owned()
}

/// Returns the known parts of a step's cost in parentheses.
fn cost(cost: &StepCost) -> String {
    let mut parts = Vec::new();
    if let Some(tokens) = &cost.tokens {
        parts.extend(tokens.prompt.map(|prompt| format!("{prompt} tokens in")));
        parts.extend(cost.timing.and_then(|timing| timing.cached).map(|cached| format!("{cached} of them cached")));
        let about = if tokens.is_estimate { "about " } else { "" };
        parts.extend(tokens.completion.map(|completion| format!("{about}{completion} tokens out")));
    }
    parts.extend(cost.timing.map(|timing| format!("{:.1} s", timing.seconds)));
    if parts.is_empty() { String::new() } else { format!(" ({})", parts.join(", ")) }
}

fn for_people(answer: &QuestionAnswer) -> String {
    let mut out = format!("{}\n", answer.text.trim_end());
    for result in &answer.results {
        table(result, &mut out);
        if let Some(offer) = &result.containment {
            let _ = writeln!(
                out,
                "\nnote: {} items by wdt:P131, and {} with coordinates in the area of {}, by this query:\n{}",
                offer.by_chain, offer.by_geometry, offer.place, offer.query
            );
        }
    }
    untrusted::lines(&out).into_owned()
}

/// Writes the first rows with aligned columns.
fn table(result: &AskedQueryResult, out: &mut String) {
    if result.rows.is_empty() {
        return;
    }
    let cell =
        |text: Option<&str>| -> String { untrusted::line(text.unwrap_or_default()).chars().take(LETTERS).collect() };
    let rows =
        result.rows.iter().take(ROWS).map(|row| row.iter().map(|text| cell(text.as_deref())).collect::<Vec<_>>());
    let mut lines: Vec<Vec<String>> = vec![result.columns.iter().map(|name| cell(Some(name))).collect()];
    lines.extend(rows);
    let widths: Vec<usize> = (0..result.columns.len())
        .map(|at| lines.iter().filter_map(|line| line.get(at)).map(|text| text.chars().count()).max().unwrap_or(0))
        .collect();
    out.push('\n');
    for line in &lines {
        let cells: Vec<String> = line.iter().zip(&widths).map(|(text, width)| format!("{text:<width$}")).collect();
        let _ = writeln!(out, "{}", cells.join("  ").trim_end());
    }
    if result.total > lines.len() as u64 - 1 {
        let _ = writeln!(out, "... {} in all", size::count(result.total));
    }
}
