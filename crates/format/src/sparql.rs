//! Formats SPARQL: one triple, filter or clause per line, groups indented, keywords in capitals, no spaces within
//! property paths, spaces around the operators of expressions.

use terrapin_budget as budget;
use terrapin_sparql_syntax::{Dialect, SparqlToken, TokenKind, read_tokens};

use crate::FormatError;
use crate::lines::{Gap, Lines};

/// The maximum length of a VALUES block that stays on one line, in characters without spaces.
const SHORT: usize = 72;
/// The maximum length of a group that stays on one line, in characters without spaces.
const SHORT_GROUP: usize = 64;
/// The keywords that begin a line, and two that continue it.
const CLAUSES: [&str; 26] = [
    "ASK",
    "BASE",
    "BIND",
    "CONSTRUCT",
    "DESCRIBE",
    "FILTER",
    "FROM",
    "GRAPH",
    "GROUP",
    "HAVING",
    "INCLUDE",
    "LATERAL",
    "LIMIT",
    "MINUS",
    "OFFSET",
    "OPTIONAL",
    "ORDER",
    "PREFIX",
    "SELECT",
    "SERVICE",
    "UNION",
    "VALUES",
    "VERSION",
    "WHERE",
    "WITH",
    "AS",
];
/// Other keywords that are written in capitals.
const KEYWORDS: [&str; 19] = [
    "ASC",
    "AVG",
    "BY",
    "COUNT",
    "DESC",
    "DISTINCT",
    "EXISTS",
    "GROUP_CONCAT",
    "IN",
    "MAX",
    "MIN",
    "NAMED",
    "NOT",
    "REDUCED",
    "SAMPLE",
    "SEPARATOR",
    "SILENT",
    "SUM",
    "UNDEF",
];
/// The keywords that have a space before their round brackets.
const SPACED: [&str; 9] = ["AS", "BY", "DISTINCT", "IN", "REDUCED", "SELECT", "VALUES", "WHERE", "DESCRIBE"];

/// Formats a query.
///
/// # Errors
/// Returns an error if the text cannot be split into tokens.
pub fn format(text: &str) -> Result<String, FormatError> {
    let text = text.trim_start_matches('\u{feff}');
    // As the parser reads them: `?x<#>` is a comparison and a comment, which no lexer can know.
    let tokens = read_tokens(text, Dialect::Auto);
    if let Some(wrong) = tokens.iter().find(|token| matches!(token.kind, TokenKind::Wrong(_))) {
        return Err(FormatError::Token(wrong.start));
    }
    let mut layout = Layout { text, tokens: &tokens, ..Layout::default() };
    for at in 0..tokens.len() {
        budget::checkpoint();
        layout.between(at);
        layout.token(at);
    }
    let out = layout.lines.finish();
    same_tokens(text, &tokens, &out)?;
    Ok(out)
}

/// Checks that the output has the tokens and comments of the input.
fn same_tokens(text: &str, before: &[SparqlToken], out: &str) -> Result<(), FormatError> {
    let after = read_tokens(out, Dialect::Auto);
    let (mut end, mut end_after) = (0, 0);
    for (old, new) in before.iter().zip(&after) {
        let (was, is) = (slice(text, old.start, old.end), slice(out, new.start, new.end));
        let same = if old.kind == TokenKind::Word { was.eq_ignore_ascii_case(is) } else { was == is };
        let remarks = comments(slice(text, end, old.start)).eq(comments(slice(out, end_after, new.start)));
        if !same || !remarks {
            return Err(FormatError::Changed(old.start));
        }
        (end, end_after) = (old.end, new.end);
    }
    if before.len() == after.len() { Ok(()) } else { Err(FormatError::Changed(text.len())) }
}

fn slice(text: &str, start: usize, end: usize) -> &str {
    text.get(start..end).unwrap_or_default()
}

/// Iterates over the comments in a text without tokens.
fn comments(text: &str) -> impl Iterator<Item = &str> {
    text.split(['\n', '\r']).filter_map(|line| Some(line.get(line.find('#')?..)?.trim_end()))
}

/// An open bracket.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Bracket {
    /// A group of patterns.
    Group {
        /// Whether the group's lines after a `;` are indented.
        hanging: bool,
        /// Whether the group is on one line.
        short: bool,
    },
    /// The rows of VALUES on one line.
    Row,
    /// The rows of VALUES over several lines.
    Rows,
    /// Round brackets in an expression.
    Expression,
    /// Round brackets of a path, a list or a row.
    List,
    /// Square brackets.
    Square,
}

#[derive(Default)]
struct Layout<'p, 't> {
    text: &'t str,
    tokens: &'p [SparqlToken],
    lines: Lines,
    open: Vec<Bracket>,
    /// Whether the top level's lines after a `;` are indented.
    hanging: bool,
    /// The keyword that began the current line, in capitals; empty for triples.
    clause: String,
}

impl<'t> Layout<'_, 't> {
    fn slice(&self, at: usize) -> &'t str {
        self.tokens.get(at).map_or("", |token| slice(self.text, token.start, token.end))
    }

    fn kind(&self, at: usize) -> TokenKind {
        self.tokens.get(at).map_or(TokenKind::End, |token| token.kind)
    }

    /// Returns a word in capitals; of another token, an empty text.
    fn word(&self, at: usize) -> String {
        if self.kind(at) == TokenKind::Word { self.slice(at).to_ascii_uppercase() } else { String::new() }
    }

    fn top(&self) -> Option<Bracket> {
        self.open.last().copied()
    }

    /// Returns whether the current position is not within a statement's brackets.
    fn is_in_group(&self) -> bool {
        matches!(self.top(), None | Some(Bracket::Group { .. }))
    }

    /// Lays out the comments and empty lines before a token.
    fn between(&mut self, at: usize) {
        let start = at.checked_sub(1).and_then(|last| self.tokens.get(last)).map_or(0, |token| token.end);
        let gap = slice(self.text, start, self.tokens[at].start);
        let mut breaks = 0;
        let mut first = at > 0;
        for line in gap.split('\n') {
            let comment = line.find('#').and_then(|begin| line.get(begin..));
            if breaks > 1 && self.top() != Some(Bracket::Row) {
                self.lines.empty_line();
            }
            match comment {
                Some(comment) if first => self.lines.comment_behind(comment),
                Some(comment) => self.lines.comment_line(comment),
                None => {}
            }
            breaks = if comment.is_some() { 1 } else { breaks + 1 };
            first = false;
        }
    }

    fn token(&mut self, at: usize) {
        let text = self.slice(at);
        match self.kind(at) {
            TokenKind::End => {}
            TokenKind::Mark("{") => self.open_group(at),
            TokenKind::Mark("}") => self.close_group(at),
            TokenKind::Mark("(") => {
                let bracket = self.round();
                self.add(at, text);
                self.open.push(bracket);
            }
            TokenKind::Mark("[") => {
                self.add(at, text);
                self.open.push(Bracket::Square);
            }
            TokenKind::Mark(")" | "]") => {
                self.open.pop();
                self.add(at, text);
                self.after_round(at);
            }
            TokenKind::Mark("." | ";") if self.is_in_group() => {
                self.lines.add(Gap::Space, text);
                self.end_statement(text == ";");
            }
            TokenKind::Word => self.word_token(at),
            TokenKind::Named => {
                self.add(at, text);
                if self.clause != "INCLUDE" || !matches!(self.kind(at + 1), TokenKind::Mark(".")) {
                    self.end_statement(false);
                }
            }
            _ => self.add(at, text),
        }
    }

    fn word_token(&mut self, at: usize) {
        let word = self.word(at);
        let is_clause = CLAUSES.contains(&word.as_str());
        let text = if is_clause || KEYWORDS.contains(&word.as_str()) { word.as_str() } else { self.slice(at) };
        if is_clause && self.is_in_group() {
            self.begin_clause(&word);
        }
        self.add(at, text);
    }

    /// Begins the line of a keyword.
    fn begin_clause(&mut self, word: &str) {
        match word {
            // After `}`, or after the projection.
            "UNION" | "AS" => return self.lines.restart(),
            "WHERE" if self.clause != "FROM" && !self.clause.is_empty() => self.lines.restart(),
            _ => self.end_statement(false),
        }
        word.clone_into(&mut self.clause);
    }

    /// Ends the current line; `hangs` if it ends with a semicolon.
    fn end_statement(&mut self, hangs: bool) {
        let hanging = match self.open.last_mut() {
            Some(Bracket::Group { short: true, .. }) => return,
            Some(Bracket::Group { hanging, .. }) => hanging,
            _ => &mut self.hanging,
        };
        self.lines.end();
        if *hanging && !hangs {
            self.lines.depth = self.lines.depth.saturating_sub(1);
        } else if !*hanging && hangs {
            self.lines.depth += 1;
        }
        *hanging = hangs;
        if !hangs {
            self.clause.clear();
        }
    }

    fn open_group(&mut self, at: usize) {
        self.lines.restart();
        let is_rows = self.clause == "VALUES" && self.is_in_group();
        if self.is_in_group() && !is_rows && self.clause.is_empty() && !self.lines.is_empty() {
            // A group after a triple without a dot.
            if !matches!(self.word(at.wrapping_sub(1)).as_str(), "UNION" | "WHERE") {
                self.end_statement(false);
            }
        }
        let gap = if self.slice(at.wrapping_sub(1)) == "(" { Gap::None } else { Gap::Space };
        self.lines.add(gap, "{");
        if is_rows {
            self.open_rows(at);
            return;
        }
        let short = self.is_short_group(at);
        self.open.push(Bracket::Group { hanging: false, short });
        self.clause.clear();
        if short || self.is_empty_group(at) {
            return;
        }
        self.lines.end();
        self.lines.no_empty_line();
        self.lines.depth += 1;
    }

    /// Returns whether the group at a token has no content and no comments.
    fn is_empty_group(&self, at: usize) -> bool {
        let (Some(open), Some(close)) = (self.tokens.get(at), self.tokens.get(at + 1)) else { return false };
        let is_empty = self.slice(at) == "{" && self.slice(at + 1) == "}";
        is_empty && !slice(self.text, open.end, close.start).contains('#')
    }

    /// Returns whether the group at a token, which is not the query's own, has one triple and no comments.
    fn is_short_group(&self, at: usize) -> bool {
        if !self.open.iter().any(|open| matches!(open, Bracket::Group { .. })) {
            return false;
        }
        let mut length = 0;
        for next in at + 1..self.tokens.len() {
            let (before, token) = (&self.tokens[next - 1], &self.tokens[next]);
            if slice(self.text, before.end, token.start).contains('#') {
                return false;
            }
            let is_last = self.slice(next + 1) == "}";
            match (self.slice(next), token.kind) {
                ("}", TokenKind::Mark(_)) => return next > at + 1,
                (_, TokenKind::Mark("{" | ";")) => return false,
                (_, TokenKind::Mark(".")) if !is_last => return false,
                (_, TokenKind::Word) if CLAUSES.contains(&self.word(next).as_str()) => return false,
                (text, _) => length += text.chars().count(),
            }
            if length > SHORT_GROUP {
                return false;
            }
        }
        false
    }

    fn open_rows(&mut self, at: usize) {
        let rest = self.tokens.get(at + 1..).unwrap_or_default();
        let count = rest.iter().take_while(|token| token.kind != TokenKind::Mark("}")).count();
        let end = self.tokens.get(at + 1 + count).map_or(self.text.len(), |token| token.start);
        let length: usize = rest.iter().take(count).map(|token| token.end - token.start).sum();
        let between = (at..=at + count).map(|at| {
            let next = self.tokens.get(at + 1).map_or(end, |next| next.start);
            slice(self.text, self.tokens[at].end, next)
        });
        if length <= SHORT && between.into_iter().all(|gap| !gap.contains('#')) {
            self.open.push(Bracket::Row);
            return;
        }
        self.lines.end();
        self.lines.no_empty_line();
        self.lines.depth += 1;
        self.open.push(Bracket::Rows);
    }

    fn close_group(&mut self, at: usize) {
        match self.top() {
            Some(Bracket::Row | Bracket::Group { short: true, .. }) => {
                self.open.pop();
                self.lines.add(Gap::Space, "}");
                return self.after_group(at);
            }
            Some(Bracket::Rows) => {
                self.lines.end();
                self.lines.depth = self.lines.depth.saturating_sub(1);
            }
            _ if self.is_empty_group(at.wrapping_sub(1)) => {
                self.open.pop();
                self.lines.add(Gap::None, "}");
                return self.after_group(at);
            }
            _ => {
                self.end_statement(false);
                self.lines.depth = self.lines.depth.saturating_sub(1);
            }
        }
        self.open.pop();
        self.lines.no_empty_line();
        self.lines.add(Gap::None, "}");
        self.after_group(at);
    }

    /// Ends the line after a group, unless the statement continues.
    fn after_group(&mut self, at: usize) {
        let continues = matches!(self.word(at + 1).as_str(), "UNION" | "AS" | "WHERE")
            || matches!(self.kind(at + 1), TokenKind::Mark(".") | TokenKind::Mark(")" | "&&" | "||" | ";" | ","));
        if self.is_in_group() && !continues {
            self.end_statement(false);
        } else {
            // `} WHERE {` after the template of CONSTRUCT stays on its line.
            self.clause = if self.word(at + 1) == "WHERE" { "CONSTRUCT".to_owned() } else { String::new() };
        }
    }

    /// Returns the kind of a round bracket that opens now.
    fn round(&self) -> Bracket {
        match self.top() {
            Some(Bracket::Expression) => Bracket::Expression,
            None | Some(Bracket::Group { .. }) if !matches!(self.clause.as_str(), "" | "VALUES") => Bracket::Expression,
            _ => Bracket::List,
        }
    }

    /// Ends the line after the brackets of FILTER and BIND, and after a row.
    fn after_round(&mut self, at: usize) {
        let next = self.kind(at + 1);
        let ends = matches!(self.clause.as_str(), "FILTER" | "BIND") && self.is_in_group();
        if ends && next != TokenKind::Mark(".") {
            self.end_statement(false);
        } else if self.top() == Some(Bracket::Rows) {
            self.lines.end();
        }
    }

    fn add(&mut self, at: usize, text: &str) {
        let gap = self.gap(at);
        self.lines.add(gap, text);
    }

    fn gap(&self, at: usize) -> Gap {
        let Some(last) = at.checked_sub(1) else { return Gap::None };
        let text = self.slice(at);
        match (self.slice(last), text) {
            ("[", "]") => Gap::None,
            ("[", _) | (_, "]") => Gap::Space,
            ("(", _) | (_, ")") | (_, "^^") | ("^^", _) => Gap::None,
            _ if matches!(self.kind(at), TokenKind::Tag) => Gap::None,
            _ if matches!(self.kind(last), TokenKind::PredicateTag) => Gap::None,
            (_, ",") => Gap::None,
            (",", _) => Gap::SpaceOrBreak,
            _ if self.is_in_expression(at) => self.expression_gap(last, at),
            _ => self.pattern_gap(last, at),
        }
    }

    /// Returns whether a token, which may be a bracket, is in an expression.
    fn is_in_expression(&self, at: usize) -> bool {
        match self.top() {
            Some(Bracket::Expression) => true,
            None | Some(Bracket::Group { .. }) => {
                !matches!(self.clause.as_str(), "" | "VALUES" | "SERVICE" | "GRAPH") && self.kind(at) != TokenKind::End
            }
            _ => false,
        }
    }

    fn expression_gap(&self, last: usize, at: usize) -> Gap {
        let (before, text) = (self.slice(last), self.slice(at));
        let after_operand = self.ends_operand(last);
        match (before, text) {
            ("!", _) => Gap::None,
            ("+" | "-", _) if last == 0 || !self.ends_operand(last - 1) => Gap::None,
            (_, "(") if matches!(self.kind(last), TokenKind::Word) => {
                if SPACED.contains(&self.word(last).as_str()) {
                    Gap::Space
                } else {
                    Gap::None
                }
            }
            (_, "(") if matches!(self.kind(last), TokenKind::Iri | TokenKind::Prefixed { .. }) => {
                // A call, except after the name of a graph.
                if self.clause == "FROM" { Gap::Space } else { Gap::None }
            }
            (_, ";") => Gap::None,
            ("=", _) | (_, "=") if self.is_separator(at) => Gap::None,
            (_, "&&" | "||") if after_operand => Gap::SpaceOrBreak,
            (_, "(") if self.is_in_group() => Gap::SpaceOrBreak,
            _ if self.is_in_group() && self.kind(at) == TokenKind::Variable => Gap::SpaceOrBreak,
            _ => Gap::Space,
        }
    }

    /// Returns whether a token is in `SEPARATOR=", "`.
    fn is_separator(&self, at: usize) -> bool {
        (1..=2).any(|back| at >= back && self.word(at - back) == "SEPARATOR")
    }

    /// Returns whether a token can end an operand.
    fn ends_operand(&self, at: usize) -> bool {
        match self.kind(at) {
            TokenKind::Mark(mark) => matches!(mark, ")" | "]" | "}"),
            TokenKind::Word => matches!(self.word(at).as_str(), "TRUE" | "FALSE"),
            TokenKind::Wrong(_) | TokenKind::End => false,
            _ => true,
        }
    }

    fn pattern_gap(&self, last: usize, at: usize) -> Gap {
        let (before, text) = (self.slice(last), self.slice(at));
        let is_list = matches!(self.top(), Some(Bracket::Row | Bracket::Rows));
        match (before, text) {
            ("/" | "|" | "!", _) | (_, "/" | "|") => Gap::None,
            // `^` and `!` begin a step of a path.
            ("^", _) => Gap::None,
            // The sign of a number, as the text has it: `wdt:P1 +5` and `wdt:P1+ 5` differ for readers.
            ("+" | "-", _) if self.is_sign(last) => Gap::None,
            (_, "+" | "-") if self.is_sign(at) => Gap::Space,
            (_, "*" | "+" | "?") if self.kind(last) != TokenKind::Word => Gap::None,
            (_, "(") if self.kind(last) == TokenKind::Word && !SPACED.contains(&self.word(last).as_str()) => Gap::Space,
            _ if is_list => Gap::SpaceOrBreak,
            _ => Gap::Space,
        }
    }

    /// Returns whether a plus or minus is the sign of the number after it.
    fn is_sign(&self, at: usize) -> bool {
        let (Some(sign), Some(next)) = (self.tokens.get(at), self.tokens.get(at + 1)) else { return false };
        let is_number = matches!(next.kind, TokenKind::Integer | TokenKind::Decimal | TokenKind::Double);
        is_number && sign.end == next.start
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Texts and their layouts. Every layout stays unchanged.
    const CASES: &[(&str, &str)] = &[
        ("select*{?s @en@rdfs:label ?l}", "SELECT * {\n  ?s @en@rdfs:label ?l\n}\n"),
        ("ask{filter(1<-'>')}", "ASK {\n  FILTER(1 < -'>')\n}\n"),
        ("select*where{?s?p?o}", "SELECT * WHERE {\n  ?s ?p ?o\n}\n"),
        (
            "PREFIX a: <http://a#> select distinct ?x (count(*)as?n) from <g> { ?x a:b/^a:c*|!a:d ?y,?z. } group by ?x having(?n>1) order by desc(?n) ?x limit 5 offset 2",
            "PREFIX a: <http://a#>\nSELECT DISTINCT ?x (COUNT(*) AS ?n)\nFROM <g> {\n  ?x a:b/^a:c*|!a:d ?y, ?z .\n}\nGROUP BY ?x\nHAVING(?n > 1)\nORDER BY DESC(?n) ?x\nLIMIT 5\nOFFSET 2\n",
        ),
        (
            "#defaultView:Map\nselect ?x { ?x wdt:P31 wd:Q5 ; # a human\n wdt:P1 -5 .\n\n\n optional{?x wdt:P2 \"a\"@en} filter(lang(?y)=\"en\"&&!(?a-1<-?b)) bind(?a+1 as ?c) }",
            "#defaultView:Map\nSELECT ?x {\n  ?x wdt:P31 wd:Q5 ; # a human\n    wdt:P1 -5 .\n\n  OPTIONAL { ?x wdt:P2 \"a\"@en }\n  FILTER(lang(?y) = \"en\" && !(?a - 1 < -?b))\n  BIND(?a + 1 AS ?c)\n}\n",
        ),
        (
            "ask{{?a ?b ?c}union{}values ?x{1 2}values(?y ?z){(1 2)(undef 3)}filter not exists{?a ?b 1}filter(exists{?d ?e ?f})}",
            "ASK {\n  { ?a ?b ?c } UNION {}\n  VALUES ?x { 1 2 }\n  VALUES (?y ?z) { (1 2) (UNDEF 3) }\n  FILTER NOT EXISTS { ?a ?b 1 }\n  FILTER(EXISTS { ?d ?e ?f })\n}\n",
        ),
        (
            "select ?i with{select ?i{?i wdt:P31 wd:Q5}limit 5}as %i where{include %i service wikibase:label{bd:serviceParam wikibase:language \"en\".}}",
            "SELECT ?i\nWITH {\n  SELECT ?i { ?i wdt:P31 wd:Q5 }\n  LIMIT 5\n} AS %i\nWHERE {\n  INCLUDE %i\n  SERVICE wikibase:label { bd:serviceParam wikibase:language \"en\" . }\n}\n",
        ),
        (
            "construct{?a ?b [a ?c;?d 1]}where{?a ?b(1 2),\"x\"^^xsd:string}",
            "CONSTRUCT {\n  ?a ?b [ a ?c ; ?d 1 ]\n} WHERE {\n  ?a ?b (1 2), \"x\"^^xsd:string\n}\n",
        ),
        (
            "select (group_concat(?a;separator=\", \")as ?b){ # all\n# more\n?a (p:P1|p:P2)/ps:P3 ?c }",
            "SELECT (GROUP_CONCAT(?a; SEPARATOR=\", \") AS ?b) { # all\n  # more\n  ?a (p:P1|p:P2)/ps:P3 ?c\n}\n",
        ),
    ];

    #[test]
    fn layouts() {
        for (text, expected) in CASES {
            let formatted = format(text).expect(text);
            assert_eq!(&formatted, expected, "{text}");
            assert_eq!(format(&formatted).expect(text), formatted, "{text}");
        }
    }

    /// The parser reads `<` after an operand as a comparison, and the rest of the line as a comment.
    #[test]
    fn a_comment_after_a_comparison_keeps_its_line() {
        let out = format("ASK { FILTER(1 <#>\n2) }").expect("a layout");
        assert!(out.contains("< #>\n") && terrapin_sparql_syntax::parse(&out, Dialect::Wdqs).is_ok(), "{out}");
    }

    #[test]
    fn what_is_no_token_is_an_error() {
        assert_eq!(format("SELECT \"x"), Err(FormatError::Token(7)));
    }
}
