//! The text of a query: OverpassQL and its XML form to one syntax tree, with the reference's diagnostics, and back to text
//! in either form. Knows nothing of any data, and starts no threads.
//!
//! What Overpass API 0.7.62 takes and refuses is right, as are its words for what is wrong. Both front ends make elements
//! with attributes, which are checked as they are made and then become the tree.
//!
//! ```
//! use terrapin_overpass_syntax::{StatementKind, parse};
//!
//! let script = parse("[out:json]; node[amenity=cafe](35.8,14.4,36.0,14.6); out ids;")?;
//! assert_eq!(script.settings.timeout, 180);
//! assert!(matches!(script.statements[0].kind, StatementKind::Query(_)));
//!
//! // Errors are the reference's, with what it does not tell: where in the text, and what was probably meant.
//! let failure = parse("node[amenity=cafe](35.8,14.4,36.0,14.6) out;").unwrap_err();
//! assert_eq!(failure.to_string(), "line 1: parse error: ';' expected - 'out' found.");
//! # Ok::<(), terrapin_overpass_syntax::Failure>(())
//! ```
//!
//! ```
//! use terrapin_overpass_syntax::convert::{Form, convert};
//!
//! let compact = convert("<osm-script><query type=\"way\"><has-kv k=\"highway\"/></query><print/></osm-script>", Form::Compact)?;
//! assert_eq!(compact.text.trim(), "way[\"highway\"];out;");
//! # Ok::<(), terrapin_overpass_syntax::Failure>(())
//! ```

mod builder;
mod check;
mod code;
pub mod convert;
mod diagnostics;
mod element;
mod error;
mod hints;
mod lower;
mod parse;
mod popup;
pub mod posix;
mod reader;
mod statement;
mod suggest;
mod token;
mod tree;
mod xml;

pub use check::numbers::{float, float_prefix, integer, number_text, timestamp};
pub use code::Code;
pub use error::{Class, Diagnostic, Failure};
pub use statement::on_statements;
pub use tree::*;

pub(crate) use check::evaluators::{function_name, operator_sign};
pub(crate) use element::{Element, Node};

/// The longest text that is looked at, in bytes.
const LONGEST: usize = 4 << 20;

/// Reads a query in either form, of 4 MiB at most.
///
/// # Errors
/// It is not in the language, or a value is not one that its statement takes: all errors that there are, in the
/// reference's order.
pub fn parse(text: &str) -> Result<Script, Failure> {
    let (root, mut diagnostics) = read(text, false)?;
    if diagnostics.is_empty() {
        if let Some(script) = root.and_then(lower::script) {
            return Ok(script);
        }
        diagnostics.parse(Code::IncompleteQuery, 1, Span::default(), "The query is incomplete.");
    }
    Err(explained(diagnostics, text))
}

/// What was understood of a query in either form, to be written in another, and what is wrong with it. Fewer things
/// are wrong than for [`parse`].
pub(crate) fn outline(text: &str) -> Result<(Option<Node>, Option<Failure>), Failure> {
    let (root, diagnostics) = read(text, true)?;
    let failure = if diagnostics.is_empty() { None } else { Some(explained(diagnostics, text)) };
    Ok((root, failure))
}

/// The errors with what was probably meant.
fn explained(mut diagnostics: diagnostics::Diagnostics, text: &str) -> Failure {
    hints::add(text, diagnostics.found_mut());
    diagnostics.into_failure()
}

/// Whether a text is in the XML form.
pub(crate) fn is_xml(text: &str) -> bool {
    text.trim_start().starts_with('<')
}

fn read(text: &str, converting: bool) -> Result<(Option<Node>, diagnostics::Diagnostics), Failure> {
    if text.len() > LONGEST {
        return Err(refuse(Code::TooLong, format!("The query has more than {LONGEST} bytes.")).into());
    }
    if text.trim().is_empty() {
        return Err(refuse(Code::EmptyQuery, "Your input contains only whitespace.".to_owned()).into());
    }
    let builder = builder::Builder { converting, ..Default::default() };
    let (root, builder) = if is_xml(text) { xml::parse(text, builder) } else { parse::parse(text, builder) };
    Ok((root, builder.diagnostics))
}

fn refuse(code: Code, message: String) -> Diagnostic {
    Diagnostic { class: Class::Parse, code, line: 1, span: None, message, help: None }
}
