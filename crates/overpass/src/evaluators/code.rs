//! Compiled evaluators, to run over many elements.

use std::ops::Range;

use super::value::EvaluatorValue;
use crate::syntax::{BinaryOperator, EvaluatorFunction, UnaryOperator};
use terrapin_osm::{ElementType, Osm, PairId};

/// A key, and the pairs with this key.
#[derive(Debug, Clone)]
pub(super) struct TagKeyRange {
    pub name: String,
    pub pairs: Range<PairId>,
}

impl TagKeyRange {
    pub fn new(osm: &Osm, name: &str) -> TagKeyRange {
        TagKeyRange { name: name.to_owned(), pairs: osm.key(name).map_or(0..0, |key| osm.pairs_of(key)) }
    }
}

/// The members to count.
#[derive(Debug, Clone)]
pub(super) struct MemberSelector {
    pub distinct: bool,
    pub role: Option<String>,
    pub kind: Option<ElementType>,
}

/// A compiled evaluator.
#[derive(Debug, Clone)]
pub(super) enum CompiledEvaluator {
    Constant(EvaluatorValue),
    Tag(TagKeyRange),
    TagOf(Box<CompiledEvaluator>),
    GenericTag,
    IsTag(TagKeyRange),
    /// A function of the element without arguments.
    Element(EvaluatorFunction),
    CountMembers(MemberSelector),
    PerMember(Box<CompiledEvaluator>),
    PerVertex(Box<CompiledEvaluator>),
    /// A function of the member.
    Member(EvaluatorFunction),
    Unary(UnaryOperator, Box<CompiledEvaluator>),
    Binary(BinaryOperator, Box<CompiledEvaluator>, Box<CompiledEvaluator>),
    And(Box<CompiledEvaluator>, Box<CompiledEvaluator>),
    Or(Box<CompiledEvaluator>, Box<CompiledEvaluator>),
    Ternary(Box<CompiledEvaluator>, Box<CompiledEvaluator>, Box<CompiledEvaluator>),
    /// A function of one string.
    Text(fn(&EvaluatorValue) -> EvaluatorValue, Box<CompiledEvaluator>),
    /// A function of two strings.
    Texts(fn(&EvaluatorValue, &EvaluatorValue) -> EvaluatorValue, Box<CompiledEvaluator>, Box<CompiledEvaluator>),
    /// A function of geometries, and `pt` of two strings.
    Shape(EvaluatorFunction, Vec<CompiledEvaluator>),
}
