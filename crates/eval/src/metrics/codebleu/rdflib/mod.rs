//! Python's representation of a query as parsed by rdflib 7.

mod blank;
mod grammar;
mod made;
mod reader;
mod stop;
mod terminal;
mod value;

use reader::GrammarInterpreter;
use value::AstValue;

/// Returns the text of `str(parseQuery(query))`, or `None` if rdflib cannot parse the query. Names of anonymous blank
/// nodes begin with `name`; rdflib uses random names.
pub fn printed(query: &str, name: &str) -> Option<String> {
    let text = without_tabs(&decoded(query)?);
    let tokens = GrammarInterpreter::new(&text, name).whole()?;
    let mut out = String::from("[");
    for (i, token) in tokens.iter().enumerate() {
        out.push_str(if i > 0 { ", " } else { "" });
        match token {
            // At the top level, a group of tokens is printed as a list.
            AstValue::Tokens(values) => AstValue::List(values.clone()).print(&mut out),
            other => other.print(&mut out),
        }
    }
    out.push(']');
    Some(out)
}

/// Replaces escaped code points, before any parsing. Returns `None` if a code point is invalid.
fn decoded(query: &str) -> Option<String> {
    let mut out = String::with_capacity(query.len());
    let mut rest = query;
    while let Some(at) = rest.find("\\u").into_iter().chain(rest.find("\\U")).min() {
        let digits = rest.get(at + 2..).unwrap_or_default();
        let is_hex = |length: usize| digits.get(..length).is_some_and(|d| d.bytes().all(|b| b.is_ascii_hexdigit()));
        let length = if is_hex(8) { 8 } else { 4 };
        out.push_str(rest.get(..at)?);
        if is_hex(length) {
            out.push(char::from_u32(u32::from_str_radix(digits.get(..length)?, 16).ok()?)?);
            rest = digits.get(length..)?;
        } else {
            out.push_str(rest.get(at..at + 2)?);
            rest = digits;
        }
    }
    out.push_str(rest);
    Some(out)
}

/// Expands tabs to the next column divisible by 8.
fn without_tabs(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut column = 0;
    for c in text.chars() {
        match c {
            '\t' => {
                let spaces = 8 - column % 8;
                out.extend(std::iter::repeat_n(' ', spaces));
                column += spaces;
            }
            '\n' | '\r' => {
                out.push(c);
                column = 0;
            }
            c => {
                out.push(c);
                column += 1;
            }
        }
    }
    out
}
