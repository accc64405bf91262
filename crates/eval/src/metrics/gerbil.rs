//! Precision, recall and F1 of answers as sets, as in GERBIL QA for the QALD challenges.

use std::collections::BTreeSet;

/// The scores of an answer.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct GerbilScore {
    /// The share of given answers that are correct, 0 to 1.
    pub precision: f64,
    /// The share of correct answers that were given, 0 to 1.
    pub recall: f64,
    /// F1 of both.
    pub f1: f64,
    /// The precision that counts an empty answer as 1. Together with recall it gives "F1 QALD".
    pub precision_qald: f64,
}

/// Scores the values of a prediction's answer against those of the gold answer.
pub fn score(gold: &BTreeSet<String>, pred: &BTreeSet<String>) -> GerbilScore {
    let right = gold.intersection(pred).count();
    if right == 0 {
        // If the gold answer is empty, an empty answer is correct.
        let nothing = if gold.is_empty() && pred.is_empty() { 1.0 } else { 0.0 };
        let precision_qald = if pred.is_empty() { 1.0 } else { 0.0 };
        return GerbilScore { precision: nothing, recall: nothing, f1: nothing, precision_qald };
    }
    let precision = right as f64 / pred.len() as f64;
    let recall = right as f64 / gold.len() as f64;
    let f1 = (2.0 * precision * recall) / (precision + recall);
    GerbilScore { precision, recall, f1, precision_qald: precision }
}

/// Returns "F1 QALD": the harmonic mean of the means of [`GerbilScore::precision_qald`] and recall; 0 if both are 0.
pub fn f1_qald(precision_qald: f64, recall: f64) -> f64 {
    let sum = precision_qald + recall;
    if sum > 0.0 { (2.0 * precision_qald * recall) / sum } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(gold: &str, pred: &str) -> [f64; 4] {
        let set = |text: &str| text.split_whitespace().map(str::to_owned).collect();
        let GerbilScore { precision, recall, f1, precision_qald } = score(&set(gold), &set(pred));
        [precision, recall, f1, precision_qald]
    }

    #[test]
    fn giving_nothing_is_no_mistake_for_f1_qald_alone() {
        let f1 = 2.0 * 0.5 * (2.0 / 3.0) / (0.5 + 2.0 / 3.0);
        assert_eq!(of("a b c", "a b d e"), [0.5, 2.0 / 3.0, f1, 0.5]);
        assert_eq!(of("a", "b"), [0.0; 4]);
        assert_eq!(of("a", ""), [0.0, 0.0, 0.0, 1.0]);
        assert_eq!(of("", "a"), [0.0; 4]);
        assert_eq!(of("", ""), [1.0; 4]);
        assert_eq!((f1_qald(1.0, 0.5), f1_qald(0.0, 0.0)), (2.0 / 3.0, 0.0));
    }
}
