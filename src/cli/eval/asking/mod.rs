//! Asks a language model all questions of a file and scores its queries: the common part of `terrapin eval ask` and
//! `terrapin eval refine`.
//!
//! ```text
//! questions.rs  the questions of a file
//! journal.rs    the files of asked questions and of their times
//! report.rs     totals of a run
//! ```

mod journal;
mod questions;
mod report;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use rayon::prelude::*;
use sha2::{Digest, Sha256};
use terrapin_chat::{ChatErrorKind, Patience, ReplyTiming, ServerIdentity, TokenCounts};

use super::super::examples::{ExampleArgs, ReadExamples};
use super::super::model::{ModelArgs, ReportingModel, RequestLimits};
use super::super::{CommandError, open, stdout};
use super::dialect::DialectArgs;
use super::jsonl::on_member;
use super::progress::EvalProgress;
use super::suite::SuiteArgs;
use super::system::{AskedSystem, SYSTEM};
use super::{RunArgs, RunSnapshots};
use crate::ask::{
    AskBaseline, AskFailure, AskSettings, AskStep, Asker, Hypothesis, Lang, ModelQuery, NoModel, PromptTemplate,
    QuestionAnswer, UserQuestion, ask, last_query,
};
use crate::budget::Limits;
use crate::engine::{Engine, EngineOptions};
use crate::eval::about::{About, ModelRequests, RefineSettings, RunNames, engine};
use crate::eval::benchmarks::jsonl::{self, JsonLines};
use crate::eval::benchmarks::overpassnl::AnswerBounds;
use crate::eval::cache::NoCache;
use crate::eval::record::Instance;
use crate::snapshot::hex;
use crate::stack::STACK;

use journal::{
    AskedQuestion, LineFile, QuestionTimes, RunSettings, StepTimes, TokenSum, read_asked, read_times, unwritable,
    write_asked, write_times,
};

pub use questions::{Questions, read};

/// The file of a run's questions: a line with its settings, then a line for each question. Equal runs have equal files.
const ASKED: &str = "asked.jsonl";
/// The file of times, and of data that depends on them: a line for each question.
const TIMES: &str = "times.jsonl";

/// The options of both commands.
pub struct AskOptions<'a> {
    /// The snapshot file.
    pub snapshot: &'a Path,
    /// Descriptions of tags.
    pub tag_docs: Option<&'a Path>,
    /// Whether the mentions of questions are looked up.
    pub search: bool,
    /// Timeout of one question in seconds.
    pub timeout: u64,
    /// The model.
    pub model: &'a ModelArgs,
    /// Examples and prompt.
    pub examples: &'a ExampleArgs,
    /// The dialect in which queries in SPARQL are scored.
    pub dialect: Option<DialectArgs>,
    /// The suite.
    pub suite: &'a SuiteArgs,
    /// The run.
    pub run: &'a RunArgs,
    /// The baseline that answers instead of a model.
    pub baseline: Option<AskBaseline>,
    /// The refinement of given queries, which are the predictions of the questions.
    pub refine: Option<RefineSettings>,
    /// The system that answers instead of a model.
    pub system: Option<AskedSystem>,
}

/// Asks the questions and scores the queries. `inputs` are the digests of further files.
pub fn run(
    options: &AskOptions<'_>,
    questions: Questions,
    mut inputs: BTreeMap<String, String>,
) -> Result<(), CommandError> {
    let asker = match &options.system {
        Some(_) => Asker { model: Box::new(NoModel), settings: AskSettings { repairs: 0, ..AskSettings::default() } },
        None => match options.baseline {
            Some(baseline) => super::super::examples::baseline(baseline, options.examples)?,
            None => options.model.needed()?,
        },
    };
    let Questions { mut instances, digest } = questions;
    let docs = open::tag_docs(options.tag_docs)?;
    let snapshot = open::engine_with(options.snapshot, EngineOptions { docs, ..EngineOptions::default() })?;
    check(&snapshot, options, &instances)?;
    let suite = options.suite.open(Some(&snapshot), |path| options.run.cache.open(Some(path)))?;
    if instances.iter().any(jsonl::is_sparql) {
        suite.need_triples()?;
    }
    let examples = options.examples.read()?;
    let mut settings = asker.settings.clone();
    settings.words = false;
    settings.map = options.system.is_none();
    settings.search = options.search && settings.baseline.is_none() && options.system.is_none();
    options.examples.apply(&mut settings);
    if options.refine.is_some() {
        settings = AskSettings { template: PromptTemplate::OverpassNlRefine, repairs: 0, search: false, ..settings };
    }
    let run_settings = RunSettings {
        engine: engine(),
        snapshot: snapshot.digest().to_owned(),
        questions: digest.clone(),
        hypotheses: inputs.get("hypotheses").cloned(),
        timeout: options.timeout,
        requests: requests(options, &asker, &settings, examples.as_ref())?,
    };
    let timeout = Duration::from_secs(options.timeout);
    let mut questioner = Questioner {
        snapshot: &snapshot,
        asker: &asker,
        settings,
        timeout,
        refine: options.refine.as_ref(),
        system: options.system.as_ref(),
    };
    let dialect = options.dialect.and_then(|dialect| dialect.apply(&mut instances));
    let servers = questioner.ask_all(&mut instances, &run_settings, examples, options)?;
    let places = snapshot.places(None);
    let cache = options.run.cache.open(Some(options.snapshot))?;
    let benchmark = JsonLines {
        engine: Some(&snapshot),
        places: &places,
        similarity: true,
        cache: &*cache,
        bounds: AnswerBounds::default(),
    };
    inputs.insert("instances".to_owned(), digest);
    let has_model = options.baseline.is_none() && options.system.is_none();
    let model = options.model.name().filter(|_| has_model).map(str::to_owned);
    let about = About {
        benchmark: jsonl::REGISTRATION.name.to_owned(),
        names: RunNames { model, ..RunNames::default() },
        snapshot: Some(snapshot.digest().to_owned()),
        content: snapshot.content(),
        engine: engine(),
        inputs,
        dialect,
        requests: Some(ModelRequests { servers, ..run_settings.requests }),
        ..About::default()
    };
    let snapshots = RunSnapshots { first: Some(&snapshot), suite: &suite };
    suite.score(&benchmark, None, &on_member, |benchmark| {
        options.run.score(benchmark, snapshots, about, instances, None, &*cache)
    })
}

/// Rejects questions that the snapshot or the prompt cannot answer.
fn check(snapshot: &Engine, options: &AskOptions<'_>, instances: &[Instance]) -> Result<(), CommandError> {
    if let (None, Some(instance)) = (snapshot.triples(), instances.iter().find(|instance| jsonl::is_sparql(instance))) {
        let message = format!("line {} is SPARQL, and the snapshot has no triples", instance.line);
        return Err(CommandError::input("no-triples", message));
    }
    let template = match options.refine {
        Some(_) => PromptTemplate::OverpassNlRefine,
        None => options.examples.template(),
    };
    let Some(language) = template.language() else { return Ok(()) };
    match instances.iter().find(|instance| Lang::from(instance.language()) != language) {
        Some(instance) => Err(CommandError::usage(format!(
            "the prompt {} is for {}, and line {} has another language",
            template.name(),
            language.name(),
            instance.line
        ))),
        None => Ok(()),
    }
}

/// Returns the settings of requests for the record of the run.
fn requests(
    options: &AskOptions<'_>,
    asker: &Asker,
    settings: &AskSettings,
    examples: Option<&ReadExamples>,
) -> Result<ModelRequests, CommandError> {
    let RequestLimits { seconds, tokens, extra } = options.model.limits()?;
    let tokens = tokens.map(|(step, tokens)| (step.to_owned(), tokens)).into();
    let is_model = settings.baseline.is_none() && options.system.is_none();
    let name = if options.system.is_some() { SYSTEM } else { asker.model.name() };
    Ok(ModelRequests {
        model: name.to_owned(),
        search: settings.search,
        repairs: settings.repairs,
        tokens: if is_model { tokens } else { BTreeMap::new() },
        seconds: if is_model { seconds } else { 0 },
        prompts: hex(&Sha256::digest(format!("{:?}", settings.prompts))),
        extra: extra.filter(|_| is_model),
        constrain: settings.constraint.filter(|_| is_model).map(|constraint| constraint.name().to_owned()),
        prompt: Some(settings.template)
            .filter(|template| *template != PromptTemplate::Default)
            .map(|template| template.name().to_owned()),
        examples: examples.map(|examples| examples.settings.clone()),
        refine: options.refine.clone(),
        system: options.system.as_ref().map(|system| system.settings.clone()),
        servers: Vec::new(),
    })
}

struct Questioner<'a> {
    snapshot: &'a Engine,
    asker: &'a Asker,
    settings: AskSettings,
    timeout: Duration,
    refine: Option<&'a RefineSettings>,
    system: Option<&'a AskedSystem>,
}

impl Questioner<'_> {
    /// Asks the questions that were not asked yet. Their queries become the predictions of the instances. Returns the
    /// servers that replied.
    fn ask_all(
        &mut self,
        instances: &mut [Instance],
        run_settings: &RunSettings,
        examples: Option<ReadExamples>,
        options: &AskOptions<'_>,
    ) -> Result<Vec<serde_json::Value>, CommandError> {
        let out: PathBuf = options.run.folder.out.clone();
        std::fs::create_dir_all(&out).map_err(|error| unwritable(&out, &error))?;
        let first = serde_json::to_string(run_settings).map_err(|error| CommandError::system("output", error))?;
        let mut known = read_asked(&out.join(ASKED), run_settings, options.run.folder.overwrite)?;
        let mut times: BTreeMap<usize, QuestionTimes> =
            if known.is_empty() { BTreeMap::new() } else { read_times(&out.join(TIMES)) };
        if !known.is_empty() {
            stdout::tell(&format!("{} of {} questions are already answered", known.len(), instances.len()));
        }
        // A killed run may end in half a line.
        write_asked(&out.join(ASKED), &first, known.values())?;
        write_times(&out.join(TIMES), times.values())?;
        self.prepare_examples(examples, instances, options)?;
        let (asked_file, times_file) = (LineFile::open(&out.join(ASKED))?, LineFile::open(&out.join(TIMES))?);
        let progress = EvalProgress::new(instances.len(), known.len(), &NoCache);
        // A server usually replies to one request at a time; the baseline needs all cores.
        let threads = options.run.threads.map_or(usize::from(options.baseline.is_none()), usize::from);
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
        report::print(instances, &known, &times);
        let servers = distinct(known.values().flat_map(|asked| asked.servers.iter().cloned()));
        Ok(servers.into_iter().filter_map(|server| serde_json::to_value(server).ok()).collect())
    }

    /// Prepares the selection of examples for all questions, in their order, so that the file of embeddings does not
    /// depend on threads.
    fn prepare_examples(
        &mut self,
        examples: Option<ReadExamples>,
        instances: &[Instance],
        options: &AskOptions<'_>,
    ) -> Result<(), CommandError> {
        let Some(examples) = examples else { return Ok(()) };
        let selector = examples.into_selector(options.model, Some(&options.run.folder.out))?;
        let questions: Vec<&str> = instances.iter().filter_map(|instance| instance.nl.as_deref()).collect();
        let patience = Patience { deadline: None, cancelled: &AtomicBool::new(false) };
        let prepared = selector.prepare(&questions, patience);
        prepared
            .map_err(|error| CommandError::system("model", format!("{error}; the same command resumes the run")))?;
        self.settings.examples = Some(selector);
        Ok(())
    }

    /// Asks one question. A failure of the model that concerns this question alone is its answer; any other ends the
    /// run, to be resumed later.
    fn ask_one(
        &self,
        instance: &Instance,
        waiting: &(dyn Fn(&str) + Sync),
    ) -> Result<(AskedQuestion, QuestionTimes), CommandError> {
        let began = Instant::now();
        let language = instance.language();
        let settings = AskSettings { only: Some(language), ..self.settings.clone() };
        let limits = Limits { deadline: began.checked_add(self.timeout), ..Limits::default() };
        let mut steps: Vec<AskStep> = Vec::new();
        let answer = self.answer(instance, &settings, &limits, waiting, &mut |step| steps.push(step.clone()));
        let query = last_query(&steps, Lang::from(language)).map(str::to_owned);
        let mut message = None;
        let (mut has_chain, mut containment) = (false, None);
        let (repairs, total, problem) = match answer {
            Ok(mut answer) => {
                if let Some(result) = answer.results.first_mut() {
                    (has_chain, containment) = (result.has_chain, result.containment.take());
                }
                (answer.repairs, answer.results.first().map(|result| result.total), answer.problem)
            }
            Err(AskFailure::Model(error)) if self.is_of_question(error.kind) => {
                message = (error.kind == ChatErrorKind::Late).then(|| error.to_string());
                (0, None, Some(error.stable_message()))
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
            has_chain,
            containment,
            tokens: token_sum(costs().map(|cost| cost.tokens)),
            servers: distinct(costs().filter_map(|cost| cost.server.clone())),
            steps: serde_json::to_value(&steps).unwrap_or_default(),
        };
        Ok((asked, times))
    }

    /// Lets the model answer, or runs the query of the system.
    fn answer(
        &self,
        instance: &Instance,
        settings: &AskSettings,
        limits: &Limits,
        waiting: &(dyn Fn(&str) + Sync),
        tell: &mut dyn FnMut(&AskStep),
    ) -> Result<QuestionAnswer, AskFailure> {
        let mut question = self.question(instance);
        if let Some(system) = self.system {
            waiting("waiting for the system");
            let patience = Patience { deadline: limits.deadline, cancelled: &AtomicBool::new(false) };
            let query = system.client.query(&question.question, patience)?;
            question.queries = Some(vec![ModelQuery { language: instance.language().into(), query }]);
        }
        let model = ReportingModel { model: &*self.asker.model, report: waiting };
        ask(self.snapshot, &model, settings, &question, limits, tell)
    }

    /// Returns whether a failure concerns one question. A system may fail on a question and answer the next one.
    fn is_of_question(&self, kind: ChatErrorKind) -> bool {
        match kind {
            ChatErrorKind::Late | ChatErrorKind::Broken | ChatErrorKind::Refused | ChatErrorKind::TooLong => true,
            ChatErrorKind::Fault => self.system.is_some(),
            _ => false,
        }
    }

    /// Returns the question of an instance, with its hypothesis if that is to be refined.
    fn question(&self, instance: &Instance) -> UserQuestion {
        let hypothesis = self.refine.map(|refine| Hypothesis {
            query: ModelQuery { language: instance.language().into(), query: instance.pred.clone() },
            has_feedback: refine.feedback,
            is_only_for_errors: refine.only == "errors",
        });
        let question = instance.nl.clone().unwrap_or_default();
        UserQuestion { question, bbox: instance.bbox.clone(), hypothesis, ..UserQuestion::default() }
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
