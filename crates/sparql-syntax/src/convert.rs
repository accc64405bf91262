//! Conversion of the algebra to spargebra's: of expressions for the library that evaluates them, and of queries for tests
//! that compare parsers and evaluators. Only this module knows the encodings of nodes that spargebra lacks.
//!
//! Blank nodes of tables, and relations, are encoded as IRIs. Every IRI of a query, of the data or of a function has a
//! colon after its scheme; the encoded ones have none, so that they cannot collide.

use oxrdf::{BlankNode, NamedNode, NamedOrBlankNode, Term};
use spargebra::algebra::{AggregateExpression, Expression as Its, Function, GraphPattern, OrderExpression};
use spargebra::term::{GroundTerm, GroundTriple};

use crate::algebra::{AggregateCall, Binary, Expression, QueryForm, QueryPattern, Row, SortKey, SparqlQuery, Unary};

/// Prefix of the IRI that encodes a blank node.
const BLANK: &str = "blank ";
/// Prefix of the services that encode tables and named subqueries without rows.
const OPEN: &str = "urn:terrapin:";

/// Returns the predicate that encodes a relation.
pub fn relation(number: usize) -> NamedNode {
    NamedNode::new_unchecked(format!("relation {number}"))
}

/// Encodes a blank node as an IRI, for places where only IRIs are allowed.
fn of_blank(node: &BlankNode) -> NamedNode {
    // Labels may contain colons.
    let label = node.as_str().replace('%', "%25").replace(':', "%3A");
    NamedNode::new_unchecked(format!("{BLANK}{label}"))
}

/// Converts a query.
pub fn query(query: SparqlQuery) -> spargebra::Query {
    let SparqlQuery { form, dataset, base: base_iri, pattern: inner } = query;
    let pattern = pattern(inner);
    match form {
        QueryForm::Select => spargebra::Query::Select { dataset, pattern, base_iri },
        QueryForm::Ask => spargebra::Query::Ask { dataset, pattern, base_iri },
        QueryForm::Construct(template) => spargebra::Query::Construct { template, dataset, pattern, base_iri },
        QueryForm::Describe => spargebra::Query::Describe { dataset, pattern, base_iri },
    }
}

fn boxed(inner: QueryPattern) -> Box<GraphPattern> {
    Box::new(pattern(inner))
}

/// Converts a pattern. Tables and named subqueries without rows become calls of services that do not exist.
pub fn pattern(pattern: QueryPattern) -> GraphPattern {
    match pattern {
        QueryPattern::Bgp { patterns } => GraphPattern::Bgp { patterns },
        QueryPattern::Path { subject, path, object } => GraphPattern::Path { subject, path, object },
        QueryPattern::Relation { subject, number, object } => {
            let predicate = relation(number).into();
            GraphPattern::Bgp { patterns: vec![spargebra::term::TriplePattern { subject, predicate, object }] }
        }
        QueryPattern::Values { variables, rows } => {
            GraphPattern::Values { variables, bindings: rows.iter().map(row).collect() }
        }
        QueryPattern::Table { number, variables } => open(format!("{OPEN}table:{number}"), variables),
        QueryPattern::Include { name, variables } => open(format!("{OPEN}named:{name}"), variables),
        QueryPattern::Join { left, right } => GraphPattern::Join { left: boxed(*left), right: boxed(*right) },
        QueryPattern::Lateral { left, right } => GraphPattern::Lateral { left: boxed(*left), right: boxed(*right) },
        QueryPattern::LeftJoin { left, right, condition } => {
            GraphPattern::LeftJoin { left: boxed(*left), right: boxed(*right), expression: condition.map(expression) }
        }
        QueryPattern::LeftLateral { left, right, condition } => {
            let (unit, expression) = (Box::default(), condition.map(expression));
            let right = Box::new(GraphPattern::LeftJoin { left: unit, right: boxed(*right), expression });
            GraphPattern::Lateral { left: boxed(*left), right }
        }
        QueryPattern::Union { left, right } => GraphPattern::Union { left: boxed(*left), right: boxed(*right) },
        QueryPattern::Minus { left, right } => GraphPattern::Minus { left: boxed(*left), right: boxed(*right) },
        QueryPattern::Filter { inner, condition } => {
            GraphPattern::Filter { expr: expression(condition), inner: boxed(*inner) }
        }
        QueryPattern::Extend { inner, variable, expression: value } => {
            GraphPattern::Extend { inner: boxed(*inner), variable, expression: expression(value) }
        }
        QueryPattern::Graph { name, inner } => GraphPattern::Graph { name, inner: boxed(*inner) },
        QueryPattern::Service { name, inner, silent } => GraphPattern::Service { name, inner: boxed(*inner), silent },
        QueryPattern::Group { inner, variables, aggregates } => GraphPattern::Group {
            inner: boxed(*inner),
            variables,
            aggregates: aggregates.into_iter().map(|(variable, made)| (variable, aggregate(made))).collect(),
        },
        QueryPattern::OrderBy { inner, keys } => {
            GraphPattern::OrderBy { inner: boxed(*inner), expression: keys.into_iter().map(key).collect() }
        }
        QueryPattern::Project { inner, variables } => GraphPattern::Project { inner: boxed(*inner), variables },
        QueryPattern::Distinct { inner } => GraphPattern::Distinct { inner: boxed(*inner) },
        QueryPattern::Reduced { inner } => GraphPattern::Reduced { inner: boxed(*inner) },
        QueryPattern::Slice { inner, start, length } => GraphPattern::Slice { inner: boxed(*inner), start, length },
    }
}

fn open(name: String, variables: Vec<oxrdf::Variable>) -> GraphPattern {
    let inner = Box::new(GraphPattern::Values { variables, bindings: Vec::new() });
    GraphPattern::Service { name: NamedNode::new_unchecked(name).into(), inner, silent: false }
}

fn row(row: &Row) -> Vec<Option<GroundTerm>> {
    row.iter().map(|value| value.as_ref().map(ground)).collect()
}

fn ground(term: &Term) -> GroundTerm {
    match term {
        Term::NamedNode(node) => GroundTerm::NamedNode(node.clone()),
        Term::Literal(literal) => GroundTerm::Literal(literal.clone()),
        Term::BlankNode(node) => GroundTerm::NamedNode(of_blank(node)),
        Term::Triple(triple) => {
            let subject = match &triple.subject {
                NamedOrBlankNode::NamedNode(node) => node.clone(),
                NamedOrBlankNode::BlankNode(node) => of_blank(node),
            };
            let (predicate, object) = (triple.predicate.clone(), ground(&triple.object));
            GroundTerm::Triple(Box::new(GroundTriple { subject, predicate, object }))
        }
    }
}

fn key(key: SortKey) -> OrderExpression {
    let SortKey { expression: by, descends } = key;
    if descends { OrderExpression::Desc(expression(by)) } else { OrderExpression::Asc(expression(by)) }
}

fn aggregate(aggregate: AggregateCall) -> AggregateExpression {
    match aggregate {
        AggregateCall::CountSolutions { distinct } => AggregateExpression::CountSolutions { distinct },
        AggregateCall::Call { function: name, argument, distinct } => {
            AggregateExpression::FunctionCall { name, expr: expression(argument), distinct }
        }
    }
}

fn expression(expression: Expression) -> Its {
    let one = |inner: Box<Expression>| Box::new(self::expression(*inner));
    let all = |list: Vec<Expression>| list.into_iter().map(self::expression).collect();
    match expression {
        Expression::NamedNode(node) => Its::NamedNode(node),
        Expression::Literal(literal) => Its::Literal(literal),
        Expression::Variable(variable) => Its::Variable(variable),
        Expression::Bound(variable) => Its::Bound(variable),
        Expression::Exists(inner) => Its::Exists(boxed(*inner)),
        Expression::Unary(operator, a) => {
            let make = match operator {
                Unary::Plus => Its::UnaryPlus,
                Unary::Minus => Its::UnaryMinus,
                Unary::Not => Its::Not,
            };
            make(one(a))
        }
        Expression::Binary(operator, a, b) => {
            let make = match operator {
                Binary::Or => Its::Or,
                Binary::And => Its::And,
                Binary::Equal => Its::Equal,
                Binary::SameTerm => Its::SameTerm,
                Binary::Greater => Its::Greater,
                Binary::GreaterOrEqual => Its::GreaterOrEqual,
                Binary::Less => Its::Less,
                Binary::LessOrEqual => Its::LessOrEqual,
                Binary::Add => Its::Add,
                Binary::Subtract => Its::Subtract,
                Binary::Multiply => Its::Multiply,
                Binary::Divide => Its::Divide,
            };
            make(one(a), one(b))
        }
        Expression::In(a, list) => Its::In(one(a), all(list)),
        Expression::If(a, b, c) => Its::If(one(a), one(b), one(c)),
        Expression::Coalesce(list) => Its::Coalesce(all(list)),
        Expression::Call(function, list) => Its::FunctionCall(function, all(list)),
        Expression::Own(function, list) => Its::FunctionCall(Function::Custom(function.name()), all(list)),
    }
}
