//! Formats OverpassQL: one statement per line, blocks indented, no spaces within filters, spaces around the operators
//! of evaluators. The XML form has a layout of its own.

use terrapin_budget as budget;
use terrapin_overpass_syntax::pieces::{Piece, PieceKind, pieces};

use crate::lines::{Gap, Lines};
use crate::{FormatError, xml};

/// The maximum length of a union that stays on one line, in characters without spaces.
const SHORT: usize = 24;
/// Statements whose round brackets contain an evaluator.
const CONDITIONS: [&str; 2] = ["if", "for"];
/// Statements whose properties are evaluators.
const PROPERTIES: [&str; 2] = ["make", "convert"];

/// Formats a query in QL or in the XML form.
///
/// # Errors
/// Returns an error if the text cannot be split into tokens.
pub fn format(text: &str) -> Result<String, FormatError> {
    let text = text.trim_start_matches('\u{feff}');
    if xml::is_xml(text) {
        return xml::format(text);
    }
    let pieces = pieces(text);
    if let Some(open) = pieces.iter().find(|piece| piece.kind == PieceKind::Unterminated) {
        return Err(FormatError::Token(open.start));
    }
    let mut layout = Layout { pieces: &pieces, begins: true, ..Layout::default() };
    for at in 0..pieces.len() {
        budget::checkpoint();
        layout.piece(at);
    }
    let out = layout.lines.finish();
    same_tokens(&pieces, &out)?;
    Ok(out)
}

/// Checks that the output has the tokens and comments of the input.
fn same_tokens(before: &[Piece<'_>], out: &str) -> Result<(), FormatError> {
    let is_kept = |piece: &&Piece<'_>| piece.kind != PieceKind::Space;
    let after = pieces(out);
    let mut found = after.iter().filter(is_kept);
    for piece in before.iter().filter(is_kept) {
        let same = found.next().is_some_and(|next| next.text.trim_end() == piece.text.trim_end());
        if !same {
            return Err(FormatError::Changed(piece.start));
        }
    }
    found.next().map_or(Ok(()), |more| Err(FormatError::Changed(more.start)))
}

/// An open bracket.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Bracket {
    /// A bracket of a block or of a union over several lines.
    Block,
    /// A bracket of a union on one line.
    Short,
    /// A square bracket of a setting, a tag filter or a key.
    Square,
    /// A round bracket of a filter: `(around:5)`.
    Filter,
    /// A bracket of an evaluator; `ternaries` is the number of `?` without their `:`.
    Evaluator { ternaries: usize },
}

#[derive(Default)]
struct Layout<'p, 't> {
    pieces: &'p [Piece<'t>],
    lines: Lines,
    open: Vec<Bracket>,
    /// The last token, if it is in the current statement or opens its block.
    last: Option<Piece<'t>>,
    /// The first word of the current statement.
    head: &'t str,
    /// Whether the next token begins a statement.
    begins: bool,
    /// Whether white space or a comment came after the last token.
    spaced: bool,
    /// Whether a line break came after the last token or comment.
    broken: bool,
    /// Whether a comment in the current line came after the last token.
    commented: bool,
}

impl<'t> Layout<'_, 't> {
    fn piece(&mut self, at: usize) {
        let piece = self.pieces[at];
        match piece.kind {
            PieceKind::Space => {
                let lines = piece.text.matches('\n').count();
                if lines > 1 && self.top() != Some(Bracket::Short) {
                    self.lines.empty_line();
                }
                self.broken |= lines > 0;
                self.spaced = true;
            }
            PieceKind::LineComment | PieceKind::BlockComment => self.comment(&piece),
            _ => {
                self.token(at, piece);
                (self.last, self.spaced, self.broken, self.commented) = (Some(piece), false, false, false);
            }
        }
    }

    fn comment(&mut self, piece: &Piece<'_>) {
        let is_first = self.last.is_none() && self.lines.is_empty() && !self.spaced;
        if self.broken || is_first {
            self.lines.comment_line(piece.text);
        } else if piece.kind == PieceKind::LineComment || self.lines.is_empty() {
            self.lines.comment_behind(piece.text);
        } else {
            self.lines.add(Gap::Space, piece.text);
            self.commented = true;
        }
        (self.spaced, self.broken) = (true, false);
    }

    fn top(&self) -> Option<Bracket> {
        self.open.last().copied()
    }

    /// Returns whether the innermost bracket is part of a statement.
    fn is_inside(&self) -> bool {
        matches!(self.top(), Some(Bracket::Square | Bracket::Filter | Bracket::Evaluator { .. }))
    }

    fn token(&mut self, at: usize, piece: Piece<'t>) {
        match piece.text {
            "(" => self.round(at),
            "[" => {
                self.add("[");
                self.open.push(Bracket::Square);
                self.begins = false;
            }
            "{" if !self.is_inside() => {
                self.lines.restart();
                self.lines.add(Gap::Space, "{");
                self.open_block(Bracket::Block);
            }
            ")" | "]" | "}" => self.close(at, piece.text),
            ";" if !self.is_inside() => self.end_statement(),
            "-" if self.begins => self.lines.add(Gap::Space, "-"),
            "else" if self.begins => {
                self.lines.add(Gap::Space, "else");
                self.head = "if";
            }
            _ => {
                self.add(piece.text);
                self.after_other(at, piece);
            }
        }
    }

    /// Updates the state after a token that is no bracket and no semicolon.
    fn after_other(&mut self, at: usize, piece: Piece<'t>) {
        let is_definition = piece.kind == PieceKind::Shortcut && is_definition(piece.text);
        if self.begins && is_definition {
            let is_last_in_line = self.pieces.get(at + 1).is_none_or(|next| next.text.contains('\n'));
            if is_last_in_line {
                self.lines.end();
            }
            return;
        }
        if self.begins {
            self.head = if piece.kind == PieceKind::Word { piece.text } else { "" };
        }
        self.begins = false;
        let last = self.last.map_or("", |last| last.text);
        match (self.open.last_mut(), piece.text) {
            (Some(top @ Bracket::Filter), ":") if matches!(last, "if" | "delta") => {
                *top = Bracket::Evaluator { ternaries: 0 };
            }
            (Some(Bracket::Evaluator { ternaries }), "?") => *ternaries += 1,
            (Some(Bracket::Evaluator { ternaries }), ":") => *ternaries = ternaries.saturating_sub(1),
            _ => {}
        }
    }

    fn round(&mut self, at: usize) {
        if self.is_inside() {
            self.add("(");
            self.open.push(match self.top() {
                Some(Bracket::Evaluator { .. }) => Bracket::Evaluator { ternaries: 0 },
                _ => Bracket::Filter,
            });
        } else if let Some(is_short) = self.body(at).map(is_short) {
            let is_short = is_short && self.begins;
            if self.begins {
                self.lines.add(Gap::Space, "(")
            } else {
                self.add("(")
            }
            self.open_block(if is_short { Bracket::Short } else { Bracket::Block });
        } else {
            let is_condition = CONDITIONS.contains(&self.head);
            match self.last {
                Some(last) if is_condition && last.text == self.head => self.lines.add(Gap::Space, "("),
                _ => self.add("("),
            }
            let is_evaluator = is_condition || PROPERTIES.contains(&self.head);
            self.open.push(if is_evaluator { Bracket::Evaluator { ternaries: 0 } } else { Bracket::Filter });
            self.begins = false;
        }
    }

    /// Returns the pieces in the round brackets at `at`, if they contain statements.
    fn body(&self, at: usize) -> Option<&[Piece<'t>]> {
        let (mut depth, mut square, mut has_statement) = (0, 0, false);
        for (length, piece) in self.pieces[at..].iter().enumerate() {
            match piece.text {
                "(" => depth += 1,
                ")" => depth -= 1,
                "[" => square += 1,
                "]" => square -= 1,
                ";" if square == 0 => has_statement = true,
                _ => {}
            }
            if depth == 0 {
                return has_statement.then(|| &self.pieces[at + 1..at + length]);
            }
        }
        None
    }

    fn open_block(&mut self, bracket: Bracket) {
        self.open.push(bracket);
        if bracket == Bracket::Block {
            self.lines.end();
            self.lines.depth += 1;
        }
        self.lines.no_empty_line();
        (self.begins, self.head) = (true, "");
    }

    fn close(&mut self, at: usize, text: &'t str) {
        match self.open.pop() {
            Some(Bracket::Block) => {
                self.lines.end();
                self.lines.no_empty_line();
                self.lines.depth = self.lines.depth.saturating_sub(1);
                self.lines.add(Gap::None, text);
                self.head = "";
                self.begins = text == "}";
                if text == "}" && !matches!(self.next(at), Some(";" | "else" | "->")) {
                    self.lines.end();
                }
            }
            Some(Bracket::Short) => {
                self.lines.add(Gap::None, text);
                (self.begins, self.head) = (false, "");
            }
            _ => self.add(text),
        }
    }

    /// Returns the next token if no comment is before it.
    fn next(&self, at: usize) -> Option<&'t str> {
        let next = self.pieces[at + 1..].iter().find(|piece| piece.kind != PieceKind::Space)?;
        next.is_token().then_some(next.text)
    }

    fn end_statement(&mut self) {
        self.lines.add(Gap::None, ";");
        (self.begins, self.head) = (true, "");
        if self.top() != Some(Bracket::Short) {
            self.lines.end();
        }
    }

    fn add(&mut self, text: &str) {
        let gap = self.gap(text);
        self.lines.add(gap, text);
    }

    fn gap(&self, text: &str) -> Gap {
        let Some(last) = self.last else { return Gap::None };
        if self.commented {
            return Gap::Space;
        }
        if self.begins && text != "->" {
            // Only a union on one line and the minus of a difference have something before the statement.
            let after_definition = last.kind == PieceKind::Shortcut;
            return if last.text == "(" || after_definition && !self.spaced { Gap::None } else { Gap::Space };
        }
        let wanted = self.wanted_gap(&last, text);
        if wanted == Gap::None && (merges(last.text, text)) { Gap::Space } else { wanted }
    }

    /// Returns the gap before a token within a statement.
    fn wanted_gap(&self, last: &Piece<'_>, text: &str) -> Gap {
        let as_written = if self.spaced { Gap::SpaceOrBreak } else { Gap::None };
        let top = self.top();
        let evaluates =
            matches!(top, Some(Bracket::Evaluator { .. })) || !self.is_inside() && PROPERTIES.contains(&self.head);
        match (last.text, text) {
            ("(" | "[" | "." | "->" | "::" | "!", _) | (_, ";" | "," | ")" | "]" | "->") => Gap::None,
            (",", _) if PROPERTIES.contains(&self.head) && !self.is_inside() => Gap::SpaceOrBreak,
            (",", _) => as_written,
            (_, "(" | "[") if !self.is_inside() && !is_operator(last.text) => {
                if matches!(last.text, ")" | "]") {
                    Gap::Break
                } else {
                    Gap::None
                }
            }
            (_, "(" | "[" | ".") if !is_operator(last.text) => Gap::None,
            (";", _) => as_written,
            _ if last.kind == PieceKind::Shortcut || text.starts_with("{{") => as_written,
            _ if evaluates => self.evaluator_gap(last, text),
            // `.set > ->.set`.
            (_, ">" | ">>" | "<" | "<<") if !self.is_inside() => Gap::Space,
            ("=" | "~" | ":", _) | (_, "=" | "!=" | "~" | "!" | ":" | "." | "<" | ">" | "<<" | ">>") => Gap::None,
            ("!=", _) => Gap::None,
            _ if self.is_inside() => as_written,
            _ if self.spaced => Gap::Space,
            _ => Gap::None,
        }
    }

    /// Returns the gap before a token of an evaluator.
    fn evaluator_gap(&self, last: &Piece<'_>, text: &str) -> Gap {
        let as_written = if self.spaced { Gap::SpaceOrBreak } else { Gap::None };
        let is_property = !self.is_inside();
        let ternary = matches!(self.top(), Some(Bracket::Evaluator { ternaries }) if ternaries > 0);
        match (last.text, text) {
            ("=", _) | (_, "=") if is_property => Gap::None,
            ("?", _) | (_, "?") => Gap::Space,
            (":", _) if self.tokens_before().nth(1).is_some_and(|name| matches!(name, "if" | "delta")) => as_written,
            (":", _) => Gap::Space,
            (_, ":") if ternary || is_property => Gap::Space,
            (_, ":" | ".") => Gap::None,
            (_, "&&" | "||") if !is_operator(last.text) => Gap::SpaceOrBreak,
            (_, sign) if is_operator(sign) && !is_operator(last.text) => Gap::Space,
            (sign, _) if is_operator(sign) => self.after_operator(),
            _ => as_written,
        }
    }

    /// Returns the gap after an operator: none if it is a sign.
    fn after_operator(&self) -> Gap {
        let mut tokens = self.tokens_before();
        let operator = tokens.next();
        match (operator, tokens.next()) {
            (Some("-"), Some(before)) if is_operator(before) || matches!(before, "(" | "," | "=" | ":" | "?") => {
                Gap::None
            }
            _ => Gap::Space,
        }
    }

    /// Iterates over the tokens before the current one, from the last.
    fn tokens_before(&self) -> impl Iterator<Item = &'t str> {
        let end = self.last.map_or(0, |last| last.start + last.text.len());
        let tokens = self.pieces.partition_point(|piece| piece.start < end);
        self.pieces[..tokens].iter().rev().filter(|piece| piece.is_token()).map(|piece| piece.text)
    }
}

fn is_operator(text: &str) -> bool {
    matches!(text, "&&" | "||" | "==" | "!=" | "<=" | ">=" | "<" | ">" | "+" | "-" | "*" | "/")
}

/// Returns whether a shortcut is replaced by nothing: a definition, or instructions for a map.
fn is_definition(shortcut: &str) -> bool {
    let inner = shortcut.trim_start_matches('{').trim_start();
    let end = inner.find(|c: char| !c.is_alphanumeric() && !matches!(c, '_' | '-')).unwrap_or(inner.len());
    let (name, rest) = inner.split_at(end);
    rest.trim_start().starts_with('=') || matches!(name, "style" | "data")
}

/// Returns whether a union is short enough for one line: recursions and sets, no queries.
fn is_short(body: &[Piece<'_>]) -> bool {
    let length: usize = body.iter().filter(|piece| piece.is_token()).map(|piece| piece.text.len()).sum();
    let plain = |piece: &Piece<'_>| {
        piece.kind == PieceKind::Space
            || piece.kind == PieceKind::Word
            || matches!(piece.text, "." | ";" | ">" | ">>" | "<" | "<<" | "->" | "-")
    };
    length <= SHORT
        && body.iter().all(plain)
        && body.iter().rfind(|piece| piece.is_token()).is_some_and(|l| l.text == ";")
        && !body.iter().any(|piece| matches!(piece.text, "node" | "way" | "rel" | "relation" | "nwr" | "area"))
}

/// Returns whether two tokens without a space between them are read as other tokens.
fn merges(last: &str, next: &str) -> bool {
    if last.ends_with(['"', '\'']) {
        return false;
    }
    let joined = [last, next].concat();
    pieces(&joined).first().is_none_or(|first| first.text.len() != last.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Texts and their layouts. Every layout stays unchanged.
    const CASES: &[(&str, &str)] = &[
        ("node[amenity=cafe];out;", "node[amenity=cafe];\nout;\n"),
        ("[out:json] [timeout:25]\n;node ( 1 ) ;out  body ;", "[out:json][timeout:25];\nnode(1);\nout body;\n"),
        ("(node(1);way[a](area.b););out;", "(\n  node(1);\n  way[a](area.b);\n);\nout;\n"),
        ("(._;>;);out;", "(._; >;);\nout;\n"),
        ("( node(1) ; - node.b ; )->.c;", "(\n  node(1);\n  - node.b;\n)->.c;\n"),
        ("(node;-.b;);", "(\n  node;\n  -.b;\n);\n"),
        ("foreach.a->.b{out;(node(1););}out;", "foreach.a->.b {\n  out;\n  (\n    node(1);\n  );\n}\nout;\n"),
        ("foreach->.b(out;);", "foreach->.b(\n  out;\n);\n"),
        (
            "if(count(nodes)>0&&!is_closed()){out;}else{node(1);};",
            "if (count(nodes) > 0 && !is_closed()) {\n  out;\n} else {\n  node(1);\n};\n",
        ),
        ("node(if:t[\"a\"]==-1+2||t[b]<3?1:2);", "node(if:t[\"a\"] == -1 + 2 || t[b] < 3 ? 1 : 2);\n"),
        ("make x a=1+2,\"b c\"=t[d],::id=id();", "make x a=1 + 2, \"b c\"=t[d], ::id=id();\n"),
        ("way(w:1,-1)(way_cnt:2-)[~\"k\"~\"v\",i][!a][b!=c];", "way(w:1,-1)(way_cnt:2-)[~\"k\"~\"v\",i][!a][b!=c];\n"),
        (".a>->.b;.a  out;node.a.b->.c;", ".a >->.b;\n.a out;\nnode.a.b->.c;\n"),
        ("// one\n\n\n/* two */ node;// three\nout;", "// one\n\n/* two */\nnode; // three\nout;\n"),
        ("node // why\n [a] /* so */ (1);", "node // why\n  [a] /* so */ (1);\n"),
        (
            "{{a=b}}\n{{bbox=area:X}}\n{{geocodeArea:Y}}->.z;node({{bbox}})[x={{a}}];",
            "{{a=b}}\n{{bbox=area:X}}\n{{geocodeArea:Y}}->.z;\nnode({{bbox}})[x={{a}}];\n",
        ),
        ("[out:csv(::id , name;true; \"  \")];", "[out:csv(::id, name;true; \"  \")];\n"),
        ("retro(\"2020-01-01T00:00:00Z\"){node;out;}", "retro(\"2020-01-01T00:00:00Z\") {\n  node;\n  out;\n}\n"),
    ];

    #[test]
    fn layouts() {
        for (text, expected) in CASES {
            let formatted = format(text).expect(text);
            assert_eq!(&formatted, expected, "{text}");
            assert_eq!(format(&formatted).expect(text), formatted, "{text}");
        }
    }

    #[test]
    fn long_statements_are_wrapped_before_filters() {
        let filter = "[\"addr:housenumber\"~\"^[0-9]+$\"]";
        let formatted = format(&format!("node{};", filter.repeat(4))).expect("tokens");
        assert_eq!(formatted, format!("node{f}{f}{f}\n  {f};\n", f = filter));
        assert_eq!(format(&formatted).expect("tokens"), formatted);
    }

    #[test]
    fn what_is_no_token_is_an_error() {
        assert_eq!(format("node[a=\"b];"), Err(FormatError::Token(7)));
        assert_eq!(format("node; /* x"), Err(FormatError::Token(6)));
        assert_eq!(format("<osm-script />").as_deref(), Ok("<osm-script/>\n"));
    }
}
