//! Groups and what stands in them.

use std::collections::HashSet;

use oxrdf::{NamedNode, Variable};
use spargebra::algebra::{Expression, GraphPattern};
use spargebra::term::{GroundTerm, NamedNodePattern};

use super::parser::{Dialect, NAMED, Named, Parser, Result, Tolerance};
use super::token::{Kind, Token};
use super::triples::{bgp, join};
use crate::sparql::vocabulary::LABEL_SERVICE;

/// Most parts that one group may have.
const MAX_PARTS: usize = 500;

/// A BIND that stands before what it needs.
struct Early {
    needs: HashSet<Variable>,
    expression: Expression,
    variable: Variable,
    token: Token,
}

impl Parser<'_> {
    /// A group in braces, its filters applied.
    pub fn group(&mut self) -> Result<GraphPattern> {
        let (pattern, filter) = self.group_and_filter()?;
        Ok(filtered(pattern, filter))
    }

    /// A group in braces, with its filters apart: `OPTIONAL` takes them for its condition.
    fn group_and_filter(&mut self) -> Result<(GraphPattern, Option<Expression>)> {
        self.nested(|p| {
            p.expect("{")?;
            p.close_labels();
            let result = if p.is_word("SELECT") { (p.sub_select()?, None) } else { p.parts()? };
            p.close_labels();
            p.expect("}")?;
            Ok(result)
        })
    }

    fn parts(&mut self) -> Result<(GraphPattern, Option<Expression>)> {
        let start = self.mark_state();
        loop {
            if let Some(parts) = self.parts_once()? {
                return Ok(parts);
            }
            self.reset_state(&start);
        }
    }

    /// Reads a group's parts; None where a BIND waited for values that never came: it is to stay where it stands.
    fn parts_once(&mut self) -> Result<Option<(GraphPattern, Option<Expression>)>> {
        let mut group = bgp(self.triples_block(true)?);
        let mut filter: Option<Expression> = None;
        let mut labels = Vec::new();
        let mut early: Vec<Early> = Vec::new();
        for part in 0.. {
            let token = self.peek();
            if part > MAX_PARTS {
                let message = format!("a group has more than {MAX_PARTS} parts");
                return Err(self.error_at(token, "too-long", message));
            }
            if self.word("OPTIONAL") {
                let (right, expression) = self.group_and_filter()?;
                group = GraphPattern::LeftJoin { left: Box::new(group), right: Box::new(right), expression };
            } else if self.word("MINUS") {
                let right = self.group()?;
                group = GraphPattern::Minus { left: Box::new(group), right: Box::new(right) };
            } else if self.word("LATERAL") {
                let right = self.group()?;
                self.check_lateral(token, &group, &right)?;
                group = GraphPattern::Lateral { left: Box::new(group), right: Box::new(right) };
            } else if self.word("FILTER") {
                let condition = self.constraint()?;
                filter = Some(match filter {
                    Some(before) => Expression::And(Box::new(before), Box::new(condition)),
                    None => condition,
                });
            } else if self.word("BIND") {
                group = self.bind(group, &mut early)?;
            } else if self.word("GRAPH") {
                let name = self.variable_or_iri()?;
                let inner = Box::new(self.group()?);
                group = join(group, GraphPattern::Graph { name, inner });
            } else if self.word("SERVICE") {
                let silent = self.word("SILENT");
                let name = self.variable_or_iri()?;
                let inner = Box::new(self.group()?);
                let is_label = matches!(&name, NamedNodePattern::NamedNode(n) if n.as_str() == LABEL_SERVICE);
                let service = GraphPattern::Service { name, inner, silent };
                if is_label && self.dialect == Dialect::Wdqs {
                    // Wherever it stands in its group, the label service comes last.
                    labels.push(service);
                } else {
                    group = join(group, service);
                }
            } else if self.word("VALUES") {
                group = join(group, self.data_block()?);
            } else if self.word("INCLUDE") {
                group = join(group, self.include()?);
            } else if self.is_mark("{") {
                group = join(group, self.unions()?);
            } else {
                break;
            }
            self.mark(".");
            let triples = self.triples_block(true)?;
            if !triples.is_empty() {
                group = join(group, bgp(triples));
            }
            if !early.is_empty() {
                group = self.bind_ready(group, &mut early)?;
            }
        }
        group = self.bind_ready(group, &mut early)?;
        if !early.is_empty() {
            self.fixed.extend(early.iter().map(|bind| bind.token.start));
            return Ok(None);
        }
        if !self.is_mark("}") {
            return Err(self.expected("a triple, a group, FILTER, BIND, OPTIONAL, another part of a group, or '}'"));
        }
        for service in labels {
            group = GraphPattern::Join { left: Box::new(group), right: Box::new(service) };
        }
        Ok(Some((group, filter)))
    }

    fn unions(&mut self) -> Result<GraphPattern> {
        let mut parts = vec![self.group()?];
        while self.word("UNION") {
            parts.push(self.group()?);
        }
        Ok(reduce(parts, |left, right| GraphPattern::Union { left: Box::new(left), right: Box::new(right) })
            .unwrap_or_default())
    }

    fn bind(&mut self, group: GraphPattern, early: &mut Vec<Early>) -> Result<GraphPattern> {
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
        group: GraphPattern,
        expression: Expression,
        variable: Variable,
        token: Token,
    ) -> Result<GraphPattern> {
        if !in_scope(&group).contains(&variable) {
            return Ok(GraphPattern::Extend { inner: Box::new(group), variable, expression });
        }
        let wrong = format!("BIND gives {variable} a value, but it has one already in this group");
        self.tolerate(token, Tolerance::BindToBound, &wrong)?;
        let value = self.helper();
        Ok(bind_again(group, variable, value, expression))
    }

    /// Takes up the BINDs that stood before what they need, as soon as it is there.
    fn bind_ready(&mut self, mut group: GraphPattern, early: &mut Vec<Early>) -> Result<GraphPattern> {
        while !early.is_empty() {
            let scope = in_scope(&group);
            let Some(index) = early.iter().position(|bind| bind.needs.iter().all(|v| scope.contains(v))) else { break };
            let Early { expression, variable, token, .. } = early.remove(index);
            self.tolerate(token, Tolerance::EarlyBind, "BIND stands before what it needs")?;
            group = self.bind_now(group, expression, variable, token)?;
        }
        Ok(group)
    }

    fn check_lateral(&mut self, token: Token, left: &GraphPattern, right: &GraphPattern) -> Result<()> {
        let mut defined = HashSet::new();
        defines(right, &mut defined);
        match in_scope(left).into_iter().find(|v| defined.contains(v)) {
            Some(variable) => {
                let message = format!("{variable} has a value before LATERAL and is given one in it");
                Err(self.error_at(token, "syntax", message))
            }
            None => Ok(()),
        }
    }

    /// `VALUES` after its keyword.
    pub fn data_block(&mut self) -> Result<GraphPattern> {
        let mut variables = Vec::new();
        let single = self.maybe_variable();
        let row = single.is_none();
        if let Some(variable) = single {
            variables.push(variable);
        } else {
            self.expect("(")?;
            while let Some(variable) = self.maybe_variable() {
                if variables.contains(&variable) {
                    return Err(self.expected("another variable: each stands once in VALUES"));
                }
                variables.push(variable);
            }
            self.expect(")")?;
        }
        self.expect("{")?;
        let mut bindings = Vec::new();
        while !self.mark("}") {
            if !row {
                bindings.push(vec![self.data_value()?]);
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
                return Err(self.error_at(start, "values", message).help("UNDEF stands for no value"));
            }
            bindings.push(values);
        }
        Ok(GraphPattern::Values { variables, bindings })
    }

    fn data_value(&mut self) -> Result<Option<GroundTerm>> {
        if self.word("UNDEF") {
            return Ok(None);
        }
        if self.is_iri() {
            return Ok(Some(self.iri()?.into()));
        }
        match self.maybe_literal()? {
            Some(literal) => Ok(Some(literal.into())),
            None => Err(self.expected("an IRI, a literal or UNDEF")),
        }
    }

    // Named subqueries.

    /// `WITH { ... } AS %name` as often as it stands here. The bodies are read when they are needed, so that they may
    /// include one another in any order.
    pub fn with_clauses(&mut self) -> Result<()> {
        while self.is_word("WITH") {
            let with = self.peek();
            self.tolerate(with, Tolerance::NamedSubquery, "WITH does not belong to SPARQL 1.1")?;
            self.at += 1;
            let body = self.at;
            if !self.is_mark("{") {
                return Err(self.expected("'{'"));
            }
            let mut open = 0_usize;
            loop {
                match self.peek().kind {
                    Kind::Mark("{") => open += 1,
                    Kind::Mark("}") => open -= 1,
                    Kind::End => return Err(self.error_at(with, "syntax", "the braces of this WITH do not close")),
                    _ => {}
                }
                self.at += 1;
                if open == 0 {
                    break;
                }
            }
            self.expect_word("AS")?;
            let token = self.peek();
            if token.kind != Kind::Named {
                return Err(self.expected("a name with %"));
            }
            self.at += 1;
            let name = self.slice(token).get(1..).unwrap_or("");
            if self.named.iter().any(|n| n.name == name) {
                return Err(self.error_at(token, "named-subquery", format!("%{name} is defined twice")));
            }
            self.named.push(Named { name, body, pattern: None, open: false });
        }
        Ok(())
    }

    fn include(&mut self) -> Result<GraphPattern> {
        let token = self.peek();
        if token.kind != Kind::Named {
            return Err(self.expected("a name with %"));
        }
        self.at += 1;
        let name = self.slice(token).get(1..).unwrap_or("");
        let Some(index) = self.named.iter().position(|n| n.name == name) else {
            let names: Vec<String> = self.named.iter().map(|n| format!("%{}", n.name)).collect();
            let error = self.error_at(token, "named-subquery", format!("%{name} is never defined"));
            return Err(error.help(if names.is_empty() {
                format!("define it between SELECT and WHERE: WITH {{ SELECT ... }} AS %{name}")
            } else {
                format!("defined are {}", names.join(", "))
            }));
        };
        if self.named.get(index).is_some_and(|n| n.open) {
            return Err(self.error_at(token, "named-subquery", format!("%{name} includes itself")));
        }
        let inner = Box::new(self.named_pattern(index)?);
        let name = NamedNode::new_unchecked(format!("{NAMED}{name}"));
        Ok(GraphPattern::Service { name: name.into(), inner, silent: false })
    }

    fn named_pattern(&mut self, index: usize) -> Result<GraphPattern> {
        let Some(named) = self.named.get_mut(index) else { return Ok(GraphPattern::default()) };
        if let Some(pattern) = &named.pattern {
            return Ok(pattern.clone());
        }
        named.open = true;
        let body = named.body;
        let back = std::mem::replace(&mut self.at, body);
        let labels = (std::mem::take(&mut self.used_labels), std::mem::take(&mut self.labels));
        let pattern = self.group()?;
        (self.used_labels, self.labels) = labels;
        self.at = back;
        if let Some(named) = self.named.get_mut(index) {
            named.open = false;
            named.pattern = Some(pattern.clone());
        }
        Ok(pattern)
    }

    /// Reads the named subqueries that nothing included, so that their errors are found, too.
    pub fn named_left_over(&mut self) -> Result<()> {
        for index in 0..self.named.len() {
            self.named_pattern(index)?;
        }
        Ok(())
    }
}

/// `variable := expression` where the variable may have a value: solutions stay where both are the same.
fn bind_again(group: GraphPattern, variable: Variable, value: Variable, expression: Expression) -> GraphPattern {
    let extended = GraphPattern::Extend { inner: Box::new(group), variable: value.clone(), expression };
    let unbound = |v: &Variable| Box::new(Expression::Not(Box::new(Expression::Bound(v.clone()))));
    let same = Expression::Equal(Box::new(variable.clone().into()), Box::new(value.clone().into()));
    let agree = Expression::Or(Box::new(Expression::Or(unbound(&variable), unbound(&value))), Box::new(same));
    GraphPattern::Extend {
        inner: Box::new(filtered(extended, Some(agree))),
        expression: Expression::Coalesce(vec![variable.clone().into(), value.into()]),
        variable,
    }
}

pub(super) fn filtered(pattern: GraphPattern, filter: Option<Expression>) -> GraphPattern {
    match filter {
        Some(expr) => GraphPattern::Filter { expr, inner: Box::new(pattern) },
        None => pattern,
    }
}

/// Folds from the left; long lists are folded as a balanced tree, which means the same and is not deep.
pub(super) fn reduce<T>(mut parts: Vec<T>, combine: impl Fn(T, T) -> T + Copy) -> Option<T> {
    while parts.len() > 64 {
        let mut halved = Vec::with_capacity(parts.len() / 2 + 1);
        let mut rest = parts.into_iter();
        while let Some(left) = rest.next() {
            halved.push(match rest.next() {
                Some(right) => combine(left, right),
                None => left,
            });
        }
        parts = halved;
    }
    parts.into_iter().reduce(combine)
}

/// Collects the variables without any of which an expression is an error; false where that depends.
fn strict_variables(expression: &Expression, out: &mut HashSet<Variable>) -> bool {
    match expression {
        Expression::NamedNode(_) | Expression::Literal(_) => true,
        Expression::Variable(variable) => {
            out.insert(variable.clone());
            true
        }
        Expression::Equal(a, b)
        | Expression::SameTerm(a, b)
        | Expression::Greater(a, b)
        | Expression::GreaterOrEqual(a, b)
        | Expression::Less(a, b)
        | Expression::LessOrEqual(a, b)
        | Expression::Add(a, b)
        | Expression::Subtract(a, b)
        | Expression::Multiply(a, b)
        | Expression::Divide(a, b) => strict_variables(a, out) && strict_variables(b, out),
        Expression::UnaryPlus(a) | Expression::UnaryMinus(a) | Expression::Not(a) => strict_variables(a, out),
        Expression::FunctionCall(_, arguments) => arguments.iter().all(|a| strict_variables(a, out)),
        _ => false,
    }
}

/// The variables that a pattern can bind.
pub(crate) fn in_scope(pattern: &GraphPattern) -> HashSet<Variable> {
    let mut variables = HashSet::new();
    pattern.on_in_scope_variable(|v| {
        if !variables.contains(v) {
            variables.insert(v.clone());
        }
    });
    variables
}

/// The variables that a pattern makes with `AS` or `VALUES`.
fn defines(pattern: &GraphPattern, out: &mut HashSet<Variable>) {
    match pattern {
        GraphPattern::Bgp { .. } | GraphPattern::Path { .. } => {}
        GraphPattern::Join { left, right }
        | GraphPattern::LeftJoin { left, right, .. }
        | GraphPattern::Lateral { left, right }
        | GraphPattern::Union { left, right }
        | GraphPattern::Minus { left, right } => {
            defines(left, out);
            defines(right, out);
        }
        GraphPattern::Extend { inner, variable, .. } => {
            out.insert(variable.clone());
            defines(inner, out);
        }
        GraphPattern::Group { variables, aggregates, inner } => {
            out.extend(aggregates.iter().map(|(v, _)| v.clone()));
            let mut inside = HashSet::new();
            defines(inner, &mut inside);
            out.extend(inside.into_iter().filter(|v| variables.contains(v)));
        }
        GraphPattern::Values { variables, .. } => out.extend(variables.iter().cloned()),
        GraphPattern::Project { variables, inner } => {
            let mut inside = HashSet::new();
            defines(inner, &mut inside);
            out.extend(inside.into_iter().filter(|v| variables.contains(v)));
        }
        GraphPattern::Graph { inner, .. }
        | GraphPattern::Service { inner, .. }
        | GraphPattern::Filter { inner, .. }
        | GraphPattern::OrderBy { inner, .. }
        | GraphPattern::Distinct { inner }
        | GraphPattern::Reduced { inner }
        | GraphPattern::Slice { inner, .. } => defines(inner, out),
    }
}
