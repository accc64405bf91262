//! A snapshot of a few triples, and answers of SPARQL as short lines.

use std::io;
use std::sync::Arc;

use oxrdf::{Term, Triple, Variable};
use terrapin::load::{LoadOptions, Quiet, load};
use terrapin::snapshot::Snapshot;
use terrapin::sparql::{Environment, ResultSink};

/// Loads the triples of a text into a snapshot. The ending of `name` sets their format, such as `x.ttl`.
pub fn environment(name: &str, text: &str) -> Environment {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join(name);
    std::fs::write(&file, text).unwrap();
    let out = folder.path().join("x.terrapin");
    load(&LoadOptions { rdf: vec![file], memory: 1 << 26, ..LoadOptions::new(out.clone()) }, &Quiet).unwrap();
    Environment::open(&Arc::new(Snapshot::open(&out).unwrap())).unwrap().unwrap()
}

/// An answer as lines: a solution with its values separated by spaces, a triple, or `true` and `false`. Of IRIs, only
/// the part after the last slash is kept; of literals, the value.
pub struct ValueLines {
    /// The lines.
    pub lines: Vec<String>,
    /// The text of an unbound variable.
    unbound: &'static str,
}

impl ValueLines {
    /// Creates an empty answer.
    pub fn new(unbound: &'static str) -> ValueLines {
        ValueLines { lines: Vec::new(), unbound }
    }
}

impl ResultSink for ValueLines {
    fn variables(&mut self, _: &[Variable]) -> io::Result<()> {
        Ok(())
    }

    fn solution(&mut self, values: &[Option<Term>]) -> io::Result<()> {
        let cell = |value: &Option<Term>| match value {
            Some(Term::NamedNode(node)) => node.as_str().rsplit('/').next().unwrap().to_owned(),
            Some(Term::Literal(literal)) => literal.value().to_owned(),
            Some(Term::BlankNode(node)) => node.to_string(),
            Some(term @ Term::Triple(_)) => term.to_string(),
            None => self.unbound.to_owned(),
        };
        self.lines.push(values.iter().map(cell).collect::<Vec<_>>().join(" "));
        Ok(())
    }

    fn boolean(&mut self, value: bool) -> io::Result<()> {
        self.lines.push(value.to_string());
        Ok(())
    }

    fn triple(&mut self, triple: &Triple) -> io::Result<()> {
        self.lines.push(triple.to_string());
        Ok(())
    }
}
