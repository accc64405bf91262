//! `terrapin ask`: a question in plain language, answered by a model's queries over a snapshot.

use std::fmt::Write;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::json;

use super::model::ModelArgs;
use super::query::text_of;
use super::stdout::{print, print_json, tell};
use super::{Error, open, slips};
use crate::agents::World;
use crate::ask::{Answer, Failure, Question, Ran, Settings, Step, ask};
use crate::base::untrusted;
use crate::budget::Limits;
use crate::size;
use crate::sparql::Environment;
use crate::tags::Tags;

/// Rows of a result that people are shown, and letters of a cell.
const ROWS: usize = 20;
const LETTERS: usize = 40;

/// Answer a question in plain language, by the queries that a language model writes
///
/// The model is one that you bring: any server that speaks the protocol of OpenAI's chat completions, such as llama.cpp, vLLM
/// or Ollama. What the question mentions is looked up in the snapshot, so that the model has real tags and identifiers; its query
/// is run; one that fails or finds nothing goes back to it with what is wrong. The model gets the question, what was looked up
/// and the first rows of results; nothing else leaves the machine, and nothing at all without --model-url.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  terrapin ask malta.terrapin 'Which museums are in Valletta?' --model-url http://127.0.0.1:8080/v1 --model-name qwen
  terrapin ask malta.terrapin 'Where are beaches?' --format geojson > beaches.geojson
  terrapin ask malta.terrapin 'How many bus stops are there?' --context 'in Sliema' --show-steps")]
pub struct Args {
    /// The snapshot file
    snapshot: PathBuf,
    /// The question; `-` reads it from standard input
    question: String,
    /// What else there is to know: what is meant, what counts, what to show
    #[arg(long, value_name = "TEXT", default_value = "")]
    context: String,
    /// What is printed: the answer in words with the first rows, all of it as JSON, or its places as GeoJSON
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
    /// Tell each step on standard error: what was looked up, the prompt, the queries, what was wrong with them
    #[arg(long)]
    show_steps: bool,
    /// Look nothing up before a query is written
    #[arg(long)]
    no_search: bool,
    /// What keys and tags mean, to be searched, too: data items of OpenStreetMap's wiki as JSON lines, or taginfo's pages of it
    /// (key, value, lang, description) as JSON lines or CSV
    #[arg(long, value_name = "FILE")]
    tag_docs: Option<PathBuf>,
    /// Seconds that the whole may take
    #[arg(long, value_name = "SECONDS", default_value_t = 300)]
    timeout: u64,
    /// The memory that queries may hold
    #[arg(long, value_name = "SIZE", value_parser = size::parse)]
    memory: Option<u64>,
    #[command(flatten)]
    model: ModelArgs,
    /// Give errors as one JSON object
    #[arg(long)]
    json: bool,
}

/// What is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Format {
    /// The answer in words, and the first rows
    Text,
    /// All of it, as one JSON object
    Json,
    /// Its places
    Geojson,
}

/// Runs the command.
pub fn run(args: &Args) -> Result<(), Error> {
    let asker = args.model.needed()?;
    let (question, _) = match args.question.as_str() {
        "-" => text_of(Some("-"), None)?,
        text => (text.to_owned(), String::new()),
    };
    slips::no_address(&args.snapshot)?;
    let (opened, osm) = open::elements(&args.snapshot)?;
    let triples = Environment::open_beside(&opened.snapshot, &osm).map_err(open::error)?;
    let tags = Tags::new(Arc::clone(&osm), open::tag_docs(args.tag_docs.as_deref())?);
    let digest = opened.snapshot.digest();
    let elements = Environment::of_elements(Arc::clone(&osm), Some(&opened.manifest), &digest);
    let graph = triples.as_ref().unwrap_or(&elements);
    let world = World { tags: &tags, triples: triples.as_ref(), graph, digest: &digest, manifest: &opened.manifest };
    let limits = Limits {
        deadline: Instant::now().checked_add(Duration::from_secs(args.timeout)),
        memory: args.memory,
        ..Limits::default()
    };
    let settings = Settings { search: !args.no_search, words: args.format != Format::Geojson, ..asker.settings };
    let question = Question { question, context: args.context.clone(), ..Question::default() };
    let mut show = |step: &Step| {
        if args.show_steps {
            tell(&shown(step));
        }
    };
    let answer = ask(world, &*asker.model, &settings, &question, &limits, &mut show);
    osm.check().map_err(open::error)?;
    let answer = answer.map_err(failed)?;
    match args.format {
        Format::Text => print(&for_people(&answer))?,
        Format::Json => print_json(&answer)?,
        Format::Geojson => {
            if answer.features.is_none() && answer.problem.is_none() {
                tell(&format!("note: the answer is nothing for a map: {}", answer.text));
            }
            match &answer.features {
                Some(features) => print_json(features)?,
                None => print_json(&json!({"type": "FeatureCollection", "features": []}))?,
            }
        }
    }
    match answer.problem {
        Some(problem) => Err(Error::refused("no-answer", format!("no query answers this: {}", problem.trim_end()))),
        None => Ok(()),
    }
}

/// Why there is no answer, as what ends a command.
pub fn failed(failure: Failure) -> Error {
    match failure {
        Failure::Question(message) => Error::usage(message),
        failure @ Failure::Model(_) => Error::system("model", failure),
        Failure::Exceeded(exceeded) => Error::refused("stopped", exceeded),
        Failure::Fault(message) => Error::input("snapshot-damaged", message),
    }
}

/// A step: its name, then what it says.
fn shown(step: &Step) -> String {
    let text = match step {
        Step::Mentions { mentions, note } => {
            let note = note.as_ref().map(|note| format!("\n({note})")).unwrap_or_default();
            serde_json::to_string(mentions).unwrap_or_default() + &note
        }
        Step::Candidates { candidates } => candidates.clone(),
        Step::Prompt { prompt } => prompt.clone(),
        Step::Reply { reply, cut } => format!("{reply}{}", if *cut { "\n(cut off)" } else { "" }),
        Step::Query(query) => format!("{}\n{}", query.language.name(), query.query),
        Step::Result { total, features, .. } => format!("{total} results, {features} features"),
        Step::Feedback { feedback } => feedback.clone(),
        Step::Text { text } => text.clone(),
    };
    untrusted::lines(&format!("== {}\n{}\n", step.name(), text.trim_end())).into_owned()
}

fn for_people(answer: &Answer) -> String {
    let mut out = format!("{}\n", answer.text.trim_end());
    for ran in &answer.results {
        table(ran, &mut out);
    }
    untrusted::lines(&out).into_owned()
}

/// The first rows, with aligned columns.
fn table(ran: &Ran, out: &mut String) {
    if ran.rows.is_empty() {
        return;
    }
    let cell =
        |text: Option<&str>| -> String { untrusted::line(text.unwrap_or_default()).chars().take(LETTERS).collect() };
    let rows = ran.rows.iter().take(ROWS).map(|row| row.iter().map(|text| cell(text.as_deref())).collect::<Vec<_>>());
    let mut lines: Vec<Vec<String>> = vec![ran.columns.iter().map(|name| cell(Some(name))).collect()];
    lines.extend(rows);
    let widths: Vec<usize> = (0..ran.columns.len())
        .map(|at| lines.iter().filter_map(|line| line.get(at)).map(|text| text.chars().count()).max().unwrap_or(0))
        .collect();
    out.push('\n');
    for line in &lines {
        let cells: Vec<String> = line.iter().zip(&widths).map(|(text, width)| format!("{text:<width$}")).collect();
        let _ = writeln!(out, "{}", cells.join("  ").trim_end());
    }
    if ran.total > lines.len() as u64 - 1 {
        let _ = writeln!(out, "... {} in all", size::count(ran.total));
    }
}
