//! The results of a run, written to a file continuously so that an interrupted run can be resumed.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{File, OpenOptions};
use std::io::{BufRead, BufReader, Write};
use std::path::Path;

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};

use crate::compare::AnswerDifference;
use crate::generate::Generated;

/// The outcome of one query.
#[derive(Debug, Clone, PartialEq)]
pub enum DifferOutcome {
    /// Equal answers.
    Alike {
        /// The number of elements in each answer.
        elements: usize,
        /// Whether both refuse.
        refused: bool,
    },
    /// One of them failed: which, and how.
    Left(String),
    /// Differently; with the smallest query that is.
    Different(AnswerDifference, String),
}

/// The number of uses of a feature: in all queries, and in those that both programs answered.
#[derive(Debug, Default, Clone, Copy)]
struct Uses {
    all: u64,
    answered: u64,
}

/// The outcomes of a run.
#[derive(Debug, Default)]
pub struct DifferenceReport {
    outcomes: BTreeMap<u64, DifferOutcome>,
    uses: BTreeMap<&'static str, Uses>,
    journal: Option<File>,
}

impl DifferenceReport {
    /// Resumes the run of a journal, or starts one if the file does not exist. Two runs are the same if their `run`
    /// texts are equal.
    pub fn resume(path: &Path, run: &str) -> Result<Self> {
        let mut found = DifferenceReport::default();
        let known = path.exists();
        let mut options = OpenOptions::new();
        let mut file = options.read(true).append(true).create(true).open(path).with_context(|| cannot("open", path))?;
        if known {
            let mut lines = BufReader::new(&file).lines();
            let first = lines.next().transpose().with_context(|| cannot("read", path))?;
            ensure!(first.as_deref() == Some(run), "{} is of another run: {first:?}, not {run}", path.display());
            for line in lines {
                // The last line is half of one where the run was broken off within it.
                if let Some((number, outcome)) = parse(&line.with_context(|| cannot("read", path))?) {
                    found.outcomes.insert(number, outcome);
                }
            }
            writeln!(file).with_context(|| cannot("write", path))?;
        } else {
            writeln!(file, "{run}").with_context(|| cannot("write", path))?;
        }
        found.journal = Some(file);
        Ok(found)
    }

    /// Whether a query was asked already.
    pub fn has(&self, number: u64) -> bool {
        self.outcomes.contains_key(&number)
    }

    /// Notes how a query was answered.
    pub fn add(&mut self, number: u64, outcome: DifferOutcome) -> Result<()> {
        if let Some(journal) = &mut self.journal {
            writeln!(journal, "{}", line(number, &outcome)).context("cannot write the journal")?;
        }
        self.outcomes.insert(number, outcome);
        Ok(())
    }

    /// Counts the features that a query uses, and knows of those that it could have used.
    pub fn count(&mut self, number: u64, query: &Generated) {
        let outcome = self.outcomes.get(&number);
        let answered =
            matches!(outcome, Some(DifferOutcome::Alike { refused: false, .. } | DifferOutcome::Different(..)));
        for feature in &query.offered {
            self.uses.entry(feature).or_default();
        }
        for feature in &query.features {
            let uses = self.uses.entry(feature).or_default();
            uses.all += 1;
            uses.answered += u64::from(answered);
        }
    }

    /// Returns the number of queries with different answers.
    pub fn different(&self) -> usize {
        self.outcomes.values().filter(|outcome| matches!(outcome, DifferOutcome::Different(..))).count()
    }

    /// Prints everything.
    pub fn print(&self) {
        println!("\nfeature                                  uses  in queries that both answered");
        for (feature, Uses { all, answered }) in &self.uses {
            println!("{feature:<40} {all:>5} {answered:>5}");
        }
        println!("\nkind       features  least used in queries that both answered");
        let kinds: BTreeSet<&str> = self.uses.keys().map(|name| kind(name)).collect();
        for group in kinds {
            let features = || self.uses.iter().filter(|(name, _)| kind(name) == group);
            if let Some((name, least)) = features().min_by_key(|(_, uses)| uses.answered) {
                println!("{group:<10} {:>8}  {:>5} ({name})", features().count(), least.answered);
            }
        }
        let (mut alike, mut filled, mut both) = (0, 0, 0);
        let (mut left, mut kinds) = (BTreeMap::<&str, usize>::new(), BTreeMap::<AnswerDifference, usize>::new());
        for outcome in self.outcomes.values() {
            match outcome {
                DifferOutcome::Alike { elements, refused } => {
                    alike += 1;
                    filled += usize::from(*elements > 0);
                    both += usize::from(*refused);
                }
                DifferOutcome::Left(why) => *left.entry(why).or_default() += 1,
                DifferOutcome::Different(difference, _) => *kinds.entry(*difference).or_default() += 1,
            }
        }
        println!(
            "\n{} asked: {alike} answered alike ({filled} of them with results, {both} refused alike), {} different, {} left",
            self.outcomes.len(),
            kinds.values().sum::<usize>(),
            left.values().sum::<usize>(),
        );
        for (difference, count) in kinds {
            println!("  different: {:<8} {count}", difference.name());
        }
        for (why, count) in left {
            println!("  left: {why} {count}");
        }
        for (number, outcome) in &self.outcomes {
            if let DifferOutcome::Different(difference, query) = outcome {
                println!("{number} {}: {query}", difference.name());
            }
        }
    }
}

/// The kind of a feature: `statement`, `filter`, `evaluator`, ...
fn kind(name: &str) -> &str {
    name.split(' ').next().unwrap_or(name)
}

fn cannot(what: &str, path: &Path) -> String {
    format!("cannot {what} {}", path.display())
}

fn line(number: u64, outcome: &DifferOutcome) -> Value {
    match outcome {
        DifferOutcome::Alike { elements, refused } => json!({"query": number, "alike": elements, "refused": refused}),
        DifferOutcome::Left(why) => json!({"query": number, "left": why}),
        DifferOutcome::Different(difference, query) => {
            json!({"query": number, "different": difference.name(), "smallest": query})
        }
    }
}

fn parse(line: &str) -> Option<(u64, DifferOutcome)> {
    let value: Value = serde_json::from_str(line).ok()?;
    let text = |name: &str| value.get(name).and_then(Value::as_str);
    let outcome = if let Some(elements) = value.get("alike").and_then(Value::as_u64) {
        DifferOutcome::Alike { elements: elements as usize, refused: value.get("refused")?.as_bool()? }
    } else if let Some(name) = text("different") {
        let difference = AnswerDifference::ALL.into_iter().find(|difference| difference.name() == name)?;
        DifferOutcome::Different(difference, text("smallest")?.to_owned())
    } else {
        DifferOutcome::Left(text("left")?.to_owned())
    };
    Some((value.get("query")?.as_u64()?, outcome))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn goes_on_where_it_was() {
        let folder = std::env::temp_dir().join(format!("terrapin-differ-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let path = folder.join("journal");
        let outcomes = [
            DifferOutcome::Alike { elements: 3, refused: false },
            DifferOutcome::Left("slow".to_owned()),
            DifferOutcome::Different(AnswerDifference::Order, "out \"x\";\n".to_owned()),
        ];
        let mut first = DifferenceReport::resume(&path, "seed 1").unwrap();
        for (number, outcome) in (7..).zip(&outcomes) {
            first.add(number, outcome.clone()).unwrap();
        }
        // Broken off within a line.
        first.journal.as_mut().unwrap().write_all(b"{\"query\":10,\"al").unwrap();
        let mut second = DifferenceReport::resume(&path, "seed 1").unwrap();
        second.add(10, outcomes[1].clone()).unwrap();
        let third = DifferenceReport::resume(&path, "seed 1").unwrap();
        assert_eq!(third.outcomes.values().take(3).cloned().collect::<Vec<_>>(), outcomes);
        assert!(third.has(7) && third.has(10) && !third.has(11));
        assert_eq!(third.different(), 1);
        assert!(DifferenceReport::resume(&path, "seed 2").is_err());
        std::fs::remove_dir_all(&folder).unwrap();
    }
}
