//! Unknown identifiers: the keys, values, properties and items of a query that the snapshot lacks.
//!
//! A model that invents an identifier is said to hallucinate it. The rate depends on the snapshot: an extract lacks
//! many identifiers that exist elsewhere, so it is given for the gold query as well.

use crate::feedback::QueryIdentifiers;
use crate::metric::{Metric, ScoreSource};
use crate::record::{ResultRecord, Score, UnknownIdentifiers};
use crate::stored;

/// The maximum number of unknown identifiers in a record.
const SAMPLE: usize = 10;

/// The metrics of identifiers. Lower is better.
pub static METRICS: &[Metric] = &[
    Metric {
        lower_is_better: true,
        ..Metric::of_results(
            "unknown",
            "unknown",
            "The share of the prediction's keys, values, properties and items that the snapshot lacks, 0 to 1; lower is \
             better. Not given where it cannot be parsed.",
            ScoreSource::Named,
        )
    },
    Metric {
        lower_is_better: true,
        ..Metric::of_results(
            "unknown_gold",
            "unknown gold",
            "The same share of the gold query, 0 to 1: what a perfect prediction has.",
            ScoreSource::Named,
        )
    },
];

/// Adds the scores of both queries, and the identifiers of the prediction if some are unknown. A query without
/// identifiers has none that is unknown.
pub fn set(gold: Option<&QueryIdentifiers>, pred: Option<&QueryIdentifiers>, record: &mut ResultRecord) {
    let share = |found: &QueryIdentifiers| stored(found.unknown.len() as f64 / found.count.max(1) as f64);
    if let Some(pred) = pred {
        record.scores.set("unknown", Score::Share(share(pred)));
        record.unknown_identifiers = (!pred.unknown.is_empty()).then(|| UnknownIdentifiers {
            of: pred.count,
            unknown: pred.unknown.len(),
            first: pred.unknown.iter().take(SAMPLE).cloned().collect(),
        });
    }
    if let Some(gold) = gold {
        record.scores.set("unknown_gold", Score::Share(share(gold)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_of_different_identifiers() {
        let found = |count, unknown: &[&str]| QueryIdentifiers {
            count,
            unknown: unknown.iter().map(|name| (*name).to_owned()).collect(),
        };
        let mut record = ResultRecord::default();
        set(Some(&found(2, &[])), Some(&found(4, &["amenty"])), &mut record);
        assert_eq!((record.scores.get("unknown"), record.scores.get("unknown_gold")), (Some(0.25), Some(0.0)));
        assert_eq!(record.unknown_identifiers.unwrap().first, ["amenty"]);
        let mut record = ResultRecord::default();
        set(None, Some(&found(0, &[])), &mut record);
        assert_eq!((record.scores.get("unknown"), record.unknown_identifiers), (Some(0.0), None));
    }
}
