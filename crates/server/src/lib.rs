//! The HTTP services over one open snapshot, one file each. The crate may use the query engines, the tools of agents
//! and the snapshot's facts. It does not know loading or commands. It keeps no data of clients, only running queries,
//! quotas, tokens, caches of tiles and of scored results, and the work of annotators in its file.
//!
//! ```text
//! connections.rs   accepts, limits and closes connections
//! router.rs        builds the router from the table of routes in services/mod.rs; route.rs is an entry of the table,
//!                  operation.rs describes one in OpenAPI
//! access.rs        wraps every request: context.rs has the data of a request; proxies.rs, tokens.rs and client.rs
//!                  identify its client
//! sites.rs         rejects pages of other sites on routes that change something or cost money
//! admit.rs         rejects requests without a required token (tokens.rs) and clients over their quota (quota.rs)
//! body.rs          reads request bodies, with limits; form.rs decodes query strings and forms
//! service.rs       the common part of services that parse or run something: running a job, and formatting errors
//! reply.rs, rejected.rs, outcome.rs
//!                  the three ends of a request: what a handler returns, why a request was turned away before it ran,
//!                  and how a run ended
//! job.rs           runs the work of a request: gate.rs admits it, workers.rs gives it a thread, running.rs lists it;
//!                  trial.rs has the threads for queries that find all slots busy; memory.rs divides the memory
//! pipe.rs          transfers the answer from that thread to the client; spool.rs buffers it for slow clients
//! services/        the services, one file each
//! request.rs       the parameters next to an OverpassQL query; page.rs and cgi.rs format the pages of its service
//! json.rs          requests and errors of our own services
//! accept.rs, etag.rs
//!                  select the format that a client prefers, and check whether its cached copy is current
//! metrics.rs, costs.rs
//!                  metrics for Prometheus, and the costs of the last queries
//! admin.rs         the services for operators, on an address of their own; reload.rs reloads the tokens
//! ```

mod accept;
mod access;
mod admin;
mod admit;
mod body;
mod cgi;
mod client;
mod connections;
mod context;
mod costs;
mod etag;
mod form;
mod gate;
mod identity;
mod job;
mod json;
mod memory;
mod metrics;
mod operation;
mod outcome;
mod page;
mod pipe;
mod proxies;
mod quota;
mod rejected;
mod reload;
mod reply;
mod request;
mod route;
mod router;
mod running;
mod service;
mod services;
mod site_url;
mod sites;
mod spool;
mod tokens;
mod trial;
mod workers;

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::http::HeaderName;
use ipnet::IpNet;

use body::Bodies;
use connections::Connections;
use costs::Costs;
use job::Gates;
use metrics::Metrics;
use quota::Quota;
use route::{Access, Route, Routes};
use running::Register;
use spool::AnswerSpool;
use terrapin_assist::ask::Asker;
use terrapin_engine::Engine;
use terrapin_eval::annotation::AnnotationDesk;
use terrapin_eval::cache::InMemory;
use terrapin_osm::history::StateSettings;
use terrapin_tiles::TileCache;
use trial::Trials;
use workers::Workers;

pub use connections::ConnectionLimits;
pub use identity::{DefaultQuery, Logo, PageIdentity, TextPart};
pub use memory::Division;
pub use sites::{AllowedPages, HostName, SitePolicy};
pub use spool::SpoolLimits;
pub use tokens::TokenFile;

/// The response header with the snapshot that the answer comes from.
const SNAPSHOT_HEADER: HeaderName = HeaderName::from_static("x-terrapin-snapshot");

/// The settings of the server.
#[derive(Debug, Clone)]
pub struct ServerSettings {
    /// The address to listen on; port 0 takes any free one.
    pub bind: SocketAddr,
    /// The address of `/metrics` and the other services for operators. If `None`, `/metrics` is at `bind`.
    pub metrics_bind: Option<SocketAddr>,
    /// Maximum number of queries that run at once, at least 1.
    pub max_queries: usize,
    /// Maximum number of questions in plain language that are answered at once.
    pub max_asks: usize,
    /// Maximum number of requests that wait in each queue.
    pub max_waiting: usize,
    /// How long a request waits in a queue.
    pub queue_timeout: Duration,
    /// Maximum time of a query, even if its own `[timeout:]` is longer.
    pub max_time: Duration,
    /// Time of a trial when all slots are busy; zero turns trials off.
    pub trial: Duration,
    /// How memory is divided. No query holds more than its share, even if its own `[maxsize:]` is larger.
    pub memory: Division,
    /// Maximum size of a request body in bytes.
    pub max_body: usize,
    /// Maximum number of concurrent queries of one client; 0 for no limit.
    pub client_queries: u32,
    /// Maximum seconds of work for one client in a minute; 0 for no limit.
    pub client_seconds: u32,
    /// The proxies with a trusted `X-Forwarded-For` header.
    pub trusted_proxies: Vec<IpNet>,
    /// How long the port stays open after a shutdown signal. New queries are refused during this time.
    pub drain_delay: Duration,
    /// How long running queries may continue after that.
    pub grace: Duration,
    /// The limits of connections.
    pub connections: ConnectionLimits,
    /// The limits of answers buffered for slow clients.
    pub spool: SpoolLimits,
    /// The identifiers of the data in requests of TEXT2SPARQL; empty if any is accepted.
    pub datasets: Vec<String>,
    /// The operator's identity on the page.
    pub page: Option<PageIdentity>,
    /// The server's host names, and the pages of other sites that may use it.
    pub sites: SitePolicy,
}

/// The addresses that a server listens on.
#[derive(Debug, Clone, Copy)]
pub struct Addresses {
    /// The public address.
    pub public: SocketAddr,
    /// The address for operators, if it is separate.
    pub metrics: Option<SocketAddr>,
}

/// The state that all services share.
struct App {
    routes: Routes,
    engine: Engine,
    settings: ServerSettings,
    connections: Arc<Connections>,
    bodies: Bodies,
    quota: Arc<Quota>,
    tokens: Option<TokenFile>,
    gates: Gates,
    workers: Workers,
    /// The threads for trials, if they are on.
    trials: Option<Trials>,
    spool: Arc<AnswerSpool>,
    tiles: TileCache,
    /// The cache of results of scored queries.
    results: InMemory,
    running: Arc<Register>,
    /// The costs of the last queries.
    costs: Costs,
    metrics: Metrics,
    /// The model client for questions in plain language, if a model is configured.
    asker: Option<Asker>,
    /// The queue that is annotated, if there is one.
    desk: Option<AnnotationDesk>,
}

impl App {
    fn new(
        engine: Engine,
        asker: Option<Asker>,
        desk: Option<AnnotationDesk>,
        settings: ServerSettings,
        tokens: Option<TokenFile>,
    ) -> io::Result<Arc<App>> {
        let metrics = Metrics::install(&engine)?;
        let SpoolLimits { folder, total, .. } = &settings.spool;
        engine.osm().set_states(StateSettings::within(folder.clone(), *total, settings.memory.states));
        let gates = Gates::new(settings.max_queries, settings.max_asks, settings.max_waiting, settings.queue_timeout);
        let trials = (!settings.trial.is_zero()).then(|| Trials::new(settings.max_queries)).transpose()?;
        let connections = Connections::new(settings.connections.clone());
        let make_room = {
            let connections = Arc::clone(&connections);
            move || connections.drop_a_body()
        };
        let bodies = Bodies::new(settings.max_body, settings.connections.body, settings.connections.memory, make_room);
        Ok(Arc::new(App {
            routes: Routes::new(services::ROUTES),
            engine,
            connections,
            bodies,
            quota: Arc::new(Quota::new(settings.client_queries, settings.client_seconds)),
            tokens,
            workers: Workers::new(gates.total()),
            trials,
            gates,
            spool: AnswerSpool::new(settings.spool.clone()),
            tiles: TileCache::new(settings.memory.tiles),
            results: InMemory::new(usize::try_from(settings.memory.results).unwrap_or(usize::MAX)),
            settings,
            running: Arc::default(),
            costs: Costs::default(),
            metrics,
            asker,
            desk,
        }))
    }
}

impl App {
    /// Returns the routes of the public address.
    fn offered_routes(&self) -> impl Iterator<Item = &'static Route> {
        let has_operators_address = self.settings.metrics_bind.is_some();
        let has_desk = self.desk.is_some();
        self.routes.all().filter(move |route| {
            !(route.access == Access::Operator && has_operators_address) && (has_desk || !route.needs_annotation)
        })
    }

    /// Returns those of them that documents show.
    fn shown_routes(&self) -> impl Iterator<Item = &'static Route> {
        let (has_model, has_triples) = (self.asker.is_some(), self.engine.triples().is_some());
        self.offered_routes().filter(move |route| {
            !route.is_hidden && (has_model || !route.needs_model) && (has_triples || !route.needs_triples)
        })
    }
}

fn runtime() -> io::Result<tokio::runtime::Runtime> {
    // Tokio's blocking threads only read spooled answers; queries have threads of their own.
    tokio::runtime::Builder::new_multi_thread().enable_all().max_blocking_threads(16).build()
}

/// Serves until SIGINT or SIGTERM, then refuses new queries and lets running ones finish. During the drain delay the
/// port stays open, so that load balancers notice; then follows the grace time. A second signal stops the server
/// immediately. With `tokens`, queries need a token. With `desk`, its queue is
/// annotated. `ready` is called with the addresses once the server listens.
pub fn serve(
    engine: Engine,
    asker: Option<Asker>,
    desk: Option<AnnotationDesk>,
    settings: ServerSettings,
    tokens: Option<TokenFile>,
    ready: impl FnOnce(Addresses),
) -> io::Result<()> {
    let runtime = runtime()?;
    let app = runtime.block_on(async { App::new(engine, asker, desk, settings, tokens) })?;
    let result = runtime.block_on(listen(app, ready));
    // Work that still runs was cancelled. Its threads end with the process at the latest.
    runtime.shutdown_timeout(Duration::from_millis(100));
    result
}

/// Serves the tools of `terrapin_assist::agents` by the Model Context Protocol on standard input and output, until the
/// input ends. No port is opened.
pub fn serve_pipe(engine: Engine, settings: ServerSettings) -> io::Result<()> {
    let runtime = runtime()?;
    let app = runtime.block_on(async { App::new(engine, None, None, settings, None) })?;
    let result = runtime.block_on(services::mcp::over_stdio(Arc::clone(&app)));
    app.running.cancel_all();
    runtime.shutdown_timeout(Duration::from_millis(100));
    result.map_err(io::Error::other)
}

async fn listen(app: Arc<App>, ready: impl FnOnce(Addresses)) -> io::Result<()> {
    let listener = connections::listen(app.settings.bind)?;
    let metrics = app.settings.metrics_bind.map(|address| admin::listen(&app, address)).transpose()?;
    let mut signals = Signals::hear()?;
    if app.tokens.is_some() {
        reload::on_hangup(Arc::clone(&app))?;
    }
    ready(Addresses { public: listener.local_addr()?, metrics });
    tokio::spawn(metrics::upkeep(Arc::clone(&app)));
    tokio::spawn(Arc::clone(&app.connections).sweep());
    let mut accepting = Box::pin(Arc::clone(&app.connections).serve(listener, router::public(Arc::clone(&app))));
    tokio::select! {
        never = &mut accepting => match never {},
        () = signals.told() => {}
    }
    tracing::info!("stopping: no new queries, {} running", app.running.list().len());
    app.gates.close();
    app.connections.drain();
    let draining = async {
        tokio::select! {
            never = &mut accepting => match never {},
            () = tokio::time::sleep(app.settings.drain_delay) => {}
        }
        drop(accepting);
        app.connections.end();
        if tokio::time::timeout(app.settings.grace, app.connections.ended()).await.is_err() {
            app.running.cancel_all();
            // Time for the cancelled queries to send their error messages.
            if tokio::time::timeout(Duration::from_secs(1), app.connections.ended()).await.is_err() {
                tracing::warn!("stopped with {} connections open", app.connections.open());
            }
        }
    };
    tokio::select! {
        () = draining => {}
        () = signals.told() => {
            tracing::warn!("second signal: stopping immediately, {} queries aborted", app.running.list().len());
            app.running.cancel_all();
        }
    }
    Ok(())
}

/// The signals that stop the server.
struct Signals {
    #[cfg(unix)]
    interrupt: tokio::signal::unix::Signal,
    #[cfg(unix)]
    terminate: tokio::signal::unix::Signal,
}

impl Signals {
    /// Starts to receive signals, even before [`Signals::told`] is awaited.
    #[cfg(unix)]
    fn hear() -> io::Result<Self> {
        use tokio::signal::unix::{SignalKind, signal};
        Ok(Signals { interrupt: signal(SignalKind::interrupt())?, terminate: signal(SignalKind::terminate())? })
    }

    #[cfg(not(unix))]
    fn hear() -> io::Result<Self> {
        Ok(Signals {})
    }

    /// Waits for the next signal.
    #[cfg(unix)]
    async fn told(&mut self) {
        tokio::select! {
            _ = self.interrupt.recv() => {}
            _ = self.terminate.recv() => {}
        }
    }

    #[cfg(not(unix))]
    async fn told(&mut self) {
        if tokio::signal::ctrl_c().await.is_err() {
            std::future::pending::<()>().await;
        }
    }
}
