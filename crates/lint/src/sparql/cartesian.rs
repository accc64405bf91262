//! `cartesian-product`: parts of a group without a common variable.

use std::collections::BTreeSet;

use oxrdf::Variable;
use terrapin_sparql::syntax::algebra::{Expression, NamedNodePattern, QueryPattern, TermPattern};
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
        let mut open = vec![pattern];
        while let Some(pattern) = open.pop() {
            let mut parts = GroupParts::default();
            parts.collect(without_modifiers(pattern), &mut open);
            if let [first, second, ..] = parts.components().as_slice() {
                let name = |part: &BTreeSet<String>| part.iter().find(|name| !name.starts_with('.')).cloned();
                let (Some(first), Some(second)) = (name(first), name(second)) else { continue };
                let place = lint.place_of(&Variable::new_unchecked(second.clone()));
                let message = format!("the parts with ?{first} and ?{second} have no common variable");
                findings.add(place, message);
            }
        }
    }
}

/// The parts of a group as sets of variables.
#[derive(Default)]
struct GroupParts {
    /// Patterns with more than one possible solution.
    leaves: Vec<BTreeSet<String>>,
    /// Conditions, which connect their variables.
    links: Vec<BTreeSet<String>>,
}

impl GroupParts {
    /// Collects the parts of a group, and adds the patterns inside a part to `inside`.
    fn collect<'q>(&mut self, pattern: &'q QueryPattern, inside: &mut Vec<&'q QueryPattern>) {
        match pattern {
            QueryPattern::Bgp { patterns } => {
                for triple in patterns {
                    let predicate = match &triple.predicate {
                        NamedNodePattern::Variable(variable) => Some(variable.as_str().to_owned()),
                        NamedNodePattern::NamedNode(_) => None,
                    };
                    let terms = [&triple.subject, &triple.object].into_iter().filter_map(variable);
                    self.leaves.push(terms.chain(predicate).collect());
                }
            }
            QueryPattern::Path { subject, object, .. } => {
                self.leaves.push([subject, object].into_iter().filter_map(variable).collect());
            }
            QueryPattern::Join { left, right } | QueryPattern::Lateral { left, right } => {
                self.collect(left, inside);
                self.collect(right, inside);
            }
            QueryPattern::LeftJoin { left, right, condition }
            | QueryPattern::LeftLateral { left, right, condition } => {
                self.collect(left, inside);
                self.leaf(right, inside);
                self.links.extend(condition.iter().map(names));
            }
            QueryPattern::Filter { inner, condition } => {
                self.collect(inner, inside);
                self.links.push(names(condition));
            }
            QueryPattern::Extend { inner, variable, expression } => {
                self.collect(inner, inside);
                let mut link = names(expression);
                link.insert(variable.as_str().to_owned());
                self.links.push(link);
            }
            QueryPattern::Minus { left, right } => {
                self.collect(left, inside);
                inside.push(right);
            }
            QueryPattern::Service { name, .. } if is_label_service(name) => {}
            // One row multiplies nothing.
            QueryPattern::Values { rows, .. } if rows.len() < 2 => {}
            other => self.leaf(other, inside),
        }
    }

    /// Adds a pattern as one part.
    fn leaf<'q>(&mut self, pattern: &'q QueryPattern, inside: &mut Vec<&'q QueryPattern>) {
        if let QueryPattern::Group { variables, .. } = unmodified(pattern)
            && variables.is_empty()
        {
            // An aggregate without GROUP BY has one solution.
            inside.push(pattern);
            return;
        }
        self.leaves.push(scope(pattern).into_iter().map(str::to_owned).collect());
        match pattern {
            QueryPattern::Union { .. } | QueryPattern::Graph { .. } => {
                QueryNode::Pattern(pattern).children(&mut |child| {
                    if let QueryNode::Pattern(child) = child {
                        inside.push(child);
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
            | QueryPattern::Bgp { .. } => inside.push(pattern),
            _ => {}
        }
    }

    /// Returns the variables of the connected parts. Parts without variables are left out.
    fn components(&self) -> Vec<BTreeSet<String>> {
        let mut components: Vec<(BTreeSet<String>, bool)> = Vec::new();
        let all = self.leaves.iter().map(|leaf| (leaf, true)).chain(self.links.iter().map(|link| (link, false)));
        for (part, is_leaf) in all.filter(|(part, _)| !part.is_empty()) {
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
