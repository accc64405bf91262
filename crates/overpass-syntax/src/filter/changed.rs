//! The filter `(changed)`, `(changed:"a")`, `(changed:"a","b")`.

use super::{Clause, FilterGrammar, FilterProperties};
use crate::check::CheckContext;
use crate::check::numbers::timestamp;
use crate::code::OverpassCode;
use crate::parse::QlParser;
use crate::tree::{QueryType, Timestamp};
use crate::writer::expression::quoted;
use crate::writer::{AttributeList, moment};
use crate::{Alone, ElementMeaning, ElementSyntax, ElementTreeNode};

/// Elements that changed between two moments.
#[derive(Debug, Clone, PartialEq)]
pub struct Changed {
    /// The earlier moment.
    pub since: Option<Timestamp>,
    /// The later moment, if given.
    pub until: Option<Timestamp>,
}

pub(super) const SYNTAX: FilterGrammar = FilterGrammar {
    form: ElementSyntax {
        name: "changed",
        attributes: &["since", "until", "into"],
        check,
        checked_in_converting: true,
        values: |element| {
            let mut list = AttributeList::default();
            for name in ["since", "until"] {
                let text = element.get(name);
                // A text that is too short to be a moment is left out.
                if text.len() >= "2020-02-20T20:20:20".len() {
                    list.always(name, moment(text));
                }
            }
            Some(list.0)
        },
        ..ElementSyntax::NONE
    },
    words: &["changed"],
    read,
    text: |node| {
        let list = AttributeList(node.element.values());
        Some(match (list.get("since"), list.get("until")) {
            ("", "") => "(changed)".to_owned(),
            (since, "") => format!("(changed:{})", quoted(since)),
            (since, until) => format!("(changed:{},{})", quoted(since), quoted(until)),
        })
    },
    keeps_into: false,
    ..FilterGrammar::NONE
};

impl FilterProperties for Changed {
    fn can_find_areas(&self) -> bool {
        false
    }
}

fn check(context: &mut CheckContext<'_>) -> Option<ElementMeaning> {
    let mut moments = [None, None];
    // "auto" is the time of the last update, which is also the default.
    let given = |name: &str| Some(context.element.get(name)).filter(|text| !matches!(*text, "" | "auto"));
    let texts = [("since", given("since")), ("until", given("until"))];
    for ((name, text), moment) in texts.iter().zip(&mut moments) {
        let Some(text) = text else { continue };
        *moment = timestamp(text);
        if moment.is_none() {
            let message = format!(
                "The attribute \"{name}\" must contain a timestamp exactly in the form \"yyyy-mm-ddThh:mm:ssZ\"."
            );
            context.refuse(OverpassCode::BadTimestamp, message);
        }
    }
    if texts[0].1.is_some() != texts[1].1.is_some() {
        let message = "The attributes \"since\" and \"until\" must be set either both or none.";
        context.refuse(OverpassCode::BadValue, message);
    }
    let [since, until] = moments;
    let until = until.filter(|_| until != since);
    let (kind, alone) = (Changed { since, until }.into(), Alone::Query(QueryType::Nwr));
    Some(ElementMeaning::Filter { kind, alone, into: context.sets().1 })
}

fn read(parser: &mut QlParser<'_>, clause: &Clause<'_, '_>) -> Option<ElementTreeNode> {
    if clause.colon && clause.rest == 0 {
        clause.refuse(parser, OverpassCode::MissingOperand, "Date required after \"changed\" with colon");
        return None;
    }
    let root = clause.tree.at(clause.tree.root);
    let unexpected = if clause.colon { "," } else { root.token.text };
    let values = clause.complete_values(parser).filter(|values| values.len() <= 2);
    let Some(values) = values.filter(|_| clause.colon || root.right == 0 && root.left == 0) else {
        let message = format!("Unexpected token \"{unexpected}\" after \"changed\"");
        clause.refuse(parser, OverpassCode::UnexpectedToken, message);
        return None;
    };
    // A single moment is used for both attributes; the check interprets this as "since then".
    let twice = values.iter().take(usize::from(values.len() == 1));
    let mut moments = values.iter().chain(twice).cloned();
    let element = clause.element("changed").with_some("since", moments.next());
    Some(parser.builder.open(element.with_some("until", moments.next())))
}
