//! The filter `(pivot.set)`: the elements that areas are made from.

use super::{FilterGrammar, FilterProperties};
use crate::tree::{QueryType, SetName};
use crate::writer::{AttributeList, dotted};
use crate::{Alone, ElementMeaning, ElementSyntax};

/// The elements that the areas of a set are made from.
#[derive(Debug, Clone, PartialEq)]
pub struct Pivot {
    /// The set.
    pub set: SetName,
}

pub(super) const SYNTAX: FilterGrammar = FilterGrammar {
    form: ElementSyntax {
        name: "pivot",
        attributes: &["from", "into"],
        check: |context| {
            let (set, into) = context.sets();
            Some(ElementMeaning::Filter { kind: Pivot { set }.into(), alone: Alone::Query(QueryType::Wr), into })
        },
        values: |element| {
            let mut list = AttributeList::default();
            list.some("from", element.get("from"));
            Some(list.0)
        },
        ..ElementSyntax::NONE
    },
    words: &["pivot"],
    read: |parser, clause| {
        let element = clause.element("pivot").with_some("from", clause.set.clone());
        Some(parser.builder.open(element))
    },
    text: |node| Some(format!("(pivot{})", dotted(&node.element, "from"))),
    query_word: |_| Some("node"),
    replaces: |_, what| what == "node",
    ..FilterGrammar::NONE
};

impl FilterProperties for Pivot {
    fn set(&self) -> Option<&SetName> {
        Some(&self.set)
    }

    fn can_find_areas(&self) -> bool {
        false
    }
}
