//! From the dialect's algebra to what the evaluator can solve: services become patterns, functions or tables; what the
//! evaluator would do differently from WDQS or differently every time becomes calls of our own functions; subqueries
//! with LIMIT and named subqueries become tables, solved once before the query runs.
//!
//! Whatever a snapshot cannot give is found here, before anything runs.

#[cfg(test)]
mod depth_tests;
mod expressions;

use std::rc::Rc;

use oxiri::Iri;
use oxrdf::vocab::xsd;
use oxrdf::{NamedNode, Variable};
use spargebra::Query;
use spargebra::algebra::{AggregateExpression, Expression, GraphPattern, OrderExpression, QueryDataset};
use spargebra::term::NamedNodePattern;

use super::Settings;
use super::functions::{self, Called, aggregates};
use super::services::{self, Replacement, Table};
use super::solve::Plan;
use super::syntax::{Dialect, NAMED, in_scope};
use super::waiting::{Pending, Waiting};
use terrapin_sparql_syntax::depth::{self, Deep};
use terrapin_sparql_syntax::error::{Class, Error};
use terrapin_sparql_syntax::vocabulary::TABLE;

type Result<T> = std::result::Result<T, Error>;

/// Where in a query a pattern stands.
#[derive(Clone)]
struct Scope {
    /// The variables that the enclosing SELECT projects.
    projected: Rc<[Variable]>,
    /// In EXISTS or LATERAL, where a subquery sees values from outside and cannot be solved before.
    correlated: bool,
}

/// A rewritten query.
#[derive(Debug)]
pub(crate) struct Rewritten {
    /// The query, without a dataset; for SELECT its pattern is the plan's.
    pub query: Query,
    /// The graphs that it is about, if it says, or its request does.
    pub dataset: Option<QueryDataset>,
    /// Whether the default graph is without the triples of named graphs.
    pub apart: bool,
    /// What is done with the pattern's solutions.
    pub plan: Plan,
    /// Tables to make first, in this order.
    pub tables: Vec<Table>,
    /// The functions called.
    pub functions: Vec<NamedNode>,
    /// The separators of GROUP_CONCATs.
    pub separators: Vec<String>,
}

/// The state of a rewriting.
struct Rewriter<'s> {
    settings: &'s Settings,
    tables: Vec<Table>,
    named: Vec<(String, usize)>,
    functions: Called,
    /// What relative IRIs that the query computes are relative to.
    base: Option<Iri<String>>,
    separators: Vec<String>,
    /// Nodes that were copied.
    copied: usize,
}

/// Most nodes of a query that are copied: a comparison that is made in two ways has its sides twice, and those that are
/// in it four times.
const MOST_COPIED: usize = 100_000;

/// Rewrites a parsed query and the named subqueries that it needs, each after those that it needs itself.
pub(crate) fn rewrite(query: Query, subqueries: Vec<(String, GraphPattern)>, settings: &Settings) -> Result<Rewritten> {
    let mut rewriter = Rewriter {
        settings,
        tables: Vec::new(),
        named: Vec::new(),
        functions: Called::default(),
        base: query.base_iri().cloned(),
        separators: Vec::new(),
        copied: 0,
    };
    let (mut query, pattern, dataset) = take_pattern(query);
    let (default, named) = &settings.graphs;
    let dataset = match (default.is_empty(), named.is_empty()) {
        (true, true) => dataset,
        _ => Some(QueryDataset { default: default.clone(), named: Some(named.clone()) }),
    };
    let apart = settings.dialect == Dialect::Standard;
    let scope = Scope { projected: Rc::from([]), correlated: false };
    for (name, pattern) in subqueries {
        let pattern = rewriter.top(pattern, &scope)?;
        rewriter.table(Table::Plan(Plan::of(pattern)));
        rewriter.named.push((name, rewriter.tables.len() - 1));
    }
    let pattern = rewriter.top(pattern, &scope)?;
    let plan = Plan::of(pattern);
    depth::check_rewritten(&plan.pattern)?;
    for table in &rewriter.tables {
        if let Table::Plan(plan) = table {
            depth::check_rewritten(&plan.pattern)?;
        }
    }
    put_pattern(&mut query, plan.pattern.clone());
    let Rewriter { tables, functions, separators, .. } = rewriter;
    Ok(Rewritten { query, dataset, apart, plan, tables, functions: functions.names, separators })
}

fn take_pattern(mut query: Query) -> (Query, GraphPattern, Option<QueryDataset>) {
    let (Query::Select { pattern, dataset, .. }
    | Query::Construct { pattern, dataset, .. }
    | Query::Describe { pattern, dataset, .. }
    | Query::Ask { pattern, dataset, .. }) = &mut query;
    let (pattern, dataset) = (std::mem::take(pattern), dataset.take());
    (query, pattern, dataset)
}

/// Puts a pattern into a query.
pub(crate) fn put_pattern(query: &mut Query, new: GraphPattern) {
    let (Query::Select { pattern, .. }
    | Query::Construct { pattern, .. }
    | Query::Describe { pattern, .. }
    | Query::Ask { pattern, .. }) = query;
    *pattern = new;
}

/// The place of a table in a pattern.
fn placeholder(number: usize, variables: Vec<Variable>) -> GraphPattern {
    GraphPattern::Service {
        name: NamedNode::new_unchecked(format!("{TABLE}{number}")).into(),
        inner: Box::new(GraphPattern::Values { variables, bindings: Vec::new() }),
        silent: false,
    }
}

impl Rewriter<'_> {
    /// Whether WDQS's ways are followed.
    fn is_wdqs(&self) -> bool {
        self.settings.dialect == Dialect::Wdqs
    }

    /// Notes a function that is called; an error if there is none of this name.
    fn function(&mut self, name: &NamedNode) -> Result<()> {
        // The standard's casts are the evaluator's own; WDQS's make a date of more.
        let is_cast = [xsd::DATE, xsd::DATE_TIME].contains(&name.as_ref());
        if self.functions.contains(name) || (is_cast && !self.is_wdqs()) {
            return Ok(());
        }
        if !functions::exists(name) {
            let message = format!("there is no function {name}");
            return Err(Error::new(Class::Unsupported, "unknown-function", message));
        }
        self.functions.add(name);
        Ok(())
    }

    /// A query's or a subquery's pattern, its modifiers left on.
    fn top(&mut self, pattern: GraphPattern, scope: &Scope) -> Result<GraphPattern> {
        Ok(match pattern {
            GraphPattern::Slice { inner, start, length } => {
                GraphPattern::Slice { inner: Box::new(self.top(*inner, scope)?), start, length }
            }
            GraphPattern::Distinct { inner } => GraphPattern::Distinct { inner: Box::new(self.top(*inner, scope)?) },
            GraphPattern::Reduced { inner } => GraphPattern::Reduced { inner: Box::new(self.top(*inner, scope)?) },
            GraphPattern::Project { inner, variables } => {
                let scope = Scope { projected: Rc::from(variables.as_slice()), ..scope.clone() };
                let inner = match *inner {
                    GraphPattern::OrderBy { inner, expression } => {
                        let inner = Box::new(self.settled(*inner, &scope)?);
                        let expression = self.order(expression, &scope)?;
                        GraphPattern::OrderBy { inner, expression }
                    }
                    inner => self.settled(inner, &scope)?,
                };
                GraphPattern::Project { inner: Box::new(inner), variables }
            }
            other => self.settled(other, scope)?,
        })
    }

    /// A copy of a part of the query.
    fn copy<T: Deep + Clone>(&mut self, part: &T) -> Result<T> {
        self.copied = self.copied.saturating_add(depth::nodes(part));
        if self.copied > MOST_COPIED {
            let message = "differences and comparisons of dates stand in each other too often";
            return Err(Error::new(Class::Unsupported, "too-large", message)
                .help("give a part of the calculation a name with BIND"));
        }
        Ok(part.clone())
    }

    fn order(&mut self, expressions: Vec<OrderExpression>, scope: &Scope) -> Result<Vec<OrderExpression>> {
        let rewritten = expressions.into_iter().map(|order| {
            Ok(match order {
                OrderExpression::Asc(e) => OrderExpression::Asc(self.expression(e, scope)?),
                OrderExpression::Desc(e) => OrderExpression::Desc(self.expression(e, scope)?),
            })
        });
        rewritten.collect()
    }

    /// A pattern with nothing left waiting.
    fn settled(&mut self, pattern: GraphPattern, scope: &Scope) -> Result<GraphPattern> {
        let (mut pattern, waiting) = self.pattern(pattern, scope)?;
        for pending in waiting {
            pattern = pending.apply(pattern);
        }
        Ok(pattern)
    }

    /// A pattern, and what waits for values that it does not have.
    fn pattern(&mut self, pattern: GraphPattern, scope: &Scope) -> Result<Waiting> {
        Ok(match pattern {
            GraphPattern::Bgp { .. } | GraphPattern::Path { .. } | GraphPattern::Values { .. } => (pattern, Vec::new()),
            GraphPattern::Join { left, right } => {
                let (left, mut waiting) = self.pattern(*left, scope)?;
                if let GraphPattern::Service { name: NamedNodePattern::NamedNode(name), inner, .. } = &*right
                    && services::label::is_label(name)
                    && self.is_wdqs()
                {
                    let labelled = services::label::apply(
                        &mut self.functions,
                        &self.settings.language,
                        left,
                        inner,
                        &scope.projected,
                    )?;
                    return Ok((labelled, waiting));
                }
                let (right, more) = self.pattern(*right, scope)?;
                waiting.extend(more);
                let joined = match (left, right) {
                    (GraphPattern::Bgp { patterns }, other) | (other, GraphPattern::Bgp { patterns })
                        if patterns.is_empty() =>
                    {
                        other
                    }
                    (left, right) => GraphPattern::Join { left: Box::new(left), right: Box::new(right) },
                };
                ready(joined, waiting)
            }
            GraphPattern::Filter { expr, inner } => {
                let (inner, waiting) = self.pattern(*inner, scope)?;
                let expr = self.expression(expr, scope)?;
                (GraphPattern::Filter { expr, inner: Box::new(inner) }, waiting)
            }
            GraphPattern::Extend { inner, variable, expression } => {
                let (inner, waiting) = self.pattern(*inner, scope)?;
                let expression = self.expression(expression, scope)?;
                ready(GraphPattern::Extend { inner: Box::new(inner), variable, expression }, waiting)
            }
            GraphPattern::LeftJoin { left, right, expression } => {
                let (left, waiting) = self.pattern(*left, scope)?;
                let (right, condition) = self.pattern(*right, scope)?;
                let mut expression = expression.map(|e| self.expression(e, scope)).transpose()?;
                let mut right = right;
                // What the optional part waits for, the part before it may have.
                for pending in condition {
                    match pending.variable {
                        None => {
                            expression = Some(match expression {
                                Some(e) => Expression::And(Box::new(e), Box::new(pending.expression)),
                                None => pending.expression,
                            });
                        }
                        Some(_) => right = pending.apply(right),
                    }
                }
                (GraphPattern::LeftJoin { left: Box::new(left), right: Box::new(right), expression }, waiting)
            }
            GraphPattern::Minus { left, right } => {
                let (left, waiting) = self.pattern(*left, scope)?;
                let right = Box::new(self.settled(*right, scope)?);
                (GraphPattern::Minus { left: Box::new(left), right }, waiting)
            }
            GraphPattern::Lateral { left, right } => {
                let (left, waiting) = self.pattern(*left, scope)?;
                let inner = Scope { correlated: true, ..scope.clone() };
                let right = Box::new(self.settled(*right, &inner)?);
                (GraphPattern::Lateral { left: Box::new(left), right }, waiting)
            }
            GraphPattern::Union { left, right } => {
                let left = Box::new(self.settled(*left, scope)?);
                let right = Box::new(self.settled(*right, scope)?);
                (GraphPattern::Union { left, right }, Vec::new())
            }
            GraphPattern::Graph { name, inner } => {
                let inner = Box::new(self.settled(*inner, scope)?);
                (GraphPattern::Graph { name, inner }, Vec::new())
            }
            GraphPattern::Group { inner, variables, aggregates } => {
                let inner = Box::new(self.settled(*inner, scope)?);
                let aggregates = aggregates
                    .into_iter()
                    .map(|(variable, aggregate)| Ok((variable, self.aggregate(aggregate, scope)?)))
                    .collect::<Result<_>>()?;
                (GraphPattern::Group { inner, variables, aggregates }, Vec::new())
            }
            GraphPattern::Slice { .. } => (self.subquery(pattern, scope)?, Vec::new()),
            GraphPattern::Project { .. } | GraphPattern::Distinct { .. } | GraphPattern::Reduced { .. } => {
                (unordered(self.top(pattern, scope)?), Vec::new())
            }
            // Only below a projection does an order mean something, and there it was looked at.
            GraphPattern::OrderBy { inner, .. } => self.pattern(*inner, scope)?,
            GraphPattern::Service { name, inner, silent } => self.service(name, *inner, silent)?,
        })
    }

    /// A subquery with LIMIT or OFFSET.
    fn subquery(&mut self, pattern: GraphPattern, scope: &Scope) -> Result<GraphPattern> {
        let pattern = self.top(pattern, scope)?;
        if scope.correlated {
            return Ok(pattern);
        }
        Ok(self.table(Table::Plan(Plan::of(pattern))))
    }

    /// Adds a table; what stands for it in the pattern.
    fn table(&mut self, table: Table) -> GraphPattern {
        let variables = table.variables();
        self.tables.push(table);
        placeholder(self.tables.len() - 1, variables)
    }

    fn service(&mut self, name: NamedNodePattern, inner: GraphPattern, silent: bool) -> Result<Waiting> {
        let NamedNodePattern::NamedNode(name) = name else {
            let message = "a service that is a variable would need the live web";
            return if silent {
                Ok(Waiting::default())
            } else {
                Err(Error::new(Class::Unsupported, "live-service", message))
            };
        };
        if let Some(named) = name.as_str().strip_prefix(NAMED) {
            let Some((_, number)) = self.named.iter().find(|(known, _)| known == named) else {
                let message = format!("there is no named subquery {named}");
                return Err(Error::new(Class::Unsupported, "unknown-service", message));
            };
            let variables = self.tables.get(*number).map(Table::variables).unwrap_or_default();
            return Ok((placeholder(*number, variables), Vec::new()));
        }
        if services::label::is_label(&name) {
            // Alone in its group it has nothing to label.
            return Ok(Waiting::default());
        }
        match services::rewrite(&mut self.functions, &name, inner) {
            Ok(Replacement::Pattern(waiting)) => Ok(waiting),
            Ok(Replacement::Table(table)) => Ok((self.table(table), Vec::new())),
            Err(error) if silent && error.class == Class::Unsupported => Ok(Waiting::default()),
            Err(error) => Err(error),
        }
    }

    fn aggregate(&mut self, aggregate: AggregateExpression, scope: &Scope) -> Result<AggregateExpression> {
        let AggregateExpression::FunctionCall { name, expr, distinct } = aggregate else { return Ok(aggregate) };
        let expr = self.expression(expr, scope)?;
        let (name, expr) = aggregates::own(name, expr, &mut self.separators);
        Ok(AggregateExpression::FunctionCall { name, expr, distinct })
    }
}

/// Applies what has the values that it needs.
fn ready(mut pattern: GraphPattern, waiting: Vec<Pending>) -> Waiting {
    if waiting.is_empty() {
        return (pattern, waiting);
    }
    let mut scope = in_scope(&pattern);
    let mut left = Vec::new();
    for pending in waiting {
        if pending.needs.iter().all(|v| scope.contains(v)) {
            scope.extend(pending.variable.clone());
            pattern = pending.apply(pattern);
        } else {
            left.push(pending);
        }
    }
    (pattern, left)
}

/// A subquery's pattern without its ORDER BY, which alone means nothing.
fn unordered(pattern: GraphPattern) -> GraphPattern {
    match pattern {
        GraphPattern::Distinct { inner } => GraphPattern::Distinct { inner: Box::new(unordered(*inner)) },
        GraphPattern::Reduced { inner } => GraphPattern::Reduced { inner: Box::new(unordered(*inner)) },
        GraphPattern::Project { inner, variables } => {
            let inner = match *inner {
                GraphPattern::OrderBy { inner, .. } => inner,
                inner => Box::new(inner),
            };
            GraphPattern::Project { inner, variables }
        }
        other => other,
    }
}
