//! Writes the algebra as a query: the inverse of the parser, for queries that were rewritten as trees.
//!
//! Each node becomes the construct of the grammar that has its meaning. Braces are added wherever the scope of a filter,
//! an assignment or an optional part would change without them. Generated variables and blank nodes get names that no
//! other variable of the query has.

mod shape;

use std::collections::{BTreeSet, HashMap};
use std::fmt::Write;

use oxrdf::vocab::xsd;
use oxrdf::{Literal, NamedNode, Term, Variable};

use crate::STANDARD_DEVIATION;
use crate::algebra::{
    AggregateCall, AggregateFunction, Binary, Expression, Function, NamedNodePattern, Path, QueryDataset, QueryForm,
    QueryPattern, SortKey, SparqlQuery, TermPattern, TriplePattern, Unary,
};
use crate::dialect::Dialect;
use crate::pattern::in_scope;
use crate::prefixes;
use crate::walk::on_all_variables;
use shape::{has_binding, has_group, projected};

/// A writer of one query.
struct QueryWriter {
    /// The names of all variables, and labels of a template that resemble generated ones, by which generated ones are distinguished.
    taken: BTreeSet<String>,
    /// The prefixes that occur.
    prefixes: BTreeSet<String>,
    /// The texts of aggregates, by the variables that have their values.
    aggregates: HashMap<Variable, String>,
    dialect: Dialect,
    /// Whether the template of a CONSTRUCT is written, in which blank nodes are new nodes.
    is_template: bool,
}

/// Writes a query in the syntax of a dialect, with the prefixes that it uses. Named subqueries must be in dependency
/// order; only WDQS and QLever have them.
pub fn write(query: &SparqlQuery, named: &[(String, QueryPattern)], dialect: Dialect) -> String {
    let mut taken = BTreeSet::new();
    for pattern in [&query.pattern].into_iter().chain(named.iter().map(|(_, pattern)| pattern)) {
        on_all_variables(pattern, &mut |variable| {
            taken.insert(variable.as_str().to_owned());
        });
    }
    if let QueryForm::Construct(template) = &query.form {
        for term in template.iter().flat_map(|triple| [&triple.subject, &triple.object]) {
            if let TermPattern::BlankNode(node) = term
                && node.as_str().starts_with("anonymous-")
            {
                taken.insert(node.as_str().to_owned());
            }
        }
    }
    let mut writer =
        QueryWriter { taken, prefixes: BTreeSet::new(), aggregates: HashMap::new(), dialect, is_template: false };
    let mut head = String::new();
    if dialect == Dialect::Qlever {
        for (name, pattern) in named {
            let body = writer.group(pattern);
            let _ = writeln!(head, "WITH %{name} AS {{ {body} }}");
        }
    }
    let body = writer.query(query, named);
    let mut text = String::new();
    if let Some(base) = &query.base {
        let _ = writeln!(text, "BASE <{base}>");
    }
    for prefix in &writer.prefixes {
        if let Some(iri) = prefixes::known(prefix) {
            let _ = writeln!(text, "PREFIX {prefix}: <{iri}>");
        }
    }
    text + &head + &body + "\n"
}

impl QueryWriter {
    fn query(&mut self, query: &SparqlQuery, named: &[(String, QueryPattern)]) -> String {
        let dataset = query.dataset.as_ref().map(|dataset| self.dataset(dataset)).unwrap_or_default();
        let with = match self.dialect {
            Dialect::Qlever => String::new(),
            _ => named.iter().fold(String::new(), |text, (name, pattern)| {
                let body = self.select_of(pattern);
                text + &format!(" WITH {{ {body} }} AS %{name}")
            }),
        };
        match &query.form {
            QueryForm::Select => {
                let (clause, rest) = self.parts(&query.pattern);
                format!("{clause}{dataset}{with} WHERE {rest}")
            }
            QueryForm::Ask => format!("ASK{dataset}{with} {{ {} }}", self.without_projection(&query.pattern)),
            QueryForm::Describe => {
                let (clause, rest) = self.parts(&query.pattern);
                let shown = clause.strip_prefix("SELECT").unwrap_or(&clause);
                match shown.contains('(') {
                    true => {
                        let variables = match projected(&query.pattern) {
                            [] => "*".to_owned(),
                            all => all.iter().map(|v| self.variable(v)).collect::<Vec<_>>().join(" "),
                        };
                        format!("DESCRIBE {variables}{dataset}{with} WHERE {{ {{ {clause} WHERE {rest} }} }}")
                    }
                    false => format!("DESCRIBE{shown}{dataset}{with} WHERE {rest}"),
                }
            }
            QueryForm::Construct(template) => {
                self.is_template = true;
                let template: Vec<String> = template.iter().map(|triple| self.triple(triple)).collect();
                self.is_template = false;
                let (_, rest) = self.parts(&query.pattern);
                format!("CONSTRUCT {{ {} }}{dataset}{with} WHERE {rest}", template.join(" "))
            }
        }
    }

    fn dataset(&mut self, dataset: &QueryDataset) -> String {
        let mut text = String::new();
        for graph in &dataset.default {
            let _ = write!(text, " FROM {}", self.iri(graph));
        }
        for graph in dataset.named.iter().flatten() {
            let _ = write!(text, " FROM NAMED {}", self.iri(graph));
        }
        text
    }

    /// Writes a pattern as a query of its own.
    fn select_of(&mut self, pattern: &QueryPattern) -> String {
        match pattern {
            QueryPattern::Project { .. }
            | QueryPattern::Distinct { .. }
            | QueryPattern::Reduced { .. }
            | QueryPattern::Slice { .. } => {
                let (clause, rest) = self.parts(pattern);
                format!("{clause} WHERE {rest}")
            }
            other => {
                let mut shown: Vec<Variable> = in_scope(other).into_iter().collect();
                shown.sort();
                let names: Vec<String> = shown.iter().map(|variable| self.variable(variable)).collect();
                format!("SELECT {} WHERE {{ {} }}", names.join(" "), self.group(other))
            }
        }
    }

    /// Writes the pattern of an ASK, in which a projection has no effect.
    fn without_projection(&mut self, pattern: &QueryPattern) -> String {
        match pattern {
            QueryPattern::Project { inner, .. } if !has_group(inner) => self.group(inner),
            other => format!("{{ {} }}", self.select_of(other)),
        }
    }

    /// Writes a SELECT clause, and the group in braces with the solution modifiers.
    fn parts(&mut self, pattern: &QueryPattern) -> (String, String) {
        let mut slice = String::new();
        let mut inner = pattern;
        if let QueryPattern::Slice { inner: below, start, length } = inner {
            if let Some(length) = length {
                let _ = write!(slice, " LIMIT {length}");
            }
            if *start > 0 {
                let _ = write!(slice, " OFFSET {start}");
            }
            inner = below;
        }
        let mut clause = "SELECT".to_owned();
        match inner {
            QueryPattern::Distinct { inner: below } => {
                clause.push_str(" DISTINCT");
                inner = below;
            }
            QueryPattern::Reduced { inner: below } => {
                clause.push_str(" REDUCED");
                inner = below;
            }
            _ => {}
        }
        let QueryPattern::Project { inner, variables } = inner else {
            return (clause + " *", format!("{{ {} }}{slice}", self.group(inner)));
        };
        let (mut inner, mut keys): (&QueryPattern, &[SortKey]) = (inner, &[]);
        if let QueryPattern::OrderBy { inner: below, keys: sorted } = inner {
            (inner, keys) = (below, sorted);
        }
        let around = std::mem::take(&mut self.aggregates);
        // The assignments of the SELECT clause, and the group below them.
        let (mut values, mut having): (Vec<(&Variable, &Expression)>, Vec<&Expression>) = (Vec::new(), Vec::new());
        let mut grouping = "".to_owned();
        if has_group(inner) {
            while let QueryPattern::Extend { inner: below, variable, expression } = inner {
                values.push((variable, expression));
                inner = below;
            }
            while let QueryPattern::Filter { inner: below, condition } = inner {
                having.push(condition);
                inner = below;
            }
            if let QueryPattern::Group { inner: below, variables, aggregates } = inner {
                for (variable, aggregate) in aggregates {
                    let text = self.aggregate(aggregate);
                    self.aggregates.insert(variable.clone(), text);
                }
                if !variables.is_empty() {
                    let keys: Vec<String> = variables.iter().map(|key| self.variable(key)).collect();
                    grouping = format!(" GROUP BY {}", keys.join(" "));
                }
                inner = below;
            }
        }
        for condition in having {
            let condition = self.expression(condition);
            let _ = write!(grouping, " HAVING ({condition})");
        }
        if variables.is_empty() {
            clause.push_str(" *");
        }
        for variable in variables {
            let value = values.iter().find(|(of, _)| *of == variable).map(|(_, value)| *value);
            let name = self.variable_name(variable);
            match (value, self.aggregates.get(variable).cloned()) {
                (Some(value), _) => {
                    let value = self.expression(value);
                    let _ = write!(clause, " ({value} AS {name})");
                }
                (None, Some(aggregate)) => {
                    let _ = write!(clause, " ({aggregate} AS {name})");
                }
                (None, None) => {
                    let _ = write!(clause, " {name}");
                }
            }
        }
        let mut order = String::new();
        for SortKey { expression, descends } in keys {
            let direction = if *descends { "DESC" } else { "ASC" };
            let expression = self.expression(expression);
            let _ = write!(order, " {direction}({expression})");
        }
        if !order.is_empty() {
            order.insert_str(0, " ORDER BY");
        }
        self.aggregates.clear();
        let body = self.group(inner);
        self.aggregates = around;
        (clause, format!("{{ {body} }}{grouping}{order}{slice}"))
    }

    fn aggregate(&mut self, aggregate: &AggregateCall) -> String {
        let AggregateCall::Call { function, argument, distinct } = aggregate else {
            return match aggregate {
                AggregateCall::CountSolutions { distinct: true } => "COUNT(DISTINCT *)".to_owned(),
                _ => "COUNT(*)".to_owned(),
            };
        };
        let argument = self.expression(argument);
        let distinct = if *distinct { "DISTINCT " } else { "" };
        let name = match function {
            AggregateFunction::Count => "COUNT".to_owned(),
            AggregateFunction::Sum => "SUM".to_owned(),
            AggregateFunction::Min => "MIN".to_owned(),
            AggregateFunction::Max => "MAX".to_owned(),
            AggregateFunction::Avg => "AVG".to_owned(),
            AggregateFunction::Sample => "SAMPLE".to_owned(),
            AggregateFunction::GroupConcat { separator } => {
                let separator = separator
                    .as_ref()
                    .map(|separator| format!("; SEPARATOR={}", Literal::new_simple_literal(separator)));
                return format!("GROUP_CONCAT({distinct}{argument}{})", separator.unwrap_or_default());
            }
            AggregateFunction::Custom(name) if name.as_str() == STANDARD_DEVIATION => "STDEV".to_owned(),
            AggregateFunction::Custom(name) => self.iri(name),
        };
        format!("{name}({distinct}{argument})")
    }

    // Patterns.

    /// Writes a pattern as the content of a group.
    fn group(&mut self, pattern: &QueryPattern) -> String {
        match pattern {
            QueryPattern::Bgp { patterns } => {
                patterns.iter().map(|triple| self.triple(triple)).collect::<Vec<_>>().join(" ")
            }
            QueryPattern::Path { subject, path, object } => {
                let (subject, path, object) = (self.term(subject), self.path(path), self.term(object));
                format!("{subject} {path} {object} .")
            }
            QueryPattern::Values { variables, rows } => {
                let names: Vec<String> = variables.iter().map(|variable| self.variable(variable)).collect();
                let mut text = format!("VALUES ({}) {{", names.join(" "));
                for row in rows.iter() {
                    let row: Vec<String> = row.iter().map(|value| self.value(value.as_ref())).collect();
                    let _ = write!(text, " ({})", row.join(" "));
                }
                text + " }"
            }
            QueryPattern::Join { left, right } => {
                let left = self.operand(left, false);
                format!("{left} {}", self.operand(right, true))
            }
            QueryPattern::Filter { inner, condition } => {
                // A filter below this one has its own group only if it is not directly below.
                let inner = match &**inner {
                    QueryPattern::Filter { .. } => self.group(inner),
                    inner => self.operand(inner, false),
                };
                format!("{inner} FILTER({})", self.expression(condition))
            }
            QueryPattern::Extend { inner, variable, expression } => {
                let inner = self.operand(inner, false);
                let value = self.expression(expression);
                format!("{inner} BIND({value} AS {})", self.variable_name(variable))
            }
            QueryPattern::LeftJoin { left, right, condition } => {
                let left = self.operand(left, false);
                let right = match (&**right, condition) {
                    (QueryPattern::Filter { .. }, _) => format!("{{ {} }}", self.group(right)),
                    (right, _) => self.group(right),
                };
                let condition = condition.as_ref().map(|condition| format!(" FILTER({})", self.expression(condition)));
                format!("{left} OPTIONAL {{ {right}{} }}", condition.unwrap_or_default())
            }
            QueryPattern::Minus { left, right } => {
                let left = self.operand(left, false);
                format!("{left} MINUS {{ {} }}", self.group(right))
            }
            QueryPattern::Lateral { left, right } | QueryPattern::LeftLateral { left, right, .. } => {
                let left = self.operand(left, false);
                format!("{left} LATERAL {{ {} }}", self.group(right))
            }
            QueryPattern::Union { left, right } => {
                let side = |writer: &mut Self, side: &QueryPattern| match side {
                    QueryPattern::Union { .. } => writer.group(side),
                    side => format!("{{ {} }}", writer.group(side)),
                };
                let left = side(self, left);
                format!("{left} UNION {}", side(self, right))
            }
            QueryPattern::Graph { name, inner } => {
                let name = self.name(name);
                format!("GRAPH {name} {{ {} }}", self.group(inner))
            }
            QueryPattern::Service { name, inner, silent } => {
                let silent = if *silent { "SILENT " } else { "" };
                let name = self.name(name);
                format!("SERVICE {silent}{name} {{ {} }}", self.group(inner))
            }
            QueryPattern::Include { name, variables } => match self.dialect {
                Dialect::Qlever => {
                    let names: Vec<String> = variables.iter().map(|variable| self.variable(variable)).collect();
                    format!("{{ SELECT {} WHERE {{ INCLUDE %{name} }} }}", names.join(" "))
                }
                _ => format!("INCLUDE %{name}"),
            },
            QueryPattern::Project { .. }
            | QueryPattern::Distinct { .. }
            | QueryPattern::Reduced { .. }
            | QueryPattern::Slice { .. } => format!("{{ {} }}", self.select_of(pattern)),
            QueryPattern::OrderBy { inner, .. } => self.group(inner),
            // A group without a projection shows its keys and aggregates.
            QueryPattern::Group { variables, aggregates, .. } => {
                let shown = variables.iter().chain(aggregates.iter().map(|(variable, _)| variable)).cloned().collect();
                format!("{{ {} }}", self.select_of(&QueryPattern::project(pattern.clone(), shown)))
            }
            // Only planning creates these.
            QueryPattern::Relation { .. } | QueryPattern::Table { .. } => String::new(),
        }
    }

    /// Writes an operand of a join or another operator, in braces if it would otherwise reach beyond its end. The right
    /// operand also needs braces if it depends on the patterns before it.
    fn operand(&mut self, pattern: &QueryPattern, is_right: bool) -> String {
        let needs_braces = match pattern {
            QueryPattern::Filter { .. } => true,
            QueryPattern::LeftJoin { .. }
            | QueryPattern::Minus { .. }
            | QueryPattern::Extend { .. }
            | QueryPattern::Lateral { .. }
            | QueryPattern::LeftLateral { .. } => is_right,
            QueryPattern::Join { .. } => is_right && has_binding(pattern),
            _ => false,
        };
        let text = self.group(pattern);
        if needs_braces { format!("{{ {text} }}") } else { text }
    }

    fn triple(&mut self, triple: &TriplePattern) -> String {
        let (subject, predicate) = (self.term(&triple.subject), self.name(&triple.predicate));
        let predicate = if predicate == "rdf:type" { "a".to_owned() } else { predicate };
        format!("{subject} {predicate} {} .", self.term(&triple.object))
    }

    fn path(&mut self, path: &Path) -> String {
        match path {
            Path::NamedNode(node) => self.iri(node),
            Path::Reverse(path) => format!("^({})", self.path(path)),
            Path::Sequence(a, b) => {
                let a = self.path(a);
                format!("({a}/{})", self.path(b))
            }
            Path::Alternative(a, b) => {
                let a = self.path(a);
                format!("({a}|{})", self.path(b))
            }
            Path::ZeroOrMore(path) => format!("({})*", self.path(path)),
            Path::OneOrMore(path) => format!("({})+", self.path(path)),
            Path::ZeroOrOne(path) => format!("({})?", self.path(path)),
            Path::NegatedPropertySet(nodes) => {
                let nodes: Vec<String> = nodes.iter().map(|node| self.iri(node)).collect();
                format!("!({})", nodes.join("|"))
            }
        }
    }

    // Terms.

    fn iri(&mut self, node: &NamedNode) -> String {
        let short = prefixes::shorten(node.as_str());
        if !short.starts_with('<')
            && let Some((prefix, _)) = short.split_once(':')
        {
            self.prefixes.insert(prefix.to_owned());
        }
        short
    }

    fn literal(&mut self, literal: &Literal) -> String {
        let (value, datatype) = (literal.value(), literal.datatype());
        let is_whole = !value.is_empty() && value.bytes().all(|byte| byte.is_ascii_digit());
        if datatype == xsd::INTEGER && is_whole || datatype == xsd::BOOLEAN && ["true", "false"].contains(&value) {
            return value.to_owned();
        }
        if literal.language().is_some() || datatype == xsd::STRING {
            return literal.to_string();
        }
        let datatype = self.iri(&datatype.into_owned());
        format!("{}^^{datatype}", Literal::new_simple_literal(value))
    }

    fn value(&mut self, value: Option<&Term>) -> String {
        match value {
            Some(Term::NamedNode(node)) => self.iri(node),
            Some(Term::Literal(literal)) => self.literal(literal),
            Some(Term::Triple(triple)) => {
                let subject = self.value(Some(&triple.subject.clone().into()));
                let (predicate, object) = (self.iri(&triple.predicate), self.value(Some(&triple.object)));
                format!("<<( {subject} {predicate} {object} )>>")
            }
            Some(Term::BlankNode(_)) | None => "UNDEF".to_owned(),
        }
    }

    fn term(&mut self, term: &TermPattern) -> String {
        match term {
            TermPattern::NamedNode(node) => self.iri(node),
            TermPattern::Literal(literal) => self.literal(literal),
            TermPattern::Variable(variable) => self.variable(variable),
            TermPattern::Triple(triple) => {
                let (subject, predicate) = (self.term(&triple.subject), self.name(&triple.predicate));
                format!("<<( {subject} {predicate} {} )>>", self.term(&triple.object))
            }
            // Labels of blank nodes are not visible outside their group: a variable is.
            TermPattern::BlankNode(node) => {
                if self.is_template {
                    return match node.as_str().strip_prefix('.') {
                        Some(number) => format!("_:{}", self.free(&format!("anonymous-{number}"))),
                        None => node.to_string(),
                    };
                }
                let name = match node.as_str().strip_prefix('.') {
                    Some(number) => format!("anonymous{number}"),
                    None => format!("b{}", escaped(node.as_str())),
                };
                format!("?{}", self.free(&name))
            }
        }
    }

    fn name(&mut self, name: &NamedNodePattern) -> String {
        match name {
            NamedNodePattern::NamedNode(node) => self.iri(node),
            NamedNodePattern::Variable(variable) => self.variable(variable),
        }
    }

    /// Writes a variable, or the aggregate with its value.
    fn variable(&mut self, variable: &Variable) -> String {
        match self.aggregates.get(variable) {
            Some(aggregate) => aggregate.clone(),
            None => self.variable_name(variable),
        }
    }

    fn variable_name(&mut self, variable: &Variable) -> String {
        match variable.as_str().strip_prefix('.') {
            Some(helper) => format!("?{}", self.free(&format!("v{}", escaped(helper)))),
            None => variable.to_string(),
        }
    }

    /// Returns a name that no variable of the query has.
    fn free(&self, name: &str) -> String {
        let mut name = name.to_owned();
        while self.taken.contains(&name) {
            name.push('_');
        }
        name
    }

    // Expressions.

    fn expression(&mut self, expression: &Expression) -> String {
        match expression {
            Expression::NamedNode(node) => self.iri(node),
            Expression::Literal(literal) => self.literal(literal),
            Expression::Variable(variable) => self.variable(variable),
            Expression::Bound(variable) => format!("BOUND({})", self.variable(variable)),
            Expression::Exists(pattern) => format!("EXISTS {{ {} }}", self.group(pattern)),
            Expression::Unary(Unary::Not, inner) => match &**inner {
                Expression::Exists(pattern) => format!("NOT EXISTS {{ {} }}", self.group(pattern)),
                inner => format!("!({})", self.expression(inner)),
            },
            Expression::Unary(Unary::Plus, inner) => format!("+({})", self.expression(inner)),
            Expression::Unary(Unary::Minus, inner) => format!("-({})", self.expression(inner)),
            Expression::Binary(Binary::SameTerm, a, b) => {
                let a = self.expression(a);
                format!("sameTerm({a}, {})", self.expression(b))
            }
            Expression::Binary(operator, a, b) => {
                let (a, b) = (self.expression(a), self.expression(b));
                format!("({a} {} {b})", sign(*operator))
            }
            Expression::In(value, list) => {
                let value = self.expression(value);
                format!("({value} IN ({}))", self.list(list))
            }
            Expression::If(a, b, c) => {
                let (a, b) = (self.expression(a), self.expression(b));
                format!("IF({a}, {b}, {})", self.expression(c))
            }
            Expression::Coalesce(list) => format!("COALESCE({})", self.list(list)),
            Expression::Call(Function::Custom(name), list) => {
                let name = self.iri(name);
                format!("{name}({})", self.list(list))
            }
            Expression::Call(function, list) => format!("{function}({})", self.list(list)),
            // Only rewriting creates these.
            Expression::Own(..) => "COALESCE()".to_owned(),
        }
    }

    fn list(&mut self, list: &[Expression]) -> String {
        list.iter().map(|item| self.expression(item)).collect::<Vec<_>>().join(", ")
    }
}

/// Returns a label as a part of a variable's name. Two labels have different names, without `_` at the end.
fn escaped(label: &str) -> String {
    label.replace('_', "_u").replace('-', "_m").replace('.', "_d").replace('\u{b7}', "_p")
}

fn sign(operator: Binary) -> &'static str {
    match operator {
        Binary::Or => "||",
        Binary::And => "&&",
        Binary::Equal | Binary::SameTerm => "=",
        Binary::Greater => ">",
        Binary::GreaterOrEqual => ">=",
        Binary::Less => "<",
        Binary::LessOrEqual => "<=",
        Binary::Add => "+",
        Binary::Subtract => "-",
        Binary::Multiply => "*",
        Binary::Divide => "/",
    }
}

#[cfg(test)]
mod tests;
