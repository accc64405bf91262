//! One form of the language to another: the XML form, QL on one line, QL on many lines. What a broken query has that
//! can be understood is converted. Knows only the text; nothing is run.

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

/// A query in another form.
#[derive(Debug, Clone)]
pub struct Converted {
    /// The query: what was understood of it.
    pub text: String,
    /// What is wrong with the query as it was given. There is less that can be wrong than where it is run.
    pub problems: Option<Failure>,
}

/// Writes a query, QL or XML, in a form. Fails where there is nothing to convert.
pub fn convert(text: &str, form: Form) -> Result<Converted, Failure> {
    let (root, problems) = crate::outline(text)?;
    let text = match form {
        Form::Xml => xml::write(root.as_ref()),
        Form::Pretty | Form::Compact => ql::write(root.as_ref(), form == Form::Pretty, crate::is_xml(text)),
    };
    Ok(Converted { text, problems })
}
