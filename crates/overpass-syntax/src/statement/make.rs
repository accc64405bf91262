//! The statement `make type key=evaluator,...->.into`: makes one derived element.

use super::{Facts, Syntax, properties};
use crate::tree::{Expr, Property, SetName};
use crate::{Form, Node, Part};

/// One derived element, made from a whole set.
#[derive(Debug, Clone, PartialEq)]
pub struct Make {
    /// The set before the statement.
    pub from: SetName,
    /// The set for the result.
    pub into: SetName,
    /// The element's type.
    pub type_name: String,
    /// Its properties.
    pub properties: Vec<Property>,
}

pub(super) const SYNTAX: Syntax = Syntax {
    elements: &[
        Form {
            name: "make",
            attributes: &["into", "type"],
            check: |context| {
                let (from, into) = context.sets();
                let type_name = properties::type_name(context);
                Some(Part::Statement(Make { from, into, type_name, properties: Vec::new() }.into()))
            },
            ..Form::NONE
        },
        properties::FORM,
    ],
    words: &["make"],
    set_first: true,
    read: |parser, start| properties::read(parser, "make", start),
    write: properties::write,
};

impl Facts for Make {
    fn name(&self) -> &'static str {
        "make"
    }

    fn input_set(&self) -> Option<&SetName> {
        Some(&self.from)
    }

    fn result_set(&self) -> Option<&SetName> {
        Some(&self.into)
    }

    fn expressions(&self) -> Vec<&Expr> {
        self.properties.iter().filter_map(|property| property.value.as_ref()).collect()
    }

    fn takes(&self, child: &Part) -> bool {
        matches!(child, Part::Property(_))
    }

    fn fill(&mut self, children: Vec<Node>) -> Option<()> {
        self.properties = children.into_iter().map(properties::property).collect::<Option<_>>()?;
        Some(())
    }
}
