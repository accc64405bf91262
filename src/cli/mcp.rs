//! `terrapin mcp`: the tools of agents over a pipe.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Args as _, Command, FromArgMatches};

use super::{Error, log, serve};
use crate::server;
use crate::size;

/// Offer a snapshot to agents by the Model Context Protocol, on standard input and output
///
/// The tools: search_tags, describe_tag, geocode, query_overpass, export_geojson, check_query, and where there are triples search_entities,
/// describe_entity and query_sparql. A client starts this command and speaks to it; it ends with its input. `terrapin serve`
/// offers the same over HTTP, at /mcp.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  terrapin mcp malta.terrapin
  claude mcp add malta -- terrapin mcp /data/malta.terrapin")]
pub struct Args {
    /// The snapshot file
    snapshot: PathBuf,
    /// What keys and tags mean: data items of OpenStreetMap's wiki as JSON lines, or taginfo's pages of it (key, value, lang,
    /// description) as JSON lines or CSV
    #[arg(long, value_name = "FILE")]
    tag_docs: Option<PathBuf>,
    /// Seconds that a call may take at most
    #[arg(long, value_name = "SECONDS", default_value_t = 60)]
    max_time: u64,
    /// Memory that the process may have [default: what the container, the limit of address space or the machine allow]
    #[arg(long, value_name = "SIZE", value_parser = size::parse)]
    memory: Option<u64>,
    /// Give errors as one JSON object
    #[arg(long)]
    json: bool,
}

/// Runs the command.
pub fn run(args: &Args) -> Result<(), Error> {
    // The rest is as a server has it where nothing is said.
    let mut options: Vec<OsString> = vec!["serve".into(), "--max-time".into(), args.max_time.to_string().into()];
    if let Some(memory) = args.memory {
        options.extend(["--memory".into(), memory.to_string().into()]);
    }
    let matches =
        serve::Args::augment_args(Command::new("serve")).try_get_matches_from(options).map_err(Error::usage)?;
    let as_server = serve::Args::from_arg_matches(&matches).map_err(Error::usage)?;
    let memory = serve::division(&as_server, &args.snapshot)?;
    let data = serve::data(&args.snapshot, args.tag_docs.as_deref(), memory.cache)?;
    let _log = log::start(log::Form::Text).map_err(|e| Error::system("log", format!("no thread for the log: {e}")))?;
    server::serve_pipe(data, serve::settings(&as_server, memory)).map_err(|error| Error::system("mcp", error))
}
