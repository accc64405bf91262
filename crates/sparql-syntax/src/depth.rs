//! Limits on the depth of a query's tree. Cloning, comparing, planning, evaluating and freeing a tree are recursive;
//! therefore its depth must be limited before it is built. The parser builds nodes through `tree.rs`, which computes
//! the depth by the rules of [`Depth`]. After rewriting, the depth is measured here, without recursion.

use crate::algebra::{Path, QueryPattern};
use crate::error::{SparqlCode, SparqlError, SparqlErrorClass};
use crate::walk::{AsNode, QueryNode};

/// Maximum depth of a parsed tree.
pub const MOST: usize = 400;
/// Maximum depth of a tree that is evaluated. The rewriting for WDQS adds nodes, such as one for each label.
const MOST_REWRITTEN: usize = 2 * MOST;

/// The depth of a tree after planning, which orders joined patterns and turns them into a chain.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Depth {
    /// Number of links of the chain at the top of the tree.
    chain: usize,
    /// Depth of the deepest subtree below a link.
    below: usize,
}

impl Depth {
    /// The depth of a node without children.
    pub const LEAF: Depth = Depth::chain(1);

    /// Returns the depth of a chain without children below its links.
    pub const fn chain(links: usize) -> Depth {
        Depth { chain: links, below: 0 }
    }

    /// Returns the number of nodes from the top to the deepest leaf.
    pub fn levels(self) -> usize {
        self.chain.saturating_add(self.below)
    }

    /// Returns the depth of a node with these children.
    pub fn over(children: impl IntoIterator<Item = Depth>) -> Depth {
        Depth { chain: 1, below: children.into_iter().map(Depth::levels).max().unwrap_or(0) }
    }

    /// Returns the depth of a chain that joins the chains of the children and has `links` more.
    pub fn joined(links: usize, children: impl IntoIterator<Item = Depth>) -> Depth {
        let add = |sum: Depth, child: Depth| Depth {
            chain: sum.chain.saturating_add(child.chain),
            below: sum.below.max(child.below),
        };
        children.into_iter().fold(Depth::chain(links), add)
    }

    /// Rejects a tree that is deeper than [`MOST`].
    ///
    /// # Errors
    /// Returns an error if the tree is too deep.
    pub fn check(self) -> Result<(), SparqlError> {
        self.check_most(MOST)
    }

    fn check_most(self, most: usize) -> Result<(), SparqlError> {
        if self.levels() <= most {
            return Ok(());
        }
        let message = format!("the query has more than {MOST} patterns, steps or conditions that build on each other");
        Err(SparqlError::new(SparqlErrorClass::Unsupported, SparqlCode::TooLarge, message)
            .help("split the query, or use VALUES or IN, which take lists of any length"))
    }
}

/// Rejects a rewritten pattern that is too deep to be evaluated.
///
/// # Errors
/// Returns an error if the pattern is too deep.
pub fn check_rewritten(pattern: &QueryPattern) -> Result<(), SparqlError> {
    Depth::of(pattern).check_most(MOST_REWRITTEN)
}

/// The rule that computes a node's depth from those of its children.
enum Makes {
    /// [`Depth::over`].
    Over,
    /// [`Depth::joined`], with this many links of its own.
    Joined(usize),
}

enum Task<'q> {
    Measure(QueryNode<'q>),
    /// Combines the depths from this index on, which are those of a node's children.
    Close(Makes, usize),
}

impl Depth {
    /// Measures the depth of a tree.
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

/// Returns the rule for the depth of a node.
fn makes(node: QueryNode<'_>) -> Makes {
    match node {
        QueryNode::Pattern(pattern) => match pattern {
            QueryPattern::Bgp { patterns } => Makes::Joined(patterns.len()),
            QueryPattern::Path { .. } | QueryPattern::Join { .. } | QueryPattern::Lateral { .. } => Makes::Joined(0),
            // Each key that is not a variable is bound in a node below the sorting.
            QueryPattern::OrderBy { keys, .. } => {
                Makes::Joined(1 + keys.iter().filter(|key| !key.is_variable()).count())
            }
            QueryPattern::Relation { .. }
            | QueryPattern::Values { .. }
            | QueryPattern::Table { .. }
            | QueryPattern::Include { .. }
            | QueryPattern::LeftJoin { .. }
            | QueryPattern::LeftLateral { .. }
            | QueryPattern::Union { .. }
            | QueryPattern::Minus { .. }
            | QueryPattern::Filter { .. }
            | QueryPattern::Extend { .. }
            | QueryPattern::Graph { .. }
            | QueryPattern::Service { .. }
            | QueryPattern::Group { .. }
            | QueryPattern::Project { .. }
            | QueryPattern::Distinct { .. }
            | QueryPattern::Reduced { .. }
            | QueryPattern::Slice { .. } => Makes::Over,
        },
        QueryNode::Path(path) => match path {
            // An inversion at the top of a path adds no node.
            Path::Reverse(_) => Makes::Joined(1),
            Path::Sequence(..) => Makes::Joined(0),
            Path::NamedNode(_)
            | Path::NegatedPropertySet(_)
            | Path::Alternative(..)
            | Path::ZeroOrMore(_)
            | Path::OneOrMore(_)
            | Path::ZeroOrOne(_) => Makes::Over,
        },
        QueryNode::Expression(_) | QueryNode::SortKey(_) | QueryNode::Aggregate(_) => Makes::Over,
    }
}

#[cfg(test)]
mod tests {
    use crate::{Dialect, parse};

    #[test]
    fn places_are_told() {
        let text = format!("SELECT * {{ ?a wdt:P31{} ?b }}", "/wdt:P279".repeat(500));
        let error = parse(&text, Dialect::Wdqs).unwrap_err();
        assert!(error.line == 1 && error.column > 1000, "{error}");
    }
}
