//! The result of a SPARQL query: kept in memory, then serialized or read on request.

use std::borrow::Cow;
use std::io;
use std::sync::{Arc, Mutex, PoisonError};

use arrow_array::builder::{StringBuilder, StructBuilder};
use arrow_array::{ArrayRef, RecordBatch};
use arrow_schema::{ArrowError, DataType, Field, Fields, Schema};
use oxrdf::{Literal, Term, Triple, Variable};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use serde_json::{Value, json};
use terrapin_budget as budget;
use terrapin_sparql::results::{AnswerWriter, Formats, ResultWriter};
use terrapin_sparql::{QueryResultForm, ResultSink};

use crate::answer::stoppable;
use crate::raise;
use crate::table::Table;
use crate::work::{self, Stop};

/// A sink that keeps a whole result in memory.
pub struct Taken {
    form: QueryResultForm,
    variables: Vec<Variable>,
    rows: Vec<Vec<Option<Term>>>,
    boolean: Option<bool>,
}

impl Taken {
    /// Creates an empty sink.
    pub fn new(form: QueryResultForm) -> Taken {
        let columns = if form == QueryResultForm::Graph { &["subject", "predicate", "object"][..] } else { &[] };
        let variables = columns.iter().map(|name| Variable::new_unchecked(*name)).collect();
        Taken { form, variables, rows: Vec::new(), boolean: None }
    }

    /// Writes the whole result to another sink.
    fn give(&self, sink: &mut dyn ResultSink) -> io::Result<()> {
        match self.form {
            QueryResultForm::Ask => sink.boolean(self.boolean.unwrap_or_default()),
            QueryResultForm::Select => {
                sink.variables(&self.variables)?;
                self.rows.iter().try_for_each(|row| {
                    budget::checkpoints(16);
                    sink.solution(row)
                })
            }
            QueryResultForm::Graph => self.rows.iter().filter_map(|row| triple(row)).try_for_each(|triple| {
                budget::checkpoints(16);
                sink.triple(&triple)
            }),
        }
    }
}

/// Converts a row of a graph back to a triple.
fn triple(row: &[Option<Term>]) -> Option<Triple> {
    let [Some(subject), Some(Term::NamedNode(predicate)), Some(object)] = row else { return None };
    let subject = match subject {
        Term::NamedNode(node) => node.clone().into(),
        Term::BlankNode(node) => oxrdf::NamedOrBlankNode::from(node.clone()),
        _ => return None,
    };
    Some(Triple::new(subject, predicate.clone(), object.clone()))
}

impl ResultSink for Taken {
    fn variables(&mut self, variables: &[Variable]) -> io::Result<()> {
        self.variables = variables.to_vec();
        Ok(())
    }

    fn solution(&mut self, values: &[Option<Term>]) -> io::Result<()> {
        self.rows.push(values.to_vec());
        Ok(())
    }

    fn boolean(&mut self, value: bool) -> io::Result<()> {
        self.boolean = Some(value);
        Ok(())
    }

    fn triple(&mut self, triple: &Triple) -> io::Result<()> {
        let Triple { subject, predicate, object } = triple.clone();
        self.rows.push(vec![Some(subject.into()), Some(predicate.into()), Some(object)]);
        Ok(())
    }
}

/// The result of a SPARQL query.
#[pyclass(frozen, module = "terrapin_osm._native")]
pub struct Solutions {
    taken: Arc<Taken>,
}

impl Solutions {
    /// Wraps a result.
    pub fn new(taken: Taken) -> Solutions {
        Solutions { taken: Arc::new(taken) }
    }
}

/// Returns kind, value, datatype and language of a term. A base direction follows its language after two hyphens; the
/// value of a triple term is its text in N-Triples.
fn parts(term: &Term) -> (&'static str, Cow<'_, str>, Option<&str>, Option<Cow<'_, str>>) {
    match term {
        Term::NamedNode(node) => ("uri", node.as_str().into(), None, None),
        Term::BlankNode(node) => ("bnode", node.as_str().into(), None, None),
        Term::Triple(_) => ("triple", term.to_string().into(), None, None),
        Term::Literal(literal) => {
            let language = literal.language().map(|language| match literal.direction() {
                None => Cow::Borrowed(language),
                Some(direction) => format!("{language}--{direction}").into(),
            });
            ("literal", Literal::value(literal).into(), Some(literal.datatype().as_str()), language)
        }
    }
}

fn part_fields() -> Fields {
    ["type", "value", "datatype", "lang"].iter().map(|name| Field::new(*name, DataType::Utf8, true)).collect()
}

#[pymethods]
impl Solutions {
    fn __len__(&self) -> usize {
        self.taken.rows.len()
    }

    /// The query form: `select`, `ask` or `graph`.
    #[getter]
    fn form(&self) -> &'static str {
        match self.taken.form {
            QueryResultForm::Select => "select",
            QueryResultForm::Ask => "ask",
            QueryResultForm::Graph => "graph",
        }
    }

    /// The names of the columns.
    #[getter]
    fn variables(&self) -> Vec<&str> {
        self.taken.variables.iter().map(Variable::as_str).collect()
    }

    /// The result of an ASK query.
    #[getter]
    fn boolean(&self) -> Option<bool> {
        self.taken.boolean
    }

    /// Returns an iterator over the rows, at most `most` at a time. Each value is a JSON list of kind, value, datatype
    /// and language, or null for an unbound variable.
    fn parts(&self, most: usize) -> Parts {
        Parts { taken: Arc::clone(&self.taken), most: most.max(1), next: Mutex::default() }
    }

    /// Serializes the result in a format of the SPARQL Protocol: `json`, `xml`, `csv` or `tsv`; a graph as `ttl`, `nt`
    /// or `rdf`.
    #[pyo3(signature = (format, stop=None))]
    fn written<'py>(&self, py: Python<'py>, format: &str, stop: Option<&Stop>) -> PyResult<Bound<'py, PyBytes>> {
        let wrong = || PyValueError::new_err(format!("there is no format {format:?}"));
        let formats = Formats::named(format).ok_or_else(wrong)?;
        let stop = stop.map(|stop| Arc::clone(&stop.0)).unwrap_or_default();
        let (taken, stopped) = (Arc::clone(&self.taken), Arc::clone(&stop));
        let bytes = work::wait(py, &stop, move || {
            stoppable(&stopped, || {
                let mut out = Vec::new();
                let mut writer = ResultWriter::new(&mut out, formats);
                taken.give(&mut writer)?;
                writer.finish()?;
                Ok::<_, io::Error>(out)
            })
        })?;
        let bytes = bytes.map_err(|unwritten| unwritten.raise())?.map_err(raise::other)?;
        Ok(PyBytes::new(py, &bytes))
    }

    /// Returns the rows as a table with a string column for each variable: IRIs and lexical forms. With `terms`, each
    /// value is a struct of kind, value, datatype and language.
    fn to_arrow(&self, py: Python<'_>, terms: bool) -> PyResult<Table> {
        py.detach(|| self.taken.table(terms)).map_err(raise::other)
    }
}

impl Taken {
    fn table(&self, terms: bool) -> Result<Table, ArrowError> {
        let kind = if terms { DataType::Struct(part_fields()) } else { DataType::Utf8 };
        let names = self.variables.iter().map(Variable::as_str);
        let schema = Arc::new(Schema::new(names.map(|name| Field::new(name, kind.clone(), true)).collect::<Vec<_>>()));
        let column = |number: usize| {
            let values = self.rows.iter().map(move |row| row.get(number).and_then(Option::as_ref));
            if terms { described(values) } else { texts(values) }
        };
        let columns: Vec<ArrayRef> = (0..self.variables.len()).map(column).collect::<Result<_, _>>()?;
        let batches =
            if columns.is_empty() { Vec::new() } else { vec![RecordBatch::try_new(schema.clone(), columns)?] };
        Ok(Table::new(schema, batches))
    }
}

fn texts<'t>(values: impl Iterator<Item = Option<&'t Term>>) -> Result<ArrayRef, ArrowError> {
    let mut column = StringBuilder::new();
    values.for_each(|value| column.append_option(value.map(|term| parts(term).1)));
    Ok(Arc::new(column.finish()))
}

fn described<'t>(values: impl Iterator<Item = Option<&'t Term>>) -> Result<ArrayRef, ArrowError> {
    let mut column = StructBuilder::from_fields(part_fields(), 0);
    for value in values {
        let all = value.map(parts).map(|(kind, value, datatype, language)| {
            [Some(kind.into()), Some(value), datatype.map(Cow::Borrowed), language]
        });
        for (number, part) in all.unwrap_or_default().into_iter().enumerate() {
            let missing = || ArrowError::SchemaError("a column of another type".to_owned());
            column.field_builder::<StringBuilder>(number).ok_or_else(missing)?.append_option(part);
        }
        column.append(value.is_some());
    }
    Ok(Arc::new(column.finish()))
}

/// An iterator over a result in parts.
#[pyclass(frozen, module = "terrapin_osm._native")]
pub struct Parts {
    taken: Arc<Taken>,
    most: usize,
    next: Mutex<usize>,
}

#[pymethods]
impl Parts {
    fn __iter__(this: Py<Self>) -> Py<Self> {
        this
    }

    fn __next__(&self, py: Python<'_>) -> Option<String> {
        py.detach(|| {
            let mut next = self.next.lock().unwrap_or_else(PoisonError::into_inner);
            let rows = self.taken.rows.get(*next..).filter(|rows| !rows.is_empty())?;
            let rows = rows.get(..self.most).unwrap_or(rows);
            *next += rows.len();
            let value = |value: &Option<Term>| value.as_ref().map_or(Value::Null, |term| json!(parts(term)));
            let rows: Vec<Value> = rows.iter().map(|row| row.iter().map(value).collect()).collect();
            Some(Value::from(rows).to_string())
        })
    }
}
