//! The folder of a run: written at the end, read for merging, comparing and verifying.

use std::collections::BTreeMap;
use std::path::Path;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::about::About;
use crate::benchmarks;
use crate::error::RunError;
use crate::files::{self, WriteError};
use crate::input::read_lines;
use crate::record::{Instance, MapPoints, ResultRecord, StoredOutcome};
use crate::report;
use crate::summary::RunSummary;

/// The file with the identity of a run, in its folder and in the journal of an unfinished run.
pub(super) const ABOUT: &str = "run.json";

/// A run in memory.
#[derive(Debug, Clone, PartialEq)]
pub struct EvalRun {
    /// The identity of the run.
    pub about: About,
    /// The instances in the order of their lines.
    pub instances: Vec<Instance>,
    /// The outcomes in the same order.
    pub outcomes: Vec<StoredOutcome>,
    /// The geocoded places used by the instances, in the format of `nominatim_cache.json`.
    pub places: BTreeMap<String, serde_json::Value>,
}

#[derive(Serialize, Deserialize)]
struct MapLine {
    line: usize,
    #[serde(flatten)]
    points: MapPoints,
}

#[derive(Serialize, Deserialize)]
struct TimeLine {
    line: usize,
    ms: f64,
}

impl EvalRun {
    /// Returns the records.
    pub fn records(&self) -> Vec<ResultRecord> {
        self.outcomes.iter().map(|outcome| outcome.record.clone()).collect()
    }

    /// Returns the summary.
    pub fn summary(&self) -> RunSummary {
        RunSummary::of(self.about.clone(), &self.instances, &self.records())
    }

    /// Writes all files of the run.
    ///
    /// # Errors
    /// Returns an error if a file cannot be written.
    pub fn write(&self, folder: &Path) -> Result<RunSummary, WriteError> {
        let records = self.records();
        let summary = RunSummary::of(self.about.clone(), &self.instances, &records);
        let map = |outcome: &StoredOutcome| MapLine { line: outcome.record.line, points: outcome.map.clone() };
        let maps: Vec<MapLine> = self.outcomes.iter().filter(|outcome| !outcome.map.is_empty()).map(map).collect();
        let time = |outcome: &StoredOutcome| TimeLine { line: outcome.record.line, ms: outcome.ms };
        files::write_object(&folder.join(ABOUT), &self.about)?;
        files::write_lines(&folder.join("instances.jsonl"), &self.instances)?;
        files::write_object(&folder.join("places.json"), &self.places)?;
        files::write_lines(&folder.join("results.jsonl"), &records)?;
        files::write_lines(&folder.join("map.jsonl"), &maps)?;
        files::write_lines(&folder.join("timings.jsonl"), &self.outcomes.iter().map(time).collect::<Vec<_>>())?;
        files::write_object(&folder.join("summary.json"), &summary)?;
        for (name, plot) in report::plots(&summary) {
            files::write_text(&folder.join("plots").join(name), &plot)?;
        }
        files::write_text(&folder.join("report.html"), &report::html(&self.instances, &self.outcomes, &summary))?;
        Ok(summary)
    }

    /// Reads a run's folder. The files with positions and times may be missing.
    ///
    /// # Errors
    /// Returns an error if a file is missing or is not a run's.
    pub fn read(folder: &Path) -> Result<EvalRun, RunError> {
        let about = read_object(&folder.join(ABOUT))?;
        let instances: Vec<Instance> = read_json_lines(&folder.join("instances.jsonl"))?;
        let records: Vec<ResultRecord> = read_json_lines(&folder.join("results.jsonl"))?;
        if instances.len() != records.len() || instances.iter().zip(&records).any(|(i, r)| i.line != r.line) {
            let message = format!("{}: instances.jsonl and results.jsonl do not belong together", folder.display());
            return Err(RunError::Unfit(message));
        }
        let optional = |name: &str| Some(folder.join(name)).filter(|path| path.exists());
        let maps: Vec<MapLine> =
            optional("map.jsonl").map(|path| read_json_lines(&path)).transpose()?.unwrap_or_default();
        let times: Vec<TimeLine> =
            optional("timings.jsonl").map(|path| read_json_lines(&path)).transpose()?.unwrap_or_default();
        let places = optional("places.json").map(|path| read_object(&path)).transpose()?.unwrap_or_default();
        let mut maps: BTreeMap<usize, MapPoints> = maps.into_iter().map(|map| (map.line, map.points)).collect();
        let times: BTreeMap<usize, f64> = times.into_iter().map(|time| (time.line, time.ms)).collect();
        let outcome = |mut record: ResultRecord| {
            // Unknown numbers are ignored, like other unknown fields.
            record.scores.retain(|name| benchmarks::metric(name).is_some());
            StoredOutcome {
                map: maps.remove(&record.line).unwrap_or_default(),
                ms: times.get(&record.line).copied().unwrap_or_default(),
                record,
            }
        };
        let outcomes = records.into_iter().map(outcome).collect();
        Ok(EvalRun { about, instances, outcomes, places })
    }
}

/// Returns the stored summary of a run's folder.
///
/// # Errors
/// Returns an error if the summary is missing or is not JSON.
pub fn read_summary(folder: &Path) -> Result<serde_json::Value, RunError> {
    read_object(&folder.join("summary.json"))
}

/// Reads a file of JSON lines.
pub(crate) fn read_json_lines<T: DeserializeOwned>(path: &Path) -> Result<Vec<T>, RunError> {
    let lines = read_lines(path)?;
    let parse = |(index, line): (usize, &String)| {
        let malformed = |source| RunError::Malformed { path: path.to_owned(), line: index + 1, source };
        serde_json::from_str(line).map_err(malformed)
    };
    lines.iter().enumerate().map(parse).collect()
}

/// Reads a file with one JSON object.
pub(crate) fn read_object<T: DeserializeOwned>(path: &Path) -> Result<T, RunError> {
    let text = read_lines(path)?.join("\n");
    serde_json::from_str(&text).map_err(|source| RunError::Malformed {
        path: path.to_owned(),
        line: source.line(),
        source,
    })
}
