//! The order of metrics on pages.

use crate::benchmarks;
use crate::metric::Metric;

/// The metrics shown first.
const FIRST: [&str; 2] = ["ex", "ex_soft"];

/// Returns the metrics in the order of pages: execution metrics first, because they matter most.
pub(crate) fn ordered() -> Vec<&'static Metric> {
    let mut metrics = benchmarks::metrics().to_vec();
    metrics.sort_by_key(|metric| rank(metric.name));
    metrics
}

/// Returns the rank of a metric on pages; equal ranks keep their order.
pub(crate) fn rank(metric: &str) -> usize {
    FIRST.iter().position(|name| *name == metric).unwrap_or(FIRST.len())
}
