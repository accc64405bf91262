//! Guesses the intended text from the text around an error. Runs only if a query was rejected, keeps the reference's
//! error texts, and uses only the query's text.

use terrapin_diagnostic::TextEdit;

use super::diagnostics::{Clue, CluedDiagnostic, replacement};
use super::token::{QlToken, QlTokens};
use super::{SourceSpan, suggest};
use crate::code::{OverpassCode, OverpassDiagnostic};

/// Adds hints to the first three errors, as far as they have none. Later errors are mostly consequences of these.
pub(super) fn add(text: &str, found: &mut [CluedDiagnostic]) {
    let whole = suggest::language(text);
    for (i, CluedDiagnostic { diagnostic, clue }) in found.iter_mut().take(3).enumerate() {
        if i == 0
            && let Some(whole) = &whole
        {
            (diagnostic.help, diagnostic.edit) = (Some(whole.clone()), None);
        }
        // For an unknown statement, the hint replaces the nearest known word, which is the weaker guess.
        let is_open = diagnostic.help.is_none() || diagnostic.code == OverpassCode::UnknownStatement;
        if is_open
            && let Some(place) = ErrorContext::of(diagnostic, text)
            && let Some(Hint { text, edit }) = place.hint(diagnostic.code, *clue)
        {
            (diagnostic.help, diagnostic.edit) = (Some(text), edit.map(Box::new));
        }
    }
}

/// A hint, with its edit if it proposes a single one.
struct Hint {
    text: String,
    edit: Option<TextEdit>,
}

impl Hint {
    /// Creates the hint that `meant` was meant in place of a word.
    fn of_word(word: SourceSpan, meant: &str) -> Hint {
        Hint { text: suggest::did_you_mean(meant), edit: Some(replacement(word, meant)) }
    }
}

impl From<String> for Hint {
    fn from(text: String) -> Hint {
        Hint { text, edit: None }
    }
}

impl From<&str> for Hint {
    fn from(text: &str) -> Hint {
        text.to_owned().into()
    }
}

/// The text at an error, and the text around it.
struct ErrorContext<'a> {
    text: &'a str,
    at: usize,
    found: &'a str,
    before: &'a str,
    after: &'a str,
}

impl<'a> ErrorContext<'a> {
    fn of(diagnostic: &OverpassDiagnostic, text: &'a str) -> Option<ErrorContext<'a>> {
        let span = diagnostic.span?;
        let found = text.get(span.start..span.end.min(text.len()))?;
        let (before, after) = (text.get(..span.start)?.trim_end(), text.get(span.start + found.len()..)?.trim_start());
        Some(ErrorContext { text, at: span.start, found, before, after })
    }

    fn hint(&self, code: OverpassCode, clue: Option<Clue>) -> Option<Hint> {
        match code {
            OverpassCode::UnexpectedToken => {
                let written = self.sign().map(Hint::from).or_else(|| self.quotation().map(Hint::from));
                written.or_else(|| self.missing(clue))
            }
            OverpassCode::UnknownStatement => self.statement().map(Hint::from),
            OverpassCode::UnexpectedEnd => self.open_bracket().map(Hint::from),
            OverpassCode::MisplacedElement if clue == Some(Clue::Out) => {
                let open = self.open_bracket().map(Hint::from);
                open.or(Some("\"out\" cannot stand in a union: (...; ...;); out;".into()))
            }
            OverpassCode::OperatorExpected => self.operator().map(Hint::from),
            OverpassCode::WrongOperator if self.found == "=" => {
                Some("\"==\" compares; \"=\" is for make and convert".into())
            }
            OverpassCode::UnquotedWord => {
                Some(format!("a key or a text needs quotation marks: \"{}\"", short(self.found)).into())
                    .filter(|_| self.found.chars().all(char::is_alphanumeric))
            }
            OverpassCode::BadTimestamp => self.timestamp(),
            OverpassCode::BadValue => self.value(clue).map(Hint::from),
            OverpassCode::UnknownParameter => self.parameter(),
            OverpassCode::UnknownFilter if self.found.starts_with("in.") || self.found == "in" => {
                Some("what lies in areas is (area) or (area.set)".into())
            }
            OverpassCode::WrongArgument if self.found == "tags" => Some("tags are counted by count_tags()".into()),
            OverpassCode::UnknownFilter if self.found.contains('=') || self.after.starts_with('=') => {
                Some("tags stand in square brackets: [name=\"Malta\"]".into())
            }
            code => fixed(code).map(Hint::from),
        }
    }

    /// Returns whether the error is within the square brackets of a tag filter.
    fn in_tag(&self) -> bool {
        let line = self.before.rfind([';', '(', ')', ']']).map_or(self.before, |at| &self.before[at..]);
        line.contains('[')
    }

    /// Returns a hint for operators of other languages.
    fn sign(&self) -> Option<&'static str> {
        let tag = self.in_tag();
        Some(match self.found {
            "==" if tag => "a tag is compared with one \"=\": [key=value]; \"==\" is for (if:...)",
            "~" if self.before.ends_with('=') => "\"=~\" is written \"~\": [key~\"pattern\"]",
            "|" | "||" | "," if tag => "several values are a regular expression: [amenity~\"^(cafe|bar)$\"]",
            "and" | "AND" | "&&" | "&" => "filters one after another must all hold: node[a=b][c=d]",
            "or" | "OR" => "one or the other is a union: (node[a=b]; node[c=d];); out;",
            "," => "statements end with \";\", not with \",\"",
            ":" | "-" | "." | "/" | "@" if tag => {
                "a key or value with other signs than letters needs quotation marks: [\"addr:street\"=\"x\"]"
            }
            "≠" => "\"not equal\" is written \"!=\"",
            "=" if self.before.ends_with(|c: char| c.is_ascii_alphabetic()) && self.at < 200 && tag => {
                "a setting has a colon: [timeout:25]"
            }
            "->" => "a set in a filter has only a dot: (area.a)",
            "{" => "a query has no block; one for each element is: foreach { ... }",
            _ if self.before.ends_with("->") => "a set that is filled has a dot, too: ->.name",
            _ if self.before.ends_with("foreach") => "foreach goes through a set: node[a=b]; foreach { ... }",
            _ => return None,
        })
    }

    /// Returns a hint for unterminated strings, words that should be strings, and typographic quotation marks.
    fn quotation(&self) -> Option<String> {
        if let Some(sign) = self.found.chars().next().filter(|c| "“”„‟«»‘’‚`´".contains(*c)) {
            return Some(format!("{sign} is no quotation mark of the language; use \" or '"));
        }
        if let Some(string) = self.open_string() {
            return Some(string);
        }
        let is_word = |word: &str| !word.is_empty() && word.chars().all(|c| c.is_alphanumeric() || c == '_');
        let before = self.before.rsplit(|c: char| !c.is_alphanumeric() && c != '_').next().unwrap_or_default();
        (self.in_tag() && is_word(self.found) && is_word(before))
            .then(|| format!("a text with spaces needs quotation marks: \"{} {}\"", short(before), short(self.found)))
    }

    /// Returns a hint for a string that is not closed at the end of the text.
    fn open_string(&self) -> Option<String> {
        let quote = self.found.chars().next().filter(|c| matches!(c, '"' | '\''))?;
        let ends = self.at + self.found.len() >= self.text.len();
        let closed = self.found.len() > 1 && self.found.ends_with(quote);
        (ends && !closed).then(|| format!("the text that begins with {quote} here is never closed"))
    }

    /// Returns a hint for a missing token.
    fn missing(&self, clue: Option<Clue>) -> Option<Hint> {
        let Some(Clue::Sign(sign @ (";" | ")" | "]" | "}"))) = clue else { return None };
        if self.after.is_empty() && self.at + self.found.len() >= self.text.trim_end().len() {
            return Some(format!("the query ends without a \"{sign}\"").into());
        }
        let text = format!("a \"{sign}\" is missing before \"{}\"", short(self.found));
        let edit = TextEdit { start: self.at, end: self.at, text: sign.to_owned() };
        Some(Hint { text, edit: Some(edit) })
    }

    /// Returns a hint for a bracket that is still open at the end of the text.
    fn open_bracket(&self) -> Option<String> {
        let mut open: Vec<QlToken<'_>> = Vec::new();
        let mut tokens = QlTokens::new(self.text);
        while tokens.good() {
            let token = tokens.current();
            match token.text {
                "(" | "[" | "{" => open.push(token),
                ")" | "]" | "}" => {
                    open.pop();
                }
                _ => {}
            }
            tokens.advance();
        }
        let token = open.last()?;
        let before = self.text.get(..token.start)?;
        let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
        let line = before.matches('\n').count() + 1;
        Some(format!("the \"{}\" in line {line}, column {column} is never closed", token.text))
    }

    /// Returns a hint for a word that begins no statement.
    fn statement(&self) -> Option<&'static str> {
        Some(match self.found {
            "[" => "all settings stand together before the first semicolon: [out:json][timeout:25];",
            "print" | "return" | "show" | "output" | "echo" => "an answer is written by \"out\"",
            "import" | "def" | "from" | "while" | "let" | "var" | "const" => {
                "this looks like a programming language; a query is only: node[amenity=cafe]; out;"
            }
            "elif" | "elseif" => "write: else { if (...) { ... } }",
            "-" => "a difference is of two statements: (node[a]; - node[b];);",
            "}" | ")" | "]" => "this bracket closes nothing",
            "#" => "a comment begins with //",
            "," => "statements end with \";\", not with \",\"",
            "where" | "WHERE" | "limit" | "LIMIT" => {
                "filters stand behind the type: node[a=b]; a limit behind out: out 10;"
            }
            _ if self.after.starts_with("= ") => "a set is filled with \"->\": node[a=b]->.name;",
            _ => return None,
        })
    }

    fn operator(&self) -> Option<&'static str> {
        Some(match self.found {
            "and" | "AND" => "\"and\" is written \"&&\"",
            "or" | "OR" => "\"or\" is written \"||\"",
            "not" | "NOT" => "\"not\" is written \"!\"",
            "m" | "km" | "mi" | "meters" | "metres" => "distances are numbers of metres: (around:1000)",
            _ => return None,
        })
    }

    fn timestamp(&self) -> Option<Hint> {
        let is_date = |part: &str| {
            part.len() == 10
                && part.bytes().enumerate().all(|(i, b)| if i == 4 || i == 7 { b == b'-' } else { b.is_ascii_digit() })
        };
        let quoted = |quote: char| {
            let mut start = self.at;
            self.found.split(quote).find_map(move |part| {
                let at = start;
                start += part.len() + quote.len_utf8();
                is_date(part).then_some((at, part))
            })
        };
        let Some((at, date)) = quoted('"').or_else(|| quoted('\'')) else {
            return Some("a moment is written so: \"2020-01-31T12:00:00Z\"".into());
        };
        Some(Hint::of_word(SourceSpan { start: at, end: at + date.len() }, &format!("{date}T00:00:00Z")))
    }

    fn value(&self, clue: Option<Clue>) -> Option<&'static str> {
        Some(match clue? {
            Clue::Box => "a box is (south,west,north,east): latitudes from -90 to 90, longitudes from -180 to 180",
            Clue::Area => "here is the number of an area; by name: area[name=\"Malta\"]->.a; node(area.a);",
            Clue::Radius => "the radius is a number of metres, not below 0: (around:100,35.9,14.5)",
            Clue::Sign(_) | Clue::Out => return None,
        })
    }

    fn parameter(&self) -> Option<Hint> {
        const KNOWN: [&str; 13] =
            ["ids", "skel", "body", "tags", "meta", "noids", "geom", "center", "bb", "count", "asc", "qt", "ids_only"];
        let word = self.found.to_ascii_lowercase();
        if word == "json" || word == "xml" || word == "csv" {
            return Some(format!("the format is a setting at the beginning: [out:{word}];").into());
        }
        let longer =
            KNOWN.iter().find(|known| word.len() > 2 && (word.starts_with(**known) || known.starts_with(&word)));
        let queried = ["node", "way", "rel", "relation", "nwr", "area", "["].contains(&word.as_str());
        if queried {
            return Some("out writes what was found before it: node[a=b]; out;".into());
        }
        let meant = longer.copied().or_else(|| suggest::nearest(&word, KNOWN.into_iter()))?;
        Some(Hint::of_word(SourceSpan { start: self.at, end: self.at + self.found.len() }, meant))
    }
}

/// Returns a hint that does not depend on the text.
fn fixed(code: OverpassCode) -> Option<&'static str> {
    Some(match code {
        OverpassCode::EmptyQuery => {
            "what is asked for must be narrowed down: node[amenity=cafe]; node(south,west,north,east);"
        }
        OverpassCode::WrongType => {
            "the letters say from what: node(w) and node(r) are in ways and relations, way(bn) and rel(bn) have nodes, rel(bw) ways, rel(br) relations"
        }
        OverpassCode::IncompleteBox => {
            "a box is (south,west,north,east); several ids are (id:1,2,3); near a point is (around:metres,lat,lon)"
        }
        OverpassCode::OddCoordinates => "after the metres come pairs of latitude and longitude: (around:100,35.9,14.5)",
        OverpassCode::UnknownOutputFormat => "there are json, xml, csv, custom and popup; tools make GeoJSON from json",
        OverpassCode::KeyPatternAlone => "for any value: [~\"pattern\"~\".\"]",
        _ => return None,
    })
}

/// Returns the beginning of a text, to be quoted in a hint.
fn short(text: &str) -> &str {
    let end = text.char_indices().nth(30).map_or(text.len(), |(at, _)| at);
    &text[..end]
}

#[cfg(test)]
mod tests {
    use crate::parse;

    /// Each place of the parser that suggests a word or a sign: a mistake, and the same text with the edit.
    const EDITED: &[(&str, &str)] = &[
        ("nod[a=b];out;", "node[a=b];out;"),
        ("node[a=b]; realtion[a=b];out;", "node[a=b]; relation[a=b];out;"),
        ("node[a=b](1,2,3,4)out;", "node[a=b](1,2,3,4);out;"),
        ("node[a=b(1,2,3,4);out;", "node[a=b](1,2,3,4);out;"),
        ("node[a=b](1,2,3,4;out;", "node[a=b](1,2,3,4);out;"),
        ("[out:jsn];node[a=b];out;", "[out:json];node[a=b];out;"),
        ("[out:\"jsn\"];node[a=b];out;", "[out:json];node[a=b];out;"),
        ("node[a=b]; out bdoy;", "node[a=b]; out body;"),
        ("node[a=b]; out centre;", "node[a=b]; out center;"),
        ("node(arround:10,1,2)[a=b];out;", "node(around:10,1,2)[a=b];out;"),
        ("node[a=b](newr:\"2020-01-01T00:00:00Z\");out;", "node[a=b](newer:\"2020-01-01T00:00:00Z\");out;"),
        ("node[a=b](newer:\"2020-01-01\");out;", "node[a=b](newer:\"2020-01-01T00:00:00Z\");out;"),
        ("node[a=b](if:lenght()>1);out;", "node[a=b](if:length()>1);out;"),
        ("node[a=b];make x n=count(node);out;", "node[a=b];make x n=count(nodes);out;"),
        ("node[a=b];convert x ::geo=geom();out;", "node[a=b];convert x ::geom=geom();out;"),
    ];

    #[test]
    fn a_suggested_word_is_also_an_edit_that_mends_the_query() {
        for (mistake, meant) in EDITED {
            let failure = parse(mistake).expect_err(mistake);
            let first = &failure.diagnostics[0];
            let edit = first.edit.as_ref().unwrap_or_else(|| panic!("{mistake}: {first:?}"));
            assert_eq!(edit.apply(mistake).as_deref(), Some(*meant));
            parse(meant).unwrap_or_else(|failure| panic!("{meant}: {failure}"));
            assert!(first.help.as_ref().is_some_and(|help| help.contains(&edit.text)), "{first:?}");
        }
    }

    /// Advice without a word to put in, and words of the XML form, whose positions are those of elements.
    #[test]
    fn other_advice_is_no_edit() {
        let mistakes = [
            "node[a=b](if:len()>1);out;",
            "node[a=b];;out;",
            "import x;",
            "<osm-script><qury/></osm-script>",
            "<osm-script><query type=\"node\"><has-kv key=\"a\"/></query></osm-script>",
        ];
        for mistake in mistakes {
            let failure = parse(mistake).expect_err(mistake);
            assert!(failure.diagnostics.iter().any(|error| error.help.is_some()), "{mistake}: {failure:?}");
            assert!(failure.diagnostics[0].edit.is_none(), "{mistake}: {failure:?}");
        }
    }
}
