//! Converts a query to another form: the XML form, QL on one line, or QL on several lines. If the query has errors, the
//! parts that can be parsed are converted. Uses only the text; the query is not run.

mod canonical;
pub(crate) mod expression;
mod ql;
mod xml;

pub(crate) use canonical::{AttributeList, Values, moment, number};
pub(crate) use ql::{QlWriter, dotted};

use crate::OverpassFailure;

/// A form to convert to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ConversionForm {
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
    pub problems: Option<OverpassFailure>,
}

/// Converts a query in QL or XML to another form. Returns an error if the text cannot be converted at all.
pub fn convert(text: &str, form: ConversionForm) -> Result<Converted, OverpassFailure> {
    let (root, problems) = crate::outline(text)?;
    let text = match form {
        ConversionForm::Xml => xml::write(root.as_ref()),
        ConversionForm::Pretty | ConversionForm::Compact => {
            ql::write(root.as_ref(), form == ConversionForm::Pretty, crate::is_xml(text))
        }
    };
    Ok(Converted { text, problems })
}
