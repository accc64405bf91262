//! Compares gold answers between two snapshots.

use std::fmt::{self, Write as _};

use rayon::iter::{IntoParallelRefIterator, ParallelIterator};
use serde::Serialize;

use super::answer::{GoldAnswer, GoldElement, GoldEngine, QueryFailure};
use super::pairs::GoldPair;

/// The maximum number of listed elements per kind of change.
const SAMPLE: usize = 10;
/// The maximum length of a question in the table, in characters.
const QUESTION: usize = 44;

/// The answer of one snapshot.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct DriftSide {
    /// The number of elements or rows, or the printed count.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub number: Option<u64>,
    /// The error, if the query failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

impl DriftSide {
    fn of(answer: &Result<GoldAnswer, QueryFailure>) -> DriftSide {
        match answer {
            Ok(answer) => DriftSide { number: Some(answer.number), error: None },
            Err(failure) => DriftSide { number: None, error: Some(failure.text.clone()) },
        }
    }

    fn show(&self) -> String {
        self.number.map_or_else(|| "error".to_owned(), |number| number.to_string())
    }
}

/// The change of a pair's gold answer. Elements are identified by type and id, and their printed parts are compared.
/// Rows have no identity: a changed row counts as one missing and one added.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct PairDrift {
    /// The pair's split.
    pub split: String,
    /// Its line.
    pub line: usize,
    /// Its name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// The question.
    pub question: String,
    /// The answer of the old snapshot.
    pub old: DriftSide,
    /// The answer of the new snapshot.
    pub new: DriftSide,
    /// Both have an answer with equal elements or rows, ignoring versions, timestamps, changesets and users.
    pub same: bool,
    /// The number of elements or rows only in the old answer.
    pub missing: u64,
    /// The number of elements or rows only in the new answer.
    pub added: u64,
    /// The number of elements in both with different tags or shape.
    pub changed: u64,
    /// The number of those with different tags.
    pub tags: u64,
    /// The number of those with different coordinates, nodes, members or geometry.
    pub shape: u64,
    /// The number of elements that differ only in version, timestamp, changeset or user, which count as unchanged.
    pub metadata: u64,
    /// The first missing ones.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub missing_sample: Vec<String>,
    /// The first added ones.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub added_sample: Vec<String>,
    /// The first changed ones.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub changed_sample: Vec<String>,
}

/// The totals over all pairs.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct DriftTotals {
    /// The number of pairs.
    pub pairs: usize,
    /// Pairs with equal, non-empty answers.
    pub same: usize,
    /// Pairs with empty answers in both snapshots.
    pub empty: usize,
    /// Pairs with different answers, including those below.
    pub differ: usize,
    /// Pairs with results only in the old snapshot.
    pub became_empty: usize,
    /// Pairs with results only in the new snapshot.
    pub became_filled: usize,
    /// Pairs that fail in one or both snapshots.
    pub errors: usize,
    /// The number of missing elements or rows.
    pub missing: u64,
    /// The number of added ones.
    pub added: u64,
    /// The number of changed ones.
    pub changed: u64,
}

/// The changes of a benchmark.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Drift {
    /// The old snapshot's digest.
    pub old: String,
    /// The new snapshot's digest.
    pub new: String,
    /// The totals.
    pub totals: DriftTotals,
    /// The pairs in order.
    pub pairs: Vec<PairDrift>,
}

/// Runs the gold queries on both snapshots, on the current pool's threads. Each engine comes with its snapshot's
/// digest; `done` is called after every pair.
pub fn drift(
    old: (&GoldEngine<'_>, &str),
    new: (&GoldEngine<'_>, &str),
    pairs: &[GoldPair],
    done: &(dyn Fn() + Sync),
) -> Drift {
    let one = |pair: &GoldPair| {
        let drift = compare(pair, &old.0.ask(pair), &new.0.ask(pair));
        done();
        drift
    };
    let pairs: Vec<PairDrift> = pairs.par_iter().map(one).collect();
    Drift { old: old.1.to_owned(), new: new.1.to_owned(), totals: totals(&pairs), pairs }
}

fn compare(
    pair: &GoldPair,
    old: &Result<GoldAnswer, QueryFailure>,
    new: &Result<GoldAnswer, QueryFailure>,
) -> PairDrift {
    let mut drift = PairDrift {
        split: pair.split.clone(),
        line: pair.line,
        id: pair.id.clone(),
        question: pair.question.clone(),
        old: DriftSide::of(old),
        new: DriftSide::of(new),
        ..PairDrift::default()
    };
    let (Ok(old), Ok(new)) = (old, new) else { return drift };
    let (mut old, mut new) = (groups(&old.elements).peekable(), groups(&new.elements).peekable());
    loop {
        let order = match (old.peek(), new.peek()) {
            (Some(a), Some(b)) => key(a).cmp(&key(b)),
            (Some(_), None) => std::cmp::Ordering::Less,
            (None, Some(_)) => std::cmp::Ordering::Greater,
            (None, None) => break,
        };
        let (was, is) = match order {
            std::cmp::Ordering::Less => (old.next(), None),
            std::cmp::Ordering::Greater => (None, new.next()),
            std::cmp::Ordering::Equal => (old.next(), new.next()),
        };
        drift.take(was, is);
    }
    drift.same = drift.missing + drift.added + drift.changed == 0;
    drift
}

/// Groups an answer by element; most elements are printed once.
fn groups(elements: &[GoldElement]) -> impl Iterator<Item = &[GoldElement]> {
    elements.chunk_by(|a, b| a.key() == b.key())
}

fn key(group: &[GoldElement]) -> Option<(&str, i64, u128)> {
    group.first().map(GoldElement::key)
}

impl PairDrift {
    fn take(&mut self, old: Option<&[GoldElement]>, new: Option<&[GoldElement]>) {
        let name = |group: &[GoldElement]| group.first().map(ToString::to_string);
        let note = |sample: &mut Vec<String>, group: &[GoldElement]| {
            if sample.len() < SAMPLE {
                sample.extend(name(group));
            }
        };
        match (old, new) {
            (Some(old), None) => {
                self.missing += 1;
                note(&mut self.missing_sample, old);
            }
            (None, Some(new)) => {
                self.added += 1;
                note(&mut self.added_sample, new);
            }
            (Some(old), Some(new)) => {
                let differ = |of: fn(&GoldElement) -> u128| !old.iter().map(of).eq(new.iter().map(of));
                let (tags, shape) = (differ(|element| element.tags), differ(|element| element.shape));
                self.tags += u64::from(tags);
                self.shape += u64::from(shape);
                if tags || shape {
                    self.changed += 1;
                    note(&mut self.changed_sample, new);
                } else {
                    self.metadata += u64::from(differ(|element| element.metadata));
                }
            }
            (None, None) => {}
        }
    }
}

fn totals(pairs: &[PairDrift]) -> DriftTotals {
    let mut totals = DriftTotals { pairs: pairs.len(), ..DriftTotals::default() };
    for pair in pairs {
        let (Some(old), Some(new)) = (pair.old.number, pair.new.number) else {
            totals.errors += 1;
            continue;
        };
        match (pair.same, old, new) {
            (true, 0, 0) => totals.empty += 1,
            (true, ..) => totals.same += 1,
            (false, ..) => totals.differ += 1,
        }
        totals.became_empty += usize::from(old > 0 && new == 0);
        totals.became_filled += usize::from(old == 0 && new > 0);
        totals.missing += pair.missing;
        totals.added += pair.added;
        totals.changed += pair.changed;
    }
    totals
}

/// Formats the differing pairs as a table, then the totals.
impl fmt::Display for Drift {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let differ: Vec<&PairDrift> = self.pairs.iter().filter(|pair| !pair.same).collect();
        if !differ.is_empty() {
            writeln!(
                f,
                "{:<16} {:>8} {:>8} {:>8} {:>8} {:>8}  question",
                "pair", "old", "new", "missing", "added", "changed"
            )?;
        }
        for pair in differ {
            let mut place = format!("{}:{}", pair.split, pair.line);
            if let Some(id) = &pair.id {
                let _ = write!(place, " {id}");
            }
            let question: String = pair.question.chars().take(QUESTION).collect();
            let (old, new) = (pair.old.show(), pair.new.show());
            writeln!(
                f,
                "{place:<16} {old:>8} {new:>8} {:>8} {:>8} {:>8}  {question}",
                pair.missing, pair.added, pair.changed
            )?;
        }
        let DriftTotals { pairs, same, empty, differ, became_empty, became_filled, errors, missing, added, changed } =
            self.totals;
        let mut line = |name: &str, value: &dyn fmt::Display| writeln!(f, "{name:<16} {value}");
        line("pairs", &pairs)?;
        line("same", &same)?;
        line("empty in both", &empty)?;
        line("differ", &differ)?;
        line("became empty", &became_empty)?;
        line("became filled", &became_filled)?;
        line("errors", &errors)?;
        line("elements", &format_args!("{missing} missing, {added} added, {changed} changed"))?;
        line("old", &self.old)?;
        line("new", &self.new)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(elements: &[(&'static str, i64, u128, u128, u128)]) -> Result<GoldAnswer, QueryFailure> {
        let element = |&(kind, id, tags, shape, metadata): &(&'static str, i64, u128, u128, u128)| GoldElement {
            kind: kind.into(),
            id,
            tags,
            shape,
            metadata,
        };
        let elements: Vec<GoldElement> = elements.iter().map(element).collect();
        Ok(GoldAnswer { digest: [0; 32], number: elements.len() as u64, elements, rows: false, cut: None })
    }

    #[test]
    fn what_changed_is_told_apart() {
        let old = answer(&[("node", 1, 1, 1, 1), ("node", 2, 1, 1, 1), ("node", 3, 1, 1, 1), ("node", 5, 1, 1, 1)]);
        let new = answer(&[
            ("node", 2, 2, 2, 2),
            ("node", 3, 1, 1, 2),
            ("node", 4, 1, 1, 1),
            ("node", 5, 1, 1, 1),
            ("node", 5, 9, 1, 1),
        ]);
        let drift = compare(&GoldPair::default(), &old, &new);
        assert_eq!((drift.missing, drift.added, drift.changed), (1, 1, 2));
        assert_eq!((drift.tags, drift.shape, drift.metadata, drift.same), (2, 2, 1, false));
        assert_eq!(drift.missing_sample, ["node/1"]);
        assert_eq!(drift.changed_sample, ["node/2", "node/5"]);
        assert!(compare(&GoldPair::default(), &new, &new).same);
    }

    #[test]
    fn totals_count_every_pair_once() {
        let (some, none) = (answer(&[("node", 1, 1, 1, 1)]), answer(&[]));
        let broken = Err(QueryFailure { text: "x".to_owned() });
        let pairs: Vec<PairDrift> = [(&some, &some), (&none, &none), (&some, &none), (&none, &some), (&some, &broken)]
            .map(|(old, new)| compare(&GoldPair::default(), old, new))
            .into();
        let totals = totals(&pairs);
        assert_eq!((totals.same, totals.empty, totals.differ, totals.errors), (1, 1, 2, 1));
        assert_eq!((totals.became_empty, totals.became_filled, totals.missing, totals.added), (1, 1, 1, 1));
    }
}
