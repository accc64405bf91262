//! Scores predictions against a benchmark's gold queries, as its authors do and more strictly.
//!
//! Uses both engines, `geocoder` and `osm`, and is the only crate with SQLite. It does not know the command line or
//! HTTP. Scores do not depend on the number of threads, the clock or the machine.
//!
//! - `input` reads files of predictions and instances in any format.
//! - `record` describes an instance and its outcome.
//! - `metrics` compares two results or two queries, one metric per file; `metric` describes a metric.
//! - `benchmarks` prepares and runs the instances of a benchmark and registers its metrics, one benchmark per file.
//! - `cache` stores results for other runs.
//! - `runs` scores many instances and stores the outcomes; `scoring` scores single pairs for interactive clients.
//! - `summary` aggregates records; `report` renders them.
//! - `feedback` helps to repair a query.
//! - `labels` writes queries with labels in place of identifiers.
//! - `moving` moves a benchmark to another snapshot.
//! - `dataset` checks a benchmark's questions and gold queries against a snapshot.
//! - `region` computes the part of the globe that gold queries need.
//! - `annotation` keeps the questions that people write for queries, and their validation.
//!
//! The crate `reply` finds the query in a model's reply, and its language.

pub mod about;
pub mod annotation;
pub mod benchmarks;
pub mod bootstrap;
pub mod cache;
pub mod dataset;
pub mod difficulty;
pub mod error;
pub mod feedback;
pub mod files;
pub mod input;
pub mod labels;
mod lock;
pub mod metric;
pub mod metrics;
pub mod moving;
pub mod record;
pub mod region;
pub mod report;
pub mod runs;
pub mod scoring;
pub mod summary;

pub use terrapin_reply::{self as reply, language};

/// Rounds a score to 1e-12, so that every JSON reader gets the same number and recomputed values equal stored ones.
pub(crate) fn stored(score: f64) -> f64 {
    (score * 1e12).round() / 1e12
}
