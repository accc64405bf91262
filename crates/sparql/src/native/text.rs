//! Tests of a variable's text against a constant: REGEX, CONTAINS, STRSTARTS and STRENDS. The evaluator would copy
//! every text several times. Other cases are left to the evaluator.

use std::borrow::Cow;

use oxrdf::vocab::xsd;
use oxrdf::{Term, Variable};

use super::operand::Slot;
use crate::functions::exact::is_text;
use crate::functions::{Patterns, arguments_of};
use terrapin_budget as budget;
use terrapin_sparql_syntax::algebra::{Expression, Function, OwnFunction};
use terrapin_triples::{ReadError, TermId, TripleView};

/// The constant to search for.
#[derive(Debug)]
enum Sought {
    /// A match of a pattern with flags.
    Pattern(String, String),
    Part(String),
    Start(String),
    End(String),
}

/// A case conversion before the test.
#[derive(Debug, Clone, Copy)]
enum LetterCase {
    Lower,
    Upper,
}

/// A test of a variable's text.
#[derive(Debug)]
pub struct TextTest {
    slot: Slot,
    /// Whether the test applies to `STR` of the value.
    is_str: bool,
    case: Option<LetterCase>,
    sought: Sought,
}

impl TextTest {
    /// Compiles an expression if it is such a test. `slot` returns the slot of a variable.
    pub fn of(expression: &Expression, slot: impl Fn(&Variable) -> Option<Slot>) -> Option<TextTest> {
        let (text, sought) = match (arguments_of(expression, OwnFunction::Regex), expression) {
            (Some([text, pattern]), _) => (text, Sought::Pattern(constant(pattern)?, String::new())),
            (Some([text, pattern, flags]), _) => (text, Sought::Pattern(constant(pattern)?, constant(flags)?)),
            (_, Expression::Call(function, arguments)) => {
                let [text, part] = &arguments[..] else { return None };
                let sought = match function {
                    Function::Contains => Sought::Part,
                    Function::StrStarts => Sought::Start,
                    Function::StrEnds => Sought::End,
                    _ => return None,
                };
                (text, sought(constant(part)?))
            }
            _ => return None,
        };
        let (text, case) = match text {
            Expression::Call(Function::LCase, arguments) => (arguments.first()?, Some(LetterCase::Lower)),
            Expression::Call(Function::UCase, arguments) => (arguments.first()?, Some(LetterCase::Upper)),
            text => (text, None),
        };
        let (variable, is_str) = match text {
            Expression::Variable(variable) => (variable, false),
            Expression::Call(Function::Str, arguments) => match arguments.first()? {
                Expression::Variable(variable) => (variable, true),
                _ => return None,
            },
            _ => return None,
        };
        Some(TextTest { slot: slot(variable)?, is_str, case, sought })
    }

    /// Returns whether the test holds; `None` if the evaluator must decide.
    ///
    /// # Errors
    /// Returns an error if the snapshot is damaged.
    pub fn holds(
        &self,
        view: &TripleView,
        patterns: &Patterns,
        value: impl Fn(Slot) -> Option<TermId>,
    ) -> Result<Option<bool>, ReadError> {
        let Some(id) = value(self.slot) else { return Ok(None) };
        let term = view.term(id)?;
        let text = match &term {
            Term::Literal(literal) if is_text(literal) => literal.value(),
            Term::NamedNode(node) if self.is_str => node.as_str(),
            _ => return Ok(None),
        };
        budget::checkpoints(2 + text.len() / 16);
        let text = match self.case {
            None => Cow::Borrowed(text),
            Some(LetterCase::Lower) => Cow::Owned(text.to_lowercase()),
            Some(LetterCase::Upper) => Cow::Owned(text.to_uppercase()),
        };
        Ok(match &self.sought {
            Sought::Pattern(pattern, flags) => patterns.found(&text, pattern, flags),
            Sought::Part(part) => Some(text.contains(part.as_str())),
            Sought::Start(start) => Some(text.starts_with(start.as_str())),
            Sought::End(end) => Some(text.ends_with(end.as_str())),
        })
    }
}

/// Returns the text of a constant string without a language.
fn constant(expression: &Expression) -> Option<String> {
    match expression {
        Expression::Literal(literal) if literal.datatype() == xsd::STRING => Some(literal.value().to_owned()),
        _ => None,
    }
}
