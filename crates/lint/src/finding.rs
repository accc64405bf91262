//! Findings and their fixes.

use std::ops::Range;

use serde::Serialize;
use terrapin_diagnostic::TextEdit;

/// The severity of a finding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum LintSeverity {
    /// A property of the query that its author should know. It is no mistake.
    Note,
    /// A probable mistake.
    Warning,
}

impl LintSeverity {
    /// Returns the name: `note` or `warning`.
    pub fn name(self) -> &'static str {
        match self {
            LintSeverity::Note => "note",
            LintSeverity::Warning => "warning",
        }
    }
}

/// The description of a rule.
#[derive(Debug, PartialEq, Eq)]
pub struct LintRule {
    /// The stable code.
    pub code: &'static str,
    /// The severity of its findings.
    pub severity: LintSeverity,
    /// What it reports, in one sentence.
    pub summary: &'static str,
}

/// A finding of a rule in a query.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LintFinding {
    /// The rule.
    pub rule: &'static LintRule,
    /// The description, for users.
    pub message: String,
    /// The bytes of the text.
    pub range: Range<usize>,
    /// The nearest existing alternatives.
    pub nearest: Vec<String>,
    /// Edits that do not change the answer.
    pub fix: Vec<TextEdit>,
}

/// Returns a text with the fixes of its findings. Of fixes that overlap, only the first is applied.
pub fn fixed(text: &str, findings: &[LintFinding]) -> String {
    let mut fixes: Vec<&[TextEdit]> = findings.iter().map(|finding| finding.fix.as_slice()).collect();
    fixes.sort_by_key(|fix| fix.first().map(|edit| edit.start));
    let mut edits: Vec<&TextEdit> = Vec::new();
    for fix in fixes {
        let overlaps = |edit: &TextEdit| edits.iter().any(|other| edit.start < other.end && other.start < edit.end);
        if !fix.iter().any(overlaps) {
            edits.extend(fix);
        }
    }
    edits.sort_by_key(|edit| edit.start);
    let (mut out, mut end) = (String::with_capacity(text.len()), 0);
    for edit in edits {
        out.push_str(text.get(end..edit.start).unwrap_or_default());
        out.push_str(&edit.text);
        end = edit.end;
    }
    out.push_str(text.get(end..).unwrap_or_default());
    out
}
