//! Construction of nodes by the parser, with depth limits. A part can enter a node only through the functions here,
//! which reject trees that become too deep. Therefore no deep tree ever exists that would have to be freed.

use std::ops::Deref;

use oxrdf::{Literal, NamedNode, Variable};

use crate::algebra::{Expression, Path, QueryPattern, TermPattern, TriplePattern};
use crate::depth::Depth;
use crate::error::Result;
use crate::walk::AsNode;

/// A part of a query's tree with its depth.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct DepthTree<T> {
    part: T,
    levels: Levels,
}

/// A [`Depth`] that is ignored when parts are compared.
#[derive(Debug, Clone, Copy)]
struct Levels(Depth);

impl PartialEq for Levels {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Eq for Levels {}

impl std::hash::Hash for Levels {
    fn hash<H: std::hash::Hasher>(&self, _: &mut H) {}
}

impl<T> DepthTree<T> {
    fn new(part: T, depth: Depth) -> Result<DepthTree<T>> {
        depth.check()?;
        Ok(DepthTree { part, levels: Levels(depth) })
    }

    fn depth(&self) -> Depth {
        self.levels.0
    }

    /// Creates a node with this part as its child.
    pub fn under<N>(self, make: impl FnOnce(T) -> N) -> Result<DepthTree<N>> {
        let depth = Depth::over([self.depth()]);
        depth.check()?;
        DepthTree::new(make(self.part), depth)
    }

    /// Creates a node with this part and another one as children.
    pub fn and<U, N>(self, other: DepthTree<U>, make: impl FnOnce(T, U) -> N) -> Result<DepthTree<N>> {
        let depth = Depth::over([self.depth(), other.depth()]);
        depth.check()?;
        DepthTree::new(make(self.part, other.part), depth)
    }

    /// Creates a node with this part, another one and an optional third one as children.
    pub fn and_maybe<U, V, N>(
        self,
        other: DepthTree<U>,
        third: Option<DepthTree<V>>,
        make: impl FnOnce(T, U, Option<V>) -> N,
    ) -> Result<DepthTree<N>> {
        let third_depth = third.as_ref().map(DepthTree::depth);
        let depth = Depth::over([self.depth(), other.depth()].into_iter().chain(third_depth));
        depth.check()?;
        DepthTree::new(make(self.part, other.part, third.map(|third| third.part)), depth)
    }

    /// Creates a node that chains this part and another one.
    pub fn joined<U, N>(self, other: DepthTree<U>, make: impl FnOnce(T, U) -> N) -> Result<DepthTree<N>> {
        let depth = Depth::joined(0, [self.depth(), other.depth()]);
        depth.check()?;
        DepthTree::new(make(self.part, other.part), depth)
    }

    /// Adds the `links` that planning will add to this part.
    pub fn with_links(self, links: usize) -> Result<DepthTree<T>> {
        let depth = Depth::joined(links, [self.depth()]);
        DepthTree::new(self.part, depth)
    }

    /// Collects siblings into a list.
    pub fn list(parts: Vec<DepthTree<T>>) -> DepthTree<Vec<T>> {
        let deepest = parts.iter().map(DepthTree::depth).max_by_key(|depth| depth.levels()).unwrap_or(Depth::chain(0));
        DepthTree { levels: Levels(deepest), part: parts.into_iter().map(|tree| tree.part).collect() }
    }

    /// Returns the bare part. Do not build nodes on it, because its depth is lost.
    pub fn into_part(self) -> T {
        self.part
    }
}

impl<T: AsNode> DepthTree<T> {
    /// Measures a part that was built in another way.
    pub fn of_part(part: T) -> DepthTree<T> {
        let depth = Depth::of(&part);
        DepthTree { part, levels: Levels(depth) }
    }
}

impl<T> Deref for DepthTree<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.part
    }
}

impl From<NamedNode> for DepthTree<Expression> {
    fn from(term: NamedNode) -> Self {
        DepthTree { part: term.into(), levels: Levels(Depth::LEAF) }
    }
}

impl From<Literal> for DepthTree<Expression> {
    fn from(term: Literal) -> Self {
        DepthTree { part: term.into(), levels: Levels(Depth::LEAF) }
    }
}

impl From<Variable> for DepthTree<Expression> {
    fn from(term: Variable) -> Self {
        DepthTree { part: term.into(), levels: Levels(Depth::LEAF) }
    }
}

impl Default for DepthTree<QueryPattern> {
    fn default() -> Self {
        DepthTree::of_part(QueryPattern::default())
    }
}

impl DepthTree<QueryPattern> {
    /// Creates a join of triples.
    pub fn triples(patterns: Vec<TriplePattern>) -> Result<Self> {
        let depth = Depth::chain(patterns.len());
        DepthTree::new(QueryPattern::Bgp { patterns }, depth)
    }

    /// Returns the triples if the pattern consists only of these.
    #[expect(clippy::result_large_err, reason = "what is given back is no error")]
    pub fn into_triples(self) -> std::result::Result<Vec<TriplePattern>, Self> {
        match self.part {
            QueryPattern::Bgp { patterns } => Ok(patterns),
            part => Err(DepthTree { part, ..self }),
        }
    }
}

impl DepthTree<Path> {
    /// Creates the pattern of a path from a subject to an object. Planning turns its steps into joins; therefore it has
    /// the depth of the path.
    pub fn between(self, subject: TermPattern, object: TermPattern) -> DepthTree<QueryPattern> {
        DepthTree { levels: self.levels, part: QueryPattern::Path { subject, path: self.part, object } }
    }
}

/// Folds from the left. A list of more than 64 parts is folded as a balanced tree, which is equivalent and less deep.
pub(super) fn reduce<T>(
    mut parts: Vec<DepthTree<T>>,
    combine: impl Fn(DepthTree<T>, DepthTree<T>) -> Result<DepthTree<T>>,
) -> Result<Option<DepthTree<T>>> {
    while parts.len() > 64 {
        let mut halved = Vec::with_capacity(parts.len() / 2 + 1);
        let mut rest = parts.into_iter();
        while let Some(left) = rest.next() {
            halved.push(match rest.next() {
                Some(right) => combine(left, right)?,
                None => left,
            });
        }
        parts = halved;
    }
    let mut rest = parts.into_iter();
    let Some(mut folded) = rest.next() else { return Ok(None) };
    for part in rest {
        folded = combine(folded, part)?;
    }
    Ok(Some(folded))
}
