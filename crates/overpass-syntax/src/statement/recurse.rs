//! The statements `>`, `>>`, `<`, `<<`. Within a query they are filters.

use super::{StatementGrammar, StatementProperties};
use crate::check::CheckContext;
use crate::filter::{FilterKind, RecurseAll, restrictions};
use crate::parse::{QlParser, Start};
use crate::tree::{Recurse, SetName};
use crate::{ElementMeaning, ElementSyntax, ElementTreeNode};

/// The elements that others refer to, or those that refer to others.
#[derive(Debug, Clone, PartialEq)]
pub struct Recursion {
    /// The direction and depth.
    pub kind: Recurse,
    /// The set to start from.
    pub from: SetName,
    /// The set for the result.
    pub into: SetName,
}

/// The signs, with their `type` in the XML form.
const KINDS: [(&str, &str, Recurse); 4] = [
    (">", "down", Recurse::Down),
    (">>", "down-rel", Recurse::DownRel),
    ("<", "up", Recurse::Up),
    ("<<", "up-rel", Recurse::UpRel),
];

pub(super) const SYNTAX: StatementGrammar = StatementGrammar {
    elements: &[ElementSyntax {
        name: "recurse",
        attributes: &["from", "into", "type", "role", "role-restricted", "pos", "lower", "upper"],
        check,
        ..ElementSyntax::NONE
    }],
    words: &[">", ">>", "<", "<<"],
    set_first: true,
    read,
    write: |writer, node, _| match KINDS.iter().find(|(_, name, _)| *name == node.element.get("type")) {
        Some((sign, ..)) => {
            let text = format!("{}{sign}", writer.before(&node.element));
            writer.simple(&text, &node.element);
        }
        // The other types are filters.
        None => writer.filter_alone(node),
    },
};

impl StatementProperties for Recursion {
    fn name(&self) -> &'static str {
        "recurse"
    }

    fn input_set(&self) -> Option<&SetName> {
        Some(&self.from)
    }

    fn result_set(&self) -> Option<&SetName> {
        Some(&self.into)
    }

    fn as_filter(&self) -> Option<FilterKind> {
        Some(RecurseAll { kind: self.kind, set: self.from.clone() }.into())
    }
}

fn check(context: &mut CheckContext<'_>) -> Option<ElementMeaning> {
    let (_, _, kind) = KINDS.iter().find(|(_, name, _)| *name == context.element.get("type"))?;
    restrictions(context, false, false);
    let (from, into) = context.sets();
    Some(ElementMeaning::Statement(Recursion { kind: *kind, from, into }.into()))
}

fn read(parser: &mut QlParser<'_>, start: Start) -> Option<ElementTreeNode> {
    let (_, name, _) = KINDS.iter().find(|(sign, ..)| *sign == parser.tokens.text())?;
    parser.tokens.advance();
    let into = parser.into();
    let element = parser.element("recurse", &start).with("from", start.set()).with("into", into);
    let node = parser.builder.open(element.with("type", *name));
    parser.expect(&[";"]);
    Some(node)
}
