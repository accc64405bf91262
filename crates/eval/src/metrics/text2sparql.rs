//! Precision, recall, F1 and nDCG of answers, as the client of the TEXT2SPARQL challenge computes them with trec_eval.
//!
//! An answer is the set of its values in all rows and columns. That of an ASK query is the one value `true`, whatever
//! its answer; it is relevant if the gold answer is yes. nDCG does not see the order of rows: the client gives all
//! values the same score, and trec_eval sorts these by their text, last first.

use std::collections::BTreeSet;

/// An answer as the client sees it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Text2SparqlAnswer {
    /// The values.
    pub values: BTreeSet<String>,
    /// Whether the values count as relevant in a gold answer: not if it is the answer "no".
    pub is_relevant: bool,
}

/// The scores of an answer, 0 to 1.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Text2SparqlScore {
    /// trec_eval's `set_P`: the share of given values that are relevant.
    pub precision: f64,
    /// trec_eval's `set_recall`: the share of relevant values that were given.
    pub recall: f64,
    /// trec_eval's `set_F`: F1 of both.
    pub f1: f64,
    /// trec_eval's `ndcg` over the values in descending order of their bytes.
    pub ndcg: f64,
}

/// Scores the values of a prediction's answer against those of the gold answer. All scores are 0 if either is empty.
pub fn score(gold: &Text2SparqlAnswer, pred: &Text2SparqlAnswer) -> Text2SparqlScore {
    let is_relevant = |value: &&String| gold.is_relevant && gold.values.contains(*value);
    let right = pred.values.iter().filter(is_relevant).count();
    if right == 0 {
        return Text2SparqlScore { precision: 0.0, recall: 0.0, f1: 0.0, ndcg: 0.0 };
    }
    let precision = right as f64 / pred.values.len() as f64;
    let recall = right as f64 / gold.values.len() as f64;
    let gain = |rank: usize| 1.0 / libm::log2(rank as f64 + 2.0);
    let given = pred.values.iter().rev().enumerate().filter(|(_, value)| is_relevant(value));
    let found: f64 = given.map(|(rank, _)| gain(rank)).sum();
    let ideal: f64 = (0..gold.values.len()).map(gain).sum();
    Text2SparqlScore { precision, recall, f1: (2.0 * precision * recall) / (precision + recall), ndcg: found / ideal }
}

/// Returns the client's mean `set_F_ndcg`, 0 to 1: nDCG for questions that have it, F1 for the others. The mean of the
/// client also counts the mean nDCG as one more question. `None` if no question has nDCG: the mean would be that of F1.
pub fn f1_ndcg(scores: &[(f64, Option<f64>)]) -> Option<f64> {
    let ndcgs: Vec<f64> = scores.iter().filter_map(|(_, ndcg)| *ndcg).collect();
    let mut all: Vec<f64> = scores.iter().map(|(f1, ndcg)| ndcg.unwrap_or(*f1)).collect();
    if all.is_empty() || ndcgs.is_empty() {
        return None;
    }
    all.push(crate::bootstrap::mean(&ndcgs));
    Some(crate::bootstrap::mean(&all))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(gold: &str, pred: &str) -> [f64; 4] {
        let answer = |text: &str| Text2SparqlAnswer {
            values: text.trim_start_matches('!').split_whitespace().map(str::to_owned).collect(),
            is_relevant: !text.starts_with('!'),
        };
        let Text2SparqlScore { precision, recall, f1, ndcg } = score(&answer(gold), &answer(pred));
        [precision, recall, f1, ndcg]
    }

    /// The numbers of text2sparql-client 2.1.0 with pytrec_eval-terrier 0.5.11.
    #[test]
    fn the_scores_are_those_of_the_client() {
        assert_eq!(of("a c d", "a b")[..3], [0.5, 1.0 / 3.0, 0.4]);
        assert_eq!((of("a", "a b c")[3], of("c", "a b c")[3], of("a", "B a")[3]), (0.5, 1.0, 1.0));
        assert_eq!(of("\u{e4} z", "\u{e4} b z")[3], 1.0);
        assert_eq!(of("a", ""), [0.0; 4]);
        // The answer "no" to a question with the answer "yes" is right, and no answer is right where the gold is "no".
        assert_eq!(of("true", "!true"), [1.0; 4]);
        assert_eq!((of("!true", "true"), of("!true", "!true"), of("true", "a")), ([0.0; 4], [0.0; 4], [0.0; 4]));
    }

    #[test]
    fn the_mean_counts_the_mean_of_ndcg_too() {
        assert_eq!(f1_ndcg(&[(1.0, None), (0.5, Some(0.2)), (0.5, Some(0.4))]), Some((1.0 + 0.2 + 0.4 + 0.3) / 4.0));
        assert_eq!((f1_ndcg(&[(1.0, None)]), f1_ndcg(&[])), (None, None));
    }
}
