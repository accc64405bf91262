//! chrF: the F-score of common character n-grams, as sacreBLEU's `CHRF` computes it with `char_order=6`,
//! `word_order=0`, `beta=2`, `lowercase=False`, `whitespace=False`, `eps_smoothing=False`.

use super::execution::multiset_intersection;
use super::is_python_space;
use terrapin_budget::checkpoint;

/// The longest n-grams.
const ORDER: usize = 6;
/// How much more recall counts than precision.
const BETA: f64 = 2.0;

/// The score of one prediction against one gold text, 0 to 1. White space does not count.
pub fn chrf(gold: &str, pred: &str) -> f64 {
    let letters = |text: &str| text.chars().filter(|c| !is_python_space(*c)).collect::<Vec<char>>();
    let (gold, pred) = (letters(gold), letters(pred));
    let (mut precision, mut recall, mut orders) = (0.0, 0.0, 0_u32);
    for n in 1..=ORDER {
        let (of_gold, of_pred) = (sorted_ngrams(&gold, n), sorted_ngrams(&pred, n));
        // Lengths that one of the texts does not have are left out of the mean.
        if of_gold.is_empty() || of_pred.is_empty() {
            continue;
        }
        let common = multiset_intersection(&of_gold, &of_pred) as f64;
        precision += common / of_pred.len() as f64;
        recall += common / of_gold.len() as f64;
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
        // Of "abc" in "abd": 2 of 3 letters, 1 of 2 pairs, 0 of 1 triples, on both sides.
        let mean: f64 = (2.0 / 3.0 + 0.5) / 3.0;
        assert!((chrf("abc", "abd") - mean).abs() < 1e-15);
        // Only lengths that both have count: 1 of 1 letters found, 1 of 2 covered.
        let expected = 5.0 * 0.5 / (4.0 + 0.5);
        assert!((chrf("ab", "a") - expected).abs() < 1e-15);
        // A letter that is there twice on one side only is common once.
        assert!((chrf("aa", "a") - expected).abs() < 1e-15);
    }
}
