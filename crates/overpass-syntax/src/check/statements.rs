//! The elements that are statements.

use super::super::diagnostics::Diagnostics;
use super::super::element::{Block, Element, Node, Part};
use super::super::tree::*;
use super::Context;
use super::filters::{point, sides};
use super::numbers::integer;
use crate::code::Code;

/// The statement that the element is.
pub(super) fn part(context: &mut Context<'_>) -> Option<Part> {
    let element = context.element;
    let (from, into) = (element.set("from"), element.set("into"));
    Some(match element.name.as_ref() {
        "query" => Part::Query { what: query_type(context)?, into },
        "union" => Part::Block(Block::Union { into }),
        "difference" => Part::Block(Block::Difference { into }),
        "foreach" => Part::Block(Block::Foreach { from, into }),
        "for" => Part::Block(Block::For { from, into }),
        "if" => Part::Block(Block::If),
        "else" => Part::Else,
        "complete" => Part::Block(Block::Complete { from, into, limit: iterations(context) }),
        "retro" => Part::Block(Block::Retro),
        "compare" => Part::Block(Block::Compare { from, into }),
        "recurse" => Part::Statement(recurse(element)?),
        "coord-query" => Part::Statement(is_in(context)),
        "map-to-area" => Part::Statement(StatementKind::MapToArea { from, into }),
        "timeline" => Part::Statement(timeline(context)?),
        "make" | "convert" => {
            let type_name = element.get("type").to_owned();
            if type_name.is_empty() {
                context.refuse(Code::BadValue, "The attribute type must be set to a nonempty string.");
            }
            Part::Produce { convert: element.name == "convert", from, into, type_name }
        }
        "set-prop" => Part::Property(property(context)),
        "localize" => Part::Statement(localize(context)),
        "print" => Part::Statement(StatementKind::Out(print(context))),
        _ => return None,
    })
}

fn query_type(context: &mut Context<'_>) -> Option<QueryType> {
    Some(match context.element.get("type") {
        "node" => QueryType::Node,
        "way" => QueryType::Way,
        "relation" => QueryType::Relation,
        "nwr" => QueryType::Nwr,
        "nw" => QueryType::Nw,
        "nr" => QueryType::Nr,
        "wr" => QueryType::Wr,
        "area" => QueryType::Area,
        "derived" => QueryType::Derived,
        _ => {
            let allowed = "\"node\", \"way\", \"relation\", \"nwr\", \"nw\", \"wr\", \"nr\", or \"area\"";
            context.refuse_value("type", allowed);
            return None;
        }
    })
}

fn iterations(context: &mut Context<'_>) -> u64 {
    match context.element.get("maxnum") {
        "" => 4096,
        text => match integer(text) {
            n @ 1..=1_048_576 => n as u64,
            _ => {
                let message = "Maximum loop number for complete must be an integer between \"1\" and \"1048576\".";
                context.refuse(Code::BadValue, message);
                0
            }
        },
    }
}

/// The recursions that are statements; the others are filters.
fn recurse(element: &Element) -> Option<StatementKind> {
    let kind = match element.get("type") {
        "down" => Recurse::Down,
        "down-rel" => Recurse::DownRel,
        "up" => Recurse::Up,
        "up-rel" => Recurse::UpRel,
        _ => return None,
    };
    Some(StatementKind::Recurse { kind, from: element.set("from"), into: element.set("into") })
}

fn is_in(context: &mut Context<'_>) -> StatementKind {
    let element = context.element;
    let place = if element.get("lat").is_empty() && element.get("lon").is_empty() {
        IsInPlace::Set(element.set("from"))
    } else {
        IsInPlace::Point(point(context))
    };
    StatementKind::IsIn { place, into: element.set("into") }
}

fn timeline(context: &mut Context<'_>) -> Option<StatementKind> {
    let element = context.element;
    let kind = match element.get("type") {
        "node" => Some(ElementType::Node),
        "way" => Some(ElementType::Way),
        "relation" => Some(ElementType::Relation),
        _ => {
            context.refuse_value("type", "\"node\", \"way\", or \"relation\"");
            None
        }
    };
    let id = integer(element.get("ref"));
    if id <= 0 {
        context.refuse_value("ref", "positive integers");
    }
    let version = element.find("version").filter(|text| !text.is_empty()).map(integer);
    if version.is_some_and(|version| version <= 0) {
        context.refuse_value("version", "positive integers");
    }
    Some(StatementKind::Timeline { kind: kind?, id, version, into: element.set("into") })
}

fn property(context: &mut Context<'_>) -> PropertyTarget {
    let key = context.element.get("k").to_owned();
    match context.element.get("keytype") {
        "id" => PropertyTarget::Id,
        "geometry" => PropertyTarget::Geometry,
        "generic" => PropertyTarget::Generic,
        "" | "tag" => {
            if key.is_empty() {
                let message =
                    "For the statement \"set-prop\" in mode \"keytype\"=\"tag\", the attribute \"k\" must be nonempty.";
                context.refuse(Code::BadValue, message);
            }
            PropertyTarget::Tag(key)
        }
        _ => {
            context.refuse_value("keytype", "\"tag\", \"id\", \"geometry\", or \"generic\"");
            PropertyTarget::Tag(key)
        }
    }
}

/// The box of `print` and `localize`, if one of its sides is given.
fn optional_box(context: &mut Context<'_>, name: &str, missing: f64) -> Option<BoundingBox> {
    let given = ["s", "w", "n", "e"].iter().any(|side| !context.element.get(side).is_empty());
    if given { sides(context, name, missing) } else { None }
}

fn localize(context: &mut Context<'_>) -> StatementKind {
    let element = context.element;
    let detail = match element.get("type") {
        "" | "l" => LocalDetail::Full,
        "ll" => LocalDetail::Ll,
        "llb" => LocalDetail::Llb,
        _ => {
            let message = "Localize must have one of the values \"l\", \"ll\", or \"llb\". \"l\" is the default value.";
            context.refuse(Code::BadValue, message);
            LocalDetail::Full
        }
    };
    let bbox = optional_box(context, "bbox-query", 200.0);
    StatementKind::Local { from: element.set("from"), into: element.set("into"), detail, bbox }
}

fn print(context: &mut Context<'_>) -> Out {
    let element = context.element;
    let detail = match element.get("mode") {
        "ids_only" => Detail::Ids,
        "skeleton" => Detail::Skel,
        "" | "body" => Detail::Body,
        "tags" => Detail::Tags,
        "meta" => Detail::Meta,
        "count" => Detail::Count,
        _ => {
            let allowed = "\"ids_only\", \"skeleton\", \"body\", \"tags\",  \"count\", or \"meta\"";
            context.refuse_value("mode", allowed);
            Detail::Body
        }
    };
    let order = match element.get("order") {
        "" | "id" => Order::Asc,
        "quadtile" => Order::Quadtile,
        _ => {
            context.refuse_value("order", "\"id\" or \"quadtile\"");
            Order::Asc
        }
    };
    let mut geometry = OutGeometry::default();
    match element.get("geometry") {
        "" | "skeleton" => {}
        "full" => geometry.full = true,
        "bounds" => geometry.bounds = true,
        "center" => geometry.center = true,
        _ => context.refuse_value("geometry", "\"skeleton\", \"full\", \"bounds\", or \"center\""),
    }
    let noids = match element.get("ids") {
        "" | "yes" => false,
        "no" => true,
        _ => {
            context.refuse_value("ids", "\"yes\" or \"no\"");
            false
        }
    };
    let limit = element.find("limit").filter(|text| !text.is_empty()).map(integer);
    let bbox = optional_box(context, "print", 0.0);
    let limit = limit.and_then(|limit| u64::try_from(limit).ok());
    Out { from: element.set("from"), detail, noids, geometry, bbox, order, limit }
}

/// Checks an element with what is in it.
pub(super) fn complete(node: &Node, diagnostics: &mut Diagnostics) {
    let children = &node.children;
    let first = children.first().is_some_and(Node::is_evaluator);
    let problem = match &node.part {
        Part::Block(Block::For { .. } | Block::If | Block::Retro) if children.is_empty() => "needs an evaluator",
        Part::Block(Block::Difference { .. }) if children.len() > 2 => {
            let message = "A set difference always requires exactly two substatements: the set of elements to copy to the result minus the set of elements to leave out in the result.";
            diagnostics.fixed(Code::IncompleteStatement, node.element.line, node.element.span, message);
            return;
        }
        Part::Block(Block::Difference { .. }) if children.len() < 2 => "needs two statements",
        Part::If if children.len() > 1 => {
            let message = "A filter statement can have at most one evaluator statement.";
            diagnostics.fixed(Code::WrongEvaluator, node.element.line, node.element.span, message);
            return;
        }
        Part::If if !first => "needs an evaluator",
        Part::Evaluator(kind) => match super::evaluators::operands(kind) {
            (least, _) if children.len() < least => "needs more evaluators in it",
            (_, most) if children.len() > most => "has too many evaluators in it",
            _ => return,
        },
        _ => return,
    };
    let message = format!("Element \"{}\" {problem}.", node.element.name);
    diagnostics.fixed(Code::IncompleteStatement, node.element.line, node.element.span, message);
}

/// What is wrong with a statement in a block that needs an evaluator first and has none.
pub(super) fn before_evaluator(parent: &Node, child: &Node) -> Option<String> {
    let (article, name) = match &parent.part {
        Part::Block(Block::For { .. }) => ("A", "For"),
        Part::Block(Block::If) => ("An", "If"),
        Part::Block(Block::Retro) => ("A", "Retro"),
        _ => return None,
    };
    let first = parent.children.first().is_some_and(Node::is_evaluator);
    (!first && !child.is_evaluator() && !matches!(child.part, Part::Broken | Part::Else))
        .then(|| format!("{article} {name} statement must have an Evaluator as first sub-statement."))
}

/// What is wrong with a property that is set again, and how often it was set before; `parent` takes notice of it.
pub(super) fn set_before(parent: &mut Node, child: &Node) -> Option<(String, usize)> {
    let statement = parent.element.name.as_ref();
    let (Part::Property(target), "make" | "convert") = (&child.part, statement) else { return None };
    let times = parent.properties.entry(target.clone()).or_default();
    *times += 1;
    if *times == 1 {
        return None;
    }
    let message = match target {
        PropertyTarget::Tag(key) => format!("A key cannot be added twice to an element: \"{key}\""),
        PropertyTarget::Id => {
            format!("A {statement} statement can have at most one set-prop statement of subtype setting the id.")
        }
        // The reference says "make" of both.
        PropertyTarget::Geometry => {
            "A make statement can have at most one set-prop statement of subtype setting the geometry.".to_owned()
        }
        PropertyTarget::Generic => {
            format!("A {statement} statement can have at most one any-key set-prop statement.")
        }
    };
    Some((message, *times - 1))
}
