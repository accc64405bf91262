//! The variables that patterns bind.

use std::collections::BTreeSet;

use terrapin_sparql::syntax::algebra::QueryPattern;
use terrapin_sparql::syntax::walk;

/// Returns the variables that a pattern can bind, without those that a service binds by itself.
pub fn scope(pattern: &QueryPattern) -> BTreeSet<&str> {
    let mut variables = BTreeSet::new();
    walk::on_in_scope(pattern, &mut |variable| {
        variables.insert(variable.as_str());
    });
    variables
}

/// Returns whether a pattern has a service.
pub fn has_service(pattern: &QueryPattern) -> bool {
    let mut found = false;
    walk::on_patterns(pattern, &mut |pattern| found |= matches!(pattern, QueryPattern::Service { .. }));
    found
}

/// Returns whether a variable has a name that the label service gives.
pub fn is_label(name: &str) -> bool {
    ["Label", "Description"].iter().any(|ending| name.ends_with(ending))
}
