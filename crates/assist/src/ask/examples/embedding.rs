//! The nearest questions by embeddings of a model.

use std::sync::{Mutex, PoisonError};

use terrapin_chat::{ChatError, EmbeddingModel, Patience};

use super::ExampleScorer;
use super::cache::EmbeddingCache;

/// Texts in one request.
const BATCH: usize = 64;

/// Scores examples by the cosine of the angle between embeddings, as OverpassNL's paper does with sentence-BERT.
pub struct EmbeddingScorer {
    questions: Vec<String>,
    model: Box<dyn EmbeddingModel + Send>,
    cache: Mutex<EmbeddingCache>,
}

impl EmbeddingScorer {
    pub fn new(questions: &[&str], model: Box<dyn EmbeddingModel + Send>, cache: EmbeddingCache) -> EmbeddingScorer {
        let questions = questions.iter().map(|question| (*question).to_owned()).collect();
        EmbeddingScorer { questions, model, cache: Mutex::new(cache) }
    }

    /// Requests the missing embeddings of the examples and of these texts, in this order.
    fn load(&self, texts: &[&str], patience: Patience<'_>) -> Result<(), ChatError> {
        let mut cache = self.cache.lock().unwrap_or_else(PoisonError::into_inner);
        let mut missing: Vec<&str> = Vec::new();
        let mut seen = std::collections::BTreeSet::new();
        for text in self.questions.iter().map(String::as_str).chain(texts.iter().copied()) {
            if cache.get(text).is_none() && seen.insert(text) {
                missing.push(text);
            }
        }
        for batch in missing.chunks(BATCH) {
            for (text, vector) in batch.iter().zip(self.model.embed(batch, patience)?) {
                cache.insert(text, vector)?;
            }
        }
        Ok(())
    }
}

impl ExampleScorer for EmbeddingScorer {
    fn scores(&self, question: &str, patience: Patience<'_>) -> Result<Vec<f64>, ChatError> {
        self.load(&[question], patience)?;
        let cache = self.cache.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(own) = cache.get(question) else { return Ok(vec![0.0; self.questions.len()]) };
        let score = |text: &String| cache.get(text).map_or(0.0, |other| cosine(own, other));
        Ok(self.questions.iter().map(score).collect())
    }

    fn prepare(&self, questions: &[&str], patience: Patience<'_>) -> Result<(), ChatError> {
        self.load(questions, patience)
    }
}

/// Returns the cosine of the angle between two vectors; 0 for a vector of length 0. The order of additions is fixed.
fn cosine(a: &[f32], b: &[f32]) -> f64 {
    let dot = |a: &[f32], b: &[f32]| a.iter().zip(b).map(|(a, b)| f64::from(*a) * f64::from(*b)).sum::<f64>();
    let lengths = (dot(a, a) * dot(b, b)).sqrt();
    if lengths > 0.0 { dot(a, b) / lengths } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{QUESTIONS, patience};
    use super::*;

    /// A model that counts some letters.
    struct Letters(std::sync::Arc<Mutex<Vec<usize>>>);

    impl EmbeddingModel for Letters {
        fn embed(&self, texts: &[&str], _: Patience<'_>) -> Result<Vec<Vec<f32>>, ChatError> {
            self.0.lock().unwrap().push(texts.len());
            let count = |text: &str, letter: char| text.chars().filter(|c| *c == letter).count() as f32;
            Ok(texts.iter().map(|text| ['f', 'p', 'z'].map(|letter| count(text, letter)).to_vec()).collect())
        }
    }

    #[test]
    fn scores_are_cosines_and_each_text_is_sent_once() {
        let sent = std::sync::Arc::new(Mutex::new(Vec::new()));
        let scorer = EmbeddingScorer::new(&QUESTIONS, Box::new(Letters(sent.clone())), EmbeddingCache::default());
        // f, p, z: cafes in Malta 1 0 0; All cafes ... 1 0 0; Bus stops in Gozo 0 1 1; Railway ... 0 0 0.
        let scores = scorer.scores("pizza", patience()).unwrap();
        let third = 3.0 / (2.0_f64 * 5.0).sqrt();
        assert_eq!(scores[..2], [0.0, 0.0]);
        assert!((scores[2] - third).abs() < 1e-12 && scores[3] == 0.0, "{scores:?}");
        scorer.scores("pizza", patience()).unwrap();
        scorer.scores("cafes in Malta", patience()).unwrap();
        assert_eq!(*sent.lock().unwrap(), [5]);
        scorer.prepare(&["a", "a", "b"], patience()).unwrap();
        assert_eq!(*sent.lock().unwrap(), [5, 2]);
    }
}
