//! An instance of a benchmark and its outcome: the lines of a run's files.

mod class;
mod compat;
mod counterexample;
mod execution;
mod failed;
mod failure;
mod published_error;
mod ran;
mod scores;
mod strict;
mod unknown;

pub use class::ErrorClass;
pub use compat::Compat;
pub use counterexample::Counterexample;
pub use execution::Execution;
pub use failed::{FailedQuery, FailureKind};
pub use failure::FailureClass;
pub use published_error::{class_of_code, published_error};
pub use ran::Ran;
pub use scores::{Score, Scores};
pub use strict::StrictResults;
pub use unknown::UnknownIdentifiers;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use terrapin_sparql::Dialect;

use crate::language::{self, QueryLanguage};

/// A question with its gold and predicted queries.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Instance {
    /// Its line in the benchmark's files, from 1.
    pub line: usize,
    /// Its id, if the benchmark has ids.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// The question.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nl: Option<String>,
    /// The gold query.
    pub gold: String,
    /// The predicted query.
    pub pred: String,
    /// The language of both queries: OverpassQL by default, `sparql`, or `sparql-labelled` for SPARQL with labels
    /// instead of identifiers; `text` for texts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lang: Option<String>,
    /// The dialect of both queries in SPARQL: a name of [`Dialect`]. By default it is detected from each query.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dialect: Option<String>,
    /// The bounding box for `{{bbox}}`: `south,west,north,east`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bbox: Option<String>,
    /// The geocoded places of this instance, in the format of `nominatim_cache.json`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub places: Option<serde_json::Value>,
    /// Its difficulty by several measures; higher is harder.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub difficulty: BTreeMap<String, f64>,
    /// Its class of complexity, if the benchmark has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub complexity: Option<String>,
    /// Whether the order of the rows matters, if the benchmark says so; by default it does if the gold query sets one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ordered: Option<bool>,
    /// The answers of both queries, if the files have them and no query runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answers: Option<GivenAnswers>,
}

/// The answers of an instance's queries in files: the SPARQL results format, or a list of its bindings; null for no
/// answer.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct GivenAnswers {
    /// The gold answer.
    pub gold: serde_json::Value,
    /// The predicted answer.
    pub pred: serde_json::Value,
}

impl Instance {
    /// Returns the language of both queries.
    pub fn language(&self) -> QueryLanguage {
        match self.lang.as_deref() {
            Some(lang) if lang.starts_with("sparql") => QueryLanguage::Sparql,
            _ => QueryLanguage::OverpassQl,
        }
    }

    /// Returns the dialect of both queries, if they are SPARQL.
    pub fn dialect(&self) -> Dialect {
        self.dialect.as_deref().and_then(Dialect::named).unwrap_or_default()
    }

    /// Reports whether the prediction begins like a query.
    pub fn pred_looks_like_query(&self) -> bool {
        self.lang.as_deref() == Some("text") || language::looks_like(&self.pred, self.language())
    }
}

/// The fields added since runs are verified: an older run without them is valid.
pub const ADDED_FIELDS: &[&str] = &["canonical", "unknown", "unknown_gold", "unknown_identifiers", "ndcg", "mrr"];

/// The outcome of one instance: a line of `results.jsonl` with the published field names.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct ResultRecord {
    /// The instance's line, from 1.
    pub line: usize,
    /// The instance's id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// The gold query as run, or as given if it did not run.
    #[serde(rename = "ref")]
    pub gold: String,
    /// The predicted query as run, or as given if it did not run.
    pub pred: String,
    /// The results of both queries, if they ran.
    #[serde(flatten)]
    pub execution: Option<Execution>,
    /// Named scores, such as the similarity of the queries. Parsing collects all numbers without another field here.
    #[serde(flatten)]
    pub scores: Scores,
    /// The scores of the authors' code.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub compat: Option<Compat>,
    /// The results of both queries, if they are SPARQL.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub strict: Option<StrictResults>,
    /// The identifiers of the prediction that the snapshot lacks, if there are any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unknown_identifiers: Option<UnknownIdentifiers>,
    /// The first snapshot of a suite on which the results differ, although they are equal on the first one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub counterexample: Option<Counterexample>,
}

impl ResultRecord {
    /// Returns the record of an unprocessed instance.
    pub fn of(instance: &Instance) -> ResultRecord {
        ResultRecord {
            line: instance.line,
            id: instance.id.clone(),
            gold: instance.gold.clone(),
            pred: instance.pred.clone(),
            ..ResultRecord::default()
        }
    }

    /// Returns the results of both queries in any language, if they ran.
    pub fn ran(&self) -> Option<Ran<'_>> {
        self.execution.as_ref().map(Execution::ran).or_else(|| self.strict.as_ref().map(StrictResults::ran))
    }
}

/// The position of an element.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(from = "WrittenPoint", into = "WrittenPoint")]
pub struct MapPoint {
    /// Latitude and longitude in degrees, rounded to 1e-5.
    pub place: [f64; 2],
    /// The element, such as `node/1`; missing in older files.
    pub element: String,
}

/// A point in a file.
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum WrittenPoint {
    Named(f64, f64, String),
    Bare([f64; 2]),
}

impl From<WrittenPoint> for MapPoint {
    fn from(written: WrittenPoint) -> MapPoint {
        match written {
            WrittenPoint::Named(lat, lon, element) => MapPoint { place: [lat, lon], element },
            WrittenPoint::Bare(place) => MapPoint { place, element: String::new() },
        }
    }
}

impl From<MapPoint> for WrittenPoint {
    fn from(MapPoint { place: [lat, lon], element }: MapPoint) -> WrittenPoint {
        if element.is_empty() { WrittenPoint::Bare([lat, lon]) } else { WrittenPoint::Named(lat, lon, element) }
    }
}

/// The positions of results for a map.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct MapPoints {
    /// A sample of the common elements.
    pub common: Vec<MapPoint>,
    /// A sample of those missing from the prediction.
    pub missing: Vec<MapPoint>,
    /// A sample of those only in the prediction.
    pub extra: Vec<MapPoint>,
}

impl MapPoints {
    /// Reports whether all lists are empty.
    pub fn is_empty(&self) -> bool {
        self.common.is_empty() && self.missing.is_empty() && self.extra.is_empty()
    }
}

/// The stored outcome of an instance.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct StoredOutcome {
    /// The record.
    pub record: ResultRecord,
    /// The positions of the results.
    #[serde(default, skip_serializing_if = "MapPoints::is_empty")]
    pub map: MapPoints,
    /// The duration in milliseconds: the only value that differs between runs.
    pub ms: f64,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn back(line: &str) -> ResultRecord {
        serde_json::from_str(line).unwrap()
    }

    #[test]
    fn lines_of_results_come_back_as_they_were() {
        let lines = [
            r#"{"line":1,"ref":"a","pred":"b"}"#,
            r#"{"line":2,"id":"x","ref":"a","pred":"b","ref_n":1,"pred_n":null,"error":"nominatim","error_text":"t","ex":0,"ex_soft":0.0,"multiset":0,"f1":0.0,"chrf":1.0,"kvs":0.123456789012,"trees":0.0,"oqs":1.0,"em":1}"#,
            r#"{"line":3,"ref":"a","pred":"b","ref_n":2,"pred_n":3,"ex":0,"ex_soft":0.5,"limited":true,"missing":["node/1"]}"#,
            r#"{"line":4,"ref":"a","pred":"b","chrf":0.5,"kvs":1.0,"trees":1.0,"oqs":0.75,"em":0}"#,
            r#"{"line":5,"ref":"a","pred":"b","compat":{"em":1,"codebleu":1.0,"parsed":true},"strict":{"ref_n":1,"pred_n":null,"error":"syntax","error_text":"t","syntax":0,"jaccard":0.0,"overlap":0.0,"dice":0.0,"multiset":0,"f1":0.0}}"#,
        ];
        for line in lines {
            assert_eq!(serde_json::to_string(&back(line)).unwrap(), line);
        }
        let record = back(lines[1]);
        assert_eq!((record.scores.get("kvs"), record.scores.get("em")), (Some(0.123_456_789_012), Some(1.0)));
        assert_eq!((record.scores.get("ex"), record.scores.get("line")), (None, None), "these have their own places");
        assert_eq!(back(lines[0]).scores, Scores::default());
    }

    #[test]
    fn points_come_back_as_they_were() {
        let text = r#"{"common":[[1.5,2.5,"node/1"]],"missing":[[3.0,4.0]],"extra":[]}"#;
        let points: MapPoints = serde_json::from_str(text).unwrap();
        assert_eq!(points.common[0], MapPoint { place: [1.5, 2.5], element: "node/1".to_owned() });
        assert_eq!(serde_json::to_string(&points).unwrap(), text);
    }

    #[test]
    fn of_unknown_fields_numbers_are_scores() {
        let record = back(r#"{"line":1,"ref":"","pred":"","new":0.5,"text":"x","list":[1],"none":null,"em":1}"#);
        assert_eq!((record.scores.get("new"), record.scores.get("em")), (Some(0.5), Some(1.0)));
        assert_eq!(serde_json::to_string(&record).unwrap(), r#"{"line":1,"ref":"","pred":"","new":0.5,"em":1}"#);
    }
}
