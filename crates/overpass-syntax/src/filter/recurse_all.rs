//! A recursion within a query: `(<)`, `(>>.set)`. The definition of its element is in `statement/recurse.rs`.

use super::{FilterGrammar, FilterProperties};
use crate::element::SyntaxElement;
use crate::parse::{QlParser, TokenTree};
use crate::tree::{Recurse, SetName, SourceSpan};
use crate::writer::dotted;
use crate::{ElementSyntax, ElementTreeNode};

/// The result of a recursion.
#[derive(Debug, Clone, PartialEq)]
pub struct RecurseAll {
    /// The direction and depth.
    pub kind: Recurse,
    /// The set to start from.
    pub set: SetName,
}

/// The signs, with their `type` in the XML form.
const SIGNS: [(&str, &str); 4] = [(">", "down"), (">>", "down-rel"), ("<", "up"), ("<<", "up-rel")];

pub(super) const SYNTAX: FilterGrammar = FilterGrammar {
    form: ElementSyntax { name: "recurse", ..ElementSyntax::NONE },
    text: |node| {
        let (sign, _) = SIGNS.iter().find(|(_, name)| *name == node.element.get("type"))?;
        Some(format!("({sign}{})", dotted(&node.element, "from")))
    },
    ..FilterGrammar::NONE
};

impl FilterProperties for RecurseAll {
    fn set(&self) -> Option<&SetName> {
        Some(&self.set)
    }

    fn can_find_areas(&self) -> bool {
        false
    }
}

/// Returns whether the element's `type` is one of these.
pub(super) fn is_type(name: &str) -> bool {
    SIGNS.iter().any(|(_, known)| *known == name)
}

/// Returns whether a token is one of the signs.
pub(super) fn is_sign(token: &str) -> bool {
    SIGNS.iter().any(|(known, _)| *known == token)
}

/// Interprets a filter that begins with one of the signs. As in the reference, `<` and `>` always start from the
/// default set, even if another set follows; `<<` and `>>` start from the set that follows. A filter with any other
/// content is ignored.
pub(super) fn read(parser: &mut QlParser<'_>, tree: &TokenTree<'_>, span: SourceSpan) -> Option<ElementTreeNode> {
    let root = tree.at(tree.root);
    let (sign, set) = match root.token.text {
        sign if is_sign(sign) => (sign, None),
        "." if is_sign(tree.text(root.left)) && root.right != 0 => {
            (tree.text(root.left), Some(tree.at(root.right).token.value()))
        }
        _ => return None,
    };
    let (_, name) = SIGNS.iter().find(|(known, _)| *known == sign)?;
    let element = SyntaxElement::new("recurse", root.line, span).with_some("from", set).with("type", *name);
    Some(parser.builder.open(element))
}
