//! The filter `(newer:"...")`.

use super::{FilterGrammar, FilterProperties};
use crate::check::CheckContext;
use crate::check::numbers::timestamp;
use crate::code::OverpassCode;
use crate::tree::Timestamp;
use crate::writer::expression::quoted;
use crate::writer::{AttributeList, moment};
use crate::{Alone, ElementMeaning, ElementSyntax};

/// Elements changed at a moment or later.
#[derive(Debug, Clone, PartialEq)]
pub struct Newer {
    /// The moment.
    pub than: Timestamp,
}

pub(super) const SYNTAX: FilterGrammar = FilterGrammar {
    form: ElementSyntax {
        name: "newer",
        attributes: &["than"],
        check,
        checked_in_converting: true,
        values: |element| {
            let mut list = AttributeList::default();
            list.always("than", moment(element.get("than")));
            Some(list.0)
        },
        ..ElementSyntax::NONE
    },
    words: &["newer"],
    read: |parser, clause| {
        if clause.tree.text(clause.tree.root) != ":" {
            return None;
        }
        let element = clause.element("newer").with("than", clause.only_value(parser)?);
        Some(parser.builder.open(element))
    },
    text: |node| Some(format!("(newer:{})", quoted(&moment(node.element.get("than"))))),
    keeps_into: false,
    ..FilterGrammar::NONE
};

impl FilterProperties for Newer {
    fn can_find_areas(&self) -> bool {
        false
    }
}

fn check(context: &mut CheckContext<'_>) -> Option<ElementMeaning> {
    match timestamp(context.element.get("than")) {
        Some(than) => {
            let into = context.sets().1;
            Some(ElementMeaning::Filter { kind: Newer { than }.into(), alone: Alone::Misplaced, into })
        }
        None => {
            let message = "The attribute \"than\" must contain a timestamp exactly in the form yyyy-mm-ddThh:mm:ssZ.";
            context.refuse(OverpassCode::BadTimestamp, message);
            None
        }
    }
}
