//! The answer to a SPARQL query as a table of terms, and its cached form.

use oxrdf::{Term, TermParseError};
use serde::{Deserialize, Serialize};

use crate::metrics::table::ValueTable;
use terrapin_sparql::QueryResultForm;

/// The answer to a query.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "AnswerText", into = "AnswerText")]
pub struct SparqlAnswer {
    /// The kind of answer.
    pub form: QueryResultForm,
    /// The names of the columns: for a graph `subject`, `predicate`, `object`; for a boolean `boolean`.
    pub columns: Vec<String>,
    /// The rows in order, with a value per column.
    pub rows: Vec<Vec<Option<Term>>>,
}

impl SparqlAnswer {
    /// Returns the values only.
    pub fn table(&self) -> ValueTable {
        let row = |row: &Vec<Option<Term>>| row.iter().map(|v| v.as_ref().map(value).unwrap_or_default()).collect();
        ValueTable { columns: self.columns.clone(), rows: self.rows.iter().map(row).collect() }
    }
}

/// Returns the value of a term: its IRI or its text. Labels of blank nodes are ignored.
fn value(term: &Term) -> String {
    match term {
        Term::NamedNode(node) => node.as_str().to_owned(),
        Term::Literal(literal) => literal.value().to_owned(),
        Term::BlankNode(_) => "_:".to_owned(),
        Term::Triple(triple) => {
            let subject = value(&triple.subject.clone().into());
            format!("<<( {subject} {} {} )>>", triple.predicate.as_str(), value(&triple.object))
        }
    }
}

/// An answer with its terms in N-Triples.
#[derive(Serialize, Deserialize)]
struct AnswerText {
    /// The index in [`FORMS`].
    form: u8,
    columns: Vec<String>,
    rows: Vec<Vec<Option<String>>>,
}

const FORMS: [QueryResultForm; 3] = [QueryResultForm::Select, QueryResultForm::Ask, QueryResultForm::Graph];

impl From<SparqlAnswer> for AnswerText {
    fn from(answer: SparqlAnswer) -> AnswerText {
        let form = FORMS.iter().position(|form| *form == answer.form).unwrap_or_default();
        let row = |row: &Vec<Option<Term>>| row.iter().map(|term| term.as_ref().map(Term::to_string)).collect();
        AnswerText { form: form as u8, columns: answer.columns, rows: answer.rows.iter().map(row).collect() }
    }
}

impl TryFrom<AnswerText> for SparqlAnswer {
    type Error = TermParseError;

    fn try_from(text: AnswerText) -> Result<SparqlAnswer, TermParseError> {
        let term = |term: &Option<String>| term.as_ref().map(|term| term.parse()).transpose();
        let row = |row: &Vec<Option<String>>| row.iter().map(term).collect();
        let form = FORMS.get(usize::from(text.form)).copied().unwrap_or(QueryResultForm::Select);
        Ok(SparqlAnswer { form, columns: text.columns, rows: text.rows.iter().map(row).collect::<Result<_, _>>()? })
    }
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
            let answer = SparqlAnswer { form, columns: ["a", "b"].map(str::to_owned).into(), rows: rows.clone() };
            let config = bincode::config::standard();
            let bytes = bincode::serde::encode_to_vec(&answer, config).unwrap();
            let (back, _): (SparqlAnswer, usize) = bincode::serde::decode_from_slice(&bytes, config).unwrap();
            assert_eq!(back, answer);
        }
    }
}
