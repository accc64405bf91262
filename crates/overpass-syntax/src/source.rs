//! Parses a text in either form: to elements, and to the tree.

use crate::builder::SyntaxBuilder;
use crate::code::{OverpassCode, OverpassDiagnostic};
use crate::diagnostics::Diagnostics;
use crate::error::OverpassFailure;
use crate::statement::{self, Script};
use crate::tree::SourceSpan;
use crate::{DiagnosticClass, ElementTreeNode, hints, parse as ql, xml};

/// The maximum length of a query, in bytes.
const LONGEST: usize = 4 << 20;

/// Parses a query in either form, of at most 4 MiB.
///
/// # Errors
/// Returns all syntax errors and all invalid values, in the reference's order.
pub fn parse(text: &str) -> Result<Script, OverpassFailure> {
    let (root, mut diagnostics) = read(text, false)?;
    if diagnostics.is_empty() {
        if let Some(script) = root.and_then(statement::script) {
            return Ok(script);
        }
        diagnostics.parse(OverpassCode::IncompleteQuery, 1, SourceSpan::default(), "The query is incomplete.");
    }
    Err(explained(diagnostics, text))
}

/// Parses a query for conversion to another form. Returns the part that could be parsed, and the errors. Fewer
/// checks run than in [`parse`].
pub fn outline(text: &str) -> Result<(Option<ElementTreeNode>, Option<OverpassFailure>), OverpassFailure> {
    let (root, diagnostics) = read(text, true)?;
    let failure = if diagnostics.is_empty() { None } else { Some(explained(diagnostics, text)) };
    Ok((root, failure))
}

/// Parses a valid query and leaves out what does not change its meaning: positions, and the order of conditions on tags
/// and on other things. Returns `None` if the query has errors.
pub fn meaning(text: &str) -> Option<Script> {
    let (root, diagnostics) = read(text, false).ok()?;
    let mut root = root.filter(|_| diagnostics.is_empty())?;
    root.normalize();
    statement::script(root)
}

/// Adds hints to the errors and converts them to a failure.
fn explained(mut diagnostics: Diagnostics, text: &str) -> OverpassFailure {
    hints::add(text, diagnostics.found_mut());
    diagnostics.into_failure()
}

/// Returns whether a text is in the XML form.
pub fn is_xml(text: &str) -> bool {
    text.trim_start().starts_with('<')
}

fn read(text: &str, converting: bool) -> Result<(Option<ElementTreeNode>, Diagnostics), OverpassFailure> {
    if text.len() > LONGEST {
        return Err(refuse(
            DiagnosticClass::Parse,
            OverpassCode::TooLong,
            format!("The query has more than {LONGEST} bytes."),
        )
        .into());
    }
    if text.trim().is_empty() {
        let message = "Your input contains only whitespace.".to_owned();
        return Err(refuse(DiagnosticClass::Encoding, OverpassCode::EmptyQuery, message).into());
    }
    let builder = SyntaxBuilder { converting, ..Default::default() };
    let (root, builder) = if is_xml(text) { xml::parse(text, builder) } else { ql::parse(text, builder) };
    Ok((root, builder.diagnostics))
}

fn refuse(class: DiagnosticClass, code: OverpassCode, message: String) -> OverpassDiagnostic {
    let line = u32::from(class != DiagnosticClass::Encoding);
    OverpassDiagnostic::new(class, code, message).in_line(line)
}
