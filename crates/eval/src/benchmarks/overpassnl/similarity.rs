//! Compares two queries as texts and trees, with chrF, KVS, TreeS, OQS and exact match like OverpassNL's evaluation.
//! Runs no queries.

use std::cell::OnceCell;

use super::stand_ins::without_shortcuts;
use crate::metric::{Metric, ScoreSource};
use crate::metrics::query_tree::QueryTree;
use crate::metrics::{chrf, exact_match, is_python_space, kvs, oqs, trees};
use crate::record::{ResultRecord, Score, Scores};
use crate::stored;
use terrapin_overpass::convert::{self, ConversionForm};

/// A metric of the query texts.
struct Similarity {
    metric: Metric,
    compute: Compute,
}

/// The computation of a metric from a pair of queries.
enum Compute {
    Flag(fn(&SimilarityPair<'_>) -> bool),
    Share(fn(&SimilarityPair<'_>) -> f64),
}

/// The inputs of the metrics and shared intermediate results.
struct SimilarityPair<'a> {
    gold: &'a str,
    pred: &'a str,
    gold_tree: QueryTree,
    pred_tree: QueryTree,
    chrf: OnceCell<f64>,
    kvs: OnceCell<f64>,
    trees: OnceCell<f64>,
}

impl<'a> SimilarityPair<'a> {
    fn new(gold: &'a str, pred: &'a str) -> SimilarityPair<'a> {
        let (gold_tree, pred_tree) = (tree(gold), tree(pred));
        let (chrf, kvs, trees) = Default::default();
        SimilarityPair { gold, pred, gold_tree, pred_tree, chrf, kvs, trees }
    }

    fn chrf(&self) -> f64 {
        *self.chrf.get_or_init(|| chrf::chrf(self.gold, self.pred))
    }

    fn kvs(&self) -> f64 {
        *self.kvs.get_or_init(|| kvs::kvs(&self.gold_tree, &self.pred_tree))
    }

    fn trees(&self) -> f64 {
        *self.trees.get_or_init(|| trees::trees(&self.gold_tree, &self.pred_tree))
    }
}

const fn of_texts(name: &'static str, title: &'static str, meaning: &'static str, compute: Compute) -> Similarity {
    Similarity { metric: Metric::of_texts(name, title, meaning, ScoreSource::Named), compute }
}

/// In the published order of a record's fields.
static SIMILARITIES: &[Similarity] = &[
    of_texts(
        "chrf",
        "chrF",
        "The F-score of the character n-grams that the queries have in common, recall before precision, 0 to 1.",
        Compute::Share(|pair| pair.chrf()),
    ),
    of_texts(
        "kvs",
        "KVS",
        "The share of keys, values and pairs of both that the queries' tag filters have in common, 0 to 1.",
        Compute::Share(|pair| pair.kvs()),
    ),
    of_texts(
        "trees",
        "TreeS",
        "The share of the subtrees of the gold query's XML form that the prediction's has, too, 0 to 1.",
        Compute::Share(|pair| pair.trees()),
    ),
    of_texts(
        "oqs",
        "OQS",
        "Overpass query similarity: the mean of chrF, KVS and TreeS, 0 to 1.",
        Compute::Share(|pair| oqs::oqs(pair.chrf(), pair.kvs(), pair.trees())),
    ),
    of_texts(
        "em",
        "EM",
        "1 where the queries are the same text but for output format, time limit and white space, else 0.",
        Compute::Flag(|pair| exact_match::exact_match(pair.gold, pair.pred)),
    ),
];

/// Returns the metrics in the order of the paper's table: exact match first.
pub fn metrics() -> impl Iterator<Item = &'static Metric> {
    let is_first = |metric: &&Metric| metric.name == "em";
    let all = || SIMILARITIES.iter().map(|similarity| &similarity.metric);
    all().filter(is_first).chain(all().filter(move |metric| !is_first(metric)))
}

/// Compares two lines of the dataset, with their shortcuts.
pub fn similarity(gold: &str, pred: &str) -> Scores {
    let (gold, pred) = (gold.trim_matches(is_python_space), pred.trim_matches(is_python_space));
    let pair = SimilarityPair::new(gold, pred);
    scores(|compute| match compute {
        Compute::Flag(flag) => Score::Flag(flag(&pair)),
        Compute::Share(share) => Score::Share(stored(share(&pair))),
    })
}

/// Returns the scores of two queries that cannot be compared.
pub fn unlike() -> Scores {
    scores(|compute| match compute {
        Compute::Flag(_) => Score::Flag(false),
        Compute::Share(_) => Score::Share(0.0),
    })
}

/// Reports whether the queries of a record were compared.
pub fn is_compared(record: &ResultRecord) -> bool {
    SIMILARITIES.iter().any(|similarity| similarity.metric.score(record).is_some())
}

fn scores(score: impl Fn(&Compute) -> Score) -> Scores {
    let mut scores = Scores::default();
    for Similarity { metric, compute } in SIMILARITIES {
        scores.set(metric.name, score(compute));
    }
    scores
}

/// Returns the tree of a query; an empty script if the text cannot be read.
pub(crate) fn tree(query: &str) -> QueryTree {
    let text = without_shortcuts(query);
    match convert::convert(&text, ConversionForm::Xml) {
        Ok(converted) => QueryTree::of_xml(&converted.text),
        Err(_) => QueryTree::empty(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line() {
        let gold = "[out:json];node[amenity=cafe]({{bbox}});out;";
        let same = similarity(gold, " [out:xml]; node[amenity=cafe]({{bbox}});out; ");
        // The output format is part of the tree's root.
        assert_eq!(["em", "kvs", "trees"].map(|name| same.get(name)), [Some(1.0), Some(1.0), Some(0.8)]);
        assert_eq!(similarity(gold, "").get("oqs"), similarity(gold, "   ").get("oqs"));
        let nothing = r#"{"chrf":0.0,"kvs":0.0,"trees":0.0,"oqs":0.0,"em":0}"#;
        assert_eq!(serde_json::to_string(&unlike()).unwrap(), nothing);
    }
}
