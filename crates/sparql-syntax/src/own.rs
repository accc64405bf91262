//! Functions of this project, which rewritten queries call and no query can name.

use oxrdf::NamedNode;

/// A function of this project.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum OwnFunction {
    /// The days of a duration.
    InDays,
    /// The days between two dates.
    Minus,
    /// Whether a moment is before another.
    Less,
    /// Whether a moment is not after another.
    LessOrEqual,
    /// Whether a moment is after another.
    Greater,
    /// Whether a moment is not before another.
    GreaterOrEqual,
    /// Whether two moments are the same.
    Equal,
    /// The time of the data.
    Now,
    /// A reproducible pseudo-random number.
    Rand,
    /// A reproducible UUID as an IRI.
    Uuid,
    /// A reproducible UUID as a string.
    StrUuid,
    /// A number that is unique to each solution.
    Solution,
    /// A new blank node.
    BNode,
    /// Whether a point is within a circle.
    Within,
    /// Whether a point is in a box.
    InBox,
    /// The distance of two points in kilometres.
    Distance,
    /// The label of an entity.
    Label,
    /// `REGEX`.
    Regex,
    /// `REPLACE`.
    Replace,
    /// `IRI` with the base of the query.
    Iri,
    /// `CONCAT`.
    Concat,
    /// `ENCODE_FOR_URI`.
    EncodeForUri,
}

impl OwnFunction {
    /// Returns the name under which the function is registered with the library that evaluates expressions.
    pub fn name(self) -> NamedNode {
        NamedNode::new_unchecked(format!("urn:terrapin:function:{self:?}"))
    }

    /// Returns whether the function may return a number. Others return strings, IRIs, blank nodes, dates or truth values.
    pub fn gives_number(self) -> bool {
        match self {
            OwnFunction::InDays
            | OwnFunction::Minus
            | OwnFunction::Rand
            | OwnFunction::Solution
            | OwnFunction::Distance => true,
            OwnFunction::Less
            | OwnFunction::LessOrEqual
            | OwnFunction::Greater
            | OwnFunction::GreaterOrEqual
            | OwnFunction::Equal
            | OwnFunction::Now
            | OwnFunction::Uuid
            | OwnFunction::StrUuid
            | OwnFunction::BNode
            | OwnFunction::Within
            | OwnFunction::InBox
            | OwnFunction::Label
            | OwnFunction::Regex
            | OwnFunction::Replace
            | OwnFunction::Iri
            | OwnFunction::Concat
            | OwnFunction::EncodeForUri => false,
        }
    }
}
