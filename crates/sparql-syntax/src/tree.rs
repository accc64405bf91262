//! Where the parser makes nodes: a part of a query's tree with its depth. A part can only get into a node through the
//! functions here, which refuse what becomes too deep; so no tall tree is ever made, not even one to be freed again.

use std::ops::Deref;

use oxrdf::{Literal, NamedNode, Variable};

use crate::algebra::{Expression, Path, Pattern, TermPattern, TriplePattern};
use crate::depth::Depth;
use crate::error::Result;
use crate::walk::AsNode;

/// A part of a query's tree with its depth.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Tree<T> {
    part: T,
    levels: Levels,
}

/// A [`Depth`], which does not tell equal parts apart.
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

impl<T> Tree<T> {
    fn new(part: T, depth: Depth) -> Result<Tree<T>> {
        depth.check()?;
        Ok(Tree { part, levels: Levels(depth) })
    }

    fn depth(&self) -> Depth {
        self.levels.0
    }

    /// A node over this part.
    pub fn under<N>(self, make: impl FnOnce(T) -> N) -> Result<Tree<N>> {
        let depth = Depth::over([self.depth()]);
        depth.check()?;
        Tree::new(make(self.part), depth)
    }

    /// A node over this part and another one.
    pub fn and<U, N>(self, other: Tree<U>, make: impl FnOnce(T, U) -> N) -> Result<Tree<N>> {
        let depth = Depth::over([self.depth(), other.depth()]);
        depth.check()?;
        Tree::new(make(self.part, other.part), depth)
    }

    /// A node over this part, another one and perhaps a third one.
    pub fn and_maybe<U, V, N>(
        self,
        other: Tree<U>,
        third: Option<Tree<V>>,
        make: impl FnOnce(T, U, Option<V>) -> N,
    ) -> Result<Tree<N>> {
        let third_depth = third.as_ref().map(Tree::depth);
        let depth = Depth::over([self.depth(), other.depth()].into_iter().chain(third_depth));
        depth.check()?;
        Tree::new(make(self.part, other.part, third.map(|third| third.part)), depth)
    }

    /// A link of a chain that this part and another one make.
    pub fn joined<U, N>(self, other: Tree<U>, make: impl FnOnce(T, U) -> N) -> Result<Tree<N>> {
        let depth = Depth::joined(0, [self.depth(), other.depth()]);
        depth.check()?;
        Tree::new(make(self.part, other.part), depth)
    }

    /// The same part where planning makes so many more links of it.
    pub fn with_links(self, links: usize) -> Result<Tree<T>> {
        let depth = Depth::joined(links, [self.depth()]);
        Tree::new(self.part, depth)
    }

    /// Parts beside each other.
    pub fn list(parts: Vec<Tree<T>>) -> Tree<Vec<T>> {
        let deepest = parts.iter().map(Tree::depth).max_by_key(|depth| depth.levels()).unwrap_or(Depth::chain(0));
        Tree { levels: Levels(deepest), part: parts.into_iter().map(|tree| tree.part).collect() }
    }

    /// The part, to be looked through or handed over, not to be built upon.
    pub fn into_part(self) -> T {
        self.part
    }
}

impl<T: AsNode> Tree<T> {
    /// A part that was made in some other way: it is measured.
    pub fn of_part(part: T) -> Tree<T> {
        let depth = Depth::of(&part);
        Tree { part, levels: Levels(depth) }
    }
}

impl<T> Deref for Tree<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.part
    }
}

impl From<NamedNode> for Tree<Expression> {
    fn from(term: NamedNode) -> Self {
        Tree { part: term.into(), levels: Levels(Depth::LEAF) }
    }
}

impl From<Literal> for Tree<Expression> {
    fn from(term: Literal) -> Self {
        Tree { part: term.into(), levels: Levels(Depth::LEAF) }
    }
}

impl From<Variable> for Tree<Expression> {
    fn from(term: Variable) -> Self {
        Tree { part: term.into(), levels: Levels(Depth::LEAF) }
    }
}

impl Default for Tree<Pattern> {
    fn default() -> Self {
        Tree::of_part(Pattern::default())
    }
}

impl Tree<Pattern> {
    /// Triples that are joined.
    pub fn triples(patterns: Vec<TriplePattern>) -> Result<Self> {
        let depth = Depth::chain(patterns.len());
        Tree::new(Pattern::Bgp { patterns }, depth)
    }

    /// The triples, if there is nothing else.
    #[expect(clippy::result_large_err, reason = "what is given back is no error")]
    pub fn into_triples(self) -> std::result::Result<Vec<TriplePattern>, Self> {
        match self.part {
            Pattern::Bgp { patterns } => Ok(patterns),
            part => Err(Tree { part, ..self }),
        }
    }
}

impl Tree<Path> {
    /// The path from a subject to an object. Planning makes joins of its steps, so that it is as deep as they are.
    pub fn between(self, subject: TermPattern, object: TermPattern) -> Tree<Pattern> {
        Tree { levels: self.levels, part: Pattern::Path { subject, path: self.part, object } }
    }
}

/// Folds from the left; long lists are folded as a balanced tree, which means the same and is not deep.
pub(super) fn reduce<T>(
    mut parts: Vec<Tree<T>>,
    combine: impl Fn(Tree<T>, Tree<T>) -> Result<Tree<T>>,
) -> Result<Option<Tree<T>>> {
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
