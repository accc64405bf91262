//! The rules of SPARQL, one per file. To add a rule, add a module, its lines here, a section in
//! `docs/reference/lint.md` and cases in `cases/`.

mod cartesian;
mod containment;
mod graph_split;
mod label_language;
mod limit_without_order;
mod names;
mod now;
mod random;
mod scope;
mod unbound_filter;
mod unbound_projection;
mod ungrouped;
mod unused_prefix;

pub use containment::{ContainmentOffer, containment_by_geometry};

use std::ops::Range;

use oxrdf::Variable;
use terrapin_budget::{Limits, StopReason};
use terrapin_eval::feedback::{QueryWarning, missing_names};
use terrapin_sparql::syntax::algebra::{Function, QueryPattern};
use terrapin_sparql::syntax::walk::QueryNode;
use terrapin_sparql::syntax::{self, ParsedQuery, SparqlToken, TokenKind};
use terrapin_sparql::{Dialect, Environment, SparqlError};

use crate::finding::{LintFinding, LintRule};
use scope::{has_service, is_label, scope};

/// A rule of SPARQL.
pub struct SparqlRule {
    /// The description.
    pub rule: &'static LintRule,
    check: fn(&SparqlLint<'_>, &mut SparqlFindings),
}

/// All rules, in the order in which they run.
pub static SPARQL: &[SparqlRule] = &[
    unbound_projection::RULE,
    unbound_filter::RULE,
    ungrouped::RULE,
    cartesian::RULE,
    limit_without_order::RULE,
    label_language::RULE,
    unused_prefix::RULE,
    now::RULE,
    random::RULE,
    graph_split::RULE,
    containment::RULE,
    names::NO_SUCH_TERM,
    names::NO_SUCH_PREDICATE,
    names::NO_SUCH_CLASS,
    names::NO_SUCH_GRAPH,
    names::NO_SUCH_SERVICE,
    names::NO_SUCH_KEY,
    names::NO_SUCH_VALUE,
];

/// The reason why a query was not examined.
#[derive(Debug)]
pub enum SparqlLintError {
    /// The text has an error.
    Query(Box<SparqlError>),
    /// The comparison with the data was stopped: it reached a limit, or panicked.
    Stopped(StopReason),
}

/// A query under examination.
struct SparqlLint<'a> {
    text: &'a str,
    tokens: Vec<SparqlToken>,
    parsed: &'a ParsedQuery,
    environment: Option<&'a Environment>,
    /// The names that the data lacks, looked up once for all rules about them.
    missing: Vec<QueryWarning>,
}

/// The findings of one rule.
struct SparqlFindings {
    rule: &'static LintRule,
    found: Vec<LintFinding>,
}

impl SparqlFindings {
    /// Adds a finding.
    fn add(&mut self, range: Range<usize>, message: String) -> &mut LintFinding {
        self.found.push(LintFinding { rule: self.rule, message, range, nearest: Vec::new(), fix: Vec::new() });
        let last = self.found.len() - 1;
        &mut self.found[last]
    }
}

impl SparqlLint<'_> {
    fn slice(&self, token: &SparqlToken) -> &str {
        self.text.get(token.start..token.end).unwrap_or_default()
    }

    /// Returns the place of the first token with a text, ignoring the case of keywords; else the whole query.
    fn place(&self, text: &str) -> Range<usize> {
        let is_it = |token: &&SparqlToken| {
            let slice = self.slice(token);
            slice == text || token.kind == TokenKind::Word && slice.eq_ignore_ascii_case(text)
        };
        self.tokens.iter().find(is_it).map_or(0..self.text.trim_end().len(), |token| token.start..token.end)
    }

    fn place_of(&self, variable: &Variable) -> Range<usize> {
        let found = self.place(&format!("?{}", variable.as_str()));
        if found.len() == variable.as_str().len() + 1 { found } else { self.place(&format!("${}", variable.as_str())) }
    }

    /// Iterates over the query's pattern and those of its named subqueries.
    fn patterns(&self) -> impl Iterator<Item = &QueryPattern> {
        [&self.parsed.query.pattern].into_iter().chain(self.parsed.named.iter().map(|(_, pattern)| pattern))
    }

    /// Calls `each` for every function call.
    fn on_calls(&self, each: &mut dyn FnMut(&Function)) {
        let mut open: Vec<QueryNode<'_>> = self.patterns().map(QueryNode::Pattern).collect();
        while let Some(node) = open.pop() {
            if let QueryNode::Expression(syntax::algebra::Expression::Call(function, _)) = node {
                each(function);
            }
            node.children(&mut |child| open.push(child));
        }
    }
}

/// Examines a query with all rules. Returns the findings in the order of the text. Without an environment, rules about
/// names do not run.
///
/// # Errors
/// Returns an error if the query has errors, or if its comparison with the data is stopped.
pub fn sparql(text: &str, environment: Option<&Environment>) -> Result<Vec<LintFinding>, SparqlLintError> {
    let parsed = syntax::parse(text, Dialect::Auto).map_err(|error| SparqlLintError::Query(Box::new(error)))?;
    let missing = environment.map(|environment| missing_names(environment, text, &Limits::default())).transpose();
    let missing = missing.map_err(SparqlLintError::Stopped)?.unwrap_or_default();
    let lint =
        SparqlLint { text, tokens: syntax::read_tokens(text, Dialect::Auto), parsed: &parsed, environment, missing };
    let mut all = Vec::new();
    for rule in SPARQL {
        let mut findings = SparqlFindings { rule: rule.rule, found: Vec::new() };
        (rule.check)(&lint, &mut findings);
        all.append(&mut findings.found);
    }
    all.sort_by_key(|finding| (finding.range.start, finding.range.end));
    Ok(all)
}
