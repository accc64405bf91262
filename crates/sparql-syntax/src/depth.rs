//! How deep a query's tree is. Cloning, comparing, planning, evaluating and freeing it go down it by recursion, so that
//! its depth has to be bounded before it is made: the parser makes its nodes through `syntax/tree.rs`, which adds depths
//! up as [`Depth`] says; what rewriting adds is measured here, without recursion.
//!
//! No arm of a match is a wildcard: what the algebra may get one day does not compile until it is looked at.

use oxrdf::Variable;
use spargebra::Query;
use spargebra::algebra::{
    AggregateExpression, AggregateFunction, Expression, GraphPattern, OrderExpression, PropertyPathExpression as Path,
    QueryDataset,
};
use spargebra::term::{GroundTerm, NamedNodePattern, TermPattern, TriplePattern};

use super::error::{Class, Error};

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
        Err(Error::new(Class::Unsupported, "too-large", message)
            .help("VALUES and IN take lists of any length; a large query may be asked in parts"))
    }
}

/// Refuses a pattern that has become too deep to be solved.
///
/// # Errors
/// It has.
pub fn check_rewritten(pattern: &GraphPattern) -> Result<(), Error> {
    Depth::of(pattern).check_most(MOST_REWRITTEN)
}

/// What has a depth: a reference to it as a [`Node`].
pub trait Deep {
    /// The node that it is.
    fn node(&self) -> Node<'_>;
}

/// A node of a query's tree.
pub enum Node<'q> {
    /// The whole.
    Query(&'q Query),
    /// A graph pattern.
    Pattern(&'q GraphPattern),
    /// An expression.
    Expression(&'q Expression),
    /// A key of ORDER BY.
    Order(&'q OrderExpression),
    /// An aggregate.
    Aggregate(&'q AggregateExpression),
    /// A property path.
    Path(&'q Path),
}

impl Deep for Query {
    fn node(&self) -> Node<'_> {
        Node::Query(self)
    }
}

impl Deep for GraphPattern {
    fn node(&self) -> Node<'_> {
        Node::Pattern(self)
    }
}

impl Deep for Expression {
    fn node(&self) -> Node<'_> {
        Node::Expression(self)
    }
}

impl Deep for AggregateExpression {
    fn node(&self) -> Node<'_> {
        Node::Aggregate(self)
    }
}

impl Deep for Path {
    fn node(&self) -> Node<'_> {
        Node::Path(self)
    }
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
    pub fn of(tree: &impl Deep) -> Depth {
        let mut tasks = vec![Task::Measure(tree.node())];
        let mut depths: Vec<Depth> = Vec::new();
        while let Some(task) = tasks.pop() {
            match task {
                Task::Measure(node) => {
                    let place = tasks.len();
                    tasks.push(Task::Close(Makes::Over, depths.len()));
                    let makes = children(&node, &mut |child| tasks.push(Task::Measure(child)));
                    if let Some(Task::Close(close, _)) = tasks.get_mut(place) {
                        *close = makes;
                    }
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

/// How many nodes a tree has.
pub fn nodes(tree: &impl Deep) -> usize {
    let mut open = vec![tree.node()];
    let mut nodes = 0;
    while let Some(node) = open.pop() {
        nodes += 1;
        children(&node, &mut |child| open.push(child));
    }
    nodes
}

/// Calls `each` for every pattern of a tree, those of EXISTS among them.
pub fn on_patterns<'q>(tree: &'q impl Deep, each: &mut dyn FnMut(&'q GraphPattern)) {
    let mut open = vec![tree.node()];
    while let Some(node) = open.pop() {
        if let Node::Pattern(pattern) = node {
            each(pattern);
        }
        children(&node, &mut |child| open.push(child));
    }
}

/// Gives a node's children to `each`.
fn children<'q>(node: &Node<'q>, each: &mut dyn FnMut(Node<'q>)) -> Makes {
    match *node {
        Node::Query(query) => of_query(query, each),
        Node::Pattern(pattern) => return of_pattern(pattern, each),
        Node::Expression(expression) => of_expression(expression, each),
        Node::Order(OrderExpression::Asc(key) | OrderExpression::Desc(key)) => each(Node::Expression(key)),
        Node::Aggregate(AggregateExpression::CountSolutions { distinct: _ }) => {}
        Node::Aggregate(AggregateExpression::FunctionCall { name, expr, distinct: _ }) => {
            of_aggregate(name);
            each(Node::Expression(expr));
        }
        Node::Path(path) => return of_path(path, each),
    }
    Makes::Over
}

fn of_query<'q>(query: &'q Query, each: &mut dyn FnMut(Node<'q>)) {
    let (dataset, pattern) = match query {
        Query::Select { dataset, pattern, base_iri: _ }
        | Query::Ask { dataset, pattern, base_iri: _ }
        | Query::Describe { dataset, pattern, base_iri: _ } => (dataset, pattern),
        Query::Construct { template, dataset, pattern, base_iri: _ } => {
            template.iter().for_each(of_triple);
            (dataset, pattern)
        }
    };
    // Lists of names.
    if let Some(QueryDataset { default: _, named: _ }) = dataset {}
    each(Node::Pattern(pattern));
}

fn of_pattern<'q>(pattern: &'q GraphPattern, each: &mut dyn FnMut(Node<'q>)) -> Makes {
    match pattern {
        GraphPattern::Bgp { patterns } => {
            patterns.iter().for_each(of_triple);
            return Makes::Joined(patterns.len());
        }
        GraphPattern::Path { subject, path, object } => {
            of_term(subject);
            of_term(object);
            each(Node::Path(path));
            return Makes::Joined(0);
        }
        GraphPattern::Values { variables: _, bindings } => bindings.iter().flatten().flatten().for_each(of_ground),
        GraphPattern::Join { left, right } | GraphPattern::Lateral { left, right } => {
            each(Node::Pattern(left));
            each(Node::Pattern(right));
            return Makes::Joined(0);
        }
        GraphPattern::Union { left, right } | GraphPattern::Minus { left, right } => {
            each(Node::Pattern(left));
            each(Node::Pattern(right));
        }
        GraphPattern::LeftJoin { left, right, expression } => {
            each(Node::Pattern(left));
            each(Node::Pattern(right));
            expression.iter().for_each(|expression| each(Node::Expression(expression)));
        }
        GraphPattern::Filter { expr, inner } => {
            each(Node::Expression(expr));
            each(Node::Pattern(inner));
        }
        GraphPattern::Extend { inner, variable: _, expression } => {
            each(Node::Pattern(inner));
            each(Node::Expression(expression));
        }
        GraphPattern::OrderBy { inner, expression } => {
            each(Node::Pattern(inner));
            expression.iter().for_each(|key| each(Node::Order(key)));
            // A key that is no variable is given one below the sorting.
            return Makes::Joined(1 + expression.iter().filter(|key| !is_variable(key)).count());
        }
        GraphPattern::Group { inner, variables: _, aggregates } => {
            each(Node::Pattern(inner));
            aggregates.iter().for_each(|(_, aggregate)| each(Node::Aggregate(aggregate)));
        }
        GraphPattern::Graph { name, inner } | GraphPattern::Service { name, inner, silent: _ } => {
            of_name(name);
            each(Node::Pattern(inner));
        }
        GraphPattern::Project { inner, variables: _ }
        | GraphPattern::Distinct { inner }
        | GraphPattern::Reduced { inner }
        | GraphPattern::Slice { inner, start: _, length: _ } => each(Node::Pattern(inner)),
    }
    Makes::Over
}

/// Whether a key to sort by is a variable.
pub fn is_variable(key: &OrderExpression) -> bool {
    let (OrderExpression::Asc(key) | OrderExpression::Desc(key)) = key;
    matches!(key, Expression::Variable(_))
}

fn of_expression<'q>(expression: &'q Expression, each: &mut dyn FnMut(Node<'q>)) {
    match expression {
        Expression::NamedNode(_) | Expression::Literal(_) | Expression::Variable(_) | Expression::Bound(_) => {}
        Expression::Exists(pattern) => each(Node::Pattern(pattern)),
        Expression::Or(a, b)
        | Expression::And(a, b)
        | Expression::Equal(a, b)
        | Expression::SameTerm(a, b)
        | Expression::Greater(a, b)
        | Expression::GreaterOrEqual(a, b)
        | Expression::Less(a, b)
        | Expression::LessOrEqual(a, b)
        | Expression::Add(a, b)
        | Expression::Subtract(a, b)
        | Expression::Multiply(a, b)
        | Expression::Divide(a, b) => [a, b].into_iter().for_each(|child| each(Node::Expression(child))),
        Expression::UnaryPlus(a) | Expression::UnaryMinus(a) | Expression::Not(a) => each(Node::Expression(a)),
        Expression::In(a, list) => {
            each(Node::Expression(a));
            list.iter().for_each(|child| each(Node::Expression(child)));
        }
        Expression::If(a, b, c) => [a, b, c].into_iter().for_each(|child| each(Node::Expression(child))),
        Expression::Coalesce(list) | Expression::FunctionCall(_, list) => {
            list.iter().for_each(|child| each(Node::Expression(child)));
        }
    }
}

fn of_path<'q>(path: &'q Path, each: &mut dyn FnMut(Node<'q>)) -> Makes {
    match path {
        Path::NamedNode(_) | Path::NegatedPropertySet(_) => Makes::Over,
        // What is turned round at the top of a path is no node.
        Path::Reverse(path) => {
            each(Node::Path(path));
            Makes::Joined(1)
        }
        Path::Sequence(a, b) => {
            each(Node::Path(a));
            each(Node::Path(b));
            Makes::Joined(0)
        }
        Path::Alternative(a, b) => {
            each(Node::Path(a));
            each(Node::Path(b));
            Makes::Over
        }
        Path::ZeroOrMore(path) | Path::OneOrMore(path) | Path::ZeroOrOne(path) => {
            each(Node::Path(path));
            Makes::Over
        }
    }
}

// What has no children: these only have to compile.

fn of_triple(triple: &TriplePattern) {
    let TriplePattern { subject, predicate, object } = triple;
    of_term(subject);
    of_name(predicate);
    of_term(object);
}

fn of_term(term: &TermPattern) {
    match term {
        TermPattern::NamedNode(_) | TermPattern::BlankNode(_) | TermPattern::Literal(_) | TermPattern::Variable(_) => {}
    }
}

fn of_name(name: &NamedNodePattern) {
    match name {
        NamedNodePattern::NamedNode(_) | NamedNodePattern::Variable(Variable { .. }) => {}
    }
}

fn of_ground(term: &GroundTerm) {
    match term {
        GroundTerm::NamedNode(_) | GroundTerm::Literal(_) => {}
    }
}

fn of_aggregate(name: &AggregateFunction) {
    match name {
        AggregateFunction::Count
        | AggregateFunction::Sum
        | AggregateFunction::Avg
        | AggregateFunction::Min
        | AggregateFunction::Max
        | AggregateFunction::Sample
        | AggregateFunction::GroupConcat { separator: _ }
        | AggregateFunction::Custom(_) => {}
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
