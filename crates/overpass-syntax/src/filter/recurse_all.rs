//! A recursion within a query: `(<)`, `(>>.set)`. The element is that of a statement (`statement/recurse.rs`).

use super::{Facts, Syntax};
use crate::convert::dotted;
use crate::parse::{Parser, Start, Tree};
use crate::tree::{Recurse, SetName};
use crate::{Form, Node};

/// What a recursion finds.
#[derive(Debug, Clone, PartialEq)]
pub struct RecurseAll {
    /// Which way, and how far.
    pub kind: Recurse,
    /// The set that it starts from.
    pub set: SetName,
}

/// The signs, with `type` in the XML form.
const SIGNS: [(&str, &str); 4] = [(">", "down"), (">>", "down-rel"), ("<", "up"), ("<<", "up-rel")];

pub(super) const SYNTAX: Syntax = Syntax {
    form: Form { name: "recurse", ..Form::NONE },
    text: |node| {
        let (sign, _) = SIGNS.iter().find(|(_, name)| *name == node.element.get("type"))?;
        Some(format!("({sign}{})", dotted(&node.element, "from")))
    },
    ..Syntax::NONE
};

impl Facts for RecurseAll {
    fn set(&self) -> Option<&SetName> {
        Some(&self.set)
    }

    fn can_find_areas(&self) -> bool {
        false
    }
}

/// Whether a type of the element is one of these.
pub(super) fn is_type(name: &str) -> bool {
    SIGNS.iter().any(|(_, known)| *known == name)
}

/// Whether a token is one of the signs.
pub(super) fn is_sign(token: &str) -> bool {
    SIGNS.iter().any(|(known, _)| *known == token)
}

/// Reads a filter that begins with one of the signs. As in the reference, `<` and `>` start from the default set whatever
/// stands behind them, `<<` and `>>` from the one that does, and what has anything else in it is taken no notice of.
pub(super) fn read(parser: &mut Parser<'_>, tree: &Tree<'_>, start: Start) -> Option<Node> {
    let root = tree.at(tree.root);
    let (sign, set) = match root.token.text {
        sign if is_sign(sign) => (sign, None),
        "." if is_sign(tree.text(root.left)) && root.right != 0 => {
            (tree.text(root.left), Some(tree.at(root.right).token.value()))
        }
        _ => return None,
    };
    let (_, name) = SIGNS.iter().find(|(known, _)| *known == sign)?;
    let element = parser.element("recurse", &start).with_some("from", set).with("type", *name);
    Some(parser.builder.open(element))
}
