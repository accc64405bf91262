//! Repeats the scores of the authors' code with all its quirks.

use super::columns::{ColumnShares, shares};
use crate::benchmarks::sparql::SparqlAnswer;
use crate::metric::{Metric, ScoreSource};
use crate::metrics::codebleu::codebleu;
use crate::record::{Compat, FailedQuery, FailureClass, FailureKind, ResultRecord};
use crate::stored;
use terrapin_sparql::QueryResultForm;

/// The metrics of the published code.
pub static METRICS: &[Metric] = &[
    Metric::of_texts(
        "compat.em",
        "compat EM",
        "1 where the queries are the same text, else 0.",
        ScoreSource::Part(|record| counted(record, |compat| compat.em.map(f64::from))),
    ),
    Metric::of_texts(
        "compat.codebleu",
        "compat CodeBLEU",
        "CodeBLEU of the queries, 0 to 1.",
        ScoreSource::Part(|record| counted(record, |compat| compat.codebleu)),
    ),
    Metric::of_results(
        "compat.syntax",
        "compat Syntax",
        "0 where the endpoint refuses the prediction's syntax, 1 where it does not.",
        ScoreSource::Part(|record| counted(record, |compat| compat.syntax.map(f64::from))),
    ),
    Metric::of_results(
        "compat.overlap",
        "compat Overlap",
        "Common values over the smaller column's, mean over matched columns, 0 to 1; not given where none match.",
        ScoreSource::Part(|record| counted(record, |compat| compat.overlap)),
    ),
    Metric::of_results(
        "compat.jaccard",
        "compat Jaccard",
        "Common values over all, mean over matched columns, 0 to 1; not given where none match.",
        ScoreSource::Part(|record| counted(record, |compat| compat.jaccard)),
    ),
    Metric::of_results(
        "compat.dice",
        "compat Dice",
        "Twice the common values over the sum of both columns', mean over matched columns, 0 to 1; not given where none \
         match.",
        ScoreSource::Part(|record| counted(record, |compat| compat.dice)),
    ),
];

/// Returns a score of a record, unless the published code skips it.
fn counted(record: &ResultRecord, score: fn(&Compat) -> Option<f64>) -> Option<f64> {
    record.compat.as_ref()?.counted(score)
}

impl Compat {
    /// Computes the scores of the query texts.
    pub fn of_texts(gold: &str, pred: &str) -> Compat {
        let bleu = codebleu(gold, pred);
        Compat {
            em: Some(u8::from(gold == pred)),
            codebleu: Some(stored(bleu.map_or(0.0, |bleu| bleu.score()))),
            parsed: Some(bleu.is_some_and(|bleu| bleu.parsed)),
            ..Compat::default()
        }
    }

    /// Adds the scores of running the queries. A query that fails or times out on the snapshot counts as status 500
    /// of the endpoint, as the Wikidata Query Service answers before the first rows.
    pub fn run(
        &mut self,
        gold: &Result<SparqlAnswer, FailedQuery<FailureClass>>,
        pred: &Result<SparqlAnswer, FailedQuery<FailureClass>>,
    ) {
        let dropped = |why: &str| Some(why.to_owned());
        let gold = match gold {
            Err(failed) => {
                self.dropped = Some(format!("the gold has no answer: {}", failed.class.name()));
                return;
            }
            Ok(answer) if answer.form == QueryResultForm::Ask => {
                self.dropped = dropped("the gold is no SELECT");
                return;
            }
            // An answer that is not a table counts as empty until it is compared.
            Ok(answer) => Some(answer).filter(|answer| answer.form == QueryResultForm::Select),
        };
        self.syntax = Some(1);
        let all = |score: f64| Some(ColumnShares { overlap: score, jaccard: score, dice: score });
        let shares = match pred {
            Err(failed) if failed.class.is_bad_request() => {
                self.syntax = Some(0);
                all(0.0)
            }
            Err(_) => all(f64::from(u8::from(gold.is_none_or(|gold| gold.rows.is_empty())))),
            Ok(answer) if answer.form == QueryResultForm::Ask => {
                self.dropped = dropped("the prediction is no SELECT");
                return;
            }
            Ok(answer) if answer.form == QueryResultForm::Graph || answer.rows.is_empty() => all(0.0),
            Ok(answer) => match gold.map_or(Err("the gold is no SELECT"), |gold| shares(gold, answer)) {
                Ok(shares) => shares,
                Err(why) => {
                    self.dropped = dropped(why);
                    return;
                }
            },
        };
        if let Some(ColumnShares { overlap, jaccard, dice }) = shares {
            (self.overlap, self.jaccard, self.dice) =
                (Some(stored(overlap)), Some(stored(jaccard)), Some(stored(dice)));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(values: &[&str]) -> Result<SparqlAnswer, FailedQuery<FailureClass>> {
        let row = |value: &&str| vec![Some(oxrdf::Literal::from(*value).into())];
        Ok(SparqlAnswer {
            form: QueryResultForm::Select,
            columns: vec!["x".to_owned()],
            rows: values.iter().map(row).collect(),
        })
    }

    fn run(
        gold: Result<SparqlAnswer, FailedQuery<FailureClass>>,
        pred: Result<SparqlAnswer, FailedQuery<FailureClass>>,
    ) -> (Option<u8>, Option<f64>, bool) {
        let mut compat = Compat::default();
        compat.run(&gold, &pred);
        (compat.syntax, compat.jaccard, compat.dropped.is_some())
    }

    #[test]
    fn the_habits_of_the_published_code() {
        let failed = |class| Err(FailedQuery::new(class, ""));
        let yes = || Ok(SparqlAnswer { form: QueryResultForm::Ask, columns: vec![], rows: vec![] });
        // Only status 400 is invalid syntax.
        assert_eq!(run(rows(&["a"]), failed(FailureClass::Syntax)), (Some(0), Some(0.0), false));
        assert_eq!(run(rows(&["a"]), failed(FailureClass::NoQuery)), (Some(0), Some(0.0), false));
        // A server error is correct if the gold answer is empty.
        assert_eq!(run(rows(&["a"]), failed(FailureClass::Timeout)), (Some(1), Some(0.0), false));
        assert_eq!(run(rows(&[]), failed(FailureClass::Unsupported)), (Some(1), Some(1.0), false));
        // An empty answer is wrong even if the gold answer is empty.
        assert_eq!(run(rows(&[]), rows(&[])), (Some(1), Some(0.0), false));
        // Without matched columns the instance has no score, and the mean skips it.
        assert_eq!(run(rows(&[]), rows(&["a"])), (Some(1), None, false));
        // Other failures are skipped.
        assert_eq!(run(failed(FailureClass::Timeout), rows(&["a"])), (None, None, true));
        assert!(run(yes(), rows(&["a"])).2 && run(rows(&["a"]), yes()).2);
        // Its models cannot describe rows without values, or a column of texts with an empty one.
        let unbound = || Ok(SparqlAnswer { form: QueryResultForm::Select, columns: vec![], rows: vec![vec![]] });
        assert!(run(rows(&["a"]), unbound()).2 && run(rows(&[]), unbound()).2 && !run(unbound(), rows(&["a"])).2);
        assert!(
            run(rows(&["a", ""]), rows(&["a"])).2 && run(rows(&[]), rows(&[""])).2 && !run(rows(&[""]), rows(&[])).2
        );
        // x.type is the same in both, x.value is not: 1/2 of (1 + 1/3).
        assert_eq!(run(rows(&["a", "b"]), rows(&["b", "c"])), (Some(1), Some(stored(2.0 / 3.0)), false));
    }
}
