//! `contradictory-filters`: two filters of a query exclude each other.

use std::collections::BTreeMap;

use terrapin_overpass::syntax::{FilterKind, Tag};

use super::{OverpassFindings, OverpassLint, OverpassRule};
use crate::finding::{LintRule, LintSeverity};

pub const RULE: OverpassRule = OverpassRule {
    rule: &LintRule {
        code: "contradictory-filters",
        severity: LintSeverity::Warning,
        summary: "Two filters of a query exclude each other, so that it finds nothing.",
    },
    check,
};

fn check(lint: &OverpassLint<'_>, findings: &mut OverpassFindings<'_>) {
    lint.on_queries(&mut |query, _| {
        let mut values: BTreeMap<&str, &str> = BTreeMap::new();
        for filter in &query.filters {
            let FilterKind::Tag(Tag::Equals { key, value }) = &filter.kind else { continue };
            let first = *values.entry(key).or_insert(value);
            if first != value {
                let message = format!(
                    "no element has {key}={first} and {key}={value}: use [{key:?}~\"^({first}|{value})$\"] for either"
                );
                findings.add(filter.span, message);
            }
        }
        for filter in &query.filters {
            let excluded = match &filter.kind {
                FilterKind::Tag(Tag::NotKey { key }) => values.get(key.as_str()).map(|value| (key, *value)),
                FilterKind::Tag(Tag::NotEquals { key, value }) => {
                    values.get(key.as_str()).filter(|first| *first == value).map(|value| (key, *value))
                }
                _ => None,
            };
            if let Some((key, value)) = excluded {
                findings.add(filter.span, format!("this filter excludes {key}={value}, which another one requires"));
            }
        }
    });
}
