//! The filter `(poly:"lat lon ...")`.

use super::{FilterGrammar, FilterProperties};
use crate::check::CheckContext;
use crate::check::numbers::{float_prefix, number_text, position};
use crate::code::OverpassCode;
use crate::tree::{QlPoint, QueryType};
use crate::writer::AttributeList;
use crate::writer::expression::quoted;
use crate::{Alone, ElementMeaning, ElementSyntax};

/// Elements in a polygon.
#[derive(Debug, Clone, PartialEq)]
pub struct Poly {
    /// Its corners.
    pub points: Vec<QlPoint>,
}

pub(super) const SYNTAX: FilterGrammar = FilterGrammar {
    form: ElementSyntax {
        name: "polygon-query",
        attributes: &["bounds", "into"],
        check,
        checked_in_converting: true,
        values: |element| {
            let mut list = AttributeList::default();
            list.always("bounds", bounds(element.get("bounds")));
            Some(list.0)
        },
        ..ElementSyntax::NONE
    },
    words: &["poly"],
    read: |parser, clause| {
        let element = clause.element("polygon-query").with("bounds", clause.only_value(parser)?);
        Some(parser.builder.open(element))
    },
    text: |node| Some(format!("(poly:{})", quoted(&bounds(node.element.get("bounds"))))),
    query_word: |_| Some("node"),
    replaces: |_, what| what == "node",
    ..FilterGrammar::NONE
};

impl FilterProperties for Poly {
    fn stands_alone(&self, what: QueryType) -> bool {
        what == QueryType::Node
    }
}

fn check(context: &mut CheckContext<'_>) -> Option<ElementMeaning> {
    let mut rest = context.element.get("bounds").trim_start();
    let mut numbers = Vec::new();
    let mut broken = false;
    while !rest.is_empty() {
        let (number, length) = float_prefix(rest);
        if length == 0 {
            broken = true;
            break;
        }
        numbers.push(number);
        rest = rest[length..].trim_start();
    }
    let mut good = true;
    if broken || numbers.is_empty() || numbers.len() % 2 == 1 {
        let message = "For the attribute \"bounds\" of the element \"polygon-query\" an even number of float values must be provided.";
        context.refuse(OverpassCode::BadValue, message);
        good = false;
    }
    if numbers.len() / 2 < 3 {
        let message = "For the attribute \"bounds\" of the element \"polygon-query\" at least 3 lat/lon float value pairs must be provided.";
        context.refuse(OverpassCode::BadValue, message);
        good = false;
    }
    let mut points = Vec::new();
    for pair in numbers.chunks_exact(2) {
        for (value, most, axis) in [(pair[0], 90.0, "latitude"), (pair[1], 180.0, "longitude")] {
            if !(-most..=most).contains(&value) {
                let message = format!(
                    "For the attribute \"bounds\" of the element \"polygon-query\" the only allowed values for {axis} are floats between -{most:.1} and {most:.1}."
                );
                context.refuse(OverpassCode::BadValue, message);
                good = false;
            }
        }
        points.push(position(pair[0], pair[1]));
    }
    let (kind, alone) = (Poly { points }.into(), Alone::Query(QueryType::Node));
    good.then(|| ElementMeaning::Filter { kind, alone, into: context.sets().1 })
}

/// Returns a polygon's points, separated by two spaces.
fn bounds(text: &str) -> String {
    let mut rest = text.trim_start();
    let mut numbers = Vec::new();
    while !rest.is_empty() {
        let (value, length) = float_prefix(rest);
        if length == 0 {
            if numbers.len() % 2 == 1 {
                // A longitude that is not a number becomes 0 and ends the list.
                numbers.push("0".to_owned());
            }
            break;
        }
        numbers.push(number_text(value));
        rest = rest[length..].trim_start();
    }
    let points: Vec<String> = numbers.chunks_exact(2).map(|point| point.join(" ")).collect();
    points.join("  ")
}
