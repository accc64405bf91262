//! The statement `timeline(type, id, version)`: lists the versions of an element.

use super::{StatementGrammar, StatementProperties};
use crate::check::CheckContext;
use crate::check::numbers::integer;
use crate::parse::{QlParser, Start};
use crate::tree::{QlElementType, SetName};
use crate::{ElementMeaning, ElementSyntax, ElementTreeNode};

/// The versions of an element, or one of them.
#[derive(Debug, Clone, PartialEq)]
pub struct Timeline {
    /// The element's type.
    pub kind: QlElementType,
    /// Its id.
    pub id: i64,
    /// The version, if only one is requested.
    pub version: Option<i64>,
    /// The set for the result.
    pub into: SetName,
}

pub(super) const SYNTAX: StatementGrammar = StatementGrammar {
    elements: &[ElementSyntax {
        name: "timeline",
        attributes: &["into", "type", "ref", "version"],
        check,
        ..ElementSyntax::NONE
    }],
    words: &["timeline"],
    set_first: false,
    read,
    write: |writer, node, _| {
        let get = |name: &str| node.element.get(name);
        let version = if get("version").is_empty() { String::new() } else { format!(",{}", get("version")) };
        let text = format!("timeline({},{}{version})", get("type"), get("ref"));
        writer.simple(&text, &node.element);
    },
};

impl StatementProperties for Timeline {
    fn name(&self) -> &'static str {
        "timeline"
    }

    fn result_set(&self) -> Option<&SetName> {
        Some(&self.into)
    }
}

fn check(context: &mut CheckContext<'_>) -> Option<ElementMeaning> {
    let element = context.element;
    let kind = match element.get("type") {
        "node" => Some(QlElementType::Node),
        "way" => Some(QlElementType::Way),
        "relation" => Some(QlElementType::Relation),
        _ => {
            context.refuse_value("type", "\"node\", \"way\", or \"relation\"");
            None
        }
    };
    let id = integer(element.get("ref"));
    if id <= 0 {
        context.refuse_value("ref", "positive integers");
    }
    let version = element.find("version").filter(|text| !text.is_empty()).map(integer);
    if version.is_some_and(|version| version <= 0) {
        context.refuse_value("version", "positive integers");
    }
    Some(ElementMeaning::Statement(Timeline { kind: kind?, id, version, into: element.set("into") }.into()))
}

fn read(parser: &mut QlParser<'_>, start: Start) -> Option<ElementTreeNode> {
    parser.tokens.advance();
    parser.expect(&["("]);
    let kind = match parser.text("OSM base type").as_str() {
        "rel" => "relation".to_owned(),
        other => other.to_owned(),
    };
    parser.expect(&[","]);
    let id = parser.text("OSM element id");
    parser.skip_to(&[",", ")"]);
    let mut version = String::new();
    if parser.tokens.is(",") {
        parser.tokens.advance();
        version = parser.text("Number");
    }
    parser.expect(&[")"]);
    let into = parser.into();
    parser.expect(&[";"]);
    let element = parser.element("timeline", &start).with("into", into).with("ref", id);
    Some(parser.builder.open(element.with("type", kind).with("version", version)))
}
