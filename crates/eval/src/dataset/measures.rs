//! The difficulty measures of OverpassNL's paper; higher is harder.

use std::collections::BTreeMap;

use rayon::iter::{IntoParallelRefIterator, ParallelIterator};

use super::answer::GoldAnswer;
use super::pairs::GoldPair;
use crate::benchmarks::overpassnl::tree;
use crate::language::QueryLanguage;
use crate::metrics::query_tree::QueryTree;
use crate::metrics::{chrf, is_python_space, kvs, oqs, trees};
use crate::stored;
use terrapin_sparql::syntax::algebra::QueryPattern;
use terrapin_sparql::syntax::walk::on_patterns;
use terrapin_sparql::{Dialect, syntax};

/// A measure of difficulty.
#[derive(Debug)]
pub struct Measure {
    /// The name as in OverpassNL's file names, after `diff_`.
    pub name: &'static str,
    /// The meaning.
    pub meaning: &'static str,
}

/// All measures.
pub static MEASURES: &[Measure] = &[
    Measure { name: "len_nl", meaning: "Characters of the question." },
    Measure { name: "len_query", meaning: "Characters of the query; of OverpassQL without its settings." },
    Measure { name: "num_results", meaning: "Results on the snapshot." },
    Measure { name: "xml_components", meaning: "Elements of the query's XML form. OverpassQL only." },
    Measure { name: "triple_patterns", meaning: "Triple patterns and paths of the query. SPARQL only." },
    Measure {
        name: "train_sim_oqo",
        meaning: "How near the nearest training query is, by OQS, as a negative number. OverpassQL only.",
    },
];

/// The split with which queries are compared.
const TRAIN: &str = "train";

/// Computes the measures of each pair. Pairs of other splits than `train` are compared with its queries, if any.
pub fn measures(pairs: &[GoldPair], answers: &[Option<&GoldAnswer>]) -> Vec<BTreeMap<&'static str, f64>> {
    let train: Vec<MeasuredText<'_>> = {
        let of = pairs.iter().filter(|pair| pair.split == TRAIN && pair.language() == QueryLanguage::OverpassQl);
        of.collect::<Vec<_>>().par_iter().map(|pair| MeasuredText::new(&pair.query)).collect()
    };
    let none = None;
    let numbered: Vec<(&GoldPair, &Option<&GoldAnswer>)> =
        pairs.iter().zip(answers.iter().chain(std::iter::repeat(&none))).collect();
    numbered.par_iter().map(|(pair, answer)| of_pair(pair, **answer, &train)).collect()
}

fn of_pair(pair: &GoldPair, answer: Option<&GoldAnswer>, train: &[MeasuredText<'_>]) -> BTreeMap<&'static str, f64> {
    let mut measures = BTreeMap::new();
    if !pair.question.is_empty() {
        measures.insert("len_nl", pair.question.chars().count() as f64);
    }
    if let Some(answer) = answer {
        measures.insert("num_results", answer.number as f64);
    }
    match pair.language() {
        QueryLanguage::OverpassQl => {
            measures.insert("len_query", without_settings(&pair.query).chars().count() as f64);
            let prepared = MeasuredText::new(&pair.query);
            measures.insert("xml_components", prepared.tree.nodes.len() as f64);
            if pair.split != TRAIN && !train.is_empty() {
                measures.insert("train_sim_oqo", stored(-nearest(&prepared, train)));
            }
        }
        QueryLanguage::Sparql => {
            measures.insert("len_query", pair.query.chars().count() as f64);
            if let Some(patterns) = triple_patterns(&pair.query) {
                measures.insert("triple_patterns", patterns as f64);
            }
        }
    }
    measures
}

/// Returns the text after the first semicolon of a query that begins with settings. Like the published numbers, this
/// is textual: a semicolon within a setting ends them.
fn without_settings(query: &str) -> &str {
    match query.split_once(';') {
        Some((_, rest)) if query.starts_with('[') => rest,
        _ => query,
    }
}

fn triple_patterns(query: &str) -> Option<usize> {
    let parsed = syntax::parse(query, Dialect::Auto).ok()?;
    let mut patterns = 0;
    for pattern in std::iter::once(&parsed.query.pattern).chain(parsed.named.iter().map(|(_, pattern)| pattern)) {
        on_patterns(pattern, &mut |pattern| match pattern {
            QueryPattern::Bgp { patterns: triples } => patterns += triples.len(),
            QueryPattern::Path { .. } => patterns += 1,
            _ => {}
        });
    }
    Some(patterns)
}

struct MeasuredText<'a> {
    text: &'a str,
    tree: QueryTree,
}

impl MeasuredText<'_> {
    fn new(query: &str) -> MeasuredText<'_> {
        let text = query.trim_matches(is_python_space);
        MeasuredText { text, tree: tree(text) }
    }
}

/// Returns the OQS of the most similar training query, with the gold scored as if it were predicted.
fn nearest(pair: &MeasuredText<'_>, train: &[MeasuredText<'_>]) -> f64 {
    let mut nearest: f64 = 0.0;
    for other in train {
        let (kvs, trees) = (kvs::kvs(&pair.tree, &other.tree), trees::trees(&pair.tree, &other.tree));
        // chrF is the slowest: skipped if even a perfect one would not suffice.
        if oqs::oqs(1.0, kvs, trees) > nearest {
            nearest = nearest.max(oqs::oqs(chrf::chrf(pair.text, other.text), kvs, trees));
        }
    }
    nearest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_end_at_the_first_semicolon() {
        assert_eq!(without_settings("[out:json][timeout:25];node(1);out;"), "node(1);out;");
        assert_eq!(without_settings("[out:csv(::id;true)];out;"), "true)];out;");
        assert_eq!(without_settings("node(1);out;"), "node(1);out;");
    }

    #[test]
    fn a_pair_has_the_measures_of_its_language() {
        let pair = |split: &str, query: &str, lang: Option<&str>| GoldPair {
            split: split.to_owned(),
            question: "Wö?".to_owned(),
            query: query.to_owned(),
            lang: lang.map(str::to_owned),
            ..GoldPair::default()
        };
        let pairs = [
            pair("train", "[out:json];node[a=b];out;", None),
            pair("dev", "[out:json];node[a=b];out;", None),
            pair("dev", "SELECT * { ?a ?b ?c . ?c (<x:p>/<x:q>)* ?d }", Some("sparql")),
        ];
        let measures = measures(&pairs, &[]);
        assert_eq!(measures[0].get("train_sim_oqo"), None);
        assert_eq!(measures[1]["train_sim_oqo"], -1.0);
        assert_eq!((measures[1]["len_nl"], measures[1]["len_query"]), (3.0, 14.0));
        assert_eq!((measures[2]["triple_patterns"], measures[2].get("xml_components")), (2.0, None));
        for (name, _) in measures.iter().flatten() {
            assert!(MEASURES.iter().any(|measure| measure.name == *name), "{name}");
        }
    }
}
