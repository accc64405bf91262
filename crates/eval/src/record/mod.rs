//! An instance of a benchmark and what came out for it: the lines of a run's files.

mod class;
mod compat;
mod failure;
mod similarity;
mod strict;

pub use class::ErrorClass;
pub use compat::Compat;
pub use failure::FailureClass;
pub use similarity::Similarity;
pub use strict::Strict;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

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
    /// labels for identifiers.
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
    /// How alike the queries are, where that was asked for.
    #[serde(flatten)]
    pub similarity: Option<Similarity>,
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
}

/// What running both queries of an instance gave.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Execution {
    /// How many elements the gold gave, or its count; -1 or -2 for an error; `null` where it was not run because the
    /// prediction could not be prepared.
    pub ref_n: Option<i64>,
    /// The same of the prediction; `null` where the gold could not be prepared.
    pub pred_n: Option<i64>,
    /// The prediction's error.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<ErrorClass>,
    /// What the error said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error_text: Option<String>,
    /// The gold's error: it should have none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ref_error: Option<ErrorClass>,
    /// What the gold's error said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ref_error_text: Option<String>,
    /// Whether the results are the same and not empty.
    pub ex: u8,
    /// The share of common elements in the larger result.
    pub ex_soft: f64,
    /// Stricter than published: whether the results are the same multiset, where nothing was cut by a limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub multiset: Option<u8>,
    /// Stricter than published: F1 over matched results, where nothing was cut by a limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub f1: Option<f64>,
    /// Whether a limit cut the results of either query: which elements it left depends on their ids only, so the
    /// stricter scores are not given.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub limited: bool,
    /// The first elements that the prediction lacks.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub missing: Vec<String>,
    /// The first elements that only the prediction has.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub extra: Vec<String>,
}

/// Where results lie, for a map: latitude and longitude in degrees, rounded to 1e-5.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct MapPoints {
    /// Some elements that both results have.
    pub common: Vec<[f64; 2]>,
    /// Some that the prediction lacks.
    pub missing: Vec<[f64; 2]>,
    /// Some that only the prediction has.
    pub extra: Vec<[f64; 2]>,
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
