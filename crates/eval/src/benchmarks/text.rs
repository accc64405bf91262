//! Scores texts generated from queries against reference texts: BLEU, chrF and ROUGE-L. They compare texts, not
//! meanings; to compare meanings, generate queries from the texts and run them.

use std::path::Path;

use super::registration::{Benchmark, Registration, ScoringInputs};
use crate::error::RunError;
use crate::input::extract::{PredictionFormat, read_predictions};
use crate::input::{InputError, read_lines, same_length};
use crate::metric::{Metric, ScoreSource};
use crate::metrics::bleu::BleuCounts;
use crate::metrics::{chrf, rouge};
use crate::record::{Instance, ResultRecord, Score, StoredOutcome};
use crate::stored;

/// The entry in the registry.
pub static REGISTRATION: Registration =
    Registration { name: "text", metrics, corpus, recompute: |_: ScoringInputs<'_>| Box::new(TextBenchmark) };

const fn named(name: &'static str, title: &'static str, meaning: &'static str) -> Metric {
    Metric::of_texts(name, title, meaning, ScoreSource::Named)
}

static METRICS: &[Metric] = &[
    named("text.bleu", "BLEU of texts", "A text metric: sacreBLEU's BLEU of the sentence, 0 to 1, in effective order."),
    named("text.chrf", "chrF of texts", "A text metric: sacreBLEU's chrF of the sentence, 0 to 1."),
    named(
        "text.rouge_l",
        "ROUGE-L of texts",
        "A text metric: F1 over the longest common subsequence of words, 0 to 1.",
    ),
];

fn metrics() -> Vec<&'static Metric> {
    METRICS.iter().collect()
}

/// Computes corpus BLEU and chrF in per cent, as in papers.
fn corpus(instances: &[Instance], _: &[ResultRecord]) -> Vec<(&'static str, f64)> {
    let (mut bleu, mut chrf) = (BleuCounts::default(), chrf::ChrfCounts::default());
    for Instance { gold, pred, .. } in instances {
        bleu.add(&BleuCounts::of(gold, pred));
        chrf.add(&chrf::ChrfCounts::of(gold, pred));
    }
    vec![("corpus_bleu", 100.0 * stored(bleu.corpus())), ("corpus_chrf", 100.0 * stored(chrf.score()))]
}

/// Reads reference and generated texts, one per line.
///
/// # Errors
/// Returns an error if a file cannot be read, or the numbers of lines differ.
pub fn read(gold: &Path, pred: &Path, forms: &[PredictionFormat]) -> Result<Vec<Instance>, RunError> {
    let golds = read_lines(gold)?;
    let preds = read_predictions(pred, forms, None)?;
    same_length((gold, golds.len()), (pred, preds.len()))?;
    if golds.is_empty() {
        return Err(InputError::unfit(gold, "the file", "there is no line to score").into());
    }
    let instance = |(index, (gold, pred))| Instance {
        line: index + 1,
        gold,
        pred,
        lang: Some("text".to_owned()),
        ..Instance::default()
    };
    Ok(golds.into_iter().zip(preds).enumerate().map(instance).collect())
}

/// Compares texts.
pub struct TextBenchmark;

impl Benchmark for TextBenchmark {
    fn evaluate(&self, instance: &Instance) -> StoredOutcome {
        let mut record = ResultRecord::of(instance);
        let (gold, pred) = (&instance.gold, &instance.pred);
        let mut set = |name: &'static str, score: f64| record.scores.set(name, Score::Share(stored(score)));
        set("text.bleu", BleuCounts::of(gold, pred).sentence());
        set("text.chrf", chrf::chrf(gold, pred));
        set("text.rouge_l", rouge::rouge_l(gold, pred));
        StoredOutcome { record, ..StoredOutcome::default() }
    }

    fn failed(&self, instance: &Instance, _: String) -> StoredOutcome {
        let mut record = ResultRecord::of(instance);
        METRICS.iter().for_each(|metric| record.scores.set(metric.name, Score::Share(0.0)));
        StoredOutcome { record, ..StoredOutcome::default() }
    }
}
