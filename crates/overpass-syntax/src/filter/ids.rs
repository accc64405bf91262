//! The filter `(12,13)`, `(id:12)`.

use super::{Clause, FilterGrammar, FilterProperties};
use crate::check::CheckContext;
use crate::check::numbers::integer;
use crate::element::SyntaxElement;
use crate::parse::QlParser;
use crate::tree::QueryType;
use crate::writer::AttributeList;
use crate::{Alone, ElementMeaning, ElementSyntax, ElementTreeNode};

/// The ids of the elements to find.
#[derive(Debug, Clone, PartialEq)]
#[allow(missing_docs)]
pub enum Ids {
    /// One of these ids.
    List(Vec<i64>),
    /// An id in this range, both ends included. QL has no syntax for it.
    Range { lower: u64, upper: u64 },
}

pub(super) const SYNTAX: FilterGrammar = FilterGrammar {
    form: ElementSyntax {
        name: "id-query",
        attributes: &["type", "ref", "lower", "upper", "into"],
        numbered: &["ref"],
        check,
        checked_in_converting: true,
        values: |element| {
            let mut list = AttributeList::default();
            list.always("type", element.get("type"));
            numbers(element, &mut list);
            Some(list.0)
        },
    },
    words: &["id"],
    read,
    text: |node| {
        let values = node.element.values();
        let ids: Vec<&str> =
            values.iter().filter(|(name, _)| name.starts_with("ref")).map(|(_, value)| value.as_str()).collect();
        let word = if ids.len() == 1 { "" } else { "id:" };
        Some(format!("({word}{})", ids.join(",")))
    },
    query_word: |element| Some(of_type(element.get("type"))),
    replaces: |_, what| matches!(what, "node" | "way" | "relation"),
    ..FilterGrammar::NONE
};

impl FilterProperties for Ids {
    fn stands_alone(&self, what: QueryType) -> bool {
        matches!(what, QueryType::Node | QueryType::Way | QueryType::Relation)
    }
}

/// Returns the word of a query for elements of a type.
pub(super) fn of_type(name: &str) -> &'static str {
    match name {
        "way" => "way",
        "relation" => "relation",
        "area" => "area",
        _ => "node",
    }
}

fn check(context: &mut CheckContext<'_>) -> Option<ElementMeaning> {
    let element = context.element;
    let what = match element.get("type") {
        "node" => Some(QueryType::Node),
        "way" => Some(QueryType::Way),
        "relation" => Some(QueryType::Relation),
        "area" => Some(QueryType::Area),
        // In a query for several types, the filter needs no type of its own.
        "" => None,
        _ => {
            context.refuse_value("type", "\"node\", \"way\", \"relation\", or \"area\"");
            None
        }
    };
    let mut numbers: Vec<(&str, i64)> = Vec::new();
    for (name, text) in &element.attributes {
        if name == "ref" || name.starts_with("ref_") {
            numbers.push((name, integer(text)));
        }
    }
    // As in the reference, only the last of several ids must be a number, in the order of the attributes' names.
    let bad = numbers.iter().max().is_some_and(|(_, id)| *id == 0);
    let ids: Vec<i64> = numbers.into_iter().map(|(_, id)| id).filter(|id| *id != 0).collect();
    let (lower, upper) = (integer(element.get("lower")), integer(element.get("upper")));
    if bad || (ids.is_empty() && (lower == 0 || upper == 0)) {
        context.refuse_value("ref", "positive integers");
    }
    // Listed ids take precedence over a range. In the reference, ids are unsigned.
    let ids = if ids.is_empty() {
        let lower = u64::try_from(lower).unwrap_or(u64::MAX);
        Ids::Range { lower, upper: upper as u64 }
    } else {
        Ids::List(ids)
    };
    let alone = what.map_or(Alone::Misplaced, Alone::Query);
    Some(ElementMeaning::Filter { kind: ids.into(), alone, into: context.sets().1 })
}

fn read(parser: &mut QlParser<'_>, clause: &Clause<'_, '_>) -> Option<ElementTreeNode> {
    let mut element = clause.element("id-query").with("type", type_in(clause.what));
    for (i, id) in clause.texts().into_iter().enumerate() {
        let name = if i == 0 { "ref".to_owned() } else { format!("ref_{i}") };
        element.attributes.push((name.into(), id));
    }
    Some(parser.builder.open(element))
}

/// Parses `(12)`.
pub(super) fn read_number(parser: &mut QlParser<'_>, element: SyntaxElement, what: &str, id: &str) -> ElementTreeNode {
    parser.builder.open(element.with("type", type_in(what)).with("ref", id))
}

/// Returns the value of `type` in a query.
fn type_in(what: &str) -> &str {
    match what {
        "nwr" | "nw" | "nr" | "wr" => "",
        _ => what,
    }
}

fn numbers(element: &SyntaxElement, list: &mut AttributeList) {
    let mut ids: Vec<u64> = element.all("ref").map(|id| integer(id) as u64).collect();
    ids.retain(|id| *id != 0);
    ids.sort_unstable();
    ids.dedup();
    for (i, id) in ids.iter().enumerate() {
        let name = if i == 0 { "ref".to_owned() } else { format!("ref_{i}") };
        list.0.push((name, id.to_string()));
    }
}
