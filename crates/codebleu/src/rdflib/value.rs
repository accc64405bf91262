//! What the grammar makes of a text, and how Python prints it.

use std::fmt::Write;

/// A token, or what was made of some.
#[derive(Debug, Clone, PartialEq)]
pub enum AstValue {
    /// A piece of the text.
    Text(String),
    /// A term of RDF, by the name of its class.
    Term {
        /// As Python prints it.
        shown: String,
        /// Its text alone.
        text: String,
    },
    /// A named thing with named parts.
    Part(&'static str, Vec<(&'static str, AstValue)>),
    /// A list.
    List(Vec<AstValue>),
    /// Tokens kept together.
    Tokens(Vec<AstValue>),
    /// A part on its way into the thing that it belongs to; whether it is one of many there.
    Named(&'static str, bool, Box<AstValue>),
}

impl AstValue {
    /// A term of a class with a text.
    pub fn term(class: &str, text: &str) -> AstValue {
        AstValue::Term { shown: format!("rdflib.term.{class}({})", quoted(text)), text: text.to_owned() }
    }

    /// An IRI.
    pub fn iri(text: &str) -> AstValue {
        AstValue::term("URIRef", text)
    }

    /// A literal of a type of XML Schema.
    pub fn typed(text: &str, datatype: &str) -> AstValue {
        let datatype = quoted(&format!("http://www.w3.org/2001/XMLSchema#{datatype}"));
        let shown = format!("rdflib.term.Literal({}, datatype=rdflib.term.URIRef({datatype}))", quoted(text));
        AstValue::Term { shown, text: text.to_owned() }
    }

    /// Tokens as a list, those within them too.
    pub fn listed(self) -> AstValue {
        match self {
            AstValue::Tokens(values) => AstValue::List(values.into_iter().map(AstValue::listed).collect()),
            other => other,
        }
    }

    /// As Python's `repr` prints it.
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

/// A text as Python's `repr` prints it.
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

/// Whether Python prints a character as it is: what is no control, no format, no space but U+0020 and not private.
fn is_shown(c: char) -> bool {
    let hidden = c.is_control()
        || (c != ' ' && c.is_whitespace())
        || matches!(c, '\u{ad}' | '\u{600}'..='\u{605}' | '\u{61c}' | '\u{6dd}' | '\u{70f}' | '\u{180e}'
            | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{e000}'..='\u{f8ff}'
            | '\u{feff}' | '\u{fff0}'..='\u{fffb}' | '\u{e0000}'..='\u{10ffff}');
    !hidden
}

/// A number as Python's `repr` of a float prints it.
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
    // The shortest digits that give the number back, as Python finds them, too.
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
