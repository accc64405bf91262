//! Rules for the constructs of QLever: named subqueries in front of the query, predicates with a language, and paths with
//! a length. Its documentation: <https://docs.qlever.dev/named-subqueries/>.

use std::collections::HashSet;

use oxrdf::{Literal, Variable};

use super::dialect::Dialect;
use super::parser::{Extension, QueryParser, SubqueryDefinition};
use super::token::{SparqlToken, TokenKind};
use super::tree::DepthTree;
use crate::algebra::{Binary, Expression, Function, Path, QueryPattern};
use crate::error::{Result, SparqlCode};
use crate::walk::{NodeMut, nodes, on_in_scope, on_variables};

/// Maximum number in `{n,m}` after a step of a path.
const MAX_LENGTH: usize = 64;

impl QueryParser<'_> {
    /// Parses any number of `WITH %name AS { ... }`. Bodies are read on first use.
    pub fn leading_with(&mut self) -> Result<()> {
        while self.is_word("WITH") {
            let with = self.peek();
            if self.ahead(1).kind != TokenKind::Named {
                let error = self.expected("SELECT, ASK, CONSTRUCT or DESCRIBE");
                return Err(error.help(
                    "QLever's form is WITH %name AS { ... } in front of SELECT; that of the Wikidata \
                                       Query Service is WITH { SELECT ... } AS %name after the SELECT clause",
                ));
            }
            let otherwise = "WITH %name AS { ... } in front of the query is QLever's form of a named subquery";
            self.extend(with, Extension::LeadingWith, otherwise)?;
            self.at += 1;
            let token = self.peek();
            self.at += 1;
            self.expect_word("AS")?;
            let body = self.peek().start;
            self.skip_group(with)?;
            self.define(token, body)?;
        }
        Ok(())
    }

    /// Adds a named subquery.
    pub fn define(&mut self, token: SparqlToken, body: usize) -> Result<()> {
        let name = self.slice(token).get(1..).unwrap_or("");
        if self.named.iter().any(|named| named.name == name) {
            return Err(self.error_at(token, SparqlCode::NamedSubquery, format!("%{name} is defined twice")));
        }
        self.named.push(SubqueryDefinition { name, body, variables: None, open: false });
        Ok(())
    }

    /// Skips the group in braces of the `WITH` at `with`. Within the round brackets of expressions, `<` after an operand
    /// is a comparison, so that `FILTER(?x<-'>')` contains a string and hides no brace.
    pub fn skip_group(&mut self, with: SparqlToken) -> Result<()> {
        if !self.is_mark("{") {
            return Err(self.expected("'{'"));
        }
        // The open brackets: whether each one contains an expression.
        let mut open: Vec<bool> = Vec::new();
        let mut before = self.peek();
        loop {
            let is_expression = open.last() == Some(&true);
            if is_expression && self.peek().kind == TokenKind::Iri && self.is_operand(before) {
                self.split_iri()?;
            }
            match self.peek().kind {
                TokenKind::Mark("{") => open.push(false),
                TokenKind::Mark("(") => open.push(is_expression || self.is_call(before)),
                TokenKind::Mark("}" | ")") => {
                    open.pop();
                }
                TokenKind::End => {
                    return Err(self.error_at(with, SparqlCode::Syntax, "the braces of this WITH do not close"));
                }
                _ => {}
            }
            before = self.peek();
            self.at += 1;
            if open.is_empty() {
                return Ok(());
            }
        }
    }

    /// Returns whether a token ends an operand of an expression.
    fn is_operand(&self, token: SparqlToken) -> bool {
        match token.kind {
            TokenKind::Word => ["true", "false"].iter().any(|word| self.slice(token).eq_ignore_ascii_case(word)),
            TokenKind::Iri
            | TokenKind::Prefixed { .. }
            | TokenKind::Variable
            | TokenKind::Tag
            | TokenKind::Integer
            | TokenKind::Decimal
            | TokenKind::Double
            | TokenKind::Text { .. }
            | TokenKind::Mark(")") => true,
            _ => false,
        }
    }

    /// Returns whether the round bracket after a token is that of an expression: of a function, `FILTER`, `BIND` or
    /// `HAVING`, and not that of a list, a path or `VALUES`.
    fn is_call(&self, token: SparqlToken) -> bool {
        let others = ["a", "true", "false", "VALUES"];
        token.kind == TokenKind::Word && !others.iter().any(|word| self.slice(token).eq_ignore_ascii_case(word))
    }

    /// Checks the place of an `INCLUDE`. In QLever it is the whole body of a subquery that names its variables.
    pub fn check_include(&self, token: SparqlToken) -> Result<()> {
        if self.dialect != Dialect::Qlever {
            return Ok(());
        }
        // The next token is the name, between `{ INCLUDE` and `}`.
        let opens = self.at.checked_sub(2);
        if opens.is_some() && opens == self.include_body && self.ahead(1).kind == TokenKind::Mark("}") {
            return Ok(());
        }
        let message = "INCLUDE must be the whole body of a subquery that names its variables";
        let help = format!("write {{ SELECT ?x {{ INCLUDE {} }} }}", self.slice(self.peek()));
        Err(self.error_at(token, SparqlCode::NamedSubquery, message).help(help))
    }

    /// Parses the language of a predicate: `@en@` in `@en@rdfs:label`.
    pub fn predicate_language(&mut self) -> Result<Option<String>> {
        let token = self.peek();
        if token.kind != TokenKind::PredicateTag {
            return Ok(None);
        }
        self.extend(token, Extension::LanguagePredicate, "a predicate with a language is QLever's")?;
        self.at += 1;
        Ok(Some(self.slice(token).trim_matches('@').to_ascii_lowercase()))
    }

    /// Parses `{n}`, `{n,}`, `{n,m}` or `{,m}` after a step of a path.
    pub fn path_length(&mut self, path: DepthTree<Path>) -> Result<DepthTree<Path>> {
        let token = self.peek();
        let is_length = self.is_mark("{")
            && (self.ahead(1).kind == TokenKind::Integer && matches!(self.ahead(2).kind, TokenKind::Mark("}" | ","))
                || self.ahead(1).kind == TokenKind::Mark(",") && self.ahead(2).kind == TokenKind::Integer);
        if !is_length {
            return Ok(path);
        }
        self.extend(token, Extension::PathLength, "a path with a length in braces is QLever's")?;
        self.at += 1;
        let least = if self.is_mark(",") { 0 } else { self.length()? };
        let most = match self.mark(",") {
            false => Some(least),
            true if self.is_mark("}") => None,
            true => Some(self.length()?),
        };
        self.expect("}")?;
        if most.is_some_and(|most| most < least) {
            let message = format!("the path has at least {least} steps and at most fewer");
            return Err(self.error_at(token, SparqlCode::Syntax, message));
        }
        self.repeated(path, least, most, token)
    }

    fn length(&mut self) -> Result<usize> {
        let token = self.peek();
        let number = (token.kind == TokenKind::Integer).then(|| self.slice(token).parse::<usize>().ok()).flatten();
        match number.filter(|number| *number <= MAX_LENGTH) {
            Some(number) => {
                self.at += 1;
                Ok(number)
            }
            None => Err(self.expected(&format!("a whole number up to {MAX_LENGTH}"))),
        }
    }

    /// Repeats a path: `least` steps in sequence, then up to `most` as nested optional steps, which give every pair of
    /// nodes once (<https://www.w3.org/TR/sparql11-property-paths/#path-syntax>).
    fn repeated(
        &mut self,
        path: DepthTree<Path>,
        least: usize,
        most: Option<usize>,
        token: SparqlToken,
    ) -> Result<DepthTree<Path>> {
        // Counted before copying, because nested lengths multiply.
        let copies = most.unwrap_or(least + 1).max(1);
        self.count_steps(nodes(&*path).saturating_mul(copies))?;
        let sequence = |a, b| Path::Sequence(Box::new(a), Box::new(b));
        let mut rest = match most {
            None => Some(path.clone().under(|path| Path::ZeroOrMore(Box::new(path)))?),
            Some(_) => None,
        };
        for _ in least..most.unwrap_or(least) {
            let step = match rest {
                Some(rest) => path.clone().joined(rest, sequence)?,
                None => path.clone(),
            };
            rest = Some(step.under(|path| Path::ZeroOrOne(Box::new(path)))?);
        }
        let mut all = rest;
        for _ in 0..least {
            all = Some(match all {
                Some(all) => path.clone().joined(all, sequence)?,
                None => path.clone(),
            });
        }
        match all {
            Some(all) => Ok(all),
            // `{0}` connects every node with itself.
            None => Err(self.error_at(token, SparqlCode::Syntax, "a path has at least one possible step")),
        }
    }
}

/// Returns the variables that a pattern can bind.
fn bound(pattern: &QueryPattern) -> HashSet<&Variable> {
    let mut variables = HashSet::new();
    on_in_scope(pattern, &mut |variable| {
        variables.insert(variable);
    });
    variables
}

/// Returns the condition that a variable's values have a language.
pub(super) fn in_language(variable: Variable, language: String) -> DepthTree<Expression> {
    let tag = Expression::Call(Function::Lang, vec![variable.into()]);
    let language = Literal::new_simple_literal(language).into();
    DepthTree::of_part(Expression::binary(Binary::Equal, tag, language))
}

/// Returns whether a filter uses a variable that its own group does not bind. QLever evaluates the group of an OPTIONAL
/// or EXISTS alone, so that such a variable is unbound
/// (<https://docs.qlever.dev/compliance/#subtle-deviations-regarding-optional-and-exists>).
pub(super) fn looks_outside(pattern: &QueryPattern, filter: &Expression) -> bool {
    let scope = bound(pattern);
    let mut outside = false;
    on_variables(filter, &mut |variable| outside |= !scope.contains(variable));
    outside
}

/// Replaces the variables of a filter that its own group does not bind by errors.
pub(super) fn without_outside(pattern: &QueryPattern, filter: &mut Expression) {
    let scope = bound(pattern);
    let mut open = vec![NodeMut::Expression(filter)];
    while let Some(node) = open.pop() {
        let NodeMut::Expression(expression) = node else { continue };
        match expression {
            Expression::Variable(variable) if !scope.contains(variable) => *expression = Expression::default(),
            Expression::Bound(variable) if !scope.contains(variable) => *expression = Literal::from(false).into(),
            _ => NodeMut::Expression(expression).children(&mut |child| open.push(child)),
        }
    }
}
