//! BLEU with sacreBLEU's defaults: tokenizer `13a`, n-grams up to four words, `exp` smoothing, case-sensitive, one
//! reference.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use regex::Regex;

use super::is_python_space;

/// The longest n-grams.
const ORDER: usize = 4;

/// The counts behind a score. The counts of several texts are summed for the corpus score.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct BleuCounts {
    /// The n-grams of the predictions that occur in the references, by length.
    correct: [u64; ORDER],
    /// The n-grams of the predictions, by length.
    total: [u64; ORDER],
    /// The words of the predictions and of the references.
    pred: u64,
    gold: u64,
}

/// The words of a text, for comparisons with many others.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BleuText(Vec<String>);

impl BleuText {
    /// Splits a text into words.
    pub fn new(text: &str) -> BleuText {
        BleuText(words(text))
    }
}

impl BleuCounts {
    /// Returns the counts of one prediction.
    pub fn of(gold: &str, pred: &str) -> BleuCounts {
        BleuCounts::between(&BleuText::new(gold), &BleuText::new(pred))
    }

    /// Returns the counts of one prediction whose words are known.
    pub fn between(BleuText(gold): &BleuText, BleuText(pred): &BleuText) -> BleuCounts {
        let mut counts = BleuCounts { pred: pred.len() as u64, gold: gold.len() as u64, ..BleuCounts::default() };
        for (n, (correct, total)) in (1..).zip(counts.correct.iter_mut().zip(&mut counts.total)) {
            let mut known: BTreeMap<&[String], u64> = BTreeMap::new();
            gold.windows(n).for_each(|ngram| *known.entry(ngram).or_default() += 1);
            for ngram in pred.windows(n) {
                *total += 1;
                if let Some(left) = known.get_mut(ngram).filter(|left| **left > 0) {
                    *left -= 1;
                    *correct += 1;
                }
            }
        }
        counts
    }

    /// Adds the counts of another text.
    pub fn add(&mut self, other: &BleuCounts) {
        let sum =
            |to: &mut [u64; ORDER], from: &[u64; ORDER]| to.iter_mut().zip(from).for_each(|(to, from)| *to += from);
        sum(&mut self.correct, &other.correct);
        sum(&mut self.total, &other.total);
        self.pred += other.pred;
        self.gold += other.gold;
    }

    /// Returns the corpus BLEU, 0 to 1.
    pub fn corpus(&self) -> f64 {
        self.score(false)
    }

    /// Returns the BLEU of a single text, 0 to 1, ignoring n-gram lengths longer than the text (`effective_order`).
    pub fn sentence(&self) -> f64 {
        self.score(true)
    }

    fn score(&self, effective: bool) -> f64 {
        if self.correct.iter().all(|correct| *correct == 0) {
            return 0.0;
        }
        let (mut smooth, mut orders) = (1.0, ORDER);
        let mut precisions = [0.0; ORDER];
        for (n, (precision, (correct, total))) in
            (1..).zip(precisions.iter_mut().zip(self.correct.iter().zip(&self.total)))
        {
            if *total == 0 {
                break;
            }
            if effective {
                orders = n;
            }
            *precision = if *correct == 0 {
                smooth *= 2.0;
                100.0 / (smooth * *total as f64)
            } else {
                100.0 * *correct as f64 / *total as f64
            };
        }
        let brevity = if self.pred < self.gold { libm::exp(1.0 - self.gold as f64 / self.pred as f64) } else { 1.0 };
        let log = |precision: &f64| if *precision == 0.0 { -9_999_999_999.0 } else { libm::log(*precision) };
        let sum: f64 = precisions.iter().take(orders).map(log).sum();
        brevity * libm::exp(sum / orders as f64) / 100.0
    }
}

/// Splits a text with sacreBLEU's tokenizer `13a`, which is that of WMT's `mteval-v13a`.
fn words(text: &str) -> Vec<String> {
    static RULES: LazyLock<[(Regex, &str); 4]> = LazyLock::new(|| {
        let pattern = |text: &str| Regex::new(text).expect("the pattern is a constant");
        [
            (pattern(r"([\{-\~\[-\` -\&\(-\+\:-\@\/])"), " $1 "),
            (pattern(r"([^0-9])([\.,])"), "$1 $2 "),
            (pattern(r"([\.,])([^0-9])"), " $1 $2"),
            (pattern(r"([0-9])(-)"), "$1 $2 "),
        ]
    });
    let mut text =
        text.trim_end_matches(is_python_space).replace("<skipped>", "").replace("-\n", "").replace('\n', " ");
    for (name, sign) in [("&quot;", "\""), ("&amp;", "&"), ("&lt;", "<"), ("&gt;", ">")] {
        text = text.replace(name, sign);
    }
    text = format!(" {text} ");
    for (pattern, put) in RULES.iter() {
        text = pattern.replace_all(&text, *put).into_owned();
    }
    text.split(is_python_space).filter(|word| !word.is_empty()).map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_cut_as_in_wmt() {
        assert_eq!(
            words("Cafés, bars (1,000.5) in &quot;Malta&quot;..."),
            ["Cafés", ",", "bars", "(", "1,000.5", ")", "in", "\"", "Malta", "\"", ".", ".", "."]
        );
        assert_eq!(words("2019-02 addr:street"), ["2019", "-", "02", "addr", ":", "street"]);
    }

    #[test]
    fn by_hand() {
        assert!((BleuCounts::of("a b c d", "a b c d").corpus() - 1.0).abs() < 1e-12);
        assert_eq!(BleuCounts::of("a", "").corpus(), 0.0);
        // No n-grams of four words: zero as a corpus, one as a sentence.
        let short = BleuCounts::of("a b c", "a b c");
        assert_eq!((short.corpus(), (short.sentence() - 1.0).abs() < 1e-12), (0.0, true));
        // 2 of 2 words, 1 of 1 pairs, half the reference's length.
        assert!((BleuCounts::of("a b c d", "a b").sentence() - (-1.0_f64).exp()).abs() < 1e-12);
    }
}
