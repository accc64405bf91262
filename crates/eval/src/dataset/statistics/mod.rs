//! Describes a dataset by the figures of the papers of OverpassNL (its section 4) and Instruct-to-SPARQL.
//!
//! - `distribution` summarises numbers, with a histogram.
//! - `overpass` counts syntactic units, features, keys, values and templates of OverpassQL.
//! - `features` lists the features of OverpassQL.
//! - `sparql` counts query forms, operators, names and classes of SPARQL.
//! - `complexity` classifies SPARQL by its structure.
//! - `results` counts the results of the queries on a snapshot.
//! - `locations` counts where the results lie.
//! - `text` prints the statistics.

mod complexity;
mod distribution;
mod features;
mod locations;
mod overpass;
mod results;
mod sparql;
mod text;

pub use complexity::ComplexityClass;
pub use distribution::{Distribution, HistogramBin};
pub use features::{FEATURES, FeatureCount, OverpassFeature};
pub use locations::{CellCount, ResultLocations};
pub use overpass::OverpassStatistics;
pub use results::{ResultStatistics, results};
pub use sparql::{SparqlStatistics, complexity};

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use super::pairs::GoldPair;
use crate::language::QueryLanguage;

/// The statistics of a dataset.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct DatasetStatistics {
    /// The number of pairs.
    pub instances: usize,
    /// The number of pairs in each split.
    pub splits: BTreeMap<String, usize>,
    /// The number of pairs in each language of queries.
    pub languages: BTreeMap<String, usize>,
    /// The questions.
    pub questions: QuestionStatistics,
    /// The queries in all languages.
    pub queries: QueryStatistics,
    /// The number of pairs in each class of complexity that the files have.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub classes: BTreeMap<String, usize>,
    /// The OverpassQL.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub overpassql: Option<OverpassStatistics>,
    /// The SPARQL.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sparql: Option<SparqlStatistics>,
    /// The results on a snapshot.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub results: Option<ResultStatistics>,
}

/// The statistics of questions, including paraphrases.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct QuestionStatistics {
    /// The number of questions.
    pub questions: usize,
    /// The number of different questions.
    pub distinct: usize,
    /// The number of different words: texts between white space, with case and punctuation.
    pub distinct_words: usize,
    /// The number of different words in lower case and without punctuation.
    pub distinct_plain_words: usize,
    /// The lengths in characters.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub characters: Option<Distribution>,
    /// The lengths in words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub words: Option<Distribution>,
}

/// The statistics of queries.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct QueryStatistics {
    /// The number of different queries.
    pub distinct: usize,
    /// The number of templates named in the files.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub named_templates: Option<usize>,
    /// The lengths in characters.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub characters: Option<Distribution>,
}

/// Computes the statistics of pairs, without results.
pub fn statistics(pairs: &[GoldPair]) -> DatasetStatistics {
    let count = |name: fn(&GoldPair) -> Option<String>| {
        let mut counts: BTreeMap<String, usize> = BTreeMap::new();
        pairs.iter().filter_map(name).for_each(|name| *counts.entry(name).or_default() += 1);
        counts
    };
    let of = |language: QueryLanguage| -> Vec<&GoldPair> {
        pairs.iter().filter(|pair| pair.is_run_here() && pair.language() == language).collect()
    };
    let (overpass, sparql) = (of(QueryLanguage::OverpassQl), of(QueryLanguage::Sparql));
    DatasetStatistics {
        instances: pairs.len(),
        splits: count(|pair| Some(pair.split.clone())),
        languages: count(|pair| {
            Some(match pair.lang.as_deref() {
                Some(lang) if !pair.is_run_here() => lang.to_owned(),
                _ if pair.language() == QueryLanguage::Sparql => "sparql".to_owned(),
                _ => "overpassql".to_owned(),
            })
        }),
        questions: questions(pairs),
        queries: queries(pairs),
        classes: count(|pair| pair.complexity.clone()),
        overpassql: (!overpass.is_empty()).then(|| overpass::statistics(&overpass)),
        sparql: (!sparql.is_empty()).then(|| sparql::statistics(&sparql)),
        results: None,
    }
}

fn questions(pairs: &[GoldPair]) -> QuestionStatistics {
    let all = pairs.iter().flat_map(|pair| std::iter::once(&pair.question).chain(&pair.paraphrases));
    let texts: Vec<&str> = all.map(|text| text.as_str()).filter(|text| !text.trim().is_empty()).collect();
    let words: BTreeSet<&str> = texts.iter().flat_map(|text| text.split_whitespace()).collect();
    let plain: BTreeSet<String> = texts.iter().flat_map(|text| plain_words(text)).collect();
    QuestionStatistics {
        questions: texts.len(),
        distinct: texts.iter().collect::<BTreeSet<_>>().len(),
        distinct_words: words.len(),
        distinct_plain_words: plain.len(),
        characters: Distribution::of(texts.iter().map(|text| text.chars().count() as u64)),
        words: Distribution::of(texts.iter().map(|text| text.split_whitespace().count() as u64)),
    }
}

/// Returns the words of a text in lower case without punctuation.
pub(super) fn plain_words(text: &str) -> Vec<String> {
    let lower = text.to_lowercase();
    lower.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).map(str::to_owned).collect()
}

fn queries(pairs: &[GoldPair]) -> QueryStatistics {
    let templates: BTreeSet<&str> = pairs.iter().filter_map(|pair| pair.template.as_deref()).collect();
    QueryStatistics {
        distinct: pairs.iter().map(|pair| pair.query.trim()).collect::<BTreeSet<_>>().len(),
        named_templates: (!templates.is_empty()).then_some(templates.len()),
        characters: Distribution::of(pairs.iter().map(|pair| pair.query.chars().count() as u64)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn questions_are_counted_with_their_paraphrases() {
        let pair = |question: &str, paraphrases: &[&str]| GoldPair {
            question: question.to_owned(),
            paraphrases: paraphrases.iter().map(|text| (*text).to_owned()).collect(),
            query: "node(1);out;".to_owned(),
            split: "dev".to_owned(),
            ..GoldPair::default()
        };
        let pairs = [pair("Cafés in Malta?", &["Malta's cafés"]), pair("cafés in Malta", &[]), pair(" ", &[])];
        let found = statistics(&pairs);
        let QuestionStatistics { questions, distinct, distinct_words, distinct_plain_words, .. } = found.questions;
        assert_eq!((questions, distinct), (3, 3));
        // Cafés in Malta? Malta's cafés Malta; cafés in malta s.
        assert_eq!((distinct_words, distinct_plain_words), (6, 4));
        assert_eq!((found.instances, found.queries.distinct), (3, 1));
        assert_eq!(found.questions.words.unwrap().mean, crate::stored(8.0 / 3.0));
    }

    #[test]
    fn sql_is_counted_and_not_parsed() {
        let sql = GoldPair { query: "SELECT 1".to_owned(), lang: Some("sql".to_owned()), ..GoldPair::default() };
        let found = statistics(&[sql]);
        assert_eq!(found.languages, BTreeMap::from([("sql".to_owned(), 1)]));
        assert_eq!((found.overpassql, found.sparql), (None, None));
    }
}
