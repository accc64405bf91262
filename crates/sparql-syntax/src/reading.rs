//! The tokens of a query as the parser reads them, and what follows from them.

use std::collections::BTreeSet;

use super::dialect::Dialect;
use super::parser::QueryParser;
use super::prefixes::known;
use super::token::{self, SparqlToken, TokenKind};

/// Returns the tokens of a query as the parser reads them: `<` after an operand is a comparison, even if an IRI could
/// start there. If the text is no query, `<` starts an IRI wherever one can start.
///
/// ```
/// use terrapin_sparql_syntax::{Dialect, read_tokens};
///
/// let text = "ASK { FILTER(1<-'>') }";
/// let tokens: Vec<&str> = read_tokens(text, Dialect::Wdqs).iter().map(|token| &text[token.start..token.end]).collect();
/// assert_eq!(tokens, ["ASK", "{", "FILTER", "(", "1", "<", "-", "'>'", ")", "}", ""]);
/// ```
pub fn read_tokens(text: &str, dialect: Dialect) -> Vec<SparqlToken> {
    let read = QueryParser::new(text, dialect).and_then(QueryParser::read_tokens);
    read.unwrap_or_else(|_| token::tokens(text, 0))
}

/// Returns the declarations of the predeclared prefixes that a query uses without declaring them.
pub fn declarations(text: &str) -> String {
    let tokens = read_tokens(text, Dialect::Auto);
    let slice = |at: usize| tokens.get(at).and_then(|token| text.get(token.start..token.end)).unwrap_or_default();
    let (mut declared, mut used) = (BTreeSet::new(), BTreeSet::new());
    for (at, token) in tokens.iter().enumerate() {
        let TokenKind::Prefixed { colon } = token.kind else { continue };
        let prefix = slice(at).get(..colon as usize).unwrap_or_default();
        let is_declaration = at.checked_sub(1).is_some_and(|before| slice(before).eq_ignore_ascii_case("PREFIX"));
        if is_declaration {
            declared.insert(prefix)
        } else {
            used.insert(prefix)
        };
    }
    let missing = used.difference(&declared).filter_map(|prefix| Some((prefix, known(prefix)?)));
    missing.fold(String::new(), |text, (prefix, iri)| text + &format!("PREFIX {prefix}: <{iri}>\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prefixes_are_declared() {
        assert_eq!(
            declarations("PREFIX wd: <http://x/> SELECT * { ?a wdt:P31 wd:Q1 ; rdfs:label 'xsd:x' }"),
            "PREFIX rdfs: <http://www.w3.org/2000/01/rdf-schema#>\nPREFIX wdt: <http://www.wikidata.org/prop/direct/>\n"
        );
    }
}
