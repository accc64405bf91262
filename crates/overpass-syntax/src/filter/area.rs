//! The filter `(area.set)`, `(area:id)`.

use super::{FilterGrammar, FilterProperties};
use crate::check::CheckContext;
use crate::check::numbers::integer;
use crate::diagnostics::Clue;
use crate::tree::{QueryType, SetName};
use crate::writer::{AttributeList, dotted};
use crate::{Alone, ElementMeaning, ElementSyntax};

/// Elements in areas.
#[derive(Debug, Clone, PartialEq)]
pub enum Area {
    /// The areas of a set.
    Set(SetName),
    /// The area with this id.
    Id(i64),
}

pub(super) const SYNTAX: FilterGrammar = FilterGrammar {
    form: ElementSyntax {
        name: "area-query",
        attributes: &["from", "into", "ref"],
        check,
        checked_in_converting: true,
        values: |element| {
            let mut list = AttributeList::default();
            list.some("from", element.get("from"));
            let id = integer(element.get("ref"));
            if id > 0 {
                list.always("ref", id.to_string());
            }
            Some(list.0)
        },
        ..ElementSyntax::NONE
    },
    words: &["area"],
    read: |parser, clause| {
        let element = clause.element("area-query").with_some("from", clause.set.clone());
        // If there are several ids, the reference uses none.
        let id = if clause.colon && clause.items.len() == 1 { clause.texts().pop() } else { None };
        Some(parser.builder.open(element.with_some("ref", id)))
    },
    text: |node| {
        let list = AttributeList(node.element.values());
        Some(match list.get("ref") {
            "" => format!("(area{})", dotted(&node.element, "from")),
            id => format!("(area:{id})"),
        })
    },
    query_word: |_| Some("node"),
    ..FilterGrammar::NONE
};

impl FilterProperties for Area {
    fn set(&self) -> Option<&SetName> {
        match self {
            Area::Set(set) => Some(set),
            Area::Id(_) => None,
        }
    }

    fn asks_for_areas(&self) -> bool {
        true
    }
}

fn check(context: &mut CheckContext<'_>) -> Option<ElementMeaning> {
    let (from, into) = context.sets();
    let area = match context.element.get("ref") {
        "" => Area::Set(from),
        text => match integer(text) {
            id if id > 0 => Area::Id(id),
            _ => {
                context.refuse_value_by("ref", "positive integers", Some(Clue::Area));
                return None;
            }
        },
    };
    Some(ElementMeaning::Filter { kind: area.into(), alone: Alone::Query(QueryType::Node), into })
}
