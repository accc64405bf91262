//! Evaluates the expressions in `if:`, `for`, `make` and `convert`, which are called evaluators.
//!
//! One module per part of the language. Evaluators read elements through `Reader` and do not depend on statements or
//! output.

mod aggregates;
mod code;
mod compile;
mod element;
mod environment;
mod eval;
mod generic;
mod hull;
mod lists;
mod members;
mod operators;
mod produce;
mod scope;
mod shapes;
mod sphere;
mod strings;
mod trace;
mod value;

pub use environment::EvaluatorEnvironment;

use std::collections::BTreeMap;
use std::sync::Arc;

use rayon::prelude::*;

use self::code::CompiledEvaluator;
use self::compile::has_no_value;
use self::eval::eval;
use self::produce::Producer;
use self::scope::{Subject, keys, subjects};
use self::value::EvaluatorValue;
use super::introsort;
use super::reader::StoreReader;
use super::set::{Derived, ElementSet};
use super::syntax::{EvaluatorExpression, EvaluatorFunction, ExprKind, Property};
use super::{DiagnosticClass, OverpassDiagnostic, OverpassFailure};
use terrapin_base::deferred::Deferred;
use terrapin_budget as budget;
use terrapin_osm::{ElementType, Ordinal};

/// The number of elements that a thread evaluates between two checks of the budget.
const CHUNK: usize = 4096;
/// The maximum nesting depth of evaluators.
const DEEPEST: usize = 200;

/// Returns the elements of a set for which an evaluator is true.
pub fn filter(
    environment: EvaluatorEnvironment<'_>,
    expr: &EvaluatorExpression,
    set: &ElementSet,
) -> Result<ElementSet, OverpassFailure> {
    if has_no_value(environment, expr) {
        return Ok(set.clone());
    }
    let code = CompiledEvaluator::new(environment, expr)?;
    let osm = environment.osm;
    let current = budget::current();
    let mut found = ElementSet::default();
    for kind in ElementType::ALL {
        let kept: Vec<Vec<Ordinal>> = set
            .part(kind)
            .par_chunks(CHUNK)
            .map(|chunk| {
                current.share(|| {
                    budget::work(chunk.len());
                    let mut reader = StoreReader::new(osm);
                    let mut holds =
                        |&ordinal: &Ordinal| eval(&mut reader, &code, Subject::Element(kind, ordinal).into()).is_true();
                    chunk.iter().copied().filter(|ordinal| holds(ordinal)).collect()
                })
            })
            .collect();
        *found.part_mut(kind) = kept.concat();
    }
    let mut reader = environment.reader();
    let mut holds = |subject: Subject<'_>| eval(&mut reader, &code, subject.into()).is_true();
    found.areas = set.areas.iter().copied().filter(|&area| holds(Subject::Area(area))).collect();
    found.derived = set.derived.iter().filter(|derived| holds(Subject::Derived(derived))).cloned().collect();
    Ok(found)
}

/// Returns whether an evaluator that runs on no element is true.
pub fn condition(environment: EvaluatorEnvironment<'_>, expr: &EvaluatorExpression) -> Result<bool, OverpassFailure> {
    Ok(alone(environment, expr)?.is_true())
}

/// Returns the value of an evaluator that runs on no element.
pub fn text(environment: EvaluatorEnvironment<'_>, expr: &EvaluatorExpression) -> Result<String, OverpassFailure> {
    Ok(alone(environment, expr)?.into_text())
}

/// Groups the elements of a set by the value of an evaluator, in byte order of the values. If `bare`, the evaluator
/// reads only ids, nodes and members.
pub fn group(
    environment: EvaluatorEnvironment<'_>,
    expr: &EvaluatorExpression,
    set: &ElementSet,
    bare: bool,
) -> Result<Vec<(String, ElementSet)>, OverpassFailure> {
    let code = CompiledEvaluator::new(environment, expr)?;
    let mut reader = if bare { StoreReader::bare(environment.osm) } else { environment.reader() };
    let mut groups = Deferred::<BTreeMap<String, ElementSet>>::default();
    let mut values = |subject: Subject<'_>| match code {
        // An element belongs to the group of each of its keys.
        CompiledEvaluator::Element(EvaluatorFunction::Keys) => keys(&mut reader, subject),
        _ => vec![eval(&mut reader, &code, subject.into()).into_text()],
    };
    for (n, subject) in subjects(set).enumerate() {
        if n % CHUNK == 0 {
            budget::work(CHUNK);
        }
        for value in values(subject) {
            let group = groups.entry(value).or_default();
            match subject {
                Subject::Element(kind, ordinal) => group.part_mut(kind).push(ordinal),
                Subject::Area(area) => group.areas.push(area),
                Subject::Derived(derived) => group.derived.push(Arc::clone(derived)),
                Subject::None => {}
            }
        }
    }
    Ok(groups.take().into_iter().collect())
}

fn alone(environment: EvaluatorEnvironment<'_>, expr: &EvaluatorExpression) -> Result<EvaluatorValue, OverpassFailure> {
    let code = CompiledEvaluator::new(environment, expr)?;
    Ok(eval(&mut environment.reader(), &code, Subject::None.into()))
}

/// Reports unsupported parts of an evaluator, before the query runs.
pub fn check(expr: &EvaluatorExpression, line: u32, found: &mut Vec<OverpassDiagnostic>) {
    walk(expr, line, 0, found);
}

fn walk(expr: &EvaluatorExpression, line: u32, depth: usize, found: &mut Vec<OverpassDiagnostic>) {
    let mut refuse = |code: crate::OverpassCode, message: String| {
        let error = OverpassDiagnostic::new(DiagnosticClass::Runtime, code, message);
        found.push(error.in_line(line).spanning(expr.span));
    };
    if depth > DEEPEST {
        return refuse(crate::OverpassCode::TooDeep, format!("Evaluators are nested more than {DEEPEST} deep."));
    }
    match &expr.kind {
        ExprKind::Fixed(_) | ExprKind::GenericTag | ExprKind::SetKey { .. } => {}
        ExprKind::Tag(key) => walk(key, line, depth + 1, found),
        ExprKind::Call { args, .. } => {
            args.iter().for_each(|arg| walk(arg, line, depth + 1, found));
        }
        ExprKind::Unary { operand, .. } => walk(operand, line, depth + 1, found),
        ExprKind::Binary { left, right, .. } => {
            walk(left, line, depth + 1, found);
            walk(right, line, depth + 1, found);
        }
        ExprKind::Ternary { condition, then, otherwise } => {
            [condition, then, otherwise].into_iter().for_each(|part| walk(part, line, depth + 1, found));
        }
    }
}

/// Creates the element of a `make`. If no id is set, it gets the one after `last_id`.
pub fn make(
    environment: EvaluatorEnvironment<'_>,
    type_name: &str,
    properties: &[Property],
    last_id: &mut i64,
) -> Result<Arc<Derived>, OverpassFailure> {
    let properties = generic::expanded(environment, properties);
    let producer = Producer::new(environment, type_name, &properties)?;
    Ok(Arc::new(producer.produce(&mut environment.reader(), Subject::None, last_id)))
}

/// Creates the elements of a `convert`, in order of id. Elements without an id get the ones after `last_id`.
pub fn convert(
    environment: EvaluatorEnvironment<'_>,
    from: &ElementSet,
    type_name: &str,
    properties: &[Property],
    last_id: &mut i64,
) -> Result<Vec<Arc<Derived>>, OverpassFailure> {
    let properties = generic::expanded(environment, properties);
    let producer = Producer::new(environment, type_name, &properties)?;
    let mut reader = environment.reader();
    let mut made = Deferred::<Vec<Arc<Derived>>>::default();
    for (n, subject) in aggregates::in_order(environment, from).into_iter().enumerate() {
        if n % CHUNK == 0 {
            budget::work(CHUNK);
        }
        made.push(Arc::new(producer.produce(&mut reader, subject, last_id)));
    }
    introsort::sort(&mut made, |a, b| a.key() < b.key());
    Ok(made.take())
}
