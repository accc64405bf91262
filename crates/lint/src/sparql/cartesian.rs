//! `cartesian-product`: parts of a group without a common variable.

use std::collections::BTreeSet;

use oxrdf::Variable;
use terrapin_sparql::syntax::algebra::{Expression, NamedNodePattern, Path, QueryPattern, TermPattern, TriplePattern};
use terrapin_sparql::syntax::vocabulary::WIKIBASE;
use terrapin_sparql::syntax::walk::{self, QueryNode};

use super::label_language::is_label_service;
use super::{SparqlFindings, SparqlLint, SparqlRule, scope};
use crate::finding::{LintRule, LintSeverity};

pub const RULE: SparqlRule = SparqlRule {
    rule: &LintRule {
        code: "cartesian-product",
        severity: LintSeverity::Warning,
        summary: "Parts of a group have no common variable, so that every combination is a solution.",
    },
    check,
};

fn check(lint: &SparqlLint<'_>, findings: &mut SparqlFindings) {
    for pattern in lint.patterns() {
        // A pattern is examined as a whole, then the groups inside it that stand for one part.
        let mut open = vec![(pattern, BTreeSet::new())];
        while let Some((pattern, around)) = open.pop() {
            let mut parts = GroupParts::default();
            parts.collect(without_modifiers(pattern));
            let components = parts.components(&around);
            open.extend(parts.inner(&around));
            if let [first, second, ..] = components.as_slice() {
                let name = |part: &BTreeSet<String>| part.iter().find(|name| !name.starts_with('.')).cloned();
                let (Some(first), Some(second)) = (name(first), name(second)) else { continue };
                let place = lint.place_of(&Variable::new_unchecked(second.clone()));
                let message = format!("the parts with ?{first} and ?{second} have no common variable");
                findings.add(place, message);
            }
        }
    }
}

/// Properties of a property, each with one value.
const OF_PROPERTIES: [&str; 8] = [
    "claim",
    "directClaim",
    "directClaimNormalized",
    "novalue",
    "qualifier",
    "reference",
    "statementProperty",
    "statementValue",
];

/// The parts of a group as sets of variables.
#[derive(Default)]
struct GroupParts<'q> {
    /// Patterns with more than one possible solution.
    leaves: Vec<BTreeSet<String>>,
    /// Conditions, which connect their variables.
    links: Vec<BTreeSet<String>>,
    /// Variables with a constant value.
    fixed: BTreeSet<String>,
    /// Triples whose object is one of few, if their subject is constant: subject and object.
    steps: Vec<(Option<String>, String)>,
    /// Patterns inside a part, with the part's number in `leaves` if it is one.
    inside: Vec<(&'q QueryPattern, Option<usize>)>,
}

impl<'q> GroupParts<'q> {
    /// Collects the parts of a group, and the patterns inside a part.
    fn collect(&mut self, pattern: &'q QueryPattern) {
        match pattern {
            QueryPattern::Bgp { patterns } => patterns.iter().for_each(|triple| self.triple(triple)),
            QueryPattern::Path { subject, object, path } => {
                self.leaves.push([subject, object].into_iter().filter_map(variable).collect());
                if is_bounded(path) {
                    self.step(subject, object);
                }
            }
            QueryPattern::Join { left, right } | QueryPattern::Lateral { left, right } => {
                self.collect(left);
                self.collect(right);
            }
            QueryPattern::LeftJoin { left, right, condition }
            | QueryPattern::LeftLateral { left, right, condition } => {
                self.collect(left);
                if is_assignment(right) {
                    return;
                }
                self.leaf(right);
                self.constant_part(right);
                self.links.extend(condition.iter().map(names));
            }
            QueryPattern::Filter { inner, condition } => {
                self.collect(inner);
                self.links.push(names(condition));
            }
            QueryPattern::Extend { inner, variable, expression } => {
                self.collect(inner);
                let mut link = names(expression);
                if link.is_empty() {
                    self.fixed.insert(variable.as_str().to_owned());
                }
                link.insert(variable.as_str().to_owned());
                self.links.push(link);
            }
            QueryPattern::Minus { left, right } => {
                self.collect(left);
                self.inside.push((right, None));
            }
            QueryPattern::Service { name, .. } if is_label_service(name) => {}
            // One row multiplies nothing.
            QueryPattern::Values { variables, rows } if rows.len() < 2 => {
                self.fixed.extend(variables.iter().map(|variable| variable.as_str().to_owned()));
            }
            other => self.leaf(other),
        }
    }

    fn triple(&mut self, triple: &TriplePattern) {
        let (predicate, name) = match &triple.predicate {
            NamedNodePattern::Variable(variable) => (Some(variable.as_str().to_owned()), None),
            NamedNodePattern::NamedNode(name) => (None, name.as_str().strip_prefix(WIKIBASE)),
        };
        let is_fixed_predicate = predicate.is_none();
        let terms = [&triple.subject, &triple.object].into_iter().filter_map(variable);
        self.leaves.push(terms.chain(predicate).collect());
        if is_fixed_predicate {
            self.step(&triple.subject, &triple.object);
        }
        if name.is_some_and(|name| OF_PROPERTIES.contains(&name)) {
            self.step(&triple.object, &triple.subject);
        }
    }

    /// Adds a step from a constant, or from a variable that may turn out to be constant.
    fn step(&mut self, from: &TermPattern, to: &TermPattern) {
        if let Some(to) = variable(to) {
            self.steps.push((variable(from), to));
        }
    }

    /// Adds the steps of an OPTIONAL of one pattern.
    fn constant_part(&mut self, optional: &QueryPattern) {
        if let QueryPattern::Bgp { patterns } = optional {
            let mut inner = GroupParts::default();
            patterns.iter().for_each(|triple| inner.triple(triple));
            self.steps.append(&mut inner.steps);
        }
    }

    /// Adds a pattern as one part.
    fn leaf(&mut self, pattern: &'q QueryPattern) {
        if let QueryPattern::Group { variables, .. } = unmodified(pattern)
            && variables.is_empty()
        {
            // An aggregate without GROUP BY has one solution.
            self.inside.push((pattern, None));
            return;
        }
        let number = Some(self.leaves.len());
        self.leaves.push(scope(pattern).into_iter().map(str::to_owned).collect());
        match pattern {
            QueryPattern::Union { .. } | QueryPattern::Graph { .. } => {
                QueryNode::Pattern(pattern).children(&mut |child| {
                    if let QueryNode::Pattern(child) = child {
                        self.inside.push((child, number));
                    }
                });
            }
            QueryPattern::Project { .. }
            | QueryPattern::Distinct { .. }
            | QueryPattern::Reduced { .. }
            | QueryPattern::Slice { .. }
            | QueryPattern::OrderBy { .. }
            | QueryPattern::Group { .. }
            | QueryPattern::Join { .. }
            | QueryPattern::Lateral { .. }
            | QueryPattern::LeftJoin { .. }
            | QueryPattern::Filter { .. }
            | QueryPattern::Extend { .. }
            | QueryPattern::Bgp { .. } => self.inside.push((pattern, number)),
            _ => {}
        }
    }

    /// Returns the patterns inside the parts, each with the variables that the group around it connects. A subquery is
    /// solved on its own.
    fn inner(&self, around: &BTreeSet<String>) -> Vec<(&'q QueryPattern, BTreeSet<String>)> {
        let with_context = |(pattern, number): &(&'q QueryPattern, Option<usize>)| {
            let is_subquery = matches!(
                pattern,
                QueryPattern::Project { .. }
                    | QueryPattern::Distinct { .. }
                    | QueryPattern::Reduced { .. }
                    | QueryPattern::Slice { .. }
                    | QueryPattern::OrderBy { .. }
                    | QueryPattern::Group { .. }
            );
            let others = self.leaves.iter().enumerate().filter(|(at, _)| Some(*at) != *number).map(|(_, leaf)| leaf);
            let mut context = BTreeSet::new();
            if !is_subquery {
                context.extend(others.chain(&self.links).chain([around]).flatten().cloned());
            }
            (*pattern, context)
        };
        self.inside.iter().map(with_context).collect()
    }

    /// Returns the variables of the connected parts. Parts without variables are left out, and those with a few values
    /// that follow from a constant: `wd:Q39 wdt:P1332 ?north`. The variables `around` the group connect its parts.
    fn components(&mut self, around: &BTreeSet<String>) -> Vec<BTreeSet<String>> {
        loop {
            let is_constant = |from: &Option<String>| from.as_ref().is_none_or(|from| self.fixed.contains(from));
            let more: Vec<String> = self
                .steps
                .iter()
                .filter(|(from, to)| is_constant(from) && !self.fixed.contains(to))
                .map(|(_, to)| to.clone())
                .collect();
            if more.is_empty() {
                break;
            }
            self.fixed.extend(more);
        }
        let is_part = |leaf: &&BTreeSet<String>| !leaf.is_subset(&self.fixed);
        let mut components: Vec<(BTreeSet<String>, bool)> = Vec::new();
        let leaves = self.leaves.iter().filter(is_part).map(|leaf| (leaf, true));
        let links = self.links.iter().chain([around]).map(|link| (link, false));
        for (part, is_leaf) in leaves.chain(links).filter(|(part, _)| !part.is_empty()) {
            let (mut joined, mut has_leaf) = (part.clone(), is_leaf);
            components.retain(|(other, leaf)| {
                let meets = !other.is_disjoint(&joined) || !other.is_disjoint(part);
                if meets {
                    joined.extend(other.iter().cloned());
                    has_leaf |= *leaf;
                }
                !meets
            });
            components.push((joined, has_leaf));
        }
        components.into_iter().filter(|(_, has_leaf)| *has_leaf).map(|(part, _)| part).collect()
    }
}

/// Returns whether an OPTIONAL only assigns values.
fn is_assignment(pattern: &QueryPattern) -> bool {
    match pattern {
        QueryPattern::Extend { inner, .. } | QueryPattern::Filter { inner, .. } => is_assignment(inner),
        QueryPattern::Bgp { patterns } => patterns.is_empty(),
        QueryPattern::Values { rows, .. } => rows.len() < 2,
        _ => false,
    }
}

/// Returns whether a path has a fixed number of steps forwards.
fn is_bounded(path: &Path) -> bool {
    match path {
        Path::NamedNode(_) => true,
        Path::Sequence(left, right) => is_bounded(left) && is_bounded(right),
        _ => false,
    }
}

fn variable(term: &TermPattern) -> Option<String> {
    match term {
        TermPattern::Variable(variable) => Some(variable.as_str().to_owned()),
        TermPattern::BlankNode(node) => Some(format!(".node {}", node.as_str())),
        _ => None,
    }
}

/// Returns the pattern below projection, grouping and solution modifiers.
fn without_modifiers(pattern: &QueryPattern) -> &QueryPattern {
    match pattern {
        QueryPattern::Project { inner, .. }
        | QueryPattern::Distinct { inner }
        | QueryPattern::Reduced { inner }
        | QueryPattern::OrderBy { inner, .. }
        | QueryPattern::Group { inner, .. }
        | QueryPattern::Slice { inner, .. } => without_modifiers(inner),
        other => other,
    }
}

/// Returns the pattern below solution modifiers and assignments.
fn unmodified(pattern: &QueryPattern) -> &QueryPattern {
    match pattern {
        QueryPattern::Project { inner, .. }
        | QueryPattern::Distinct { inner }
        | QueryPattern::Filter { inner, .. }
        | QueryPattern::Extend { inner, .. }
        | QueryPattern::OrderBy { inner, .. }
        | QueryPattern::Slice { inner, .. } => unmodified(inner),
        other => other,
    }
}

/// Returns the variables of an expression, including those of its EXISTS.
fn names(expression: &Expression) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    walk::on_variables(expression, &mut |variable| {
        names.insert(variable.as_str().to_owned());
    });
    walk::on_exists(expression, &mut |pattern| {
        names.extend(scope(pattern).into_iter().map(str::to_owned));
    });
    names
}
