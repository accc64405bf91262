//! Compares answers like the published code: each variable has up to four columns, as in SPARQL's JSON (`x.type`,
//! `x.value`, `x.xml:lang`, `x.datatype`), and a column is the set of its values.
//!
//! The published code matches columns with sixteen learned models, which are not part of this crate. Here, columns of
//! the same part are matched so that they share the most values; columns that share neither a value nor a name stay
//! unmatched. The scores of matched columns are those of the published code; where it fails on an answer, this fails
//! as well.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use oxrdf::Term;
use regex::Regex;

use crate::benchmarks::sparql::SparqlAnswer;
use crate::metrics::assignment::assign;
use crate::metrics::is_python_space;

/// The weight of a pair of equal columns.
const WHOLE: f64 = 1e9;
/// Answers with more columns are matched by name only.
const MOST_COLUMNS: usize = 256;

/// The means over matched columns.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ColumnShares {
    /// The common values divided by those of the smaller column.
    pub overlap: f64,
    /// The common values divided by all values.
    pub jaccard: f64,
    /// Twice the common values divided by the sum of both columns' values.
    pub dice: f64,
}

/// A column: its name and its values, with `None` if it is shorter than others.
struct ValueColumn {
    variable: String,
    part: &'static str,
    values: BTreeSet<Option<String>>,
}

/// Compares two answers; `None` if no columns match.
///
/// # Errors
/// Returns the reason if the published code fails on one of them.
pub fn shares(gold: &SparqlAnswer, pred: &SparqlAnswer) -> Result<Option<ColumnShares>, &'static str> {
    let (gold, pred) = (columns(gold)?, columns(pred)?);
    // The published code fails on rows without values only in the prediction's answer.
    if pred.is_empty() {
        return Err("no row of the prediction has a value");
    }
    let pairs = matched(&pred, &gold);
    let count = pairs.len() as f64;
    let mut sums = ColumnShares { overlap: 0.0, jaccard: 0.0, dice: 0.0 };
    for (pred, gold) in &pairs {
        let common = pred.values.intersection(&gold.values).count() as f64;
        let (p, g) = (pred.values.len() as f64, gold.values.len() as f64);
        sums.overlap += common / p.min(g);
        sums.jaccard += common / (p + g - common);
        sums.dice += 2.0 * common / (p + g);
    }
    Ok((count > 0.0).then(|| ColumnShares {
        overlap: sums.overlap / count,
        jaccard: sums.jaccard / count,
        dice: sums.dice / count,
    }))
}

/// Returns the matched columns.
fn matched<'a>(pred: &'a [ValueColumn], gold: &'a [ValueColumn]) -> Vec<(&'a ValueColumn, &'a ValueColumn)> {
    let weight = |p: &ValueColumn, g: &ValueColumn| -> i64 {
        if p.part != g.part {
            return 0;
        }
        let common = p.values.intersection(&g.values).count() as f64;
        let share = common / (p.values.len() as f64 + g.values.len() as f64 - common).max(1.0);
        (share * WHOLE).round() as i64 + i64::from(p.variable == g.variable)
    };
    if pred.len().max(gold.len()) > MOST_COLUMNS {
        let same =
            |p: &'a ValueColumn| Some((p, gold.iter().find(|g| (&g.variable, g.part) == (&p.variable, p.part))?));
        return pred.iter().filter_map(same).collect();
    }
    let weights: Vec<Vec<i64>> = pred.iter().map(|p| gold.iter().map(|g| weight(p, g)).collect()).collect();
    let pair = |(place, column): (usize, Option<usize>)| {
        let column = column?;
        (*weights.get(place)?.get(column)? > 0).then_some((pred.get(place)?, gold.get(column)?))
    };
    assign(&weights).into_iter().enumerate().filter_map(pair).collect()
}

/// Returns the non-empty columns of an answer.
fn columns(answer: &SparqlAnswer) -> Result<Vec<ValueColumn>, &'static str> {
    let mut lists: Vec<(String, &'static str, Vec<String>)> = Vec::new();
    for (place, variable) in answer.columns.iter().enumerate() {
        let mut parts: [(&'static str, Vec<String>); 4] =
            [("type", vec![]), ("value", vec![]), ("xml:lang", vec![]), ("datatype", vec![])];
        for term in answer.rows.iter().filter_map(|row| row.get(place)?.as_ref()) {
            for ((_, list), value) in parts.iter_mut().zip(cells(term)) {
                list.extend(value);
            }
        }
        lists.extend(parts.into_iter().map(|(part, list)| (variable.clone(), part, list)));
    }
    let longest = lists.iter().map(|(.., list)| list.len()).max().unwrap_or_default();
    let used = lists.into_iter().filter(|(.., list)| list.iter().any(|value| value != "--"));
    let column = |(variable, part, list): (String, &'static str, Vec<String>)| {
        if let Some(why) = indescribable(&list) {
            return Err(why);
        }
        // Shorter columns are padded with one more value.
        let missing = (list.len() < longest).then_some(None);
        Ok(ValueColumn { variable, part, values: list.into_iter().map(Some).chain(missing).collect() })
    };
    used.map(column).collect()
}

/// Returns why the published code cannot describe a column to its models. It describes texts by shares of their
/// characters, so an empty text causes a division by zero; for numbers it takes the minimum, which fails if all are
/// spelt out, such as `NaN`. The type of a column is that of nearly all its values. Its detection of dates only
/// matters for a few empty texts in columns of mostly words.
fn indescribable(list: &[String]) -> Option<&'static str> {
    static ADDRESS: LazyLock<Regex> = LazyLock::new(|| pattern(r"[-a-zA-Z0-9@:%._+~#=]\.[a-zA-Z0-9()]{1,6}\b"));
    static DIGIT: LazyLock<Regex> = LazyLock::new(|| pattern(r"\d"));
    static IGNORED: LazyLock<Regex> = LazyLock::new(|| pattern(r",|万|亿|萬|億|[KMB]\+"));
    let list: Vec<&str> = list.iter().map(String::as_str).filter(|text| *text != "--").collect();
    let nearly_all = |share: f64, is: &dyn Fn(&str) -> bool| {
        list.iter().filter(|text| is(text)).count() as f64 >= share * list.len() as f64
    };
    let (empty, digits) = (list.contains(&""), list.iter().any(|text| text.bytes().any(|b| b.is_ascii_digit())));
    if !empty && digits {
        return None;
    }
    let numbers = nearly_all(0.95, &|text| text.trim_matches(is_python_space).parse::<f64>().is_ok());
    if numbers {
        return (!digits).then_some("a column of numbers has no digits");
    }
    let mostly_digits = |text: &str| {
        let text = IGNORED.replace_all(text, "");
        let digits = DIGIT.find_iter(&text).count();
        digits > 0 && 2 * digits >= text.chars().count()
    };
    let text = nearly_all(0.9, &mostly_digits) || !nearly_all(0.9, &|text| ADDRESS.is_match(text));
    (empty && text).then_some("a column of texts has an empty one")
}

fn pattern(text: &str) -> Regex {
    Regex::new(text).expect("the pattern is a constant")
}

/// Returns a term's parts as in JSON: type, value, language, datatype.
fn cells(term: &Term) -> [Option<String>; 4] {
    let some = |text: &str| Some(text.to_owned());
    match term {
        Term::NamedNode(node) => [some("uri"), some(node.as_str()), None, None],
        Term::BlankNode(node) => [some("bnode"), some(node.as_str()), None, None],
        Term::Literal(literal) => {
            let datatype = literal.datatype();
            let plain = literal.language().is_some() || datatype == oxrdf::vocab::xsd::STRING;
            let datatype = (!plain).then(|| datatype.as_str().to_owned());
            [some("literal"), some(literal.value()), literal.language().map(str::to_owned), datatype]
        }
        Term::Triple(_) => [some("triple"), some(&term.to_string()), None, None],
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use terrapin_sparql::QueryResultForm;

    fn answer(columns: &str, rows: &[&str]) -> SparqlAnswer {
        let term = |text: &str| match text.split_once('@') {
            _ if text == "-" => None,
            Some((text, tag)) => Some(oxrdf::Literal::new_language_tagged_literal_unchecked(text, tag).into()),
            None => Some(oxrdf::NamedNode::new_unchecked(text).into()),
        };
        let cut = |row: &&str| row.split(' ').map(term).collect();
        let columns = columns.split(' ').map(str::to_owned).collect();
        SparqlAnswer { form: QueryResultForm::Select, columns, rows: rows.iter().map(cut).collect() }
    }

    fn shared(gold: &SparqlAnswer, pred: &SparqlAnswer) -> ColumnShares {
        shares(gold, pred).unwrap().unwrap()
    }

    #[test]
    fn by_hand() {
        let gold = answer("item itemLabel", &["a A@en", "b B@en"]);
        // The same answer with other names and in another order.
        let same = shared(&gold, &answer("l i", &["B@en b", "A@en a"]));
        assert_eq!((same.overlap, same.jaccard, same.dice), (1.0, 1.0, 1.0));
        // item: type 1, value 1/3; itemLabel: type 1, value 0 by its name, language 1. Sets are {a, b} and {b, c}.
        let other = shared(&gold, &answer("item itemLabel", &["b X@en", "c Y@en"]));
        assert!((other.jaccard - (1.0 + 1.0 / 3.0 + 1.0 + 0.0 + 1.0) / 5.0).abs() < 1e-12, "{other:?}");
        assert!((other.overlap - (1.0 + 0.5 + 1.0 + 0.0 + 1.0) / 5.0).abs() < 1e-12, "{other:?}");
        // Both columns have IRIs but share no value.
        let unlike = shared(&answer("x", &["a"]), &answer("y", &["b"]));
        assert_eq!(unlike.jaccard, 1.0);
        assert_eq!(shares(&answer("x", &[]), &answer("y", &["b"])), Ok(None));
    }

    #[test]
    fn a_shorter_column_has_a_value_more() {
        // y is {a, missing} in one and {a} in the other.
        let shares = shared(&answer("x y", &["p a", "q -"]), &answer("x y", &["p a", "q a"]));
        // x: type 1, value 1; y: type {uri, missing} against {uri}, value {a, missing} against {a}.
        assert_eq!(shares.jaccard, (1.0 + 1.0 + 0.5 + 0.5) / 4.0);
    }

    /// Returns a text `count` times and an empty one.
    fn and_empty(count: usize, text: &str) -> Vec<&str> {
        [vec![text; count], vec![""]].concat()
    }

    #[test]
    fn what_the_published_code_fails_on() {
        let some = answer("x", &["a"]);
        // Rows without values in the prediction; in the gold they are ignored.
        assert!(shares(&some, &answer("x", &["-"])).is_err());
        assert!(shares(&answer("x", &[]), &answer("x", &["-"])).is_err());
        assert_eq!(shares(&answer("x", &["-"]), &some), Ok(None));
        let fails = |list: &[&str]| {
            let list: Vec<String> = list.iter().map(|text| (*text).to_owned()).collect();
            indescribable(&list).is_some()
        };
        assert!(fails(&[""]) && fails(&["a", "", "b"]) && !fails(&["a", "b"]));
        // Addresses, and decimals, which look like addresses.
        assert!(!fails(&and_empty(9, "http://example.org/a")) && fails(&["http://example.org/a", ""]));
        assert!(!fails(&and_empty(9, "1.5 m")) && fails(&and_empty(9, "15.1 m")));
        // Numbers, and texts of mostly digits.
        assert!(!fails(&and_empty(19, "15")) && fails(&and_empty(9, "15")));
        assert!(fails(&and_empty(19, "2010-05-01T00:00:00Z")) && fails(&and_empty(19, "a 15")));
        assert!(fails(&["NaN", "INF"]) && !fails(&["NaN", "1"]) && !fails(&["NaN", "a"]));
        // Values that count as missing.
        assert!(!fails(&["--", "a"]) && fails(&["--", ""]));
    }
}
