//! Rules for the four query forms, subqueries, and the clauses around a pattern.

use std::collections::HashSet;
use std::sync::Arc;

use oxrdf::{NamedNode, Variable};

use super::dialect::Dialect;
use super::parser::{Extension, QueryParser};
use super::pattern::{extended, filtered, in_scope};
use super::statements::Triple;
use super::token::{SparqlToken, TokenKind};
use super::tree::DepthTree;
use super::triples::join;
use crate::algebra::{
    AggregateCall, AggregateFunction, Expression, Helper, NamedNodePattern, QueryDataset, QueryForm, QueryPattern,
    SortKey, SparqlQuery, TriplePattern,
};
use crate::error::{Result, SparqlCode};
use crate::expression::all_of;
use crate::walk::on_variables;

/// Maximum number of IRIs in a DESCRIBE that are bound one by one.
const MOST_EXTENDED: usize = 64;

/// The treatment of duplicates.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Duplicates {
    Kept,
    Distinct,
    Reduced,
}

/// An item of a SELECT clause, with its token.
enum SelectItem {
    Variable(Variable, SparqlToken),
    Expression(DepthTree<Expression>, Variable, SparqlToken),
    /// An IRI to describe.
    Named(NamedNode, SparqlToken),
}

struct SelectClause {
    duplicates: Duplicates,
    /// `None` for `*`, and for query forms without this clause.
    members: Option<Vec<SelectItem>>,
    start: SparqlToken,
    /// Whether this is a SELECT clause, in which `*` cannot be combined with groups.
    select: bool,
}

impl SelectClause {
    /// Returns whether an expression uses an alias of the selection.
    fn names_any_of(&self, expression: &Expression) -> bool {
        let mut any = false;
        on_variables(expression, &mut |variable| {
            any |= self
                .members
                .iter()
                .flatten()
                .any(|m| matches!(m, SelectItem::Expression(_, named, _) if named == variable));
        });
        any
    }
}

/// The variables of GROUP BY, and the expressions bound to some of them.
type Grouping = (Vec<Variable>, Vec<(DepthTree<Expression>, Variable)>);

/// The solution modifiers after the pattern.
#[derive(Default)]
struct Modifiers {
    group: Option<Grouping>,
    having: Option<DepthTree<Expression>>,
    order: Option<DepthTree<Vec<SortKey>>>,
    slice: Option<(usize, Option<usize>)>,
    values: Option<DepthTree<QueryPattern>>,
}

impl QueryParser<'_> {
    pub fn query(&mut self) -> Result<DepthTree<SparqlQuery>> {
        let start = self.peek();
        if self.is_word("SELECT") {
            let selection = self.selection()?;
            let dataset = self.dataset()?;
            self.with_clauses()?;
            let pattern = self.where_clause()?;
            let modifiers = self.modifiers()?;
            let pattern = self.select(selection, pattern, modifiers)?;
            return self.finished(QueryForm::Select, dataset, pattern);
        }
        self.aggregates.push(Vec::new());
        let all = SelectClause { duplicates: Duplicates::Kept, members: None, start, select: false };
        if self.word("ASK") {
            let dataset = self.dataset()?;
            self.with_clauses()?;
            let pattern = self.where_clause()?;
            let modifiers = self.modifiers()?;
            let pattern = self.select(all, pattern, modifiers)?;
            return self.finished(QueryForm::Ask, dataset, pattern);
        }
        if self.word("CONSTRUCT") {
            return self.construct(all);
        }
        if self.word("DESCRIBE") {
            return self.describe(all);
        }
        let error = self.expected("SELECT, ASK, CONSTRUCT or DESCRIBE");
        if ["INSERT", "DELETE", "LOAD", "CLEAR", "DROP", "CREATE"].iter().any(|word| self.is_word(word)) {
            return Err(error.help("SPARQL Update is not supported: a snapshot never changes"));
        }
        Err(error)
    }

    fn finished(
        &self,
        form: QueryForm,
        dataset: Option<QueryDataset>,
        pattern: DepthTree<QueryPattern>,
    ) -> Result<DepthTree<SparqlQuery>> {
        pattern.under(|pattern| SparqlQuery { form, dataset, base: self.base.clone(), pattern })
    }

    fn construct(&mut self, all: SelectClause) -> Result<DepthTree<SparqlQuery>> {
        let mut template = None;
        if self.is_mark("{") {
            template = Some(self.template()?);
            self.labels.clear();
        }
        let dataset = self.dataset()?;
        let pattern = match &template {
            Some(_) => {
                self.with_clauses()?;
                self.where_clause()?
            }
            None => {
                self.expect_word("WHERE")?;
                DepthTree::triples(template.insert(self.template()?).clone())?
            }
        };
        let modifiers = self.modifiers()?;
        let pattern = self.select(all, pattern, modifiers)?;
        self.finished(QueryForm::Construct(template.unwrap_or_default()), dataset, pattern)
    }

    fn template(&mut self) -> Result<Vec<TriplePattern>> {
        self.expect("{")?;
        let triples = self.triples_block(false)?;
        self.expect("}")?;
        Ok(triples
            .into_iter()
            .filter_map(|triple| match triple {
                Triple::Plain(triple) => Some(triple),
                Triple::Path { .. } => None,
            })
            .collect())
    }

    fn describe(&mut self, all: SelectClause) -> Result<DepthTree<SparqlQuery>> {
        let mut selection = all;
        if !self.mark("*") {
            let mut members = Vec::new();
            while self.peek().kind == TokenKind::Variable || self.is_iri() {
                let token = self.peek();
                members.push(match self.variable_or_iri()? {
                    NamedNodePattern::NamedNode(node) => SelectItem::Named(node, token),
                    NamedNodePattern::Variable(variable) => SelectItem::Variable(variable, token),
                });
                self.check_variables()?;
            }
            if members.is_empty() {
                return Err(self.expected("'*', a variable or an IRI"));
            }
            selection.members = Some(members);
        }
        let dataset = self.dataset()?;
        self.with_clauses()?;
        let pattern =
            if self.is_word("WHERE") || self.is_mark("{") { self.where_clause()? } else { DepthTree::default() };
        let modifiers = self.modifiers()?;
        let pattern = self.select(selection, pattern, modifiers)?;
        self.finished(QueryForm::Describe, dataset, pattern)
    }

    /// Parses a subquery, after the opening brace of its group.
    pub fn sub_select(&mut self) -> Result<DepthTree<QueryPattern>> {
        let around = std::mem::take(&mut self.is_in_aggregate);
        let selection = self.selection()?;
        if selection.members.is_some() {
            self.include_body = Some(self.at + usize::from(self.is_word("WHERE")));
        }
        let pattern = self.where_clause()?;
        let modifiers = self.modifiers()?;
        self.is_in_aggregate = around;
        self.select(selection, pattern, modifiers)
    }

    fn selection(&mut self) -> Result<SelectClause> {
        let start = self.peek();
        self.expect_word("SELECT")?;
        self.aggregates.push(Vec::new());
        let duplicates = if self.word("DISTINCT") {
            Duplicates::Distinct
        } else if self.word("REDUCED") {
            Duplicates::Reduced
        } else {
            Duplicates::Kept
        };
        if self.mark("*") {
            return Ok(SelectClause { duplicates, members: None, start, select: true });
        }
        let mut members = Vec::new();
        loop {
            let token = self.peek();
            self.check_variables()?;
            if let Some(variable) = self.maybe_variable() {
                members.push(SelectItem::Variable(variable, token));
            } else if self.mark("(") {
                let expression = self.expression()?;
                self.expect_word("AS")?;
                let token = self.peek();
                let variable = self.variable()?;
                self.expect(")")?;
                members.push(SelectItem::Expression(expression, variable, token));
            } else if members.is_empty() {
                return Err(self.expected("'*', a variable or (expression AS ?variable)"));
            } else {
                return Ok(SelectClause { duplicates, members: Some(members), start, select: true });
            }
        }
    }

    fn dataset(&mut self) -> Result<Option<QueryDataset>> {
        let (mut default, mut named): (Vec<NamedNode>, Vec<NamedNode>) = (Vec::new(), Vec::new());
        while self.word("FROM") {
            if self.word("NAMED") {
                named.push(self.iri()?);
            } else {
                default.push(self.iri()?);
            }
        }
        Ok((!default.is_empty() || !named.is_empty()).then_some(QueryDataset { default, named: Some(named) }))
    }

    fn where_clause(&mut self) -> Result<DepthTree<QueryPattern>> {
        self.word("WHERE");
        self.group()
    }

    fn modifiers(&mut self) -> Result<Modifiers> {
        let mut modifiers = Modifiers::default();
        if self.word("GROUP") {
            self.expect_word("BY")?;
            modifiers.group = Some(self.group_conditions()?);
        }
        if self.word("HAVING") {
            let mut conditions = vec![self.constraint()?];
            while let Some(next) = self.maybe_constraint()? {
                conditions.push(next);
                self.check_chain(conditions.len())?;
            }
            modifiers.having = all_of(conditions)?;
        }
        if self.word("ORDER") {
            self.expect_word("BY")?;
            modifiers.order = Some(self.order_conditions()?);
        } else if self.is_word("INTERNAL") && self.is_word_at(1, "SORT") {
            self.extend(self.peek(), Extension::InternalSort, "INTERNAL SORT BY is QLever's; write ORDER BY")?;
            self.at += 2;
            self.expect_word("BY")?;
            modifiers.order = Some(self.order_conditions()?);
        }
        let (mut limit, mut offset, mut texts) = (None, None, None);
        loop {
            if limit.is_none() && self.word("LIMIT") {
                limit = Some(self.count()?);
            } else if offset.is_none() && self.word("OFFSET") {
                offset = Some(self.count()?);
            } else if texts.is_none() && self.is_word("TEXTLIMIT") {
                self.extend(self.peek(), Extension::TextLimit, "TEXTLIMIT is QLever's")?;
                self.at += 1;
                texts = Some(self.count()?);
            } else {
                break;
            }
        }
        if limit.is_some() || offset.is_some() {
            modifiers.slice = Some((offset.unwrap_or(0), limit));
        }
        if self.word("VALUES") {
            modifiers.values = Some(self.data_block()?);
        }
        Ok(modifiers)
    }

    fn count(&mut self) -> Result<usize> {
        let token = self.peek();
        let count = if token.kind == TokenKind::Integer { self.slice(token).parse().ok() } else { None };
        match count {
            Some(count) => {
                self.at += 1;
                Ok(count)
            }
            None => Err(self.expected("a whole number")),
        }
    }

    fn group_conditions(&mut self) -> Result<Grouping> {
        let (mut variables, mut binds) = (Vec::new(), Vec::new());
        loop {
            self.check_variables()?;
            if let Some(variable) = self.maybe_variable() {
                variables.push(variable);
                continue;
            }
            let mut alias = None;
            let expression = if self.mark("(") {
                let expression = self.expression()?;
                if self.word("AS") {
                    alias = Some(self.variable()?);
                }
                self.expect(")")?;
                expression
            } else {
                match self.maybe_constraint()? {
                    Some(expression) => expression,
                    None if variables.is_empty() => return Err(self.expected("a variable or expression to group by")),
                    None => return Ok((variables, binds)),
                }
            };
            match (&*expression, alias) {
                (Expression::Variable(variable), None) => variables.push(variable.clone()),
                (_, alias) => {
                    let variable = alias.unwrap_or_else(|| self.helper());
                    binds.push((expression, variable.clone()));
                    variables.push(variable);
                }
            }
        }
    }

    fn order_conditions(&mut self) -> Result<DepthTree<Vec<SortKey>>> {
        let ascending = |expression| SortKey { expression, descends: false };
        let mut conditions = Vec::new();
        loop {
            if let Some(variable) = self.maybe_variable() {
                self.check_variables()?;
                conditions.push(DepthTree::from(variable).under(ascending)?);
            } else if self.is_word("ASC") || self.is_word("DESC") {
                let descends = self.is_word("DESC");
                self.at += 1;
                conditions.push(self.bracketed()?.under(|expression| SortKey { expression, descends })?);
            } else if let Some(expression) = self.maybe_constraint()? {
                conditions.push(expression.under(ascending)?);
            } else if conditions.is_empty() {
                return Err(self.expected("a variable or expression to order by"));
            } else {
                return Ok(DepthTree::list(conditions));
            }
        }
    }

    /// Combines the parts of a query in the order of the standard: grouping, HAVING, VALUES, expressions of SELECT,
    /// ORDER BY, projection, DISTINCT, LIMIT.
    fn select(
        &mut self,
        selection: SelectClause,
        mut pattern: DepthTree<QueryPattern>,
        modifiers: Modifiers,
    ) -> Result<DepthTree<QueryPattern>> {
        let aggregates = self.aggregates.pop().unwrap_or_default();
        let mut group = modifiers.group;
        if group.is_none() && !aggregates.is_empty() {
            group = Some((Vec::new(), Vec::new()));
        }
        let grouped = group.is_some();
        if let Some((variables, binds)) = group {
            for (expression, variable) in binds {
                pattern = extended(pattern, variable, expression)?;
            }
            let (names, aggregates): (Vec<Variable>, Vec<_>) =
                self.with_samples(&selection, &pattern, &variables, aggregates)?.into_iter().unzip();
            pattern = pattern.and(DepthTree::list(aggregates), |inner, aggregates| QueryPattern::Group {
                inner: Box::new(inner),
                variables,
                aggregates: names.into_iter().zip(aggregates).collect(),
            })?;
        }
        // In the standard, aliases of SELECT are not visible in HAVING; in WDQS and in QLever they are.
        let (early, late) = match modifiers.having {
            Some(having) if self.dialect != Dialect::Standard && selection.names_any_of(&having) => {
                self.extend(selection.start, Extension::NamedInHaving, "HAVING uses an alias of SELECT")?;
                (None, Some(having))
            }
            having => (having, None),
        };
        pattern = filtered(pattern, early)?;
        if let Some(values) = modifiers.values {
            pattern = join(pattern, values)?;
        }
        let SelectClause { duplicates, members, start, select } = selection;
        if grouped && select && members.is_none() {
            let error = self.error_at(
                start,
                SparqlCode::Aggregate,
                "SELECT * cannot be combined with GROUP BY or an aggregate",
            );
            return Err(error.help("name the variables"));
        }
        let (mut pattern, projected) = self.project(members, pattern)?;
        pattern = filtered(pattern, late)?;
        if let Some(order) = modifiers.order {
            // Planning binds each key that is not a variable to one.
            let keys = order.iter().filter(|key| !key.is_variable()).count();
            pattern = pattern
                .and(order, |inner, keys| QueryPattern::OrderBy { inner: Box::new(inner), keys })?
                .with_links(keys)?;
        }
        pattern = pattern.under(|inner| QueryPattern::project(inner, projected))?;
        pattern = match duplicates {
            Duplicates::Kept => pattern,
            Duplicates::Distinct => pattern.under(|inner| QueryPattern::Distinct { inner: Box::new(inner) })?,
            Duplicates::Reduced => pattern.under(|inner| QueryPattern::Reduced { inner: Box::new(inner) })?,
        };
        if let Some((start, length)) = modifiers.slice {
            pattern = pattern.under(|inner| QueryPattern::Slice { inner: Box::new(inner), start, length })?;
        }
        Ok(pattern)
    }

    /// Adds SAMPLE for each projected variable that is neither grouped nor aggregated.
    fn with_samples(
        &mut self,
        selection: &SelectClause,
        pattern: &QueryPattern,
        grouped: &[Variable],
        mut aggregates: Vec<(Variable, DepthTree<AggregateCall>)>,
    ) -> Result<Vec<(Variable, DepthTree<AggregateCall>)>> {
        let mut made: Vec<Variable> = Vec::new();
        let mut visible = None;
        for member in selection.members.iter().flatten() {
            if let SelectItem::Named(..) = member {
                continue;
            }
            let SelectItem::Variable(variable, token) = member else {
                if let SelectItem::Expression(expression, variable, token) = member {
                    let mut free = None;
                    on_variables(expression, &mut |v| {
                        let is_known =
                            grouped.contains(v) || made.contains(v) || aggregates.iter().any(|(a, _)| a == v);
                        if !is_known {
                            free = Some(v.clone());
                        }
                    });
                    if let Some(free) = free {
                        let wrong = format!("{free} is neither grouped nor in an aggregate");
                        self.extend(*token, Extension::Ungrouped, &wrong)?;
                    }
                    made.push(variable.clone());
                }
                continue;
            };
            if grouped.contains(variable) || made.contains(variable) || aggregates.iter().any(|(v, _)| v == variable) {
                continue;
            }
            let wrong = format!("{variable} is neither grouped nor in an aggregate");
            let visible = visible.get_or_insert_with(|| in_scope(pattern));
            self.extend(*token, Extension::Ungrouped, &wrong)?;
            // The variables of the label service are bound later.
            let labelled = ["Label", "Description"].iter().any(|suffix| variable.as_str().ends_with(suffix));
            if labelled || visible.contains(variable) {
                let (function, argument) = (AggregateFunction::Sample, variable.clone().into());
                let sample = AggregateCall::Call { function, argument, distinct: false };
                aggregates.push((variable.clone(), DepthTree::of_part(sample)));
            }
        }
        Ok(aggregates)
    }

    /// Binds the expressions of SELECT and returns the projected variables.
    fn project(
        &mut self,
        members: Option<Vec<SelectItem>>,
        mut pattern: DepthTree<QueryPattern>,
    ) -> Result<(DepthTree<QueryPattern>, Vec<Variable>)> {
        let Some(members) = members else {
            // `DESCRIBE *` must not describe the values of aggregates in HAVING and ORDER BY, which have no names.
            let mut projected: Vec<Variable> =
                in_scope(&pattern).into_iter().filter(|variable| !Helper::is_helper(variable)).collect();
            projected.sort();
            return Ok((pattern, projected));
        };
        let mut visible: HashSet<Variable> = in_scope(&pattern);
        let mut projected: Vec<Variable> = Vec::with_capacity(members.len());
        let mut known: HashSet<Variable> = HashSet::with_capacity(members.len());
        let names = members.iter().filter_map(|m| if let SelectItem::Named(name, _) = m { Some(name) } else { None });
        // A few names are bound one by one, as in the standard; many are bound by one row of VALUES.
        let in_row = names.collect::<HashSet<_>>().len() > MOST_EXTENDED;
        let mut described: HashSet<NamedNode> = HashSet::new();
        let (mut columns, mut row) = (Vec::new(), Vec::new());
        for member in members {
            let (variable, token) = match member {
                // A variable that is named twice is one column.
                SelectItem::Variable(variable, _) if known.contains(&variable) => continue,
                // Describing a resource twice has no effect.
                SelectItem::Named(name, _) if !described.insert(name.clone()) => continue,
                SelectItem::Named(name, token) => {
                    let variable = self.helper();
                    self.check_variables()?;
                    if in_row {
                        columns.push(variable.clone());
                        row.push(Some(name.into()));
                    } else {
                        pattern = extended(pattern, variable.clone(), name.into())?;
                    }
                    (variable, token)
                }
                SelectItem::Variable(variable, token) => (variable, token),
                SelectItem::Expression(expression, variable, token) => {
                    if visible.contains(&variable) {
                        let wrong = format!("{variable} has a value already and cannot be an alias");
                        self.extend(token, Extension::AliasOfVisible, &wrong)?;
                    }
                    visible.insert(variable.clone());
                    pattern = extended(pattern, variable.clone(), expression)?;
                    (variable, token)
                }
            };
            if known.insert(variable.clone()) {
                projected.push(variable);
            } else {
                self.extend(token, Extension::RepeatedVariable, &format!("{variable} is selected twice"))?;
            }
        }
        if in_row {
            pattern = join(
                pattern,
                DepthTree::of_part(QueryPattern::Values { variables: columns, rows: Arc::new(vec![row]) }),
            )?;
        }
        Ok((pattern, projected))
    }
}
