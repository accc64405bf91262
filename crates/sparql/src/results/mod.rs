//! Answers in the formats of the SPARQL Protocol: solutions as JSON, XML, CSV and TSV, triples as Turtle, N-Triples and
//! RDF/XML, or as a table.

mod table;

use std::io::{self, Write};

use oxrdf::{Term, Triple, Variable};
use oxrdfio::{RdfFormat, RdfSerializer, WriterQuadSerializer};
use sparesults::{QueryResultsFormat, QueryResultsSerializer, WriterSolutionsSerializer};

use super::Sink;

pub use table::{Table, cell};

/// The formats of an answer: of solutions and of triples.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Formats {
    /// Of SELECT and ASK.
    pub solutions: QueryResultsFormat,
    /// Of CONSTRUCT and DESCRIBE.
    pub triples: GraphFormat,
}

/// How a graph is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GraphFormat {
    /// As RDF.
    Rdf(RdfFormat),
    /// As a table of `subject`, `predicate` and `object`, as the Wikidata Query Service does when it is asked for one.
    Table(QueryResultsFormat),
}

/// The columns of a graph's table.
fn columns() -> Vec<Variable> {
    ["subject", "predicate", "object"].map(Variable::new_unchecked).into()
}

impl Default for Formats {
    fn default() -> Self {
        Formats { solutions: QueryResultsFormat::Json, triples: GraphFormat::Rdf(RdfFormat::Turtle) }
    }
}

impl Formats {
    /// The formats with a short name: `json`, `xml`, `csv`, `tsv` for solutions (triples as Turtle), `ttl`, `nt`, `rdf`
    /// for triples (solutions as JSON).
    pub fn named(name: &str) -> Option<Formats> {
        let (solutions, triples) = match name {
            "json" => (QueryResultsFormat::Json, RdfFormat::Turtle),
            "xml" => (QueryResultsFormat::Xml, RdfFormat::RdfXml),
            "csv" => (QueryResultsFormat::Csv, RdfFormat::Turtle),
            "tsv" => (QueryResultsFormat::Tsv, RdfFormat::Turtle),
            "ttl" | "turtle" => (QueryResultsFormat::Json, RdfFormat::Turtle),
            "nt" | "ntriples" => (QueryResultsFormat::Json, RdfFormat::NTriples),
            "rdf" | "rdfxml" => (QueryResultsFormat::Json, RdfFormat::RdfXml),
            _ => return None,
        };
        Some(Formats { solutions, triples: GraphFormat::Rdf(triples) })
    }
}

enum State<W: Write> {
    Start(W),
    Solutions(WriterSolutionsSerializer<W>, Vec<Variable>),
    Triples(Box<WriterQuadSerializer<W>>),
    Ended,
}

/// Writes an answer in a format. [`Writer::finish`] has to be called for it to be whole.
pub struct Writer<W: Write> {
    state: State<W>,
    formats: Formats,
}

impl<W: Write> Writer<W> {
    /// A writer to `out`.
    pub fn new(out: W, formats: Formats) -> Self {
        Writer { state: State::Start(out), formats }
    }

    fn take(&mut self) -> State<W> {
        std::mem::replace(&mut self.state, State::Ended)
    }

    /// Ends the answer.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn finish(mut self) -> io::Result<()> {
        match self.take() {
            // Without any triple nothing has begun.
            State::Start(out) => match self.formats.triples {
                GraphFormat::Rdf(format) => RdfSerializer::from_format(format).for_writer(out).finish()?.flush(),
                GraphFormat::Table(format) => {
                    let serializer = QueryResultsSerializer::from_format(format);
                    serializer.serialize_solutions_to_writer(out, columns())?.finish()?.flush()
                }
            },
            State::Solutions(writer, _) => writer.finish()?.flush(),
            State::Triples(writer) => writer.finish()?.flush(),
            State::Ended => Ok(()),
        }
    }
}

impl<W: Write> Sink for Writer<W> {
    fn variables(&mut self, variables: &[Variable]) -> io::Result<()> {
        if let State::Start(out) = self.take() {
            let serializer = QueryResultsSerializer::from_format(self.formats.solutions);
            let writer = serializer.serialize_solutions_to_writer(out, variables.to_vec())?;
            self.state = State::Solutions(writer, variables.to_vec());
        }
        Ok(())
    }

    fn solution(&mut self, values: &[Option<Term>]) -> io::Result<()> {
        let State::Solutions(writer, variables) = &mut self.state else { return Ok(()) };
        let bound = variables.iter().zip(values).filter_map(|(variable, value)| Some((variable, value.as_ref()?)));
        writer.serialize(bound)
    }

    fn boolean(&mut self, value: bool) -> io::Result<()> {
        if let State::Start(out) = self.take() {
            let serializer = QueryResultsSerializer::from_format(self.formats.solutions);
            serializer.serialize_boolean_to_writer(out, value)?.flush()?;
        }
        Ok(())
    }

    fn triple(&mut self, triple: &Triple) -> io::Result<()> {
        if let State::Start(_) = self.state
            && let State::Start(out) = self.take()
        {
            self.state = match self.formats.triples {
                GraphFormat::Rdf(format) => {
                    State::Triples(Box::new(RdfSerializer::from_format(format).for_writer(out)))
                }
                GraphFormat::Table(format) => {
                    let serializer = QueryResultsSerializer::from_format(format);
                    State::Solutions(serializer.serialize_solutions_to_writer(out, columns())?, columns())
                }
            };
        }
        match &mut self.state {
            State::Triples(writer) => writer.serialize_triple(triple),
            State::Solutions(writer, columns) => {
                let terms: [Term; 3] =
                    [triple.subject.clone().into(), triple.predicate.clone().into(), triple.object.clone()];
                writer.serialize(columns.iter().zip(&terms))
            }
            _ => Ok(()),
        }
    }
}
