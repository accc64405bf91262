//! Exact match with OverpassNL's normalisation, which ignores output formats, time limits and white space.

use std::sync::LazyLock;

use regex::Regex;

use super::is_python_space;

/// Reports whether two queries are equal after normalisation.
pub fn exact_match(gold: &str, pred: &str) -> bool {
    gold == pred || normalized(gold) == normalized(pred)
}

/// Normalises a text: every `out:` format becomes `json`, every `timeout:` 300, and white space is removed. This is
/// textual: everything that looks like a setting is replaced.
pub fn normalized(query: &str) -> String {
    static FORMAT: LazyLock<Regex> = LazyLock::new(|| pattern("out:[a-z]+"));
    static TIMEOUT: LazyLock<Regex> = LazyLock::new(|| pattern(r"timeout:\d+"));
    let query = FORMAT.replace_all(query, "out:json");
    let query = TIMEOUT.replace_all(&query, "timeout:300");
    query.chars().filter(|c| !is_python_space(*c)).collect()
}

fn pattern(text: &str) -> Regex {
    Regex::new(text).expect("the pattern is a constant")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_and_white_space_do_not_count() {
        assert!(exact_match("[out:xml][timeout:25];node(1); out;", "[out:json] [timeout:900];node(1);out;"));
        assert!(!exact_match("[out:xml];node(1);out;", "node(1);out;"));
        assert!(!exact_match("node(1);out;", "node(2);out;"));
    }
}
