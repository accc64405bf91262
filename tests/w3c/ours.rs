//! Runs a test's query on a snapshot of its data.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use oxrdf::{Graph, NamedNode, Term, Triple, Variable};
use oxrdfio::{RdfFormat, RdfSerializer};
use terrapin::load::Quiet;
use terrapin::load::{self, Entities, LoadOptions};
use terrapin::rdf::Store;
use terrapin::snapshot::Snapshot;
use terrapin::sparql::{
    self, Dialect, Environment, QueryResultForm, ResultSink, SparqlBounds, SparqlErrorClass, SparqlSettings,
};

use super::answer::ConformanceAnswer;
use super::manifest::{W3cTest, W3cTestKind, graph, url};

/// Returns an error with the reason if a snapshot does not pass a test.
pub fn passes(test: &W3cTest) -> Result<(), String> {
    // Queries of the suite may be relative to the location of their file.
    let text = format!("BASE <{}>\n{}", url(&test.file), test.text);
    let settings = SparqlSettings { dialect: Dialect::Standard, ..SparqlSettings::default() };
    match (test.kind, sparql::prepare(&text, &settings)) {
        // Unknown functions are reported when a query is prepared, but they are not syntax errors.
        (W3cTestKind::PositiveSyntax, Err(e)) if e.class == SparqlErrorClass::Syntax => Err(e.to_string()),
        (W3cTestKind::PositiveSyntax, _) => Ok(()),
        (W3cTestKind::NegativeSyntax, Err(e)) if e.class == SparqlErrorClass::Syntax => Ok(()),
        (W3cTestKind::NegativeSyntax, _) => Err("is taken".to_owned()),
        (W3cTestKind::Evaluation, Err(e)) => Err(e.to_string()),
        (W3cTestKind::Evaluation, Ok(prepared)) => {
            let file = test.result.as_deref().ok_or("has no result")?;
            let is_graph = prepared.form() == QueryResultForm::Graph;
            let expected = ConformanceAnswer::read(file, is_graph, test.lax).ok_or("its result cannot be read")?;
            let folder = tempfile::tempdir().map_err(|e| e.to_string())?;
            let environment = Environment {
                store: snapshot(test, folder.path())?,
                elements: None,
                now: "2020-01-01T00:00:00Z".to_owned(),
                seed: b"w3c".to_vec(),
            };
            let mut collected = SolutionCollector::default();
            prepared.run(&environment, &SparqlBounds::default(), &mut collected).map_err(|e| e.to_string())?;
            let found = collected.answer(prepared.form(), test.lax);
            if found == expected { Ok(()) } else { Err(format!("answers {found:?}, not {expected:?}")) }
        }
    }
}

fn snapshot(test: &W3cTest, folder: &Path) -> Result<Arc<Store>, String> {
    // Convert all data to N-Triples, because the loaders do not read RDF/XML or resolve relative IRIs.
    let mut rdf: Vec<PathBuf> = Vec::new();
    for (number, path) in test.data.iter().enumerate() {
        let out = folder.join(format!("{number}.nt"));
        let mut serializer = RdfSerializer::from_format(RdfFormat::NTriples).for_writer(Vec::new());
        for triple in &graph(path) {
            serializer.serialize_triple(triple).map_err(|e| e.to_string())?;
        }
        std::fs::write(&out, serializer.finish().map_err(|e| e.to_string())?).map_err(|e| e.to_string())?;
        rdf.push(out);
    }
    for (number, path) in test.graphs.iter().enumerate() {
        let out = folder.join(format!("{number}.nq"));
        let name = NamedNode::new_unchecked(url(path));
        let mut serializer = RdfSerializer::from_format(RdfFormat::NQuads).for_writer(Vec::new());
        for triple in &graph(path) {
            serializer.serialize_quad(triple.in_graph(&name)).map_err(|e| e.to_string())?;
        }
        std::fs::write(&out, serializer.finish().map_err(|e| e.to_string())?).map_err(|e| e.to_string())?;
        rdf.push(out);
    }
    if rdf.is_empty() {
        let out = folder.join("none.nt");
        std::fs::write(&out, "").map_err(|e| e.to_string())?;
        rdf.push(out);
    }
    let out = folder.join("test.terrapin");
    let options = LoadOptions { rdf, memory: 1 << 26, ..LoadOptions::new(out.clone()) };
    // Some data files of the suite are intentionally empty.
    let empty = Entities { allow_empty: true, ..Entities::default() };
    load::load_entities(&options, &empty, &Quiet).map_err(|e| e.to_string())?;
    let snapshot = Arc::new(Snapshot::open(&out).map_err(|e| e.to_string())?);
    Ok(Arc::new(Store::open(&snapshot).map_err(|e| e.to_string())?.ok_or("no triples")?))
}

#[derive(Default)]
struct SolutionCollector {
    variables: Vec<Variable>,
    solutions: Vec<Vec<(Variable, Term)>>,
    boolean: bool,
    graph: Graph,
}

impl SolutionCollector {
    fn answer(self, form: QueryResultForm, lax: bool) -> ConformanceAnswer {
        match form {
            QueryResultForm::Select => ConformanceAnswer::solutions(self.solutions, lax),
            QueryResultForm::Ask => ConformanceAnswer::Boolean(self.boolean),
            QueryResultForm::Graph => ConformanceAnswer::triples(self.graph),
        }
    }
}

impl ResultSink for SolutionCollector {
    fn variables(&mut self, variables: &[Variable]) -> std::io::Result<()> {
        self.variables = variables.to_vec();
        Ok(())
    }

    fn solution(&mut self, values: &[Option<Term>]) -> std::io::Result<()> {
        let bound = self.variables.iter().zip(values);
        self.solutions.push(bound.filter_map(|(v, t)| Some((v.clone(), t.clone()?))).collect());
        Ok(())
    }

    fn boolean(&mut self, value: bool) -> std::io::Result<()> {
        self.boolean = value;
        Ok(())
    }

    fn triple(&mut self, triple: &Triple) -> std::io::Result<()> {
        self.graph.insert(triple);
        Ok(())
    }
}
