//! Scoring predictions against a benchmark's gold, as the benchmark's authors do and stricter.
//!
//! May use both engines, `geocoder` and `osm`, and alone knows RocksDB; knows nothing of the command line or of HTTP. No
//! score depends on the number of threads, the clock or the machine.
//!
//! `input` reads files of predictions and instances in whatever form they come; the crate `reply` finds the query in a
//! model's reply and tells which language it begins like.
//! `record` is an instance and what came out for it, `metrics` compare two results or two queries (a file each), `metric`
//! says what a number of a record means, `benchmarks` prepare and run the instances of one benchmark and register its
//! metrics (a file each), `cache` keeps results of queries for other runs, `summary` adds records up, `report` shows them,
//! `runs` score many instances and keep what came out, `scoring` scores single pairs for whoever waits for them, `feedback`
//! says what a model needs to repair a query, `dataset` holds a benchmark's questions and gold queries against a snapshot.

pub mod about;
pub mod benchmarks;
pub mod bootstrap;
pub mod cache;
pub mod dataset;
pub mod difficulty;
pub mod error;
pub mod feedback;
pub mod files;
pub mod input;
mod lock;
pub mod metric;
pub mod metrics;
pub mod record;
pub mod report;
pub mod runs;
pub mod scoring;
pub mod summary;

pub use terrapin_reply::{self as reply, language};

/// A score as it is written: to 1e-12, so that every reader of JSON gets the same number back and what is made of the
/// files of a run equals what was made while it ran.
pub(crate) fn stored(score: f64) -> f64 {
    (score * 1e12).round() / 1e12
}
