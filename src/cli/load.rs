//! `terrapin load`: makes a snapshot of an OpenStreetMap file.

use std::path::PathBuf;

use super::progress::Shown;
use super::{Error, info, stdout};
use crate::load::{self, Options};
use crate::osm::build::{BuildError, Progress, Quiet};
use crate::size::{self, count};
use crate::snapshot;

/// Make a snapshot of an OpenStreetMap file
///
/// Reads PBF and OSM XML. The same file and version give the same bytes, whatever the number of threads and the
/// memory. A load that is stopped leaves nothing behind that opens.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  terrapin load --osm malta.osm.pbf --out malta.terrapin
  terrapin load --osm europe.osm.pbf --out europe.terrapin --memory 16GiB --temp /scratch")]
pub struct Args {
    /// The OpenStreetMap file
    #[arg(long, value_name = "FILE")]
    osm: PathBuf,
    /// The snapshot file to make; one that is there is replaced in one step at the end
    #[arg(long, value_name = "NAME.terrapin")]
    out: PathBuf,
    /// Memory to use before temporary files are
    #[arg(long, value_name = "SIZE", default_value = "4GiB", value_parser = size::parse)]
    memory: u64,
    /// Threads to use [default: one a core]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    threads: Option<u16>,
    /// The folder for temporary files [default: that of --out]
    #[arg(long, value_name = "DIR")]
    temp: Option<PathBuf>,
    /// Tell what was made as one JSON object, and nothing of the progress
    #[arg(long)]
    json: bool,
}

/// Runs the command.
pub fn run(args: &Args) -> Result<(), Error> {
    let options =
        Options { osm: args.osm.clone(), out: args.out.clone(), memory: args.memory, temporary: args.temp.clone() };
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(args.threads.map_or(0, usize::from))
        .build()
        .map_err(|e| Error::system("threads", e))?;
    let shown = (!args.json).then(Shown::new);
    let progress: &dyn Progress = shown.as_ref().map_or(&Quiet, |shown| shown);
    let result = pool.install(|| load::load(&options, progress));
    if let Some(shown) = &shown {
        shown.finish();
    }
    let loaded = result.map_err(|e| error(args, e))?;
    let bytes = std::fs::metadata(&args.out).map_err(|e| Error::system("output", e))?.len();
    if args.json {
        return stdout::print_json(&info::to_json(&loaded.digest, bytes, &loaded.manifest));
    }
    let counts = &loaded.manifest.counts;
    let mut text = format!(
        "{}\n{}: {}, {} nodes, {} ways, {} relations, {} areas\n",
        loaded.digest,
        args.out.display(),
        size::show(bytes),
        count(counts.nodes),
        count(counts.ways),
        count(counts.relations),
        count(counts.areas)
    );
    for remark in &loaded.manifest.remarks {
        text.push_str(remark);
        text.push('\n');
    }
    stdout::print(&text)
}

/// An error of a load, as a command ends with it.
fn error(args: &Args, error: BuildError) -> Error {
    match &error {
        BuildError::Snapshot(snapshot::Error::Io { path, .. }) if *path == args.osm && *path != args.out => {
            Error::input("source-unreadable", error)
        }
        BuildError::Snapshot(_) | BuildError::Temporary { .. } => Error::system("output", error),
        _ => Error::input("source-broken", error),
    }
}
