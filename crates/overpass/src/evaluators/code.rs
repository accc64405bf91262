//! Compiled evaluators, to run over many elements.

use std::ops::Range;

use super::value::EvaluatorValue;
use crate::syntax::{BinaryOperator, Function, UnaryOperator};
use terrapin_osm::{ElementType, Osm, PairId};

/// A key, and the pairs with this key.
#[derive(Debug, Clone)]
pub(super) struct Key {
    pub name: String,
    pub pairs: Range<PairId>,
}

impl Key {
    pub fn new(osm: &Osm, name: &str) -> Key {
        Key { name: name.to_owned(), pairs: osm.key(name).map_or(0..0, |key| osm.pairs_of(key)) }
    }
}

/// The members to count.
#[derive(Debug, Clone)]
pub(super) struct Members {
    pub distinct: bool,
    pub role: Option<String>,
    pub kind: Option<ElementType>,
}

/// A compiled evaluator.
#[derive(Debug, Clone)]
pub(super) enum Code {
    Constant(EvaluatorValue),
    Tag(Key),
    TagOf(Box<Code>),
    GenericTag,
    IsTag(Key),
    /// A function of the element without arguments.
    Element(Function),
    CountMembers(Members),
    PerMember(Box<Code>),
    PerVertex(Box<Code>),
    /// A function of the member.
    Member(Function),
    Unary(UnaryOperator, Box<Code>),
    Binary(BinaryOperator, Box<Code>, Box<Code>),
    And(Box<Code>, Box<Code>),
    Or(Box<Code>, Box<Code>),
    Ternary(Box<Code>, Box<Code>, Box<Code>),
    /// A function of one string.
    Text(fn(&EvaluatorValue) -> EvaluatorValue, Box<Code>),
    /// A function of two strings.
    Texts(fn(&EvaluatorValue, &EvaluatorValue) -> EvaluatorValue, Box<Code>, Box<Code>),
    /// A function of geometries, and `pt` of two strings.
    Shape(Function, Vec<Code>),
}
