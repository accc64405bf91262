//! The parser's state (position, prefixes, generated names) and the operations that all grammar rules share.

use std::collections::{BTreeSet, HashSet};

use oxiri::Iri;
use oxrdf::{BlankNode, NamedNode, Variable};

use super::MAX_TEXT;
use super::detect;
use super::dialect::Dialect;
use super::prefixes;
use super::token::{self, SparqlToken, TokenKind};
use super::tree::DepthTree;
use crate::algebra::{AggregateCall, Helper, Path, QueryPattern, SparqlQuery};
use crate::error::{Result, SparqlCode, SparqlError, SparqlErrorClass};
use crate::walk::nodes;
use terrapin_budget as budget;
use terrapin_diagnostic::TextPosition;

/// Maximum nesting depth of groups, brackets and paths.
const MAX_DEPTH: usize = 64;
/// Maximum number of variables, including those generated for aggregates and blank nodes. The evaluator searches the
/// list of all variables linearly.
const MAX_VARIABLES: usize = 4096;
/// Maximum number of steps, alternatives and repetitions of all property paths. The size of their expansion grows
/// quadratically.
const MAX_STEPS: usize = 4096;
/// Maximum number of bytes that are tokenized again because `<` was a comparison and not an IRI.
const MAX_AGAIN: usize = 64 << 20;

/// A construct that a query uses and SPARQL 1.1 rejects.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Extension {
    /// `WITH { ... } AS %name` and `INCLUDE %name`.
    NamedSubquery,
    /// A SELECT expression with an alias that the pattern already binds: the new value is projected.
    AliasOfVisible,
    /// `BIND` to a bound variable: only solutions with an equal value remain.
    BindToBound,
    /// A projected variable that is neither grouped nor aggregated: one of its values is sampled.
    Ungrouped,
    /// An IRI with characters that are invalid in IRIs.
    LooseIri,
    /// A relative IRI without BASE: it is resolved against the address of WDQS. The standard leaves the base to the
    /// application.
    RelativeIri,
    /// An alias that a SELECT clause names before: it becomes one column.
    RepeatedVariable,
    /// A `BIND` before the patterns that bind its variables: it is moved after them.
    EarlyBind,
    /// `HAVING` with an alias of SELECT, which is unbound there in SPARQL 1.1.
    NamedInHaving,
    /// A `<` that compares where SPARQL 1.1 reads an IRI up to the next `>`.
    ComparedIri,
    /// `WITH %name AS { ... }` in front of the query form, and `INCLUDE %name` as the body of a subquery.
    LeadingWith,
    /// `INTERNAL SORT BY`: it is read as `ORDER BY`.
    InternalSort,
    /// `TEXTLIMIT`: it has no effect.
    TextLimit,
    /// `@en@rdfs:label`: a predicate whose objects have a language.
    LanguagePredicate,
    /// `{n,m}` after a step of a path.
    PathLength,
    /// The aggregate `STDEV`.
    StandardDeviation,
    /// A FILTER of an OPTIONAL or EXISTS that does not see the variables outside its group.
    GroupScope,
    /// `LATERAL { ... }`, a join with values from the left.
    Lateral,
    /// `ADJUST(time, timezone)`.
    Adjust,
    /// A comma for the semicolon in front of `SEPARATOR`.
    SeparatorComma,
}

impl Extension {
    /// Returns whether a dialect has the construct.
    pub fn is_of(self, dialect: Dialect) -> bool {
        match self {
            Extension::NamedSubquery
            | Extension::AliasOfVisible
            | Extension::BindToBound
            | Extension::Ungrouped
            | Extension::LooseIri
            | Extension::EarlyBind
            | Extension::ComparedIri => dialect == Dialect::Wdqs,
            Extension::RelativeIri
            | Extension::RepeatedVariable
            | Extension::NamedInHaving
            | Extension::Lateral
            | Extension::Adjust
            | Extension::SeparatorComma => matches!(dialect, Dialect::Wdqs | Dialect::Qlever),
            Extension::LeadingWith
            | Extension::InternalSort
            | Extension::TextLimit
            | Extension::LanguagePredicate
            | Extension::PathLength
            | Extension::StandardDeviation
            | Extension::GroupScope => dialect == Dialect::Qlever,
        }
    }
}

/// A parsed query.
#[derive(Debug, Clone)]
pub struct ParsedQuery {
    /// The algebra before services are replaced. A named subquery is represented by its name and its columns.
    pub query: SparqlQuery,
    /// The named subqueries that the query includes, in dependency order.
    pub named: Vec<(String, QueryPattern)>,
    /// The extensions of SPARQL 1.1 that the query uses, sorted.
    pub extensions: Vec<Extension>,
    /// The dialect in which the query was read; not [`Dialect::Auto`].
    pub dialect: Dialect,
}

/// The base for relative IRIs in a query without BASE: the address of WDQS. With the address of this server, results
/// would depend on the host.
pub const DEFAULT_BASE: &str = "https://query.wikidata.org/sparql";

/// A named subquery: the position of its body, and its variables once it has been read.
pub(super) struct SubqueryDefinition<'a> {
    pub name: &'a str,
    /// The offset of the opening brace.
    pub body: usize,
    /// The variables, sorted; `None` if the body has not been read.
    pub variables: Option<Vec<Variable>>,
    pub open: bool,
}

pub(super) struct QueryParser<'a> {
    pub text: &'a str,
    pub tokens: Vec<SparqlToken>,
    pub at: usize,
    pub base: Option<Iri<String>>,
    prefixes: Vec<(&'a str, String)>,
    pub dialect: Dialect,
    depth: usize,
    helpers: usize,
    variables: HashSet<&'a str>,
    /// The offsets of `<` that are comparisons, although an IRI could start there.
    comparisons: BTreeSet<usize>,
    /// Number of bytes tokenized again so far.
    again: usize,
    /// Number of path steps so far.
    steps: usize,
    /// Number of bytes of the terms that short forms of triples repeat.
    pub repeated: usize,
    pub used_labels: Vec<BlankNode>,
    pub labels: Vec<BlankNode>,
    pub aggregates: Vec<Vec<(Variable, DepthTree<AggregateCall>)>>,
    pub named: Vec<SubqueryDefinition<'a>>,
    /// The patterns of the included named subqueries, in the order of their completion.
    pub needed: Vec<(String, QueryPattern)>,
    extensions: Vec<Extension>,
    /// BINDs that must not be moved, by the offsets of their variables.
    pub fixed: Vec<usize>,
    /// The variables of the open group whose values must have a language.
    pub languages: Vec<(Variable, String)>,
    /// Whether the argument of an aggregate is read.
    pub is_in_aggregate: bool,
    /// The token that opens the body of the latest subquery that names its variables.
    pub include_body: Option<usize>,
}

/// A saved state of the parser, for backtracking.
pub(super) struct ParserCheckpoint {
    /// The offset of the next token. Its index may change, because the text before it may be tokenized again.
    position: usize,
    used_labels: usize,
    labels: Vec<BlankNode>,
    extensions: usize,
}

impl<'a> QueryParser<'a> {
    pub fn new(text: &'a str, dialect: Dialect) -> Result<Self> {
        if text.len() > MAX_TEXT {
            let message = format!("the query has {} bytes, at most {MAX_TEXT} are allowed", text.len());
            return Err(SparqlError::new(SparqlErrorClass::Limit, SparqlCode::TooLong, message));
        }
        let tokens = token::tokens(text, 0);
        let dialect = match dialect {
            Dialect::Auto => detect::of_tokens(text, &tokens).0,
            dialect => dialect,
        };
        Ok(QueryParser {
            text,
            tokens,
            at: 0,
            base: None,
            prefixes: Vec::new(),
            dialect,
            depth: 0,
            helpers: 0,
            variables: HashSet::new(),
            comparisons: BTreeSet::new(),
            again: 0,
            steps: 0,
            repeated: 0,
            used_labels: Vec::new(),
            labels: Vec::new(),
            aggregates: Vec::new(),
            named: Vec::new(),
            needed: Vec::new(),
            extensions: Vec::new(),
            fixed: Vec::new(),
            languages: Vec::new(),
            is_in_aggregate: false,
            include_body: None,
        })
    }

    /// Parses the whole text.
    pub fn query_unit(mut self) -> Result<ParsedQuery> {
        let query = self.whole().map_err(|error| match error.span {
            Some(_) => error,
            None => error.at(self.place(self.peek())),
        })?;
        self.extensions.sort_unstable();
        self.extensions.dedup();
        Ok(ParsedQuery { query, named: self.needed, extensions: self.extensions, dialect: self.dialect })
    }

    /// Parses the whole text and returns its tokens, in which comparisons that look like IRIs are operators.
    pub fn read_tokens(mut self) -> Result<Vec<SparqlToken>> {
        self.whole()?;
        Ok(token::tokens_with_comparisons(self.text, 0, &self.comparisons))
    }

    fn whole(&mut self) -> Result<SparqlQuery> {
        self.prologue()?;
        self.leading_with()?;
        let query = self.query()?;
        if self.peek().kind != TokenKind::End {
            return Err(self.expected("the end of the query"));
        }
        let needed = self.needed.len();
        self.named_left_over()?;
        self.needed.truncate(needed);
        self.check_variables()?;
        Ok(query.into_part())
    }

    fn prologue(&mut self) -> Result<()> {
        loop {
            if self.is_word("VERSION") && matches!(self.ahead(1).kind, TokenKind::Text { quote: 1 }) {
                // The version of SPARQL: all versions are read alike (SPARQL 1.2, section 4.1.4).
                self.at += 2;
            } else if self.word("BASE") {
                self.base = Some(self.iri_token()?);
            } else if self.word("PREFIX") {
                let token = self.peek();
                let name = match token.kind {
                    TokenKind::Prefixed { colon } if token.start + colon as usize + 1 == token.end => {
                        self.text.get(token.start..token.end - 1).unwrap_or("")
                    }
                    _ => return Err(self.expected("a prefix and a colon, as in PREFIX ex: <http://example.org/>")),
                };
                self.at += 1;
                let iri = self.iri_token()?.into_inner();
                self.prefixes.retain(|(known, _)| *known != name);
                self.prefixes.push((name, iri));
            } else {
                return Ok(());
            }
        }
    }

    // Tokens.

    /// Returns the next token without consuming it.
    pub fn peek(&self) -> SparqlToken {
        self.ahead(0)
    }

    pub fn ahead(&self, by: usize) -> SparqlToken {
        // Every rule calls this function, and some scan far ahead.
        budget::checkpoint();
        let last = SparqlToken { kind: TokenKind::End, start: self.text.len(), end: self.text.len() };
        self.tokens.get(self.at + by).copied().unwrap_or(last)
    }

    /// Continues with the token at a byte offset.
    pub fn seek(&mut self, position: usize) {
        self.at = self.tokens.partition_point(|token| token.start < position);
    }

    pub fn slice(&self, token: SparqlToken) -> &'a str {
        self.text.get(token.start..token.end).unwrap_or("")
    }

    pub fn is_mark(&self, mark: &str) -> bool {
        matches!(self.peek().kind, TokenKind::Mark(m) if m == mark)
    }

    /// Consumes the next token if it is this mark.
    pub fn mark(&mut self, mark: &str) -> bool {
        let found = self.is_mark(mark);
        self.at += usize::from(found);
        found
    }

    pub fn expect(&mut self, mark: &str) -> Result<()> {
        if self.mark(mark) { Ok(()) } else { Err(self.expected(&format!("'{mark}'"))) }
    }

    pub fn is_word_at(&self, by: usize, word: &str) -> bool {
        let token = self.ahead(by);
        token.kind == TokenKind::Word && self.slice(token).eq_ignore_ascii_case(word)
    }

    pub fn is_word(&self, word: &str) -> bool {
        self.is_word_at(0, word)
    }

    /// Consumes the next token if it is this keyword.
    pub fn word(&mut self, word: &str) -> bool {
        let found = self.is_word(word);
        self.at += usize::from(found);
        found
    }

    pub fn expect_word(&mut self, word: &str) -> Result<()> {
        if self.word(word) { Ok(()) } else { Err(self.expected(word)) }
    }

    // Errors.

    pub fn place(&self, token: SparqlToken) -> TextPosition {
        TextPosition::new(self.text, token.start, token.end)
    }

    pub fn error_at(&self, token: SparqlToken, code: SparqlCode, message: impl Into<String>) -> SparqlError {
        // An overlong query is a reached limit, not a syntax error.
        let class = if code == SparqlCode::TooLong { SparqlErrorClass::Limit } else { SparqlErrorClass::Syntax };
        SparqlError::new(class, code, message).at(self.place(token))
    }

    /// Returns the error that the next token is not `what`.
    pub fn expected(&self, what: &str) -> SparqlError {
        let token = self.peek();
        match token.kind {
            TokenKind::Wrong(why) => self.error_at(token, SparqlCode::BadToken, why),
            TokenKind::End => {
                self.error_at(token, SparqlCode::Syntax, format!("expected {what}, found the end of the query"))
            }
            _ => {
                let found: String = self.slice(token).chars().take(40).collect();
                let error = self.error_at(token, SparqlCode::Syntax, format!("expected {what}, found '{found}'"));
                match self.advice() {
                    Some(advice) => error.help(advice),
                    None => error,
                }
            }
        }
    }

    /// Returns advice for common mistakes at the next token.
    fn advice(&self) -> Option<&'static str> {
        let before = self.at.checked_sub(1).and_then(|i| self.tokens.get(i)).map(|t| self.slice(*t));
        match (before, self.slice(self.peek())) {
            (Some("{"), "{" | "!") | (Some("{" | "!"), "!" | "}") if self.text.contains("{{!") => {
                Some("'{{!}}' is a wiki template for '|': the text was copied from a wiki page's source")
            }
            (_, "=") => Some("'=' compares; a value is bound with BIND(expression AS ?variable)"),
            _ if self.is_word("AS") => Some("put an expression with AS in parentheses: (expression AS ?variable)"),
            _ if self.is_word("UNION") => Some("put each operand of UNION in braces: { ... } UNION { ... }"),
            _ => None,
        }
    }

    /// Records the use of an extension; returns an error if the dialect does not have it.
    pub fn extend(&mut self, token: SparqlToken, extension: Extension, otherwise: &str) -> Result<()> {
        if extension.is_of(self.dialect) {
            self.extensions.push(extension);
            return Ok(());
        }
        let error = self.error_at(token, SparqlCode::Syntax, otherwise);
        Err(match [Dialect::Wdqs, Dialect::Qlever].into_iter().find(|dialect| extension.is_of(*dialect)) {
            Some(dialect) if self.dialect != Dialect::Standard => {
                error.help(format!("the dialect {} accepts it, not {}", dialect.name(), self.dialect.name()))
            }
            _ => error,
        })
    }

    /// Runs `rule` one nesting level deeper.
    pub fn nested<T>(&mut self, rule: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        if self.depth >= MAX_DEPTH {
            let message = format!("the query is nested more than {MAX_DEPTH} levels deep");
            return Err(self.error_at(self.peek(), SparqlCode::TooDeep, message));
        }
        self.check_variables()?;
        self.depth += 1;
        let result = rule(self);
        self.depth -= 1;
        result
    }

    /// Saves the state of the parser.
    pub fn mark_state(&self) -> ParserCheckpoint {
        ParserCheckpoint {
            position: self.peek().start,
            used_labels: self.used_labels.len(),
            labels: self.labels.clone(),
            extensions: self.extensions.len(),
        }
    }

    /// Restores a saved state.
    pub fn reset_state(&mut self, state: &ParserCheckpoint) {
        self.seek(state.position);
        self.used_labels.truncate(state.used_labels);
        self.labels.clone_from(&state.labels);
        self.extensions.truncate(state.extensions);
    }

    // Names.

    /// Rejects a query with too many variables.
    pub fn check_variables(&self) -> Result<()> {
        if self.variables.len() + self.helpers <= MAX_VARIABLES {
            return Ok(());
        }
        let message = format!("the query has more than {MAX_VARIABLES} variables, aggregates and blank nodes");
        Err(SparqlError::new(SparqlErrorClass::Unsupported, SparqlCode::TooLarge, message).at(self.place(self.peek())))
    }

    /// Adds a path to the number of steps; rejects too many.
    pub fn count_path(&mut self, path: &Path) -> Result<()> {
        self.count_steps(nodes(path))
    }

    /// Adds steps of paths to their number; rejects too many.
    pub fn count_steps(&mut self, steps: usize) -> Result<()> {
        self.steps = self.steps.saturating_add(steps);
        if self.steps <= MAX_STEPS {
            return Ok(());
        }
        let message = format!("the query's paths have more than {MAX_STEPS} steps, alternatives and repetitions");
        Err(SparqlError::new(SparqlErrorClass::Unsupported, SparqlCode::TooLarge, message).at(self.place(self.peek())))
    }

    /// Reads `<` after an operand as a comparison, even where the standard reads `<...>` as an IRI.
    pub fn split_iri(&mut self) -> Result<()> {
        let token = self.peek();
        if token.kind != TokenKind::Iri {
            return Ok(());
        }
        let otherwise = "after an operand this is an IRI; write a space after '<' to compare";
        self.extend(token, Extension::ComparedIri, otherwise)?;
        self.again += self.text.len() - token.start;
        if self.again > MAX_AGAIN {
            let error = self.error_at(token, SparqlCode::TooLong, "too many comparisons look like IRIs");
            return Err(error.help("write a space after '<'"));
        }
        self.comparisons.insert(token.start);
        self.tokens.truncate(self.at);
        self.tokens.extend(token::tokens_with_comparisons(self.text, token.start, &self.comparisons));
        Ok(())
    }

    /// Returns a new variable with a name that no query can write.
    pub fn helper(&mut self) -> Variable {
        self.helpers += 1;
        Helper::Unnamed(self.helpers).into()
    }

    /// Returns a new blank node with a label that no query can write.
    pub fn anonymous(&mut self) -> BlankNode {
        self.helpers += 1;
        BlankNode::new_unchecked(format!(".{}", self.helpers))
    }

    /// Closes the scope of blank node labels: a label must not occur in two groups.
    pub fn close_labels(&mut self) {
        self.used_labels.append(&mut self.labels);
    }

    pub fn variable(&mut self) -> Result<Variable> {
        self.maybe_variable().ok_or_else(|| self.expected("a variable"))
    }

    pub fn maybe_variable(&mut self) -> Option<Variable> {
        let token = self.peek();
        if token.kind != TokenKind::Variable {
            return None;
        }
        self.at += 1;
        let name = self.slice(token).get(1..).unwrap_or("");
        self.variables.insert(name);
        Some(Variable::new_unchecked(name))
    }

    pub fn is_iri(&self) -> bool {
        matches!(self.peek().kind, TokenKind::Iri | TokenKind::Prefixed { .. })
    }

    /// Parses an IRI in angle brackets.
    fn iri_token(&mut self) -> Result<Iri<String>> {
        let token = self.peek();
        if token.kind != TokenKind::Iri {
            return Err(self.expected("an IRI in angle brackets"));
        }
        self.at += 1;
        let inside = self.text.get(token.start + 1..token.end - 1).unwrap_or("");
        let inside = unescape_codepoints(inside).ok_or_else(|| {
            self.error_at(
                token,
                SparqlCode::BadIri,
                "in an IRI only \\uXXXX and \\UXXXXXXXX are escapes, with hexadecimal digits",
            )
        })?;
        let parsed = match &self.base {
            Some(base) => base.resolve(&inside),
            None if !inside.contains(':') => {
                let resolved = Iri::parse(DEFAULT_BASE.to_owned()).and_then(|base| base.resolve(&inside));
                if resolved.is_ok() && Extension::RelativeIri.is_of(self.dialect) {
                    self.extensions.push(Extension::RelativeIri);
                }
                resolved
            }
            None => Iri::parse(inside.clone()),
        };
        match parsed {
            Ok(iri) => Ok(iri),
            Err(why) => {
                let message = format!("{} is not a valid IRI: {why}", self.slice(token));
                self.extend(token, Extension::LooseIri, &message)?;
                Ok(Iri::parse_unchecked(inside))
            }
        }
    }

    /// Parses an IRI in angle brackets or a prefixed name.
    pub fn iri(&mut self) -> Result<NamedNode> {
        let token = self.peek();
        let TokenKind::Prefixed { colon } = token.kind else {
            return Ok(self.iri_token()?.into());
        };
        let name = self.slice(token);
        let prefix = name.get(..colon as usize).unwrap_or("");
        let local = name.get(colon as usize + 1..).unwrap_or("");
        let declared = self.prefixes.iter().find(|(known, _)| *known == prefix).map(|(_, iri)| iri.as_str());
        let Some(base) = declared.or_else(|| prefixes::known(prefix).filter(|_| self.dialect != Dialect::Standard))
        else {
            let error =
                self.error_at(token, SparqlCode::UnknownPrefix, format!("the prefix '{prefix}:' is not declared"));
            return Err(prefixes::advised(error, prefix, token.start, self.dialect));
        };
        let mut iri = String::with_capacity(base.len() + local.len());
        iri.push_str(base);
        iri.extend(local.split('\\'));
        let parsed = Iri::parse(iri.clone());
        self.at += 1;
        match parsed {
            Ok(iri) => Ok(iri.into()),
            Err(why) => {
                self.extend(token, Extension::LooseIri, &format!("{name} is not a valid IRI: {why}"))?;
                Ok(NamedNode::new_unchecked(iri))
            }
        }
    }
}

/// Replaces `\uXXXX` and `\UXXXXXXXX`. Returns `None` for any other escape.
fn unescape_codepoints(text: &str) -> Option<String> {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('\\') {
        out.push_str(before);
        let length = match after.as_bytes().first() {
            Some(b'u') => 4,
            Some(b'U') => 8,
            _ => return None,
        };
        let digits = after.get(1..1 + length)?;
        out.push(code_point(digits)?);
        rest = after.get(1 + length..)?;
    }
    out.push_str(rest);
    Some(out)
}

/// Returns the character with a number in hexadecimal digits, if it is one. Surrogates are not.
pub(super) fn code_point(digits: &str) -> Option<char> {
    let are_digits = digits.bytes().all(|digit| digit.is_ascii_hexdigit());
    are_digits.then(|| u32::from_str_radix(digits, 16).ok().and_then(char::from_u32)).flatten()
}
