//! The HTTP services over one open snapshot: a file a service. May use the query engine and the snapshot's facts; knows
//! nothing of loading, and keeps no state but the queries that run now.
//!
//! ```text
//! connections.rs   accepts, bounds and ends connections
//! body.rs          reads a request's body, bounded
//! client.rs        who a request comes from
//! job.rs           what a service does with a request: gate.rs lets it in, workers.rs gives it a thread,
//!                  running.rs lists it
//! pipe.rs          from that thread to the client; spool.rs is where an answer lies until it is read
//! interpreter.rs, sparql/, convert.rs, search.rs, feedback.rs, score.rs (both by json.rs)
//!                  services that parse or run what somebody sent
//! home.rs, status.rs, timestamp.rs, health.rs, metrics.rs
//!                  services that only tell what is known
//! ```

mod body;
mod cgi;
mod client;
mod connections;
mod convert;
mod feedback;
mod gate;
mod health;
mod home;
mod interpreter;
mod job;
mod json;
pub mod memory;
mod metrics;
mod page;
mod pipe;
mod running;
mod score;
mod search;
mod sparql;
mod spool;
mod status;
mod timestamp;
mod workers;

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::http::{HeaderName, Method, header};
use axum::routing::{get, post};
use tower_http::compression::CompressionLayer;
use tower_http::cors::{Any, CorsLayer};

use crate::osm::Osm;
use crate::rdf::Store;
use crate::snapshot::Manifest;
use body::Bodies;
use connections::Connections;
use job::Gates;
use metrics::Metrics;
use running::Register;
use spool::Spool;
use workers::Workers;

pub use connections::ConnectionLimits;
pub use spool::SpoolLimits;
pub use workers::STACK;

/// The header that names the snapshot which an answer comes from.
const SNAPSHOT_HEADER: HeaderName = HeaderName::from_static("x-terrapin-snapshot");

/// How the server is run.
#[derive(Debug, Clone)]
pub struct Settings {
    /// Where it listens; port 0 takes any free one.
    pub bind: SocketAddr,
    /// Queries that run at once, at least 1.
    pub max_queries: usize,
    /// Queries that wait behind them.
    pub max_waiting: usize,
    /// How long they wait.
    pub patience: Duration,
    /// No query runs longer, whatever its own `[timeout:]`.
    pub max_time: Duration,
    /// No query holds more bytes, whatever its own `[maxsize:]`.
    pub max_memory: u64,
    /// The longest request body in bytes.
    pub max_body: usize,
    /// How long the port stays open after the server was told to stop, with new queries refused.
    pub drain_delay: Duration,
    /// How long running queries may go on after that.
    pub grace: Duration,
    /// What bounds connections.
    pub connections: ConnectionLimits,
    /// What is put aside of answers for slow clients.
    pub spool: SpoolLimits,
}

/// What the services tell of the snapshot.
#[derive(Debug, Clone)]
pub struct About {
    /// Its name: the digest of its manifest.
    pub digest: String,
    /// Its manifest.
    pub manifest: Manifest,
}

/// What every service has.
struct App {
    osm: Arc<Osm>,
    sparql: Option<Arc<sparql::Endpoint>>,
    about: About,
    settings: Settings,
    connections: Arc<Connections>,
    bodies: Bodies,
    gates: Gates,
    workers: Workers,
    spool: Arc<Spool>,
    running: Arc<Register>,
    metrics: Metrics,
}

/// Serves until SIGINT or SIGTERM, then refuses new queries and lets running ones end: for the delay with the port open,
/// so that whoever sends requests here can find out, then for the grace time. A second signal ends it at once. `ready` is
/// called with the address once the server listens.
pub fn serve(
    osm: Arc<Osm>,
    triples: Option<Arc<Store>>,
    about: About,
    settings: Settings,
    ready: impl FnOnce(SocketAddr),
) -> io::Result<()> {
    let metrics = Metrics::install(&about)?;
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        // They only read answers that were put aside; queries have threads of their own.
        .max_blocking_threads(16)
        .build()?;
    let gates = Gates::new(settings.max_queries, settings.max_waiting, settings.patience);
    let app = Arc::new(App {
        osm,
        sparql: triples.map(|store| Arc::new(sparql::Endpoint::new(store, &about))),
        about,
        connections: Connections::new(settings.connections.clone()),
        bodies: Bodies::new(settings.max_body, settings.connections.body, settings.connections.memory),
        workers: Workers::new(gates.total()),
        gates,
        spool: Spool::new(settings.spool.clone()),
        settings,
        running: Arc::default(),
        metrics,
    });
    let result = runtime.block_on(listen(app, ready));
    // Whatever still runs was cancelled; its thread ends with the process at the latest.
    runtime.shutdown_timeout(Duration::from_millis(100));
    result
}

async fn listen(app: Arc<App>, ready: impl FnOnce(SocketAddr)) -> io::Result<()> {
    let listener = connections::listen(app.settings.bind)?;
    let mut signals = Signals::hear()?;
    ready(listener.local_addr()?);
    tokio::spawn(metrics::upkeep(Arc::clone(&app)));
    tokio::spawn(Arc::clone(&app.connections).sweep());
    let mut accepting = Box::pin(Arc::clone(&app.connections).serve(listener, router(Arc::clone(&app))));
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
            tracing::warn!("told twice: stopped at once, with {} queries running", app.running.list().len());
            app.running.cancel_all();
        }
    }
    Ok(())
}

fn router(app: Arc<App>) -> Router {
    let cors = CorsLayer::new()
        .allow_origin(Any)
        .allow_methods([Method::GET, Method::POST, Method::OPTIONS])
        .allow_headers(Any)
        .expose_headers([header::CONTENT_LENGTH, SNAPSHOT_HEADER])
        .max_age(Duration::from_secs(600));
    Router::new()
        .route("/", get(home::home))
        .route("/api/interpreter", get(interpreter::interpreter).post(interpreter::interpreter))
        .route("/api/convert", get(convert::convert).post(convert::convert))
        .route("/sparql", get(sparql::sparql).post(sparql::sparql))
        .route("/sparql/", get(sparql::sparql).post(sparql::sparql))
        .route("/feedback", post(feedback::feedback))
        .route("/score", post(score::score))
        .route("/search", get(search::search))
        .route("/search.php", get(search::search))
        .route("/api/status", get(status::status))
        .route("/api/timestamp", get(timestamp::timestamp))
        .route("/healthz", get(health::health))
        .route("/readyz", get(health::readiness))
        .route("/metrics", get(metrics::metrics))
        .layer(CompressionLayer::new())
        .layer(cors)
        .with_state(app)
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
