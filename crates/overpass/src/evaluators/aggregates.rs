//! Evaluates the functions of a whole set: `count`, `u`, `min`, `max`, `sum`, `set`, `gcat`.

use std::cmp::Ordering;
use std::collections::BTreeSet;

use super::code::CompiledEvaluator;
use super::environment::EvaluatorEnvironment;
use super::eval::eval;
use super::lists;
use super::operators;
use super::scope::{Subject, subjects};
use super::value::EvaluatorValue;
use crate::quadtile;
use crate::set::{DerivedGeometry, ElementSet};
use crate::syntax::EvaluatorFunction;
use terrapin_base::deferred::Deferred;
use terrapin_budget as budget;
use terrapin_osm::ElementType;

/// The number of elements evaluated between two checks of the budget.
const STEP: usize = 1024;

/// Evaluates `count(nodes)` and the like.
pub(super) fn count(set: &ElementSet, what: &str) -> EvaluatorValue {
    let (nodes, ways, relations) = (set.nodes.len(), set.ways.len(), set.relations.len());
    EvaluatorValue::Int(match what {
        "nodes" => nodes,
        "ways" => ways,
        "relations" => relations,
        // The reference includes areas in this count.
        "deriveds" => set.areas.len() + set.derived.len(),
        "nwr" => nodes + ways + relations,
        "nw" => nodes + ways,
        "nr" => nodes + relations,
        "wr" => ways + relations,
        _ => 0,
    } as i64)
}

/// Returns the value of a function over the elements of a set. Holds only one value at a time, except for `set`, which
/// holds the distinct values, and `gcat`.
pub(super) fn over(
    environment: EvaluatorEnvironment<'_>,
    function: EvaluatorFunction,
    set: &ElementSet,
    code: CompiledEvaluator,
) -> EvaluatorValue {
    let mut reader = environment.reader();
    let ordered = match function {
        EvaluatorFunction::Sum | EvaluatorFunction::Gcat => in_order(environment, set),
        _ => Vec::new(),
    };
    let any_order = subjects(set).take(if ordered.is_empty() { usize::MAX } else { 0 });
    let values = any_order.chain(ordered.iter().copied()).enumerate().map(|(n, subject)| {
        if n % STEP == 0 {
            budget::work(STEP);
        }
        eval(&mut reader, &code, subject.into())
    });
    match function {
        EvaluatorFunction::Union => union(values),
        EvaluatorFunction::Min => lists::extreme(values, Ordering::Less),
        EvaluatorFunction::Max => lists::extreme(values, Ordering::Greater),
        EvaluatorFunction::Set => {
            let mut texts = Deferred::<BTreeSet<String>>::default();
            for text in values.map(EvaluatorValue::into_text).filter(|text| !text.is_empty()) {
                texts.insert(text);
            }
            EvaluatorValue::Text(joined(&*texts))
        }
        EvaluatorFunction::Sum => sum(values),
        EvaluatorFunction::Gcat => {
            let parts: Vec<DerivedGeometry> = values
                .filter_map(|value| match value {
                    EvaluatorValue::Shape(Some(shape)) => Some(*shape),
                    _ => None,
                })
                .collect();
            EvaluatorValue::Shape((!parts.is_empty()).then(|| Box::new(DerivedGeometry::Collection(parts))))
        }
        _ => EvaluatorValue::EMPTY,
    }
}

/// Joins texts with semicolons.
pub(super) fn joined<'t>(texts: impl IntoIterator<Item = &'t String, IntoIter: Clone>) -> String {
    let texts = texts.into_iter();
    let bytes = texts.clone().map(|text| text.len() + 1).sum();
    budget::charge(bytes as u64);
    let mut list = String::with_capacity(bytes);
    for text in texts {
        budget::checkpoint();
        if !list.is_empty() {
            list.push(';');
        }
        list.push_str(text);
    }
    list
}

/// Returns the elements of a set in the reference's order. The rounding of sums and the order of geometries depend on
/// it.
pub(super) fn in_order<'s>(environment: EvaluatorEnvironment<'_>, set: &'s ElementSet) -> Vec<Subject<'s>> {
    let mut list = Vec::with_capacity(set.len());
    for kind in ElementType::ALL {
        let ordinals = quadtile::order(environment.osm, kind, set.part(kind));
        list.extend(ordinals.into_iter().map(|ordinal| Subject::Element(kind, ordinal)));
    }
    list.extend(quadtile::areas(environment.current, &set.areas).into_iter().map(Subject::Area));
    list.extend(set.derived.iter().map(Subject::Derived));
    list
}

/// Returns the value shared by all elements that have a value; a placeholder text if their values differ.
fn union(values: impl Iterator<Item = EvaluatorValue>) -> EvaluatorValue {
    let mut one: Option<EvaluatorValue> = None;
    for value in values.filter(|value| !value.is_empty()) {
        match &one {
            Some(old) if old.to_text() != value.to_text() => return EvaluatorValue::text("< multiple values found >"),
            Some(_) => {}
            None => one = Some(value),
        }
    }
    one.unwrap_or(EvaluatorValue::EMPTY)
}

/// Returns the sum as a whole number if all values are whole, otherwise as a number if all are numbers.
fn sum(values: impl Iterator<Item = EvaluatorValue>) -> EvaluatorValue {
    let (mut int, mut float) = (Some(0i64), Some(0.0));
    for value in values {
        int = int.zip(value.int()).map(|(sum, value)| sum.wrapping_add(value));
        float = float.zip(value.float()).map(|(sum, value)| operators::sum(sum, value));
    }
    match (int, float) {
        (Some(int), _) => EvaluatorValue::Int(int),
        (None, Some(float)) => EvaluatorValue::number(float),
        (None, None) => EvaluatorValue::not_a_number(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values(texts: &[&'static str]) -> impl Iterator<Item = EvaluatorValue> {
        texts.iter().copied().map(EvaluatorValue::text)
    }

    #[test]
    fn sums_are_whole_where_all_are() {
        assert_eq!(sum(values(&["1", "2"])).into_text(), "3");
        assert_eq!(sum(values(&["1", "2.5"])).into_text(), "3.5");
        assert_eq!(sum(values(&["1", ""])).into_text(), "NaN");
        assert_eq!(sum(values(&[])).into_text(), "0");
        assert_eq!(sum(values(&["-nan", "nan", "1"])).into_text(), "nan");
        assert_eq!(sum(values(&["nan", "-nan"])).into_text(), "-nan");
        assert_eq!(sum(values(&["inf", "-inf"])).into_text(), "-nan");
    }

    #[test]
    fn a_union_is_the_one_value() {
        assert_eq!(union(values(&["", "a", "a", ""])).into_text(), "a");
        assert_eq!(union(values(&["1", "1.0"])).into_text(), "< multiple values found >");
        assert_eq!(union(values(&["", ""])).into_text(), "");
    }
}
