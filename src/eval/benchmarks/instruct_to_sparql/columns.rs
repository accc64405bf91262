//! Answers as the published code holds them against each other: every variable becomes up to four columns, as SPARQL's
//! JSON has them (`x.type`, `x.value`, `x.xml:lang`, `x.datatype`), and a column is the set of its values.
//!
//! Which column of one answer is which of the other the published code asks sixteen learned models that are no part of
//! this; here columns of the same part are matched so that they share as much as possible, and columns that neither
//! share a value nor have the same name stay unmatched. What is computed for matched columns is the published code's.

use std::collections::BTreeSet;

use oxrdf::Term;

use crate::eval::benchmarks::sparql::Answer;
use crate::eval::metrics::assignment::assign;

/// What a pair of columns that are the same weighs.
const WHOLE: f64 = 1e9;
/// Sets of values of more columns than this are matched by name only.
const MOST_COLUMNS: usize = 256;

/// Means over matched columns.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Shares {
    /// Common values over the smaller column's.
    pub overlap: f64,
    /// Common values over all.
    pub jaccard: f64,
    /// Twice the common values over the sum of both columns'.
    pub dice: f64,
}

/// A column: its name, and its values, among them `None` where it is shorter than others.
struct Column {
    variable: String,
    part: &'static str,
    values: BTreeSet<Option<String>>,
}

/// Holds two answers against each other; nothing where no columns match.
pub fn shares(gold: &Answer, pred: &Answer) -> Option<Shares> {
    let (gold, pred) = (columns(gold), columns(pred));
    let pairs = matched(&pred, &gold);
    let count = pairs.len() as f64;
    let mut sums = Shares { overlap: 0.0, jaccard: 0.0, dice: 0.0 };
    for (pred, gold) in &pairs {
        let common = pred.values.intersection(&gold.values).count() as f64;
        let (p, g) = (pred.values.len() as f64, gold.values.len() as f64);
        sums.overlap += common / p.min(g);
        sums.jaccard += common / (p + g - common);
        sums.dice += 2.0 * common / (p + g);
    }
    (count > 0.0).then(|| Shares {
        overlap: sums.overlap / count,
        jaccard: sums.jaccard / count,
        dice: sums.dice / count,
    })
}

/// Columns that go together.
fn matched<'a>(pred: &'a [Column], gold: &'a [Column]) -> Vec<(&'a Column, &'a Column)> {
    let weight = |p: &Column, g: &Column| -> i64 {
        if p.part != g.part {
            return 0;
        }
        let common = p.values.intersection(&g.values).count() as f64;
        let share = common / (p.values.len() as f64 + g.values.len() as f64 - common).max(1.0);
        (share * WHOLE).round() as i64 + i64::from(p.variable == g.variable)
    };
    if pred.len().max(gold.len()) > MOST_COLUMNS {
        let same = |p: &'a Column| Some((p, gold.iter().find(|g| (&g.variable, g.part) == (&p.variable, p.part))?));
        return pred.iter().filter_map(same).collect();
    }
    let weights: Vec<Vec<i64>> = pred.iter().map(|p| gold.iter().map(|g| weight(p, g)).collect()).collect();
    let pair = |(place, column): (usize, Option<usize>)| {
        let column = column?;
        (*weights.get(place)?.get(column)? > 0).then_some((pred.get(place)?, gold.get(column)?))
    };
    assign(&weights).into_iter().enumerate().filter_map(pair).collect()
}

/// The columns of an answer that have values.
fn columns(answer: &Answer) -> Vec<Column> {
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
        // Shorter columns are filled up with one more value.
        let missing = (list.len() < longest).then_some(None);
        Column { variable, part, values: list.into_iter().map(Some).chain(missing).collect() }
    };
    used.map(column).collect()
}

/// A term as JSON has it: type, value, language, datatype.
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
        #[allow(unreachable_patterns)]
        other => [some("triple"), some(&other.to_string()), None, None],
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sparql::Form;

    fn answer(columns: &str, rows: &[&str]) -> Answer {
        let term = |text: &str| match text.split_once('@') {
            _ if text == "-" => None,
            Some((text, tag)) => Some(oxrdf::Literal::new_language_tagged_literal_unchecked(text, tag).into()),
            None => Some(oxrdf::NamedNode::new_unchecked(text).into()),
        };
        let cut = |row: &&str| row.split(' ').map(term).collect();
        let columns = columns.split(' ').map(str::to_owned).collect();
        Answer { form: Form::Select, columns, rows: rows.iter().map(cut).collect() }
    }

    #[test]
    fn by_hand() {
        let gold = answer("item itemLabel", &["a A@en", "b B@en"]);
        // The same under other names and in another order.
        let same = shares(&gold, &answer("l i", &["B@en b", "A@en a"])).unwrap();
        assert_eq!((same.overlap, same.jaccard, same.dice), (1.0, 1.0, 1.0));
        // item: type 1, value 1/3; itemLabel: type 1, value 0 by its name, language 1. Sets are {a, b} and {b, c}.
        let other = shares(&gold, &answer("item itemLabel", &["b X@en", "c Y@en"])).unwrap();
        assert!((other.jaccard - (1.0 + 1.0 / 3.0 + 1.0 + 0.0 + 1.0) / 5.0).abs() < 1e-12, "{other:?}");
        assert!((other.overlap - (1.0 + 0.5 + 1.0 + 0.0 + 1.0) / 5.0).abs() < 1e-12, "{other:?}");
        // Nothing in common but that both are IRIs.
        let unlike = shares(&answer("x", &["a"]), &answer("y", &["b"])).unwrap();
        assert_eq!(unlike.jaccard, 1.0);
        assert_eq!(shares(&answer("x", &[]), &answer("y", &["b"])), None);
    }

    #[test]
    fn a_shorter_column_has_a_value_more() {
        // y is {a, missing} in one and {a} in the other.
        let shares = shares(&answer("x y", &["p a", "q -"]), &answer("x y", &["p a", "q a"])).unwrap();
        // x: type 1, value 1; y: type {uri, missing} against {uri}, value {a, missing} against {a}.
        assert_eq!(shares.jaccard, (1.0 + 1.0 + 0.5 + 0.5) / 4.0);
    }
}
