//! The HTTP services over one open snapshot: a file a service. May use the query engine and the snapshot's facts; knows
//! nothing of loading, and keeps no state but the queries that run now.

mod cgi;
mod convert;
mod feedback;
mod gate;
mod health;
mod home;
mod interpreter;
mod json;
pub mod memory;
mod metrics;
mod page;
mod pipe;
mod running;
mod score;
mod search;
mod sparql;
mod status;
mod timestamp;

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::DefaultBodyLimit;
use axum::http::{HeaderName, Method, header};
use axum::routing::{get, post};
use tower_http::compression::CompressionLayer;
use tower_http::cors::{Any, CorsLayer};

use crate::osm::Osm;
use crate::rdf::Store;
use crate::snapshot::Manifest;
use gate::Gate;
use metrics::Metrics;
use running::Register;

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
    /// How long running queries may go on after the server was told to stop.
    pub grace: Duration,
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
    sparql: Option<sparql::Endpoint>,
    about: About,
    settings: Settings,
    gate: Gate,
    running: Arc<Register>,
    metrics: Metrics,
}

/// Serves until SIGINT or SIGTERM, then lets running queries end within the grace time. `ready` is called with the
/// address once the server listens.
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
        // A thread a query, and some for the runtime's own blocking calls.
        .max_blocking_threads(settings.max_queries + 8)
        .build()?;
    let gate = Gate::new(settings.max_queries, settings.max_waiting, settings.patience);
    let sparql = triples.map(|store| sparql::Endpoint::new(store, &about));
    let app = Arc::new(App { osm, sparql, about, settings, gate, running: Arc::default(), metrics });
    let result = runtime.block_on(listen(Arc::clone(&app), ready));
    // Whatever still runs was cancelled and looks at that every few milliseconds.
    runtime.shutdown_timeout(Duration::from_secs(2));
    result
}

async fn listen(app: Arc<App>, ready: impl FnOnce(SocketAddr)) -> io::Result<()> {
    let listener = tokio::net::TcpListener::bind(app.settings.bind).await?;
    let signals = Signals::hear()?;
    ready(listener.local_addr()?);
    let upkeep = tokio::spawn(metrics::upkeep(Arc::clone(&app)));
    let (told, stopping) = tokio::sync::oneshot::channel();
    let server = axum::serve(listener, router(Arc::clone(&app))).with_graceful_shutdown({
        let app = Arc::clone(&app);
        async move {
            signals.told().await;
            tracing::info!("stopping: no new queries, {} running", app.running.list().len());
            app.gate.close();
            let _ = told.send(());
        }
    });
    let last_call = async {
        // Without the signal the server ends by itself, and this must not end first.
        if stopping.await.is_err() {
            std::future::pending::<()>().await;
        }
        tokio::time::sleep(app.settings.grace).await;
        app.running.cancel_all();
        tokio::time::sleep(Duration::from_secs(1)).await;
        tracing::warn!("stopped with connections open");
    };
    let result = tokio::select! {
        result = server.into_future() => result,
        () = last_call => Ok(()),
    };
    upkeep.abort();
    result
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
        .route("/metrics", get(metrics::metrics))
        .layer(DefaultBodyLimit::max(app.settings.max_body))
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

    /// Returns when one came.
    #[cfg(unix)]
    async fn told(mut self) {
        tokio::select! {
            _ = self.interrupt.recv() => {}
            _ = self.terminate.recv() => {}
        }
    }

    #[cfg(not(unix))]
    async fn told(self) {
        if tokio::signal::ctrl_c().await.is_err() {
            std::future::pending::<()>().await;
        }
    }
}
