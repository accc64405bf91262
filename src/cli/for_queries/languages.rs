//! Collects the languages that a query uses: tags of its literals, codes of the label service, and codes that are
//! compared with the language of a literal.

use std::collections::BTreeSet;

use crate::sparql::syntax::algebra::{
    Binary, Expression, Function, NamedNodePattern, QueryPattern, TermPattern, TriplePattern,
};
use crate::sparql::syntax::vocabulary::WIKIBASE;
use crate::sparql::syntax::walk::QueryNode;

/// Returns the codes of languages in all nodes of a query, outer nodes first.
pub fn of(nodes: &[QueryNode<'_>]) -> BTreeSet<String> {
    let mut found = LanguageCodes::default();
    // The BIND that a variable comes from is within the one that uses it.
    for node in nodes.iter().rev() {
        if let QueryNode::Pattern(QueryPattern::Extend { variable, expression, .. }) = node
            && found.is_language(expression)
        {
            found.languages.insert(variable.as_str().to_owned());
        }
    }
    for node in nodes {
        match node {
            QueryNode::Pattern(QueryPattern::Bgp { patterns }) => {
                patterns.iter().for_each(|triple| found.triple(triple));
            }
            QueryNode::Expression(expression) => found.expression(expression),
            _ => {}
        }
    }
    for node in nodes {
        match node {
            QueryNode::Pattern(QueryPattern::Values { variables, rows }) => {
                for row in rows.iter() {
                    for (variable, cell) in variables.iter().zip(row) {
                        // A term is written as in N-Triples: `"text"@code`.
                        let Some(text) = cell.as_ref().map(ToString::to_string) else { continue };
                        let Some((value, tag)) = text.strip_prefix('"').and_then(|text| text.rsplit_once('"')) else {
                            continue;
                        };
                        tag.strip_prefix('@').into_iter().for_each(|tag| found.codes(tag));
                        if found.compared.contains(variable.as_str()) {
                            found.codes(value);
                        }
                    }
                }
            }
            QueryNode::Pattern(QueryPattern::Extend { variable, expression: Expression::Literal(code), .. })
                if found.compared.contains(variable.as_str()) =>
            {
                found.codes(code.value());
            }
            _ => {}
        }
    }
    found.found
}

#[derive(Default)]
struct LanguageCodes {
    found: BTreeSet<String>,
    /// The variables with the language of a literal.
    languages: BTreeSet<String>,
    /// The variables that are compared with the language of a literal.
    compared: BTreeSet<String>,
}

impl LanguageCodes {
    fn triple(&mut self, triple: &TriplePattern) {
        let TermPattern::Literal(literal) = &triple.object else { return };
        literal.language().into_iter().for_each(|tag| self.codes(tag));
        if let NamedNodePattern::NamedNode(name) = &triple.predicate
            && name.as_str().strip_prefix(WIKIBASE) == Some("language")
        {
            self.codes(literal.value());
        }
    }

    fn expression(&mut self, expression: &Expression) {
        match expression {
            Expression::Literal(literal) => literal.language().into_iter().for_each(|tag| self.codes(tag)),
            Expression::Binary(Binary::Equal | Binary::SameTerm, a, b) => {
                for (one, other) in [(a, b), (b, a)] {
                    if self.is_language(one) {
                        self.compare(other);
                    }
                }
            }
            Expression::In(one, list) if self.is_language(one) => list.iter().for_each(|other| self.compare(other)),
            Expression::Call(Function::StrLang, list) => list.iter().skip(1).for_each(|code| self.compare(code)),
            // LANGMATCHES, STRSTARTS and so on.
            Expression::Call(_, list) if list.first().is_some_and(|one| self.is_language(one)) => {
                list.iter().skip(1).for_each(|other| self.compare(other));
            }
            _ => {}
        }
    }

    /// Returns whether an expression is the language of a literal, in any case of letters.
    fn is_language(&self, mut expression: &Expression) -> bool {
        loop {
            match expression {
                Expression::Call(Function::Lang, _) => return true,
                Expression::Variable(variable) => return self.languages.contains(variable.as_str()),
                Expression::Call(Function::LCase | Function::UCase | Function::Str, list) => match list.first() {
                    Some(inner) => expression = inner,
                    None => return false,
                },
                _ => return false,
            }
        }
    }

    fn compare(&mut self, other: &Expression) {
        match other {
            Expression::Literal(literal) => self.codes(literal.value()),
            Expression::Variable(variable) => {
                self.compared.insert(variable.as_str().to_owned());
            }
            _ => {}
        }
    }

    /// Adds the codes in a list with commas. Others, such as `*` and `[AUTO_LANGUAGE]`, are no languages.
    fn codes(&mut self, list: &str) {
        let codes = list.split(',').map(|code| code.trim().to_ascii_lowercase());
        let is_code = |code: &String| {
            code.starts_with(|first: char| first.is_ascii_lowercase())
                && code.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-')
        };
        self.found.extend(codes.filter(is_code));
    }
}
