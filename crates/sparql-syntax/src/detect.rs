//! Selects the dialect of a query by its text: QLever's if a construct occurs that only QLever has.

use super::dialect::Dialect;
use super::token::{SparqlToken, TokenKind, tokens};
use crate::vocabulary::{
    EXTERNAL_VALUES, MATERIALIZED_VIEW, MAX_DISTANCE, NEAREST_NEIGHBORS, PATH_SEARCH, QL, SPATIAL_SEARCH, TEXT_SEARCH,
};
use terrapin_diagnostic::TextPosition;

/// A dialect and the reason why it was selected.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DialectDetection {
    /// The dialect: [`Dialect::Qlever`] or [`Dialect::Wdqs`].
    pub dialect: Dialect,
    /// The construct with its position, or that there is none.
    pub reason: String,
}

/// QLever's namespaces. Its endpoints are not among them, because queries to other engines call them.
const NAMESPACES: [&str; 8] =
    [QL, PATH_SEARCH, SPATIAL_SEARCH, TEXT_SEARCH, MATERIALIZED_VIEW, EXTERNAL_VALUES, MAX_DISTANCE, NEAREST_NEIGHBORS];
/// Predeclared prefixes of these namespaces.
const PREFIXES: [&str; 5] = ["ql", "pathSearch", "spatialSearch", "textSearch", "view"];

/// Selects the dialect of a query. The text need not be a correct query.
///
/// ```
/// use terrapin_sparql_syntax::{Dialect, detect};
///
/// assert_eq!(detect("SELECT * { ?s wdt:P31 wd:Q5 }").dialect, Dialect::Wdqs);
/// let detected = detect("SELECT * { ?s @en@rdfs:label ?label }");
/// assert_eq!(detected.dialect, Dialect::Qlever);
/// assert_eq!(detected.reason, "@en@ at line 1, column 15 is QLever's");
/// ```
pub fn detect(text: &str) -> DialectDetection {
    let (dialect, evidence) = of_tokens(text, &tokens(text, 0));
    let reason = match evidence {
        None => "no construct of QLever found".to_owned(),
        Some((start, end)) => {
            let place = TextPosition::new(text, start, end);
            let found = text.get(start..end).unwrap_or_default();
            format!("{found} at line {}, column {} is QLever's", place.line, place.column)
        }
    };
    DialectDetection { dialect, reason }
}

/// Selects the dialect of tokens. Also returns the bytes of the deciding construct.
pub(super) fn of_tokens(text: &str, tokens: &[SparqlToken]) -> (Dialect, Option<(usize, usize)>) {
    let slice = |token: &SparqlToken| text.get(token.start..token.end).unwrap_or_default();
    // The prefixes that the query declares, each with whether its namespace is QLever's.
    let mut declared: Vec<(&str, bool)> = Vec::new();
    for (at, token) in tokens.iter().enumerate() {
        let after = |by: usize| tokens.get(at + by);
        let is_word = |by: usize, word: &str| after(by).is_some_and(|next| slice(next).eq_ignore_ascii_case(word));
        let kind = |by: usize| after(by).map(|next| next.kind);
        let end = match token.kind {
            TokenKind::Word if is_word(0, "PREFIX") => {
                if let (Some(name), Some(iri)) = (after(1), after(2)) {
                    let name = slice(name).trim_end_matches(':');
                    let iri = slice(iri).trim_start_matches('<');
                    declared.push((name, NAMESPACES.iter().any(|space| iri.starts_with(space))));
                }
                None
            }
            TokenKind::Word if is_word(0, "WITH") && kind(1) == Some(TokenKind::Named) => after(1),
            TokenKind::Word if is_word(0, "INTERNAL") && is_word(1, "SORT") && is_word(2, "BY") => after(2),
            TokenKind::Word if is_word(0, "TEXTLIMIT") && kind(1) == Some(TokenKind::Integer) => after(1),
            TokenKind::Word if is_word(0, "STDEV") && kind(1) == Some(TokenKind::Mark("(")) => Some(token),
            TokenKind::Prefixed { colon } if !after_prefix(text, tokens, at) => {
                let prefix = slice(token).get(..colon as usize).unwrap_or_default();
                let is_its = match declared.iter().rev().find(|(name, _)| *name == prefix) {
                    Some((_, is_its)) => *is_its,
                    None => PREFIXES.contains(&prefix),
                };
                is_its.then_some(token)
            }
            TokenKind::Iri if !after_prefix(text, tokens, at.saturating_sub(1)) => {
                let iri = slice(token).trim_start_matches('<');
                NAMESPACES.iter().any(|space| iri.starts_with(space)).then_some(token)
            }
            TokenKind::PredicateTag => Some(token),
            TokenKind::Mark("{") if !after_variable(tokens, at) => length_of_path(tokens, at),
            _ => None,
        };
        if let Some(end) = end {
            return (Dialect::Qlever, Some((token.start, end.end)));
        }
    }
    (Dialect::Wdqs, None)
}

/// Returns whether the token at `at` is the name in a declaration of a prefix.
fn after_prefix(text: &str, tokens: &[SparqlToken], at: usize) -> bool {
    let before = at.checked_sub(1).and_then(|before| tokens.get(before));
    before.is_some_and(|token| {
        token.kind == TokenKind::Word
            && text.get(token.start..token.end).is_some_and(|word| word.eq_ignore_ascii_case("PREFIX"))
    })
}

/// Returns whether the token at `at` follows a variable, as the rows of `VALUES ?x { 5 }` do.
fn after_variable(tokens: &[SparqlToken], at: usize) -> bool {
    let before = at.checked_sub(1).and_then(|before| tokens.get(before));
    before.is_some_and(|token| token.kind == TokenKind::Variable)
}

/// Returns the closing brace of `{n}`, `{n,}`, `{n,m}` or `{,m}`. In SPARQL 1.1 only the rows of a VALUES with one
/// variable can have this form.
fn length_of_path(tokens: &[SparqlToken], at: usize) -> Option<&SparqlToken> {
    let kind = |by: usize| tokens.get(at + by).map(|token| token.kind);
    let closed = |by: usize| (kind(by) == Some(TokenKind::Mark("}"))).then(|| tokens.get(at + by)).flatten();
    match (kind(1)?, kind(2)?) {
        (TokenKind::Integer, TokenKind::Mark("}")) => closed(2),
        (TokenKind::Integer, TokenKind::Mark(",")) if kind(3) == Some(TokenKind::Integer) => closed(4),
        (TokenKind::Integer, TokenKind::Mark(",")) => closed(3),
        (TokenKind::Mark(","), TokenKind::Integer) => closed(3),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn constructs_of_qlever_select_its_dialect() {
        for text in [
            "WITH %a AS { ?s ?p ?o } SELECT ?s { { SELECT ?s { INCLUDE %a } } }",
            "SELECT ?s { ?s ?p ?o } INTERNAL SORT BY ?s",
            "SELECT ?t { ?t ?p ?o } TEXTLIMIT 2",
            "SELECT (STDEV(?x) AS ?y) { ?s ?p ?x }",
            "SELECT * { ?s wdt:P279{1,3} ?o }",
            "SELECT * { ?s wdt:P279{,3} ?o }",
            "SELECT * { ?t ql:contains-word 'moon' }",
            "PREFIX b: <http://qlever.cs.uni-freiburg.de/builtin-functions/> SELECT * { ?t b:contains-word 'moon' }",
            "SELECT * { SERVICE <https://qlever.cs.uni-freiburg.de/spatialSearch/> { ?c ?d ?e } }",
            "SELECT * { ?a <nearest-neighbors:5> ?b }",
        ] {
            assert_eq!(detect(text).dialect, Dialect::Qlever, "{text}");
        }
    }

    #[test]
    fn other_queries_have_the_dialect_of_the_wikidata_query_service() {
        for text in [
            "SELECT ?s WITH { SELECT ?s { ?s ?p ?o } } AS %a { INCLUDE %a }",
            "PREFIX ql: <http://example.org/> SELECT * { ?s ql:p ?o }",
            // A declaration alone is no use.
            "PREFIX ql: <http://qlever.cs.uni-freiburg.de/builtin-functions/> SELECT * { ?s ?p 'x'@en }",
            "SELECT * { SERVICE <https://qlever.dev/api/osm-planet> { ?s ?p ?o } }",
            "SELECT * { 1 ?p ?o } # WITH %a",
            "SELECT * { VALUES ?x { 5 } ?s ?p ?x }",
            "SELECT * { VALUES (?x) { (5) } ?s ?p ?x }",
        ] {
            assert_eq!(detect(text).dialect, Dialect::Wdqs, "{text}");
        }
        assert_eq!(detect("ASK {}").reason, "no construct of QLever found");
    }
}
