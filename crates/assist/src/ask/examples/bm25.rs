//! The nearest questions by BM25.

use std::collections::BTreeMap;

use terrapin_base::words::words;
use terrapin_chat::{ChatError, Patience};

use super::ExampleScorer;

/// The parameters: saturation of a word's frequency, and influence of a question's length. Lucene's defaults.
const K1: f64 = 1.2;
const B: f64 = 0.75;

/// Scores examples by BM25 (Robertson and Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond", 2009) in
/// the form of Lucene 8 and later: `idf(w) * f / (f + k1 * (1 - b + b * length / mean length))`, summed over the words
/// of the new question, with `idf(w) = ln(1 + (N - n + 0.5) / (n + 0.5))`. Words are compared without case and accents.
pub struct Bm25Scorer {
    /// For each word the examples that have it, and how often.
    postings: BTreeMap<String, Vec<(usize, f64)>>,
    /// The denominator of each example without the frequency.
    norms: Vec<f64>,
}

impl Bm25Scorer {
    pub fn new(questions: &[&str]) -> Bm25Scorer {
        let texts: Vec<Vec<String>> = questions.iter().map(|question| words(question)).collect();
        let mean = texts.iter().map(Vec::len).sum::<usize>() as f64 / texts.len().max(1) as f64;
        let norm = |text: &Vec<String>| K1 * (1.0 - B + B * text.len() as f64 / mean.max(f64::MIN_POSITIVE));
        let norms = texts.iter().map(norm).collect();
        let mut postings: BTreeMap<String, Vec<(usize, f64)>> = BTreeMap::new();
        for (index, text) in texts.into_iter().enumerate() {
            for word in text {
                let list = postings.entry(word).or_default();
                match list.last_mut() {
                    Some((last, frequency)) if *last == index => *frequency += 1.0,
                    _ => list.push((index, 1.0)),
                }
            }
        }
        Bm25Scorer { postings, norms }
    }
}

impl ExampleScorer for Bm25Scorer {
    fn scores(&self, question: &str, _: Patience<'_>) -> Result<Vec<f64>, ChatError> {
        let mut scores = vec![0.0; self.norms.len()];
        for word in words(question) {
            let Some(list) = self.postings.get(&word) else { continue };
            let (all, having) = (self.norms.len() as f64, list.len() as f64);
            let idf = libm::log(1.0 + (all - having + 0.5) / (having + 0.5));
            for (index, frequency) in list {
                scores[*index] += idf * frequency / (frequency + self.norms[*index]);
            }
        }
        Ok(scores)
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{QUESTIONS, patience};
    use super::*;

    #[test]
    fn scores_are_those_of_bm25s() {
        let scorer = Bm25Scorer::new(&QUESTIONS);
        // The Python package bm25s 0.3.16: BM25(method="lucene", k1=1.2, b=0.75) on the lower-case words; 32-bit floats.
        for (question, expected) in [
            ("Cafés in Gozo", [0.420_267_22, 0.295_743_58, 0.623_492_06, 0.050_171_67]),
            ("all bars, all", [0.0, 1.747_508_05, 0.0, 0.0]),
        ] {
            let scores = scorer.scores(question, patience()).unwrap();
            for (score, expected) in scores.iter().zip(expected) {
                assert!((score - expected).abs() < 1e-6, "{question}: {scores:?}");
            }
        }
        assert!(Bm25Scorer::new(&[]).scores("Cafes", patience()).unwrap().is_empty());
        assert_eq!(Bm25Scorer::new(&["?"]).scores("Cafes", patience()).unwrap(), [0.0]);
    }
}
