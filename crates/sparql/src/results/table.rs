//! Writes solutions as a table for people: aligned columns, with Wikidata's IRIs and typed literals shortened.

use std::io::{self, Write};

use oxrdf::{Literal, Term, Triple, Variable};
use terrapin_base::untrusted;

use super::AnswerWriter;
use crate::ResultSink;
use crate::syntax::shorten;

/// Number of rows that determine the column widths. Wider cells in later rows are not aligned.
const MEASURED: usize = 500;
/// Maximum width of a column in characters.
const WIDEST: usize = 60;

/// Writes a table.
pub struct TextTableWriter<W: Write> {
    out: W,
    names: Vec<String>,
    waiting: Vec<Vec<String>>,
    widths: Option<Vec<usize>>,
    rows: u64,
    solutions: bool,
}

/// Formats a term for a cell, on one line: Wikidata's IRIs and typed literals are shortened.
pub fn cell(term: &Term) -> String {
    let text = match term {
        Term::NamedNode(node) => shorten(node.as_str()),
        Term::BlankNode(node) => node.to_string(),
        Term::Literal(literal) => match literal.language() {
            Some(_) => format!("{}@{}", literal.value(), language_tag(literal)),
            None => Literal::value(literal).to_owned(),
        },
        Term::Triple(triple) => {
            let subject = cell(&triple.subject.clone().into());
            format!("<<( {subject} {} {} )>>", shorten(triple.predicate.as_str()), cell(&triple.object))
        }
    };
    untrusted::line(&text).into_owned()
}

/// Returns the language of a literal, with its base direction after two hyphens.
pub(super) fn language_tag(literal: &Literal) -> String {
    let language = literal.language().unwrap_or_default();
    literal.direction().map_or_else(|| language.to_owned(), |direction| format!("{language}--{direction}"))
}

impl<W: Write> TextTableWriter<W> {
    /// Creates a table written to `out`.
    pub fn new(out: W) -> Self {
        TextTableWriter { out, names: Vec::new(), waiting: Vec::new(), widths: None, rows: 0, solutions: false }
    }

    fn line(out: &mut W, cells: &[String], widths: &[usize]) -> io::Result<()> {
        let mut line = String::new();
        for (cell, width) in cells.iter().zip(widths) {
            line.push_str(cell);
            let fill = (width + 2).saturating_sub(cell.chars().count()).max(2);
            line.extend(std::iter::repeat_n(' ', fill));
        }
        writeln!(out, "{}", line.trim_end())
    }

    /// Computes the column widths, then writes the header and the buffered rows.
    fn begin(&mut self) -> io::Result<()> {
        let mut widths: Vec<usize> = self.names.iter().map(|name| name.chars().count()).collect();
        for row in &self.waiting {
            for (width, cell) in widths.iter_mut().zip(row) {
                *width = (*width).max(cell.chars().count().min(WIDEST));
            }
        }
        Self::line(&mut self.out, &self.names, &widths)?;
        let rule: Vec<String> = widths.iter().map(|width| "-".repeat(*width)).collect();
        Self::line(&mut self.out, &rule, &widths)?;
        for row in std::mem::take(&mut self.waiting) {
            Self::line(&mut self.out, &row, &widths)?;
        }
        self.widths = Some(widths);
        Ok(())
    }
}

impl<W: Write> AnswerWriter for TextTableWriter<W> {
    /// Ends the table and writes the number of rows.
    fn finish(mut self) -> io::Result<()> {
        if self.solutions {
            if self.widths.is_none() {
                self.begin()?;
            }
            writeln!(self.out, "({} {})", self.rows, if self.rows == 1 { "row" } else { "rows" })?;
        }
        self.out.flush()
    }
}

impl<W: Write> ResultSink for TextTableWriter<W> {
    fn variables(&mut self, variables: &[Variable]) -> io::Result<()> {
        self.solutions = true;
        self.names = variables.iter().map(|v| v.as_str().to_owned()).collect();
        Ok(())
    }

    fn solution(&mut self, values: &[Option<Term>]) -> io::Result<()> {
        self.rows += 1;
        let row: Vec<String> = values.iter().map(|value| value.as_ref().map(cell).unwrap_or_default()).collect();
        if let Some(widths) = &self.widths {
            return Self::line(&mut self.out, &row, widths);
        }
        self.waiting.push(row);
        if self.waiting.len() >= MEASURED { self.begin() } else { Ok(()) }
    }

    fn boolean(&mut self, value: bool) -> io::Result<()> {
        writeln!(self.out, "{value}")
    }

    fn triple(&mut self, triple: &Triple) -> io::Result<()> {
        writeln!(self.out, "{triple} .")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_aligned() {
        let mut out = Vec::new();
        let mut table = TextTableWriter::new(&mut out);
        let node = oxrdf::NamedNode::new_unchecked("http://www.wikidata.org/entity/Q42");
        table.variables(&[Variable::new_unchecked("item"), Variable::new_unchecked("n")]).unwrap();
        table.solution(&[Some(node.into()), Some(Literal::from(1).into())]).unwrap();
        table.solution(&[None, Some(Literal::new_simple_literal("a\nb").into())]).unwrap();
        table.finish().unwrap();
        assert_eq!(String::from_utf8(out).unwrap(), "item    n\n------  ---\nwd:Q42  1\n        a b\n(2 rows)\n");
    }
}
