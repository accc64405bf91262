//! The statement `make type key=evaluator,...->.into`: makes one derived element.

use super::{StatementGrammar, StatementProperties, properties};
use crate::tree::{EvaluatorExpression, Property, SetName};
use crate::{ElementMeaning, ElementSyntax, ElementTreeNode};

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

pub(super) const SYNTAX: StatementGrammar = StatementGrammar {
    elements: &[
        ElementSyntax {
            name: "make",
            attributes: &["into", "type"],
            check: |context| {
                let (from, into) = context.sets();
                let type_name = properties::type_name(context);
                Some(ElementMeaning::Statement(Make { from, into, type_name, properties: Vec::new() }.into()))
            },
            ..ElementSyntax::NONE
        },
        properties::FORM,
    ],
    words: &["make"],
    set_first: true,
    read: |parser, start| properties::read(parser, "make", start),
    write: properties::write,
};

impl StatementProperties for Make {
    fn name(&self) -> &'static str {
        "make"
    }

    fn input_set(&self) -> Option<&SetName> {
        Some(&self.from)
    }

    fn result_set(&self) -> Option<&SetName> {
        Some(&self.into)
    }

    fn expressions(&self) -> Vec<&EvaluatorExpression> {
        self.properties.iter().filter_map(|property| property.value.as_ref()).collect()
    }

    fn takes(&self, child: &ElementMeaning) -> bool {
        matches!(child, ElementMeaning::Property(_))
    }

    fn fill(&mut self, children: Vec<ElementTreeNode>) -> Option<()> {
        self.properties = children.into_iter().map(properties::property).collect::<Option<_>>()?;
        Some(())
    }
}
