//! Filters and the values of expressions. Term identifiers, numbers and texts are compared here; the evaluator
//! evaluates all other expressions one by one.

use std::fmt;

use oxrdf::{Term, Variable};
use spareval::QueryEvaluator;
use spargebra::algebra::GraphPattern;
use sparopt::algebra::Expression as Prepared;

use super::calculation::{CalculatedComparison, Calculation};
use super::comparison::QuantityComparison;
use super::constants::Constants;
use super::forms::{marked_term, unmarked};
use super::operand::{ProgramOperand, Slot};
use super::text::TextTest;
use crate::functions::exact::{exactly, prepared, truth};
use terrapin_budget as budget;
use terrapin_sparql_syntax::algebra::{Expression, Helper, QueryPattern};
use terrapin_sparql_syntax::{convert, walk};
use terrapin_triples::{ReadError, TermId, TermKind, TripleView};

/// A condition. Its value may be an error.
#[derive(Debug)]
pub enum ProgramCondition {
    /// All conditions hold.
    And(Vec<ProgramCondition>),
    /// At least one condition holds.
    Or(Vec<ProgramCondition>),
    /// The condition does not hold.
    Not(Box<ProgramCondition>),
    /// The steps from this index have a solution.
    Exists(usize),
    /// The variable is bound.
    Bound(Slot),
    /// Both are the same term.
    Same(ProgramOperand, ProgramOperand),
    /// Equal values: if one is not a literal, they must be the same term; otherwise the expression decides.
    Equal(ProgramOperand, ProgramOperand, Leaf),
    /// A comparison of numbers or of parts of dates; if it is undecided, the evaluator decides.
    Compared(QuantityComparison, Leaf),
    /// A comparison of numeric expressions; if it is undecided, the evaluator decides.
    Calculated(CalculatedComparison, Leaf),
    /// A test of a text; if it is undecided, the evaluator decides.
    Text(TextTest, Leaf),
    /// A value is one of many constants.
    Among(AmongValue, Constants),
    /// The evaluator decides.
    Leaf(Leaf),
}

/// A value to look up among constants.
#[derive(Debug)]
pub enum AmongValue {
    /// The value of a variable.
    Slot(Slot),
    /// The value of an expression.
    Leaf(Leaf),
}

/// Budget steps for evaluating one expression.
const LEAF_STEPS: usize = 4;

/// An expression that the evaluator evaluates.
#[derive(Debug)]
pub struct Leaf {
    expression: Prepared,
    /// The expression in its original form, for EXPLAIN.
    text: String,
    variables: Vec<LeafVariable>,
    /// The number of subexpressions, at least 1.
    size: usize,
}

/// A variable of an expression.
#[derive(Debug)]
pub struct LeafVariable {
    /// Its name in the evaluator's form.
    pub variable: Variable,
    /// The slot of its value.
    pub slot: Slot,
    /// Whether its lexical form counts (forms.rs).
    pub is_marked: bool,
}

/// A value that is assigned to a variable.
#[derive(Debug)]
pub enum BindValue {
    /// A term or another variable's value.
    Operand(ProgramOperand),
    /// A numeric expression; if it is undecided, the evaluator decides.
    Calculated(Calculation, Leaf),
    /// The value of an expression.
    Leaf(Leaf),
    /// Any term if the steps from this index have a solution, otherwise none.
    Exists(usize),
}

impl ProgramCondition {
    /// Returns whether `all` holds for every operand in the condition.
    pub fn places(&self, all: &mut dyn FnMut(ProgramOperand) -> bool) -> bool {
        match self {
            ProgramCondition::And(conditions) | ProgramCondition::Or(conditions) => {
                conditions.iter().all(|c| c.places(all))
            }
            ProgramCondition::Not(condition) => condition.places(all),
            ProgramCondition::Same(a, b) | ProgramCondition::Equal(a, b, _) => all(*a) && all(*b),
            ProgramCondition::Exists(_)
            | ProgramCondition::Bound(_)
            | ProgramCondition::Compared(..)
            | ProgramCondition::Calculated(..)
            | ProgramCondition::Text(..)
            | ProgramCondition::Among(..)
            | ProgramCondition::Leaf(_) => true,
        }
    }
}

impl Leaf {
    /// Prepares an expression without EXISTS, or its effective boolean value, for the evaluator. `exact` is the
    /// expression with marked operands (forms.rs).
    pub fn new(
        expression: &Expression,
        mut exact: Expression,
        variables: Vec<LeafVariable>,
        is_condition: bool,
    ) -> Leaf {
        let size = walk::size(expression);
        exactly(&mut exact);
        if is_condition {
            truth(&mut exact);
        }
        let text =
            convert::pattern(QueryPattern::extend(QueryPattern::default(), Helper::Value.into(), expression.clone()));
        let text = match text {
            GraphPattern::Extend { expression, .. } => expression.to_string(),
            _ => String::new(),
        };
        Leaf { expression: prepared(exact), text, variables, size }
    }

    fn terms<'a>(
        &'a self,
        view: &TripleView,
        value: impl Fn(Slot) -> Option<TermId>,
    ) -> Result<Vec<(&'a Variable, Term)>, ReadError> {
        // The evaluator checks the budget only in calls of the crate's own functions.
        budget::checkpoints(LEAF_STEPS * self.size);
        let bound = self.variables.iter().filter_map(|variable| Some((variable, value(variable.slot)?)));
        bound
            .map(|(LeafVariable { variable, is_marked, .. }, id)| {
                let term = view.term(id)?;
                Ok((variable, if *is_marked { marked_term(term) } else { term }))
            })
            .collect()
    }

    /// Returns the effective boolean value of the expression.
    pub fn holds(
        &self,
        view: &TripleView,
        evaluator: &QueryEvaluator,
        value: impl Fn(Slot) -> Option<TermId>,
    ) -> Result<Option<bool>, ReadError> {
        let terms = self.terms(view, value)?;
        Ok(evaluator.evaluate_effective_boolean_value_expression(&self.expression, terms))
    }

    /// Returns the expression's value as a term.
    pub fn term(
        &self,
        view: &TripleView,
        evaluator: &QueryEvaluator,
        value: impl Fn(Slot) -> Option<TermId>,
    ) -> Result<Option<Term>, ReadError> {
        let terms = self.terms(view, value)?;
        Ok(evaluator.evaluate_expression(&self.expression, terms).map(unmarked))
    }

    /// Returns the expression's value as a term identifier.
    pub fn value(
        &self,
        view: &TripleView,
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

/// Returns whether two terms are equal, if their identifiers decide it; `None` if both are literals or triple terms.
pub fn equal(view: &TripleView, a: TermId, b: TermId) -> Result<Option<bool>, ReadError> {
    let (a_kind, b_kind) = (view.kind(a)?, view.kind(b)?);
    let has_value = matches!(a_kind, TermKind::Literal | TermKind::Triple);
    Ok((a_kind != b_kind || !has_value).then_some(a == b))
}
