//! `terrapin eval merge`: merges the shards of a run.

use std::path::PathBuf;

use super::super::CommandError;
use super::{FolderArgs, read_run, unusable, write_and_print};
use crate::eval::runs;

/// Merge the shards of a run
///
/// The output equals that of one run over all instances, byte for byte, except the times in timings.jsonl.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  terrapin eval merge part1 part2 part3 part4 --out run")]
pub struct EvalMergeArgs {
    /// Folders of the shards, in any order
    #[arg(required = true, value_name = "DIR")]
    shards: Vec<PathBuf>,
    #[command(flatten)]
    folder: FolderArgs,
    /// Print the summary as JSON
    #[arg(long)]
    json: bool,
}

/// Runs the command.
pub fn run(args: &EvalMergeArgs) -> Result<(), CommandError> {
    let shards = args.shards.iter().map(|folder| read_run(folder)).collect::<Result<_, _>>()?;
    let whole = runs::merge(shards).map_err(unusable)?;
    args.folder.claim(&whole.about, &whole.instances)?;
    write_and_print(&whole, &args.folder.out, args.json)
}
