//! Translates a query to another dialect: from that of the Wikidata Query Service (WDQS) to QLever's or SPARQL 1.1, and
//! back. A query without constructs of its own dialect keeps its text and gets declarations for its prefixes. Other
//! queries are rewritten as trees and written anew.
//!
//! ```text
//! labels.rs       the label service → OPTIONAL
//! outside.rs      filters with variables from outside → subqueries
//! places.rs       wikibase:around, wikibase:box → filters
//! traversal.rs    gas:service → property paths
//! expressions.rs  functions, comparisons
//! dates.rs        differences of dates
//! qlever.rs       QLever's predicates and services → patterns of SPARQL 1.1
//! ```
//!
//! A construct that the other dialect cannot express is an error that names it.

mod dates;
mod expressions;
mod labels;
mod outside;
mod places;
mod qlever;
mod traversal;

use std::collections::{HashMap, HashSet};

use oxrdf::Variable;

use crate::services;
use crate::waiting::{Pending, Waiting};
use terrapin_sparql_syntax::algebra::{
    AggregateCall, Expression, Helper, NamedNodePattern, QueryPattern, SortKey, SparqlQuery,
};
use terrapin_sparql_syntax::error::{SparqlCode, SparqlError, SparqlErrorClass};
use terrapin_sparql_syntax::walk::{has_exists, nodes};
use terrapin_sparql_syntax::{Dialect, declarations, depth, in_scope, parse, write};

type Result<T> = std::result::Result<T, SparqlError>;

/// Number from which the generated variables of a translation are counted, above those of the parser.
const FIRST_HELPER: usize = 1_000_000;
/// Maximum number of nodes of a pattern or an expression that is written twice.
const MAX_COPIED: usize = 400;
/// Maximum number of nodes in all copies of named subqueries.
const MAX_INCLUDED: usize = 100_000;

/// A translated query.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Translation {
    /// The query.
    pub text: String,
    /// The dialect in which the original was read.
    pub from: Dialect,
    /// Whether the query was written anew. Otherwise only declarations of prefixes were added.
    pub is_rewritten: bool,
}

/// Translates a query to a dialect. `language` replaces `[AUTO_LANGUAGE]` of the label service.
///
/// # Errors
/// Returns an error if the query has errors, or a construct that the other dialect cannot express.
///
/// ```
/// use terrapin_sparql::{Dialect, translate};
///
/// let text = "SELECT ?x ?xLabel { ?x wdt:P31 wd:Q515 SERVICE wikibase:label { bd:serviceParam wikibase:language 'en' } }";
/// let translation = translate(text, Dialect::Auto, Dialect::Standard, "en")?;
/// assert!(translation.text.contains("OPTIONAL"));
/// # Ok::<(), terrapin_sparql::SparqlError>(())
/// ```
pub fn translate(text: &str, from: Dialect, to: Dialect, language: &str) -> Result<Translation> {
    let parsed = parse(text, from)?;
    let from = parsed.dialect;
    let mut translator = Translator {
        from,
        to,
        language: language.to_owned(),
        named: Vec::new(),
        helpers: FIRST_HELPER,
        included: 0,
        outer: None,
        places: traversal::places(&parsed),
        is_changed: parsed.extensions.iter().any(|extension| !extension.is_of(to)) || has_hints(text),
    };
    for (name, pattern) in parsed.named {
        let pattern = translator.settled(pattern, &[])?;
        translator.named.push((name, pattern));
    }
    let SparqlQuery { form, dataset, base, pattern } = parsed.query;
    let pattern = translator.settled(pattern, &[])?;
    depth::check_rewritten(&pattern)?;
    if !translator.is_changed || from == to {
        let unchanged = declarations(text) + text;
        if parse(&unchanged, to).is_ok() {
            return Ok(Translation { text: unchanged, from, is_rewritten: false });
        }
    }
    let named = match to {
        Dialect::Standard | Dialect::Auto => Vec::new(),
        Dialect::Wdqs | Dialect::Qlever => translator.named,
    };
    let text = write::write(&SparqlQuery { form, dataset, base, pattern }, &named, to);
    parse(&text, to).map_err(|error| {
        untranslatable(format!("the translation is not in the dialect {}: {}", to.name(), error.message))
    })?;
    Ok(Translation { text, from, is_rewritten: true })
}

/// Returns whether a text may have hints for Blazegraph's optimizer, which the tree does not contain.
fn has_hints(text: &str) -> bool {
    text.contains("hint:") || text.contains("http://www.bigdata.com/queryHints#")
}

/// Returns the error for a construct that the other dialect lacks.
fn untranslatable(message: impl Into<String>) -> SparqlError {
    SparqlError::new(SparqlErrorClass::Unsupported, SparqlCode::Untranslatable, message)
}

struct Translator {
    from: Dialect,
    to: Dialect,
    language: String,
    /// The translated named subqueries.
    named: Vec<(String, QueryPattern)>,
    helpers: usize,
    /// Number of nodes in all copies of named subqueries.
    included: usize,
    /// The pattern whose solutions the translated expression is about, if it has an EXISTS.
    outer: Option<QueryPattern>,
    /// Number of places of each variable.
    places: HashMap<Variable, usize>,
    /// Whether the query must be written anew.
    is_changed: bool,
}

impl Translator {
    fn helper(&mut self) -> Variable {
        self.helpers += 1;
        Helper::Unnamed(self.helpers).into()
    }

    /// Returns the error that the target lacks a construct.
    fn lacks(&self, what: &str) -> SparqlError {
        let target = match self.to {
            Dialect::Qlever => "QLever",
            Dialect::Wdqs => "the Wikidata Query Service",
            Dialect::Standard | Dialect::Auto => "SPARQL 1.1",
        };
        untranslatable(format!("{target} has no equivalent of {what}"))
    }

    /// Translates a pattern and applies everything that waits for variables.
    fn settled(&mut self, pattern: QueryPattern, projected: &[Variable]) -> Result<QueryPattern> {
        let (mut pattern, waiting) = self.pattern(pattern, projected)?;
        for pending in waiting {
            pattern = pending.apply(pattern);
        }
        Ok(pattern)
    }

    /// Translates a pattern. Also returns the filters and assignments that need variables from outside it. `projected`
    /// are the variables of the enclosing SELECT.
    fn pattern(&mut self, pattern: QueryPattern, projected: &[Variable]) -> Result<Waiting> {
        Ok(match pattern {
            QueryPattern::Bgp { patterns } => self.triples(patterns)?,
            QueryPattern::Include { name, variables } => (self.include(name, variables)?, Vec::new()),
            QueryPattern::Join { left, right } => self.join(*left, *right, projected)?,
            QueryPattern::Filter { inner, condition } => {
                let (inner, waiting) = self.pattern(*inner, projected)?;
                let (inner, waiting) = ready(inner, waiting);
                let condition = self.expression_over(&inner, condition, projected)?;
                (QueryPattern::filter(inner, condition), waiting)
            }
            QueryPattern::Extend { inner, variable, expression } => {
                let (inner, waiting) = self.pattern(*inner, projected)?;
                let (inner, waiting) = ready(inner, waiting);
                let expression = self.expression_over(&inner, expression, projected)?;
                (self.extend(inner, variable, expression), waiting)
            }
            QueryPattern::LeftJoin { left, right, condition } => {
                let (left, waiting) = self.pattern(*left, projected)?;
                let (left, waiting) = ready(left, waiting);
                let mut right = self.settled(*right, projected)?;
                let condition = condition.map(|condition| self.expression(condition, projected)).transpose()?;
                if let Some(condition) = &condition {
                    right = self.optional_scope(&left, right, condition)?;
                }
                (QueryPattern::LeftJoin { left: Box::new(left), right: Box::new(right), condition }, waiting)
            }
            QueryPattern::Minus { left, right } => {
                let (left, waiting) = self.pattern(*left, projected)?;
                let (left, waiting) = ready(left, waiting);
                let right = Box::new(self.settled(*right, projected)?);
                (QueryPattern::Minus { left: Box::new(left), right }, waiting)
            }
            QueryPattern::Union { left, right } => {
                let left = Box::new(self.settled(*left, projected)?);
                let right = Box::new(self.settled(*right, projected)?);
                (QueryPattern::Union { left, right }, Vec::new())
            }
            QueryPattern::Graph { name, inner } => {
                let inner = Box::new(self.settled(*inner, projected)?);
                (QueryPattern::Graph { name, inner }, Vec::new())
            }
            QueryPattern::Group { inner, variables, aggregates } => {
                (self.group(*inner, variables, aggregates, projected)?, Vec::new())
            }
            QueryPattern::Project { inner, variables } => {
                let inner = match *inner {
                    QueryPattern::OrderBy { inner, keys } => {
                        let inner = Box::new(self.settled(*inner, &variables)?);
                        let keys = keys.into_iter().map(|SortKey { expression, descends }| {
                            Ok(SortKey { expression: self.expression(expression, &variables)?, descends })
                        });
                        QueryPattern::OrderBy { inner, keys: keys.collect::<Result<_>>()? }
                    }
                    inner => self.settled(inner, &variables)?,
                };
                (QueryPattern::project(inner, variables), Vec::new())
            }
            QueryPattern::OrderBy { inner, .. } => self.pattern(*inner, projected)?,
            QueryPattern::Distinct { inner } => {
                (QueryPattern::Distinct { inner: Box::new(self.settled(*inner, projected)?) }, Vec::new())
            }
            QueryPattern::Reduced { inner } => {
                (QueryPattern::Reduced { inner: Box::new(self.settled(*inner, projected)?) }, Vec::new())
            }
            QueryPattern::Slice { inner, start, length } => {
                let inner = Box::new(self.settled(*inner, projected)?);
                (QueryPattern::Slice { inner, start, length }, Vec::new())
            }
            QueryPattern::Lateral { .. } | QueryPattern::LeftLateral { .. } => return Err(self.lacks("LATERAL")),
            QueryPattern::Service { name, inner, silent } => self.service(name, *inner, silent, projected)?,
            other => (other, Vec::new()),
        })
    }

    /// Translates an expression over the solutions of a pattern, which the patterns of its EXISTS may use.
    fn expression_over(
        &mut self,
        pattern: &QueryPattern,
        expression: Expression,
        projected: &[Variable],
    ) -> Result<Expression> {
        let outer = has_exists(&expression).then(|| pattern.clone());
        let before = std::mem::replace(&mut self.outer, outer);
        let translated = self.expression(expression, projected);
        self.outer = before;
        translated
    }

    fn join(&mut self, left: QueryPattern, right: QueryPattern, projected: &[Variable]) -> Result<Waiting> {
        let (left, mut waiting) = self.pattern(left, projected)?;
        if let QueryPattern::Service { name: NamedNodePattern::NamedNode(name), inner, .. } = &right
            && services::label::is_label(name)
            && self.from == Dialect::Wdqs
            && self.to != Dialect::Wdqs
        {
            return Ok((self.labels(left, inner, projected)?, waiting));
        }
        let (right, more) = self.pattern(right, projected)?;
        waiting.extend(more);
        let joined = match (left, right) {
            (unit, other) | (other, unit) if unit.is_unit() => other,
            (left, right) => QueryPattern::join(left, right),
        };
        Ok(ready(joined, waiting))
    }

    fn include(&mut self, name: String, variables: Vec<Variable>) -> Result<QueryPattern> {
        if self.to != Dialect::Standard {
            // The forms of the two dialects differ.
            self.is_changed |= self.from != self.to;
            return Ok(QueryPattern::Include { name, variables });
        }
        self.is_changed = true;
        let known = self.named.iter().find(|(known, _)| *known == name).map(|(_, pattern)| pattern);
        self.included += known.map_or(0, nodes);
        if self.included > MAX_INCLUDED {
            return Err(self.lacks("named subqueries that are included so often"));
        }
        Ok(match known.cloned().unwrap_or_default() {
            pattern @ (QueryPattern::Project { .. }
            | QueryPattern::Distinct { .. }
            | QueryPattern::Reduced { .. }
            | QueryPattern::Slice { .. }) => pattern,
            pattern => QueryPattern::project(pattern, variables),
        })
    }

    /// Assigns a value. In SPARQL 1.1 the variable must be new; a visible one is hidden by a projection.
    fn extend(&mut self, inner: QueryPattern, variable: Variable, expression: Expression) -> QueryPattern {
        let scope = in_scope(&inner);
        if self.to == Dialect::Wdqs || !scope.contains(&variable) {
            return QueryPattern::extend(inner, variable, expression);
        }
        self.is_changed = true;
        let value = self.helper();
        let mut shown: Vec<Variable> = scope.into_iter().filter(|other| *other != variable).collect();
        shown.push(value.clone());
        shown.sort();
        let hidden = QueryPattern::project(QueryPattern::extend(inner, value.clone(), expression), shown);
        QueryPattern::extend(hidden, variable, value.into())
    }

    /// Translates a grouping. An aggregate gets a name of its own where the dialect samples a variable under its name.
    fn group(
        &mut self,
        inner: QueryPattern,
        variables: Vec<Variable>,
        aggregates: Vec<(Variable, AggregateCall)>,
        projected: &[Variable],
    ) -> Result<QueryPattern> {
        let mut inner = self.settled(inner, projected)?;
        let scope = in_scope(&inner);
        if aggregates.iter().any(|(_, call)| matches!(call, AggregateCall::CountSolutions { distinct: true })) {
            inner = without_helpers(inner, &scope, &variables);
        }
        let (mut named, mut renamed) = (Vec::new(), Vec::new());
        for (variable, aggregate) in aggregates {
            let aggregate = match aggregate {
                AggregateCall::Call { function, argument, distinct } => {
                    let argument = self.expression(argument, projected)?;
                    AggregateCall::Call { function: self.aggregate(function)?, argument, distinct }
                }
                count => count,
            };
            if scope.contains(&variable) {
                let helper = self.helper();
                renamed.push((variable, helper.clone()));
                named.push((helper, aggregate));
            } else {
                named.push((variable, aggregate));
            }
        }
        let mut shown = variables.clone();
        shown.extend(named.iter().map(|(variable, _)| variable.clone()));
        let mut pattern = QueryPattern::Group { inner: Box::new(inner), variables, aggregates: named };
        if !renamed.is_empty() {
            self.is_changed = true;
            pattern = QueryPattern::project(pattern, shown);
        }
        for (variable, helper) in renamed {
            pattern = QueryPattern::extend(pattern, variable, helper.into());
        }
        Ok(pattern)
    }

    fn service(
        &mut self,
        name: NamedNodePattern,
        inner: QueryPattern,
        silent: bool,
        projected: &[Variable],
    ) -> Result<Waiting> {
        let keep = |name, inner| Ok((QueryPattern::Service { name, inner: Box::new(inner), silent }, Vec::new()));
        let NamedNodePattern::NamedNode(node) = &name else { return keep(name, inner) };
        if self.from == Dialect::Qlever
            && self.to != Dialect::Qlever
            && let Some(service) = services::qlever::service(node)
        {
            return self.qlever_service(service, inner, projected);
        }
        if self.from != Dialect::Wdqs || self.to == Dialect::Wdqs {
            return keep(name, inner);
        }
        if services::wdqs::is_wdqs(node) || services::qlever::is_qlever(node) {
            self.is_changed = true;
            return Ok((self.settled(inner, projected)?, Vec::new()));
        }
        if services::label::is_label(node) {
            self.is_changed = true;
            return Ok(Waiting::default());
        }
        match services::wikidata_service(node) {
            Some("wikibase:around") => self.around(inner),
            Some("wikibase:box") => self.in_box(inner),
            Some("gas:service") => Ok((self.traversal(inner)?, Vec::new())),
            Some(other) => Err(self.lacks(&format!("SERVICE {other}"))),
            None => keep(name, inner),
        }
    }
}

/// Hides the variables of a group that the query does not name, for `COUNT(DISTINCT *)`: generated variables except
/// the keys of the group, and blank nodes, which are written as variables. Without other variables all solutions are
/// equal: one is kept.
fn without_helpers(pattern: QueryPattern, scope: &HashSet<Variable>, keys: &[Variable]) -> QueryPattern {
    let is_named = |variable: &&Variable| !Helper::is_helper(variable) || keys.contains(variable);
    let mut shown: Vec<Variable> = scope.iter().filter(is_named).cloned().collect();
    if shown.is_empty() {
        return QueryPattern::Slice { inner: Box::new(pattern), start: 0, length: Some(1) };
    }
    shown.sort();
    QueryPattern::project(pattern, shown)
}

/// Applies the filters and assignments with all their variables bound by the pattern.
fn ready(mut pattern: QueryPattern, waiting: Vec<Pending>) -> Waiting {
    if waiting.is_empty() {
        return (pattern, waiting);
    }
    let mut scope = in_scope(&pattern);
    let mut left = Vec::new();
    for pending in waiting {
        if pending.needs.iter().all(|variable| scope.contains(variable)) {
            scope.extend(pending.variable.clone());
            pattern = pending.apply(pattern);
        } else {
            left.push(pending);
        }
    }
    (pattern, left)
}
