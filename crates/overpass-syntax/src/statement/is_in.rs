//! The statement `is_in`: finds the areas around the nodes of a set, or around a point.

use super::{StatementGrammar, StatementProperties};
use crate::check::{CheckContext, point};
use crate::parse::{QlParser, Start};
use crate::tree::{QlPoint, SetName};
use crate::{ElementMeaning, ElementSyntax, ElementTreeNode};

/// The areas around a place.
#[derive(Debug, Clone, PartialEq)]
pub struct IsIn {
    /// The place.
    pub place: IsInPlace,
    /// The set for the result.
    pub into: SetName,
}

/// The place around which `is_in` finds areas.
#[derive(Debug, Clone, PartialEq)]
pub enum IsInPlace {
    /// The nodes of a set.
    Set(SetName),
    /// `is_in(lat,lon)`.
    Point(QlPoint),
}

pub(super) const SYNTAX: StatementGrammar = StatementGrammar {
    elements: &[ElementSyntax {
        name: "coord-query",
        attributes: &["from", "into", "lat", "lon"],
        check,
        ..ElementSyntax::NONE
    }],
    words: &["is_in"],
    set_first: true,
    read,
    write: |writer, node, _| {
        let get = |name: &str| node.element.get(name);
        let place = if get("lat").is_empty() { String::new() } else { format!("({},{})", get("lat"), get("lon")) };
        let text = format!("{}is_in{place}", writer.before(&node.element));
        writer.simple(&text, &node.element);
    },
};

impl StatementProperties for IsIn {
    fn name(&self) -> &'static str {
        "coord-query"
    }

    fn result_set(&self) -> Option<&SetName> {
        Some(&self.into)
    }

    fn asks_for_areas(&self) -> bool {
        true
    }
}

fn check(context: &mut CheckContext<'_>) -> Option<ElementMeaning> {
    let (from, into) = context.sets();
    let in_set = context.element.get("lat").is_empty() && context.element.get("lon").is_empty();
    let place = if in_set { IsInPlace::Set(from) } else { IsInPlace::Point(point(context)) };
    Some(ElementMeaning::Statement(IsIn { place, into }.into()))
}

fn read(parser: &mut QlParser<'_>, start: Start) -> Option<ElementTreeNode> {
    parser.tokens.advance();
    let (mut lat, mut lon) = (String::new(), String::new());
    if parser.tokens.is("(") {
        parser.tokens.advance();
        lat = parser.text("Number");
        parser.skip_to(&[",", ")"]);
        if parser.tokens.is(",") {
            parser.tokens.advance();
            lon = parser.text("Number");
            parser.skip_to(&[")"]);
        }
        parser.tokens.advance();
    }
    let into = parser.into();
    parser.expect(&[";"]);
    let element = parser.element("coord-query", &start).with("from", start.set()).with("into", into);
    Some(parser.builder.open(element.with("lat", lat).with("lon", lon)))
}
