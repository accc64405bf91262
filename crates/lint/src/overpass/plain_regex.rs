//! `plain-regex`: a regular expression that matches one text.

use terrapin_overpass::syntax::{FilterKind, Regex, Tag};

use super::{OverpassFindings, OverpassLint, OverpassRule};
use crate::finding::{LintRule, LintSeverity};

pub const RULE: OverpassRule = OverpassRule {
    rule: &LintRule {
        code: "plain-regex",
        severity: LintSeverity::Warning,
        summary: "A regular expression matches exactly one text; = is faster. The fix replaces it.",
    },
    check,
};

fn check(lint: &OverpassLint<'_>, findings: &mut OverpassFindings<'_>) {
    lint.on_queries(&mut |query, _| {
        for filter in &query.filters {
            let FilterKind::Tag(tag) = &filter.kind else { continue };
            let (key, value, sign) = match tag {
                Tag::Matches { key, value } => (key, value, "="),
                Tag::NotMatches { key, value } => (key, value, "!="),
                _ => continue,
            };
            let (Some(text), Some(written)) = (only(value), lint.written(filter.span)) else { continue };
            // The key stays as written.
            let written_key = written.trim_start_matches('[').split('~').next().unwrap_or_default();
            let written_key = written_key.trim_end().trim_end_matches('!').trim();
            let fix = match written_key.is_empty() || key.contains('~') {
                true => Vec::new(),
                false => lint.replace(filter, &format!("[{written_key}{sign}\"{text}\"]")),
            };
            findings.add(filter.span, format!("the expression only matches \"{text}\": use {sign}")).fix = fix;
        }
    });
}

/// Returns the only text that an expression matches. An empty value is not the same as none, and therefore left out.
fn only(regex: &Regex) -> Option<&str> {
    let inner = regex.pattern.strip_prefix('^')?.strip_suffix('$')?;
    let is_plain = |c: char| c.is_alphanumeric() || matches!(c, ' ' | '_' | '-' | ':' | ',' | ';' | '/' | '\'' | '&');
    (!regex.ignore_case && !inner.is_empty() && inner.chars().all(is_plain)).then_some(inner)
}
