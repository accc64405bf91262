//! The aggregates other than COUNT. Their results do not depend on the order in which values are found. SAMPLE and
//! GROUP_CONCAT ignore errors, as in WDQS, and so do the aggregates of geometries.

use std::cmp::Ordering;

use oxrdf::{Literal, NamedNode, Term};
use spareval::AggregateFunctionAccumulator;

use super::numbers::Number;
use crate::geo;
use crate::order::{TermOrderKey, canonical, is_numeric};
use terrapin_budget::checkpoint;
use terrapin_sparql_syntax::STANDARD_DEVIATION;
use terrapin_sparql_syntax::algebra::{AggregateFunction, Expression};

/// An aggregate that combines a group's values into one.
#[derive(Debug, Clone)]
pub(crate) enum Fold {
    /// The first value in canonical order.
    Sample,
    /// All values in canonical order, joined with this separator.
    Concat(String),
    Sum,
    Average,
    Least,
    Greatest,
    /// The standard deviation of a sample: of n values, n - 1 divides the sum of squares.
    Deviation,
    /// A geometry made of several.
    Geometry(geo::GeometryAggregate),
}

/// Returns the aggregates without a parameter.
fn plain() -> impl Iterator<Item = Fold> {
    let numbers = [Fold::Sample, Fold::Sum, Fold::Average, Fold::Least, Fold::Greatest, Fold::Deviation];
    numbers.into_iter().chain(geo::GeometryAggregate::ALL.map(Fold::Geometry))
}

/// The datatype of the marker for an error.
const NOTHING: &str = "urn:terrapin:nothing";

/// Wraps an expression so that it returns a marker instead of an error.
fn or_nothing(expression: Expression) -> Expression {
    let mark = Literal::new_typed_literal("", NamedNode::new_unchecked(NOTHING));
    Expression::Coalesce(vec![expression, mark.into()])
}

/// Returns the expression that [`or_nothing`] wrapped.
pub(crate) fn without_mark(expression: &Expression) -> Option<&Expression> {
    match expression {
        Expression::Coalesce(list) => match &list[..] {
            [expression, Expression::Literal(mark)] if mark.datatype().as_str() == NOTHING => Some(expression),
            _ => None,
        },
        _ => None,
    }
}

fn is_nothing(term: &Term) -> bool {
    matches!(term, Term::Literal(literal) if literal.datatype().as_str() == NOTHING)
}

#[derive(Default)]
struct SampleAccumulator(Option<Term>);

impl AggregateFunctionAccumulator for SampleAccumulator {
    fn accumulate(&mut self, element: Term) {
        checkpoint();
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
        checkpoint();
        if !is_nothing(&element) {
            self.values.push(element);
        }
    }

    fn finish(&mut self) -> Option<Term> {
        self.values.sort_by(|a, b| {
            checkpoint();
            canonical(Some(a), Some(b))
        });
        let mut out = String::new();
        for (index, term) in self.values.drain(..).enumerate() {
            if index > 0 {
                out.push_str(&self.separator);
            }
            out.push_str(match &term {
                Term::NamedNode(node) => node.as_str(),
                Term::BlankNode(node) => node.as_str(),
                Term::Literal(literal) => literal.value(),
                // No triple term is a string.
                Term::Triple(_) => return None,
            });
        }
        // The result has no language, even if the values have one
        // (<https://www.w3.org/TR/sparql11-query/#defn_aggGroupConcat>).
        Some(Literal::new_simple_literal(out).into())
    }
}

/// MIN or MAX in the order of ORDER BY. Of equal values, the first in canonical order is returned.
struct Extreme {
    wanted: Ordering,
    best: Option<(TermOrderKey, Term)>,
}

impl AggregateFunctionAccumulator for Extreme {
    fn accumulate(&mut self, element: Term) {
        checkpoint();
        let key = TermOrderKey::of(Some(&element));
        let better = self.best.as_ref().is_none_or(|(best, term)| match key.cmp(best) {
            Ordering::Equal => canonical(Some(&element), Some(term)).is_lt(),
            order => order == self.wanted,
        });
        if better {
            self.best = Some((key, element));
        }
    }

    fn finish(&mut self) -> Option<Term> {
        self.best.take().map(|(_, term)| term)
    }
}

/// SUM, or AVG if the values are counted. A value that is not a number makes the result an error.
struct Sum {
    sum: Option<Number>,
    count: Option<i64>,
}

impl AggregateFunctionAccumulator for Sum {
    fn accumulate(&mut self, element: Term) {
        checkpoint();
        self.sum = self.sum.take().and_then(|sum| sum.plus(&Number::of(&element)?));
        if let Some(count) = &mut self.count {
            *count += 1;
        }
    }

    fn finish(&mut self) -> Option<Term> {
        match (self.sum.take()?, self.count) {
            (sum, None | Some(0)) => Some(sum.term()),
            (sum, Some(count)) => sum.over(count).map(|average| average.term()),
        }
    }
}

/// Geometries that are combined into one.
struct Geometries {
    aggregate: geo::GeometryAggregate,
    values: Vec<Term>,
}

impl AggregateFunctionAccumulator for Geometries {
    fn accumulate(&mut self, element: Term) {
        checkpoint();
        if !is_nothing(&element) {
            self.values.push(element);
        }
    }

    fn finish(&mut self) -> Option<Term> {
        self.aggregate.of(std::mem::take(&mut self.values))
    }
}

/// The numbers of a sample; `None` after a value that is not a number.
struct Deviation {
    values: Option<Vec<f64>>,
}

impl AggregateFunctionAccumulator for Deviation {
    fn accumulate(&mut self, element: Term) {
        checkpoint();
        let number = match &element {
            Term::Literal(literal) if is_numeric(literal.datatype()) => literal.value().parse::<f64>().ok(),
            _ => None,
        };
        match (&mut self.values, number) {
            (Some(values), Some(number)) => values.push(number),
            (values, _) => *values = None,
        }
    }

    fn finish(&mut self) -> Option<Term> {
        let mut values = self.values.take()?;
        // A fixed order of additions makes the result reproducible.
        values.sort_unstable_by(f64::total_cmp);
        let count = values.len() as f64;
        if values.len() < 2 {
            return Some(Literal::from(0.0).into());
        }
        let mean = values.iter().sum::<f64>() / count;
        let squares: f64 = values.iter().map(|value| (value - mean) * (value - mean)).sum();
        Some(Literal::from(libm::sqrt(squares / (count - 1.0))).into())
    }
}

impl Fold {
    /// Returns the name that the aggregate has in a rewritten query. For GROUP_CONCAT, the separator's number is appended.
    fn name(&self) -> &'static str {
        match self {
            Fold::Sample => "urn:terrapin:aggregate:sample",
            Fold::Concat(_) => "urn:terrapin:aggregate:concat:",
            Fold::Sum => "urn:terrapin:aggregate:sum",
            Fold::Average => "urn:terrapin:aggregate:average",
            Fold::Least => "urn:terrapin:aggregate:least",
            Fold::Greatest => "urn:terrapin:aggregate:greatest",
            Fold::Deviation => STANDARD_DEVIATION,
            Fold::Geometry(aggregate) => aggregate.iri(),
        }
    }

    /// Returns the aggregate with a name.
    pub fn of(name: &NamedNode, separators: &[String]) -> Option<Fold> {
        if let Some(number) = name.as_str().strip_prefix(Fold::Concat(String::new()).name()) {
            return separators.get(number.parse::<usize>().ok()?).cloned().map(Fold::Concat);
        }
        plain().find(|fold| fold.name() == name.as_str())
    }

    /// Returns whether repeated values do not change the result.
    pub fn ignores_repetition(&self) -> bool {
        matches!(self, Fold::Sample | Fold::Least | Fold::Greatest)
    }

    /// Returns whether all values are stored until the end of the group.
    pub fn keeps_values(&self) -> bool {
        matches!(self, Fold::Concat(_) | Fold::Deviation | Fold::Geometry(_))
    }

    /// Returns an accumulator without values.
    pub fn begin(&self) -> Box<dyn AggregateFunctionAccumulator + Send + Sync> {
        match self {
            Fold::Sample => Box::new(SampleAccumulator::default()),
            Fold::Concat(separator) => Box::new(Concat { separator: separator.clone(), values: Vec::new() }),
            Fold::Sum => Box::new(Sum { sum: Some(Number::zero()), count: None }),
            Fold::Average => Box::new(Sum { sum: Some(Number::zero()), count: Some(0) }),
            Fold::Least => Box::new(Extreme { wanted: Ordering::Less, best: None }),
            Fold::Greatest => Box::new(Extreme { wanted: Ordering::Greater, best: None }),
            Fold::Deviation => Box::new(Deviation { values: Some(Vec::new()) }),
            Fold::Geometry(aggregate) => Box::new(Geometries { aggregate: *aggregate, values: Vec::new() }),
        }
    }
}

/// Returns the crate's aggregate for a standard one, with its argument. `separators` collects the separators of the
/// query's GROUP_CONCATs. COUNT needs none.
pub(crate) fn own(
    function: AggregateFunction,
    argument: Expression,
    separators: &mut Vec<String>,
) -> (AggregateFunction, Expression) {
    let named = |name: String| AggregateFunction::Custom(NamedNode::new_unchecked(name));
    let plain = |fold: &Fold| named(fold.name().to_owned());
    match function {
        AggregateFunction::Sample => (plain(&Fold::Sample), or_nothing(argument)),
        AggregateFunction::GroupConcat { separator } => {
            let separator = separator.unwrap_or_else(|| " ".to_owned());
            let number = separators.iter().position(|known| *known == separator).unwrap_or_else(|| {
                separators.push(separator);
                separators.len() - 1
            });
            let name = Fold::Concat(String::new()).name();
            (named(format!("{name}{number}")), or_nothing(argument))
        }
        AggregateFunction::Sum => (plain(&Fold::Sum), argument),
        AggregateFunction::Avg => (plain(&Fold::Average), argument),
        AggregateFunction::Min => (plain(&Fold::Least), argument),
        AggregateFunction::Max => (plain(&Fold::Greatest), argument),
        // A value that is not a number is an error of the group.
        AggregateFunction::Custom(name) if name.as_str() == STANDARD_DEVIATION => {
            (AggregateFunction::Custom(name), argument)
        }
        AggregateFunction::Custom(name) => (AggregateFunction::Custom(name), or_nothing(argument)),
        function => (function, argument),
    }
}
