//! A row of a leaderboard.

use std::collections::BTreeMap;

use serde::Serialize;

use super::costs::RunCosts;

/// A run in the table.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct LeaderboardRow {
    /// The name.
    pub name: String,
    /// The number of runs of this system.
    #[serde(skip_serializing_if = "is_one")]
    pub runs: usize,
    /// The mean in per cent and its 95 % interval, for each metric of the run.
    pub scores: BTreeMap<&'static str, Cell>,
    /// The costs of the model's replies, if they were asked for and are known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub costs: Option<RunCosts>,
}

/// A mean.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Cell {
    /// The mean in per cent.
    pub mean: f64,
    /// Its 95 % bootstrap interval.
    pub interval: [f64; 2],
    /// The number of instances with a score.
    pub n: usize,
    /// The standard deviation of the means of several runs, with n − 1 as the divisor.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deviation: Option<f64>,
}

fn is_one(count: &usize) -> bool {
    *count == 1
}
