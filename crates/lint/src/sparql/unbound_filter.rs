//! `unbound-in-filter`: a FILTER uses a variable that its group does not bind.

use std::collections::BTreeSet;

use terrapin_sparql::syntax::algebra::{Expression, Helper, QueryPattern};
use terrapin_sparql::syntax::walk::{self, QueryNode};

use super::{SparqlFindings, SparqlLint, SparqlRule, has_service, scope};
use crate::finding::{LintRule, LintSeverity};

pub const RULE: SparqlRule = SparqlRule {
    rule: &LintRule {
        code: "unbound-in-filter",
        severity: LintSeverity::Warning,
        summary: "A FILTER uses a variable that its group does not bind, so that the comparison is an error.",
    },
    check,
};

fn check(lint: &SparqlLint<'_>, findings: &mut SparqlFindings) {
    let mut seen = BTreeSet::new();
    let mut open: Vec<QueryNode<'_>> = lint.patterns().map(QueryNode::Pattern).collect();
    while let Some(node) = open.pop() {
        // A filter within EXISTS, or to the right of LATERAL, sees the variables around it.
        if matches!(
            node,
            QueryNode::Expression(Expression::Exists(_)) | QueryNode::Pattern(QueryPattern::Lateral { .. })
        ) {
            continue;
        }
        if let QueryNode::Pattern(QueryPattern::Filter { inner, condition }) = node
            && !has_service(inner)
        {
            let bound = scope(inner);
            walk::on_variables(condition, &mut |variable| {
                let name = variable.as_str();
                if !bound.contains(name) && !Helper::is_helper(variable) && seen.insert(name.to_owned()) {
                    findings.add(lint.place_of(variable), format!("?{name} is not bound in the group of the FILTER"));
                }
            });
        }
        node.children(&mut |child| open.push(child));
    }
}
