//! Rewrites the dialect's algebra to algebra that the planner and the solver support. Services become patterns, functions or
//! tables. Operators that behave differently from WDQS, or differently in every run, become calls of the crate's own
//! functions. Subqueries with LIMIT and named subqueries become tables, which are computed once before the query runs.
//!
//! Features that a snapshot cannot provide are rejected here, before anything runs.

#[cfg(test)]
mod depth_tests;
mod expressions;
mod qlever;

use std::rc::Rc;

use oxiri::Iri;
use oxrdf::vocab::xsd;
use oxrdf::{NamedNode, Variable};

use super::functions::{self, Called, aggregates};
use super::plan::{describes, speak};
use super::services::{self, ServiceReplacement, ServiceRows};
use super::solve::SolvePlan;
use super::syntax::{DEFAULT_BASE, Dialect, in_scope};
use super::waiting::{Pending, Waiting};
use super::{Entailment, SparqlSettings};
use terrapin_sparql_syntax::algebra::{
    AggregateCall, Binary, Expression, Function, Helper, NamedNodePattern, OwnFunction, QueryDataset, QueryForm,
    QueryPattern, SortKey, SparqlQuery,
};
use terrapin_sparql_syntax::depth;
use terrapin_sparql_syntax::error::{SparqlCode, SparqlError, SparqlErrorClass};
use terrapin_sparql_syntax::walk::{AsNode, nodes, on_expressions, on_in_scope};

type Result<T> = std::result::Result<T, SparqlError>;

/// The context of a pattern in the query.
#[derive(Clone)]
struct PatternScope {
    /// The variables that the enclosing SELECT projects.
    projected: Rc<[Variable]>,
    /// Whether the pattern is in EXISTS, LATERAL or GRAPH. A subquery then depends on its surroundings and cannot be
    /// computed before.
    correlated: bool,
}

/// A rewritten query.
#[derive(Debug)]
pub(crate) struct Rewritten {
    /// The query form: SELECT, ASK, CONSTRUCT or DESCRIBE.
    pub form: QueryForm,
    /// The dataset, if the query or its request defines one.
    pub dataset: Option<QueryDataset>,
    /// Whether the standard applies where other dialects differ: the default graph does not include the triples of
    /// named graphs.
    pub standard: bool,
    /// The query's pattern and the modifiers of its solutions.
    pub plan: SolvePlan,
    /// The tables to compute first, in this order.
    pub tables: Vec<ServiceRows>,
    /// The functions that the query calls.
    pub functions: Called,
    /// The separators of the query's GROUP_CONCATs.
    pub separators: Vec<String>,
    /// Whether the query uses OpenStreetMap's elements.
    pub elements: bool,
    /// The entailment regimes.
    pub entailment: Entailment,
}

/// The state of rewriting one query.
struct QueryRewriter<'s> {
    settings: &'s SparqlSettings,
    /// The dialect in which the query was read.
    dialect: Dialect,
    tables: Vec<ServiceRows>,
    named: Vec<(String, usize)>,
    functions: Called,
    /// The base of relative IRIs that the query computes.
    base: Option<Iri<String>>,
    separators: Vec<String>,
    /// Number of expression nodes that were copied.
    copied: usize,
    /// The variable with the number of the solution, while an expression that needs it is rewritten.
    solution: Option<Variable>,
    /// Number of such variables.
    solutions: usize,
    /// Number of searches for nearest geometries.
    nearest: usize,
}

/// Maximum number of nodes of a query that are copied. A comparison that is made in two ways contains its sides twice,
/// and comparisons inside these four times.
const MOST_COPIED: usize = 100_000;

/// Rewrites a parsed query and its named subqueries. Each named subquery must follow those that it includes.
pub(crate) fn rewrite(
    query: SparqlQuery,
    subqueries: Vec<(String, QueryPattern)>,
    dialect: Dialect,
    settings: &SparqlSettings,
) -> Result<Rewritten> {
    // IRI() takes the base of relative IRIs.
    let base = match dialect {
        Dialect::Standard => query.base.or_else(|| Iri::parse(DEFAULT_BASE.to_owned()).ok()),
        _ => query.base,
    };
    let mut rewriter = QueryRewriter {
        settings,
        dialect,
        tables: Vec::new(),
        named: Vec::new(),
        functions: Called::default(),
        base,
        separators: Vec::new(),
        copied: 0,
        solution: None,
        solutions: 0,
        nearest: 0,
    };
    let (default, named) = &settings.graphs;
    let dataset = match (default.is_empty(), named.is_empty()) {
        (true, true) => query.dataset,
        _ => Some(QueryDataset { default: default.clone(), named: Some(named.clone()) }),
    };
    let standard = dialect == Dialect::Standard;
    let scope = PatternScope { projected: Rc::from([]), correlated: false };
    for (name, pattern) in subqueries {
        let pattern = rewriter.top(pattern, &scope)?;
        rewriter.table(ServiceRows::Plan(Box::new(SolvePlan::of(pattern))));
        rewriter.named.push((name, rewriter.tables.len() - 1));
    }
    let pattern = rewriter.top(query.pattern, &scope)?;
    let plan = SolvePlan::of(pattern);
    depth::check_rewritten(&plan.pattern)?;
    let describes = matches!(query.form, QueryForm::Describe) && describes(&plan.pattern);
    let mut elements = describes || speak(&plan.pattern);
    for table in &rewriter.tables {
        elements |= match table {
            ServiceRows::Plan(plan) => {
                depth::check_rewritten(&plan.pattern)?;
                speak(&plan.pattern)
            }
            ServiceRows::Service(found) => found.is_of_elements(),
            ServiceRows::Derived { .. } => false,
        };
    }
    let QueryRewriter { tables, functions, separators, .. } = rewriter;
    let entailment = settings.entailment;
    Ok(Rewritten { form: query.form, dataset, standard, plan, tables, functions, separators, elements, entailment })
}

impl QueryRewriter<'_> {
    /// Returns whether the dialect is that of WDQS.
    fn is_wdqs(&self) -> bool {
        self.dialect == Dialect::Wdqs
    }

    /// Returns whether the dialect is that of QLever.
    fn is_qlever(&self) -> bool {
        self.dialect == Dialect::Qlever
    }

    /// Records a call of a function; returns an error if no function has this name.
    fn function(&mut self, name: &NamedNode) -> Result<()> {
        // The standard's casts are left to the evaluator; those of WDQS accept more values as dates.
        let is_cast = [xsd::DATE, xsd::DATE_TIME].contains(&name.as_ref());
        if self.functions.contains(name) || (is_cast && !self.is_wdqs()) {
            return Ok(());
        }
        if !functions::exists(name) {
            let message = format!("unknown function {name}");
            return Err(SparqlError::new(SparqlErrorClass::Unsupported, SparqlCode::UnknownFunction, message));
        }
        self.functions.add(name);
        Ok(())
    }

    /// Rewrites the pattern of a query or a subquery and keeps its modifiers.
    fn top(&mut self, pattern: QueryPattern, scope: &PatternScope) -> Result<QueryPattern> {
        Ok(match pattern {
            QueryPattern::Slice { inner, start, length } => {
                QueryPattern::Slice { inner: Box::new(self.top(*inner, scope)?), start, length }
            }
            QueryPattern::Distinct { inner } => QueryPattern::Distinct { inner: Box::new(self.top(*inner, scope)?) },
            QueryPattern::Reduced { inner } => QueryPattern::Reduced { inner: Box::new(self.top(*inner, scope)?) },
            QueryPattern::Project { inner, variables } => {
                let scope = PatternScope { projected: Rc::from(variables.as_slice()), ..scope.clone() };
                let inner = match *inner {
                    QueryPattern::OrderBy { inner, keys } => {
                        let inner = Box::new(self.settled(*inner, &scope)?);
                        QueryPattern::OrderBy { inner, keys: self.sort_keys(keys, &scope)? }
                    }
                    inner => in_order_found(self.settled(inner, &scope)?),
                };
                QueryPattern::Project { inner: Box::new(inner), variables }
            }
            other => self.settled(other, scope)?,
        })
    }

    /// Copies a part of the query; returns an error if too much is copied.
    fn copy<T: AsNode + Clone>(&mut self, part: &T) -> Result<T> {
        self.copied = self.copied.saturating_add(nodes(part));
        if self.copied > MOST_COPIED {
            let message = "differences and comparisons of dates are nested too deeply";
            return Err(SparqlError::new(SparqlErrorClass::Unsupported, SparqlCode::TooLarge, message)
                .help("bind a part of the expression to a variable with BIND"));
        }
        Ok(part.clone())
    }

    fn sort_keys(&mut self, keys: Vec<SortKey>, scope: &PatternScope) -> Result<Vec<SortKey>> {
        let rewritten = keys.into_iter().map(|SortKey { expression, descends }| {
            Ok(SortKey { expression: self.expression(expression, scope)?, descends })
        });
        rewritten.collect()
    }

    /// Rewrites a pattern and applies all filters and assignments that wait for variables.
    fn settled(&mut self, pattern: QueryPattern, scope: &PatternScope) -> Result<QueryPattern> {
        let (mut pattern, waiting) = self.pattern(pattern, scope)?;
        for pending in waiting {
            pattern = pending.apply(pattern);
        }
        Ok(pattern)
    }

    /// Rewrites a pattern and applies the filters and assignments that only need its own variables, because the next
    /// expression may use their results.
    fn pattern_ready(&mut self, pattern: QueryPattern, scope: &PatternScope) -> Result<Waiting> {
        let (pattern, waiting) = self.pattern(pattern, scope)?;
        Ok(ready(pattern, waiting))
    }

    /// Rewrites a pattern. Also returns the filters and assignments that need variables from outside it.
    fn pattern(&mut self, pattern: QueryPattern, scope: &PatternScope) -> Result<Waiting> {
        Ok(match pattern {
            QueryPattern::Bgp { patterns } if self.is_qlever() => self.triples(patterns)?,
            QueryPattern::Path { ref path, .. } if self.is_qlever() => {
                qlever::check_path(path)?;
                (pattern, Vec::new())
            }
            QueryPattern::Bgp { .. } | QueryPattern::Path { .. } | QueryPattern::Values { .. } => (pattern, Vec::new()),
            // These patterns are only created here and later.
            QueryPattern::Table { .. } | QueryPattern::Relation { .. } | QueryPattern::LeftLateral { .. } => {
                (pattern, Vec::new())
            }
            QueryPattern::Include { name, .. } => (self.include(&name)?, Vec::new()),
            QueryPattern::Join { left, right } => self.join(*left, *right, scope)?,
            QueryPattern::Filter { inner, condition } => {
                let (inner, waiting) = self.pattern_ready(*inner, scope)?;
                (QueryPattern::filter(inner, self.condition(condition, scope)?), waiting)
            }
            QueryPattern::Extend { inner, variable, expression } => {
                let (mut inner, waiting) = self.pattern_ready(*inner, scope)?;
                let solution = names_blank_nodes(&expression).then(|| self.numbered(&mut inner));
                let around = std::mem::replace(&mut self.solution, solution);
                let expression = self.expression(expression, scope)?;
                self.solution = around;
                ready(QueryPattern::extend(inner, variable, expression), waiting)
            }
            QueryPattern::LeftJoin { left, right, condition } => self.left_join(*left, *right, condition, scope)?,
            QueryPattern::Minus { left, right } => {
                let (left, waiting) = self.pattern_ready(*left, scope)?;
                let right = self.settled(*right, scope)?;
                // MINUS removes nothing if the sides share no variable.
                let shown = in_scope(&left);
                if !in_scope(&right).iter().any(|variable| shown.contains(variable)) {
                    return Ok((left, waiting));
                }
                (QueryPattern::Minus { left: Box::new(left), right: Box::new(right) }, waiting)
            }
            QueryPattern::Lateral { left, right } => {
                let (left, waiting) = self.pattern_ready(*left, scope)?;
                let inner = PatternScope { correlated: true, ..scope.clone() };
                let right = Box::new(self.settled(*right, &inner)?);
                (QueryPattern::Lateral { left: Box::new(left), right }, waiting)
            }
            QueryPattern::Union { left, right } => {
                let left = Box::new(self.settled(*left, scope)?);
                let right = Box::new(self.settled(*right, scope)?);
                (QueryPattern::Union { left, right }, Vec::new())
            }
            QueryPattern::Graph { name, inner } => (self.graph(name, *inner, scope)?, Vec::new()),
            QueryPattern::Group { inner, variables, aggregates } => {
                let inner = Box::new(self.settled(*inner, scope)?);
                let aggregates = self.aggregates(aggregates, scope)?;
                (QueryPattern::Group { inner, variables, aggregates }, Vec::new())
            }
            QueryPattern::Slice { .. } => (self.subquery(pattern, scope)?, Vec::new()),
            QueryPattern::Project { .. } | QueryPattern::Distinct { .. } | QueryPattern::Reduced { .. } => {
                (unordered(self.top(pattern, scope)?), Vec::new())
            }
            // An order only matters below a projection, where `top` handles it.
            QueryPattern::OrderBy { inner, .. } => self.pattern(*inner, scope)?,
            QueryPattern::Service { name, inner, silent } => self.service(name, *inner, silent, scope)?,
        })
    }

    /// Rewrites a join. If the right side is WDQS's label service, it labels the left side.
    fn join(&mut self, left: QueryPattern, right: QueryPattern, scope: &PatternScope) -> Result<Waiting> {
        let (left, mut waiting) = self.pattern(left, scope)?;
        if let QueryPattern::Service { name: NamedNodePattern::NamedNode(name), inner, .. } = &right
            && services::label::is_label(name)
            && self.is_wdqs()
        {
            let (language, projected) = (&self.settings.language, &scope.projected);
            let labelled = services::label::apply(&mut self.functions, language, left, inner, projected)?;
            return Ok((labelled, waiting));
        }
        if let QueryPattern::Service { name: NamedNodePattern::NamedNode(name), .. } = &right
            && let Some(service) = services::qlever::service(name).filter(|_| self.is_qlever())
            && let QueryPattern::Service { inner, .. } = right
        {
            let (pattern, more) = self.qlever_service(service, left, *inner, scope)?;
            waiting.extend(more);
            return Ok(ready(pattern, waiting));
        }
        let (right, more) = self.pattern(right, scope)?;
        waiting.extend(more);
        let joined = match (left, right) {
            (unit, other) | (other, unit) if unit.is_unit() => other,
            (left, right) => QueryPattern::join(left, right),
        };
        Ok(ready(joined, waiting))
    }

    /// Rewrites an OPTIONAL. Filters on the right side may need variables of the left side; they become part of the
    /// condition.
    fn left_join(
        &mut self,
        left: QueryPattern,
        right: QueryPattern,
        condition: Option<Expression>,
        scope: &PatternScope,
    ) -> Result<Waiting> {
        let (left, waiting) = self.pattern_ready(left, scope)?;
        let (mut right, pending) = self.pattern(right, scope)?;
        let mut condition = condition.map(|e| self.condition(e, scope)).transpose()?;
        for pending in pending {
            if pending.variable.is_some() {
                right = pending.apply(right);
                continue;
            }
            condition = Some(match condition {
                Some(e) => Expression::binary(Binary::And, e, pending.expression),
                None => pending.expression,
            });
        }
        Ok((QueryPattern::LeftJoin { left: Box::new(left), right: Box::new(right), condition }, waiting))
    }

    /// Adds a number to each solution of a pattern. All values that are computed for a solution share it.
    fn numbered(&mut self, pattern: &mut QueryPattern) -> Variable {
        let mut base = pattern;
        while let QueryPattern::Extend { inner, variable, .. } = base {
            if Helper::is_solution(variable) {
                return variable.clone();
            }
            base = inner;
        }
        let variable = Variable::from(Helper::Solution(self.solutions));
        self.solutions += 1;
        let number = self.functions.own(OwnFunction::Solution, Vec::new());
        *base = QueryPattern::extend(std::mem::take(base), variable.clone(), number);
        variable
    }

    /// Rewrites GRAPH. A subquery in it cannot be computed before, because that would use the default graph.
    fn graph(&mut self, name: NamedNodePattern, inner: QueryPattern, scope: &PatternScope) -> Result<QueryPattern> {
        let within = PatternScope { correlated: true, ..scope.clone() };
        Ok(QueryPattern::Graph { name, inner: Box::new(self.settled(inner, &within)?) })
    }

    /// Rewrites a subquery with LIMIT or OFFSET.
    fn subquery(&mut self, pattern: QueryPattern, scope: &PatternScope) -> Result<QueryPattern> {
        let pattern = self.top(pattern, scope)?;
        if scope.correlated {
            return Ok(pattern);
        }
        Ok(self.table(ServiceRows::Plan(Box::new(SolvePlan::of(pattern)))))
    }

    /// Adds a table. Returns the placeholder for it in the pattern.
    fn table(&mut self, table: ServiceRows) -> QueryPattern {
        let variables = table.variables();
        self.tables.push(table);
        QueryPattern::Table { number: self.tables.len() - 1, variables }
    }

    /// Returns the placeholder for a named subquery's table.
    fn include(&mut self, name: &str) -> Result<QueryPattern> {
        let Some(&(_, number)) = self.named.iter().find(|(known, _)| known == name) else {
            let message = format!("the named subquery {name} is not defined");
            return Err(SparqlError::new(SparqlErrorClass::Unsupported, SparqlCode::UnknownService, message));
        };
        let variables = self.tables.get(number).map(ServiceRows::variables).unwrap_or_default();
        Ok(QueryPattern::Table { number, variables })
    }

    fn service(
        &mut self,
        name: NamedNodePattern,
        inner: QueryPattern,
        silent: bool,
        scope: &PatternScope,
    ) -> Result<Waiting> {
        let NamedNodePattern::NamedNode(name) = name else {
            let message = "a SERVICE with a variable needs the live web";
            return if silent {
                Ok(Waiting::default())
            } else {
                Err(SparqlError::new(SparqlErrorClass::Unsupported, SparqlCode::LiveService, message))
            };
        };
        if services::label::is_label(&name) && !self.is_wdqs() {
            let message = "the label service belongs to the Wikidata Query Service";
            let help = "select labels with OPTIONAL { ?item rdfs:label ?label FILTER(LANG(?label) = \"en\") }, or the \
                        dialect wdqs";
            return match silent {
                true => Ok(Waiting::default()),
                false => {
                    Err(SparqlError::new(SparqlErrorClass::Unsupported, SparqlCode::UnknownService, message).help(help))
                }
            };
        }
        if services::label::is_label(&name) {
            // The label service is alone in its group and has no variables to label.
            return Ok(Waiting::default());
        }
        if let Some(service) = services::qlever::service(&name).filter(|_| self.is_qlever()) {
            return self.qlever_service(service, QueryPattern::default(), inner, scope);
        }
        let is_own = services::wdqs::is_wdqs(&name) || services::qlever::is_qlever(&name);
        if is_own && self.dialect != Dialect::Standard {
            return Ok((self.settled(inner, scope)?, Vec::new()));
        }
        match services::rewrite(&mut self.functions, &name, inner) {
            Ok(ServiceReplacement::Pattern(waiting)) => Ok(waiting),
            Ok(ServiceReplacement::Table(mut table)) => {
                if let ServiceRows::Service(found) = &mut table {
                    found.show_order(Helper::Found(self.tables.len()).into());
                }
                Ok((self.table(table), Vec::new()))
            }
            Err(error) if silent && error.class == SparqlErrorClass::Unsupported => Ok(Waiting::default()),
            Err(error) => Err(error),
        }
    }

    fn aggregates(
        &mut self,
        aggregates: Vec<(Variable, AggregateCall)>,
        scope: &PatternScope,
    ) -> Result<Vec<(Variable, AggregateCall)>> {
        let rewritten = aggregates.into_iter().map(|(variable, a)| Ok((variable, self.aggregate(a, scope)?)));
        rewritten.collect()
    }

    fn aggregate(&mut self, aggregate: AggregateCall, scope: &PatternScope) -> Result<AggregateCall> {
        let AggregateCall::Call { function, argument, distinct } = aggregate else { return Ok(aggregate) };
        let argument = self.expression(argument, scope)?;
        let (function, argument) = aggregates::own(function, argument, &mut self.separators);
        Ok(AggregateCall::Call { function, argument, distinct })
    }
}

/// Returns whether an expression calls BNODE with a name. Within a solution, the same name always means the same node.
fn names_blank_nodes(expression: &Expression) -> bool {
    let mut names = false;
    on_expressions(expression, &mut |expression| {
        names |= matches!(expression, Expression::Call(Function::BNode, arguments) if !arguments.is_empty());
    });
    names
}

/// Applies the filters and assignments with all their variables bound by the pattern.
fn ready(mut pattern: QueryPattern, waiting: Vec<Pending>) -> Waiting {
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

/// Sorts a pattern without ORDER BY by the order in which its search services found their results.
fn in_order_found(pattern: QueryPattern) -> QueryPattern {
    let mut found: Vec<Variable> = Vec::new();
    on_in_scope(&pattern, &mut |variable| {
        if Helper::is_found(variable) && !found.contains(variable) {
            found.push(variable.clone());
        }
    });
    if found.is_empty() {
        return pattern;
    }
    let key = |variable| SortKey { expression: Expression::Variable(variable), descends: false };
    QueryPattern::OrderBy { inner: Box::new(pattern), keys: found.into_iter().map(key).collect() }
}

/// Removes the ORDER BY of a subquery without LIMIT, where it has no effect.
fn unordered(pattern: QueryPattern) -> QueryPattern {
    match pattern {
        QueryPattern::Distinct { inner } => QueryPattern::Distinct { inner: Box::new(unordered(*inner)) },
        QueryPattern::Reduced { inner } => QueryPattern::Reduced { inner: Box::new(unordered(*inner)) },
        QueryPattern::Project { inner, variables } => {
            let inner = match *inner {
                QueryPattern::OrderBy { inner, .. } => inner,
                inner => Box::new(inner),
            };
            QueryPattern::Project { inner, variables }
        }
        other => other,
    }
}
