//! Reads the suite's manifests.

use std::path::{Path, PathBuf};

use oxrdf::{Graph, NamedNode, NamedOrBlankNodeRef, Quad, TermRef, Triple};
use oxrdfio::{RdfFormat, RdfParser};
use spargebra::SparqlParser;

const MF: &str = "http://www.w3.org/2001/sw/DataAccess/tests/test-manifest#";
const QT: &str = "http://www.w3.org/2001/sw/DataAccess/tests/test-query#";
const RDF: &str = "http://www.w3.org/1999/02/22-rdf-syntax-ns#";

/// The kind of a test.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum W3cTestKind {
    /// The query must have the given answer.
    Evaluation,
    /// The query must parse.
    PositiveSyntax,
    /// The query must not parse.
    NegativeSyntax,
    /// The query must have the given answer in CSV.
    Csv,
    /// The query needs other endpoints.
    Federated,
}

/// A test.
#[derive(Debug, Clone)]
pub struct W3cTest {
    pub name: String,
    pub kind: W3cTestKind,
    /// Text of the query.
    pub text: String,
    pub file: PathBuf,
    pub data: Vec<PathBuf>,
    pub graphs: Vec<PathBuf>,
    pub result: Option<PathBuf>,
    /// Whether duplicate solutions may be removed.
    pub lax: bool,
}

/// Returns the tests below a folder, in the order of their manifests.
pub fn tests(root: &Path) -> Vec<W3cTest> {
    let mut folders: Vec<PathBuf> =
        std::fs::read_dir(root).expect("the suite").map(|entry| entry.unwrap().path()).filter(|p| p.is_dir()).collect();
    folders.sort();
    // Skip protocols, and entailment, which is not part of SPARQL itself.
    let other = ["entailment", "protocol", "service-description", "graph-store-protocol"];
    folders.retain(|f| !other.iter().any(|name| f.ends_with(name)));
    folders.iter().map(|f| f.join("manifest.ttl")).filter(|m| m.exists()).flat_map(|m| read(&m)).collect()
}

pub fn url(path: &Path) -> String {
    format!("file://{}", path.display())
}

/// Reads the triples of a file, without the names of their graphs.
pub fn graph(path: &Path) -> Graph {
    quads(path).into_iter().map(Triple::from).collect()
}

/// Reads the triples of a file with the names of their graphs.
pub fn quads(path: &Path) -> Vec<Quad> {
    let format = path.extension().and_then(|e| RdfFormat::from_extension(e.to_str()?)).expect("a known format");
    let parser = RdfParser::from_format(format).with_base_iri(url(path)).unwrap().lenient();
    let bytes = std::fs::read(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    let quad = |quad: Result<Quad, _>| quad.unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    parser.for_slice(&bytes).map(quad).collect()
}

struct W3cManifest(Graph);

impl W3cManifest {
    fn object<'a>(&'a self, subject: NamedOrBlankNodeRef<'a>, namespace: &str, name: &str) -> Option<TermRef<'a>> {
        let predicate = NamedNode::new_unchecked(format!("{namespace}{name}"));
        self.0.object_for_subject_predicate(subject, &predicate)
    }

    fn files<'a>(&'a self, subject: NamedOrBlankNodeRef<'a>, name: &str) -> Vec<PathBuf> {
        let predicate = NamedNode::new_unchecked(format!("{QT}{name}"));
        let mut files: Vec<_> = self
            .0
            .objects_for_subject_predicate(subject, &predicate)
            .filter_map(|object| match object {
                TermRef::BlankNode(node) => path(self.object(node.into(), QT, "graph")?),
                object => path(object),
            })
            .collect();
        files.sort();
        files
    }
}

/// Returns the files that a query names as its graphs.
fn named(text: &str, file: &Path) -> Vec<PathBuf> {
    let Ok(query) = SparqlParser::new().with_base_iri(url(file)).expect("an IRI").parse_query(text) else {
        return vec![];
    };
    let Some(dataset) = query.dataset() else { return vec![] };
    let mut files: Vec<PathBuf> = dataset
        .default
        .iter()
        .chain(dataset.named.iter().flatten())
        .filter_map(|name| path(name.as_ref().into()))
        .filter(|path| path.exists())
        .collect();
    files.sort();
    files.dedup();
    files
}

fn path(term: TermRef<'_>) -> Option<PathBuf> {
    match term {
        TermRef::NamedNode(node) => node.as_str().strip_prefix("file://").map(PathBuf::from),
        _ => None,
    }
}

fn subject(term: TermRef<'_>) -> Option<NamedOrBlankNodeRef<'_>> {
    match term {
        TermRef::NamedNode(node) => Some(node.into()),
        TermRef::BlankNode(node) => Some(node.into()),
        TermRef::Literal(_) | TermRef::Triple(_) => None,
    }
}

fn read(file: &Path) -> Vec<W3cTest> {
    let manifest = W3cManifest(graph(file));
    let entries = NamedNode::new_unchecked(format!("{MF}entries"));
    let mut tests = Vec::new();
    let mut list = manifest.0.triples_for_predicate(&entries).next().and_then(|entries| subject(entries.object));
    while let Some(node) = list {
        let Some(entry) = manifest.object(node, RDF, "first").and_then(subject) else { break };
        tests.extend(test(&manifest, entry));
        list = manifest.object(node, RDF, "rest").and_then(subject);
    }
    tests
}

fn test(manifest: &W3cManifest, entry: NamedOrBlankNodeRef<'_>) -> Option<W3cTest> {
    let kind = match manifest.object(entry, RDF, "type")? {
        TermRef::NamedNode(node) => match node.as_str().strip_prefix(MF)? {
            "CSVResultFormatTest" => W3cTestKind::Csv,
            "QueryEvaluationTest" if entry.to_string().contains("/service/") => W3cTestKind::Federated,
            "QueryEvaluationTest" => W3cTestKind::Evaluation,
            "PositiveSyntaxTest" | "PositiveSyntaxTest11" => W3cTestKind::PositiveSyntax,
            "NegativeSyntaxTest" | "NegativeSyntaxTest11" => W3cTestKind::NegativeSyntax,
            _ => return None,
        },
        _ => return None,
    };
    let action = manifest.object(entry, MF, "action")?;
    let (file, data, graphs) = match action {
        TermRef::BlankNode(node) => {
            let file = path(manifest.object(node.into(), QT, "query")?)?;
            (file, manifest.files(node.into(), "data"), manifest.files(node.into(), "graphData"))
        }
        action => (path(action)?, Vec::new(), Vec::new()),
    };
    let text = std::fs::read_to_string(&file).unwrap_or_else(|e| panic!("{}: {e}", file.display()));
    let name = entry.to_string().trim_matches(['<', '>']).to_owned();
    let result = manifest.object(entry, MF, "result").and_then(path);
    let graphs = if data.is_empty() && graphs.is_empty() { named(&text, &file) } else { graphs };
    let lax = manifest.object(entry, MF, "resultCardinality").is_some();
    Some(W3cTest { name, kind, text, file, data, graphs, result, lax })
}
