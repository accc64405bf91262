//! Words of the vocabulary as alternatives of a rule.

/// Returns a choice of words for a rule, longer ones first, for engines that take the first match.
pub(super) fn alternatives(mut words: Vec<&str>) -> String {
    words.sort_by_key(|word| std::cmp::Reverse(word.len()));
    words.iter().map(|word| format!("\"{word}\"")).collect::<Vec<String>>().join(" | ")
}
