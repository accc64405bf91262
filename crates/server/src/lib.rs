//! The HTTP services over one open snapshot, one file each. The crate may use the query engines, the tools of agents and the
//! snapshot's facts. It does not know loading or commands. It keeps no data of clients, only running queries, quotas, tokens,
//! and caches of tiles and of scored results.
//!
//! ```text
//! connections.rs   accepts, limits and closes connections
//! router.rs        builds the router from the table of routes in services/mod.rs; route.rs is an entry of the table
//! access.rs        the outermost layer: request ids and the access log; context.rs is a request's identity, found by
//!                  proxies.rs, tokens.rs and client.rs
//! sites.rs         rejects pages of other sites on routes that change something or cost money
//! admit.rs         rejects requests without a required token and clients over their quota: tokens.rs, quota.rs
//! body.rs          reads a request's body, bounded; form.rs decodes forms and query strings
//! service.rs       what services have in common: they run through a job, and word their refusals; outcome.rs is how a
//!                  query ended
//! job.rs           a service's work on a request: gate.rs admits it, workers.rs gives it a thread, running.rs lists it;
//!                  trial.rs has threads for queries that find no slot
//! pipe.rs          from that thread to the client; spool.rs stores an answer until the client reads it
//! services/        the services, one file each
//! json.rs, page.rs the refusals of our own services and of Overpass API; request.rs the parameters of an OverpassQL
//!                  query, accept.rs the header Accept, etag.rs conditional requests
//! metrics.rs, status, health, kill
//!                  for operators; admin.rs serves them at an address of their own; reload.rs reads the tokens again
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
mod reload;
mod request;
mod route;
mod router;
mod running;
mod service;
mod services;
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
use spool::Spool;
use terrapin_assist::ask::Asker;
use terrapin_engine::Engine;
use terrapin_eval::cache::InMemory;
use terrapin_osm::history::StateSettings;
use terrapin_tiles::Tiles;
use trial::Trials;
use workers::Workers;

pub use connections::ConnectionLimits;
pub use memory::Division;
pub use sites::{AllowedPages, HostName, SitePolicy};
pub use spool::SpoolLimits;
pub use tokens::Tokens;

/// The header that names the snapshot which an answer comes from.
const SNAPSHOT_HEADER: HeaderName = HeaderName::from_static("x-terrapin-snapshot");

/// How the server is run.
#[derive(Debug, Clone)]
pub struct Settings {
    /// Where it listens; port 0 takes any free one.
    pub bind: SocketAddr,
    /// Where `/metrics` and what else is for operators is; with the other services where there is no such address.
    pub metrics_bind: Option<SocketAddr>,
    /// Queries that run at once, at least 1.
    pub max_queries: usize,
    /// Questions in plain language that are worked on at once.
    pub max_asks: usize,
    /// Queries that wait behind them.
    pub max_waiting: usize,
    /// How long they wait.
    pub queue_timeout: Duration,
    /// No query runs longer, whatever its own `[timeout:]`.
    pub max_time: Duration,
    /// How long a query is tried while all slots are taken; none is where this is zero.
    pub trial: Duration,
    /// How memory is divided. No query holds more than its share, whatever its own `[maxsize:]`.
    pub memory: Division,
    /// The longest request body in bytes.
    pub max_body: usize,
    /// Queries that a client has at once, any number where 0.
    pub client_queries: u32,
    /// Seconds of work that a client may ask for in a minute, any number where 0.
    pub client_seconds: u32,
    /// The proxies whose `X-Forwarded-For` is believed.
    pub trusted_proxies: Vec<IpNet>,
    /// How long the port stays open after the server was told to stop, with new queries refused.
    pub drain_delay: Duration,
    /// How long running queries may go on after that.
    pub grace: Duration,
    /// What bounds connections.
    pub connections: ConnectionLimits,
    /// What is put aside of answers for slow clients.
    pub spool: SpoolLimits,
    /// The server's names, and the pages of other sites that may use it.
    pub sites: SitePolicy,
}

/// Where a server listens.
#[derive(Debug, Clone, Copy)]
pub struct Addresses {
    /// For everybody.
    pub public: SocketAddr,
    /// For operators, where they have an address of their own.
    pub metrics: Option<SocketAddr>,
}

/// What every service has.
struct App {
    routes: Routes,
    engine: Engine,
    settings: Settings,
    connections: Arc<Connections>,
    bodies: Bodies,
    quota: Arc<Quota>,
    tokens: Option<Tokens>,
    gates: Gates,
    workers: Workers,
    /// Where queries are tried while all slots are taken.
    trials: Option<Trials>,
    spool: Arc<Spool>,
    tiles: Tiles,
    /// What queries gave that were scored.
    results: InMemory,
    running: Arc<Register>,
    /// What the last queries cost.
    costs: Costs,
    metrics: Metrics,
    /// Who answers questions in plain language, where a model is named.
    asker: Option<Asker>,
}

impl App {
    fn new(engine: Engine, asker: Option<Asker>, settings: Settings, tokens: Option<Tokens>) -> io::Result<Arc<App>> {
        let metrics = Metrics::install(&engine)?;
        engine.osm().set_states(StateSettings::within(settings.spool.folder.clone(), settings.memory.states));
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
            spool: Spool::new(settings.spool.clone()),
            tiles: Tiles::new(settings.memory.tiles),
            results: InMemory::new(usize::try_from(settings.memory.results).unwrap_or(usize::MAX)),
            settings,
            running: Arc::default(),
            costs: Costs::default(),
            metrics,
            asker,
        }))
    }
}

impl App {
    /// Returns the routes of the public address.
    fn offered_routes(&self) -> impl Iterator<Item = &'static Route> {
        let has_operators_address = self.settings.metrics_bind.is_some();
        self.routes.all().filter(move |route| !(route.access == Access::Operator && has_operators_address))
    }

    /// Returns those of them that documents show.
    fn shown_routes(&self) -> impl Iterator<Item = &'static Route> {
        let has_model = self.asker.is_some();
        self.offered_routes().filter(move |route| !route.is_hidden && (has_model || !route.needs_model))
    }
}

fn runtime() -> io::Result<tokio::runtime::Runtime> {
    // Its threads for blocking calls only read answers that were put aside; queries have threads of their own.
    tokio::runtime::Builder::new_multi_thread().enable_all().max_blocking_threads(16).build()
}

/// Serves until SIGINT or SIGTERM, then refuses new queries and lets running ones end: for the delay with the port open,
/// so that whoever sends requests here can find out, then for the grace time. A second signal ends it at once. Where there
/// are `tokens`, queries need one. `ready` is called with the addresses once the server listens.
pub fn serve(
    engine: Engine,
    asker: Option<Asker>,
    settings: Settings,
    tokens: Option<Tokens>,
    ready: impl FnOnce(Addresses),
) -> io::Result<()> {
    let runtime = runtime()?;
    let app = runtime.block_on(async { App::new(engine, asker, settings, tokens) })?;
    let result = runtime.block_on(listen(app, ready));
    // Whatever still runs was cancelled; its thread ends with the process at the latest.
    runtime.shutdown_timeout(Duration::from_millis(100));
    result
}

/// Offers the tools of `terrapin_assist::agents` by the Model Context Protocol on standard input and output, until the input ends.
/// Nothing is listened to.
pub fn serve_pipe(engine: Engine, settings: Settings) -> io::Result<()> {
    let runtime = runtime()?;
    let app = runtime.block_on(async { App::new(engine, None, settings, None) })?;
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
            // Time for those who were cancelled to say so.
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

/// The signals by which the server is told to stop.
struct Signals {
    #[cfg(unix)]
    interrupt: tokio::signal::unix::Signal,
    #[cfg(unix)]
    terminate: tokio::signal::unix::Signal,
}

impl Signals {
    /// From here on they are heard, even before anybody waits for them.
    #[cfg(unix)]
    fn hear() -> io::Result<Self> {
        use tokio::signal::unix::{SignalKind, signal};
        Ok(Signals { interrupt: signal(SignalKind::interrupt())?, terminate: signal(SignalKind::terminate())? })
    }

    #[cfg(not(unix))]
    fn hear() -> io::Result<Self> {
        Ok(Signals {})
    }

    /// Returns when one came, each time.
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
