//! `label-without-language`: the label service without a language.

use terrapin_sparql::syntax::algebra::{NamedNodePattern, QueryPattern};
use terrapin_sparql::syntax::vocabulary::{LABEL_SERVICE, WIKIBASE};
use terrapin_sparql::syntax::walk;

use super::{SparqlFindings, SparqlLint, SparqlRule};
use crate::finding::{LintRule, LintSeverity};

pub const RULE: SparqlRule = SparqlRule {
    rule: &LintRule {
        code: "label-without-language",
        severity: LintSeverity::Warning,
        summary: "SERVICE wikibase:label has no bd:serviceParam wikibase:language.",
    },
    check,
};

/// Returns whether a service is the label service.
pub fn is_label_service(name: &NamedNodePattern) -> bool {
    matches!(name, NamedNodePattern::NamedNode(name) if name.as_str() == LABEL_SERVICE)
}

fn check(lint: &SparqlLint<'_>, findings: &mut SparqlFindings) {
    for pattern in lint.patterns() {
        walk::on_patterns(pattern, &mut |pattern| {
            let QueryPattern::Service { name, inner, .. } = pattern else { return };
            if is_label_service(name) && !has_language(inner) {
                let message = "the label service needs `bd:serviceParam wikibase:language \"en\"`".to_owned();
                findings.add(lint.place("wikibase:label"), message);
            }
        });
    }
}

fn has_language(pattern: &QueryPattern) -> bool {
    let mut found = false;
    walk::on_patterns(pattern, &mut |pattern| {
        if let QueryPattern::Bgp { patterns } = pattern {
            found |= patterns.iter().any(|triple| {
                matches!(&triple.predicate, NamedNodePattern::NamedNode(name)
                    if name.as_str().strip_prefix(WIKIBASE) == Some("language"))
            });
        }
    });
    found
}
