//! Answers in the formats of the SPARQL Protocol: solutions as JSON, XML, CSV and TSV, triples as Turtle, N-Triples and
//! RDF/XML, or as a table.

mod qlever_json;
mod table;
#[cfg(test)]
mod tests;
mod xml;

use std::borrow::Cow;
use std::io::{self, Write};

use oxrdf::{Literal, Term, TermRef, Triple, TripleRef, Variable};
use oxrdfio::{RdfFormat, RdfSerializer, WriterQuadSerializer};
use sparesults::{QueryResultsFormat, QueryResultsSerializer, WriterSolutionsSerializer};

use self::xml::{RdfXml, XmlText, unrepresentable};
use super::ResultSink;

pub use qlever_json::{QLEVER_JSON, QleverJsonWriter};
pub use table::{TextTableWriter, cell};

/// A sink that writes an answer. The answer is complete only after [`AnswerWriter::finish`].
pub trait AnswerWriter: ResultSink {
    /// Ends the answer.
    ///
    /// # Errors
    /// Returns an error if the end cannot be written.
    fn finish(self) -> io::Result<()>;
}

/// The formats of an answer, for solutions and for triples.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Formats {
    /// The format for SELECT and ASK.
    pub solutions: QueryResultsFormat,
    /// The format for CONSTRUCT and DESCRIBE.
    pub triples: GraphFormat,
}

/// The format of a graph.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GraphFormat {
    /// An RDF format.
    Rdf(RdfFormat),
    /// A table of `subject`, `predicate` and `object`. The Wikidata Query Service also returns this if the request asks
    /// for a table format.
    Table(QueryResultsFormat),
}

/// Returns the columns of a graph's table.
fn columns() -> Vec<Variable> {
    ["subject", "predicate", "object"].map(Variable::new_unchecked).into()
}

impl Default for Formats {
    fn default() -> Self {
        Formats { solutions: QueryResultsFormat::Json, triples: GraphFormat::Rdf(RdfFormat::Turtle) }
    }
}

impl Formats {
    /// Returns the formats for a short name: `json`, `xml`, `csv`, `tsv` for solutions (triples as Turtle, for `xml` as
    /// RDF/XML), `ttl`, `nt`, `rdf` for triples (solutions as JSON).
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

/// A writer of solutions.
struct SolutionsWriter<W: Write> {
    serializer: Box<WriterSolutionsSerializer<GuardedOutput<W>>>,
    variables: Vec<Variable>,
    format: QueryResultsFormat,
}

enum ResultWriterState<W: Write> {
    Start(W),
    Solutions(SolutionsWriter<W>),
    Triples(Box<WriterQuadSerializer<W>>),
    RdfXml(RdfXml<W>),
    Ended,
}

/// The output of solutions. XML output is checked for characters that XML cannot contain.
enum GuardedOutput<W: Write> {
    Plain(W),
    Xml(XmlText<W>),
}

impl<W: Write> GuardedOutput<W> {
    fn new(out: W, format: QueryResultsFormat) -> Self {
        match format {
            QueryResultsFormat::Xml => GuardedOutput::Xml(XmlText::new(out)),
            _ => GuardedOutput::Plain(out),
        }
    }
}

impl<W: Write> Write for GuardedOutput<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            GuardedOutput::Plain(out) => out.write(bytes),
            GuardedOutput::Xml(out) => out.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            GuardedOutput::Plain(out) => out.flush(),
            GuardedOutput::Xml(out) => out.flush(),
        }
    }
}

impl<W: Write> SolutionsWriter<W> {
    fn new(out: W, variables: Vec<Variable>, format: QueryResultsFormat) -> io::Result<Self> {
        let out = GuardedOutput::new(out, format);
        let serializer = QueryResultsSerializer::from_format(format);
        let serializer = Box::new(serializer.serialize_solutions_to_writer(out, variables.clone())?);
        Ok(SolutionsWriter { serializer, variables, format })
    }

    fn solution<'t>(&mut self, values: impl Iterator<Item = Option<&'t Term>>) -> io::Result<()> {
        let (variables, format) = (&self.variables, self.format);
        let mut bound = Vec::with_capacity(variables.len());
        for (variable, value) in variables.iter().zip(values) {
            let Some(value) = value else { continue };
            bound.push((variable, written(value, format)?));
        }
        self.serializer.serialize(bound.iter().map(|(variable, value)| (*variable, &**value)))
    }
}

/// Converts a term to the form that the serializer of a format needs.
fn written(term: &Term, format: QueryResultsFormat) -> io::Result<Cow<'_, Term>> {
    match (term, format) {
        // The CSV serializer does not quote IRIs.
        (Term::NamedNode(node), QueryResultsFormat::Csv) if node.as_str().contains([',', '"', '\n', '\r']) => {
            Ok(Cow::Owned(Literal::new_simple_literal(node.as_str()).into()))
        }
        (term, QueryResultsFormat::Tsv) => in_brackets(term.as_ref()).map(|()| Cow::Borrowed(term)),
        _ => Ok(Cow::Borrowed(term)),
    }
}

/// Returns an error if a term has an IRI that cannot be written between angle brackets.
fn in_brackets(term: TermRef<'_>) -> io::Result<()> {
    let iri = match term {
        TermRef::NamedNode(node) => node.as_str(),
        TermRef::Literal(literal) => literal.datatype().as_str(),
        TermRef::BlankNode(_) => return Ok(()),
        TermRef::Triple(triple) => {
            in_brackets(triple.subject.as_ref().into())?;
            in_brackets(triple.predicate.as_ref().into())?;
            return in_brackets(triple.object.as_ref());
        }
    };
    let breaks =
        |byte: u8| byte <= b' ' || matches!(byte, b'<' | b'>' | b'"' | b'{' | b'}' | b'|' | b'^' | b'`' | b'\\');
    match iri.bytes().any(breaks) {
        false => Ok(()),
        true => Err(unrepresentable(format!(
            "'{}' in the answer is not a valid IRI and cannot be written in angle brackets; choose another format",
            iri.escape_debug()
        ))),
    }
}

/// Writes an answer in a format. If the format cannot
/// represent a term, the error has the kind [`io::ErrorKind::InvalidData`].
pub struct ResultWriter<W: Write> {
    state: ResultWriterState<W>,
    formats: Formats,
}

impl<W: Write> ResultWriter<W> {
    /// Creates a writer to `out`.
    pub fn new(out: W, formats: Formats) -> Self {
        ResultWriter { state: ResultWriterState::Start(out), formats }
    }

    fn take(&mut self) -> ResultWriterState<W> {
        std::mem::replace(&mut self.state, ResultWriterState::Ended)
    }

    /// Starts the output before the first triple.
    fn begin_graph(&mut self) -> io::Result<()> {
        if let ResultWriterState::Start(_) = self.state
            && let ResultWriterState::Start(out) = self.take()
        {
            self.state = match self.formats.triples {
                GraphFormat::Rdf(RdfFormat::RdfXml) => ResultWriterState::RdfXml(RdfXml::new(out)?),
                GraphFormat::Rdf(format) => {
                    ResultWriterState::Triples(Box::new(RdfSerializer::from_format(format).for_writer(out)))
                }
                GraphFormat::Table(format) => {
                    ResultWriterState::Solutions(SolutionsWriter::new(out, columns(), format)?)
                }
            };
        }
        Ok(())
    }
}

impl<W: Write> AnswerWriter for ResultWriter<W> {
    fn finish(mut self) -> io::Result<()> {
        match self.take() {
            // An empty graph: no triple has started the output.
            ResultWriterState::Start(out) => match self.formats.triples {
                GraphFormat::Rdf(RdfFormat::RdfXml) => RdfXml::new(out)?.finish(),
                GraphFormat::Rdf(format) => RdfSerializer::from_format(format).for_writer(out).finish()?.flush(),
                GraphFormat::Table(format) => {
                    SolutionsWriter::new(out, columns(), format)?.serializer.finish()?.flush()
                }
            },
            ResultWriterState::Solutions(writer) => writer.serializer.finish()?.flush(),
            ResultWriterState::Triples(writer) => writer.finish()?.flush(),
            ResultWriterState::RdfXml(writer) => writer.finish(),
            ResultWriterState::Ended => Ok(()),
        }
    }
}

impl<W: Write> ResultSink for ResultWriter<W> {
    fn variables(&mut self, variables: &[Variable]) -> io::Result<()> {
        if let ResultWriterState::Start(out) = self.take() {
            self.state =
                ResultWriterState::Solutions(SolutionsWriter::new(out, variables.to_vec(), self.formats.solutions)?);
        }
        Ok(())
    }

    fn solution(&mut self, values: &[Option<Term>]) -> io::Result<()> {
        let ResultWriterState::Solutions(writer) = &mut self.state else { return Ok(()) };
        writer.solution(values.iter().map(Option::as_ref))
    }

    fn boolean(&mut self, value: bool) -> io::Result<()> {
        if let ResultWriterState::Start(out) = self.take() {
            let serializer = QueryResultsSerializer::from_format(self.formats.solutions);
            serializer.serialize_boolean_to_writer(out, value)?.flush()?;
        }
        Ok(())
    }

    fn triple(&mut self, triple: &Triple) -> io::Result<()> {
        self.begin_graph()?;
        match &mut self.state {
            ResultWriterState::Triples(writer) => {
                let TripleRef { subject, predicate, object } = triple.as_ref();
                [subject.into(), predicate.into(), object].into_iter().try_for_each(in_brackets)?;
                writer.serialize_triple(triple)
            }
            ResultWriterState::RdfXml(writer) => writer.triple(triple),
            ResultWriterState::Solutions(writer) => {
                let terms: [Term; 3] =
                    [triple.subject.clone().into(), triple.predicate.clone().into(), triple.object.clone()];
                writer.solution(terms.iter().map(Some))
            }
            _ => Ok(()),
        }
    }
}
