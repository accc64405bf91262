//! `terrapin serve`: the HTTP services over a snapshot.

use std::io::IsTerminal;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use clap::ValueEnum;
use tracing_subscriber::EnvFilter;

use super::connections::Connections;
use super::{Error, open, stdout};
use crate::rdf::Store;
use crate::server::{self, About, Settings};
use crate::size;

/// Serve a snapshot over HTTP as an Overpass API server and a SPARQL endpoint
///
/// SIGINT and SIGTERM let running queries end, within --grace; a second one ends the server at once. The log goes to standard error; RUST_LOG steers it.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  terrapin serve malta.terrapin --bind 127.0.0.1:8080
  curl http://127.0.0.1:8080/api/interpreter --data-urlencode 'data=[out:json];node[amenity=cafe];out 3;'
  RUST_LOG=debug terrapin serve malta.terrapin --log json")]
pub struct Args {
    /// The snapshot file
    snapshot: PathBuf,
    /// The address to listen on; port 0 takes any free one
    #[arg(long, default_value = "127.0.0.1:8080", env = "TERRAPIN_BIND")]
    bind: SocketAddr,
    /// Queries that run at once [default: the number of cores]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..), env = "TERRAPIN_MAX_QUERIES")]
    max_queries: Option<u16>,
    /// Queries that wait behind them; more get status 429
    #[arg(long, value_name = "N", default_value_t = 64, env = "TERRAPIN_MAX_WAITING")]
    max_waiting: usize,
    /// Seconds that a query waits before it gets status 504
    #[arg(long, value_name = "SECONDS", default_value_t = 15)]
    max_wait: u64,
    /// Seconds that a query runs at most, whatever its own [timeout:]
    #[arg(long, value_name = "SECONDS", default_value_t = 300, env = "TERRAPIN_MAX_TIME")]
    max_time: u64,
    /// Memory that a query holds at most, whatever its own [maxsize:]
    #[arg(long, value_name = "SIZE", default_value = "2GiB", value_parser = size::parse, env = "TERRAPIN_MAX_MEMORY")]
    max_memory: u64,
    /// Longest request body
    #[arg(long, value_name = "SIZE", default_value = "2MiB", value_parser = size::parse)]
    max_body: u64,
    /// Seconds that the port stays open after the server was told to stop, with /readyz and new queries getting status
    /// 503; behind a load balancer as many as it needs to notice
    #[arg(long, value_name = "SECONDS", default_value_t = 0, env = "TERRAPIN_DRAIN_DELAY")]
    drain_delay: u64,
    /// Seconds that running queries have to end after that
    #[arg(long, value_name = "SECONDS", default_value_t = 10, env = "TERRAPIN_GRACE")]
    grace: u64,
    /// How the log is written
    #[arg(long, value_enum, default_value_t = Log::Text)]
    log: Log,
    /// Give errors as one JSON object, and the line that tells the address as another
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    connections: Connections,
}

/// How the log is written.
#[derive(Debug, Clone, Copy, ValueEnum)]
enum Log {
    /// A line an event, for people.
    Text,
    /// A JSON object an event.
    Json,
}

/// Runs the command.
pub fn run(args: &Args) -> Result<(), Error> {
    let (opened, osm) = open::elements(&args.snapshot)?;
    let triples = Store::open(&opened.snapshot).map_err(open::error)?.map(Arc::new);
    start_log(args.log);
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let settings = Settings {
        bind: args.bind,
        max_queries: args.max_queries.map_or(cores, usize::from),
        max_waiting: args.max_waiting,
        patience: Duration::from_secs(args.max_wait),
        // A day is for ever, and an instant that far off can still be computed.
        max_time: Duration::from_secs(args.max_time.min(86_400)),
        max_memory: args.max_memory,
        max_body: usize::try_from(args.max_body).unwrap_or(usize::MAX),
        drain_delay: Duration::from_secs(args.drain_delay.min(86_400)),
        grace: Duration::from_secs(args.grace.min(86_400)),
        connections: args.connections.limits(),
        spool: args.connections.spool(),
    };
    let about = About { digest: opened.snapshot.digest(), manifest: opened.manifest };
    let name = about.digest.clone();
    let ready = |address: SocketAddr| {
        // Whoever started the server may not read this; it serves all the same.
        let _ = if args.json {
            stdout::print_json(&serde_json::json!({"url": format!("http://{address}"), "snapshot": name}))
        } else {
            stdout::print(&format!("serving snapshot {name} at http://{address}/api/interpreter\n"))
        };
    };
    server::serve(osm, triples, about, settings, ready)
        .map_err(|e| Error::system("serve", format!("cannot serve at {}: {e}", args.bind)))
}

fn start_log(log: Log) {
    let filter = EnvFilter::try_from_default_env().unwrap_or_else(|_| EnvFilter::new("info"));
    let builder = tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr).with_target(false);
    // A second subscriber in one process would be refused; there is none.
    let _ = match log {
        Log::Text => builder.with_ansi(std::io::stderr().is_terminal()).try_init(),
        Log::Json => builder.json().try_init(),
    };
}
