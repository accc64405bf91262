//! The filter `.set`: elements that are also in that set. The definition of its element is in `statement/item.rs`.

use super::{FilterGrammar, FilterProperties};
use crate::ElementSyntax;
use crate::element::SyntaxElement;
use crate::parse::{QlParser, Start};
use crate::tree::SetName;
use crate::writer::AttributeList;

/// The elements of a set.
#[derive(Debug, Clone, PartialEq)]
pub struct FromSet {
    /// The set.
    pub set: SetName,
}

pub(super) const SYNTAX: FilterGrammar = FilterGrammar {
    form: ElementSyntax {
        name: "item",
        values: |element| {
            let mut list = AttributeList::default();
            // `set` is allowed only beside the default of `from`.
            let from = element.find("set").filter(|set| !set.is_empty()).or(element.find("from"));
            list.always("from", from.unwrap_or("_"));
            list.always("into", if element.get("into").is_empty() { "_" } else { element.get("into") });
            Some(list.0)
        },
        ..ElementSyntax::NONE
    },
    text: |node| Some(format!(".{}", AttributeList(node.element.values()).get("from"))),
    leads: true,
    ..FilterGrammar::NONE
};

impl FilterProperties for FromSet {
    fn set(&self) -> Option<&SetName> {
        Some(&self.set)
    }
}

/// Parses `.set`. Directly after the type, any token is a valid name.
pub(crate) fn read_set(parser: &mut QlParser<'_>, behind_others: bool) -> SyntaxElement {
    let start = Start { byte: parser.tokens.current().start, line: parser.tokens.line(), from: None };
    parser.tokens.advance();
    let from = if behind_others { parser.variable() } else { parser.name() };
    element(parser, &start, from)
}

/// Creates the element of a set in a query.
pub(crate) fn element(parser: &QlParser<'_>, start: &Start, set: String) -> SyntaxElement {
    parser.element("item", start).with("from", set)
}
