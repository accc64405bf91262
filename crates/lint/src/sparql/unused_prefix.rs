//! `unused-prefix`: a PREFIX declaration without a use.

use terrapin_diagnostic::TextEdit;
use terrapin_sparql::syntax::TokenKind;

use super::{SparqlFindings, SparqlLint, SparqlRule};
use crate::finding::{LintRule, LintSeverity};

pub const RULE: SparqlRule = SparqlRule {
    rule: &LintRule {
        code: "unused-prefix",
        severity: LintSeverity::Note,
        summary: "A prefix is declared and never used. The fix removes its declaration.",
    },
    check,
};

fn check(lint: &SparqlLint<'_>, findings: &mut SparqlFindings) {
    let prefix = |at: usize| {
        let token = lint.tokens.get(at)?;
        let TokenKind::Prefixed { colon } = token.kind else { return None };
        lint.slice(token).get(..colon as usize)
    };
    for (at, triple) in lint.tokens.windows(3).enumerate() {
        let [word, name, iri] = triple else { continue };
        let is_declaration = word.kind == TokenKind::Word && lint.slice(word).eq_ignore_ascii_case("prefix");
        if !is_declaration || iri.kind != TokenKind::Iri {
            continue;
        }
        let Some(declared) = prefix(at + 1) else { continue };
        let is_used = (0..lint.tokens.len()).any(|other| other != at + 1 && prefix(other) == Some(declared));
        if is_used {
            continue;
        }
        // The white space after the declaration goes with it, up to the next line.
        let rest = lint.text.get(iri.end..).unwrap_or_default();
        let spaces = rest.len() - rest.trim_start_matches([' ', '\t', '\r']).len();
        let line = usize::from(rest.get(spaces..).is_some_and(|rest| rest.starts_with('\n')));
        let has_comment = [word.end..name.start, name.end..iri.start]
            .into_iter()
            .any(|gap| lint.text.get(gap).is_some_and(|between| between.contains('#')));
        let edit = TextEdit { start: word.start, end: iri.end + spaces + line, text: String::new() };
        let message = format!("the prefix {} is never used", lint.slice(name));
        findings.add(word.start..iri.end, message).fix = if has_comment { Vec::new() } else { vec![edit] };
    }
}
