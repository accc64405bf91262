//! `terrapin eval merge`: one run from its shards.

use std::path::PathBuf;

use super::super::Error;
use super::{FolderArgs, read_run, unusable, write_and_print};
use crate::eval::runs;

/// Put the shards of a run together
///
/// The files are those of a run over all instances at once, byte for byte; timings.jsonl alone has other times.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  terrapin eval merge part1 part2 part3 part4 --out run")]
pub struct Args {
    /// The folders of the shards, in any order
    #[arg(required = true, value_name = "DIR")]
    shards: Vec<PathBuf>,
    #[command(flatten)]
    folder: FolderArgs,
    /// Print the summary as JSON
    #[arg(long)]
    json: bool,
}

/// Runs the command.
pub fn run(args: &Args) -> Result<(), Error> {
    let shards = args.shards.iter().map(|folder| read_run(folder)).collect::<Result<_, _>>()?;
    let whole = runs::merge(shards).map_err(unusable)?;
    args.folder.claim(&whole.about, &whole.instances)?;
    write_and_print(&whole, &args.folder.out, args.json)
}
