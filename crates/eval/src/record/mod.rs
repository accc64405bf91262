//! An instance of a benchmark and what came out for it: the lines of a run's files.

mod class;
mod compat;
mod execution;
mod failed;
mod failure;
mod ran;
mod scores;
mod strict;

pub use class::ErrorClass;
pub use compat::Compat;
pub use execution::Execution;
pub use failed::{Class, Failed};
pub use failure::FailureClass;
pub use ran::Ran;
pub use scores::{Score, Scores};
pub use strict::Strict;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::language::{self, Language};

/// A question with the query that is right and the one that a system gave.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Instance {
    /// Its line in the benchmark's files, from 1.
    pub line: usize,
    /// Its name, where the benchmark gives names.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// The question.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nl: Option<String>,
    /// The query that is right.
    pub gold: String,
    /// The query that a system gave.
    pub pred: String,
    /// The language of both queries: OverpassQL where nothing is said, `sparql`, or `sparql-labelled` for SPARQL with
    /// labels for identifiers; `text` where they are no queries, but texts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lang: Option<String>,
    /// What `{{bbox}}` stands for: `south,west,north,east`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bbox: Option<String>,
    /// Where names lead in this instance only, in the shape of `nominatim_cache.json`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub places: Option<serde_json::Value>,
    /// How hard it is by several measures; more is harder.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub difficulty: BTreeMap<String, f64>,
    /// Its class of complexity, where the benchmark gives one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub complexity: Option<String>,
    /// What both queries gave, where files have it and nothing is run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answers: Option<GivenAnswers>,
}

/// What both queries of an instance gave, as files of answers have it: the SPARQL results format, or a list of its bindings;
/// null for no answer.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct GivenAnswers {
    /// The gold's.
    pub gold: serde_json::Value,
    /// The prediction's.
    pub pred: serde_json::Value,
}

impl Instance {
    /// The language of both queries.
    pub fn language(&self) -> Language {
        match self.lang.as_deref() {
            Some(lang) if lang.starts_with("sparql") => Language::Sparql,
            _ => Language::OverpassQl,
        }
    }

    /// Whether the prediction begins as a query does.
    pub fn pred_looks_like_query(&self) -> bool {
        self.lang.as_deref() == Some("text") || language::looks_like(&self.pred, self.language())
    }
}

/// What came out for one instance: a line of `results.jsonl`. The names are those of the published results.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Record {
    /// The instance's line, from 1.
    pub line: usize,
    /// The instance's name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// The gold query as it was run, or as it was given where it was not.
    #[serde(rename = "ref")]
    pub gold: String,
    /// The predicted query as it was run, or as it was given where it was not.
    pub pred: String,
    /// What running both gave, where they were run.
    #[serde(flatten)]
    pub execution: Option<Execution>,
    /// Scores by their names, such as how alike the queries are, where that was asked for. Reading takes every number
    /// that has no other place here.
    #[serde(flatten)]
    pub scores: Scores,
    /// What the code of Instruct-to-SPARQL's authors computes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub compat: Option<Compat>,
    /// What running both gave, where they are SPARQL.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub strict: Option<Strict>,
}

impl Record {
    /// The record of an instance that nothing has been done with.
    pub fn of(instance: &Instance) -> Record {
        Record {
            line: instance.line,
            id: instance.id.clone(),
            gold: instance.gold.clone(),
            pred: instance.pred.clone(),
            ..Record::default()
        }
    }

    /// What running both queries gave, where they were run, whatever language they are in.
    pub fn ran(&self) -> Option<Ran<'_>> {
        self.execution.as_ref().map(Execution::ran).or_else(|| self.strict.as_ref().map(Strict::ran))
    }
}

/// Where an element lies.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(from = "WrittenPoint", into = "WrittenPoint")]
pub struct MapPoint {
    /// Latitude and longitude in degrees, rounded to 1e-5.
    pub place: [f64; 2],
    /// The element, such as `node/1`; nothing in files of before it was kept.
    pub element: String,
}

/// A point as files have it.
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

/// Where results lie, for a map.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct MapPoints {
    /// Some elements that both results have.
    pub common: Vec<MapPoint>,
    /// Some that the prediction lacks.
    pub missing: Vec<MapPoint>,
    /// Some that only the prediction has.
    pub extra: Vec<MapPoint>,
}

impl MapPoints {
    /// Whether there is nothing to show.
    pub fn is_empty(&self) -> bool {
        self.common.is_empty() && self.missing.is_empty() && self.extra.is_empty()
    }
}

/// All that a run keeps of an instance.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Outcome {
    /// What came out.
    pub record: Record,
    /// Where the results lie.
    #[serde(default, skip_serializing_if = "MapPoints::is_empty")]
    pub map: MapPoints,
    /// Milliseconds that it took: the one thing that differs between runs.
    pub ms: f64,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn back(line: &str) -> Record {
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
