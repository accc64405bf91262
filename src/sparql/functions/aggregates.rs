//! SAMPLE and GROUP_CONCAT in canonical order: the same whatever order the plan finds the values in. Values that are
//! errors do not count, as in WDQS.

use oxrdf::vocab::xsd;
use oxrdf::{Literal, NamedNode, Term};
use spareval::{AggregateFunctionAccumulator, QueryEvaluator};
use spargebra::algebra::Expression;

use crate::sparql::guard::tick;
use crate::sparql::order::canonical;

/// The name of SAMPLE.
pub(crate) const SAMPLE: &str = "urn:terrapin:aggregate:sample";
/// The start of the names of GROUP_CONCATs; their number follows.
pub(crate) const CONCAT: &str = "urn:terrapin:aggregate:concat:";
/// The datatype of what stands for an error.
const NOTHING: &str = "urn:terrapin:nothing";

/// The expression, or a mark where it is an error.
pub(crate) fn or_nothing(expression: Expression) -> Expression {
    let mark = Literal::new_typed_literal("", NamedNode::new_unchecked(NOTHING));
    Expression::Coalesce(vec![expression, mark.into()])
}

fn is_nothing(term: &Term) -> bool {
    matches!(term, Term::Literal(literal) if literal.datatype().as_str() == NOTHING)
}

#[derive(Default)]
struct Sample(Option<Term>);

impl AggregateFunctionAccumulator for Sample {
    fn accumulate(&mut self, element: Term) {
        tick();
        let least = self.0.as_ref().is_none_or(|least| canonical(Some(&element), Some(least)).is_lt());
        if least && !is_nothing(&element) {
            self.0 = Some(element);
        }
    }

    fn finish(&mut self) -> Option<Term> {
        self.0.take()
    }
}

struct Concat {
    separator: String,
    values: Vec<Term>,
}

impl AggregateFunctionAccumulator for Concat {
    fn accumulate(&mut self, element: Term) {
        tick();
        if !is_nothing(&element) {
            self.values.push(element);
        }
    }

    fn finish(&mut self) -> Option<Term> {
        self.values.sort_by(|a, b| {
            tick();
            canonical(Some(a), Some(b))
        });
        let mut out = String::new();
        let mut language: Option<Option<String>> = None;
        for (index, term) in self.values.drain(..).enumerate() {
            if index > 0 {
                out.push_str(&self.separator);
            }
            let tag = match &term {
                Term::NamedNode(node) => {
                    out.push_str(node.as_str());
                    None
                }
                Term::BlankNode(node) => {
                    out.push_str(node.as_str());
                    None
                }
                Term::Literal(literal) => {
                    out.push_str(literal.value());
                    literal.language().map(str::to_owned)
                }
            };
            language = Some(match language {
                None => tag,
                Some(known) if known == tag => known,
                Some(_) => None,
            });
        }
        Some(match language.flatten() {
            Some(tag) => Literal::new_language_tagged_literal_unchecked(out, tag).into(),
            None => Literal::new_typed_literal(out, xsd::STRING).into(),
        })
    }
}

/// Gives the evaluator SAMPLE and the GROUP_CONCATs with these separators.
pub(crate) fn register(mut evaluator: QueryEvaluator, sample: bool, separators: &[String]) -> QueryEvaluator {
    if sample {
        let name = NamedNode::new_unchecked(SAMPLE);
        evaluator = evaluator.with_custom_aggregate_function(name, || Box::new(Sample::default()));
    }
    for (number, separator) in separators.iter().enumerate() {
        let name = NamedNode::new_unchecked(format!("{CONCAT}{number}"));
        let separator = separator.clone();
        evaluator = evaluator.with_custom_aggregate_function(name, move || {
            Box::new(Concat { separator: separator.clone(), values: Vec::new() })
        });
    }
    evaluator
}
