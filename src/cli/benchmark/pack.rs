//! `terrapin benchmark pack`: writes the folder to publish.

use std::path::{Path, PathBuf};

use serde::Deserialize;

use super::super::eval::unwritten;
use super::super::{CommandError, open, stdout};
use super::EngineArgs;
use super::check::{checked, errors, refuse};
use super::pairs::pairs;
use crate::eval::dataset::{Description, FindingKind, Pack};

/// Check a benchmark and write the folder to publish
///
/// The folder has the data with results, digests of answers and difficulty, the pin and manifest of the snapshot, the
/// findings of the check, a dataset card with the fields that Hugging Face reads, a description in Croissant,
/// licences, CITATION.cff and SHA256SUMS. The same input gives the same bytes. An error of `terrapin benchmark check`
/// is an error here, unless the file allows it.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  terrapin benchmark pack benchmark.toml --out malta-food-1.0.0")]
pub struct BenchmarkPackArgs {
    /// File written by `terrapin benchmark init`
    file: PathBuf,
    /// Output folder; files of the same name are replaced
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    #[command(flatten)]
    engine: EngineArgs,
}

/// The description file of a benchmark.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct BenchmarkDescription {
    files: Vec<PathBuf>,
    #[serde(default)]
    places: Option<PathBuf>,
    #[serde(default)]
    allow: Vec<String>,
    snapshot: BenchmarkSnapshot,
    about: Description,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct BenchmarkSnapshot {
    file: PathBuf,
    digest: String,
    #[serde(default)]
    content: Option<String>,
}

/// Runs the command.
pub fn run(args: &BenchmarkPackArgs) -> Result<(), CommandError> {
    let said = read(&args.file)?;
    let wrong = |message: String| CommandError::input("benchmark-unfit", format!("{}: {message}", args.file.display()));
    let lacks = said.about.lacks();
    if !lacks.is_empty() {
        return Err(wrong(lacks.join("; ")));
    }
    let allowed = said
        .allow
        .iter()
        .map(|name| name.parse::<FindingKind>())
        .collect::<Result<Vec<_>, _>>()
        .map_err(|e| wrong(format!("allow: {e}")))?;
    let folder = args.file.parent().unwrap_or(Path::new(""));
    let snapshot = folder.join(&said.snapshot.file);
    let opened = open::snapshot(&snapshot)?;
    let digest = opened.snapshot.digest();
    let content = opened.content();
    if digest != said.snapshot.digest && (content.is_none() || content != said.snapshot.content) {
        let message = format!("{} has the digest {digest}, not {}", snapshot.display(), said.snapshot.digest);
        return Err(CommandError::refused("pin-differs", message));
    }
    let files: Vec<PathBuf> = said.files.iter().map(|file| folder.join(file)).collect();
    let pairs = pairs(&files)?;
    let places = said.places.map(|places| folder.join(places)).or_else(|| args.engine.places.clone());
    let engine = EngineArgs { places, ..args.engine };
    let (checked, _) = checked(&snapshot, &engine, &pairs)?;
    for (kind, count) in checked.kinds() {
        stdout::tell(&format!("{count} {}", kind.name()));
    }
    let errors = errors(&checked, &allowed);
    if errors > 0 {
        stdout::tell("run terrapin benchmark check to list them; `allow` in the file permits kinds of findings");
    }
    refuse(errors)?;
    let pack = Pack {
        description: &said.about,
        checked: &checked,
        digest: &digest,
        bytes: opened.snapshot.file_len(),
        manifest: &opened.manifest,
    };
    let written = pack.write(&args.out).map_err(unwritten)?;
    stdout::print(&format!("{}: {} pairs, {} files\n", args.out.display(), checked.pairs.len(), written.len()))
}

fn read(path: &Path) -> Result<BenchmarkDescription, CommandError> {
    let wrong = |e: &dyn std::fmt::Display| CommandError::input("benchmark-unfit", format!("{}: {e}", path.display()));
    let text = std::fs::read_to_string(path).map_err(|e| wrong(&e))?;
    toml::from_str(&text).map_err(|e| wrong(&e))
}
