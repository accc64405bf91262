//! The filter `(s,w,n,e)`.

use super::{FilterGrammar, FilterProperties};
use crate::check::sides;
use crate::code::OverpassCode;
use crate::element::SyntaxElement;
use crate::parse::{Id, QlParser, TokenTree};
use crate::tree::{QlBoundingBox, QueryType};
use crate::writer::{AttributeList, number};
use crate::{Alone, ElementMeaning, ElementSyntax, ElementTreeNode};

/// Elements that meet a box.
#[derive(Debug, Clone, PartialEq)]
pub struct Bbox {
    /// The box.
    pub bounds: QlBoundingBox,
}

const SIDES: [&str; 4] = ["s", "w", "n", "e"];

pub(super) const SYNTAX: FilterGrammar = FilterGrammar {
    form: ElementSyntax {
        name: "bbox-query",
        attributes: &["s", "w", "n", "e", "into"],
        check: |context| {
            let bounds = sides(context, "bbox-query", -200.0)?;
            let (kind, alone) = (Bbox { bounds }.into(), Alone::Query(QueryType::Node));
            Some(ElementMeaning::Filter { kind, alone, into: context.sets().1 })
        },
        checked_in_converting: true,
        values: |element| {
            let mut list = AttributeList::default();
            SIDES.iter().for_each(|side| list.always(side, number(element.get(side))));
            Some(list.0)
        },
        ..ElementSyntax::NONE
    },
    text: |node| {
        let values = node.element.values();
        let sides: Vec<&str> = values.iter().map(|(_, value)| value.as_str()).collect();
        Some(format!("({})", sides.join(",")))
    },
    query_word: |_| Some("node"),
    replaces: |_, what| what == "node",
    ..FilterGrammar::NONE
};

impl FilterProperties for Bbox {
    fn stands_alone(&self, what: QueryType) -> bool {
        what == QueryType::Node
    }
}

/// Parses `(s,w,n,e)`. If there are more numbers, the reference uses the last four.
pub(super) fn read_numbers(
    parser: &mut QlParser<'_>,
    tree: &TokenTree<'_>,
    top: Id,
    mut element: SyntaxElement,
) -> Option<ElementTreeNode> {
    let mut sides: Vec<Id> = Vec::new();
    let mut at = top;
    while sides.len() < 3 && tree.text(at) == "," {
        sides.push(tree.at(at).right);
        at = tree.at(at).left;
    }
    sides.push(at);
    if sides.len() < 4 || sides.contains(&0) {
        let span = tree.span(tree.root);
        parser.builder.diagnostics.parse(
            OverpassCode::IncompleteBox,
            element.line,
            span,
            "bbox requires four arguments",
        );
        return None;
    }
    for (name, side) in SIDES.into_iter().zip(sides.iter().rev()) {
        element = element.with(name, tree.text(*side));
    }
    Some(parser.builder.open(element))
}
