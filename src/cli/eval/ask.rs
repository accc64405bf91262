//! `terrapin eval ask`: questions with gold queries, asked as `terrapin ask` asks them; the queries that came of it are scored.

use std::collections::{BTreeMap, HashMap};
use std::fs::{File, OpenOptions};
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use terrapin_chat::Kind;

use super::super::model::ModelArgs;
use super::super::{Error, open, stdout};
use super::progress::Progress;
use super::{RunArgs, digest, unusable};
use crate::agents::World;
use crate::ask::{Asker, Failure, Lang, Question, Settings, Step, ask};
use crate::budget::Limits;
use crate::eval::about::{About, Names, engine};
use crate::eval::benchmarks::jsonl::{self, Golds, JsonLines};
use crate::eval::benchmarks::overpassnl::Bounds;
use crate::eval::cache::NoCache;
use crate::eval::files::write_text;
use crate::eval::language::Language;
use crate::eval::record::Instance;
use crate::geocoder::Areas;
use crate::sparql::Environment;
use crate::stack::STACK;
use crate::tags::Tags;

/// What was asked, in the run's folder: a line says how, then there is one for each question.
const ASKED: &str = "asked.jsonl";

/// Ask a language model questions as `terrapin ask` does, and score the queries that come of it against gold ones
///
/// The file has a question (`nl`, `question` or `instruction`) and a gold query (`gold`, `reference` or `query`) for each, in any form
/// that `terrapin eval jsonl` reads, with `lang` where that is sparql. The last query that the model wrote for a question is its
/// prediction, and is scored as there. Run it with --no-search and with other --repairs, each to a folder of its own, and compare
/// the folders by `terrapin leaderboard` and `terrapin eval compare`. What was asked and every step are in asked.jsonl beside the
/// scores: a run that was stopped goes on there, and asks nothing twice.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  terrapin eval ask malta.terrapin questions.jsonl --model-url http://127.0.0.1:8080/v1 --model-name qwen --out run
  terrapin eval ask malta.terrapin questions.jsonl --no-search --repairs 0 --out bare
  terrapin leaderboard bare run")]
pub struct Args {
    /// The snapshot file
    snapshot: PathBuf,
    /// The questions with their gold queries
    file: PathBuf,
    /// Look nothing up before a query is written
    #[arg(long)]
    no_search: bool,
    /// Seconds that one question may take
    #[arg(long, value_name = "SECONDS", default_value_t = 300)]
    timeout: u64,
    /// What keys and tags mean, to be searched, too: data items of OpenStreetMap's wiki as JSON lines, or taginfo's pages of it
    /// (key, value, lang, description) as JSON lines or CSV
    #[arg(long, value_name = "FILE")]
    tag_docs: Option<PathBuf>,
    #[command(flatten)]
    model: ModelArgs,
    #[command(flatten)]
    run: RunArgs,
}

/// How questions are asked: what makes one run another.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
struct How {
    engine: String,
    snapshot: String,
    questions: String,
    model: String,
    search: bool,
    repairs: u8,
    prompts: String,
}

/// What came of a question.
#[derive(Debug, Serialize, Deserialize)]
struct Asked {
    line: usize,
    query: String,
    repairs: u8,
    /// How many results the query gave, where it ran.
    total: Option<u64>,
    /// Why there is no query, or none that runs.
    problem: Option<String>,
    ms: u64,
    steps: serde_json::Value,
}

/// Runs the command.
pub fn run(args: &Args) -> Result<(), Error> {
    let asker = args.model.needed()?;
    let Golds { mut instances, unused, .. } = jsonl::read_golds(&args.file).map_err(unusable)?;
    if !unused.is_empty() {
        let names: Vec<&str> = unused.iter().map(String::as_str).collect();
        stdout::tell(&format!("note: fields that nothing here uses: {}", names.join(", ")));
    }
    if let Some(shard) = args.run.shard {
        instances.retain(|instance| shard.has(instance.line));
    }
    if instances.is_empty() {
        return Err(Error::input("empty", format!("{}: there is no line to ask", args.file.display())));
    }
    if let Some(instance) =
        instances.iter().find(|instance| instance.nl.as_deref().unwrap_or_default().trim().is_empty())
    {
        let message = format!("{}: line {} has no question (`nl`, `question`)", args.file.display(), instance.line);
        return Err(Error::input("lines-unreadable", message));
    }
    let (opened, osm) = open::elements(&args.snapshot)?;
    let triples = Environment::open_beside(&opened.snapshot, &osm).map_err(open::error)?;
    if let (None, Some(instance)) = (&triples, instances.iter().find(|instance| jsonl::is_sparql(instance))) {
        let message = format!("line {} is SPARQL, and the snapshot has no triples", instance.line);
        return Err(Error::input("no-triples", message));
    }
    let tags = Tags::new(Arc::clone(&osm), open::tag_docs(args.tag_docs.as_deref())?);
    let snapshot = opened.snapshot.digest();
    let elements = Environment::of_elements(Arc::clone(&osm), Some(&opened.manifest), &snapshot);
    let graph = triples.as_ref().unwrap_or(&elements);
    let world = World { tags: &tags, triples: triples.as_ref(), graph, digest: &snapshot, manifest: &opened.manifest };
    let questions = digest(&args.file)?;
    let settings = Settings { search: !args.no_search, words: false, ..asker.settings.clone() };
    let how = How {
        engine: engine(),
        snapshot: snapshot.clone(),
        questions: questions.clone(),
        model: asker.model.name().to_owned(),
        search: settings.search,
        repairs: settings.repairs,
        prompts: Sha256::digest(format!("{:?}", settings.prompts)).iter().map(|byte| format!("{byte:02x}")).collect(),
    };
    let asked = Asking { world, asker: &asker, settings, timeout: Duration::from_secs(args.timeout) };
    asked.all(&mut instances, &how, args)?;
    let areas = Areas::new(&osm);
    let cache = args.run.cache.open(Some(&args.snapshot))?;
    let benchmark = JsonLines {
        osm: Some(&osm),
        snapshot: &snapshot,
        triples: triples.as_ref(),
        now: opened.manifest.data_timestamp,
        places: &areas,
        cache: &*cache,
        bounds: Bounds::default(),
    };
    let about = About {
        benchmark: jsonl::REGISTRATION.name.to_owned(),
        names: Names { model: args.model.name().map(str::to_owned), ..Names::default() },
        snapshot: Some(snapshot.clone()),
        content: opened.content(),
        engine: engine(),
        inputs: BTreeMap::from([("instances".to_owned(), questions)]),
        ..About::default()
    };
    args.run.score(&benchmark, about, instances, None, &*cache)
}

struct Asking<'a> {
    world: World<'a>,
    asker: &'a Asker,
    settings: Settings,
    timeout: Duration,
}

impl Asking<'_> {
    /// Asks what was not asked yet; the queries become the instances' predictions.
    fn all(&self, instances: &mut [Instance], how: &How, args: &Args) -> Result<(), Error> {
        let out = &args.run.folder.out;
        let output = |error: std::io::Error| Error::system("output", format!("{}: {error}", out.display()));
        std::fs::create_dir_all(out).map_err(output)?;
        let path = out.join(ASKED);
        let mut known = known(&path, how, args.run.folder.overwrite)?;
        let fresh = known.is_empty();
        let file = if fresh { File::create(&path) } else { OpenOptions::new().append(true).open(&path) };
        let file = Mutex::new(file.map_err(output)?);
        let keep = |line: &str| {
            let mut file = file.lock().unwrap_or_else(PoisonError::into_inner);
            file.write_all(format!("{line}\n").as_bytes()).and_then(|()| file.flush()).map_err(output)
        };
        if fresh {
            keep(&serde_json::to_string(how).map_err(|error| Error::system("output", error))?)?;
        } else {
            stdout::tell(&format!("{} of {} questions were asked before", known.len(), instances.len()));
        }
        let progress = Progress::new(instances.len(), known.len(), &NoCache);
        let threads = args.run.threads.map_or(1, usize::from);
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).stack_size(STACK).build();
        let pool = pool.map_err(|error| Error::system("threads", error))?;
        let open: Vec<&Instance> = instances.iter().filter(|instance| !known.contains_key(&instance.line)).collect();
        let new: Result<Vec<Asked>, Error> = pool.install(|| {
            open.par_iter()
                .map(|instance| {
                    let asked = self.one(instance)?;
                    keep(&serde_json::to_string(&asked).map_err(|error| Error::system("output", error))?)?;
                    progress.advance();
                    Ok(asked)
                })
                .collect()
        });
        progress.finish();
        known.extend(new?.into_iter().map(|asked| (asked.line, asked)));
        for instance in instances.iter_mut() {
            instance.pred = known.get(&instance.line).map_or_else(String::new, |asked| asked.query.clone());
        }
        tell_of(instances, &known);
        Ok(())
    }

    /// Asks one question. Where the model gave nothing for it alone, that is its answer; where it gives nothing at all, the run
    /// ends, to go on later.
    fn one(&self, instance: &Instance) -> Result<Asked, Error> {
        let began = Instant::now();
        let language = if jsonl::is_sparql(instance) { Language::Sparql } else { Language::OverpassQl };
        let settings = Settings { only: Some(language), ..self.settings.clone() };
        let question = Question { question: instance.nl.clone().unwrap_or_default(), ..Question::default() };
        let limits = Limits { deadline: began.checked_add(self.timeout), ..Limits::default() };
        let mut steps: Vec<Step> = Vec::new();
        let answer =
            ask(self.world, &*self.asker.model, &settings, &question, &limits, &mut |step| steps.push(step.clone()));
        let query = steps.iter().rev().find_map(|step| match step {
            Step::Query(query) if query.language == Lang::from(language) => Some(query.query.clone()),
            _ => None,
        });
        let (repairs, total, problem) = match answer {
            Ok(answer) => (answer.repairs, answer.results.first().map(|ran| ran.total), answer.problem),
            Err(Failure::Model(error))
                if matches!(error.kind, Kind::Late | Kind::Broken | Kind::Refused | Kind::TooLong) =>
            {
                (0, None, Some(error.to_string()))
            }
            Err(Failure::Exceeded(exceeded)) => (0, None, Some(exceeded.to_string())),
            Err(failure) => {
                let message = format!("line {}: {failure}; the same command goes on from there", instance.line);
                return Err(Error::system("model", message));
            }
        };
        let steps = serde_json::to_value(&steps).unwrap_or_default();
        let ms = u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX);
        Ok(Asked { line: instance.line, query: query.unwrap_or_default(), repairs, total, problem, ms, steps })
    }
}

/// What was asked before in the same way.
fn known(path: &Path, how: &How, overwrite: bool) -> Result<HashMap<usize, Asked>, Error> {
    let mut known = HashMap::new();
    let Ok(file) = File::open(path) else { return Ok(known) };
    let mut lines = BufReader::new(file).lines().map_while(Result::ok);
    let Some(first) = lines.next() else { return Ok(known) };
    if serde_json::from_str::<How>(&first).ok().as_ref() != Some(how) {
        if overwrite {
            return Ok(known);
        }
        let shown = path.display();
        let message = format!(
            "{shown}: questions were asked otherwise there; take another folder, or lose that run by --overwrite"
        );
        return Err(Error::usage(message));
    }
    // The last line may be half of one, where a run was killed.
    for asked in lines.map_while(|line| serde_json::from_str::<Asked>(&line).ok()) {
        known.insert(asked.line, asked);
    }
    rewrite(path, &first, &known)?;
    Ok(known)
}

/// Leaves out what a killed run left half written.
fn rewrite(path: &Path, first: &str, known: &HashMap<usize, Asked>) -> Result<(), Error> {
    let failed = |error: &dyn std::fmt::Display| Error::system("output", format!("{}: {error}", path.display()));
    let mut lines: Vec<&Asked> = known.values().collect();
    lines.sort_by_key(|asked| asked.line);
    let mut text = format!("{first}\n");
    for asked in lines {
        text.push_str(&serde_json::to_string(asked).map_err(|error| failed(&error))?);
        text.push('\n');
    }
    write_text(path, &text).map_err(super::unwritten)
}

/// How the asking went.
fn tell_of(instances: &[Instance], known: &HashMap<usize, Asked>) {
    let asked: Vec<&Asked> = instances.iter().filter_map(|instance| known.get(&instance.line)).collect();
    let repaired: Vec<String> = (0..=3)
        .map(|n| (n, asked.iter().filter(|asked| asked.repairs == n).count()))
        .filter(|(_, count)| *count > 0)
        .map(|(n, count)| format!("{count} with {n}"))
        .collect();
    let empty = asked.iter().filter(|asked| asked.problem.is_none() && asked.total == Some(0)).count();
    let failed = asked.iter().filter(|asked| asked.problem.is_some()).count();
    stdout::tell(&format!(
        "asked {} questions; repairs: {}; {empty} found nothing; {failed} without a query that runs",
        asked.len(),
        repaired.join(", ")
    ));
}
