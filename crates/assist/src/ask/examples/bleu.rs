//! The nearest questions by sentence BLEU.

use terrapin_chat::{ChatError, Patience};
use terrapin_eval::metrics::bleu::{BleuCounts, BleuText};

use super::ExampleScorer;

/// Scores examples by the sentence BLEU of sacreBLEU (tokenizer `13a`, exponential smoothing, effective order), with the
/// new question as the reference. OverpassNL's paper selects by BLEU and does not publish its direction and smoothing.
pub struct BleuScorer {
    questions: Vec<BleuText>,
}

impl BleuScorer {
    pub fn new(questions: &[&str]) -> BleuScorer {
        BleuScorer { questions: questions.iter().map(|question| BleuText::new(question)).collect() }
    }
}

impl ExampleScorer for BleuScorer {
    fn scores(&self, question: &str, _: Patience<'_>) -> Result<Vec<f64>, ChatError> {
        let reference = BleuText::new(question);
        Ok(self.questions.iter().map(|own| BleuCounts::between(&reference, own).sentence()).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{QUESTIONS, patience};
    use super::*;

    #[test]
    fn scores_are_those_of_sacrebleu() {
        let scores = BleuScorer::new(&QUESTIONS).scores("Bus stops in Malta", patience()).unwrap();
        // sacrebleu 2.6.0: BLEU(effective_order=True).sentence_score(example, ["Bus stops in Malta"]).
        let expected = [39.43223765116288, 6.567274736060395, 59.460355750136046, 15.97357760615681];
        for (score, expected) in scores.iter().zip(expected) {
            assert!((score * 100.0 - expected).abs() < 1e-9, "{scores:?}");
        }
    }
}
