//! The SPARQL 1.1 Service Description of the endpoint, returned for a request without a query.
//! Vocabulary: <https://www.w3.org/TR/sparql11-service-description/>.

use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use oxrdf::vocab::rdf;
use oxrdf::{BlankNode, Literal, NamedNode, NamedNodeRef, NamedOrBlankNode, Term, Triple};
use oxrdfio::RdfSerializer;

use super::negotiate;
use super::wording::plain;
use terrapin_sparql::results::GraphFormat;
use terrapin_sparql::{extension_aggregates, extension_functions};
use terrapin_triples::Store;

const SD: &str = "http://www.w3.org/ns/sparql-service-description#";
const VOID: &str = "http://rdfs.org/ns/void#";
/// Maximum number of named graphs to list.
const MOST_GRAPHS: usize = 1000;

/// Returns the description in the format that the client accepts. `endpoint` is the URL of the endpoint, if known.
pub fn description(store: &Store, endpoint: Option<&str>, format: Option<&str>, accept: Option<&str>) -> Response {
    let choice = negotiate::graph(format, accept);
    let Some((GraphFormat::Rdf(rdf), content_type)) = choice.map(|choice| (choice.format, choice.content_type)) else {
        return plain(StatusCode::NOT_ACCEPTABLE, "the service description is a graph: accept text/turtle, for one");
    };
    let failed = || plain(StatusCode::INTERNAL_SERVER_ERROR, "the service description could not be written");
    let serializer = RdfSerializer::from_format(rdf).with_prefix("sd", SD).and_then(|s| s.with_prefix("void", VOID));
    let Ok(serializer) = serializer else { return failed() };
    let mut serializer = serializer.for_writer(Vec::new());
    for triple in Description::of(store, endpoint).triples {
        if serializer.serialize_triple(&triple).is_err() {
            return failed();
        }
    }
    match serializer.finish() {
        Ok(bytes) => ([(header::CONTENT_TYPE, content_type), (header::VARY, "accept")], bytes).into_response(),
        Err(_) => failed(),
    }
}

/// The triples of a description.
struct Description {
    triples: Vec<Triple>,
}

impl Description {
    fn of(store: &Store, endpoint: Option<&str>) -> Description {
        let mut description = Description { triples: Vec::new() };
        let service = blank("service");
        description.add(&service, rdf::TYPE, sd("Service"));
        if let Some(endpoint) = endpoint.and_then(|endpoint| NamedNode::new(endpoint).ok()) {
            description.add(&service, sd("endpoint").as_ref(), endpoint);
        }
        for language in ["SPARQL10Query", "SPARQL11Query"] {
            description.add(&service, sd("supportedLanguage").as_ref(), sd(language));
        }
        // Without FROM and GRAPH, a query reads all graphs together.
        description.add(&service, sd("feature").as_ref(), sd("UnionDefaultGraph"));
        let simple = NamedNode::new_unchecked("http://www.w3.org/ns/entailment/Simple");
        description.add(&service, sd("defaultEntailmentRegime").as_ref(), simple);
        for format in negotiate::result_formats() {
            description.add(&service, sd("resultFormat").as_ref(), NamedNode::new_unchecked(format));
        }
        description.dataset(&service, store);
        for (property, class, names) in [
            ("extensionFunction", "Function", extension_functions().collect::<Vec<_>>()),
            ("extensionAggregate", "Aggregate", extension_aggregates().collect()),
        ] {
            for name in &names {
                description.add(&service, sd(property).as_ref(), name.clone());
            }
            for name in names {
                description.add(&name.into(), rdf::TYPE, sd(class));
            }
        }
        description
    }

    /// Adds the default dataset with its graphs.
    fn dataset(&mut self, service: &NamedOrBlankNode, store: &Store) {
        let (dataset, graph) = (blank("dataset"), blank("graph"));
        self.add(service, sd("defaultDataset").as_ref(), dataset.clone());
        let names: Vec<NamedNode> = store
            .graphs()
            .into_iter()
            .flat_map(|graphs| graphs.names())
            .filter_map(|name| match store.term(name)? {
                Term::NamedNode(name) => Some(name),
                _ => None,
            })
            .take(MOST_GRAPHS)
            .collect();
        if !names.is_empty() {
            // The dataset is also the collection that FROM and FROM NAMED select from.
            self.add(service, sd("availableGraphs").as_ref(), dataset.clone());
            self.add(&dataset, rdf::TYPE, sd("GraphCollection"));
        }
        self.add(&dataset, rdf::TYPE, sd("Dataset"));
        self.add(&dataset, sd("defaultGraph").as_ref(), graph.clone());
        for number in 0..names.len() {
            self.add(&dataset, sd("namedGraph").as_ref(), blank(&format!("graph{number}")));
        }
        self.add(&graph, rdf::TYPE, sd("Graph"));
        let triples = Literal::from(i64::try_from(store.len()).unwrap_or(i64::MAX));
        let property = NamedNode::new_unchecked(format!("{VOID}triples"));
        self.triples.push(Triple::new(graph, property, triples));
        for (number, name) in names.into_iter().enumerate() {
            let graph = blank(&format!("graph{number}"));
            self.add(&graph, rdf::TYPE, sd("NamedGraph"));
            self.add(&graph, sd("name").as_ref(), name);
        }
    }

    fn add(&mut self, subject: &NamedOrBlankNode, predicate: NamedNodeRef<'_>, object: impl Into<NamedOrBlankNode>) {
        let object: NamedOrBlankNode = object.into();
        self.triples.push(Triple::new(subject.clone(), predicate, Term::from(object)));
    }
}

fn sd(name: &str) -> NamedNode {
    NamedNode::new_unchecked(format!("{SD}{name}"))
}

fn blank(label: &str) -> NamedOrBlankNode {
    BlankNode::new_unchecked(label).into()
}
