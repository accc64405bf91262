//! The filter `(user:"a","b")`, `(uid:1,2)`, `(user_touched:"a")`, `(uid_touched:1)`.

use super::{Clause, FilterGrammar, FilterProperties, ids};
use crate::check::CheckContext;
use crate::check::numbers::integer;
use crate::code::OverpassCode;
use crate::element::SyntaxElement;
use crate::parse::QlParser;
use crate::tree::QueryType;
use crate::writer::expression::quoted;
use crate::writer::{AttributeList, Values};
use crate::{Alone, ElementMeaning, ElementSyntax, ElementTreeNode};

/// Elements changed by users.
#[derive(Debug, Clone, PartialEq)]
pub struct User {
    /// The users.
    pub who: UserFilter,
    /// Whether any version counts, instead of only the last one.
    pub touched: bool,
}

/// The names or ids of users.
#[derive(Debug, Clone, PartialEq)]
pub enum UserFilter {
    /// Names.
    Names(Vec<String>),
    /// Ids.
    Ids(Vec<i64>),
}

pub(super) const SYNTAX: FilterGrammar = FilterGrammar {
    form: ElementSyntax {
        name: "user",
        attributes: &["type", "name", "uid", "into", "criterion"],
        numbered: &["name", "uid"],
        check,
        checked_in_converting: true,
        values: |element| Some(values(element)),
    },
    words: &["user", "uid", "user_touched", "uid_touched"],
    read,
    text: |node| Some(text(node)),
    query_word: |element| Some(ids::of_type(element.get("type"))),
    ..FilterGrammar::NONE
};

impl FilterProperties for User {
    fn can_find_areas(&self) -> bool {
        false
    }
}

fn check(context: &mut CheckContext<'_>) -> Option<ElementMeaning> {
    let element = context.element;
    let names: Vec<String> = element.all("name").filter(|name| !name.is_empty()).map(str::to_owned).collect();
    let uids: Vec<i64> = element.all("uid").map(integer).filter(|uid| *uid != 0).collect();
    if names.is_empty() == uids.is_empty() {
        let message = "Exactly one of the two attributes \"name\" and \"uid\" must be set.";
        context.refuse(OverpassCode::BadValue, message);
        return None;
    }
    let what = match element.get("type") {
        "" | "nwr" => QueryType::Nwr,
        "node" => QueryType::Node,
        "way" => QueryType::Way,
        "relation" => QueryType::Relation,
        "nw" => QueryType::Nw,
        "nr" => QueryType::Nr,
        "wr" => QueryType::Wr,
        // Any other type is invalid: the statement finds no elements.
        _ => QueryType::Derived,
    };
    let touched = element.get("criterion") == "touched";
    if !["", "last", "touched"].contains(&element.get("criterion")) {
        let message = "Atttribute \"criterion\" must have the value \"last\" or \"touched\".";
        context.refuse(OverpassCode::BadValue, message);
    }
    let who = if uids.is_empty() { UserFilter::Names(names) } else { UserFilter::Ids(uids) };
    Some(ElementMeaning::Filter {
        kind: User { who, touched }.into(),
        alone: Alone::Query(what),
        into: element.set("into"),
    })
}

fn read(parser: &mut QlParser<'_>, clause: &Clause<'_, '_>) -> Option<ElementTreeNode> {
    let mut element = clause.element("user").with("type", clause.what);
    let by_name = clause.name.starts_with("user");
    let stem = if by_name { "name" } else { "uid" };
    // In `(user,"a")`, the word is the first item of the list, and the reference does not read the others.
    let tree = clause.tree;
    let bare = !clause.colon && tree.items(tree.root).len() > 1 && tree.at(tree.items(tree.root)[0]).left == 0;
    let values = match by_name {
        _ if bare => Vec::new(),
        // As in the reference, all names are dropped if an item after the first one is missing.
        true if clause.items.iter().skip(1).any(|&id| id == 0) => Vec::new(),
        true => clause.values(parser),
        false => clause.texts(),
    };
    let several = values.len() > 1;
    for (i, value) in values.into_iter().enumerate() {
        let name = if several { format!("{stem}_{}", i + 1) } else { stem.to_owned() };
        element.attributes.push((name.into(), value));
    }
    let touched = clause.name.ends_with("_touched").then_some("touched");
    Some(parser.builder.open(element.with_some("criterion", touched)))
}

fn values(element: &SyntaxElement) -> Values {
    let mut list = AttributeList::default();
    list.some("type", element.get("type"));
    let mut names: Vec<&str> = element.all("name").filter(|name| !name.is_empty()).collect();
    names.sort_unstable();
    names.dedup();
    let mut ids: Vec<i64> = element.all("uid").map(integer).filter(|id| *id != 0).collect();
    ids.sort_unstable();
    ids.dedup();
    let ids: Vec<String> = ids.iter().map(ToString::to_string).collect();
    let ids: Vec<&str> = ids.iter().map(String::as_str).collect();
    for (stem, values) in [("name", names), ("uid", ids)] {
        for (i, value) in values.iter().enumerate() {
            let name = if values.len() == 1 { stem.to_owned() } else { format!("{stem}_{}", i + 1) };
            list.always(&name, *value);
        }
    }
    list.some("criterion", element.get("criterion"));
    list.0
}

fn text(node: &ElementTreeNode) -> String {
    let list = AttributeList(node.element.values());
    let several = |stem: &str| -> Vec<String> {
        let of_stem = list.0.iter().filter(|(name, _)| name.starts_with(stem));
        of_stem.map(|(_, value)| if stem == "uid" { value.clone() } else { quoted(value) }).collect()
    };
    let touched = if list.get("criterion") == "touched" { "_touched" } else { "" };
    let (names, ids) = (several("name"), several("uid"));
    if names.is_empty() {
        format!("(uid{touched}:{})", ids.join(","))
    } else {
        format!("(user{touched}:{})", names.join(","))
    }
}
