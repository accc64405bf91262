//! `lrs_in`, `lrs_isect`, `lrs_union`, `lrs_min`, `lrs_max`: strings as lists separated by semicolons.

use std::cmp::Ordering;
use std::collections::BTreeSet;

use super::value::EvaluatorValue;
use terrapin_budget as budget;

/// Returns the entries of a list. An empty string has no entries. An empty or blank entry is returned as one blank.
fn entries(list: &str) -> Vec<&str> {
    let entry = |entry| {
        budget::checkpoint();
        trimmed(entry)
    };
    if list.is_empty() { Vec::new() } else { list.split(';').map(entry).collect() }
}

/// Removes the blanks around an entry. As in the reference, if there are leading blanks, the same number of trailing
/// blanks is kept.
fn trimmed(entry: &str) -> &str {
    let blank = [' ', '\t', '\n', '\r', '\x0b', '\x0c'];
    let start = entry.len() - entry.trim_start_matches(blank).len();
    let end = entry.trim_end_matches(blank).len();
    if start >= entry.len() {
        return " ";
    }
    // The blanks are single bytes, therefore the sum is a character boundary.
    &entry[start..(start + end).min(entry.len())]
}

/// Evaluates `lrs_in(a, list)`: whether `a` is in the list.
pub(super) fn contains(needle: &EvaluatorValue, list: &EvaluatorValue) -> EvaluatorValue {
    let needle = needle.to_text();
    let needle = trimmed(&needle);
    EvaluatorValue::flag(entries(&list.to_text()).contains(&needle))
}

/// Evaluates `lrs_isect(a, b)`: the entries in both lists, in byte order.
pub(super) fn intersection(a: &EvaluatorValue, b: &EvaluatorValue) -> EvaluatorValue {
    let (a, b) = (a.to_text(), b.to_text());
    let b: BTreeSet<&str> = entries(&b).into_iter().collect();
    joined(entries(&a).into_iter().filter(|entry| b.contains(entry)).collect())
}

/// Evaluates `lrs_union(a, b)`: the entries in at least one list, in byte order.
pub(super) fn union(a: &EvaluatorValue, b: &EvaluatorValue) -> EvaluatorValue {
    let (a, b) = (a.to_text(), b.to_text());
    joined(entries(&a).into_iter().chain(entries(&b)).collect())
}

fn joined(entries: BTreeSet<&str>) -> EvaluatorValue {
    budget::charge(entries.iter().map(|entry| entry.len() as u64 + 1).sum());
    EvaluatorValue::Text(entries.into_iter().collect::<Vec<_>>().join(";"))
}

/// Evaluates `lrs_min(list)`: the smallest entry, compared as numbers if all are numbers.
pub(super) fn least(list: &EvaluatorValue) -> EvaluatorValue {
    extreme(entries(&list.to_text()).into_iter().map(EvaluatorValue::text), Ordering::Less)
}

/// Evaluates `lrs_max(list)`: the greatest entry, compared as numbers if all are numbers.
pub(super) fn greatest(list: &EvaluatorValue) -> EvaluatorValue {
    extreme(entries(&list.to_text()).into_iter().map(EvaluatorValue::text), Ordering::Greater)
}

/// Returns the smallest or the greatest of some values. They are compared as whole numbers if all are, otherwise as
/// numbers if all are, otherwise as strings. An empty string is never the result, but it is not a number either.
pub(super) fn extreme(values: impl Iterator<Item = EvaluatorValue>, wanted: Ordering) -> EvaluatorValue {
    let mut int: Option<i64> = None;
    let mut float: Option<f64> = None;
    let mut text: Option<String> = None;
    let (mut all_int, mut all_float) = (true, true);
    for value in values {
        match value.int() {
            Some(new) => int = Some(int.filter(|old| new.cmp(old) != wanted).unwrap_or(new)),
            None => all_int = false,
        }
        match value.float() {
            // The start value is the largest double (or the lowest, for the maximum). It is the result if no number is
            // better.
            Some(new) => {
                let last = if wanted == Ordering::Less { f64::MAX } else { f64::MIN };
                let old = float.unwrap_or(last);
                float = Some(if new.partial_cmp(&old) == Some(wanted) { new } else { old });
            }
            None => all_float = false,
        }
        let new = value.into_text();
        if !new.is_empty() && text.as_ref().is_none_or(|old| new.as_bytes().cmp(old.as_bytes()) == wanted) {
            text = Some(new);
        }
    }
    match (text, int.filter(|_| all_int), float.filter(|_| all_float)) {
        (None, ..) => EvaluatorValue::EMPTY,
        (_, Some(int), _) => EvaluatorValue::Int(int),
        (_, _, Some(float)) => EvaluatorValue::number(float),
        (Some(text), ..) => EvaluatorValue::Text(text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(value: &str) -> EvaluatorValue {
        EvaluatorValue::text(value)
    }

    #[test]
    fn entries_are_trimmed_as_in_the_reference() {
        for (list, result) in [
            ("a ", "a"),
            (" a", "a"),
            (" a   ", "a "),
            ("a ;  b      ", "a;b  "),
            ("a;", " ;a"),
            (";;", " "),
            ("", ""),
            ("10;9", "10;9"),
            ("b;a;b", "a;b"),
        ] {
            assert_eq!(union(&text(list), &text("")).into_text(), result, "{list:?}");
        }
    }

    #[test]
    fn membership() {
        assert_eq!(contains(&text("a"), &text("b;a")), EvaluatorValue::Int(1));
        assert_eq!(contains(&text("a"), &text(" a ; b")), EvaluatorValue::Int(0));
        assert_eq!(contains(&text(""), &text("a;;b")), EvaluatorValue::Int(1));
        assert_eq!(contains(&text(""), &text("")), EvaluatorValue::Int(0));
        assert_eq!(contains(&text("1"), &text("1.0")), EvaluatorValue::Int(0));
        assert_eq!(intersection(&text("c;b;a"), &text("b;c;d")).into_text(), "b;c");
    }

    #[test]
    fn extremes() {
        for (list, min, max) in [
            ("3;2;10", "2", "10"),
            ("b;3", "3", "b"),
            ("1.0;1", "1", "1"),
            ("2;1.0;x", "1.0", "x"),
            ("3a;2a;10a", "10a", "3a"),
            ("010;9", "8", "9"),
            ("", "", ""),
        ] {
            assert_eq!(least(&text(list)).into_text(), min, "{list:?}");
            assert_eq!(greatest(&text(list)).into_text(), max, "{list:?}");
        }
    }
}
