//! The statement `.from` alone: adds the set to a union. Within a query it is a filter.

use super::{Start, StatementGrammar, StatementProperties};
use crate::code::OverpassCode;
use crate::filter::{FilterKind, FromSet};
use crate::parse::QlParser;
use crate::tree::SetName;
use crate::{ElementMeaning, ElementSyntax, ElementTreeNode};

/// A copy of a set.
#[derive(Debug, Clone, PartialEq)]
pub struct Item {
    /// The set.
    pub from: SetName,
    /// The set to copy to.
    pub into: SetName,
}

pub(super) const SYNTAX: StatementGrammar = StatementGrammar {
    elements: &[ElementSyntax {
        name: "item",
        attributes: &["from", "into", "set"],
        check: |context| {
            let set = context.element.get("set").to_owned();
            let given = |name: &str| context.element.find(name).is_some_and(|value| value != "_");
            if !set.is_empty() && (given("from") || given("into")) {
                let message = "The attribute \"set\" of the element \"item\" can only be set if the attributes \
                               \"from\" and \"into\" are both empty.";
                context.refuse(OverpassCode::BadValue, message);
                return None;
            }
            let item = if set.is_empty() {
                Item { from: context.element.set("from"), into: context.element.set("into") }
            } else {
                // `set` names both.
                Item { from: set.clone(), into: set }
            };
            Some(ElementMeaning::Statement(item.into()))
        },
        ..ElementSyntax::NONE
    }],
    words: &[],
    set_first: true,
    read,
    write: |writer, node, _| {
        let get = |name: &str| node.element.get(name);
        if !get("set").is_empty() {
            writer.out.push_str(&format!(".{0}->.{0};", get("set")));
            return;
        }
        let text = format!(".{}", if get("from").is_empty() { "_" } else { get("from") });
        writer.simple(&text, &node.element);
    },
};

impl StatementProperties for Item {
    fn name(&self) -> &'static str {
        "item"
    }

    fn input_set(&self) -> Option<&SetName> {
        Some(&self.from)
    }

    fn result_set(&self) -> Option<&SetName> {
        Some(&self.into)
    }

    fn as_filter(&self) -> Option<FilterKind> {
        Some(FromSet { set: self.from.clone() }.into())
    }
}

/// Parses the statement. If two sets follow each other, the second one is used.
fn read(parser: &mut QlParser<'_>, mut start: Start) -> Option<ElementTreeNode> {
    if parser.tokens.good() && parser.tokens.is(".") {
        start.from = parser.set();
    }
    let into = parser.into();
    let element = parser.element("item", &start).with("from", start.set()).with("into", into);
    let node = parser.builder.open(element);
    parser.expect(&[";"]);
    Some(node)
}
