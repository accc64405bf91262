//! Traversal of the algebra. Only this module lists the children of a node; depth, scope, counting, table insertion and
//! the search for EXISTS build on it.
//!
//! No match here has a wildcard arm, so that a new kind of node does not compile until it is handled.

use oxrdf::Variable;

use crate::algebra::{
    AggregateCall, Expression, NamedNodePattern, Path, QueryPattern, SortKey, TermPattern, TriplePattern,
};

/// A reference to a node of a query's tree.
#[derive(Debug, Clone, Copy)]
pub enum QueryNode<'q> {
    /// A graph pattern.
    Pattern(&'q QueryPattern),
    /// An expression.
    Expression(&'q Expression),
    /// A key of ORDER BY.
    SortKey(&'q SortKey),
    /// An aggregate.
    Aggregate(&'q AggregateCall),
    /// A property path.
    Path(&'q Path),
}

/// A mutable reference to a node of a query's tree.
#[derive(Debug)]
pub enum NodeMut<'q> {
    /// A graph pattern.
    Pattern(&'q mut QueryPattern),
    /// An expression.
    Expression(&'q mut Expression),
    /// A key of ORDER BY.
    SortKey(&'q mut SortKey),
    /// An aggregate.
    Aggregate(&'q mut AggregateCall),
    /// A property path.
    Path(&'q mut Path),
}

/// Passes a node's children to `$each`, in the order of the text. Works on shared and on mutable references.
macro_rules! children {
    ($Node:ident, $node:expr, $each:expr) => {{
        let each = $each;
        match $node {
            $Node::Pattern(pattern) => match pattern {
                QueryPattern::Bgp { patterns } => patterns.iter().for_each(of_triple),
                QueryPattern::Path { subject, path, object } => {
                    of_term(subject);
                    of_term(object);
                    each($Node::Path(path));
                }
                QueryPattern::Relation { subject, number: _, object } => {
                    of_term(subject);
                    of_term(object);
                }
                QueryPattern::Values { variables: _, rows: _ }
                | QueryPattern::Table { number: _, variables: _ }
                | QueryPattern::Include { name: _, variables: _ } => {}
                QueryPattern::Join { left, right }
                | QueryPattern::Lateral { left, right }
                | QueryPattern::Union { left, right }
                | QueryPattern::Minus { left, right } => {
                    each($Node::Pattern(left));
                    each($Node::Pattern(right));
                }
                QueryPattern::LeftJoin { left, right, condition }
                | QueryPattern::LeftLateral { left, right, condition } => {
                    each($Node::Pattern(left));
                    each($Node::Pattern(right));
                    if let Some(condition) = condition {
                        each($Node::Expression(condition));
                    }
                }
                QueryPattern::Filter { inner, condition } => {
                    each($Node::Pattern(inner));
                    each($Node::Expression(condition));
                }
                QueryPattern::Extend { inner, variable: _, expression } => {
                    each($Node::Pattern(inner));
                    each($Node::Expression(expression));
                }
                QueryPattern::Graph { name, inner } | QueryPattern::Service { name, inner, silent: _ } => {
                    of_name(name);
                    each($Node::Pattern(inner));
                }
                QueryPattern::Group { inner, variables: _, aggregates } => {
                    each($Node::Pattern(inner));
                    for (_, aggregate) in aggregates {
                        each($Node::Aggregate(aggregate));
                    }
                }
                QueryPattern::OrderBy { inner, keys } => {
                    each($Node::Pattern(inner));
                    for key in keys {
                        each($Node::SortKey(key));
                    }
                }
                QueryPattern::Project { inner, variables: _ }
                | QueryPattern::Distinct { inner }
                | QueryPattern::Reduced { inner }
                | QueryPattern::Slice { inner, start: _, length: _ } => each($Node::Pattern(inner)),
            },
            $Node::Expression(expression) => match expression {
                Expression::NamedNode(_) | Expression::Literal(_) | Expression::Variable(_) | Expression::Bound(_) => {}
                Expression::Exists(pattern) => each($Node::Pattern(pattern)),
                Expression::Unary(_, a) => each($Node::Expression(a)),
                Expression::Binary(_, a, b) => {
                    each($Node::Expression(a));
                    each($Node::Expression(b));
                }
                Expression::In(a, list) => {
                    each($Node::Expression(a));
                    for item in list {
                        each($Node::Expression(item));
                    }
                }
                Expression::If(a, b, c) => {
                    each($Node::Expression(a));
                    each($Node::Expression(b));
                    each($Node::Expression(c));
                }
                Expression::Coalesce(list) | Expression::Call(_, list) | Expression::Own(_, list) => {
                    for item in list {
                        each($Node::Expression(item));
                    }
                }
            },
            $Node::SortKey(SortKey { expression, descends: _ }) => each($Node::Expression(expression)),
            $Node::Aggregate(aggregate) => match aggregate {
                AggregateCall::CountSolutions { distinct: _ } => {}
                AggregateCall::Call { function: _, argument, distinct: _ } => each($Node::Expression(argument)),
            },
            $Node::Path(path) => match path {
                Path::NamedNode(_) | Path::NegatedPropertySet(_) => {}
                Path::Reverse(path) | Path::ZeroOrMore(path) | Path::OneOrMore(path) | Path::ZeroOrOne(path) => {
                    each($Node::Path(path));
                }
                Path::Sequence(a, b) | Path::Alternative(a, b) => {
                    each($Node::Path(a));
                    each($Node::Path(b));
                }
            },
        }
    }};
}

impl<'q> QueryNode<'q> {
    /// Passes the node's children to `each`.
    pub fn children(self, each: &mut dyn FnMut(QueryNode<'q>)) {
        children!(QueryNode, self, each);
    }
}

impl<'q> NodeMut<'q> {
    /// Passes mutable references to the node's children to `each`.
    pub fn children(self, each: &mut dyn FnMut(NodeMut<'q>)) {
        children!(NodeMut, self, each);
    }
}

// These types have no children. The functions exist to fail compilation if a type gains a variant.

fn of_triple(triple: &TriplePattern) {
    let TriplePattern { subject, predicate, object } = triple;
    of_term(subject);
    of_name(predicate);
    of_term(object);
}

fn of_term(term: &TermPattern) {
    match term {
        TermPattern::NamedNode(_) | TermPattern::BlankNode(_) | TermPattern::Literal(_) | TermPattern::Variable(_) => {}
        TermPattern::Triple(triple) => of_triple(triple),
    }
}

fn of_name(name: &NamedNodePattern) {
    match name {
        NamedNodePattern::NamedNode(_) | NamedNodePattern::Variable(_) => {}
    }
}

/// A type that a traversal can start from.
pub trait AsNode {
    /// Returns the node.
    fn as_node(&self) -> QueryNode<'_>;
}

impl AsNode for QueryPattern {
    fn as_node(&self) -> QueryNode<'_> {
        QueryNode::Pattern(self)
    }
}

impl AsNode for Expression {
    fn as_node(&self) -> QueryNode<'_> {
        QueryNode::Expression(self)
    }
}

impl AsNode for AggregateCall {
    fn as_node(&self) -> QueryNode<'_> {
        QueryNode::Aggregate(self)
    }
}

impl AsNode for Path {
    fn as_node(&self) -> QueryNode<'_> {
        QueryNode::Path(self)
    }
}

/// Returns the number of nodes in a tree.
pub fn nodes(tree: &impl AsNode) -> usize {
    let mut open = vec![tree.as_node()];
    let mut nodes = 0;
    while let Some(node) = open.pop() {
        nodes += 1;
        node.children(&mut |child| open.push(child));
    }
    nodes
}

/// Calls `each` for every variable of a tree: those of patterns, of projections and of expressions.
pub fn on_all_variables<'q>(tree: &'q impl AsNode, each: &mut dyn FnMut(&'q Variable)) {
    let mut open = vec![tree.as_node()];
    while let Some(node) = open.pop() {
        match node {
            QueryNode::Pattern(pattern) => on_in_scope(pattern, each),
            QueryNode::Expression(Expression::Variable(variable) | Expression::Bound(variable)) => each(variable),
            QueryNode::Expression(_) | QueryNode::SortKey(_) | QueryNode::Aggregate(_) | QueryNode::Path(_) => {}
        }
        node.children(&mut |child| open.push(child));
    }
}

/// Calls `each` for every pattern of a tree, including those within EXISTS.
pub fn on_patterns<'q>(tree: &'q impl AsNode, each: &mut dyn FnMut(&'q QueryPattern)) {
    let mut open = vec![tree.as_node()];
    while let Some(node) = open.pop() {
        if let QueryNode::Pattern(pattern) = node {
            each(pattern);
        }
        node.children(&mut |child| open.push(child));
    }
}

/// Returns the number of expressions in an expression, including itself but without those in patterns.
pub fn size(expression: &Expression) -> usize {
    let mut size = 0;
    on_expressions(expression, &mut |_| size += 1);
    size
}

/// Calls `each` for an expression and its subexpressions, in pre-order and without those in patterns.
pub fn on_expressions<'q>(expression: &'q Expression, each: &mut dyn FnMut(&'q Expression)) {
    each(expression);
    QueryNode::Expression(expression).children(&mut |child| {
        if let QueryNode::Expression(child) = child {
            on_expressions(child, each);
        }
    });
}

/// Calls `each` for every variable of an expression, without those in patterns.
pub fn on_variables<'q>(expression: &'q Expression, each: &mut dyn FnMut(&'q Variable)) {
    on_expressions(expression, &mut |expression| {
        if let Expression::Variable(variable) | Expression::Bound(variable) = expression {
            each(variable);
        }
    });
}

/// Calls `each` for the pattern of every EXISTS in an expression.
pub fn on_exists<'q>(expression: &'q Expression, each: &mut dyn FnMut(&'q QueryPattern)) {
    on_expressions(expression, &mut |expression| {
        if let Expression::Exists(pattern) = expression {
            each(pattern);
        }
    });
}

/// Replaces every EXISTS in an expression with the result of `each` for its pattern.
pub fn replace_exists(expression: &mut Expression, each: &mut dyn FnMut(&QueryPattern) -> Expression) {
    if let Expression::Exists(pattern) = expression {
        let replacement = each(pattern);
        *expression = replacement;
        return;
    }
    NodeMut::Expression(expression).children(&mut |child| {
        if let NodeMut::Expression(child) = child {
            replace_exists(child, each);
        }
    });
}

/// Returns whether an expression contains an EXISTS.
pub fn has_exists(expression: &Expression) -> bool {
    let mut any = false;
    on_exists(expression, &mut |_| any = true);
    any
}

/// Calls `each` for the patterns directly below a node: its children, and those of EXISTS in its expressions.
pub fn on_patterns_below(node: NodeMut<'_>, each: &mut dyn FnMut(&mut QueryPattern)) {
    node.children(&mut |child| match child {
        NodeMut::Pattern(pattern) => each(pattern),
        NodeMut::Path(_) => {}
        NodeMut::Expression(_) | NodeMut::SortKey(_) | NodeMut::Aggregate(_) => on_patterns_below(child, each),
    });
}

/// Calls `each` for every occurrence of a variable that a pattern can bind.
pub fn on_in_scope<'q>(pattern: &'q QueryPattern, each: &mut dyn FnMut(&'q Variable)) {
    match pattern {
        QueryPattern::Bgp { patterns } => {
            for triple in patterns {
                on_triple(triple, each);
            }
        }
        QueryPattern::Path { subject, object, .. } | QueryPattern::Relation { subject, object, .. } => {
            on_term(subject, each);
            on_term(object, each);
        }
        QueryPattern::Values { variables, .. }
        | QueryPattern::Table { variables, .. }
        | QueryPattern::Include { variables, .. }
        | QueryPattern::Project { variables, .. } => variables.iter().for_each(each),
        QueryPattern::Group { variables, aggregates, .. } => {
            variables.iter().chain(aggregates.iter().map(|(variable, _)| variable)).for_each(each);
        }
        QueryPattern::Minus { left, .. } => on_in_scope(left, each),
        QueryPattern::Graph { name, .. } => {
            on_name(name, each);
            on_children_in_scope(pattern, each);
        }
        QueryPattern::Extend { variable, .. } => {
            each(variable);
            on_children_in_scope(pattern, each);
        }
        QueryPattern::Join { .. }
        | QueryPattern::Lateral { .. }
        | QueryPattern::LeftJoin { .. }
        | QueryPattern::LeftLateral { .. }
        | QueryPattern::Union { .. }
        | QueryPattern::Filter { .. }
        | QueryPattern::Service { .. }
        | QueryPattern::OrderBy { .. }
        | QueryPattern::Distinct { .. }
        | QueryPattern::Reduced { .. }
        | QueryPattern::Slice { .. } => on_children_in_scope(pattern, each),
    }
}

fn on_children_in_scope<'q>(pattern: &'q QueryPattern, each: &mut dyn FnMut(&'q Variable)) {
    QueryNode::Pattern(pattern).children(&mut |child| {
        if let QueryNode::Pattern(child) = child {
            on_in_scope(child, each);
        }
    });
}

/// Calls `each` for every occurrence of a variable in a triple pattern, including those in triple terms.
pub fn on_triple<'q>(triple: &'q TriplePattern, each: &mut dyn FnMut(&'q Variable)) {
    let TriplePattern { subject, predicate, object } = triple;
    on_term(subject, each);
    on_name(predicate, each);
    on_term(object, each);
}

fn on_term<'q>(term: &'q TermPattern, each: &mut dyn FnMut(&'q Variable)) {
    match term {
        TermPattern::Variable(variable) => each(variable),
        TermPattern::Triple(triple) => on_triple(triple, each),
        TermPattern::NamedNode(_) | TermPattern::BlankNode(_) | TermPattern::Literal(_) => {}
    }
}

fn on_name<'q>(name: &'q NamedNodePattern, each: &mut dyn FnMut(&'q Variable)) {
    if let NamedNodePattern::Variable(variable) = name {
        each(variable);
    }
}
