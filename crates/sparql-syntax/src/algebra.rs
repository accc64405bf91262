//! The algebra: the meaning of a query after parsing, after the rewriting for the dialect, and after planning. Leaves
//! (variables, terms, triple patterns, paths) are types of oxrdf and spargebra.
//!
//! Traversals use [`crate::walk`], which lists the children of every node. Only [`crate::convert`] deals with nodes
//! that spargebra lacks.

use std::sync::Arc;

use oxiri::Iri;
use oxrdf::{Literal, NamedNode, Term, Variable};
pub use spargebra::algebra::{AggregateFunction, Function, PropertyPathExpression as Path, QueryDataset};
pub use spargebra::term::{NamedNodePattern, TermPattern, TriplePattern};

pub use crate::own::OwnFunction;

/// A query.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SparqlQuery {
    /// The query form.
    pub form: QueryForm,
    /// The dataset of FROM and FROM NAMED, if given.
    pub dataset: Option<QueryDataset>,
    /// The base for relative IRIs that the query computes.
    pub base: Option<Iri<String>>,
    /// The pattern, including the solution modifiers.
    pub pattern: QueryPattern,
}

/// A query form.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum QueryForm {
    /// Solutions.
    Select,
    /// Whether a solution exists.
    Ask,
    /// A template of triples, instantiated for each solution.
    Construct(Vec<TriplePattern>),
    /// A description of the terms in the solutions.
    Describe,
}

/// A solution: for each column a value, or `None` if unbound.
pub type Row = Vec<Option<Term>>;

/// A graph pattern.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum QueryPattern {
    /// A join of triple patterns. The empty one has a single solution without bindings.
    Bgp {
        /// The triple patterns.
        patterns: Vec<TriplePattern>,
    },
    /// A property path of more than one predicate.
    Path {
        /// The subject.
        subject: TermPattern,
        /// The path.
        path: Path,
        /// The object.
        object: TermPattern,
    },
    /// Pairs of a relation that is computed, not stored.
    Relation {
        /// The first of each pair.
        subject: TermPattern,
        /// The number of the relation in the running query.
        number: usize,
        /// The second of each pair.
        object: TermPattern,
    },
    /// Inline rows: those of VALUES, or of a table.
    Values {
        /// The columns.
        variables: Vec<Variable>,
        /// For each column a value, or `None` if unbound. Rows of tables may contain blank nodes.
        rows: Arc<Vec<Row>>,
    },
    /// A table that is computed before evaluation and then replaced by its rows.
    Table {
        /// The number of the table in the query.
        number: usize,
        /// Its columns.
        variables: Vec<Variable>,
    },
    /// `INCLUDE %name`.
    Include {
        /// The name of the subquery, without `%`.
        name: String,
        /// Its columns.
        variables: Vec<Variable>,
    },
    /// Compatible solutions of both sides, merged.
    Join {
        /// One side.
        left: Box<QueryPattern>,
        /// The other side.
        right: Box<QueryPattern>,
    },
    /// A join that evaluates the right side once for each solution of the left side, with its bindings.
    Lateral {
        /// The side that is evaluated first.
        left: Box<QueryPattern>,
        /// The side that is evaluated for each solution of the left one.
        right: Box<QueryPattern>,
    },
    /// OPTIONAL.
    LeftJoin {
        /// The required side.
        left: Box<QueryPattern>,
        /// The optional side.
        right: Box<QueryPattern>,
        /// The condition on the merged solution.
        condition: Option<Expression>,
    },
    /// An OPTIONAL that evaluates the right side once for each solution of the left side, with its bindings.
    LeftLateral {
        /// The required side.
        left: Box<QueryPattern>,
        /// The optional side.
        right: Box<QueryPattern>,
        /// The condition on the merged solution.
        condition: Option<Expression>,
    },
    /// The solutions of both sides.
    Union {
        /// One side.
        left: Box<QueryPattern>,
        /// The other side.
        right: Box<QueryPattern>,
    },
    /// The solutions of the left side without a compatible solution on the right side.
    Minus {
        /// The solutions to filter.
        left: Box<QueryPattern>,
        /// The solutions to exclude.
        right: Box<QueryPattern>,
    },
    /// FILTER, HAVING.
    Filter {
        /// The filtered pattern.
        inner: Box<QueryPattern>,
        /// The condition.
        condition: Expression,
    },
    /// BIND, and `AS` in SELECT and GROUP BY.
    Extend {
        /// The pattern to extend.
        inner: Box<QueryPattern>,
        /// The variable that gets the value.
        variable: Variable,
        /// The value. On an error the variable stays unbound.
        expression: Expression,
    },
    /// GRAPH.
    Graph {
        /// The graph.
        name: NamedNodePattern,
        /// The pattern within the graph.
        inner: Box<QueryPattern>,
    },
    /// SERVICE.
    Service {
        /// The service.
        name: NamedNodePattern,
        /// The pattern that the service evaluates.
        inner: Box<QueryPattern>,
        /// Whether a failure of the service is ignored.
        silent: bool,
    },
    /// GROUP BY, or aggregates without it.
    Group {
        /// The pattern to group.
        inner: Box<QueryPattern>,
        /// The group key.
        variables: Vec<Variable>,
        /// The aggregates, each with the variable for its value.
        aggregates: Vec<(Variable, AggregateCall)>,
    },
    /// ORDER BY.
    OrderBy {
        /// The pattern to sort.
        inner: Box<QueryPattern>,
        /// The sort keys, most significant first.
        keys: Vec<SortKey>,
    },
    /// The projection of a SELECT.
    Project {
        /// The pattern to project.
        inner: Box<QueryPattern>,
        /// The variables.
        variables: Vec<Variable>,
    },
    /// DISTINCT.
    Distinct {
        /// The pattern to deduplicate.
        inner: Box<QueryPattern>,
    },
    /// REDUCED.
    Reduced {
        /// The pattern in which duplicates may be dropped.
        inner: Box<QueryPattern>,
    },
    /// LIMIT and OFFSET.
    Slice {
        /// The pattern to cut.
        inner: Box<QueryPattern>,
        /// Number of solutions to skip.
        start: usize,
        /// Maximum number of solutions after those; `None` for all.
        length: Option<usize>,
    },
}

/// An expression.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Expression {
    /// An IRI.
    NamedNode(NamedNode),
    /// A literal.
    Literal(Literal),
    /// A variable's value.
    Variable(Variable),
    /// Whether a variable is bound.
    Bound(Variable),
    /// Whether a pattern has a compatible solution.
    Exists(Box<QueryPattern>),
    /// An operator with one operand.
    Unary(Unary, Box<Expression>),
    /// An operator with two operands.
    Binary(Binary, Box<Expression>, Box<Expression>),
    /// Whether a value equals one of a list.
    In(Box<Expression>, Vec<Expression>),
    /// The second expression if the first is true, else the third.
    If(Box<Expression>, Box<Expression>, Box<Expression>),
    /// The first value that is not an error.
    Coalesce(Vec<Expression>),
    /// A function call.
    Call(Function, Vec<Expression>),
    /// A call of a function of this project.
    Own(OwnFunction, Vec<Expression>),
}

/// An operator with one operand.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Unary {
    /// `+`
    Plus,
    /// `-`
    Minus,
    /// `!`
    Not,
}

/// An operator with two operands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Binary {
    /// `||`
    Or,
    /// `&&`
    And,
    /// `=`
    Equal,
    /// `sameTerm`
    SameTerm,
    /// `>`
    Greater,
    /// `>=`
    GreaterOrEqual,
    /// `<`
    Less,
    /// `<=`
    LessOrEqual,
    /// `+`
    Add,
    /// `-`
    Subtract,
    /// `*`
    Multiply,
    /// `/`
    Divide,
}

/// A key of ORDER BY.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct SortKey {
    /// The expression to sort by.
    pub expression: Expression,
    /// Whether the order is descending.
    pub descends: bool,
}

impl SortKey {
    /// Returns whether the key is a plain variable.
    pub fn is_variable(&self) -> bool {
        matches!(self.expression, Expression::Variable(_))
    }
}

/// An aggregate over a group of solutions.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum AggregateCall {
    /// `COUNT(*)`.
    CountSolutions {
        /// Whether equal solutions count once.
        distinct: bool,
    },
    /// A function of the values of an expression.
    Call {
        /// The function.
        function: AggregateFunction,
        /// The expression.
        argument: Expression,
        /// Whether equal values count once.
        distinct: bool,
    },
}

/// A generated variable, by purpose. Its name begins with a dot, which no query can write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Helper<'l> {
    /// An aggregate or an expression without an alias.
    Unnamed(usize),
    /// A key of ORDER BY.
    SortKey(usize),
    /// A blank node of a pattern, by its label.
    Blank(&'l str),
    /// The node between two steps of a path.
    Middle(usize),
    /// The node that joins predicate and object of an element's statement, for a pattern with a variable predicate.
    Said(usize),
    /// The argument of an aggregate.
    Argument(usize),
    /// The value of an expression that is compiled alone.
    Value,
    /// A variable that is bound if the pattern of an EXISTS has a solution.
    Exists(usize),
    /// The value of a variable outside a part that is solved separately.
    Outer(usize),
    /// The name of the graph that a part reads.
    Graph(usize),
    /// The rank of a row in the results of a search service.
    Found(usize),
    /// The distance to a nearest geometry.
    Distance(usize),
    /// A number that is unique to each solution.
    Solution(usize),
    /// The value of a variable with its lexical form, by the variable's name.
    Written(&'l str),
    /// A triple term with variables.
    TripleTerm(usize),
}

impl Helper<'_> {
    /// Returns whether a variable is a helper of any kind.
    pub fn is_helper(variable: &Variable) -> bool {
        variable.as_str().starts_with('.')
    }

    /// Returns whether a variable is a [`Helper::Found`].
    pub fn is_found(variable: &Variable) -> bool {
        variable.as_str().starts_with(".found")
    }

    /// Returns whether a variable is a [`Helper::Solution`].
    pub fn is_solution(variable: &Variable) -> bool {
        variable.as_str().starts_with(".solution")
    }
}

impl From<Helper<'_>> for Variable {
    fn from(helper: Helper<'_>) -> Self {
        Variable::new_unchecked(match helper {
            Helper::Unnamed(number) => format!(".{number}"),
            Helper::SortKey(number) => format!(".key{number}"),
            Helper::Blank(label) => format!(".blank.{label}"),
            Helper::Middle(number) => format!(".blank.path.{number}"),
            Helper::Said(number) => format!(".blank.said.{number}"),
            Helper::Argument(number) => format!(".argument{number}"),
            Helper::Value => ".value".to_owned(),
            Helper::Exists(number) => format!(".exists{number}"),
            Helper::Outer(number) => format!(".outer{number}"),
            Helper::Graph(number) => format!(".graph{number}"),
            Helper::Found(number) => format!(".found{number}"),
            Helper::Distance(number) => format!(".distance{number}"),
            Helper::Solution(number) => format!(".solution{number}"),
            Helper::Written(name) => format!(".written.{name}"),
            Helper::TripleTerm(number) => format!(".blank.triple.{number}"),
        })
    }
}

impl Default for QueryPattern {
    /// Returns the pattern with a single solution without bindings.
    fn default() -> Self {
        QueryPattern::Bgp { patterns: Vec::new() }
    }
}

impl QueryPattern {
    /// Returns whether this is the pattern with a single solution without bindings.
    pub fn is_unit(&self) -> bool {
        matches!(self, QueryPattern::Bgp { patterns } if patterns.is_empty())
    }

    /// Joins two patterns.
    pub fn join(left: QueryPattern, right: QueryPattern) -> QueryPattern {
        QueryPattern::Join { left: Box::new(left), right: Box::new(right) }
    }

    /// Adds a filter to a pattern.
    pub fn filter(inner: QueryPattern, condition: Expression) -> QueryPattern {
        QueryPattern::Filter { inner: Box::new(inner), condition }
    }

    /// Binds a variable to the value of an expression.
    pub fn extend(inner: QueryPattern, variable: Variable, expression: Expression) -> QueryPattern {
        QueryPattern::Extend { inner: Box::new(inner), variable, expression }
    }

    /// Projects a pattern.
    pub fn project(inner: QueryPattern, variables: Vec<Variable>) -> QueryPattern {
        QueryPattern::Project { inner: Box::new(inner), variables }
    }
}

impl Default for Expression {
    /// Returns an expression that is always an error.
    fn default() -> Self {
        Expression::Coalesce(Vec::new())
    }
}

impl Expression {
    /// Applies an operator to one operand.
    pub fn unary(operator: Unary, operand: Expression) -> Expression {
        Expression::Unary(operator, Box::new(operand))
    }

    /// Applies an operator to two operands.
    pub fn binary(operator: Binary, left: Expression, right: Expression) -> Expression {
        Expression::Binary(operator, Box::new(left), Box::new(right))
    }

    /// Negates a condition.
    #[expect(clippy::should_implement_trait, reason = "it makes a node and calculates nothing")]
    pub fn not(condition: Expression) -> Expression {
        Expression::unary(Unary::Not, condition)
    }
}

impl From<NamedNode> for Expression {
    fn from(node: NamedNode) -> Self {
        Expression::NamedNode(node)
    }
}

impl From<Literal> for Expression {
    fn from(literal: Literal) -> Self {
        Expression::Literal(literal)
    }
}

impl From<Variable> for Expression {
    fn from(variable: Variable) -> Self {
        Expression::Variable(variable)
    }
}
