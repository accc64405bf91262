//! The two scores of CodeBLEU that compare words.

use std::collections::HashMap;

/// Replaces a match count of 0 (smoothing).
const EPSILON: f64 = 0.1;
/// Maximum length of an n-gram.
const LONGEST: usize = 4;
/// Words with weight 1; all others weigh 0.2. They are Python's keywords, because the evaluation sets the language to
/// Python.
const KEYWORDS: [&str; 38] = [
    "False", "None", "True", "and", "as", "assert", "async", "await", "break", "case", "class", "continue", "def",
    "del", "elif", "else", "except", "finally", "for", "from", "global", "if", "import", "in", "is", "lambda", "match",
    "nonlocal", "not", "or", "pass", "raise", "return", "try", "type", "while", "with", "yield",
];

fn counts<'a>(words: &'a [&'a str], n: usize) -> HashMap<&'a [&'a str], u32> {
    let mut counts = HashMap::new();
    words.windows(n).for_each(|gram| *counts.entry(gram).or_default() += 1);
    counts
}

/// Combines matches and totals by n-gram length: their geometric mean, times the brevity penalty.
fn combined(parts: [(f64, f64); LONGEST], length: usize, wanted: usize) -> f64 {
    if parts.first().is_none_or(|(matches, _)| *matches == 0.0) {
        return 0.0;
    }
    let penalty = if length > wanted {
        1.0
    } else if length == 0 {
        0.0
    } else {
        libm::exp(1.0 - wanted as f64 / length as f64)
    };
    let logarithm = |(matches, total): (f64, f64)| {
        let matches = if matches == 0.0 { EPSILON } else { matches };
        libm::log(matches / total) / LONGEST as f64
    };
    penalty * libm::exp(parts.map(logarithm).iter().sum())
}

/// Computes BLEU over words.
pub fn bleu(gold: &[&str], pred: &[&str]) -> f64 {
    let part = |n: usize| {
        let (of_gold, of_pred) = (counts(gold, n), counts(pred, n));
        let common: u32 = of_pred.iter().map(|(gram, count)| *count.min(of_gold.get(gram).unwrap_or(&0))).sum();
        (f64::from(common), f64::from(of_pred.values().sum::<u32>().max(1)))
    };
    combined([1, 2, 3, 4].map(part), pred.len(), gold.len())
}

/// Computes recall-based BLEU, in which single words are weighted.
///
/// The published code takes the length of a pair (words and weights), 2, for the length of the reference.
pub fn weighted(gold: &[&str], pred: &[&str]) -> f64 {
    let part = |n: usize| {
        let (of_gold, of_pred) = (counts(gold, n), counts(pred, n));
        let weight = |gram: &[&str]| match gram {
            [word] if !KEYWORDS.contains(word) => 0.2,
            _ => 1.0,
        };
        // Sum in the order of the text, so that the rounding is reproducible.
        let mut order: Vec<&[&str]> = Vec::new();
        let mut seen = std::collections::HashSet::new();
        gold.windows(n).for_each(|gram| {
            if seen.insert(gram) {
                order.push(gram);
            }
        });
        let count = |counts: &HashMap<&[&str], u32>, gram: &[&str]| counts.get(gram).copied().unwrap_or(0);
        let mut sums = (0.0, 0.0);
        for gram in order {
            let (wanted, found) = (count(&of_gold, gram), count(&of_pred, gram));
            sums.0 += f64::from(wanted.min(found)) * weight(gram);
            sums.1 += f64::from(wanted) * weight(gram);
        }
        (sums.0, f64::max(sums.1, 1.0))
    };
    combined([1, 2, 3, 4].map(part), pred.len(), 2)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<&str> {
        text.split(' ').collect()
    }

    #[test]
    fn by_hand() {
        let (gold, pred) = (words("a b c d e"), words("a b c d f"));
        // 4, 3, 2 and 1 of the 5, 4, 3 and 2 n-grams are common.
        let expected = (0.8_f64 * 0.75 * (2.0 / 3.0) * 0.5).powf(0.25);
        assert!((bleu(&gold, &pred) - expected).abs() < 1e-12);
        assert!((weighted(&gold, &pred) - expected).abs() < 1e-12);
        // All n-grams of the shorter prediction match; the penalty is e^(1 - 5/4).
        let short = words("a b c d");
        assert!((bleu(&gold, &short) - (-0.25_f64).exp()).abs() < 1e-12);
        assert_eq!(bleu(&gold, &words("x y")), 0.0);
        assert!((bleu(&gold, &gold) - 1.0).abs() < 1e-12);
    }

    #[test]
    fn keywords_weigh_more_and_longer_n_grams_may_be_missing() {
        // Words: "in" weighs 1, the others 0.2; one of these is missing. The other sums are below 1.
        let score = weighted(&words("in x y"), &words("in x z"));
        let expected = (1.2 / 1.4 * (1.0 / 2.0) * 0.1 * 0.1_f64).powf(0.25);
        assert!((score - expected).abs() < 1e-12, "{score} {expected}");
    }
}
