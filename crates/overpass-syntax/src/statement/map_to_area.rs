//! The statement `map_to_area`: finds the areas that are made from elements.

use super::{StatementGrammar, StatementProperties};
use crate::tree::SetName;
use crate::{ElementMeaning, ElementSyntax};

/// The areas made from the elements of a set.
#[derive(Debug, Clone, PartialEq)]
pub struct MapToArea {
    /// The set.
    pub from: SetName,
    /// The set for the result.
    pub into: SetName,
}

pub(super) const SYNTAX: StatementGrammar = StatementGrammar {
    elements: &[ElementSyntax {
        name: "map-to-area",
        attributes: &["from", "into"],
        check: |context| {
            let (from, into) = context.sets();
            Some(ElementMeaning::Statement(MapToArea { from, into }.into()))
        },
        ..ElementSyntax::NONE
    }],
    words: &["map_to_area"],
    set_first: true,
    read: |parser, start| {
        parser.tokens.advance();
        let into = parser.into();
        let element = parser.element("map-to-area", &start).with("from", start.set()).with("into", into);
        let node = parser.builder.open(element);
        parser.expect(&[";"]);
        Some(node)
    },
    write: |writer, node, _| {
        let text = format!("{}map_to_area", writer.before(&node.element));
        writer.simple(&text, &node.element);
    },
};

impl StatementProperties for MapToArea {
    fn name(&self) -> &'static str {
        "map-to-area"
    }

    fn input_set(&self) -> Option<&SetName> {
        Some(&self.from)
    }

    fn result_set(&self) -> Option<&SetName> {
        Some(&self.into)
    }

    fn asks_for_areas(&self) -> bool {
        true
    }
}
