//! Converts checked elements to blocks of statements.

use super::{Block, Query, Script, Statement};
use crate::filter::Filter;
use crate::tree::EvaluatorExpression;
use crate::{Alone, ElementMeaning, ElementTreeNode, budget};

/// Converts the checked elements of a query to the tree. Missing parts were already reported. If the checks overlooked
/// one, the result is an error, never a panic.
pub fn script(root: ElementTreeNode) -> Option<Script> {
    let ElementMeaning::Script(settings) = root.part else { return None };
    Some(Script { settings: *settings, statements: block(root.children)? })
}

/// Converts nodes to statements.
pub fn block(nodes: Vec<ElementTreeNode>) -> Option<Block> {
    nodes.into_iter().filter(|node| !node.part.is_ignored()).map(statement).collect()
}

fn statement(node: ElementTreeNode) -> Option<Statement> {
    budget::checkpoint();
    let (span, line) = (node.element.span, node.element.line);
    let kind = match node.part {
        ElementMeaning::Statement(mut kind) => {
            kind.facts_mut().fill(node.children)?;
            kind
        }
        ElementMeaning::Filter { kind, alone: Alone::Query(what), into } => {
            Query { what, filters: vec![Filter { span, kind }], into }.into()
        }
        _ => return None,
    };
    Some(Statement { span, line, kind })
}

/// Takes the leading evaluator of a block.
pub fn take_evaluator(children: &mut Vec<ElementTreeNode>) -> Option<EvaluatorExpression> {
    if children.is_empty() {
        return None;
    }
    children.remove(0).expression()
}
