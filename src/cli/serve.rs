//! `terrapin serve`: the HTTP services over a snapshot.

use std::net::{IpAddr, SocketAddr};
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::{ArgMatches, Args as _, Command};
use ipnet::IpNet;

use super::annotation::AnnotationArgs;
use super::connections::ConnectionArgs;
use super::examples::ExampleArgs;
use super::model::ModelArgs;
use super::{CommandError, config, identity, log, open, stdout};
use crate::ask::Asker;
use crate::engine::{Engine, EngineOptions};
use crate::machine;
use crate::osm::history::History;
use crate::server::{self, Addresses, AllowedPages, Division, HostName, ServerSettings, SitePolicy, TokenFile};
use crate::size;
use crate::snapshot::Snapshot;

/// Serve a snapshot over HTTP as an Overpass API server and a SPARQL endpoint
///
/// SIGINT and SIGTERM let running queries finish, within --grace; a second signal stops the server at once. The log
/// goes to standard error; RUST_LOG sets its level. Every option is also an environment variable and a key in the
/// --config file. Precedence: flag, environment variable, configuration file.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  terrapin serve malta.terrapin --bind 127.0.0.1:8080
  curl http://127.0.0.1:8080/api/interpreter --data-urlencode 'data=[out:json];node[amenity=cafe];out 3;'
  terrapin serve --config terrapin.toml --check-config
  RUST_LOG=debug terrapin serve malta.terrapin --log json")]
pub struct ServeArgs {
    /// The snapshot file
    snapshot: Option<PathBuf>,
    /// Address to listen on; port 0 takes any free port
    #[arg(long, default_value = "127.0.0.1:8080")]
    bind: SocketAddr,
    /// Maximum number of queries that run at once [default: the number of cores]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..), default_value_t = cores(),
          hide_default_value = true)]
    max_queries: u16,
    /// Length of the queue; further queries get status 429
    #[arg(long, value_name = "N", default_value_t = 64)]
    max_waiting: usize,
    /// Longest wait in the queue, in seconds; then the query gets status 504
    #[arg(long, value_name = "SECONDS", default_value_t = 15)]
    max_wait: u64,
    /// Longest run time of a query, in seconds; caps the query's own [timeout:]
    #[arg(long, value_name = "SECONDS", default_value_t = 300)]
    max_time: u64,
    /// When all slots are busy, run a query speculatively for this many milliseconds before queueing it, so that short
    /// queries need not wait for long ones [0: never]
    #[arg(long, value_name = "MILLISECONDS", default_value_t = 25)]
    trial: u64,
    /// Memory limit of the process, shared by queries, the cache of snapshot pages and connections [default: the limit
    /// of the container, of the address space or of the machine]
    #[arg(long, value_name = "SIZE", value_parser = size::parse)]
    memory: Option<u64>,
    /// Memory limit of one query; caps the query's own [maxsize:] [default: a share of the process's limit, at most
    /// 2GiB]
    #[arg(long, value_name = "SIZE", value_parser = size::parse)]
    max_memory: Option<u64>,
    /// Maximum size of a request body
    #[arg(long, value_name = "SIZE", default_value = "2MiB", value_parser = size::parse)]
    max_body: u64,
    /// Maximum number of running and queued queries of one client; further queries get status 429 [0: unlimited]
    #[arg(long, value_name = "N", default_value_t = 0)]
    client_queries: u32,
    /// Quota of one client in seconds of run time per minute; over it, queries get status 429 [0: unlimited]
    #[arg(long, value_name = "SECONDS", default_value_t = 0)]
    client_seconds: u32,
    /// Address or network of a trusted proxy (10.0.0.0/8, ::1), whose X-Forwarded-For names the client; may be given
    /// more than once
    #[arg(long, value_name = "NETWORK", value_delimiter = ',', value_parser = network)]
    trusted_proxy: Vec<IpNet>,
    /// File of accepted client tokens, one line each: a name and the token's SHA-256; read again on SIGHUP
    #[arg(long, value_name = "FILE")]
    tokens: Option<PathBuf>,
    /// Descriptions of keys and tags for /api/4: data items of the OpenStreetMap wiki as JSON lines, or taginfo's wiki
    /// pages (key, value, lang, description) as JSON lines or CSV
    #[arg(long, value_name = "FILE")]
    tag_docs: Option<PathBuf>,
    /// Name, logo, notice, attribution, default query and default language of the page: a TOML file
    #[arg(long, value_name = "FILE")]
    page: Option<PathBuf>,
    /// Host name of this server, with or without a port, such as maps.example.org. Requests to /ask, /mcp and the
    /// routes that kill queries are rejected under other names, except localhost and IP addresses; may be given more
    /// than once
    #[arg(long, alias = "mcp-host", value_name = "HOST", value_delimiter = ',', value_parser = host_name)]
    public_host: Vec<HostName>,
    /// Web sites that may read answers from a browser: `*` for any, `none`, or origins such as https://maps.example.org. Only
    /// origins given by name may use /ask and /mcp and kill queries; may be given more than once
    #[arg(long, value_name = "ORIGIN", value_delimiter = ',', default_value = "*", value_parser = origin)]
    cors: Vec<String>,
    /// Separate address for /metrics and for killing queries; --bind then does not serve them
    #[arg(long, value_name = "ADDRESS")]
    metrics_bind: Option<SocketAddr>,
    /// Seconds that the port stays open after a stop signal, while /readyz and new queries get status 503. Behind a
    /// load balancer, set it to the time that the balancer needs to notice
    #[arg(long, value_name = "SECONDS", default_value_t = 0)]
    drain_delay: u64,
    /// Seconds that running queries have to finish after --drain-delay
    #[arg(long, value_name = "SECONDS", default_value_t = 10)]
    grace: u64,
    /// Format of the log
    #[arg(long, value_enum, default_value_t = log::LogFormat::Text)]
    log: log::LogFormat,
    /// Print errors as one JSON object, and the line with the address as another
    #[arg(long)]
    json: bool,
    /// TOML file with any of these options: `max-queries = 4`
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// Check the options, the files they name and the snapshot, print the effective options as TOML, and exit
    #[arg(long)]
    check_config: bool,
    #[command(flatten)]
    connections: ConnectionArgs,
    #[command(flatten)]
    annotation: AnnotationArgs,
    /// Maximum number of questions in plain language that are answered at once; each may hold as much memory as a
    /// query
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024), default_value_t = 2)]
    max_asks: u16,
    /// Identifier of the data in requests to /text2sparql, such as https://text2sparql.aksw.org/2025/corporate/; may be
    /// given more than once [default: any identifier is accepted]
    #[arg(long, value_name = "IRI", value_delimiter = ',')]
    dataset: Vec<String>,
    #[command(flatten)]
    model: ModelArgs,
    #[command(flatten)]
    examples: ExampleArgs,
}

/// The memory limit if the system reports none.
const UNKNOWN: u64 = 8 << 30;

fn cores() -> u16 {
    std::thread::available_parallelism().map_or(1, |n| u16::try_from(n.get()).unwrap_or(u16::MAX))
}

/// Parses `10.0.0.0/8`, or an address, which becomes a network of one.
fn network(text: &str) -> Result<IpNet, String> {
    let whole = |address: IpAddr| IpNet::from(address.to_canonical());
    text.parse()
        .map(|net: IpNet| net.trunc())
        .or_else(|_| text.parse().map(whole))
        .map_err(|_| "expected an address or a network, such as 127.0.0.1, 10.0.0.0/8 or fd00::/8".to_owned())
}

/// Parses a host name of the server.
fn host_name(text: &str) -> Result<HostName, String> {
    HostName::parse(text.trim())
        .ok_or_else(|| "expected a name, such as maps.example.org or maps.example.org:8080".to_owned())
}

/// Parses an origin, `*` or `none`.
fn origin(text: &str) -> Result<String, String> {
    let wrong = |_| "expected `*`, `none` or an origin, such as https://maps.example.org".to_owned();
    AllowedPages::of([text]).map_err(wrong).map(|_| text.to_owned())
}

/// Divides the memory. If the snapshot has older versions, states of other dates get a share. A file that does not
/// open counts as one without older versions; opening it fails later.
pub(super) fn division(args: &ServeArgs, snapshot: &Path) -> Result<Division, CommandError> {
    let total = args.memory.or_else(machine::memory).unwrap_or(UNKNOWN);
    let asks = if args.model.is_given() { args.max_asks } else { 0 };
    let states = match Snapshot::open(snapshot).is_ok_and(|snapshot| History::is_in(&snapshot)) {
        true => Division::of_states(total),
        false => 0,
    };
    let division = Division::new(total - states, args.max_queries.into(), asks.into(), args.max_memory);
    Ok(Division { states, ..division.map_err(CommandError::usage)? })
}

/// Returns the server's settings.
pub(super) fn settings(args: &ServeArgs, memory: Division) -> ServerSettings {
    ServerSettings {
        bind: args.bind,
        metrics_bind: args.metrics_bind,
        max_queries: usize::from(args.max_queries),
        max_asks: usize::from(args.max_asks),
        max_waiting: args.max_waiting,
        queue_timeout: Duration::from_secs(args.max_wait),
        // One day is the longest wait, so that adding it to an instant cannot overflow.
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
        datasets: args.dataset.clone(),
        page: None,
        sites: SitePolicy {
            hosts: args.public_host.clone(),
            // Each value was already parsed as an option.
            pages: AllowedPages::of(args.cors.iter().map(String::as_str)).unwrap_or_default(),
        },
    }
}

/// Opens the served data, with at most this many bytes of decoded pages.
pub(super) fn data(snapshot: &Path, docs: Option<&Path>, cache: u64) -> Result<Engine, CommandError> {
    open::engine_with(snapshot, EngineOptions { cache, docs: open::tag_docs(docs)? })
}

/// Returns the configured model with its examples, if there is one.
fn asker(args: &ServeArgs) -> Result<Option<Asker>, CommandError> {
    let Some(mut asker) = args.model.asker()? else {
        return match args.examples.is_given() {
            true => Err(CommandError::usage("examples without a model: also pass --model-url and --model-name")),
            false => Ok(None),
        };
    };
    args.examples.apply(&mut asker.settings);
    if let Some(examples) = args.examples.read()? {
        asker.settings.examples = Some(examples.into_selector(&args.model, None)?);
    }
    Ok(Some(asker))
}

/// Runs the command. `matches` are its parsed options.
pub fn run(args: &ServeArgs, matches: Option<&ArgMatches>) -> Result<(), CommandError> {
    let Some(snapshot) = &args.snapshot else {
        return Err(CommandError::usage(
            "no snapshot: pass it on the command line, in TERRAPIN_SNAPSHOT or as `snapshot` in the --config file",
        ));
    };
    if args.metrics_bind.is_some_and(|address| address == args.bind && address.port() != 0) {
        return Err(CommandError::usage(format!("--bind and --metrics-bind are both {}: use two ports", args.bind)));
    }
    let tokens =
        args.tokens.as_deref().map(TokenFile::read).transpose().map_err(|e| CommandError::input("tokens", e))?;
    let memory = division(args, snapshot)?;
    let asker = asker(args)?;
    args.annotation.check(args.bind, tokens.is_some())?;
    let page = args.page.as_deref().map(identity::read).transpose()?;
    let engine = data(snapshot, args.tag_docs.as_deref(), memory.cache)?;
    if let (true, Some(matches)) = (args.check_config, matches) {
        let command = ServeArgs::augment_args(Command::new(super::SERVE));
        return stdout::print(&config::effective(&command, matches)?);
    }
    // Kept until the end: dropping it writes the remaining log lines.
    let _log = log::start(args.log)
        .map_err(|e| CommandError::system("log", format!("cannot start the thread for the log: {e}")))?;
    let desk = args.annotation.open()?;
    let settings = ServerSettings { page, ..settings(args, memory) };
    let name = engine.digest().to_owned();
    let ready = |at: Addresses| {
        let url = |address: SocketAddr| format!("http://{address}");
        // The server also runs if its standard output is closed.
        let _ = if args.json {
            let metrics = at.metrics.map(url);
            stdout::print_json(&serde_json::json!({"url": url(at.public), "metrics": metrics, "snapshot": name}))
        } else {
            stdout::print(&format!("serving snapshot {name} at {}/api/interpreter\n", url(at.public)))
        };
    };
    server::serve(engine, asker, desk, settings, tokens, ready)
        .map_err(|e| CommandError::system("serve", format!("cannot serve at {}: {e}", args.bind)))
}
