//! The parts of triples as they are written: verbs with their objects, and annotations.

use oxrdf::{NamedNode, Variable};

use super::token::SparqlToken;
use super::tree::DepthTree;
use crate::algebra::{NamedNodePattern, Path, TermPattern, TriplePattern};

/// A triple pattern, or a path of more than one predicate.
pub(super) enum Triple {
    Plain(TriplePattern),
    Path { subject: TermPattern, path: DepthTree<Path>, object: TermPattern },
}

/// A predicate.
#[derive(Clone)]
pub(super) enum Verb {
    Variable(Variable),
    Path(DepthTree<Path>),
    /// A predicate whose objects have a language.
    InLanguage(NamedNode, String),
}

/// An object with the annotations of its triple.
pub(super) struct Object {
    pub term: TermPattern,
    pub annotations: Vec<Annotation>,
}

/// A reifier of the triple with an object, and its properties.
pub(super) struct Annotation {
    pub reifier: TermPattern,
    pub properties: Properties,
    /// The first token.
    pub token: SparqlToken,
}

/// The result of a predicate-object list.
#[derive(Default)]
pub(super) struct Properties {
    /// Verbs with their objects.
    pub verbs: Vec<(Verb, Vec<Object>)>,
    /// The triples of nested blank nodes, lists and reified triples.
    pub triples: Vec<Triple>,
}

/// Creates a triple pattern.
pub(super) fn triple(
    subject: impl Into<TermPattern>,
    predicate: impl Into<NamedNodePattern>,
    object: impl Into<TermPattern>,
) -> TriplePattern {
    TriplePattern { subject: subject.into(), predicate: predicate.into(), object: object.into() }
}
