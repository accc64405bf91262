//! Answers that other runs have kept, and the form in which they are.

use oxrdf::{Term, TermParseError};
use serde::{Deserialize, Serialize};

use super::answer::{Answer, ask};
use super::failure::{Failed, FailureClass};
use crate::runs::{Cache, Key, kept};
use terrapin_sparql::{Environment, Form};

/// An answer with its terms as N-Triples has them.
#[derive(Serialize, Deserialize)]
pub(super) struct Text {
    /// The place in [`FORMS`].
    form: u8,
    columns: Vec<String>,
    rows: Vec<Vec<Option<String>>>,
}

const FORMS: [Form; 3] = [Form::Select, Form::Ask, Form::Graph];

impl From<Answer> for Text {
    fn from(answer: Answer) -> Text {
        let form = FORMS.iter().position(|form| *form == answer.form).unwrap_or_default();
        let row = |row: &Vec<Option<Term>>| row.iter().map(|term| term.as_ref().map(Term::to_string)).collect();
        Text { form: form as u8, columns: answer.columns, rows: answer.rows.iter().map(row).collect() }
    }
}

impl TryFrom<Text> for Answer {
    type Error = TermParseError;

    fn try_from(text: Text) -> Result<Answer, TermParseError> {
        let term = |term: &Option<String>| term.as_ref().map(|term| term.parse()).transpose();
        let row = |row: &Vec<Option<String>>| row.iter().map(term).collect();
        let form = FORMS.get(usize::from(text.form)).copied().unwrap_or(Form::Select);
        Ok(Answer { form, columns: text.columns, rows: text.rows.iter().map(row).collect::<Result<_, _>>()? })
    }
}

/// What is kept of a query, or what running it gives.
///
/// # Errors
/// The query has no answer.
pub fn ask_kept(cache: &dyn Cache, snapshot: &str, environment: &Environment, query: &str) -> Result<Answer, Failed> {
    let key = Key { snapshot, language: "SPARQL", query };
    // Time and memory can be another run's luck.
    let lasting = |answer: &Result<Answer, Failed>| match answer {
        Ok(_) => true,
        Err(failed) => !matches!(failed.class, FailureClass::Timeout | FailureClass::TooLarge | FailureClass::Internal),
    };
    kept(cache, &key, lasting, || ask(environment, query))
}

#[cfg(test)]
mod tests {
    use oxrdf::{BlankNode, Literal, NamedNode};

    use super::*;

    #[test]
    fn answers_come_back_as_they_were() {
        let terms: [Term; 5] = [
            NamedNode::new_unchecked("http://www.wikidata.org/entity/Q1").into(),
            Literal::new_language_tagged_literal_unchecked("a \"b\"\n\u{1}\u{fffe} é", "en").into(),
            Literal::new_typed_literal("+1200", NamedNode::new_unchecked("http://x/decimal")).into(),
            Literal::new_simple_literal("").into(),
            BlankNode::new_unchecked("a1").into(),
        ];
        let rows = vec![terms.clone().map(Some).into(), vec![None; 5]];
        for form in FORMS {
            let answer = Answer { form, columns: ["a", "b"].map(str::to_owned).into(), rows: rows.clone() };
            let config = bincode::config::standard();
            let bytes = bincode::serde::encode_to_vec(&answer, config).unwrap();
            let (back, _): (Answer, usize) = bincode::serde::decode_from_slice(&bytes, config).unwrap();
            assert_eq!(back, answer);
        }
    }
}
