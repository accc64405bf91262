//! The published benchmarks and the generic one for JSON lines: how each prepares and runs a query and classifies
//! errors. One file per benchmark and an entry in [`BENCHMARKS`].

mod common;
pub mod instruct_to_sparql;
pub mod jsonl;
pub mod order;
pub mod overpassnl;
pub mod parallel;
pub mod qa;
mod registration;
pub mod sparql;
pub mod suite;
pub mod text;
pub mod texts;
pub mod unknown;

pub use registration::{Benchmark, Corpus, Registration, ScoringInputs};

use std::sync::LazyLock;

use crate::metric::Metric;

/// The registry of all benchmarks, in the order of their metrics in tables.
pub static BENCHMARKS: &[&Registration] = &[
    &overpassnl::REGISTRATION,
    &instruct_to_sparql::REGISTRATION,
    &jsonl::REGISTRATION,
    &qa::QALD,
    &qa::LCQUAD2,
    &qa::SPINACH,
    &qa::GEOQUESTIONS1089,
    &qa::TEXT2SPARQL,
    &text::REGISTRATION,
];

/// Returns the benchmark with a name.
pub fn benchmark(name: &str) -> Option<&'static Registration> {
    BENCHMARKS.iter().copied().find(|benchmark| benchmark.name == name)
}

/// Returns the metrics of all benchmarks, each once. Those of OverpassNL come first, in the order of the paper's table;
/// then the stricter ones; then those of SPARQL, with their set in the name.
pub fn metrics() -> &'static [&'static Metric] {
    static METRICS: LazyLock<Vec<&'static Metric>> = LazyLock::new(|| {
        let mut metrics: Vec<&Metric> = Vec::new();
        for metric in BENCHMARKS.iter().flat_map(|benchmark| (benchmark.metrics)()) {
            if metrics.iter().all(|known| known.name != metric.name) {
                metrics.push(metric);
            }
        }
        metrics
    });
    &METRICS
}

/// Returns the metric with a name.
pub fn metric(name: &str) -> Option<&'static Metric> {
    metrics().iter().copied().find(|metric| metric.name == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn published_metrics_keep_their_order() {
        let expected = "em chrf kvs trees oqs ex ex_soft multiset f1 compat.em compat.codebleu compat.syntax \
                        compat.overlap compat.jaccard compat.dice strict.syntax strict.overlap strict.jaccard \
                        strict.dice strict.multiset strict.ordered strict.f1";
        let expected: Vec<&str> = expected.split(' ').collect();
        let names = metrics().iter().map(|metric| metric.name).filter(|name| expected.contains(name));
        assert_eq!(names.collect::<Vec<_>>(), expected);
    }

    #[test]
    fn a_name_stands_for_one_metric() {
        for metric in BENCHMARKS.iter().flat_map(|benchmark| (benchmark.metrics)()) {
            assert!(std::ptr::eq(metric, super::metric(metric.name).unwrap()), "{}", metric.name);
        }
    }

    #[test]
    fn every_metric_says_what_it_means() {
        for metric in metrics() {
            let Metric { name, title, meaning, .. } = metric;
            assert!(!title.is_empty() && meaning.ends_with('.'), "{name}: {meaning}");
            assert!(meaning.contains("0 to 1") || meaning.contains("1 where"), "{name}: no range in {meaning:?}");
        }
    }
}
