//! The statement `convert type key=evaluator,...->.into`: makes a derived element from each element of a set.

use super::{StatementGrammar, StatementProperties, properties};
use crate::tree::{EvaluatorExpression, Property, SetName};
use crate::{ElementMeaning, ElementSyntax, ElementTreeNode};

/// A derived element from each element of a set.
#[derive(Debug, Clone, PartialEq)]
pub struct Convert {
    /// The set.
    pub from: SetName,
    /// The set for the result.
    pub into: SetName,
    /// The type of the new elements.
    pub type_name: String,
    /// Their properties.
    pub properties: Vec<Property>,
}

pub(super) const SYNTAX: StatementGrammar = StatementGrammar {
    elements: &[ElementSyntax {
        name: "convert",
        attributes: &["from", "into", "type"],
        check: |context| {
            let (from, into) = context.sets();
            let type_name = properties::type_name(context);
            Some(ElementMeaning::Statement(Convert { from, into, type_name, properties: Vec::new() }.into()))
        },
        ..ElementSyntax::NONE
    }],
    words: &["convert"],
    set_first: true,
    read: |parser, start| properties::read(parser, "convert", start),
    write: properties::write,
};

impl StatementProperties for Convert {
    fn name(&self) -> &'static str {
        "convert"
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
