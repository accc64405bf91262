//! `terrapin benchmark perturb`: makes perturbed copies of a snapshot.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use serde::Serialize;

use super::super::progress::Shown;
use super::super::whole::stop_on_signal_at;
use super::super::work::{self, WorkArgs};
use super::super::{CommandError, open, slips, stdout};
use super::pairs::all_pairs;
use crate::base::untrusted;
use crate::eval::input::published::FieldMap;
use crate::eval::language::QueryLanguage;
use crate::eval::moving::tags_of;
use crate::load::perturb::{AIMS, MOST_RATE, Perturbation, PerturbationOptions};
use crate::load::{self, Base, Entities, LoadError, LoadOptions, LoadProgress, Quiet};
use crate::snapshot;

/// Make perturbed copies of a snapshot, on which queries differ that have equal answers by chance
///
/// Some elements are dropped, some are retagged and some nodes are moved. A copy is an ordinary snapshot with a digest of
/// its own; its manifest has the source and the seed. The same snapshot, options and seed give the same bytes, independent
/// of threads and memory. Borders and places stay, nodes of ways do not move, and elements with parents lose their tags
/// instead of being dropped. With --for, elements with keys of gold queries are changed three times as often, but with a share of at
/// most 0.3 for each kind of change, and some other elements get one of the tags.
#[derive(Debug, clap::Args)]
#[command(after_help = "Writes NAME-1.terrapin, NAME-2.terrapin, ... to --out.

Examples:
  terrapin benchmark perturb malta.terrapin --count 3 --seed 7 --out suite
  terrapin benchmark perturb malta.terrapin --count 5 --for dev.jsonl --rate 0.15 --out suite")]
pub struct BenchmarkPerturbArgs {
    /// The snapshot file
    snapshot: PathBuf,
    /// Number of copies
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..=100))]
    count: u32,
    /// Seed
    #[arg(long, value_name = "S", default_value_t = 1)]
    seed: u64,
    /// Share of the tagged elements that are dropped, the same share that are retagged, and that of lone nodes that move;
    /// at most 0.3
    #[arg(long, value_name = "SHARE", default_value_t = 0.1, value_parser = rate)]
    rate: f64,
    /// Files or folders of gold queries in OverpassQL at whose tags the changes are aimed
    #[arg(long = "for", value_name = "FILE", num_args = 1..)]
    golds: Vec<PathBuf>,
    /// Output folder; files of the same name are replaced
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    #[command(flatten)]
    work: WorkArgs,
}

fn rate(text: &str) -> Result<f64, String> {
    let rate = text.parse::<f64>().ok().filter(|rate| *rate > 0.0 && *rate <= MOST_RATE);
    rate.ok_or_else(|| format!("expected a number above 0 and at most {MOST_RATE}"))
}

/// A copy in the object of `--json`.
#[derive(Serialize)]
struct PerturbedCopy {
    file: String,
    digest: String,
    remarks: Vec<String>,
}

/// Runs the command.
pub fn run(args: &BenchmarkPerturbArgs) -> Result<(), CommandError> {
    slips::no_address(&args.snapshot)?;
    let aims = aims(&args.golds)?;
    let failed = |e: std::io::Error| CommandError::system("output", format!("{}: {e}", args.out.display()));
    std::fs::create_dir_all(&args.out).map_err(failed)?;
    let stem = args.snapshot.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let files: Vec<PathBuf> = (1..=args.count).map(|copy| args.out.join(format!("{stem}-{copy}.terrapin"))).collect();
    if files.iter().any(|file| work::is_same(file, &args.snapshot)) {
        return Err(CommandError::usage(format!(
            "{} would be replaced by a copy: choose another output folder",
            args.snapshot.display()
        )));
    }
    let pool = work::pool(args.work.threads.map_or(0, usize::from))?;
    crate::allocator::prepare_for_arrays();
    let shown = (!args.work.json).then(|| Arc::new(Shown::new()));
    let in_work = Arc::new(Mutex::new(PathBuf::new()));
    let current = Arc::clone(&in_work);
    let current = move || current.lock().unwrap_or_else(PoisonError::into_inner).clone();
    stop_on_signal_at(current, args.work.json, shown.clone())?;
    let mut copies = Vec::new();
    for (copy, file) in (1..).zip(&files) {
        let options = PerturbationOptions { seed: args.seed, copy, rate: args.rate, aims: aims.clone() };
        let base = Base {
            snapshot: args.snapshot.clone(),
            changes: Vec::new(),
            time: None,
            cut: None,
            perturbation: Some(Arc::new(Perturbation::new(options))),
        };
        let options = LoadOptions {
            memory: args.work.memory,
            temporary: args.work.temp.clone(),
            ..LoadOptions::new(file.clone())
        };
        let progress: &dyn LoadProgress = shown.as_deref().map_or(&Quiet, |shown| shown);
        in_work.lock().unwrap_or_else(PoisonError::into_inner).clone_from(file);
        let result = pool.install(|| load::load_from(&base, &options, &Entities::default(), progress));
        if let Some(shown) = &shown {
            shown.finish();
        }
        let loaded = result.map_err(|e| error(args, e))?;
        let copy =
            PerturbedCopy { file: file.display().to_string(), digest: loaded.digest, remarks: loaded.manifest.remarks };
        if !args.work.json {
            let remark = copy.remarks.first().map(|remark| untrusted::line(remark)).unwrap_or_default();
            stdout::print(&format!("{}\n{}: {remark}\n", copy.digest, copy.file))?;
        }
        copies.push(copy);
    }
    if args.work.json { stdout::print_json(&serde_json::json!({ "copies": copies })) } else { Ok(()) }
}

/// Returns the tags of gold queries.
fn aims(files: &[PathBuf]) -> Result<BTreeSet<(String, Option<String>)>, CommandError> {
    if files.is_empty() {
        return Ok(BTreeSet::new());
    }
    let pairs = all_pairs(files, &FieldMap::default())?;
    let overpass = pairs.iter().filter(|pair| pair.is_run_here() && pair.language() == QueryLanguage::OverpassQl);
    let aims: BTreeSet<_> = overpass.flat_map(|pair| tags_of(&pair.query)).collect();
    if aims.is_empty() {
        return Err(CommandError::input("no-tags", "the queries of --for have no tag filters in OverpassQL"));
    }
    if aims.len() > AIMS {
        stdout::tell(&format!("note: {AIMS} of {} tags of the queries are used", aims.len()));
    }
    Ok(aims.into_iter().take(AIMS).collect())
}

fn error(args: &BenchmarkPerturbArgs, error: LoadError) -> CommandError {
    match error {
        LoadError::Snapshot(snapshot::Error::Io { path, source }) if path != args.snapshot => {
            CommandError::system("output", format!("{}: {source}", path.display()))
        }
        LoadError::Snapshot(error) => open::error(error),
        error @ (LoadError::Temporary(_) | LoadError::Room(_)) => CommandError::system("output", error),
        error => CommandError::input("source-broken", error),
    }
}
