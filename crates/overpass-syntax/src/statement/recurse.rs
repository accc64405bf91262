//! The statements `>`, `>>`, `<`, `<<`. Within a query they are filters.

use super::{Facts, Syntax};
use crate::check::Context;
use crate::filter::{FilterKind, RecurseAll, restrictions};
use crate::parse::{Parser, Start};
use crate::tree::{Recurse, SetName};
use crate::{Form, Node, Part};

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

pub(super) const SYNTAX: Syntax = Syntax {
    elements: &[Form {
        name: "recurse",
        attributes: &["from", "into", "type", "role", "role-restricted", "pos", "lower", "upper"],
        check,
        ..Form::NONE
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

impl Facts for Recursion {
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

fn check(context: &mut Context<'_>) -> Option<Part> {
    let (_, _, kind) = KINDS.iter().find(|(_, name, _)| *name == context.element.get("type"))?;
    restrictions(context, false, false);
    let (from, into) = context.sets();
    Some(Part::Statement(Recursion { kind: *kind, from, into }.into()))
}

fn read(parser: &mut Parser<'_>, start: Start) -> Option<Node> {
    let (_, name, _) = KINDS.iter().find(|(sign, ..)| *sign == parser.tokens.text())?;
    parser.tokens.advance();
    let into = parser.into();
    let element = parser.element("recurse", &start).with("from", start.set()).with("into", into);
    let node = parser.builder.open(element.with("type", *name));
    parser.expect(&[";"]);
    Some(node)
}
