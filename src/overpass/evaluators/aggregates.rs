//! Functions of a whole set: `count`, `u`, `min`, `max`, `sum`, `set`, `gcat`.

use std::cmp::Ordering;
use std::collections::BTreeSet;

use super::code::Code;
use super::eval::{Subject, eval, subjects};
use super::lists;
use super::value::Value;
use crate::osm::ElementType;
use crate::overpass::Failure;
use crate::overpass::reader::Reader;
use crate::overpass::run::{Context, quadtile};
use crate::overpass::set::{Geometry, Set};
use crate::overpass::syntax::Function;

/// Elements evaluated between two looks at the budget.
const STEP: usize = 1024;

/// `count(nodes)` and so on.
pub(super) fn count(set: &Set, what: &str) -> Value {
    let (nodes, ways, relations) = (set.nodes.len(), set.ways.len(), set.relations.len());
    Value::Int(match what {
        "nodes" => nodes,
        "ways" => ways,
        "relations" => relations,
        // The reference counts areas here.
        "deriveds" => set.areas.len() + set.derived.len(),
        "nwr" => nodes + ways + relations,
        "nw" => nodes + ways,
        "nr" => nodes + relations,
        "wr" => ways + relations,
        _ => 0,
    } as i64)
}

/// The value of a function over the elements of a set.
pub(super) fn over(ctx: &Context, function: Function, set: &Set, code: Code) -> Result<Value, Failure> {
    let mut reader = Reader::new(ctx.osm);
    let mut values = |subjects: &mut dyn Iterator<Item = Subject<'_>>| -> Result<Vec<Value>, Failure> {
        let mut values = Vec::new();
        for (n, subject) in subjects.enumerate() {
            if n % STEP == 0 {
                ctx.budget.work(STEP)?;
            }
            values.push(eval(&mut reader, &code, subject.into()));
        }
        Ok(values)
    };
    Ok(match function {
        Function::Union => union(values(&mut subjects(set))?),
        Function::Min => lists::extreme(values(&mut subjects(set))?.into_iter(), Ordering::Less),
        Function::Max => lists::extreme(values(&mut subjects(set))?.into_iter(), Ordering::Greater),
        Function::Set => {
            let texts: BTreeSet<String> = values(&mut subjects(set))?.into_iter().map(Value::into_text).collect();
            Value::Text(texts.into_iter().filter(|text| !text.is_empty()).collect::<Vec<_>>().join(";"))
        }
        Function::Sum => sum(values(&mut in_order(ctx, set).into_iter())?),
        Function::Gcat => {
            let shapes = values(&mut in_order(ctx, set).into_iter())?;
            let parts: Vec<Geometry> = shapes
                .into_iter()
                .filter_map(|value| match value {
                    Value::Shape(Some(shape)) => Some(*shape),
                    _ => None,
                })
                .collect();
            Value::Shape((!parts.is_empty()).then(|| Box::new(Geometry::Collection(parts))))
        }
        _ => Value::EMPTY,
    })
}

/// Every element of a set in the order in which the reference goes through it, on which the rounding of sums and the
/// order of geometries depend.
pub(super) fn in_order<'s>(ctx: &Context, set: &'s Set) -> Vec<Subject<'s>> {
    let mut list = Vec::with_capacity(set.len());
    for kind in ElementType::ALL {
        let ordinals = quadtile::order(ctx.osm, kind, set.part(kind));
        list.extend(ordinals.into_iter().map(|ordinal| Subject::Element(kind, ordinal)));
    }
    list.extend(set.areas.iter().map(|&area| Subject::Area(area)));
    list.extend(set.derived.iter().map(Subject::Derived));
    list
}

/// The value that all elements have that have one.
fn union(values: Vec<Value>) -> Value {
    let mut one: Option<Value> = None;
    for value in values.into_iter().filter(|value| !value.is_empty()) {
        match &one {
            Some(old) if old.to_text() != value.to_text() => return Value::text("< multiple values found >"),
            Some(_) => {}
            None => one = Some(value),
        }
    }
    one.unwrap_or(Value::EMPTY)
}

fn sum(values: Vec<Value>) -> Value {
    let ints: Option<Vec<i64>> = values.iter().map(Value::int).collect();
    if let Some(ints) = ints {
        return Value::Int(ints.into_iter().fold(0, i64::wrapping_add));
    }
    let floats: Option<Vec<f64>> = values.iter().map(Value::float).collect();
    match floats {
        Some(floats) => Value::number(floats.into_iter().fold(0.0, |sum, value| sum + value)),
        None => Value::not_a_number(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values(texts: &[&str]) -> Vec<Value> {
        texts.iter().map(|text| Value::text(text)).collect()
    }

    #[test]
    fn sums_are_whole_where_all_are() {
        assert_eq!(sum(values(&["1", "2"])).into_text(), "3");
        assert_eq!(sum(values(&["1", "2.5"])).into_text(), "3.5");
        assert_eq!(sum(values(&["1", ""])).into_text(), "NaN");
        assert_eq!(sum(values(&[])).into_text(), "0");
    }

    #[test]
    fn a_union_is_the_one_value() {
        assert_eq!(union(values(&["", "a", "a", ""])).into_text(), "a");
        assert_eq!(union(values(&["1", "1.0"])).into_text(), "< multiple values found >");
        assert_eq!(union(values(&["", ""])).into_text(), "");
    }
}
