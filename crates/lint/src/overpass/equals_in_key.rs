//! `equals-in-key`: `["amenity=cafe"]` in place of `["amenity"="cafe"]`.

use terrapin_overpass::syntax::{FilterKind, Tag};

use super::{OverpassFindings, OverpassLint, OverpassRule};
use crate::finding::{LintRule, LintSeverity};

pub const RULE: OverpassRule = OverpassRule {
    rule: &LintRule {
        code: "equals-in-key",
        severity: LintSeverity::Warning,
        summary: "A filter for a key has a tag in one pair of quotation marks.",
    },
    check,
};

fn check(lint: &OverpassLint<'_>, findings: &mut OverpassFindings<'_>) {
    lint.on_queries(&mut |query, _| {
        for filter in &query.filters {
            let FilterKind::Tag(Tag::HasKey { key } | Tag::NotKey { key }) = &filter.kind else { continue };
            if let Some((key, value)) = key.split_once('=') {
                let message = format!("the filter is for a key with a \"=\"; a tag is [{key:?}={value:?}]");
                findings.add(filter.span, message);
            }
        }
    });
}
