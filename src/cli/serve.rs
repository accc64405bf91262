//! `terrapin serve`: the HTTP services over a snapshot.

use std::net::{IpAddr, SocketAddr};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use clap::{ArgMatches, Args as _, Command};
use ipnet::IpNet;

use super::connections::Connections;
use super::model::ModelArgs;
use super::{Error, config, log, open, stdout};
use crate::machine;
use crate::osm::history::History;
use crate::rdf::Store;
use crate::server::{self, About, Addresses, AllowedPages, Data, Division, HostName, Settings, SitePolicy, Tokens};
use crate::size;
use crate::snapshot::Snapshot;

/// Serve a snapshot over HTTP as an Overpass API server and a SPARQL endpoint
///
/// SIGINT and SIGTERM let running queries end, within --grace; a second one ends the server at once. The log goes to
/// standard error; RUST_LOG steers it. Every option has a variable of the environment and a key in the file of --config,
/// too: a flag goes before the variable, that before the file.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  terrapin serve malta.terrapin --bind 127.0.0.1:8080
  curl http://127.0.0.1:8080/api/interpreter --data-urlencode 'data=[out:json];node[amenity=cafe];out 3;'
  terrapin serve --config terrapin.toml --check-config
  RUST_LOG=debug terrapin serve malta.terrapin --log json")]
pub struct Args {
    /// The snapshot file
    snapshot: Option<PathBuf>,
    /// The address to listen on; port 0 takes any free one
    #[arg(long, default_value = "127.0.0.1:8080")]
    bind: SocketAddr,
    /// Queries that run at once [default: the number of cores]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..), default_value_t = cores(),
          hide_default_value = true)]
    max_queries: u16,
    /// Queries that wait behind them; more get status 429
    #[arg(long, value_name = "N", default_value_t = 64)]
    max_waiting: usize,
    /// Seconds that a query waits before it gets status 504
    #[arg(long, value_name = "SECONDS", default_value_t = 15)]
    max_wait: u64,
    /// Seconds that a query runs at most, whatever its own [timeout:]
    #[arg(long, value_name = "SECONDS", default_value_t = 300)]
    max_time: u64,
    /// Milliseconds that a query is tried beside those that run while all slots are taken, so that short ones need not
    /// wait for long ones [0: not at all]
    #[arg(long, value_name = "MILLISECONDS", default_value_t = 25)]
    trial: u64,
    /// Memory that the process may have: divided among queries, what is kept of the snapshot, and connections [default: what
    /// the container, the limit of address space or the machine allow]
    #[arg(long, value_name = "SIZE", value_parser = size::parse)]
    memory: Option<u64>,
    /// Memory that a query holds at most, whatever its own [maxsize:] [default: its share, at most 2GiB]
    #[arg(long, value_name = "SIZE", value_parser = size::parse)]
    max_memory: Option<u64>,
    /// Longest request body
    #[arg(long, value_name = "SIZE", default_value = "2MiB", value_parser = size::parse)]
    max_body: u64,
    /// Queries that one client has running and waiting at once; more get status 429 [0: any number]
    #[arg(long, value_name = "N", default_value_t = 0)]
    client_queries: u32,
    /// Seconds of work that one client may ask for in a minute; who asked for more gets status 429 [0: any number]
    #[arg(long, value_name = "SECONDS", default_value_t = 0)]
    client_seconds: u32,
    /// A proxy (10.0.0.0/8, ::1) whose X-Forwarded-For is believed; may be given more than once
    #[arg(long, value_name = "NETWORK", value_delimiter = ',', value_parser = network)]
    trusted_proxy: Vec<IpNet>,
    /// A file of the tokens that clients need: lines of a name and the token's SHA-256; read again on SIGHUP
    #[arg(long, value_name = "FILE")]
    tokens: Option<PathBuf>,
    /// What keys and tags mean, for /api/4: data items of OpenStreetMap's wiki as JSON lines, or taginfo's pages of it (key,
    /// value, lang, description) as JSON lines or CSV
    #[arg(long, value_name = "FILE")]
    tag_docs: Option<PathBuf>,
    /// A name of this server, with or without a port, such as maps.example.org: /ask, /mcp and killing queries are not
    /// answered under other names; localhost and addresses need not be named; may be given more than once
    #[arg(long, alias = "mcp-host", value_name = "HOST", value_delimiter = ',', value_parser = host_name)]
    public_host: Vec<HostName>,
    /// Pages of other sites that may read answers: `*` for any, `none`, or origins such as https://maps.example.org. Only
    /// those that are named may use /ask and /mcp and kill queries; may be given more than once
    #[arg(long, value_name = "ORIGIN", value_delimiter = ',', default_value = "*", value_parser = origin)]
    cors: Vec<String>,
    /// Another address for /metrics and for killing queries, which --bind then does not serve
    #[arg(long, value_name = "ADDRESS")]
    metrics_bind: Option<SocketAddr>,
    /// Seconds that the port stays open after the server was told to stop, with /readyz and new queries getting status
    /// 503; behind a load balancer as many as it needs to notice
    #[arg(long, value_name = "SECONDS", default_value_t = 0)]
    drain_delay: u64,
    /// Seconds that running queries have to end after that
    #[arg(long, value_name = "SECONDS", default_value_t = 10)]
    grace: u64,
    /// How the log is written
    #[arg(long, value_enum, default_value_t = log::Form::Text)]
    log: log::Form,
    /// Give errors as one JSON object, and the line that tells the address as another
    #[arg(long)]
    json: bool,
    /// A TOML file with any of these options: `max-queries = 4`
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// Check the options, the files they name and the snapshot, print the options in effect as TOML, serve nothing
    #[arg(long)]
    check_config: bool,
    #[command(flatten)]
    connections: Connections,
    /// Questions in plain language that are worked on at once; each may hold as much memory as a query
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024), default_value_t = 2)]
    max_asks: u16,
    #[command(flatten)]
    model: ModelArgs,
}

/// The memory that a process may have where nothing tells.
const UNKNOWN: u64 = 8 << 30;

fn cores() -> u16 {
    std::thread::available_parallelism().map_or(1, |n| u16::try_from(n.get()).unwrap_or(u16::MAX))
}

/// Reads `10.0.0.0/8`, or an address, which is a network of its own.
fn network(text: &str) -> Result<IpNet, String> {
    let whole = |address: IpAddr| IpNet::from(address.to_canonical());
    text.parse()
        .map(|net: IpNet| net.trunc())
        .or_else(|_| text.parse().map(whole))
        .map_err(|_| "expected an address or a network, such as 127.0.0.1, 10.0.0.0/8 or fd00::/8".to_owned())
}

/// Reads a name of the server.
fn host_name(text: &str) -> Result<HostName, String> {
    HostName::parse(text.trim())
        .ok_or_else(|| "expected a name, such as maps.example.org or maps.example.org:8080".to_owned())
}

/// Reads an origin, `*` or `none`.
fn origin(text: &str) -> Result<String, String> {
    let wrong = |_| "expected `*`, `none` or an origin, such as https://maps.example.org".to_owned();
    AllowedPages::of([text]).map_err(wrong).map(|_| text.to_owned())
}

/// How the memory is divided. States of other dates have a part where the snapshot has older versions; a file that does not
/// open is an error later.
pub(super) fn division(args: &Args, snapshot: &Path) -> Result<Division, Error> {
    let total = args.memory.or_else(machine::memory).unwrap_or(UNKNOWN);
    let asks = if args.model.is_given() { args.max_asks } else { 0 };
    let states = match Snapshot::open(snapshot).is_ok_and(|snapshot| History::is_in(&snapshot)) {
        true => Division::of_states(total),
        false => 0,
    };
    let division = Division::new(total - states, args.max_queries.into(), asks.into(), args.max_memory);
    Ok(Division { states, ..division.map_err(Error::usage)? })
}

/// How the server is run.
pub(super) fn settings(args: &Args, memory: Division) -> Settings {
    Settings {
        bind: args.bind,
        metrics_bind: args.metrics_bind,
        max_queries: usize::from(args.max_queries),
        max_asks: usize::from(args.max_asks),
        max_waiting: args.max_waiting,
        queue_timeout: Duration::from_secs(args.max_wait),
        // A day is for ever, and an instant that far off can still be computed.
        max_time: Duration::from_secs(args.max_time.min(86_400)),
        trial: Duration::from_millis(args.trial.min(10_000)),
        memory,
        max_body: usize::try_from(args.max_body).unwrap_or(usize::MAX),
        client_queries: args.client_queries,
        client_seconds: args.client_seconds,
        trusted_proxies: args.trusted_proxy.clone(),
        drain_delay: Duration::from_secs(args.drain_delay.min(86_400)),
        grace: Duration::from_secs(args.grace.min(86_400)),
        connections: args.connections.limits(&memory, &args.trusted_proxy),
        spool: args.connections.spool(&memory),
        sites: SitePolicy {
            hosts: args.public_host.clone(),
            // Each of them was read as an option.
            pages: AllowedPages::of(args.cors.iter().map(String::as_str)).unwrap_or_default(),
        },
    }
}

/// Opens what is served; at most so many bytes of it are kept decoded.
pub(super) fn data(snapshot: &Path, docs: Option<&Path>, cache: u64) -> Result<Data, Error> {
    let docs = open::tag_docs(docs)?;
    let (opened, osm) = open::elements_within(snapshot, cache)?;
    let triples = Store::open(&opened.snapshot).map_err(open::error)?.map(Arc::new);
    let about = About { digest: opened.snapshot.digest(), manifest: opened.manifest };
    Ok(Data { osm, docs, triples, about, asker: None })
}

/// Runs the command. `matches` are its options as they were parsed.
pub fn run(args: &Args, matches: Option<&ArgMatches>) -> Result<(), Error> {
    let Some(snapshot) = &args.snapshot else {
        return Err(Error::usage(
            "no snapshot: name it on the command line, in TERRAPIN_SNAPSHOT or as `snapshot` in --config",
        ));
    };
    if args.metrics_bind.is_some_and(|address| address == args.bind && address.port() != 0) {
        return Err(Error::usage(format!("--bind and --metrics-bind are both {}: give them two ports", args.bind)));
    }
    let tokens = args.tokens.as_deref().map(Tokens::read).transpose().map_err(|e| Error::input("tokens", e))?;
    let memory = division(args, snapshot)?;
    let asker = args.model.asker()?;
    let data = Data { asker, ..data(snapshot, args.tag_docs.as_deref(), memory.cache)? };
    if let (true, Some(matches)) = (args.check_config, matches) {
        let command = Args::augment_args(Command::new(super::SERVE));
        return stdout::print(&config::effective(&command, matches)?);
    }
    // To the end: what is left of the log is written then.
    let _log = log::start(args.log).map_err(|e| Error::system("log", format!("no thread for the log: {e}")))?;
    let settings = settings(args, memory);
    let name = data.about.digest.clone();
    let ready = |at: Addresses| {
        let url = |address: SocketAddr| format!("http://{address}");
        // Whoever started the server may not read this; it serves all the same.
        let _ = if args.json {
            let metrics = at.metrics.map(url);
            stdout::print_json(&serde_json::json!({"url": url(at.public), "metrics": metrics, "snapshot": name}))
        } else {
            stdout::print(&format!("serving snapshot {name} at {}/api/interpreter\n", url(at.public)))
        };
    };
    server::serve(data, settings, tokens, ready)
        .map_err(|e| Error::system("serve", format!("cannot serve at {}: {e}", args.bind)))
}
