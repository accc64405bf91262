//! From checked elements to the tree. What is missing here was already reported; a hole that slipped through becomes
//! an error, never a panic.

use super::element::{Block, Evaluator, Node, Part};
use super::tree::*;
use terrapin_budget as budget;

/// The whole query.
pub(super) fn script(root: Node) -> Option<Script> {
    let Part::Script(settings) = root.part else { return None };
    Some(Script { settings: *settings, statements: statements(root.children)? })
}

fn statements(nodes: Vec<Node>) -> Option<Vec<Statement>> {
    nodes.into_iter().filter(|node| !super::check::does_nothing(&node.part)).map(statement).collect()
}

fn statement(node: Node) -> Option<Statement> {
    budget::checkpoint();
    let (span, line) = (node.element.span, node.element.line);
    let children = node.children;
    let kind = match node.part {
        Part::Statement(kind) => kind,
        Part::Query { what, into } => {
            let filters = children.into_iter().map(filter).collect::<Option<_>>()?;
            StatementKind::Query(Query { what, filters, into })
        }
        // The same as an item in a query, but it can be alone.
        Part::Filter { kind: FilterKind::Set(from), into, .. } => StatementKind::Item { from, into },
        Part::Filter { kind, alone, into } => {
            StatementKind::Query(Query { what: alone?, filters: vec![Filter { span, kind }], into })
        }
        Part::Produce { convert, from, into, type_name } => {
            let properties = children.into_iter().map(property).collect::<Option<_>>()?;
            if convert {
                StatementKind::Convert { from, into, type_name, properties }
            } else {
                StatementKind::Make { from, into, type_name, properties }
            }
        }
        Part::Block(kind) => block(kind, children)?,
        _ => return None,
    };
    Some(Statement { span, line, kind })
}

fn block(kind: Block, mut children: Vec<Node>) -> Option<StatementKind> {
    Some(match kind {
        Block::Union { into } => StatementKind::Union { members: statements(children)?, into },
        Block::Difference { into } => {
            let minus = Box::new(statement(children.pop()?)?);
            let base = Box::new(statement(children.pop()?)?);
            StatementKind::Difference { base, minus, into }
        }
        Block::Foreach { from, into } => StatementKind::Foreach { from, into, body: statements(children)? },
        Block::Complete { from, into, limit } => {
            StatementKind::Complete { from, into, limit, body: statements(children)? }
        }
        Block::For { from, into } => {
            let key = first(&mut children)?;
            StatementKind::For { from, into, key, body: statements(children)? }
        }
        Block::Retro => {
            let at = first(&mut children)?;
            StatementKind::Retro { at, body: statements(children)? }
        }
        Block::Compare { from, into } => {
            let delta =
                if children.first().is_some_and(Node::is_evaluator) { Some(first(&mut children)?) } else { None };
            StatementKind::Compare { from, into, delta, body: statements(children)? }
        }
        Block::If => {
            let condition = first(&mut children)?;
            let at = children.iter().position(|child| matches!(child.part, Part::Else)).unwrap_or(children.len());
            let mut otherwise = children.split_off(at);
            if !otherwise.is_empty() {
                otherwise.remove(0);
            }
            StatementKind::If { condition, then: statements(children)?, otherwise: statements(otherwise)? }
        }
    })
}

/// Takes the evaluator that a block starts with.
fn first(children: &mut Vec<Node>) -> Option<Expr> {
    if children.is_empty() {
        return None;
    }
    expr(children.remove(0))
}

fn filter(node: Node) -> Option<Filter> {
    let span = node.element.span;
    let kind = match node.part {
        Part::Filter { kind, .. } => kind,
        Part::Statement(StatementKind::Recurse { kind, from, .. }) => FilterKind::RecurseAll { kind, set: from },
        Part::If => FilterKind::If(expr(node.children.into_iter().next()?)?),
        _ => return None,
    };
    Some(Filter { span, kind })
}

fn property(node: Node) -> Option<Property> {
    let Part::Property(target) = node.part else { return None };
    let value = match node.children.into_iter().next() {
        Some(child) => Some(expr(child)?),
        None => None,
    };
    Some(Property { target, value })
}

fn expr(node: Node) -> Option<Expr> {
    let span = node.element.span;
    let Part::Evaluator(kind) = node.part else { return None };
    let mut operands = node.children.into_iter();
    let mut next = || operands.next().and_then(expr);
    let kind = match kind {
        Evaluator::Fixed(value) => ExprKind::Fixed(value),
        Evaluator::Generic => ExprKind::GenericTag,
        Evaluator::SetKey { set, key } => ExprKind::SetKey { set, key },
        Evaluator::Tag => ExprKind::Tag(Box::new(next()?)),
        Evaluator::Unary(operator) => ExprKind::Unary { operator, operand: Box::new(next()?) },
        Evaluator::Binary(operator) => ExprKind::Binary { operator, left: Box::new(next()?), right: Box::new(next()?) },
        Evaluator::Ternary => {
            ExprKind::Ternary { condition: Box::new(next()?), then: Box::new(next()?), otherwise: Box::new(next()?) }
        }
        Evaluator::Call { function, set, words } => {
            let mut args: Vec<Expr> =
                words.into_iter().map(|word| Expr { span, kind: ExprKind::Fixed(word) }).collect();
            for operand in operands {
                args.push(expr(operand)?);
            }
            ExprKind::Call { function, set, args }
        }
    };
    Some(Expr { span, kind })
}
