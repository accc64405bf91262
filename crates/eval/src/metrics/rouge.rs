//! ROUGE-L as in the package `rouge-score` without its stemmer: F1 over the longest common subsequence of words.

use std::sync::LazyLock;

use regex::Regex;
use terrapin_budget::checkpoints;

/// Returns the F1 of one text, 0 to 1.
pub fn rouge_l(gold: &str, pred: &str) -> f64 {
    let (gold, pred) = (gold.to_lowercase(), pred.to_lowercase());
    let (gold, pred) = (words(&gold), words(&pred));
    if gold.is_empty() || pred.is_empty() {
        return 0.0;
    }
    let common = longest(&gold, &pred) as f64;
    let (precision, recall) = (common / pred.len() as f64, common / gold.len() as f64);
    if precision + recall > 0.0 { 2.0 * precision * recall / (precision + recall) } else { 0.0 }
}

/// Splits a text into runs of ASCII letters and digits in lower case.
fn words(text: &str) -> Vec<&str> {
    static WORD: LazyLock<Regex> = LazyLock::new(|| Regex::new("[a-z0-9]+").expect("the pattern is a constant"));
    WORD.find_iter(text).map(|word| word.as_str()).collect()
}

/// Returns the length of the longest common subsequence.
fn longest(one: &[&str], other: &[&str]) -> usize {
    let mut lengths = vec![0; other.len()];
    for word in one {
        checkpoints(1 + other.len());
        let (mut left, mut above_left) = (0, 0);
        for (length, with) in lengths.iter_mut().zip(other) {
            let above = *length;
            *length = if word == with { above_left + 1 } else { above.max(left) };
            (left, above_left) = (*length, above);
        }
    }
    lengths.last().copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn by_hand() {
        assert_eq!(rouge_l("Cafés in Malta", "cafés IN malta!"), 1.0);
        // "the fox" of three and of four words.
        assert!(
            (rouge_l("the quick fox", "the fox is quick") - 2.0 * 0.5 * (2.0 / 3.0) / (0.5 + 2.0 / 3.0)).abs() < 1e-12
        );
        assert_eq!((rouge_l("a", ""), rouge_l("–", "–"), rouge_l("a", "b")), (0.0, 0.0, 0.0));
    }
}
