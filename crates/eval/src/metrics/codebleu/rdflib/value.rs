//! The values of the parse tree, and their representation in Python.

use std::fmt::Write;

/// A token, or the result of a parse action.
#[derive(Debug, Clone, PartialEq)]
pub enum AstValue {
    /// A piece of the text.
    Text(String),
    /// An RDF term with its class name.
    Term {
        /// Its representation in Python.
        shown: String,
        /// The bare text.
        text: String,
    },
    /// A component with named parts.
    Part(&'static str, Vec<(&'static str, AstValue)>),
    /// A list.
    List(Vec<AstValue>),
    /// A group of tokens.
    Tokens(Vec<AstValue>),
    /// A named part before it is added to its component, and whether it adds to a list.
    Named(&'static str, bool, Box<AstValue>),
}

impl AstValue {
    /// Creates a term of this class.
    pub fn term(class: &str, text: &str) -> AstValue {
        AstValue::Term { shown: format!("rdflib.term.{class}({})", quoted(text)), text: text.to_owned() }
    }

    /// Creates an IRI.
    pub fn iri(text: &str) -> AstValue {
        AstValue::term("URIRef", text)
    }

    /// Creates a literal with a datatype of XML Schema.
    pub fn typed(text: &str, datatype: &str) -> AstValue {
        let datatype = quoted(&format!("http://www.w3.org/2001/XMLSchema#{datatype}"));
        let shown = format!("rdflib.term.Literal({}, datatype=rdflib.term.URIRef({datatype}))", quoted(text));
        AstValue::Term { shown, text: text.to_owned() }
    }

    /// Converts groups of tokens to lists, recursively.
    pub fn listed(self) -> AstValue {
        match self {
            AstValue::Tokens(values) => AstValue::List(values.into_iter().map(AstValue::listed).collect()),
            other => other,
        }
    }

    /// Writes the value as Python's `repr` does.
    pub fn print(&self, out: &mut String) {
        let list = |values: &[AstValue], out: &mut String| {
            out.push('[');
            for (i, value) in values.iter().enumerate() {
                out.push_str(if i > 0 { ", " } else { "" });
                value.print(out);
            }
            out.push(']');
        };
        match self {
            AstValue::Text(text) => out.push_str(&quoted(text)),
            AstValue::Term { shown, .. } => out.push_str(shown),
            AstValue::Part(name, parts) => {
                let _ = write!(out, "{name}_{{");
                for (i, (name, value)) in parts.iter().enumerate() {
                    let _ = write!(out, "{}'{name}': ", if i > 0 { ", " } else { "" });
                    value.print(out);
                }
                out.push('}');
            }
            AstValue::List(values) => list(values, out),
            AstValue::Tokens(values) => {
                out.push_str("ParseResults(");
                list(values, out);
                out.push_str(", {})");
            }
            AstValue::Named(_, _, value) => value.print(out),
        }
    }
}

/// Quotes a string as Python's `repr` does.
pub fn quoted(text: &str) -> String {
    let quote = if text.contains('\'') && !text.contains('"') { '"' } else { '\'' };
    let mut out = String::with_capacity(text.len() + 2);
    out.push(quote);
    for c in text.chars() {
        match c {
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            c if c == quote => {
                out.push('\\');
                out.push(c);
            }
            c if is_shown(c) => out.push(c),
            c => {
                let code = u32::from(c);
                let _ = match code {
                    0..=0xff => write!(out, "\\x{code:02x}"),
                    0x100..=0xffff => write!(out, "\\u{code:04x}"),
                    _ => write!(out, "\\U{code:08x}"),
                };
            }
        }
    }
    out.push(quote);
    out
}

/// Returns whether Python prints a character unescaped: it is not a control or format character, no space except
/// U+0020, and not private.
fn is_shown(c: char) -> bool {
    let hidden = c.is_control()
        || (c != ' ' && c.is_whitespace())
        || matches!(c, '\u{ad}' | '\u{600}'..='\u{605}' | '\u{61c}' | '\u{6dd}' | '\u{70f}' | '\u{180e}'
            | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{e000}'..='\u{f8ff}'
            | '\u{feff}' | '\u{fff0}'..='\u{fffb}' | '\u{e0000}'..='\u{10ffff}');
    !hidden
}

/// Formats a float as Python's `repr` does.
pub fn float(value: f64) -> String {
    if !value.is_finite() {
        return if value.is_nan() {
            "nan"
        } else if value > 0.0 {
            "inf"
        } else {
            "-inf"
        }
        .to_owned();
    }
    // Like Python, use the shortest digits that round-trip.
    let scientific = format!("{value:e}");
    let (digits, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let exponent: i32 = exponent.parse().unwrap_or_default();
    if (-4..16).contains(&exponent) {
        let plain = format!("{value}");
        return if plain.contains('.') { plain } else { plain + ".0" };
    }
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("{digits}e{sign}{:02}", exponent.abs())
}
