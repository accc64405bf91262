//! `unbound-variable`: SELECT has a variable that the pattern never binds.

use std::collections::BTreeSet;

use terrapin_sparql::syntax::algebra::{Helper, QueryForm, QueryPattern};
use terrapin_sparql::syntax::walk;

use super::{SparqlFindings, SparqlLint, SparqlRule, has_service, is_label, scope};
use crate::finding::{LintRule, LintSeverity};

pub const RULE: SparqlRule = SparqlRule {
    rule: &LintRule {
        code: "unbound-variable",
        severity: LintSeverity::Warning,
        summary: "A projected variable is never bound, so that its column is empty.",
    },
    check,
};

fn check(lint: &SparqlLint<'_>, findings: &mut SparqlFindings) {
    if lint.parsed.query.form != QueryForm::Select {
        return;
    }
    let mut seen = BTreeSet::new();
    for pattern in lint.patterns() {
        walk::on_patterns(pattern, &mut |pattern| {
            let QueryPattern::Project { inner, variables } = pattern else { return };
            let bound = scope(inner);
            let served = has_service(inner);
            for variable in variables {
                let name = variable.as_str();
                let is_served = served && (is_label(name) || !has_label_service_only(inner));
                if !bound.contains(name) && !Helper::is_helper(variable) && !is_served && seen.insert(name.to_owned()) {
                    let message = format!("?{name} is never bound");
                    findings.add(lint.place_of(variable), message).nearest = near(name, &bound);
                }
            }
        });
    }
}

/// Returns whether all services of a pattern are label services. Others may bind more than they name.
fn has_label_service_only(pattern: &QueryPattern) -> bool {
    let mut only = true;
    walk::on_patterns(pattern, &mut |pattern| {
        if let QueryPattern::Service { name, .. } = pattern {
            only &= super::label_language::is_label_service(name);
        }
    });
    only
}

/// Returns the bound variables that differ in case only, or begin alike.
fn near(name: &str, bound: &BTreeSet<&str>) -> Vec<String> {
    let is_near = |other: &&&str| {
        let (name, other) = (name.to_lowercase(), other.to_lowercase());
        name == other || name.len() > 2 && (other.starts_with(&name) || name.starts_with(&other) && other.len() > 2)
    };
    bound.iter().filter(|other| !other.starts_with('.')).filter(is_near).map(|other| format!("?{other}")).collect()
}
