//! The filters `(way_cnt.set:2-)`, `(way_link:3-5)`: nodes by the number of ways of a set that contain them.

use super::restrictions::{Restrictions, restrictions};
use super::{Clause, FilterGrammar, FilterProperties};
use crate::check::CheckContext;
use crate::code::OverpassCode;
use crate::parse::{Id, QlParser, TokenTree};
use crate::tree::{QueryType, SetName};
use crate::{Alone, ElementMeaning, ElementSyntax, ElementTreeNode};

/// Nodes by the number of ways that contain them.
#[derive(Debug, Clone, PartialEq)]
pub struct WayCount {
    /// Whether to count the segments of ways that meet at the node instead of the ways.
    pub link: bool,
    /// The set with the ways.
    pub set: SetName,
    /// The minimum number.
    pub lower: u64,
    /// The maximum number, if there is one.
    pub upper: Option<u64>,
}

// The attributes, values and text are those of the element's other types (`recurse.rs`).
pub(super) const SYNTAX: FilterGrammar = FilterGrammar {
    form: ElementSyntax { name: "recurse", check, ..ElementSyntax::NONE },
    words: &["way_cnt", "way_link"],
    read,
    ..FilterGrammar::NONE
};

impl FilterProperties for WayCount {
    fn set(&self) -> Option<&SetName> {
        Some(&self.set)
    }

    fn stands_alone(&self, _what: QueryType) -> bool {
        true
    }

    fn can_find_areas(&self) -> bool {
        false
    }
}

fn check(context: &mut CheckContext<'_>) -> Option<ElementMeaning> {
    let element = context.element;
    let name = element.get("type");
    if name != "way-count" && name != "way-link" {
        return None;
    }
    let Restrictions { lower, upper, .. } = restrictions(context, false, false);
    let filter = WayCount { link: name == "way-link", set: element.set("from"), lower, upper };
    Some(ElementMeaning::Filter {
        kind: filter.into(),
        alone: Alone::Query(QueryType::Node),
        into: element.set("into"),
    })
}

/// Parses `(way_cnt:2)` and `(way_link:2-5)`. If the query is not for nodes, the reference takes it for a recursion
/// without a type.
fn read(parser: &mut QlParser<'_>, clause: &Clause<'_, '_>) -> Option<ElementTreeNode> {
    let values = clause.complete_values(parser)?;
    let wrong = clause.what != "node";
    if wrong {
        let message = format!("A recursion of type '{}' produces nodes.", clause.name);
        clause.refuse(parser, OverpassCode::WrongType, message);
    }
    let kind = match clause.name {
        _ if wrong => "",
        "way_cnt" => "way-count",
        _ => "way-link",
    };
    let mut element = clause.element("recurse").with_some("from", clause.set.clone()).with("type", kind);
    let first = clause.items.first().filter(|_| clause.colon);
    let structured = first.map(|&id| clause.tree.at(id)).is_some_and(|item| item.left != 0 && item.token.text != "-");
    if structured {
        let message = "Simple role token expected, structured syntax tree found.";
        clause.refuse(parser, OverpassCode::UnexpectedToken, message);
        return None;
    }
    let range = first.and_then(|&id| range(clause.tree, id));
    match (clause.what, values.into_iter().next()) {
        ("way", value) => element = element.with_some("pos", value),
        ("relation", value) => element = element.with_some("role", value),
        _ => {
            if let Some((lower, upper)) = range {
                element = element.with("lower", lower).with("upper", upper);
            }
        }
    }
    let node = parser.builder.open(element);
    (parser.builder.converting || !wrong).then_some(node)
}

/// Returns the range of `2`, `2-` or `2-5`; `None` for a minus alone.
fn range(tree: &TokenTree<'_>, id: Id) -> Option<(String, String)> {
    let branch = tree.at(id);
    if branch.token.text == "-" && branch.left != 0 {
        let upper = if branch.right == 0 { "4294967295" } else { tree.text(branch.right) };
        return Some((tree.text(branch.left).to_owned(), upper.to_owned()));
    }
    let text = branch.token.value();
    (text != "-").then(|| (text.clone(), text))
}
