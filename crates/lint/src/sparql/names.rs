//! Names that the snapshot lacks: predicates, classes, graphs, other IRIs, and tags of elements.

use super::{SparqlFindings, SparqlLint, SparqlRule};
use crate::finding::{LintRule, LintSeverity};

/// Generates a rule for each code of the feedback.
macro_rules! rules {
    ($($name:ident $code:literal $summary:literal;)*) => {
        $(pub const $name: SparqlRule = SparqlRule {
            rule: &LintRule { code: $code, severity: LintSeverity::Warning, summary: $summary },
            check: |lint, findings| check(lint, $code, findings),
        };)*
    };
}

rules! {
    NO_SUCH_TERM "no-such-term" "No triple of the snapshot has an item or another IRI.";
    NO_SUCH_PREDICATE "no-such-predicate" "No triple of the snapshot has a property as its predicate.";
    NO_SUCH_CLASS "no-such-class" "Nothing in the snapshot is of a class.";
    NO_SUCH_GRAPH "no-such-graph" "The snapshot has no graph of this name.";
    NO_SUCH_SERVICE "no-such-service" "A snapshot has no answers of a service.";
    NO_SUCH_KEY "no-such-key" "No element of the snapshot has the key of a pattern.";
    NO_SUCH_VALUE "no-such-value" "No element of the snapshot has the key of a pattern with its value.";
}

fn check(lint: &SparqlLint<'_>, code: &str, findings: &mut SparqlFindings) {
    for warning in lint.missing.iter().filter(|warning| warning.code == code) {
        let place = lint.place(warning.name.as_deref().unwrap_or_default());
        findings.add(place, warning.message.clone()).nearest.clone_from(&warning.nearest);
    }
}
