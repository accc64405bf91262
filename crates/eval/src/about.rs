//! The identity of a run: benchmark, engine, inputs, shard.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// The identity of a run. Two runs with the same identity have the same results.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct About {
    /// The benchmark, such as `overpassnl`.
    pub benchmark: String,
    /// The names given by the user.
    #[serde(flatten)]
    pub names: RunNames,
    /// The snapshot's digest, if queries ran.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub snapshot: Option<String>,
    /// The snapshot's content digest, which is the same in every format version.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content: Option<String>,
    /// The name and version of the engine.
    pub engine: String,
    /// The version of the metrics: [`METRICS`] of the scoring program.
    #[serde(default = "first_metrics", skip_serializing_if = "is_first")]
    pub metrics: u32,
    /// The SHA-256 of each input, by its role.
    pub inputs: BTreeMap<String, String>,
    /// The dialect of SPARQL for instances without one of their own, if it is not detected.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dialect: Option<String>,
    /// The digests of the further snapshots of a suite.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub suite: Vec<String>,
    /// The shard of the instances; `None` for all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shard: Option<Shard>,
    /// The requests for predictions, if a language model was asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub requests: Option<ModelRequests>,
}

/// The requests to a language model for predictions, and the identity of the server.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ModelRequests {
    /// Name of the model in requests.
    pub model: String,
    /// Whether mentions of the question were looked up.
    pub search: bool,
    /// Maximum repairs.
    pub repairs: u8,
    /// Maximum tokens of a reply, by step.
    pub tokens: BTreeMap<String, u32>,
    /// Timeout of a reply in seconds.
    pub seconds: u64,
    /// SHA-256 of the prompts.
    pub prompts: String,
    /// Further fields of requests, as the user gave them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub extra: Option<serde_json::Value>,
    /// The names in the grammar that replies with a query follow: `language`, `snapshot` or `question`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub constrain: Option<String>,
    /// Name of the published prompt, if it is not the built-in one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prompt: Option<String>,
    /// The examples in prompts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub examples: Option<ExampleSettings>,
    /// The refinement of given queries.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refine: Option<RefineSettings>,
    /// The system that was asked instead of a model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub system: Option<SystemSettings>,
    /// The servers that replied, as far as they report it: name of the model, fingerprint, context length.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub servers: Vec<serde_json::Value>,
}

/// The examples in prompts, and their selection.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExampleSettings {
    /// SHA-256 of the pairs of questions and queries.
    pub sha256: String,
    /// Their number.
    pub count: usize,
    /// Number of examples for a question.
    pub shots: usize,
    /// The method: `random`, `bleu`, `bm25` or `embedding`.
    pub select: String,
    /// The seed of a random selection.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seed: Option<u64>,
    /// Name and address of the embedding model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub embeddings: Option<String>,
}

/// The refinement of given queries.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RefineSettings {
    /// The refined queries: `errors` or `all`.
    pub only: String,
    /// Whether the model sees the error or the first results of a query.
    pub feedback: bool,
}

/// A system that translates questions to queries, with the interface of the TEXT2SPARQL challenge.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SystemSettings {
    /// Its address, without the query string.
    pub url: String,
    /// The identifier of the data in requests.
    pub dataset: String,
}

/// The version of the metrics. It increases with every change of a metric's values, so that no table mixes both.
pub const METRICS: u32 = 1;

/// Returns the version of runs without one, which are from before version 2.
fn first_metrics() -> u32 {
    1
}

fn is_first(version: &u32) -> bool {
    *version == first_metrics()
}

impl Default for About {
    fn default() -> About {
        About {
            benchmark: String::new(),
            names: RunNames::default(),
            snapshot: None,
            content: None,
            engine: String::new(),
            metrics: METRICS,
            inputs: BTreeMap::new(),
            dialect: None,
            suite: Vec::new(),
            shard: None,
            requests: None,
        }
    }
}

/// The names of a run and its inputs, if given.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct RunNames {
    /// The run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The system that made the predictions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// The number of the system's parameters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parameters: Option<u64>,
    /// The set of questions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dataset: Option<String>,
}

/// Returns the name and version of the engine for a run.
pub fn engine() -> String {
    concat!("terrapin ", env!("CARGO_PKG_VERSION")).to_owned()
}

/// One of `of` shards of the instances: every `of`-th line, starting with line `number`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Shard {
    /// From 1 to `of`.
    pub number: usize,
    /// The number of shards, at least 1.
    pub of: usize,
}

impl Shard {
    /// Reports whether a line, counted from 1, belongs to the shard.
    pub fn has(self, line: usize) -> bool {
        line.checked_sub(1).is_some_and(|index| index % self.of.max(1) == self.number.saturating_sub(1))
    }
}

impl std::str::FromStr for Shard {
    type Err = String;

    fn from_str(text: &str) -> Result<Shard, String> {
        let parts = text.split_once('/').and_then(|(number, of)| Some((number.parse().ok()?, of.parse().ok()?)));
        match parts {
            Some((number, of)) if (1..=of).contains(&number) => Ok(Shard { number, of }),
            _ => Err("expected a part such as 2/4: the second of four".to_owned()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shards_take_turns() {
        let second: Shard = "2/3".parse().unwrap();
        assert_eq!((1..=8).filter(|line| second.has(*line)).collect::<Vec<_>>(), [2, 5, 8]);
        for wrong in ["", "0/3", "4/3", "1", "a/b", "1/0"] {
            assert!(wrong.parse::<Shard>().is_err(), "{wrong}");
        }
    }
}
