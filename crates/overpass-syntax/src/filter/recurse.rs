//! Recursion filters: `(w.set)`, `(r.set:"role")`, `(bn)`, `(bw)`, `(br)`. They keep elements that are related to the
//! elements of a set.

use super::restrictions::restrictions;
use super::{Clause, FilterGrammar, FilterProperties, recurse_all};
use crate::check::CheckContext;
use crate::check::numbers::integer;
use crate::code::OverpassCode;
use crate::element::SyntaxElement;
use crate::parse::QlParser;
use crate::tree::{QueryType, SetName};
use crate::writer::expression::quoted;
use crate::writer::{AttributeList, Values, dotted};
use crate::{Alone, ElementMeaning, ElementSyntax, ElementTreeNode};

/// A recursion filter.
#[derive(Debug, Clone, PartialEq)]
pub struct RecurseFilter {
    /// The relationship to follow.
    pub kind: RecurseFilterKind,
    /// The set to start from.
    pub set: SetName,
    /// `:"role"`. The empty string is a valid role.
    pub role: Option<String>,
    /// `:1,2,-1`: positions of nodes in the way. Positive ones count from 1 at the start, negative ones from -1 at the
    /// end.
    pub positions: Vec<i64>,
}

/// The relationship that a recursion filter follows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RecurseFilterKind {
    /// `(w)`: nodes of the ways in the set.
    W,
    /// `(r)`: members of the relations in the set.
    R,
    /// `(bn)`: ways or relations with a node of the set.
    Bn,
    /// `(bn)` in a query for ways and relations. In the reference, no element passes it together with other filters.
    BnWr,
    /// `(bw)`: relations with a way of the set.
    Bw,
    /// `(br)`: relations with a relation of the set.
    Br,
}

pub(super) const SYNTAX: FilterGrammar = FilterGrammar {
    form: ElementSyntax {
        name: "recurse",
        attributes: &["from", "into", "type", "role", "role-restricted", "pos", "lower", "upper"],
        check,
        checked_in_converting: true,
        // The values of the recurse statement are left unchanged.
        values: |element| (!recurse_all::is_type(element.get("type"))).then(|| values(element)),
        ..ElementSyntax::NONE
    },
    words: &["w", "r", "bn", "bw", "br"],
    read,
    text: |node| (!recurse_all::is_type(node.element.get("type"))).then(|| text(node)),
    query_word: |element| {
        Some(match element.get("type") {
            "relation-relation" | "relation-backwards" | "way-relation" | "node-relation" => "relation",
            "relation-way" | "node-way" => "way",
            "node-wr" | "relation-wr" => "wr",
            "relation-nwr" => "nwr",
            "relation-nw" => "nw",
            "relation-nr" => "nr",
            _ => "node",
        })
    },
    replaces: |element, what| {
        matches!(what, "node" | "way" | "relation" | "nw" | "nr" | "wr") && !recurse_all::is_type(element.get("type"))
    },
    ..FilterGrammar::NONE
};

impl FilterProperties for RecurseFilter {
    fn set(&self) -> Option<&SetName> {
        Some(&self.set)
    }

    fn stands_alone(&self, what: QueryType) -> bool {
        !matches!(what, QueryType::Nwr | QueryType::Area)
    }

    fn can_find_areas(&self) -> bool {
        false
    }
}

/// The recursion types of a query, each with the element type that it finds.
const RECURSIONS: [(&str, RecurseFilterKind, QueryType); 9] = [
    ("relation-relation", RecurseFilterKind::R, QueryType::Relation),
    ("relation-backwards", RecurseFilterKind::Br, QueryType::Relation),
    ("relation-way", RecurseFilterKind::R, QueryType::Way),
    ("relation-node", RecurseFilterKind::R, QueryType::Node),
    ("way-node", RecurseFilterKind::W, QueryType::Node),
    ("way-relation", RecurseFilterKind::Bw, QueryType::Relation),
    ("node-relation", RecurseFilterKind::Bn, QueryType::Relation),
    ("node-way", RecurseFilterKind::Bn, QueryType::Way),
    ("node-wr", RecurseFilterKind::BnWr, QueryType::Wr),
];

fn check(context: &mut CheckContext<'_>) -> Option<ElementMeaning> {
    let element = context.element;
    let set = element.set("from");
    let name = element.get("type");
    let found = RECURSIONS.iter().find(|(known, ..)| *known == name).map(|(_, kind, what)| (*kind, *what));
    let several = name.strip_prefix("relation-").and_then(|what| match what {
        "nwr" => Some((RecurseFilterKind::R, QueryType::Nwr)),
        "nw" => Some((RecurseFilterKind::R, QueryType::Nw)),
        "nr" => Some((RecurseFilterKind::R, QueryType::Nr)),
        "wr" => Some((RecurseFilterKind::R, QueryType::Wr)),
        _ => None,
    });
    if recurse_all::is_type(name) {
        return None;
    }
    let Some((kind, what)) = found.or(several) else {
        let allowed = "\"relation-relation\", \"relation-backwards\",\"relation-way\", \"relation-node\", \"way-node\", \"way-relation\",\"node-relation\", \"node-way\", \"down\", \"down-rel\", \"up\", or \"up-rel\"";
        context.refuse_value("type", allowed);
        restrictions(context, false, false);
        return None;
    };
    let takes_positions = matches!(name, "way-node" | "node-way");
    let found = restrictions(context, !takes_positions && name != "node-wr", takes_positions);
    let filter = RecurseFilter { kind, set, role: found.role, positions: found.positions };
    Some(ElementMeaning::Filter { kind: filter.into(), alone: Alone::Query(what), into: element.set("into") })
}

/// Parses `(w)`, `(r:"role")`, `(bn:1)`, ...
fn read(parser: &mut QlParser<'_>, clause: &Clause<'_, '_>) -> Option<ElementTreeNode> {
    let (name, what) = (clause.name, clause.what);
    let values = clause.complete_values(parser)?;
    let (kind, produces) = match (name, what) {
        ("w", "node") => ("way-node", ""),
        ("w", _) => ("", "nodes"),
        ("r", "node") => ("relation-node", ""),
        ("r", "way") => ("relation-way", ""),
        ("r", "relation") => ("relation-relation", ""),
        ("r", "nwr") => ("relation-nwr", ""),
        ("r", "nw") => ("relation-nw", ""),
        ("r", "nr") => ("relation-nr", ""),
        ("r", "wr") => ("relation-wr", ""),
        ("r", _) => ("", "nodes, ways, or relations"),
        ("bn", "way") => ("node-way", ""),
        ("bn", "relation") => ("node-relation", ""),
        ("bn", "wr") => ("node-wr", ""),
        ("bn", _) => ("", "ways or relations"),
        ("bw", "relation") => ("way-relation", ""),
        (_, "relation") => ("relation-backwards", ""),
        _ => ("", "relations"),
    };
    if !produces.is_empty() {
        let message = format!("A recursion of type '{name}' produces {produces}.");
        clause.refuse(parser, OverpassCode::WrongType, message);
    }
    // The query's type decides first whether the values are roles or positions.
    let attribute = match (what, name) {
        ("relation", _) | (_, "r") => Some("role"),
        ("way", _) | (_, "w") => Some("pos"),
        _ => None,
    };
    let mut element = clause.element("recurse").with_some("from", clause.set.clone()).with("type", kind);
    match attribute {
        _ if values.is_empty() => {}
        Some("pos") => element = element.with("pos", values.join(",")),
        Some(role) => element = element.with(role, values[0].as_str()).with("role-restricted", "yes"),
        None => {
            let message = format!("A recursion of type '{name}' cannot have restrictions.");
            clause.refuse(parser, OverpassCode::WrongType, message);
        }
    }
    let node = parser.builder.open(element);
    // A rejected filter leaves only its errors.
    (parser.builder.converting || produces.is_empty()).then_some(node)
}

fn values(element: &SyntaxElement) -> Values {
    let mut list = AttributeList::default();
    list.some("from", element.get("from"));
    list.always(
        "type",
        match element.get("type") {
            "" => "void",
            kind => kind,
        },
    );
    list.some("role", element.get("role"));
    list.some("role-restricted", element.get("role-restricted"));
    let mut positions: Vec<i64> = element.get("pos").split(',').filter(|p| !p.trim().is_empty()).map(integer).collect();
    positions.sort_unstable();
    list.some("pos", positions.iter().map(ToString::to_string).collect::<Vec<_>>().join(","));
    for name in ["lower", "upper"] {
        let value = element.get(name);
        if !value.is_empty() {
            list.always(name, integer(value).to_string());
        }
    }
    list.0
}

/// Returns the filter in QL.
fn text(node: &ElementTreeNode) -> String {
    let list = AttributeList(node.element.values());
    let get = |name: &str| list.get(name);
    let from = dotted(&node.element, "from");
    let word = match get("type") {
        "way-node" => "w",
        "node-way" | "node-relation" | "node-wr" => "bn",
        "way-relation" => "bw",
        "relation-backwards" => "br",
        "way-count" => "way_cnt",
        "way-link" => "way_link",
        _ => "r",
    };
    let (lower, upper) = (get("lower"), get("upper"));
    let argument = if !lower.is_empty() {
        match upper {
            "" | "4294967295" => format!(":{lower}-"),
            upper if upper == lower => format!(":{lower}"),
            upper => format!(":{lower}-{upper}"),
        }
    } else if !get("pos").is_empty() {
        format!(":{}", get("pos"))
    } else if !get("role").is_empty() || get("role-restricted") == "yes" {
        format!(":{}", quoted(get("role")))
    } else {
        String::new()
    };
    format!("({word}{from}{argument})")
}
