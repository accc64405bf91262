//! Writes evaluators in QL, with only the necessary brackets.

use crate::ElementTreeNode;
use crate::check::evaluators::{function_name, operator_sign};
use crate::element::SyntaxElement;
pub(crate) use crate::token::quoted;

/// The precedence of an expression that never needs brackets.
const CLOSED: u8 = 20;

/// Splits the leading evaluators of a statement from its nested statements.
pub(crate) fn split(children: &[ElementTreeNode]) -> (&[ElementTreeNode], &[ElementTreeNode]) {
    let evaluators = children.iter().take_while(|node| node.element.name.starts_with("eval-")).count();
    children.split_at(evaluators)
}

/// Returns an evaluator in QL.
pub(crate) fn write(node: &ElementTreeNode) -> String {
    write_bound(node).0
}

/// Returns an evaluator in QL, with the precedence of its outermost operator.
fn write_bound(node: &ElementTreeNode) -> (String, u8) {
    let element = &node.element;
    let operand = |i: usize| node.children.get(i).map_or((String::new(), CLOSED), write_bound);
    let name = element.name.as_ref();
    if let Some(sign) = operator_sign(name) {
        let binding = binding(sign);
        // Operators of the same precedence are left-associative.
        let (left, right) = (inside(operand(0), binding), inside(operand(1), binding + 1));
        return (format!("{left}{sign}{right}"), binding);
    }
    match name {
        "eval-fixed" => (fixed(element.get("v")), CLOSED),
        "eval-generic" => ("::".to_owned(), CLOSED),
        "eval-value" => (format!("t[{}]", operand(0).0), CLOSED),
        // The point of a set has a lower precedence than a unary operator before it.
        "eval-set-key" => (format!("{}.{}", set(element), word(element.get("key"))), 11),
        "eval-not" => (format!("!{}", inside(operand(0), CLOSED)), 12),
        // A minus before an operand is parsed like a binary operator, and one before a number as part of the number.
        "eval-negate" => {
            let (text, binding) = operand(0);
            let number = text.starts_with(|c: char| c.is_ascii_digit());
            (format!("-{}", inside((text, if number { 0 } else { binding }), CLOSED)), 0)
        }
        "eval-ternary" => {
            let [condition, then, otherwise] = [0, 1, 2].map(|i| inside(operand(i), 5));
            (format!("{condition}?{then}:{otherwise}"), 3)
        }
        _ => call(node),
    }
}

fn call(node: &ElementTreeNode) -> (String, u8) {
    let element = &node.element;
    let mut arguments: Vec<String> = node.children.iter().map(write).collect();
    match element.name.as_ref() {
        "eval-is-tag" => arguments.push(quoted(element.get("k"))),
        "eval-set-count" => arguments.push(match element.get("type") {
            "node" => "nodes".to_owned(),
            kind => kind.to_owned(),
        }),
        "eval-prop-count" => {
            if element.find("role").is_some() || element.get("type").ends_with("by_role") {
                arguments.push(quoted(element.get("role")));
            }
            let members = element.get("members_type");
            if !matches!(members, "" | "all") {
                arguments.push(members.to_owned());
            }
        }
        _ => {}
    }
    let name = function_name(element).unwrap_or_default();
    let from = match element.get("from") {
        "" | "_" => String::new(),
        set => format!("{set}."),
    };
    let binding = if from.is_empty() { CLOSED } else { 11 };
    (format!("{from}{name}({})", arguments.join(",")), binding)
}

/// Adds brackets around an expression if its precedence is too low.
fn inside((text, binding): (String, u8), least: u8) -> String {
    if binding < least { format!("({text})") } else { text }
}

fn binding(sign: &str) -> u8 {
    match sign {
        "||" => 5,
        "&&" => 6,
        "==" | "!=" => 7,
        "<" | "<=" | ">" | ">=" => 8,
        "+" | "-" => 9,
        _ => 10,
    }
}

fn set(element: &SyntaxElement) -> &str {
    match element.get("from") {
        "" => "_",
        set => set,
    }
}

/// Returns a constant: a number unchanged, anything else in quotation marks.
fn fixed(text: &str) -> String {
    let digits = |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit());
    let number = match text.split_once('.') {
        Some((whole, rest)) => digits(whole) && digits(rest),
        None => digits(text),
    };
    if number { text.to_owned() } else { quoted(text) }
}

/// Returns a key: a plain word unchanged, anything else in quotation marks.
pub(crate) fn word(text: &str) -> String {
    let plain = text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && text.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
    if plain { text.to_owned() } else { quoted(text) }
}
