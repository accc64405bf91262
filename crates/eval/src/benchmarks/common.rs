//! The metrics that the benchmarks of both languages share.

use super::{order, suite, texts, unknown};
use crate::metric::Metric;

/// Returns the metrics of both languages: of the texts, of identifiers, of ordered results, of a suite.
pub fn common_metrics() -> impl Iterator<Item = &'static Metric> {
    [&texts::METRIC].into_iter().chain(unknown::METRICS).chain(order::METRICS).chain([&suite::METRIC])
}
