//! The algebra: what a query's text means, what the dialect's rewriting makes of that, and what planning makes of it in
//! turn. Its leaves (variables, terms, triple patterns, paths) are oxrdf's and spargebra's.
//!
//! Walks over it go by [`crate::walk`], which knows the children of every node; what spargebra has in its place is a
//! matter of [`crate::convert`] alone.

use std::sync::Arc;

use oxiri::Iri;
use oxrdf::{Literal, NamedNode, Term, Variable};
pub use spargebra::algebra::{AggregateFunction, Function, PropertyPathExpression as Path, QueryDataset};
pub use spargebra::term::{NamedNodePattern, TermPattern, TriplePattern};

/// A query.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Query {
    /// What it asks for.
    pub form: QueryForm,
    /// The graphs that it says it is about, if it does.
    pub dataset: Option<QueryDataset>,
    /// What relative IRIs that it computes are relative to.
    pub base: Option<Iri<String>>,
    /// Its pattern, modifiers included.
    pub pattern: Pattern,
}

/// What a query asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum QueryForm {
    /// Solutions.
    Select,
    /// Whether there is a solution.
    Ask,
    /// These triples, filled with each solution.
    Construct(Vec<TriplePattern>),
    /// What there is about the terms of the solutions.
    Describe,
}

/// A solution: a value, if there is one, for each of some variables.
pub type Row = Vec<Option<Term>>;

/// A graph pattern.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Pattern {
    /// Triple patterns that are joined. Without any it has one solution, which binds nothing.
    Bgp {
        /// The triple patterns.
        patterns: Vec<TriplePattern>,
    },
    /// A path that is more than a predicate.
    Path {
        /// Where it begins.
        subject: TermPattern,
        /// The path.
        path: Path,
        /// Where it ends.
        object: TermPattern,
    },
    /// Pairs of a relation that is computed, not stored.
    Relation {
        /// The first of each pair.
        subject: TermPattern,
        /// The relation, by its number among those of the running query.
        number: usize,
        /// The second of each pair.
        object: TermPattern,
    },
    /// Rows that are given: those of VALUES, or a table's.
    Values {
        /// The columns.
        variables: Vec<Variable>,
        /// A value, if there is one, for each column. Those of tables may be blank nodes.
        rows: Arc<Vec<Row>>,
    },
    /// A table that is made before the query is solved, and then stands here with its rows.
    Table {
        /// Its number among the query's tables.
        number: usize,
        /// Its columns.
        variables: Vec<Variable>,
    },
    /// `INCLUDE %name`.
    Include {
        /// The name of the subquery, without the sign.
        name: String,
        /// Its columns.
        variables: Vec<Variable>,
    },
    /// Solutions of both sides that fit together.
    Join {
        /// One side.
        left: Box<Pattern>,
        /// The other side.
        right: Box<Pattern>,
    },
    /// The same, with the right side asked once for each solution of the left one, whose values it sees.
    Lateral {
        /// What is asked first.
        left: Box<Pattern>,
        /// What is asked for each of its solutions.
        right: Box<Pattern>,
    },
    /// OPTIONAL.
    LeftJoin {
        /// What has to be there.
        left: Box<Pattern>,
        /// What may be there.
        right: Box<Pattern>,
        /// What has to hold for both together.
        condition: Option<Expression>,
    },
    /// The same, with the right side asked once for each solution of the left one, whose values it sees.
    LeftLateral {
        /// What has to be there.
        left: Box<Pattern>,
        /// What may be there.
        right: Box<Pattern>,
        /// What has to hold for both together.
        condition: Option<Expression>,
    },
    /// The solutions of both sides.
    Union {
        /// One side.
        left: Box<Pattern>,
        /// The other side.
        right: Box<Pattern>,
    },
    /// The solutions of the left side that none of the right side fits.
    Minus {
        /// What is left.
        left: Box<Pattern>,
        /// What is taken away.
        right: Box<Pattern>,
    },
    /// FILTER, HAVING.
    Filter {
        /// What is filtered.
        inner: Box<Pattern>,
        /// What has to hold.
        condition: Expression,
    },
    /// BIND, and `AS` in SELECT and GROUP BY.
    Extend {
        /// What gets the value.
        inner: Box<Pattern>,
        /// What the value is called.
        variable: Variable,
        /// The value. An error is no value.
        expression: Expression,
    },
    /// GRAPH.
    Graph {
        /// The graph.
        name: NamedNodePattern,
        /// What is in it.
        inner: Box<Pattern>,
    },
    /// SERVICE.
    Service {
        /// The service.
        name: NamedNodePattern,
        /// What it is given.
        inner: Box<Pattern>,
        /// Whether the query goes on where the service fails.
        silent: bool,
    },
    /// GROUP BY, and aggregates without it.
    Group {
        /// What is grouped.
        inner: Box<Pattern>,
        /// What the solutions of a group have in common.
        variables: Vec<Variable>,
        /// What is calculated for each group.
        aggregates: Vec<(Variable, Aggregate)>,
    },
    /// ORDER BY.
    OrderBy {
        /// What is sorted.
        inner: Box<Pattern>,
        /// What it is sorted by, what matters most first.
        keys: Vec<SortKey>,
    },
    /// The variables of a SELECT.
    Project {
        /// What they are taken from.
        inner: Box<Pattern>,
        /// The variables.
        variables: Vec<Variable>,
    },
    /// DISTINCT.
    Distinct {
        /// What each is taken once of.
        inner: Box<Pattern>,
    },
    /// REDUCED.
    Reduced {
        /// What each is taken at least once of.
        inner: Box<Pattern>,
    },
    /// LIMIT and OFFSET.
    Slice {
        /// What is cut.
        inner: Box<Pattern>,
        /// How many solutions are left out.
        start: usize,
        /// How many there are at most after these.
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
    /// Whether a variable has a value.
    Bound(Variable),
    /// Whether a pattern has a solution that fits.
    Exists(Box<Pattern>),
    /// An operator with one operand.
    Unary(Unary, Box<Expression>),
    /// An operator with two operands.
    Binary(Binary, Box<Expression>, Box<Expression>),
    /// Whether a value is among others.
    In(Box<Expression>, Vec<Expression>),
    /// Where the first holds, the second, else the third.
    If(Box<Expression>, Box<Expression>, Box<Expression>),
    /// The first that is no error.
    Coalesce(Vec<Expression>),
    /// A function's value.
    Call(Function, Vec<Expression>),
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
    /// What it is.
    pub expression: Expression,
    /// Whether the greatest comes first.
    pub descends: bool,
}

impl SortKey {
    /// Whether it is a variable's value.
    pub fn is_variable(&self) -> bool {
        matches!(self.expression, Expression::Variable(_))
    }
}

/// What is calculated for a group of solutions.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Aggregate {
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

/// A variable that no query can name, by what it stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Helper<'l> {
    /// What the text has without a name: an aggregate, an expression.
    Unnamed(usize),
    /// A key of ORDER BY.
    SortKey(usize),
    /// A blank node of a pattern, by its label.
    Blank(&'l str),
    /// The node between two steps of a path.
    Middle(usize),
    /// What a pattern with a variable for its predicate says of an element.
    Said(usize),
    /// The argument of an aggregate.
    Argument(usize),
    /// The value of an expression that is calculated alone.
    Value,
    /// Where a row stands among what a search found.
    Found(usize),
    /// A number that each solution has for itself.
    Solution(usize),
}

impl Helper<'_> {
    /// Whether a variable is a helper of any kind.
    pub fn is_helper(variable: &Variable) -> bool {
        variable.as_str().starts_with('.')
    }

    /// Whether a variable is a [`Helper::Found`].
    pub fn is_found(variable: &Variable) -> bool {
        variable.as_str().starts_with(".found")
    }

    /// Whether a variable is a [`Helper::Solution`].
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
            Helper::Found(number) => format!(".found{number}"),
            Helper::Solution(number) => format!(".solution{number}"),
        })
    }
}

impl Default for Pattern {
    /// One solution, which binds nothing.
    fn default() -> Self {
        Pattern::Bgp { patterns: Vec::new() }
    }
}

impl Pattern {
    /// Whether it is one solution that binds nothing.
    pub fn is_unit(&self) -> bool {
        matches!(self, Pattern::Bgp { patterns } if patterns.is_empty())
    }

    /// Two patterns joined.
    pub fn join(left: Pattern, right: Pattern) -> Pattern {
        Pattern::Join { left: Box::new(left), right: Box::new(right) }
    }

    /// A pattern filtered.
    pub fn filter(inner: Pattern, condition: Expression) -> Pattern {
        Pattern::Filter { inner: Box::new(inner), condition }
    }

    /// A pattern with a value for a variable.
    pub fn extend(inner: Pattern, variable: Variable, expression: Expression) -> Pattern {
        Pattern::Extend { inner: Box::new(inner), variable, expression }
    }

    /// A projection.
    pub fn project(inner: Pattern, variables: Vec<Variable>) -> Pattern {
        Pattern::Project { inner: Box::new(inner), variables }
    }
}

impl Default for Expression {
    /// An error.
    fn default() -> Self {
        Expression::Coalesce(Vec::new())
    }
}

impl Expression {
    /// An operator with its operand.
    pub fn unary(operator: Unary, operand: Expression) -> Expression {
        Expression::Unary(operator, Box::new(operand))
    }

    /// An operator with its operands.
    pub fn binary(operator: Binary, left: Expression, right: Expression) -> Expression {
        Expression::Binary(operator, Box::new(left), Box::new(right))
    }

    /// The opposite of a condition.
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
