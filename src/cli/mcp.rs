//! `terrapin mcp`: offers tools to agents over standard input and output.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Args as _, Command, FromArgMatches};

use super::{CommandError, log, serve};
use crate::server;
use crate::size;

/// Offer a snapshot to agents by the Model Context Protocol, on standard input and output
///
/// Tools: search_tags, describe_tag, geocode, query_overpass, export_geojson, check_query and, if the snapshot has
/// triples, search_entities, describe_entity and query_sparql. A client starts this command and talks to it; it ends
/// when its input ends. `terrapin serve` offers the same over HTTP at /mcp.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  terrapin mcp malta.terrapin
  claude mcp add malta -- terrapin mcp /data/malta.terrapin")]
pub struct McpArgs {
    /// The snapshot file
    snapshot: PathBuf,
    /// Descriptions of keys and tags: data items of the OpenStreetMap wiki as JSON lines, or taginfo's wiki pages
    /// (key, value, lang, description) as JSON lines or CSV
    #[arg(long, value_name = "FILE")]
    tag_docs: Option<PathBuf>,
    /// Timeout of a call, in seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 60)]
    max_time: u64,
    /// Memory limit of the process [default: the limit of the container, of the address space or of the machine]
    #[arg(long, value_name = "SIZE", value_parser = size::parse)]
    memory: Option<u64>,
    /// Print errors as one JSON object
    #[arg(long)]
    json: bool,
}

/// Runs the command.
pub fn run(args: &McpArgs) -> Result<(), CommandError> {
    // All other settings are the server's defaults.
    let mut options: Vec<OsString> = vec!["serve".into(), "--max-time".into(), args.max_time.to_string().into()];
    if let Some(memory) = args.memory {
        options.extend(["--memory".into(), memory.to_string().into()]);
    }
    let matches = serve::ServeArgs::augment_args(Command::new("serve"))
        .try_get_matches_from(options)
        .map_err(CommandError::usage)?;
    let as_server = serve::ServeArgs::from_arg_matches(&matches).map_err(CommandError::usage)?;
    let memory = serve::division(&as_server, &args.snapshot)?;
    let engine = serve::data(&args.snapshot, args.tag_docs.as_deref(), memory.cache)?;
    let _log = log::start(log::LogFormat::Text)
        .map_err(|e| CommandError::system("log", format!("cannot start the thread for the log: {e}")))?;
    server::serve_pipe(engine, serve::settings(&as_server, memory)).map_err(|error| CommandError::system("mcp", error))
}
