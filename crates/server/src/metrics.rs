//! `/metrics`: counters for Prometheus.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use ::metrics::{counter, describe_counter, describe_gauge, describe_histogram, gauge, histogram};
use axum::extract::State;
use axum::http::header;
use axum::response::IntoResponse;
use axum::routing::on;
use metrics_exporter_prometheus::{PrometheusBuilder, PrometheusHandle};
use metrics_process::Collector;

use crate::App;
use crate::outcome::Outcome;
use crate::rejected::Rejected;
use crate::route::{Access, Route, TEXT};
use terrapin_engine::Engine;

/// The route of metrics.
pub const ROUTES: &[Route] = &[Route::get("/metrics", "Metrics for Prometheus", |_, methods| on(methods, metrics))
    .answers(&[TEXT])
    .access(Access::Operator)
    .for_operators(|_, methods| on(methods, metrics))];

/// Upper bounds of the histogram buckets of query times, in seconds.
const BUCKETS: [f64; 14] = [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 5.0, 20.0, 60.0, 180.0];

/// Counts a request as in flight, once its head was read.
pub fn request_began() {
    gauge!("terrapin_requests_in_flight").increment(1.0);
}

/// Counts a request with a finished response. `route` is a route pattern of the router, which keeps the number of label
/// values small.
pub fn request_ended(route: &str, status: u16, whole: bool, took: Duration) {
    let class = match status {
        0..200 => "1xx",
        200..300 => "2xx",
        300..400 => "3xx",
        400..500 => "4xx",
        _ => "5xx",
    };
    gauge!("terrapin_requests_in_flight").decrement(1.0);
    counter!("terrapin_requests_total", "route" => route.to_owned(), "status" => class).increment(1);
    histogram!("terrapin_request_seconds", "route" => route.to_owned()).record(took.as_secs_f64());
    if !whole {
        counter!("terrapin_answers_broken_off_total").increment(1);
    }
}

/// The Prometheus recorder and the collector of process metrics.
pub struct Metrics {
    handle: PrometheusHandle,
    process: Collector,
}

impl Metrics {
    /// Installs the process's recorder; must be called at most once in a process.
    pub fn install(engine: &Engine) -> io::Result<Self> {
        let handle = PrometheusBuilder::new()
            .set_buckets(&BUCKETS)
            .and_then(PrometheusBuilder::install_recorder)
            .map_err(io::Error::other)?;
        describe_counter!("terrapin_queries_total", "Queries by outcome.");
        describe_histogram!("terrapin_query_seconds", "Seconds from a query's start to its answer's last byte.");
        describe_counter!("terrapin_answer_bytes_total", "Bytes of answers, before compression.");
        describe_counter!("terrapin_answer_elements_total", "Elements in answers.");
        describe_counter!("terrapin_requests_total", "Requests by route and class of status.");
        describe_histogram!("terrapin_request_seconds", "Seconds from a request's head to its answer's last byte.");
        describe_gauge!("terrapin_requests_in_flight", "Requests in progress.");
        describe_counter!("terrapin_answers_broken_off_total", "Answers that were broken off.");
        describe_counter!("terrapin_rejected_total", "Rejected requests by reason.");
        describe_gauge!("terrapin_clients", "Clients with a tracked quota.");
        describe_gauge!("terrapin_queries_running", "Running queries.");
        describe_gauge!("terrapin_queries_waiting", "Queries waiting for a slot.");
        describe_gauge!("terrapin_query_slots", "Maximum number of concurrent queries.");
        describe_gauge!("terrapin_connections", "Open connections.");
        describe_gauge!("terrapin_spool_memory_bytes", "Bytes of answers buffered in memory.");
        describe_gauge!("terrapin_spool_file_bytes", "Bytes of answers spilled to files for slow clients.");
        describe_gauge!("terrapin_snapshot_info", "1; the labels name the snapshot.");
        describe_gauge!("terrapin_snapshot_elements", "Elements of the snapshot by type.");
        describe_gauge!("terrapin_snapshot_data_timestamp_seconds", "The time of the data.");
        let counts = &engine.manifest().counts;
        gauge!("terrapin_snapshot_info", "digest" => engine.digest().to_owned(), "version" => env!("CARGO_PKG_VERSION"))
            .set(1.0);
        for (kind, n) in
            [("node", counts.nodes), ("way", counts.ways), ("relation", counts.relations), ("area", counts.areas)]
        {
            gauge!("terrapin_snapshot_elements", "type" => kind).set(n as f64);
        }
        gauge!("terrapin_snapshot_data_timestamp_seconds").set(engine.manifest().data_timestamp as f64);
        let process = Collector::default();
        process.describe();
        Ok(Metrics { handle, process })
    }

    /// Counts a finished query.
    pub fn finished(&self, outcome: Outcome, took: Duration, bytes: u64, elements: u64) {
        self.refused(outcome);
        histogram!("terrapin_query_seconds").record(took.as_secs_f64());
        counter!("terrapin_answer_bytes_total").increment(bytes);
        counter!("terrapin_answer_elements_total").increment(elements);
    }

    /// Counts a query that ended before it ran.
    pub fn refused(&self, outcome: Outcome) {
        counter!("terrapin_queries_total", "outcome" => outcome.name()).increment(1);
    }

    /// Counts a rejected request.
    pub fn rejected(&self, why: &Rejected) {
        if let Some(reason) = why.reason() {
            counter!("terrapin_rejected_total", "reason" => reason).increment(1);
        }
    }
}

/// Returns all metrics in the text format of Prometheus.
pub async fn metrics(State(app): State<Arc<App>>) -> impl IntoResponse {
    gauge!("terrapin_query_slots").set(app.gates.queries.total() as f64);
    let in_slots = app.running.list().iter().filter(|(_, query)| query.in_slot).count();
    gauge!("terrapin_queries_running").set(in_slots as f64);
    gauge!("terrapin_queries_waiting").set(app.gates.queries.waiting() as f64);
    gauge!("terrapin_connections").set(app.connections.open() as f64);
    gauge!("terrapin_spool_memory_bytes").set(app.spool.memory_taken() as f64);
    gauge!("terrapin_spool_file_bytes").set(app.spool.on_disk() as f64);
    gauge!("terrapin_clients").set(app.quota.clients() as f64);
    app.metrics.process.collect();
    ([(header::CONTENT_TYPE, "text/plain; version=0.0.4; charset=utf-8")], app.metrics.handle.render())
}

/// Compacts the recorder's histograms regularly, also when no client reads the metrics. Never returns.
pub async fn upkeep(app: Arc<App>) {
    let mut every = tokio::time::interval(Duration::from_secs(5));
    loop {
        every.tick().await;
        app.metrics.handle.run_upkeep();
    }
}
