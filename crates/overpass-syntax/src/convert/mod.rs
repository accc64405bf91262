//! Converts a query to another form: the XML form, QL on one line, or QL on several lines. If the query has errors, the
//! parts that can be parsed are converted. Uses only the text; the query is not run.

mod canonical;
pub(crate) mod expression;
mod ql;
mod xml;

pub(crate) use canonical::{List, Values, moment, number};
pub(crate) use ql::{Writer, dotted};

use crate::Failure;

/// A form to convert to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// The XML form.
    Xml,
    /// QL over several lines.
    Pretty,
    /// QL on one line.
    Compact,
}

/// A converted query.
#[derive(Debug, Clone)]
pub struct Converted {
    /// The parts of the query that could be parsed, in the new form.
    pub text: String,
    /// The errors in the original query. Fewer checks run than before a run of the query.
    pub problems: Option<Failure>,
}

/// Converts a query in QL or XML to another form. Returns an error if the text cannot be converted at all.
pub fn convert(text: &str, form: Form) -> Result<Converted, Failure> {
    let (root, problems) = crate::outline(text)?;
    let text = match form {
        Form::Xml => xml::write(root.as_ref()),
        Form::Pretty | Form::Compact => ql::write(root.as_ref(), form == Form::Pretty, crate::is_xml(text)),
    };
    Ok(Converted { text, problems })
}
