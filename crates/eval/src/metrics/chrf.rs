//! chrF: the F-score of common character n-grams, as sacreBLEU's `CHRF` computes it with `char_order=6`,
//! `word_order=0`, `beta=2`, `lowercase=False`, `whitespace=False`, `eps_smoothing=False`.

use super::execution::multiset_intersection;
use super::is_python_space;
use terrapin_budget::checkpoint;

/// The longest n-grams.
const ORDER: usize = 6;
/// The weight of recall relative to precision.
const BETA: f64 = 2.0;

/// The counts behind a score. The counts of several texts are summed for the corpus score.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ChrfCounts([NgramOrder; ORDER]);

/// The numbers of common n-grams of one length, and of those in each text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct NgramOrder {
    common: u64,
    gold: u64,
    pred: u64,
}

impl ChrfCounts {
    /// Returns the counts of one prediction. White space is ignored.
    pub fn of(gold: &str, pred: &str) -> ChrfCounts {
        let letters = |text: &str| text.chars().filter(|c| !is_python_space(*c)).collect::<Vec<char>>();
        let (gold, pred) = (letters(gold), letters(pred));
        let mut counts = ChrfCounts::default();
        for (n, order) in (1..).zip(&mut counts.0) {
            let (of_gold, of_pred) = (sorted_ngrams(&gold, n), sorted_ngrams(&pred, n));
            order.common = multiset_intersection(&of_gold, &of_pred) as u64;
            order.gold = of_gold.len() as u64;
            // A gold text too short for a length gives no information about it.
            order.pred = if of_gold.is_empty() { 0 } else { of_pred.len() as u64 };
        }
        counts
    }

    /// Adds the counts of another text.
    pub fn add(&mut self, other: &ChrfCounts) {
        for (to, from) in self.0.iter_mut().zip(&other.0) {
            to.common += from.common;
            to.gold += from.gold;
            to.pred += from.pred;
        }
    }

    /// Returns the score, 0 to 1.
    pub fn score(&self) -> f64 {
        let (mut precision, mut recall, mut orders) = (0.0, 0.0, 0_u32);
        for NgramOrder { common, gold, pred } in self.0 {
            // Lengths missing on one side are excluded from the mean.
            if gold == 0 || pred == 0 {
                continue;
            }
            precision += common as f64 / pred as f64;
            recall += common as f64 / gold as f64;
            orders += 1;
        }
        if orders == 0 {
            return 0.0;
        }
        let (precision, recall) = (precision / f64::from(orders), recall / f64::from(orders));
        if precision + recall == 0.0 {
            return 0.0;
        }
        let factor = BETA * BETA;
        (1.0 + factor) * precision * recall / (factor * precision + recall)
    }
}

/// Returns the score of one prediction against one gold text, 0 to 1. White space is ignored.
pub fn chrf(gold: &str, pred: &str) -> f64 {
    ChrfCounts::of(gold, pred).score()
}

fn sorted_ngrams(letters: &[char], n: usize) -> Vec<&[char]> {
    let mut ngrams: Vec<&[char]> = letters.windows(n).collect();
    ngrams.sort_unstable_by(|a, b| {
        checkpoint();
        a.cmp(b)
    });
    ngrams
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_but_for_white_space() {
        assert_eq!(chrf("node(1);\tout;", "node ( 1 ) ;out;"), 1.0);
    }

    #[test]
    fn nothing_in_common_or_nothing_at_all() {
        assert_eq!(chrf("abc", "xyz"), 0.0);
        assert_eq!(chrf("", "abc"), 0.0);
        assert_eq!(chrf("abc", " "), 0.0);
    }

    #[test]
    fn by_hand() {
        // "abc" in "abd": 2 of 3 letters, 1 of 2 pairs, 0 of 1 triples, on both sides.
        let mean: f64 = (2.0 / 3.0 + 0.5) / 3.0;
        assert!((chrf("abc", "abd") - mean).abs() < 1e-15);
        // Only common lengths count: 1 of 1 letters found, 1 of 2 covered.
        let expected = 5.0 * 0.5 / (4.0 + 0.5);
        assert!((chrf("ab", "a") - expected).abs() < 1e-15);
        // A letter that occurs twice on only one side is common once.
        assert!((chrf("aa", "a") - expected).abs() < 1e-15);
    }
}
