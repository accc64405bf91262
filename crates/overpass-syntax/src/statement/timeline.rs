//! The statement `timeline(type, id, version)`: lists the versions of an element.

use super::{Facts, Syntax};
use crate::check::Context;
use crate::check::numbers::integer;
use crate::parse::{Parser, Start};
use crate::tree::{ElementType, SetName};
use crate::{Form, Node, Part};

/// The versions of an element, or one of them.
#[derive(Debug, Clone, PartialEq)]
pub struct Timeline {
    /// The element's type.
    pub kind: ElementType,
    /// Its id.
    pub id: i64,
    /// The version, if only one is requested.
    pub version: Option<i64>,
    /// The set for the result.
    pub into: SetName,
}

pub(super) const SYNTAX: Syntax = Syntax {
    elements: &[Form { name: "timeline", attributes: &["into", "type", "ref", "version"], check, ..Form::NONE }],
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

impl Facts for Timeline {
    fn name(&self) -> &'static str {
        "timeline"
    }

    fn result_set(&self) -> Option<&SetName> {
        Some(&self.into)
    }
}

fn check(context: &mut Context<'_>) -> Option<Part> {
    let element = context.element;
    let kind = match element.get("type") {
        "node" => Some(ElementType::Node),
        "way" => Some(ElementType::Way),
        "relation" => Some(ElementType::Relation),
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
    Some(Part::Statement(Timeline { kind: kind?, id, version, into: element.set("into") }.into()))
}

fn read(parser: &mut Parser<'_>, start: Start) -> Option<Node> {
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
