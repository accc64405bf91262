//! `(way_cnt.set:2-)`, `(way_link:3-5)`: nodes by how many ways of a set they are in.

use super::{Clause, Facts, Syntax};
use crate::check::Context;
use crate::check::numbers::integer;
use crate::code::Code;
use crate::parse::{Id, Parser, Tree};
use crate::tree::{QueryType, SetName};
use crate::{Alone, Form, Node, Part};

/// Nodes by how many ways they are in.
#[derive(Debug, Clone, PartialEq)]
pub struct WayCount {
    /// Whether the segments of ways are counted that meet there, not the ways.
    pub link: bool,
    /// The set with the ways.
    pub set: SetName,
    /// The least number.
    pub lower: u64,
    /// The greatest, where there is one.
    pub upper: Option<u64>,
}

// Its attributes, values and text are those of the other types of the element (`recurse.rs`).
pub(super) const SYNTAX: Syntax = Syntax {
    form: Form { name: "recurse", check, ..Form::NONE },
    words: &["way_cnt", "way_link"],
    read,
    ..Syntax::NONE
};

impl Facts for WayCount {
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

fn check(context: &mut Context<'_>) -> Option<Part> {
    let element = context.element;
    let name = element.get("type");
    if name != "way-count" && name != "way-link" {
        return None;
    }
    let set = element.set("from");
    let number = |name: &str| element.find(name).filter(|text| !text.is_empty()).map(integer);
    let (lower, upper) = (number("lower").unwrap_or(1), number("upper").unwrap_or(i64::MAX));
    if lower < 1 {
        context.refuse(Code::BadValue, "lower must be an integer greater or equal 1");
    } else if upper < lower {
        context.refuse(Code::BadValue, "upper must be an integer greater or equal lower");
    }
    let upper = (upper < i64::from(u32::MAX)).then_some(upper as u64);
    let filter = WayCount { link: name == "way-link", set, lower: lower as u64, upper };
    Some(Part::Filter { kind: filter.into(), alone: Alone::Query(QueryType::Node), into: element.set("into") })
}

/// `(way_cnt:2)` and `(way_link:2-5)`
fn read(parser: &mut Parser<'_>, clause: &Clause<'_, '_>) -> Option<Node> {
    if clause.what != "node" {
        let message = format!("A recursion of type '{}' produces nodes.", clause.name);
        parser.refuse(clause.line, Code::WrongType, message);
        return read_wrong(parser, clause);
    }
    let kind = if clause.name == "way_cnt" { "way-count" } else { "way-link" };
    let element = clause.element(parser, "recurse");
    let mut element = element.with_some("from", clause.set.clone()).with("type", kind);
    if let Some(&id) = clause.arguments.first() {
        let (lower, upper) = range(clause.tree, id);
        element = element.with("lower", lower).with("upper", upper);
    }
    Some(parser.builder.open(element))
}

/// `(way_cnt:2)` where no nodes are asked for: the reference takes it for a recursion of no type.
fn read_wrong(parser: &mut Parser<'_>, clause: &Clause<'_, '_>) -> Option<Node> {
    let single = matches!(clause.what, "way" | "relation");
    if single && clause.name == "way_link" {
        return None;
    }
    let element = clause.element(parser, "recurse");
    let element = element.with_some("from", clause.set.clone()).with("type", "");
    let value = clause.values.first().cloned().filter(|_| single);
    Some(parser.builder.open(element.with_some(if clause.what == "way" { "pos" } else { "role" }, value)))
}

/// `2`, `2-`, `2-5`
fn range(tree: &Tree<'_>, id: Id) -> (String, String) {
    let branch = tree.at(id);
    if branch.token.text == "-" && branch.left != 0 {
        let upper = if branch.right == 0 { "4294967295" } else { tree.text(branch.right) };
        return (tree.text(branch.left).to_owned(), upper.to_owned());
    }
    (branch.token.text.to_owned(), branch.token.text.to_owned())
}
