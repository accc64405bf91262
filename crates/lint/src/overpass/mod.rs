//! The rules of OverpassQL, one per file. To add a rule, add a module, its lines here, a section in
//! `docs/reference/lint.md` and cases in `cases/`.

mod area_of_other;
mod block_brackets;
mod contradiction;
mod date_dependent;
mod empty_output;
mod equals_in_key;
mod filter_data;
mod needless_recursion;
mod no_output;
mod overwritten;
mod place_dependent;
mod plain_regex;
mod repeated_filter;
mod unfilled_set;
mod unused_result;
mod unused_set;

use std::ops::Range;
use std::sync::Arc;

use terrapin_budget::{self as budget, Budget, StopReason};
use terrapin_diagnostic::TextEdit;
use terrapin_osm::Osm;
use terrapin_overpass::lint::sets::SpannedWarning;
use terrapin_overpass::syntax::pieces::{PieceKind, pieces};
use terrapin_overpass::syntax::{Filter, Query, Script, SourceSpan, Statement, StatementKind, on_statements};
use terrapin_overpass::turbo::{ExpandedQuery, ShortcutProblem};
use terrapin_overpass::{Limits, OverpassFailure};

use crate::finding::{LintFinding, LintRule};

/// A rule of OverpassQL.
pub struct OverpassRule {
    /// The description.
    pub rule: &'static LintRule,
    check: fn(&OverpassLint<'_>, &mut OverpassFindings<'_>),
}

/// All rules, in the order in which they run.
pub static OVERPASS: &[OverpassRule] = &[
    no_output::RULE,
    unused_set::RULE,
    unused_result::RULE,
    unfilled_set::RULE,
    empty_output::RULE,
    overwritten::RULE,
    area_of_other::RULE,
    contradiction::RULE,
    repeated_filter::RULE,
    equals_in_key::RULE,
    plain_regex::RULE,
    needless_recursion::RULE,
    block_brackets::RULE,
    date_dependent::RULE,
    place_dependent::RULE,
    filter_data::NO_SUCH_KEY,
    filter_data::NO_SUCH_VALUE,
    filter_data::NO_SUCH_ID,
    filter_data::NO_SUCH_AREA,
];

/// The data that a query is compared with.
#[derive(Default, Clone, Copy)]
pub struct OverpassData<'a> {
    /// The elements; without them, rules about names do not run.
    pub osm: Option<&'a Osm>,
}

/// A query that has errors.
#[derive(Debug)]
pub enum OverpassLintError {
    /// A shortcut cannot be replaced.
    Shortcut(ShortcutProblem),
    /// The text has errors; their positions refer to the text with stand-ins for shortcuts.
    Query(String, OverpassFailure),
    /// The comparison with the data was stopped: it reached a limit, or panicked.
    Stopped(StopReason),
}

/// A query under examination.
struct OverpassLint<'a> {
    /// The text as written.
    text: &'a str,
    /// The text with stand-ins for shortcuts.
    expanded: &'a ExpandedQuery,
    script: &'a Script,
    /// The filters that no element of the data passes, looked up once for all rules about them.
    missing: Vec<SpannedWarning>,
}

/// The findings of one rule.
struct OverpassFindings<'a> {
    rule: &'static LintRule,
    expanded: &'a ExpandedQuery,
    found: Vec<LintFinding>,
}

impl OverpassFindings<'_> {
    /// Adds a finding at a position in the expanded text.
    fn add(&mut self, span: SourceSpan, message: String) -> &mut LintFinding {
        let range = self.expanded.source(&(span.start..span.end));
        self.add_at(range, message)
    }

    /// Adds warnings about ranges of the expanded text.
    fn extend(&mut self, warnings: impl IntoIterator<Item = SpannedWarning>) {
        for (span, warning) in warnings {
            self.add(span, warning.message).nearest = warning.nearest;
        }
    }

    /// Adds a finding at a range of the text as written.
    fn add_at(&mut self, range: Range<usize>, message: String) -> &mut LintFinding {
        self.found.push(LintFinding { rule: self.rule, message, range, nearest: Vec::new(), fix: Vec::new() });
        let last = self.found.len() - 1;
        &mut self.found[last]
    }
}

impl OverpassLint<'_> {
    /// Calls `each` with every query statement.
    fn on_queries<'s>(&'s self, each: &mut dyn FnMut(&'s Query, &'s Statement)) {
        on_statements(&self.script.statements, &mut |statement| {
            if let StatementKind::Query(query) = &statement.kind {
                each(query, statement);
            }
        });
    }

    /// Returns the text of a filter as written, if no part of it comes from a shortcut.
    fn written(&self, span: SourceSpan) -> Option<&str> {
        let range = span.start..span.end;
        if self.expanded.is_replaced(&range) || self.text.trim_start().starts_with('<') {
            return None;
        }
        self.text.get(self.expanded.source(&range))
    }

    /// Returns the edit that replaces a filter, or removes it together with the white space before it.
    fn replace(&self, filter: &Filter, text: &str) -> Vec<TextEdit> {
        let span = filter.span;
        let has_comment = |text: &str| {
            pieces(text).iter().any(|piece| matches!(piece.kind, PieceKind::LineComment | PieceKind::BlockComment))
        };
        // A comment within the filter would be lost.
        if self.written(span).is_none_or(has_comment) {
            return Vec::new();
        }
        let range = self.expanded.source(&(span.start..span.end));
        let before = self.text.get(..range.start).unwrap_or_default();
        let start = if text.is_empty() { before.trim_end_matches([' ', '\t']).len() } else { range.start };
        vec![TextEdit { start, end: range.end, text: text.to_owned() }]
    }
}

/// Examines a query with all rules. Returns the findings in the order of the text.
///
/// # Errors
/// Returns an error if the query has errors, or if its comparison with the data is stopped.
pub fn overpass(text: &str, data: OverpassData<'_>) -> Result<Vec<LintFinding>, OverpassLintError> {
    let expanded = ExpandedQuery::new(text).map_err(OverpassLintError::Shortcut)?;
    let script = terrapin_overpass::parse(&expanded.text)
        .map_err(|failure| OverpassLintError::Query(expanded.text.clone(), failure))?;
    let budget = Arc::new(Budget::new(&Limits::default()));
    let compare = |osm| budget::watched(&budget, || filter_data::missing(osm, &expanded, &script, &budget));
    let missing = match data.osm.map(compare) {
        None => Vec::new(),
        Some(Ok(Ok(missing))) => missing,
        Some(Ok(Err(exceeded))) => return Err(OverpassLintError::Stopped(StopReason::Exceeded(exceeded))),
        Some(Err(stopped)) => return Err(OverpassLintError::Stopped(stopped)),
    };
    let lint = OverpassLint { text, expanded: &expanded, script: &script, missing };
    let mut all = Vec::new();
    for rule in OVERPASS {
        let mut findings = OverpassFindings { rule: rule.rule, expanded: &expanded, found: Vec::new() };
        (rule.check)(&lint, &mut findings);
        all.append(&mut findings.found);
    }
    all.sort_by_key(|finding| (finding.range.start, finding.range.end));
    Ok(all)
}
