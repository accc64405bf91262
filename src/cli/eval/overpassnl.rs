//! `terrapin eval overpassnl`: OverpassQL by the metrics of OverpassNL.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::super::{CommandError, open, stdout};
use super::suite::{MemberInputs, SuiteArgs};
use super::{ExtractionFormat, RunArgs, RunSnapshots, digest, forms, read_lines, unread};
use crate::engine::Engine;
use crate::eval::about::{About, engine};
use crate::eval::benchmarks::Benchmark;
use crate::eval::benchmarks::overpassnl::{self, AnswerBounds, OverpassNl};
use crate::eval::difficulty::measure_of;
use crate::eval::input::{self, extract::read_predictions};
use crate::eval::language::QueryLanguage;
use crate::eval::record::Instance;
use crate::geocoder::{Chain, PlaceSource};

/// Score OverpassQL with the metrics of OverpassNL
///
/// Each line's queries are prepared like in the published evaluation ({{shortcuts}}, JSON, 300 seconds, at most 1
/// GiB), run on the snapshot, and compared. EX is 1 if the lists of types and ids are equal and not empty; EX_soft is
/// the share of common elements in the larger list. The query texts are compared by chrF, KVS, TreeS, their mean OQS,
/// and exact match. Stricter scores are printed next to the published ones: equal multisets and F1 over results, both
/// only if no limit cut the results. Without a snapshot, only the texts are compared.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  terrapin eval overpassnl malta.terrapin --gold gold.query --pred pred.query --out run
  terrapin eval overpassnl planet.terrapin --gold dataset.dev.query --bbox dataset.dev.bbox --nl dataset.dev.nl \\
    --difficulty dataset.dev.diff_len_nl --difficulty dataset.dev.diff_train_sim_oqo \\
    --pred preds.txt --places nominatim_cache.json --out run
  terrapin eval overpassnl --gold dataset.dev.query --pred preds.txt --out run
  jq -c 'select(.ex == 0) | {line, error, missing, extra}' run/results.jsonl")]
pub struct OverpassNlArgs {
    /// Snapshot file to run the queries on; without it, only the query texts are compared
    snapshot: Option<PathBuf>,
    /// Gold queries, one per line
    #[arg(long, value_name = "FILE")]
    gold: PathBuf,
    /// Predicted queries, one per line, in the same order
    #[arg(long, value_name = "FILE")]
    pred: PathBuf,
    /// Form of the predictions, if not one query per line: json, csv, reply, or two of them, such as json,reply;
    /// lines takes every line unchanged
    #[arg(long, value_name = "FORM", value_enum, value_delimiter = ',')]
    extract: Vec<ExtractionFormat>,
    /// Questions, one per line, for the report
    #[arg(long, value_name = "FILE")]
    nl: Option<PathBuf>,
    /// Bounding boxes for {{bbox}} and {{center}}, one per line: south,west,north,east
    #[arg(long, value_name = "FILE")]
    bbox: Option<PathBuf>,
    /// Difficulty of each line, one number per line, higher is harder; may be given several times. The measure is
    /// named by the part of the file name after `diff_` or `difficulty_`; `train_sim_oqo` gives the hard instances
    #[arg(long, value_name = "FILE")]
    difficulty: Vec<PathBuf>,
    /// Geocoded places, as the authors' nominatim_cache.json; other names are searched among the snapshot's areas
    #[arg(long, value_name = "FILE")]
    places: Option<PathBuf>,
    /// Only run the queries; skip the comparison of texts and trees
    #[arg(long, requires = "snapshot")]
    no_similarity: bool,
    #[command(flatten)]
    suite: SuiteArgs,
    #[command(flatten)]
    run: RunArgs,
}

/// Runs the command.
pub fn run(args: &OverpassNlArgs) -> Result<(), CommandError> {
    let mut lines = ParallelLines::default();
    lines.read("gold", &args.gold)?;
    let preds = read_predictions(&args.pred, &forms(&args.extract), Some(QueryLanguage::OverpassQl)).map_err(unread)?;
    lines.take("pred", &args.pred, preds)?;
    for (name, path) in [("nl", &args.nl), ("bbox", &args.bbox)] {
        if let Some(path) = path {
            lines.read(name, path)?;
        }
    }
    let mut measures = BTreeMap::new();
    for path in &args.difficulty {
        let measure = measure_of(&path.file_name().unwrap_or_default().to_string_lossy()).to_owned();
        let values = lines.read(&format!("difficulty {measure}"), path)?;
        measures.insert(measure, numbers(path, values)?);
    }
    if let Some(path) = &args.places {
        lines.digests.insert("places".to_owned(), digest(path)?);
    }
    let instances = lines.instances(&measures);
    if instances.is_empty() {
        return Err(CommandError::input("empty", format!("{}: the file has no lines to score", args.gold.display())));
    }
    let table = open::places(args.places.as_deref())?;
    let opened = args.snapshot.as_deref().map(open::engine).transpose()?;
    if args.bbox.is_none() && opened.is_some() {
        warn_without_boxes(&instances);
    }
    let of_snapshot = opened.as_ref().map(|engine| engine.places(table.as_ref()));
    let of_table = Chain(table.iter().map(|table| table as &dyn PlaceSource).collect());
    let places = of_snapshot.as_ref().map_or(&of_table as &dyn PlaceSource, |places| places);
    let snapshot = opened.as_ref().map(Engine::digest);
    let cache = args.run.cache.open(args.snapshot.as_deref())?;
    let benchmark = OverpassNl {
        engine: opened.as_ref(),
        places,
        similarity: !args.no_similarity,
        cache: &*cache,
        bounds: AnswerBounds::default(),
    };
    let about = About {
        benchmark: overpassnl::REGISTRATION.name.to_owned(),
        snapshot: snapshot.map(str::to_owned),
        content: opened.as_ref().and_then(Engine::content),
        engine: engine(),
        inputs: lines.digests,
        ..About::default()
    };
    let suite = args.suite.open(opened.as_ref(), |path| args.run.cache.open(Some(path)))?;
    let snapshots = RunSnapshots { first: opened.as_ref(), suite: &suite };
    suite.score(&benchmark, table.as_ref(), &on_member, |benchmark| {
        args.run.score(benchmark, snapshots, about, instances, args.places.as_deref(), &*cache)
    })
}

/// Returns the benchmark on a further snapshot, where only the results are compared.
pub(super) fn on_member(MemberInputs { engine, places, cache }: MemberInputs<'_>) -> Box<dyn Benchmark + '_> {
    Box::new(OverpassNl { engine: Some(engine), places, similarity: false, cache, bounds: AnswerBounds::default() })
}

/// The lines of files that are read in parallel.
#[derive(Default)]
struct ParallelLines {
    files: BTreeMap<String, Vec<String>>,
    digests: BTreeMap<String, String>,
    /// The file that sets the number of lines.
    first: Option<(PathBuf, usize)>,
}

impl ParallelLines {
    /// Reads a file, recorded under `name` in the run.
    fn read(&mut self, name: &str, path: &Path) -> Result<&[String], CommandError> {
        self.take(name, path, read_lines(path)?)
    }

    /// Adds the lines of a file.
    fn take(&mut self, name: &str, path: &Path, lines: Vec<String>) -> Result<&[String], CommandError> {
        let (first, length) = self.first.get_or_insert_with(|| (path.to_owned(), lines.len()));
        input::same_length((first, *length), (path, lines.len())).map_err(|e| CommandError::input("line-count", e))?;
        self.digests.insert(name.to_owned(), digest(path)?);
        self.files.insert(name.to_owned(), lines);
        Ok(self.files.get(name).map_or(&[], Vec::as_slice))
    }

    fn instances(&self, measures: &BTreeMap<String, Vec<f64>>) -> Vec<Instance> {
        let of = |name: &str, index: usize| self.files.get(name).and_then(|lines| lines.get(index)).cloned();
        let count = self.first.as_ref().map_or(0, |(_, length)| *length);
        (0..count)
            .map(|index| Instance {
                line: index + 1,
                nl: of("nl", index),
                gold: of("gold", index).unwrap_or_default(),
                pred: of("pred", index).unwrap_or_default(),
                bbox: of("bbox", index).map(|bbox| bbox.trim().to_owned()),
                difficulty: measures
                    .iter()
                    .filter_map(|(measure, values)| Some((measure.clone(), *values.get(index)?)))
                    .collect(),
                ..Instance::default()
            })
            .collect()
    }
}

/// Reads one number per line, rounded so that it survives a round trip.
fn numbers(path: &Path, lines: &[String]) -> Result<Vec<f64>, CommandError> {
    let number = |(index, line): (usize, &String)| match line.trim().parse::<f64>() {
        Ok(number) if number.is_finite() => Ok((number * 1e9).round() / 1e9),
        _ => {
            let message = format!("{}: line {}: {line:?} is not a number", path.display(), index + 1);
            Err(CommandError::input("lines-unreadable", message))
        }
    };
    lines.iter().enumerate().map(number).collect()
}

/// Warns of queries with {{bbox}} but without a box: they are rejected and score zero.
fn warn_without_boxes(instances: &[Instance]) {
    let wants = |i: &&Instance| overpassnl::wants_bbox(&i.gold) || overpassnl::wants_bbox(&i.pred);
    let mut lines = instances.iter().filter(wants).map(|instance| instance.line);
    if let Some(first) = lines.next() {
        stdout::tell(&format!(
            "warning: {} lines use {{{{bbox}}}} or {{{{center}}}}, the first is line {first}: pass their boxes with --bbox",
            1 + lines.count()
        ));
    }
}
