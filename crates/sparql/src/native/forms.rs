//! Lexical forms in expressions, for snapshots that keep them. The evaluator computes with values, and returns a number
//! or a date in its canonical form. Where an expression returns an operand unchanged, reads its text or compares terms,
//! the operand is therefore passed as a literal of a datatype that the evaluator does not know.

use oxrdf::{Literal, NamedNode, Term, Variable};

use crate::order::is_text;
use terrapin_sparql_syntax::algebra::{Binary, Expression, Function, Helper};
use terrapin_sparql_syntax::walk::NodeMut;

/// The beginning of the datatypes of marked literals.
const MARK: &str = "urn:terrapin:as-written:";

/// Marks the operands of an expression with a term as its result.
pub(super) fn mark_term(expression: &mut Expression) {
    match expression {
        Expression::Variable(variable) => *variable = Helper::Written(variable.as_str()).into(),
        Expression::Literal(literal) => *literal = marked(literal.clone()),
        Expression::If(condition, a, b) => {
            mark_value(condition);
            mark_term(a);
            mark_term(b);
        }
        Expression::Coalesce(ways) => ways.iter_mut().for_each(mark_term),
        // The literal in a triple term is the operand or the result.
        Expression::Call(Function::Triple | Function::Object, arguments) => arguments.iter_mut().for_each(mark_term),
        _ => mark_value(expression),
    }
}

/// Marks the operands of an expression with a value as its result.
pub(super) fn mark_value(expression: &mut Expression) {
    match expression {
        Expression::Call(Function::Str, arguments) => arguments.iter_mut().for_each(mark_term),
        Expression::Binary(Binary::SameTerm, a, b) => {
            mark_term(a);
            mark_term(b);
        }
        _ => NodeMut::Expression(expression).children(&mut |child| {
            if let NodeMut::Expression(child) = child {
                mark_value(child);
            }
        }),
    }
}

/// Returns the variable that a marked variable stands for; `None` for any other.
pub(super) fn original(variable: &Variable) -> Option<Variable> {
    variable.as_str().strip_prefix(Variable::from(Helper::Written("")).as_str()).map(Variable::new_unchecked)
}

/// Marks a term that is a literal with a value, and the literal in a triple term.
pub(super) fn marked_term(term: Term) -> Term {
    match term {
        Term::Literal(literal) => marked(literal).into(),
        Term::Triple(mut triple) => {
            triple.object = marked_term(triple.object);
            triple.into()
        }
        term => term,
    }
}

fn marked(literal: Literal) -> Literal {
    if is_text(&literal) {
        return literal;
    }
    let datatype = NamedNode::new_unchecked(format!("{MARK}{}", literal.datatype().as_str()));
    Literal::new_typed_literal(literal.value(), datatype)
}

/// Returns the term that a marked one stands for.
pub(super) fn unmarked(term: Term) -> Term {
    match term {
        Term::Literal(literal) => match literal.datatype().as_str().strip_prefix(MARK) {
            Some(datatype) => Literal::new_typed_literal(literal.value(), NamedNode::new_unchecked(datatype)).into(),
            None => literal.into(),
        },
        Term::Triple(mut triple) => {
            triple.object = unmarked(triple.object);
            triple.into()
        }
        term => term,
    }
}
