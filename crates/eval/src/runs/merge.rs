//! Merges the shards of a run. The files equal those of a run over all instances.

use super::EvalRun;
use crate::about::About;
use crate::error::RunError;

/// Merges the shards of a run, in any order.
///
/// # Errors
/// Returns an error if the runs are not the shards of one run, or some shards are missing.
pub fn merge(shards: Vec<EvalRun>) -> Result<EvalRun, RunError> {
    let unfit = |message: String| Err(RunError::Unfit(message));
    let Some(first) = shards.first() else { return unfit("there is nothing to merge".to_owned()) };
    let about = About { shard: None, ..first.about.clone() };
    let Some(of) = first.about.shard.map(|shard| shard.of) else {
        return unfit("these are not shards of a run: run.json names none".to_owned());
    };
    let mut numbers = Vec::new();
    for shard in &shards {
        if (About { shard: None, ..shard.about.clone() }) != about {
            return unfit(
                "these are shards of different runs: benchmark, snapshot, engine or inputs differ".to_owned(),
            );
        }
        match shard.about.shard {
            Some(part) if part.of == of => numbers.push(part.number),
            _ => return unfit(format!("one of these is not a shard x/{of}")),
        }
    }
    numbers.sort_unstable();
    if !numbers.iter().copied().eq(1..=of) {
        return unfit(format!("expected the shards 1 to {of}, each once; these are {numbers:?}"));
    }
    let mut whole = EvalRun { about, instances: Vec::new(), outcomes: Vec::new(), places: Default::default() };
    for shard in shards {
        whole.instances.extend(shard.instances);
        whole.outcomes.extend(shard.outcomes);
        whole.places.extend(shard.places);
    }
    whole.instances.sort_by_key(|instance| instance.line);
    whole.outcomes.sort_by_key(|outcome| outcome.record.line);
    Ok(whole)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::about::Shard;
    use crate::record::{Instance, ResultRecord, StoredOutcome};

    fn shard(number: usize, of: usize) -> EvalRun {
        let shard = Shard { number, of };
        let lines: Vec<usize> = (1..=7).filter(|line| shard.has(*line)).collect();
        EvalRun {
            about: About { shard: Some(shard), ..About::default() },
            instances: lines.iter().map(|&line| Instance { line, ..Instance::default() }).collect(),
            outcomes: lines
                .iter()
                .map(|&line| StoredOutcome {
                    record: ResultRecord { line, ..ResultRecord::default() },
                    ..StoredOutcome::default()
                })
                .collect(),
            places: Default::default(),
        }
    }

    #[test]
    fn lines_come_back_in_order() {
        let whole = merge(vec![shard(3, 3), shard(1, 3), shard(2, 3)]).unwrap();
        assert_eq!(whole.instances.iter().map(|i| i.line).collect::<Vec<_>>(), (1..=7).collect::<Vec<_>>());
        assert_eq!((whole.outcomes.len(), whole.about.shard), (7, None));
    }

    #[test]
    fn all_shards_of_one_run_are_needed() {
        let other = |mut run: EvalRun| {
            run.about.snapshot = Some("x".to_owned());
            run
        };
        for wrong in [
            vec![],
            vec![shard(1, 2)],
            vec![shard(1, 2), shard(1, 2)],
            vec![shard(1, 2), other(shard(2, 2))],
            vec![shard(1, 2), shard(2, 3)],
        ] {
            assert!(merge(wrong).is_err());
        }
    }
}
