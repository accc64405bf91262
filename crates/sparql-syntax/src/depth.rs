//! How deep a query's tree is. Cloning, comparing, planning, evaluating and freeing it go down it by recursion, so that
//! its depth has to be bounded before it is made: the parser makes its nodes through `tree.rs`, which adds depths up as
//! [`Depth`] says; what rewriting adds is measured here, without recursion.

use crate::algebra::{Path, Pattern};
use crate::error::{Class, Code, Error};
use crate::walk::{AsNode, Node};

/// The deepest tree that is read.
pub const MOST: usize = 400;
/// The deepest tree that is solved: what WDQS calculates otherwise takes more nodes, and each label is one.
const MOST_REWRITTEN: usize = 2 * MOST;

/// How deep a tree is, or becomes when it is planned: what is joined is put in an order and becomes a chain.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Depth {
    /// The links of the chain that the tree's top becomes.
    chain: usize,
    /// The depth of the deepest tree that hangs on a link.
    below: usize,
}

impl Depth {
    /// A node without children.
    pub const LEAF: Depth = Depth::chain(1);

    /// A chain whose links have no children.
    pub const fn chain(links: usize) -> Depth {
        Depth { chain: links, below: 0 }
    }

    /// The number of nodes from the top to the deepest leaf.
    pub fn levels(self) -> usize {
        self.chain.saturating_add(self.below)
    }

    /// A node over some children.
    pub fn over(children: impl IntoIterator<Item = Depth>) -> Depth {
        Depth { chain: 1, below: children.into_iter().map(Depth::levels).max().unwrap_or(0) }
    }

    /// A chain of some chains, and of `links` more.
    pub fn joined(links: usize, children: impl IntoIterator<Item = Depth>) -> Depth {
        let add = |sum: Depth, child: Depth| Depth {
            chain: sum.chain.saturating_add(child.chain),
            below: sum.below.max(child.below),
        };
        children.into_iter().fold(Depth::chain(links), add)
    }

    /// Refuses what is deeper than what is read.
    ///
    /// # Errors
    /// It is.
    pub fn check(self) -> Result<(), Error> {
        self.check_most(MOST)
    }

    fn check_most(self, most: usize) -> Result<(), Error> {
        if self.levels() <= most {
            return Ok(());
        }
        let message = format!("the query has more than {MOST} patterns, steps or conditions that build on each other");
        Err(Error::new(Class::Unsupported, Code::TooLarge, message)
            .help("VALUES and IN take lists of any length; a large query may be asked in parts"))
    }
}

/// Refuses a pattern that has become too deep to be solved.
///
/// # Errors
/// It has.
pub fn check_rewritten(pattern: &Pattern) -> Result<(), Error> {
    Depth::of(pattern).check_most(MOST_REWRITTEN)
}

/// How the depths of a node's children make its own.
enum Makes {
    /// [`Depth::over`].
    Over,
    /// [`Depth::joined`], with so many links of its own.
    Joined(usize),
}

enum Task<'q> {
    Measure(Node<'q>),
    /// All depths from this place on are a node's children's.
    Close(Makes, usize),
}

impl Depth {
    /// The depth of a tree.
    pub fn of(tree: &impl AsNode) -> Depth {
        let mut tasks = vec![Task::Measure(tree.as_node())];
        let mut depths: Vec<Depth> = Vec::new();
        while let Some(task) = tasks.pop() {
            match task {
                Task::Measure(node) => {
                    tasks.push(Task::Close(makes(node), depths.len()));
                    node.children(&mut |child| tasks.push(Task::Measure(child)));
                }
                Task::Close(makes, from) => {
                    let of_children = depths.drain(from..);
                    let depth = match makes {
                        Makes::Over => Depth::over(of_children),
                        Makes::Joined(links) => Depth::joined(links, of_children),
                    };
                    depths.push(depth);
                }
            }
        }
        depths.pop().unwrap_or(Depth::LEAF)
    }
}

/// How the depth of a node is made.
fn makes(node: Node<'_>) -> Makes {
    match node {
        Node::Pattern(pattern) => match pattern {
            Pattern::Bgp { patterns } => Makes::Joined(patterns.len()),
            Pattern::Path { .. } | Pattern::Join { .. } | Pattern::Lateral { .. } => Makes::Joined(0),
            // A key that is no variable is given one below the sorting.
            Pattern::OrderBy { keys, .. } => Makes::Joined(1 + keys.iter().filter(|key| !key.is_variable()).count()),
            Pattern::Relation { .. }
            | Pattern::Values { .. }
            | Pattern::Table { .. }
            | Pattern::Include { .. }
            | Pattern::LeftJoin { .. }
            | Pattern::LeftLateral { .. }
            | Pattern::Union { .. }
            | Pattern::Minus { .. }
            | Pattern::Filter { .. }
            | Pattern::Extend { .. }
            | Pattern::Graph { .. }
            | Pattern::Service { .. }
            | Pattern::Group { .. }
            | Pattern::Project { .. }
            | Pattern::Distinct { .. }
            | Pattern::Reduced { .. }
            | Pattern::Slice { .. } => Makes::Over,
        },
        Node::Path(path) => match path {
            // What is turned round at the top of a path is no node.
            Path::Reverse(_) => Makes::Joined(1),
            Path::Sequence(..) => Makes::Joined(0),
            Path::NamedNode(_)
            | Path::NegatedPropertySet(_)
            | Path::Alternative(..)
            | Path::ZeroOrMore(_)
            | Path::OneOrMore(_)
            | Path::ZeroOrOne(_) => Makes::Over,
        },
        Node::Expression(_) | Node::SortKey(_) | Node::Aggregate(_) => Makes::Over,
    }
}

#[cfg(test)]
mod tests {
    use crate::{Dialect, parse};

    #[test]
    fn places_are_told() {
        let text = format!("SELECT * {{ ?a wdt:P31{} ?b }}", "/wdt:P279".repeat(500));
        let error = parse(&text, Dialect::Wdqs).unwrap_err();
        assert!(error.place.is_some_and(|place| place.line == 1 && place.column > 1000), "{error}");
    }
}
