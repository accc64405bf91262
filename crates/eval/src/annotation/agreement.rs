//! Figures of the work: entries by status, annotators, and how far people agree.

use std::collections::BTreeMap;
use std::fmt;

use serde::Serialize;

use super::event::Verdict;
use super::state::{AnnotationState, AnnotationStatus, EntryState};

/// A summary of annotations.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct AnnotationSummary {
    /// Number of entries.
    pub entries: usize,
    /// Entries by status.
    pub status: StatusCounts,
    /// Entries with a verdict that is not an agreement.
    pub disputed: usize,
    /// First questions with all their verdicts.
    pub validated: usize,
    /// Those of them on which all verdicts agree that the question is right as written.
    pub as_written: usize,
    /// Their share, 0 to 1; missing without validated questions.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub share_as_written: Option<f64>,
    /// Fleiss' kappa of the verdicts on first questions, at most 1. Missing if each question has one verdict, if no
    /// question has all its verdicts, or if all verdicts are the same, for which it is undefined.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kappa: Option<f64>,
    /// Number of verdicts that each question needs.
    pub validations: usize,
    /// Questions that began with a suggestion.
    pub from_suggestions: usize,
    /// Those of them that were kept unchanged.
    pub suggestions_kept: usize,
    /// Median of the seconds between receiving an entry and writing its question.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub median_seconds: Option<u32>,
    /// The work of each annotator, by name.
    pub annotators: BTreeMap<String, AnnotatorCounts>,
}

/// Numbers of entries by status.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct StatusCounts {
    /// Without a question.
    pub open: usize,
    /// With a question that is not validated.
    pub answered: usize,
    /// With a correction that is not validated.
    pub corrected: usize,
    /// With a rejected question.
    pub rejected: usize,
    /// With a validated question.
    pub agreed: usize,
}

impl StatusCounts {
    /// Counts an entry.
    pub(super) fn add(&mut self, status: AnnotationStatus) {
        *match status {
            AnnotationStatus::Open => &mut self.open,
            AnnotationStatus::Answered => &mut self.answered,
            AnnotationStatus::Corrected => &mut self.corrected,
            AnnotationStatus::Rejected => &mut self.rejected,
            AnnotationStatus::Agreed => &mut self.agreed,
        } += 1;
    }
}

/// The work of an annotator.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct AnnotatorCounts {
    /// Written questions, corrections not included.
    pub written: usize,
    /// Verdicts of others on them, by verdict.
    pub agreed: usize,
    /// Those that others corrected.
    pub corrected: usize,
    /// Those that others rejected.
    pub rejected: usize,
    /// Verdicts of this annotator on questions of others.
    pub verdicts: usize,
    /// Those of them that were agreements.
    pub agreements: usize,
    /// Skipped entries; each counts as often as it was skipped.
    pub skipped: usize,
}

impl AnnotationSummary {
    /// Summarises the entries. `is_unchanged` returns whether the first question of an entry is its suggestion, by the
    /// numbers of entry and suggestion and the question.
    pub fn of(state: &AnnotationState, is_unchanged: &dyn Fn(usize, usize, &str) -> bool) -> AnnotationSummary {
        let mut summary = AnnotationSummary {
            entries: state.entries.len(),
            status: StatusCounts::default(),
            disputed: 0,
            validated: 0,
            as_written: 0,
            share_as_written: None,
            kappa: None,
            validations: state.validations,
            from_suggestions: 0,
            suggestions_kept: 0,
            median_seconds: None,
            annotators: BTreeMap::new(),
        };
        let (mut ratings, mut seconds) = (Vec::new(), Vec::new());
        for (index, entry) in state.entries.iter().enumerate() {
            summary.status.add(entry.status(state.validations));
            summary.disputed += usize::from(entry.is_disputed());
            summary.count_work(entry);
            for round in entry.rounds.iter().filter(|round| !round.is_correction) {
                seconds.extend(round.seconds);
                if let Some(number) = round.suggestion {
                    summary.from_suggestions += 1;
                    summary.suggestions_kept += usize::from(is_unchanged(index, number, &round.question));
                }
            }
            let Some(first) = entry.rounds.first().filter(|first| first.verdicts.len() >= state.validations) else {
                continue;
            };
            let counts = Verdict::ALL.map(|wanted| first.verdicts.iter().filter(|v| v.verdict == wanted).count());
            summary.validated += 1;
            summary.as_written += usize::from(counts[0] == first.verdicts.len());
            ratings.push(counts);
        }
        if summary.validated > 0 {
            summary.share_as_written = Some(crate::stored(summary.as_written as f64 / summary.validated as f64));
        }
        summary.kappa = fleiss_kappa(&ratings).map(crate::stored);
        seconds.sort_unstable();
        summary.median_seconds = seconds.get(seconds.len() / 2).copied();
        summary
    }

    fn count_work(&mut self, entry: &EntryState) {
        for round in &entry.rounds {
            let author = self.annotators.entry(round.by.clone()).or_default();
            author.written += usize::from(!round.is_correction);
            for given in &round.verdicts {
                *match given.verdict {
                    Verdict::Agree => &mut author.agreed,
                    Verdict::Correct => &mut author.corrected,
                    Verdict::Reject => &mut author.rejected,
                } += 1;
            }
            for given in &round.verdicts {
                let validator = self.annotators.entry(given.by.clone()).or_default();
                validator.verdicts += 1;
                validator.agreements += usize::from(given.verdict == Verdict::Agree);
            }
        }
        for (by, (count, _)) in &entry.skips {
            self.annotators.entry(by.clone()).or_default().skipped += *count as usize;
        }
    }
}

impl fmt::Display for AnnotationSummary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let StatusCounts { open, answered, corrected, rejected, agreed } = self.status;
        writeln!(f, "entries            {}", self.entries)?;
        for (name, count) in [
            ("open", open),
            ("answered", answered),
            ("corrected", corrected),
            ("rejected", rejected),
            ("agreed", agreed),
        ] {
            writeln!(f, "  {name:<17}{count}")?;
        }
        writeln!(f, "disputed           {}", self.disputed)?;
        write!(f, "right as written   {} of {} validated", self.as_written, self.validated)?;
        match self.share_as_written {
            Some(share) => writeln!(f, " ({:.1} %)", 100.0 * share)?,
            None => writeln!(f)?,
        }
        match self.kappa {
            Some(kappa) => writeln!(f, "Fleiss' kappa      {kappa:.3}")?,
            None if self.validations < 2 => {
                writeln!(f, "Fleiss' kappa      none: each question has one verdict (--annotate-validations 2)")?;
            }
            None => writeln!(f, "Fleiss' kappa      none: undefined without different verdicts")?,
        }
        if self.from_suggestions > 0 {
            let (kept, all) = (self.suggestions_kept, self.from_suggestions);
            writeln!(f, "from suggestions   {all}, {kept} of them unchanged")?;
        }
        if let Some(median) = self.median_seconds {
            writeln!(f, "seconds, median    {median}")?;
        }
        if self.annotators.is_empty() {
            return Ok(());
        }
        let width = self.annotators.keys().map(String::len).max().unwrap_or(0).max("annotator".len());
        let names = ["written", "agreed", "corrected", "rejected", "verdicts", "agreements", "skipped"];
        write!(f, "\n{:<width$}", "annotator")?;
        names.iter().try_for_each(|name| write!(f, "  {name}"))?;
        writeln!(f)?;
        for (name, counts) in &self.annotators {
            let AnnotatorCounts { written, agreed, corrected, rejected, verdicts, agreements, skipped } = counts;
            write!(f, "{name:<width$}")?;
            let numbers = [written, agreed, corrected, rejected, verdicts, agreements, skipped];
            names.iter().zip(numbers).try_for_each(|(name, number)| write!(f, "  {number:>0$}", name.len()))?;
            writeln!(f)?;
        }
        Ok(())
    }
}

/// Returns Fleiss' kappa (J. L. Fleiss, Measuring nominal scale agreement among many raters, 1971): 1 for perfect
/// agreement, 0 for that of chance. `ratings` has the number of ratings in each category for each subject; only subjects
/// with the most frequent number of ratings count, since the measure needs equal numbers. `None` if there are fewer than
/// two ratings of each subject, or all ratings are in one category.
pub fn fleiss_kappa<const CATEGORIES: usize>(ratings: &[[usize; CATEGORIES]]) -> Option<f64> {
    let mut sizes = BTreeMap::new();
    for subject in ratings {
        *sizes.entry(subject.iter().sum::<usize>()).or_insert(0_usize) += 1;
    }
    let (raters, subjects) = sizes.into_iter().max_by_key(|(_, count)| *count)?;
    if raters < 2 {
        return None;
    }
    let (n, subjects) = (raters as f64, subjects as f64);
    let counted = || ratings.iter().filter(|subject| subject.iter().sum::<usize>() == raters);
    let agreement = |subject: &[usize; CATEGORIES]| {
        let squares: f64 = subject.iter().map(|count| (count * count) as f64).sum();
        (squares - n) / (n * (n - 1.0))
    };
    let observed = counted().map(agreement).sum::<f64>() / subjects;
    let expected: f64 = (0..CATEGORIES)
        .map(|category| {
            let total: usize = counted().filter_map(|subject| subject.get(category)).sum();
            let share = total as f64 / (subjects * n);
            share * share
        })
        .sum();
    (expected < 1.0).then(|| (observed - expected) / (1.0 - expected))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The example of Fleiss' paper as Wikipedia's article "Fleiss' kappa" has it: 14 raters, 10 subjects, 0.210.
    #[test]
    fn kappa_is_that_of_the_published_example() {
        let ratings = [
            [0, 0, 0, 0, 14],
            [0, 2, 6, 4, 2],
            [0, 0, 3, 5, 6],
            [0, 3, 9, 2, 0],
            [2, 2, 8, 1, 1],
            [7, 7, 0, 0, 0],
            [3, 2, 6, 3, 0],
            [2, 5, 3, 2, 2],
            [6, 5, 2, 1, 0],
            [0, 2, 2, 3, 7],
        ];
        let kappa = fleiss_kappa(&ratings).unwrap();
        assert!((kappa - 0.210).abs() < 5e-4, "{kappa}");
    }

    #[test]
    fn kappa_is_missing_where_it_is_undefined() {
        assert_eq!(fleiss_kappa::<3>(&[]), None);
        assert_eq!(fleiss_kappa(&[[1, 0, 0], [0, 1, 0]]), None, "one rater");
        assert_eq!(fleiss_kappa(&[[2, 0, 0], [2, 0, 0]]), None, "one category");
        assert_eq!(fleiss_kappa(&[[2, 0, 0], [0, 2, 0]]), Some(1.0));
    }
}
