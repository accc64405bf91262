//! The filter `(pivot.set)`: the elements that areas are made from.

use super::{Facts, Syntax};
use crate::convert::{List, dotted};
use crate::tree::{QueryType, SetName};
use crate::{Alone, Form, Part};

/// The elements that the areas of a set are made from.
#[derive(Debug, Clone, PartialEq)]
pub struct Pivot {
    /// The set.
    pub set: SetName,
}

pub(super) const SYNTAX: Syntax = Syntax {
    form: Form {
        name: "pivot",
        attributes: &["from", "into"],
        check: |context| {
            let (set, into) = context.sets();
            Some(Part::Filter { kind: Pivot { set }.into(), alone: Alone::Query(QueryType::Wr), into })
        },
        values: |element| {
            let mut list = List::default();
            list.some("from", element.get("from"));
            Some(list.0)
        },
        ..Form::NONE
    },
    words: &["pivot"],
    read: |parser, clause| {
        let element = clause.element(parser, "pivot").with_some("from", clause.set.clone());
        Some(parser.builder.open(element))
    },
    text: |node| Some(format!("(pivot{})", dotted(&node.element, "from"))),
    query_word: |_| Some("node"),
    replaces: |_, what| what == "node",
    ..Syntax::NONE
};

impl Facts for Pivot {
    fn set(&self) -> Option<&SetName> {
        Some(&self.set)
    }

    fn can_find_areas(&self) -> bool {
        false
    }
}
