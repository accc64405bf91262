//! `terrapin eval ask`: asks questions that have gold queries, as `terrapin ask` does, and scores the queries.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{File, OpenOptions};
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use rayon::prelude::*;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use terrapin_chat::{ChatErrorKind, ReplyTiming, ServerIdentity, TokenCounts};

use super::super::model::{ModelArgs, ReportingModel, RequestLimits};
use super::super::{CommandError, open, stdout};
use super::progress::EvalProgress;
use super::{RunArgs, digest, unusable};
use crate::ask::{AskFailure, AskSettings, AskStep, Asker, Lang, UserQuestion, ask, reason};
use crate::budget::Limits;
use crate::engine::{Engine, EngineOptions};
use crate::eval::about::{About, ModelRequests, RunNames, engine};
use crate::eval::benchmarks::jsonl::{self, GoldInstances, JsonLines};
use crate::eval::benchmarks::overpassnl::AnswerBounds;
use crate::eval::cache::NoCache;
use crate::eval::files::write_text;
use crate::eval::language::QueryLanguage;
use crate::eval::record::Instance;
use crate::snapshot::hex;
use crate::stack::STACK;

/// The file of a run's questions: a line with its settings, then a line for each question. Equal runs have equal files.
const ASKED: &str = "asked.jsonl";
/// The file of times, and of data that depends on them: a line for each question.
const TIMES: &str = "times.jsonl";

/// Ask a language model questions as `terrapin ask` does, and score its queries against gold queries
///
/// The file has a question (`nl`, `question` or `instruction`) and a gold query (`gold`, `reference` or `query`) for
/// each, in any form that `terrapin eval jsonl` reads, with `lang` if that is sparql. The last query of the model for a
/// question is its prediction, and is scored as there. Run it with --no-search and with other --repairs, each to a
/// folder of its own, and compare the folders by `terrapin leaderboard` and `terrapin eval compare`. asked.jsonl has
/// the settings and all steps of every question, times.jsonl the times. Equal runs have equal files, except times.jsonl
/// and timings.jsonl. A stopped run resumes and asks no question twice.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  terrapin eval ask malta.terrapin questions.jsonl --model-url http://127.0.0.1:8080/v1 --model-name qwen --out run
  terrapin eval ask malta.terrapin questions.jsonl --no-search --repairs 0 --out bare
  terrapin leaderboard bare run")]
pub struct EvalAskArgs {
    /// The snapshot file
    snapshot: PathBuf,
    /// The questions with their gold queries
    file: PathBuf,
    /// Skip the search for names and things in a question
    #[arg(long)]
    no_search: bool,
    /// Timeout of one question in seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 300)]
    timeout: u64,
    /// Descriptions of keys and tags, which are also searched: data items of OpenStreetMap's wiki as JSON lines, or
    /// taginfo's pages of it (key, value, lang, description) as JSON lines or CSV
    #[arg(long, value_name = "FILE")]
    tag_docs: Option<PathBuf>,
    #[command(flatten)]
    model: ModelArgs,
    #[command(flatten)]
    run: RunArgs,
}

/// The settings of a run. Questions that were asked with other settings are not reused.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
struct RunSettings {
    engine: String,
    snapshot: String,
    questions: String,
    timeout: u64,
    requests: ModelRequests,
}

/// A question with its outcome. Equal in equal runs.
#[derive(Debug, Serialize, Deserialize)]
struct AskedQuestion {
    line: usize,
    query: String,
    repairs: u8,
    /// Number of results of the query, if it ran.
    total: Option<u64>,
    /// The reason why there is no query, or why it does not run.
    problem: Option<String>,
    /// The sum of the tokens of all steps.
    tokens: TokenSum,
    /// The servers that replied.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    servers: BTreeSet<ServerIdentity>,
    steps: serde_json::Value,
}

/// The tokens of a question.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
struct TokenSum {
    prompt: u64,
    completion: u64,
    /// Whether some counts are missing or are estimated from pieces of replies.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    estimate: bool,
}

/// The times of a question. They differ between equal runs.
#[derive(Debug, Serialize, Deserialize)]
struct QuestionTimes {
    line: usize,
    seconds: f64,
    steps: serde_json::Value,
    /// The whole message of a failure, if it contains times.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    error: Option<String>,
}

/// The time of a step.
#[derive(Serialize)]
struct StepTimes {
    step: &'static str,
    #[serde(flatten)]
    timing: ReplyTiming,
}

/// Runs the command.
pub fn run(args: &EvalAskArgs) -> Result<(), CommandError> {
    let asker = args.model.needed()?;
    let GoldInstances { mut instances, unused, .. } = jsonl::read_golds(&args.file).map_err(unusable)?;
    if !unused.is_empty() {
        let names: Vec<&str> = unused.iter().map(String::as_str).collect();
        stdout::tell(&format!("note: unused fields: {}", names.join(", ")));
    }
    if let Some(shard) = args.run.shard {
        instances.retain(|instance| shard.has(instance.line));
    }
    if instances.is_empty() {
        return Err(CommandError::input("empty", format!("{}: no questions", args.file.display())));
    }
    if let Some(instance) =
        instances.iter().find(|instance| instance.nl.as_deref().unwrap_or_default().trim().is_empty())
    {
        let message = format!("{}: line {} has no question (`nl`, `question`)", args.file.display(), instance.line);
        return Err(CommandError::input("lines-unreadable", message));
    }
    let docs = open::tag_docs(args.tag_docs.as_deref())?;
    let snapshot = open::engine_with(&args.snapshot, EngineOptions { docs, ..EngineOptions::default() })?;
    if let (None, Some(instance)) = (snapshot.triples(), instances.iter().find(|instance| jsonl::is_sparql(instance))) {
        let message = format!("line {} is SPARQL, and the snapshot has no triples", instance.line);
        return Err(CommandError::input("no-triples", message));
    }
    let questions = digest(&args.file)?;
    let settings = AskSettings { search: !args.no_search, words: false, ..asker.settings.clone() };
    let RequestLimits { seconds, tokens, extra } = args.model.limits()?;
    let run_settings = RunSettings {
        engine: engine(),
        snapshot: snapshot.digest().to_owned(),
        questions: questions.clone(),
        timeout: args.timeout,
        requests: ModelRequests {
            model: asker.model.name().to_owned(),
            search: settings.search,
            repairs: settings.repairs,
            tokens: tokens.map(|(step, tokens)| (step.to_owned(), tokens)).into(),
            seconds,
            prompts: hex(&Sha256::digest(format!("{:?}", settings.prompts))),
            extra,
            servers: Vec::new(),
        },
    };
    let questioner =
        Questioner { snapshot: &snapshot, asker: &asker, settings, timeout: Duration::from_secs(args.timeout) };
    let servers = questioner.ask_all(&mut instances, &run_settings, args)?;
    let places = snapshot.places(None);
    let cache = args.run.cache.open(Some(&args.snapshot))?;
    let benchmark =
        JsonLines { engine: Some(&snapshot), places: &places, cache: &*cache, bounds: AnswerBounds::default() };
    let about = About {
        benchmark: jsonl::REGISTRATION.name.to_owned(),
        names: RunNames { model: args.model.name().map(str::to_owned), ..RunNames::default() },
        snapshot: Some(snapshot.digest().to_owned()),
        content: snapshot.content(),
        engine: engine(),
        inputs: BTreeMap::from([("instances".to_owned(), questions)]),
        requests: Some(ModelRequests { servers, ..run_settings.requests }),
        ..About::default()
    };
    args.run.score(&benchmark, Some(&snapshot), about, instances, None, &*cache)
}

struct Questioner<'a> {
    snapshot: &'a Engine,
    asker: &'a Asker,
    settings: AskSettings,
    timeout: Duration,
}

impl Questioner<'_> {
    /// Asks the questions that were not asked yet. Their queries become the predictions of the instances. Returns the
    /// servers that replied.
    fn ask_all(
        &self,
        instances: &mut [Instance],
        run_settings: &RunSettings,
        args: &EvalAskArgs,
    ) -> Result<Vec<serde_json::Value>, CommandError> {
        let out = &args.run.folder.out;
        std::fs::create_dir_all(out).map_err(|error| unwritable(out, &error))?;
        let first = serde_json::to_string(run_settings).map_err(|error| CommandError::system("output", error))?;
        let mut known = read_asked(&out.join(ASKED), run_settings, args.run.folder.overwrite)?;
        let mut times: BTreeMap<usize, QuestionTimes> =
            if known.is_empty() { BTreeMap::new() } else { read_times(&out.join(TIMES)) };
        if !known.is_empty() {
            stdout::tell(&format!("{} of {} questions are already answered", known.len(), instances.len()));
        }
        // A killed run may end in half a line.
        write_asked(&out.join(ASKED), &first, known.values())?;
        write_times(&out.join(TIMES), times.values())?;
        let (asked_file, times_file) = (LineFile::open(&out.join(ASKED))?, LineFile::open(&out.join(TIMES))?);
        let progress = EvalProgress::new(instances.len(), known.len(), &NoCache);
        let threads = args.run.threads.map_or(1, usize::from);
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).stack_size(STACK).build();
        let pool = pool.map_err(|error| CommandError::system("threads", error))?;
        let open: Vec<&Instance> = instances.iter().filter(|instance| !known.contains_key(&instance.line)).collect();
        let new: Result<Vec<(AskedQuestion, QuestionTimes)>, CommandError> = pool.install(|| {
            open.par_iter()
                .map(|instance| {
                    let (asked, times) = self.ask_one(instance, &|text| progress.waiting(text))?;
                    times_file.append(&times)?;
                    asked_file.append(&asked)?;
                    progress.advance();
                    Ok((asked, times))
                })
                .collect()
        });
        progress.finish();
        for (asked, time) in new? {
            times.insert(time.line, time);
            known.insert(asked.line, asked);
        }
        // With several threads the lines were appended in another order.
        write_asked(&out.join(ASKED), &first, known.values())?;
        write_times(&out.join(TIMES), times.values())?;
        for instance in instances.iter_mut() {
            instance.pred = known.get(&instance.line).map_or_else(String::new, |asked| asked.query.clone());
        }
        report(instances, &known, &times);
        let servers = distinct(known.values().flat_map(|asked| asked.servers.iter().cloned()));
        Ok(servers.into_iter().filter_map(|server| serde_json::to_value(server).ok()).collect())
    }

    /// Asks one question. A failure of the model that concerns this question alone is its answer; any other ends the
    /// run, to be resumed later.
    fn ask_one(
        &self,
        instance: &Instance,
        waiting: &(dyn Fn(&str) + Sync),
    ) -> Result<(AskedQuestion, QuestionTimes), CommandError> {
        let began = Instant::now();
        let language = if jsonl::is_sparql(instance) { QueryLanguage::Sparql } else { QueryLanguage::OverpassQl };
        let settings = AskSettings { only: Some(language), ..self.settings.clone() };
        let question = UserQuestion { question: instance.nl.clone().unwrap_or_default(), ..UserQuestion::default() };
        let limits = Limits { deadline: began.checked_add(self.timeout), ..Limits::default() };
        let model = ReportingModel { model: &*self.asker.model, report: waiting };
        let mut steps: Vec<AskStep> = Vec::new();
        let answer = ask(self.snapshot, &model, &settings, &question, &limits, &mut |step| steps.push(step.clone()));
        let query = steps.iter().rev().find_map(|step| match step {
            AskStep::Query(query) if query.language == Lang::from(language) => Some(query.query.clone()),
            _ => None,
        });
        let mut message = None;
        let (repairs, total, problem) = match answer {
            Ok(answer) => (answer.repairs, answer.results.first().map(|result| result.total), answer.problem),
            Err(AskFailure::Model(error))
                if matches!(
                    error.kind,
                    ChatErrorKind::Late | ChatErrorKind::Broken | ChatErrorKind::Refused | ChatErrorKind::TooLong
                ) =>
            {
                message = (error.kind == ChatErrorKind::Late).then(|| error.to_string());
                (0, None, Some(reason(&error)))
            }
            Err(AskFailure::Exceeded(exceeded)) => (0, None, Some(exceeded.to_string())),
            Err(failure) => {
                let message = format!("line {}: {failure}; the same command resumes the run", instance.line);
                return Err(CommandError::system("model", message));
            }
        };
        let costs = || steps.iter().filter_map(AskStep::cost);
        let step_times: Vec<StepTimes> = steps
            .iter()
            .filter_map(|step| Some(StepTimes { step: step.name(), timing: step.cost()?.timing? }))
            .collect();
        let mut seconds = ReplyTiming::default();
        seconds.set_time(began.elapsed());
        let times = QuestionTimes {
            line: instance.line,
            seconds: seconds.seconds,
            steps: serde_json::to_value(&step_times).unwrap_or_default(),
            error: message,
        };
        let asked = AskedQuestion {
            line: instance.line,
            query: query.unwrap_or_default(),
            repairs,
            total,
            problem,
            tokens: token_sum(costs().map(|cost| cost.tokens)),
            servers: distinct(costs().filter_map(|cost| cost.server.clone())),
            steps: serde_json::to_value(&steps).unwrap_or_default(),
        };
        Ok((asked, times))
    }
}

/// Returns the distinct servers. A reply that is not read to its end may lack the context length of its server.
fn distinct(servers: impl Iterator<Item = ServerIdentity>) -> BTreeSet<ServerIdentity> {
    let all: BTreeSet<ServerIdentity> = servers.collect();
    let is_known = |server: &ServerIdentity| {
        let mut others = all.iter().filter(|other| other.context.is_some());
        others.any(|other| other.model == server.model && other.fingerprint == server.fingerprint)
    };
    all.iter().filter(|server| server.context.is_some() || !is_known(server)).cloned().collect()
}

fn token_sum(all: impl Iterator<Item = Option<TokenCounts>>) -> TokenSum {
    let (mut sum, mut is_partial) = (TokenCounts::default(), false);
    for tokens in all {
        let tokens = tokens.unwrap_or_default();
        is_partial |= tokens.is_estimate || tokens.prompt.is_none() || tokens.completion.is_none();
        sum.add(&tokens);
    }
    TokenSum {
        prompt: sum.prompt.unwrap_or_default(),
        completion: sum.completion.unwrap_or_default(),
        estimate: is_partial,
    }
}

fn unwritable(path: &Path, error: &dyn std::fmt::Display) -> CommandError {
    CommandError::system("output", format!("{}: {error}", path.display()))
}

/// A file to which threads append lines.
struct LineFile {
    path: PathBuf,
    file: Mutex<File>,
}

impl LineFile {
    fn open(path: &Path) -> Result<LineFile, CommandError> {
        let file = OpenOptions::new().append(true).open(path).map_err(|error| unwritable(path, &error))?;
        Ok(LineFile { path: path.to_owned(), file: Mutex::new(file) })
    }

    fn append(&self, value: &impl Serialize) -> Result<(), CommandError> {
        let line = serde_json::to_string(value).map_err(|error| unwritable(&self.path, &error))?;
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        let written = file.write_all(format!("{line}\n").as_bytes()).and_then(|()| file.flush());
        written.map_err(|error| unwritable(&self.path, &error))
    }
}

/// Reads the questions that were asked with the same settings, by line.
fn read_asked(
    path: &Path,
    run_settings: &RunSettings,
    overwrite: bool,
) -> Result<BTreeMap<usize, AskedQuestion>, CommandError> {
    let Ok(file) = File::open(path) else { return Ok(BTreeMap::new()) };
    let mut lines = BufReader::new(file).lines().map_while(Result::ok);
    let Some(first) = lines.next() else { return Ok(BTreeMap::new()) };
    if serde_json::from_str::<RunSettings>(&first).ok().as_ref() != Some(run_settings) {
        if overwrite {
            return Ok(BTreeMap::new());
        }
        return Err(CommandError::usage(format!(
            "{}: the folder has a run with other settings; use another folder, or replace that run with --overwrite",
            path.display()
        )));
    }
    Ok(whole_lines(lines).map(|asked: AskedQuestion| (asked.line, asked)).collect())
}

fn read_times(path: &Path) -> BTreeMap<usize, QuestionTimes> {
    let Ok(file) = File::open(path) else { return BTreeMap::new() };
    let lines = BufReader::new(file).lines().map_while(Result::ok);
    whole_lines(lines).map(|times: QuestionTimes| (times.line, times)).collect()
}

/// Returns the values up to a line that a killed run left half written.
fn whole_lines<T: DeserializeOwned>(lines: impl Iterator<Item = String>) -> impl Iterator<Item = T> {
    lines.map_while(|line| serde_json::from_str(&line).ok())
}

fn write_asked<'a>(
    path: &Path,
    first: &str,
    asked: impl Iterator<Item = &'a AskedQuestion>,
) -> Result<(), CommandError> {
    write_text(path, &format!("{first}\n{}", lines(path, asked)?)).map_err(super::unwritten)
}

fn write_times<'a>(path: &Path, times: impl Iterator<Item = &'a QuestionTimes>) -> Result<(), CommandError> {
    write_text(path, &lines(path, times)?).map_err(super::unwritten)
}

fn lines<'a, T: Serialize + 'a>(path: &Path, values: impl Iterator<Item = &'a T>) -> Result<String, CommandError> {
    let mut text = String::new();
    for value in values {
        text.push_str(&serde_json::to_string(value).map_err(|error| unwritable(path, &error))?);
        text.push('\n');
    }
    Ok(text)
}

/// Prints repairs, failures, tokens and time of the questions.
fn report(instances: &[Instance], known: &BTreeMap<usize, AskedQuestion>, times: &BTreeMap<usize, QuestionTimes>) {
    let asked: Vec<&AskedQuestion> = instances.iter().filter_map(|instance| known.get(&instance.line)).collect();
    let repaired: Vec<String> = (0..=3)
        .map(|n| (n, asked.iter().filter(|asked| asked.repairs == n).count()))
        .filter(|(_, count)| *count > 0)
        .map(|(n, count)| format!("{count} with {n}"))
        .collect();
    let empty = asked.iter().filter(|asked| asked.problem.is_none() && asked.total == Some(0)).count();
    let failed = asked.iter().filter(|asked| asked.problem.is_some()).count();
    stdout::tell(&format!(
        "asked {} questions; repairs: {}; {empty} with an empty result; {failed} without a valid query",
        asked.len(),
        repaired.join(", ")
    ));
    let sum = |count: fn(&TokenSum) -> u64| asked.iter().map(|asked| count(&asked.tokens)).fold(0, u64::saturating_add);
    let about = if asked.iter().any(|asked| asked.tokens.estimate) { "at least " } else { "" };
    let seconds: f64 = asked.iter().filter_map(|asked| times.get(&asked.line)).map(|times| times.seconds).sum();
    stdout::tell(&format!(
        "tokens: {about}{} in prompts, {about}{} in replies; {seconds:.0} s",
        sum(|tokens| tokens.prompt),
        sum(|tokens| tokens.completion)
    ));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_is_listed_once() {
        let server =
            |model: &str, context| ServerIdentity { model: Some(model.to_owned()), fingerprint: None, context };
        let all = [server("a", None), server("a", Some(8192)), server("a", None), server("b", None)];
        let listed: Vec<_> = distinct(all.into_iter()).into_iter().collect();
        assert_eq!(listed, [server("a", Some(8192)), server("b", None)]);
    }

    #[test]
    fn a_sum_with_missing_counts_is_an_estimate() {
        let counts = |prompt, completion| Some(TokenCounts { prompt, completion, is_estimate: false });
        let sum = |all: &[Option<TokenCounts>]| token_sum(all.iter().copied());
        let whole = TokenSum { prompt: 30, completion: 3, estimate: false };
        assert_eq!(sum(&[counts(Some(10), Some(1)), counts(Some(20), Some(2))]), whole);
        assert!(sum(&[counts(Some(10), None)]).estimate && sum(&[None]).estimate);
        assert_eq!(sum(&[]), TokenSum::default());
    }
}
