//! The files of a run's questions: `asked.jsonl` with the settings and a line for each question, equal in equal runs,
//! and `times.jsonl` with the times. Both are appended to while the run lasts, so that a stopped run resumes.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{File, OpenOptions};
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use terrapin_chat::{ReplyTiming, ServerIdentity};

use super::super::super::CommandError;
use super::super::unwritten;
use crate::ask::ContainmentOffer;
use crate::eval::about::ModelRequests;
use crate::eval::files::write_text;

/// The settings of a run. Questions that were asked with other settings are not reused.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunSettings {
    pub engine: String,
    pub snapshot: String,
    pub questions: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hypotheses: Option<String>,
    pub timeout: u64,
    pub requests: ModelRequests,
}

/// A question with its outcome. Equal in equal runs.
#[derive(Debug, Serialize, Deserialize)]
pub struct AskedQuestion {
    pub line: usize,
    pub query: String,
    pub repairs: u8,
    /// Number of results of the query, if it ran.
    pub total: Option<u64>,
    /// The reason why there is no query, or why it does not run.
    pub problem: Option<String>,
    /// Whether the query has a chain of `wdt:P131` to a place.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub has_chain: bool,
    /// Containment by geometry, if it finds more items than the chain.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub containment: Option<ContainmentOffer>,
    /// The sum of the tokens of all steps.
    pub tokens: TokenSum,
    /// The servers that replied.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub servers: BTreeSet<ServerIdentity>,
    pub steps: serde_json::Value,
}

/// The tokens of a question.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TokenSum {
    pub prompt: u64,
    pub completion: u64,
    /// Whether some counts are missing or are estimated from pieces of replies.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub estimate: bool,
}

/// The times of a question. They differ between equal runs.
#[derive(Debug, Serialize, Deserialize)]
pub struct QuestionTimes {
    pub line: usize,
    pub seconds: f64,
    pub steps: serde_json::Value,
    /// The whole message of a failure, if it contains times.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

/// The time of a step.
#[derive(Serialize)]
pub struct StepTimes {
    pub step: &'static str,
    #[serde(flatten)]
    pub timing: ReplyTiming,
}

pub fn unwritable(path: &Path, error: &dyn std::fmt::Display) -> CommandError {
    CommandError::system("output", format!("{}: {error}", path.display()))
}

/// A file to which threads append lines.
pub struct LineFile {
    path: PathBuf,
    file: Mutex<File>,
}

impl LineFile {
    /// Opens a file for appending.
    pub fn open(path: &Path) -> Result<LineFile, CommandError> {
        let file = OpenOptions::new().append(true).open(path).map_err(|error| unwritable(path, &error))?;
        Ok(LineFile { path: path.to_owned(), file: Mutex::new(file) })
    }

    /// Appends a line.
    pub fn append(&self, value: &impl Serialize) -> Result<(), CommandError> {
        let line = serde_json::to_string(value).map_err(|error| unwritable(&self.path, &error))?;
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        let written = file.write_all(format!("{line}\n").as_bytes()).and_then(|()| file.flush());
        written.map_err(|error| unwritable(&self.path, &error))
    }
}

/// Reads the questions that were asked with the same settings, by line.
pub fn read_asked(
    path: &Path,
    run_settings: &RunSettings,
    overwrite: bool,
) -> Result<BTreeMap<usize, AskedQuestion>, CommandError> {
    let Ok(file) = File::open(path) else { return Ok(BTreeMap::new()) };
    let mut lines = BufReader::new(file).lines().map_while(Result::ok);
    let Some(first) = lines.next() else { return Ok(BTreeMap::new()) };
    if serde_json::from_str::<RunSettings>(&first).ok().as_ref() != Some(run_settings) {
        if overwrite {
            return Ok(BTreeMap::new());
        }
        return Err(CommandError::usage(format!(
            "{}: the folder has a run with other settings; use another folder, or replace that run with --overwrite",
            path.display()
        )));
    }
    Ok(whole_lines(lines).map(|asked: AskedQuestion| (asked.line, asked)).collect())
}

pub fn read_times(path: &Path) -> BTreeMap<usize, QuestionTimes> {
    let Ok(file) = File::open(path) else { return BTreeMap::new() };
    let lines = BufReader::new(file).lines().map_while(Result::ok);
    whole_lines(lines).map(|times: QuestionTimes| (times.line, times)).collect()
}

/// Returns the values up to a line that a killed run left half written.
fn whole_lines<T: DeserializeOwned>(lines: impl Iterator<Item = String>) -> impl Iterator<Item = T> {
    lines.map_while(|line| serde_json::from_str(&line).ok())
}

pub fn write_asked<'a>(
    path: &Path,
    first: &str,
    asked: impl Iterator<Item = &'a AskedQuestion>,
) -> Result<(), CommandError> {
    write_text(path, &format!("{first}\n{}", lines(path, asked)?)).map_err(unwritten)
}

pub fn write_times<'a>(path: &Path, times: impl Iterator<Item = &'a QuestionTimes>) -> Result<(), CommandError> {
    write_text(path, &lines(path, times)?).map_err(unwritten)
}

fn lines<'a, T: Serialize + 'a>(path: &Path, values: impl Iterator<Item = &'a T>) -> Result<String, CommandError> {
    let mut text = String::new();
    for value in values {
        text.push_str(&serde_json::to_string(value).map_err(|error| unwritable(path, &error))?);
        text.push('\n');
    }
    Ok(text)
}
