//! Writes elements as text: in QL and in the XML form. Each statement and filter writes itself with these parts.

mod canonical;
pub(crate) mod expression;
pub(crate) mod ql;
pub(crate) mod xml;

pub(crate) use canonical::{AttributeList, Values, moment, number};
pub(crate) use ql::{QlWriter, dotted};
