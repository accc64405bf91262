//! The statement `.from` alone: adds the set to a union. Within a query it is a filter.

use super::{Start, StatementGrammar, StatementProperties};
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
            let name = if context.element.get("from").is_empty() { "set" } else { "from" };
            let item = Item { from: context.element.set(name), into: context.element.set("into") };
            Some(ElementMeaning::Statement(item.into()))
        },
        ..ElementSyntax::NONE
    }],
    words: &[],
    set_first: true,
    read,
    write: |writer, node, _| {
        let get = |name: &str| node.element.get(name);
        let set = if get("from").is_empty() { get("set") } else { get("from") };
        let text = format!(".{}", if set.is_empty() { "_" } else { set });
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
