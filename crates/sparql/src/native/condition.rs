//! Filters and the values of expressions. What is a matter of numbers alone is decided here, the rest by the evaluator,
//! an expression at a time.

use std::fmt;

use oxrdf::{Term, Variable};
use spareval::QueryEvaluator;
use spargebra::algebra::GraphPattern;
use sparopt::algebra::Expression as Prepared;

use super::calculation::{CalculatedComparison, Calculation};
use super::comparison::Comparison;
use super::constants::Constants;
use super::fallback::Fallback;
use super::operand::{Operand, Slot};
use super::text::TextTest;
use crate::functions::exact::{exactly, prepared, truth};
use terrapin_budget as budget;
use terrapin_sparql_syntax::algebra::{Expression, Function, Helper, Pattern};
use terrapin_sparql_syntax::{convert, walk};
use terrapin_triples::{ReadError, TermId, TermKind, View};

/// A condition. Its value may be an error, as if it were not there.
#[derive(Debug)]
pub enum Condition {
    /// Every one holds.
    And(Vec<Condition>),
    /// One holds.
    Or(Vec<Condition>),
    /// It does not hold.
    Not(Box<Condition>),
    /// The steps from here come to an end.
    Exists(usize),
    /// The variable has a value.
    Bound(Slot),
    /// The same term.
    Same(Operand, Operand),
    /// Equal values: the same term, where one of them is no literal; else what the expression says.
    Equal(Operand, Operand, Leaf),
    /// A comparison of numbers or of parts of dates; where it says nothing, what the evaluator says.
    Compared(Comparison, Leaf),
    /// A comparison of numbers that are calculated; where it says nothing, what the evaluator says.
    Calculated(CalculatedComparison, Leaf),
    /// A test of a text; where it says nothing, what the evaluator says.
    Text(TextTest, Leaf),
    /// Whether a value is one of many.
    Among(AmongValue, Constants),
    /// What the evaluator says.
    Leaf(Leaf),
}

/// A value that is looked for among constants.
#[derive(Debug)]
pub enum AmongValue {
    /// A variable's.
    Slot(Slot),
    /// An expression's.
    Leaf(Leaf),
}

/// What evaluating one expression counts for in the query's budget.
const LEAF_STEPS: usize = 4;

/// An expression for the evaluator.
#[derive(Debug)]
pub struct Leaf {
    expression: Prepared,
    /// What the query has.
    text: String,
    variables: Vec<(Variable, Slot)>,
    /// How many expressions it is made of, at least 1.
    size: usize,
}

/// A value for a variable.
#[derive(Debug)]
pub enum BindValue {
    /// A term or another variable's value.
    Operand(Operand),
    /// A number that is calculated; where it is none, what the evaluator makes of it.
    Calculated(Calculation, Leaf),
    /// An expression's.
    Leaf(Leaf),
}

impl Condition {
    /// Whether `all` holds for every place in it.
    pub fn places(&self, all: &mut dyn FnMut(Operand) -> bool) -> bool {
        match self {
            Condition::And(conditions) | Condition::Or(conditions) => conditions.iter().all(|c| c.places(all)),
            Condition::Not(condition) => condition.places(all),
            Condition::Same(a, b) | Condition::Equal(a, b, _) => all(*a) && all(*b),
            Condition::Exists(_)
            | Condition::Bound(_)
            | Condition::Compared(..)
            | Condition::Calculated(..)
            | Condition::Text(..)
            | Condition::Among(..)
            | Condition::Leaf(_) => true,
        }
    }
}

impl Leaf {
    /// The expression for the evaluator, or its truth; an error where it needs what only a whole query has.
    pub fn new(
        expression: &Expression,
        variables: Vec<(Variable, Slot)>,
        is_condition: bool,
    ) -> Result<Leaf, Fallback> {
        if let Some(why) = needs_query(expression) {
            return Err(why);
        }
        let size = walk::size(expression);
        let mut exact = expression.clone();
        exactly(&mut exact);
        if is_condition {
            truth(&mut exact);
        }
        let text = convert::pattern(Pattern::extend(Pattern::default(), Helper::Value.into(), expression.clone()));
        match (text, prepared(exact)) {
            (GraphPattern::Extend { expression: text, .. }, Some(expression)) => {
                Ok(Leaf { expression, text: text.to_string(), variables, size })
            }
            _ => Err(Fallback::Function),
        }
    }

    fn terms<'a>(
        &'a self,
        view: &View,
        value: impl Fn(Slot) -> Option<TermId>,
    ) -> Result<Vec<(&'a Variable, Term)>, ReadError> {
        // What follows looks at the budget only where it calls functions of ours.
        budget::checkpoints(LEAF_STEPS * self.size);
        let bound = self.variables.iter().filter_map(|(variable, slot)| Some((variable, value(*slot)?)));
        bound.map(|(variable, id)| Ok((variable, view.term(id)?))).collect()
    }

    /// Whether the expression holds.
    pub fn holds(
        &self,
        view: &View,
        evaluator: &QueryEvaluator,
        value: impl Fn(Slot) -> Option<TermId>,
    ) -> Result<Option<bool>, ReadError> {
        let terms = self.terms(view, value)?;
        Ok(evaluator.evaluate_effective_boolean_value_expression(&self.expression, terms))
    }

    /// The expression's value as a term.
    pub fn term(
        &self,
        view: &View,
        evaluator: &QueryEvaluator,
        value: impl Fn(Slot) -> Option<TermId>,
    ) -> Result<Option<Term>, ReadError> {
        let terms = self.terms(view, value)?;
        Ok(evaluator.evaluate_expression(&self.expression, terms))
    }

    /// The expression's value.
    pub fn value(
        &self,
        view: &View,
        evaluator: &QueryEvaluator,
        value: impl Fn(Slot) -> Option<TermId>,
    ) -> Result<Option<TermId>, ReadError> {
        Ok(self.term(view, evaluator, value)?.map(|term| view.id(&term)))
    }
}

impl fmt::Display for Leaf {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// Why an expression cannot be evaluated on its own, if it cannot.
fn needs_query(expression: &Expression) -> Option<Fallback> {
    let mut why = None;
    walk::on_expressions(expression, &mut |expression| match expression {
        Expression::Exists(_) => why = Some(Fallback::NestedExists),
        Expression::Call(Function::Iri | Function::BNode | Function::Now, _) => why = Some(Fallback::Function),
        _ => {}
    });
    why
}

/// Whether two terms are equal, as far as this is a matter of numbers.
pub fn equal(view: &View, a: TermId, b: TermId) -> Result<Option<bool>, ReadError> {
    let plain = view.kind(a)? != TermKind::Literal || view.kind(b)? != TermKind::Literal;
    Ok(plain.then_some(a == b))
}
