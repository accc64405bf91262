//! A run: scores instances in parallel and stores the outcomes in a folder.
//!
//! | file | contents |
//! |---|---|
//! | `run.json` | the parameters of the run: benchmark, snapshot, engine, inputs with their digests, shard |
//! | `instances.jsonl` | the instances as they were given |
//! | `places.json` | the given places by name |
//! | `results.jsonl` | a line per instance |
//! | `summary.json` | the scores |
//! | `map.jsonl` | the locations of the results |
//! | `timings.jsonl` | the time of each instance: the only file that differs between equal runs |
//! | `report.html`, `plots/` | the report as a page and as plots |
//! | `journal/` | the finished instances of an unfinished run |

mod claim;
mod compare;
mod costs;
mod file_journal;
mod folder;
mod group;
mod journal;
mod leaderboard;
mod merge;
mod open;
mod page;
mod row;
mod verify;

pub use claim::other_run;
pub use compare::{Change, RunComparison, compare};
pub use costs::{RunCosts, TokenPrice};
pub use folder::{EvalRun, read_summary};
pub use journal::{Journal, NoJournal};
pub use leaderboard::{CostColumn, Leaderboard, LeaderboardFormat, LeaderboardRows, leaderboard, leaderboard_of};
pub use merge::merge;
pub use open::RunJournal;
pub use page::comparison_html;
pub use verify::{RunMismatch, numbers, verify_summary};

use std::io;
use std::sync::Mutex;
use std::time::Instant;

use rayon::iter::{IntoParallelRefIterator, ParallelIterator};

use super::benchmarks::Benchmark;
use super::record::{Instance, StoredOutcome};

/// The number of instances per write to the journal, and therefore the maximum loss of a kill.
const BATCH: usize = 16;

/// Scores the instances on the current pool's threads and returns the outcomes in order. Instances in the journal are
/// not scored again. `done` is called after each, from any thread.
///
/// # Errors
/// Returns an error if the journal cannot be written.
pub fn run(
    benchmark: &dyn Benchmark,
    instances: &[Instance],
    journal: &dyn Journal,
    done: &(dyn Fn() + Sync),
) -> io::Result<Vec<StoredOutcome>> {
    let mut known = journal.known();
    known.retain(|line, outcome| *line == outcome.record.line);
    let open: Vec<&Instance> = instances.iter().filter(|instance| !known.contains_key(&instance.line)).collect();
    (open.len()..instances.len()).for_each(|_| done());
    let batch = Mutex::new(Vec::with_capacity(BATCH));
    let scored: io::Result<Vec<StoredOutcome>> = open
        .par_iter()
        .map(|instance| {
            let start = Instant::now();
            let mut outcome = benchmark.score(instance);
            outcome.ms = (start.elapsed().as_secs_f64() * 1e4).round() / 10.0;
            let full = {
                let mut batch = batch.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
                batch.push(outcome.clone());
                if batch.len() >= BATCH { std::mem::take(&mut *batch) } else { Vec::new() }
            };
            if !full.is_empty() {
                journal.append(&full)?;
            }
            done();
            Ok(outcome)
        })
        .collect();
    let scored = scored?;
    let rest = batch.into_inner().unwrap_or_else(|poisoned| poisoned.into_inner());
    if !rest.is_empty() {
        journal.append(&rest)?;
    }
    known.extend(scored.into_iter().map(|outcome| (outcome.record.line, outcome)));
    Ok(instances.iter().filter_map(|instance| known.remove(&instance.line)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::about::About;
    use crate::record::ResultRecord;

    struct Lengths(Mutex<usize>);

    impl Benchmark for Lengths {
        fn evaluate(&self, instance: &Instance) -> StoredOutcome {
            *self.0.lock().unwrap() += 1;
            assert_ne!(instance.gold, "panic", "on line {}", instance.line);
            let record = ResultRecord { line: instance.line, pred: instance.pred.repeat(2), ..ResultRecord::default() };
            StoredOutcome { record, ..StoredOutcome::default() }
        }

        fn failed(&self, instance: &Instance, message: String) -> StoredOutcome {
            let record = ResultRecord { line: instance.line, pred: message, ..ResultRecord::default() };
            StoredOutcome { record, ..StoredOutcome::default() }
        }
    }

    #[test]
    fn a_panic_is_its_instances_own() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("journal");
        let instance = |line: usize| Instance {
            line,
            pred: "x".to_owned(),
            gold: if line == 3 { "panic".to_owned() } else { String::new() },
            ..Instance::default()
        };
        let instances: Vec<Instance> = (1..=40).map(instance).collect();
        let journal = RunJournal::open(&path, &About::default(), &instances).unwrap();
        let all = run(&Lengths(Mutex::default()), &instances, &journal, &|| ()).unwrap();
        assert_eq!(all.iter().filter(|outcome| outcome.record.pred == "xx").count(), 39);
        let failed = &all[2].record.pred;
        assert!(failed.starts_with("internal error: ") && failed.contains("on line 3"), "{failed}");
        drop(journal);
        assert_eq!(RunJournal::open(&path, &About::default(), &instances).unwrap().known()[&3], all[2]);
    }

    #[test]
    fn what_the_journal_has_is_not_scored_again() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("journal");
        let about = About::default();
        let instances: Vec<Instance> =
            (1..=40).map(|line| Instance { line, pred: line.to_string(), ..Instance::default() }).collect();
        let benchmark = Lengths(Mutex::default());
        let journal = RunJournal::open(&path, &about, &instances).unwrap();
        let part = run(&benchmark, &instances[..25], &journal, &|| ()).unwrap();
        drop(journal);
        let journal = RunJournal::open(&path, &about, &instances).unwrap();
        let all = run(&benchmark, &instances, &journal, &|| ()).unwrap();
        assert_eq!(*benchmark.0.lock().unwrap(), 40);
        assert_eq!(all.iter().map(|o| o.record.line).collect::<Vec<_>>(), (1..=40).collect::<Vec<_>>());
        assert_eq!(part[3].record, all[3].record);
        drop(journal);
        assert_eq!(RunJournal::open(&path, &about, &instances).unwrap().known().len(), 40);
    }
}
