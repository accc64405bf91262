//! QLever's JSON (`application/qlever-results+json`): one object with the rows as arrays of terms in the notation of
//! Turtle without escapes, and the number of rows before and after the limit of the request.
//!
//! QLever also writes the times and the tree of its execution. These are left out, because an answer depends on the
//! query and the snapshot only.

use std::io::{self, Write};

use oxrdf::vocab::xsd;
use oxrdf::{Literal, Term, Triple, Variable};

use super::AnswerWriter;
use super::table::language_tag;
use crate::ResultSink;

/// The media type.
pub const QLEVER_JSON: &str = "application/qlever-results+json";
/// Maximum length in characters of the query in the answer, as in QLever.
const ECHO: usize = 5000;

/// Writes an answer.
pub struct QleverJsonWriter<W: Write> {
    out: W,
    query: String,
    /// The maximum number of rows to write.
    most: u64,
    is_begun: bool,
    rows: u64,
    written: u64,
}

impl<W: Write> QleverJsonWriter<W> {
    /// Creates a writer to `out` for the answer to a query; at most `most` rows are written, and all are counted.
    pub fn new(out: W, query: &str, most: Option<u64>) -> Self {
        let query = query.chars().take(ECHO).collect();
        QleverJsonWriter { out, query, most: most.unwrap_or(u64::MAX), is_begun: false, rows: 0, written: 0 }
    }

    fn begin(&mut self, columns: &[String]) -> io::Result<()> {
        self.is_begun = true;
        self.out.write_all(b"{\"query\":")?;
        string(&mut self.out, &self.query)?;
        self.out.write_all(b",\"status\":\"OK\",\"warnings\":[],\"selected\":[")?;
        for (at, column) in columns.iter().enumerate() {
            if at > 0 {
                self.out.write_all(b",")?;
            }
            string(&mut self.out, &format!("?{column}"))?;
        }
        self.out.write_all(b"],\"res\":[")
    }

    fn row<'t>(&mut self, values: impl Iterator<Item = Option<&'t Term>>) -> io::Result<()> {
        self.rows += 1;
        if self.rows > self.most {
            return Ok(());
        }
        self.out.write_all(if self.written > 0 { b",[" } else { b"[" })?;
        self.written += 1;
        for (at, value) in values.enumerate() {
            if at > 0 {
                self.out.write_all(b",")?;
            }
            match value {
                None => self.out.write_all(b"null")?,
                Some(term) => string(&mut self.out, &notation(term))?,
            }
        }
        self.out.write_all(b"]")
    }
}

/// Returns a term as QLever writes it: strings are not escaped.
fn notation(term: &Term) -> String {
    match term {
        Term::NamedNode(node) => format!("<{}>", node.as_str()),
        Term::BlankNode(node) => node.to_string(),
        Term::Triple(triple) => {
            let subject = notation(&triple.subject.clone().into());
            format!("<<( {subject} <{}> {} )>>", triple.predicate.as_str(), notation(&triple.object))
        }
        Term::Literal(literal) => match (literal.language(), literal.datatype()) {
            (Some(_), _) => format!("\"{}\"@{}", literal.value(), language_tag(literal)),
            (None, datatype) if datatype == xsd::STRING => format!("\"{}\"", literal.value()),
            (None, datatype) => format!("\"{}\"^^<{}>", literal.value(), datatype.as_str()),
        },
    }
}

/// Writes a string of JSON.
fn string(out: &mut impl Write, text: &str) -> io::Result<()> {
    out.write_all(b"\"")?;
    let mut from = 0;
    for (at, byte) in text.bytes().enumerate() {
        let escape = match byte {
            b'"' => "\\\"",
            b'\\' => "\\\\",
            b'\n' => "\\n",
            b'\r' => "\\r",
            b'\t' => "\\t",
            0..=0x1F => "",
            _ => continue,
        };
        out.write_all(text.as_bytes().get(from..at).unwrap_or_default())?;
        from = at + 1;
        if escape.is_empty() {
            write!(out, "\\u{byte:04x}")?;
        } else {
            out.write_all(escape.as_bytes())?;
        }
    }
    out.write_all(text.as_bytes().get(from..).unwrap_or_default())?;
    out.write_all(b"\"")
}

impl<W: Write> AnswerWriter for QleverJsonWriter<W> {
    fn finish(mut self) -> io::Result<()> {
        if !self.is_begun {
            self.begin(&["subject", "predicate", "object"].map(str::to_owned))?;
        }
        let QleverJsonWriter { rows, written, .. } = self;
        write!(self.out, "],\"resultSizeExported\":{written},\"resultSizeTotal\":{rows},\"resultsize\":{rows}}}")?;
        self.out.flush()
    }
}

impl<W: Write> ResultSink for QleverJsonWriter<W> {
    fn variables(&mut self, variables: &[Variable]) -> io::Result<()> {
        let columns: Vec<String> = variables.iter().map(|variable| variable.as_str().to_owned()).collect();
        self.begin(&columns)
    }

    fn solution(&mut self, values: &[Option<Term>]) -> io::Result<()> {
        self.row(values.iter().map(Option::as_ref))
    }

    fn boolean(&mut self, value: bool) -> io::Result<()> {
        self.begin(&["result".to_owned()])?;
        let value = Term::from(Literal::from(value));
        self.row([Some(&value)].into_iter())
    }

    fn triple(&mut self, triple: &Triple) -> io::Result<()> {
        if !self.is_begun {
            self.begin(&["subject", "predicate", "object"].map(str::to_owned))?;
        }
        let terms: [Term; 3] = [triple.subject.clone().into(), triple.predicate.clone().into(), triple.object.clone()];
        self.row(terms.iter().map(Some))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_counted_and_limited() {
        let mut out = Vec::new();
        let mut writer = QleverJsonWriter::new(&mut out, "SELECT \"q\"", Some(1));
        writer.variables(&[Variable::new_unchecked("a"), Variable::new_unchecked("b")]).unwrap();
        let text = Literal::new_language_tagged_literal_unchecked("a \"b\"\u{1}", "en");
        writer.solution(&[Some(text.into()), None]).unwrap();
        writer.solution(&[None, None]).unwrap();
        writer.finish().unwrap();
        assert_eq!(
            String::from_utf8(out).unwrap(),
            r#"{"query":"SELECT \"q\"","status":"OK","warnings":[],"selected":["?a","?b"],"res":[["\"a \"b\"\u0001\"@en",null]],"resultSizeExported":1,"resultSizeTotal":2,"resultsize":2}"#
                .replace("a \"b\"\\u", "a \\\"b\\\"\\u")
        );
    }

    #[test]
    fn a_truth_value_is_a_row() {
        let mut out = Vec::new();
        let mut writer = QleverJsonWriter::new(&mut out, "ASK {}", None);
        writer.boolean(true).unwrap();
        writer.finish().unwrap();
        let text = String::from_utf8(out).unwrap();
        assert!(
            text.contains(r#""selected":["?result"],"res":[["\"true\"^^<http://www.w3.org/2001/XMLSchema#boolean>"]]"#)
        );
    }
}
