//! Rules for groups and their parts.

use std::collections::HashSet;
use std::sync::Arc;

use oxrdf::{Term, Variable};

use super::dialect::Dialect;
use super::parser::{Extension, QueryParser};
use super::qlever::{in_language, looks_outside};
use super::token::{SparqlToken, TokenKind};
use super::tree::{DepthTree, reduce};
use super::triples::{bgp, join, joined};
use crate::algebra::{Binary, Expression, NamedNodePattern, QueryPattern, Unary};
use crate::error::{Result, SparqlCode};
use crate::expression::all_of;
use crate::vocabulary::LABEL_SERVICE;
use crate::walk::{QueryNode, on_in_scope};

/// The pattern of a group and its filters.
pub(super) type Group = (DepthTree<QueryPattern>, Option<DepthTree<Expression>>);

/// Maximum number of parts of a group.
const MAX_PARTS: usize = 500;

/// A BIND before the patterns that bind its variables.
struct Early {
    needs: HashSet<Variable>,
    expression: DepthTree<Expression>,
    variable: Variable,
    token: SparqlToken,
}

/// The parts of a group read so far.
#[derive(Default)]
struct GroupContents {
    group: DepthTree<QueryPattern>,
    filters: Vec<DepthTree<Expression>>,
    /// Label services.
    labels: Vec<DepthTree<QueryPattern>>,
    early: Vec<Early>,
}

impl QueryParser<'_> {
    /// Parses a group in braces and applies its filters.
    pub fn group(&mut self) -> Result<DepthTree<QueryPattern>> {
        let (pattern, filter) = self.group_and_filter()?;
        filtered(pattern, filter)
    }

    /// Parses a group in braces. Returns its filters separately, because `OPTIONAL` uses them as its condition.
    pub fn group_and_filter(&mut self) -> Result<Group> {
        self.nested(|p| {
            p.expect("{")?;
            p.close_labels();
            let result = if p.is_word("SELECT") { (p.sub_select()?, None) } else { p.parts()? };
            p.close_labels();
            p.expect("}")?;
            Ok(result)
        })
    }

    fn parts(&mut self) -> Result<Group> {
        let start = self.mark_state();
        let around = std::mem::take(&mut self.languages);
        loop {
            if let Some(parts) = self.parts_once()? {
                self.languages = around;
                return Ok(parts);
            }
            self.languages.clear();
            self.reset_state(&start);
        }
    }

    /// Parses the parts of a group. Returns `None` if a BIND waited for variables that were never bound; the group is
    /// then read again with that BIND in place.
    fn parts_once(&mut self) -> Result<Option<Group>> {
        let mut parts =
            GroupContents { group: bgp(self.triples_block(true)?, self.dialect)?, ..GroupContents::default() };
        for number in 0.. {
            if number > MAX_PARTS {
                let message = format!("a group has more than {MAX_PARTS} parts");
                return Err(self.error_at(self.peek(), SparqlCode::TooLong, message));
            }
            if !self.part(&mut parts)? {
                break;
            }
            self.mark(".");
            let triples = self.triples_block(true)?;
            if !triples.is_empty() {
                parts.group = join(parts.group, bgp(triples, self.dialect)?)?;
            }
            if !parts.early.is_empty() {
                parts.group = self.bind_ready(parts.group, &mut parts.early)?;
            }
        }
        let GroupContents { group, mut filters, labels, mut early } = parts;
        filters.extend(std::mem::take(&mut self.languages).into_iter().map(|(of, language)| in_language(of, language)));
        let mut group = self.bind_ready(group, &mut early)?;
        if !early.is_empty() {
            self.fixed.extend(early.iter().map(|bind| bind.token.start));
            return Ok(None);
        }
        if !self.is_mark("}") {
            return Err(self.expected("a triple, a group, FILTER, BIND, OPTIONAL, another part of a group, or '}'"));
        }
        for service in labels {
            group = joined(group, service)?;
        }
        Ok(Some((group, all_of(filters)?)))
    }

    /// Parses one part of a group. Returns whether the next tokens are a part other than triples.
    fn part(&mut self, parts: &mut GroupContents) -> Result<bool> {
        let token = self.peek();
        let group = std::mem::take(&mut parts.group);
        parts.group = if self.word("OPTIONAL") {
            let (mut right, mut condition) = self.group_and_filter()?;
            if self.dialect == Dialect::Qlever && condition.as_ref().is_some_and(|c| looks_outside(&right, c)) {
                self.extend(token, Extension::GroupScope, "a FILTER that sees only its group is QLever's")?;
                right = filtered(right, condition.take())?;
            }
            group.and_maybe(right, condition, |left, right, condition| QueryPattern::LeftJoin {
                left: Box::new(left),
                right: Box::new(right),
                condition,
            })?
        } else if self.word("MINUS") {
            let right = self.group()?;
            group.and(right, |left, right| QueryPattern::Minus { left: Box::new(left), right: Box::new(right) })?
        } else if self.word("LATERAL") {
            self.extend(token, Extension::Lateral, "LATERAL is not part of SPARQL 1.1")?;
            let right = self.group()?;
            self.check_lateral(token, &group, &right)?;
            group.joined(right, |left, right| QueryPattern::Lateral { left: Box::new(left), right: Box::new(right) })?
        } else if self.word("FILTER") {
            parts.filters.push(self.constraint()?);
            group
        } else if self.word("BIND") {
            self.bind(group, &mut parts.early)?
        } else if self.word("GRAPH") {
            let name = self.variable_or_iri()?;
            let inner = self.group()?.under(|inner| QueryPattern::Graph { name, inner: Box::new(inner) })?;
            join(group, inner)?
        } else if self.word("SERVICE") {
            self.service(group, &mut parts.labels)?
        } else if self.word("VALUES") {
            join(group, self.data_block()?)?
        } else if self.word("INCLUDE") {
            join(group, self.include()?)?
        } else if self.is_mark("{") {
            join(group, self.unions()?)?
        } else {
            parts.group = group;
            return Ok(false);
        };
        Ok(true)
    }

    /// Parses `SERVICE` after its keyword. In WDQS, the label service is evaluated last in its group, wherever it is
    /// written.
    fn service(
        &mut self,
        group: DepthTree<QueryPattern>,
        labels: &mut Vec<DepthTree<QueryPattern>>,
    ) -> Result<DepthTree<QueryPattern>> {
        let silent = self.word("SILENT");
        let name = self.variable_or_iri()?;
        let is_label = matches!(&name, NamedNodePattern::NamedNode(n) if n.as_str() == LABEL_SERVICE);
        let service = self.group()?.under(|inner| QueryPattern::Service { name, inner: Box::new(inner), silent })?;
        if is_label && self.dialect == Dialect::Wdqs {
            labels.push(service);
            return Ok(group);
        }
        join(group, service)
    }

    fn unions(&mut self) -> Result<DepthTree<QueryPattern>> {
        let mut parts = vec![self.group()?];
        while self.word("UNION") {
            parts.push(self.group()?);
        }
        let union = |left, right| QueryPattern::Union { left: Box::new(left), right: Box::new(right) };
        Ok(reduce(parts, |left, right| left.and(right, union))?.unwrap_or_default())
    }

    fn bind(&mut self, group: DepthTree<QueryPattern>, early: &mut Vec<Early>) -> Result<DepthTree<QueryPattern>> {
        self.expect("(")?;
        let expression = self.expression()?;
        self.expect_word("AS")?;
        let token = self.peek();
        let variable = self.variable()?;
        self.expect(")")?;
        let mut needs = HashSet::new();
        let may_wait = self.dialect == Dialect::Wdqs && !self.fixed.contains(&token.start);
        if may_wait && strict_variables(&expression, &mut needs) && !needs.is_empty() {
            let scope = in_scope(&group);
            if needs.iter().any(|v| !scope.contains(v)) {
                early.push(Early { needs, expression, variable, token });
                return Ok(group);
            }
        }
        self.bind_now(group, expression, variable, token)
    }

    fn bind_now(
        &mut self,
        group: DepthTree<QueryPattern>,
        expression: DepthTree<Expression>,
        variable: Variable,
        token: SparqlToken,
    ) -> Result<DepthTree<QueryPattern>> {
        if !in_scope(&group).contains(&variable) {
            return extended(group, variable, expression);
        }
        let wrong = format!("BIND assigns {variable}, which is already bound in this group");
        self.extend(token, Extension::BindToBound, &wrong)?;
        let value = self.helper();
        bind_again(group, variable, value, expression)
    }

    /// Applies each waiting BIND once its variables are bound.
    fn bind_ready(
        &mut self,
        mut group: DepthTree<QueryPattern>,
        early: &mut Vec<Early>,
    ) -> Result<DepthTree<QueryPattern>> {
        while !early.is_empty() {
            let scope = in_scope(&group);
            let Some(index) = early.iter().position(|bind| bind.needs.iter().all(|v| scope.contains(v))) else { break };
            let Early { expression, variable, token, .. } = early.remove(index);
            self.extend(token, Extension::EarlyBind, "BIND is written before the variables it uses are bound")?;
            group = self.bind_now(group, expression, variable, token)?;
        }
        Ok(group)
    }

    fn check_lateral(&mut self, token: SparqlToken, left: &QueryPattern, right: &QueryPattern) -> Result<()> {
        let mut defined = HashSet::new();
        defines(right, &mut defined);
        match in_scope(left).into_iter().find(|v| defined.contains(v)) {
            Some(variable) => {
                let message = format!("{variable} is bound before LATERAL and bound again inside it");
                Err(self.error_at(token, SparqlCode::Syntax, message))
            }
            None => Ok(()),
        }
    }

    /// Parses `VALUES` after its keyword.
    pub fn data_block(&mut self) -> Result<DepthTree<QueryPattern>> {
        let mut variables = Vec::new();
        let single = self.maybe_variable();
        let row = single.is_none();
        if let Some(variable) = single {
            variables.push(variable);
        } else {
            self.expect("(")?;
            while let Some(variable) = self.maybe_variable() {
                self.check_variables()?;
                if variables.contains(&variable) {
                    return Err(self.expected("another variable (each may occur once in VALUES)"));
                }
                variables.push(variable);
            }
            self.expect(")")?;
        }
        self.expect("{")?;
        let mut rows = Vec::new();
        while !self.mark("}") {
            if !row {
                rows.push(vec![self.data_value()?]);
                continue;
            }
            let start = self.peek();
            self.expect("(")?;
            let mut values = Vec::with_capacity(variables.len());
            while !self.is_mark(")") {
                values.push(self.data_value()?);
            }
            self.expect(")")?;
            if values.len() != variables.len() {
                let message =
                    format!("this row of VALUES has {} values for {} variables", values.len(), variables.len());
                return Err(self.error_at(start, SparqlCode::Values, message).help("write UNDEF for a missing value"));
            }
            rows.push(values);
        }
        Ok(DepthTree::of_part(QueryPattern::Values { variables, rows: Arc::new(rows) }))
    }

    fn data_value(&mut self) -> Result<Option<Term>> {
        if self.word("UNDEF") {
            return Ok(None);
        }
        if self.is_iri() {
            return Ok(Some(self.iri()?.into()));
        }
        if self.is_mark("<<(") {
            return Ok(Some(self.triple_value()?));
        }
        match self.maybe_literal()? {
            Some(literal) => Ok(Some(literal.into())),
            None => Err(self.expected("an IRI, a literal, a triple term or UNDEF")),
        }
    }

    // Named subqueries.

    /// Parses any number of `WITH { ... } AS %name`. A body is read on first use, so that subqueries may include each
    /// other in any order.
    pub fn with_clauses(&mut self) -> Result<()> {
        while self.is_word("WITH") {
            let with = self.peek();
            self.extend(with, Extension::NamedSubquery, "WITH does not belong to SPARQL 1.1")?;
            self.at += 1;
            let body = self.peek().start;
            self.skip_group(with)?;
            self.expect_word("AS")?;
            let token = self.peek();
            if token.kind != TokenKind::Named {
                return Err(self.expected("a name with %"));
            }
            self.at += 1;
            self.define(token, body)?;
        }
        Ok(())
    }

    fn include(&mut self) -> Result<DepthTree<QueryPattern>> {
        let token = self.peek();
        if token.kind != TokenKind::Named {
            return Err(self.expected("a name with %"));
        }
        self.check_include(token)?;
        self.at += 1;
        let name = self.slice(token).get(1..).unwrap_or("");
        let Some(index) = self.named.iter().position(|n| n.name == name) else {
            let names: Vec<String> = self.named.iter().map(|n| format!("%{}", n.name)).collect();
            let error = self.error_at(token, SparqlCode::NamedSubquery, format!("%{name} is never defined"));
            return Err(error.help(if names.is_empty() {
                match self.dialect {
                    Dialect::Qlever => format!("define it in front of the query: WITH %{name} AS {{ ... }}"),
                    _ => format!("define it between SELECT and WHERE: WITH {{ SELECT ... }} AS %{name}"),
                }
            } else {
                format!("defined are {}", names.join(", "))
            }));
        };
        if self.named.get(index).is_some_and(|n| n.open) {
            return Err(self.error_at(token, SparqlCode::NamedSubquery, format!("%{name} includes itself")));
        }
        // Inlining the pattern would double the tree with each subquery that includes another one twice.
        let variables = self.named_variables(index)?;
        Ok(DepthTree::of_part(QueryPattern::Include { name: name.to_owned(), variables }))
    }

    /// Returns the variables of a named subquery; reads its body if necessary.
    fn named_variables(&mut self, index: usize) -> Result<Vec<Variable>> {
        let Some(named) = self.named.get_mut(index) else { return Ok(Vec::new()) };
        if let Some(variables) = &named.variables {
            return Ok(variables.clone());
        }
        named.open = true;
        let (name, body) = (named.name.to_owned(), named.body);
        let back = self.peek().start;
        self.seek(body);
        let labels = (std::mem::take(&mut self.used_labels), std::mem::take(&mut self.labels));
        let pattern = self.group()?;
        (self.used_labels, self.labels) = labels;
        self.seek(back);
        let mut variables: Vec<Variable> = in_scope(&pattern).into_iter().collect();
        variables.sort();
        if let Some(named) = self.named.get_mut(index) {
            named.open = false;
            named.variables = Some(variables.clone());
        }
        let pattern = match *pattern {
            QueryPattern::Project { .. }
            | QueryPattern::Distinct { .. }
            | QueryPattern::Reduced { .. }
            | QueryPattern::Slice { .. } => pattern,
            _ => pattern.under(|inner| QueryPattern::project(inner, variables.clone()))?,
        };
        self.needed.push((name, pattern.into_part()));
        Ok(variables)
    }

    /// Reads the named subqueries that are never included, to report their errors as well.
    pub fn named_left_over(&mut self) -> Result<()> {
        for index in 0..self.named.len() {
            self.named_variables(index)?;
        }
        Ok(())
    }
}

/// Binds a variable that may be bound already: only solutions with an equal value remain.
fn bind_again(
    group: DepthTree<QueryPattern>,
    variable: Variable,
    value: Variable,
    expression: DepthTree<Expression>,
) -> Result<DepthTree<QueryPattern>> {
    let given = extended(group, value.clone(), expression)?;
    let unbound = |v: &Variable| Expression::not(Expression::Bound(v.clone()));
    let same = Expression::binary(Binary::Equal, variable.clone().into(), value.clone().into());
    let either_unbound = Expression::binary(Binary::Or, unbound(&variable), unbound(&value));
    let agree = Expression::binary(Binary::Or, either_unbound, same);
    let either = Expression::Coalesce(vec![variable.clone().into(), value.into()]);
    extended(filtered(given, Some(DepthTree::of_part(agree)))?, variable, DepthTree::of_part(either))
}

pub(super) fn filtered(
    pattern: DepthTree<QueryPattern>,
    filter: Option<DepthTree<Expression>>,
) -> Result<DepthTree<QueryPattern>> {
    match filter {
        Some(filter) => pattern.and(filter, QueryPattern::filter),
        None => Ok(pattern),
    }
}

/// Binds a variable to the value of an expression.
pub(super) fn extended(
    pattern: DepthTree<QueryPattern>,
    variable: Variable,
    value: DepthTree<Expression>,
) -> Result<DepthTree<QueryPattern>> {
    pattern.and(value, |inner, expression| QueryPattern::extend(inner, variable, expression))
}

/// Collects the variables that must be bound for an expression to have a value. Returns `false` if that depends on
/// other values.
fn strict_variables(expression: &Expression, out: &mut HashSet<Variable>) -> bool {
    match expression {
        Expression::NamedNode(_) | Expression::Literal(_) => true,
        Expression::Variable(variable) => {
            out.insert(variable.clone());
            true
        }
        Expression::Unary(Unary::Plus | Unary::Minus | Unary::Not, a) => strict_variables(a, out),
        // The other operand may decide alone.
        Expression::Binary(Binary::Or | Binary::And, ..) => false,
        Expression::Binary(_, a, b) => strict_variables(a, out) && strict_variables(b, out),
        Expression::Call(_, arguments) | Expression::Own(_, arguments) => {
            arguments.iter().all(|a| strict_variables(a, out))
        }
        Expression::Bound(_)
        | Expression::Exists(_)
        | Expression::In(..)
        | Expression::If(..)
        | Expression::Coalesce(_) => false,
    }
}

/// Returns the variables that a pattern can bind.
pub fn in_scope(pattern: &QueryPattern) -> HashSet<Variable> {
    let mut variables = HashSet::new();
    on_in_scope(pattern, &mut |v| {
        if !variables.contains(v) {
            variables.insert(v.clone());
        }
    });
    variables
}

/// Collects the variables that a pattern binds with `AS` or `VALUES`.
fn defines(pattern: &QueryPattern, out: &mut HashSet<Variable>) {
    let mut shown = |inner: &QueryPattern, variables: &[Variable]| {
        let mut inside = HashSet::new();
        defines(inner, &mut inside);
        out.extend(inside.into_iter().filter(|v| variables.contains(v)));
    };
    match pattern {
        QueryPattern::Project { variables, inner } => return shown(inner, variables),
        QueryPattern::Group { variables, aggregates, inner } => {
            shown(inner, variables);
            return out.extend(aggregates.iter().map(|(v, _)| v.clone()));
        }
        QueryPattern::Extend { variable, .. } => {
            out.insert(variable.clone());
        }
        QueryPattern::Values { variables, .. }
        | QueryPattern::Table { variables, .. }
        | QueryPattern::Include { variables, .. } => {
            out.extend(variables.iter().cloned());
        }
        QueryPattern::Bgp { .. }
        | QueryPattern::Path { .. }
        | QueryPattern::Relation { .. }
        | QueryPattern::Join { .. }
        | QueryPattern::Lateral { .. }
        | QueryPattern::LeftJoin { .. }
        | QueryPattern::LeftLateral { .. }
        | QueryPattern::Union { .. }
        | QueryPattern::Minus { .. }
        | QueryPattern::Filter { .. }
        | QueryPattern::Graph { .. }
        | QueryPattern::Service { .. }
        | QueryPattern::OrderBy { .. }
        | QueryPattern::Distinct { .. }
        | QueryPattern::Reduced { .. }
        | QueryPattern::Slice { .. } => {}
    }
    QueryNode::Pattern(pattern).children(&mut |child| {
        if let QueryNode::Pattern(child) = child {
            defines(child, out);
        }
    });
}
