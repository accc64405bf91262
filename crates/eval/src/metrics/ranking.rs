//! Order-aware scores: the prediction's results as a ranking of the gold results.

use std::collections::{HashMap, HashSet};
use std::hash::Hash;

/// The scores of a ranking.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct RankingScore {
    /// Normalised discounted cumulative gain, 0 to 1.
    pub ndcg: f64,
    /// Reciprocal rank of the first gold result, 0 to 1.
    pub mrr: f64,
}

/// Scores the prediction's results against the gold results, both in their order. `None` if the gold has no results.
///
/// - nDCG = DCG / IDCG, DCG = Σ gain(j) / log2(j + 1) over the ranks j from 1, as in Järvelin and Kekäläinen (Cumulated
///   gain-based evaluation of IR techniques, ACM TOIS 20(4), 2002) and `trec_eval`. The gain of the gold result at rank
///   i of n is n + 1 − i, that of any other result is 0. IDCG is the DCG of the gold results.
/// - MRR is 1 / the rank of the first gold result, or 0 without it (Voorhees, TREC-8, 1999: known-item search).
///
/// Of equal results, only the first counts, in both lists; the others are left out.
pub fn ranking<T: Eq + Hash>(gold: &[T], pred: &[T]) -> Option<RankingScore> {
    let first = gold.first()?;
    if gold == pred {
        return Some(RankingScore { ndcg: 1.0, mrr: 1.0 });
    }
    let mut ranks: HashMap<&T, usize> = HashMap::with_capacity(gold.len());
    for result in gold {
        let next = ranks.len();
        ranks.entry(result).or_insert(next);
    }
    let count = ranks.len();
    let discount = |rank: usize| libm::log2(rank as f64 + 2.0);
    let ideal: f64 = (0..count).map(|rank| (count - rank) as f64 / discount(rank)).sum();
    let mut gained = 0.0;
    let mut mrr = 0.0;
    let mut seen = HashSet::with_capacity(pred.len());
    let different = pred.iter().filter(|result| seen.insert(*result));
    for (rank, result) in different.enumerate() {
        if result == first && mrr == 0.0 {
            mrr = 1.0 / (rank + 1) as f64;
        }
        if let Some(gold_rank) = ranks.get(result) {
            gained += (count - gold_rank) as f64 / discount(rank);
        }
    }
    Some(RankingScore { ndcg: gained / ideal, mrr })
}

#[cfg(test)]
mod tests {
    use super::*;

    const REFERENCE: [(&str, &str, f64, f64); 7] = [
        ("abc", "abc", 1.0, 1.0),
        ("abc", "cba", 0.789998004246, 0.333333333333),
        ("abc", "bac", 0.922494511677, 0.5),
        ("abcde", "xaybz", 0.47482385529, 0.5),
        ("abcd", "dx", 0.136547370431, 0.0),
        ("ab", "xyzab", 0.474435291055, 0.25),
        ("abcdefghij", "jihgfedcba", 0.667855920292, 0.1),
    ];

    fn of(gold: &str, pred: &str) -> (f64, f64) {
        let letters = |text: &str| text.chars().collect::<Vec<char>>();
        let score = ranking(&letters(gold), &letters(pred)).unwrap();
        (score.ndcg, score.mrr)
    }

    /// The expected values are those of pytrec_eval 0.5 (`ndcg` with the gains as relevance, `recip_rank` with only the
    /// first result as relevant). ranx 0.3 gives the same.
    #[test]
    fn scores_are_those_of_trec_eval() {
        for (gold, pred, ndcg, mrr) in REFERENCE {
            let (own, own_mrr) = of(gold, pred);
            assert!((own - ndcg).abs() < 1e-9 && (own_mrr - mrr).abs() < 1e-9, "{gold} {pred}: {own} {own_mrr}");
        }
    }

    #[test]
    fn repeated_results_count_once() {
        assert_eq!(of("aab", "ab"), (1.0, 1.0));
        assert_eq!((of("ab", "aab"), of("aab", "aab")), ((1.0, 1.0), (1.0, 1.0)));
        assert_eq!(ranking::<char>(&[], &['a']), None);
        assert_eq!(of("ab", ""), (0.0, 0.0));
    }
}
