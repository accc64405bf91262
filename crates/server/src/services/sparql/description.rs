//! The SPARQL 1.1 Service Description of the endpoint, returned for a request without a query.

use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use oxrdf::vocab::rdf;
use oxrdf::{BlankNode, Literal, NamedNode, NamedNodeRef, Term, Triple};
use oxrdfio::RdfSerializer;

use super::{negotiate, plain};
use terrapin_sparql::geo;
use terrapin_sparql::results::GraphFormat;
use terrapin_triples::Store;

const SD: &str = "http://www.w3.org/ns/sparql-service-description#";
const VOID: &str = "http://rdfs.org/ns/void#";

/// Returns the description in the format that the client accepts.
pub fn description(store: &Store, format: Option<&str>, accept: Option<&str>) -> Response {
    let choice = negotiate::graph(format, accept);
    let Some((GraphFormat::Rdf(rdf), content_type)) = choice.map(|choice| (choice.format, choice.content_type)) else {
        return plain(StatusCode::NOT_ACCEPTABLE, "the service description is a graph: accept text/turtle, for one");
    };
    let mut serializer = RdfSerializer::from_format(rdf).for_writer(Vec::new());
    for triple in triples(store) {
        if serializer.serialize_triple(&triple).is_err() {
            return plain(StatusCode::INTERNAL_SERVER_ERROR, "the service description could not be written");
        }
    }
    match serializer.finish() {
        Ok(bytes) => ([(header::CONTENT_TYPE, content_type), (header::VARY, "accept")], bytes).into_response(),
        Err(_) => plain(StatusCode::INTERNAL_SERVER_ERROR, "the service description could not be written"),
    }
}

fn triples(store: &Store) -> Vec<Triple> {
    let sd = |name: &str| NamedNode::new_unchecked(format!("{SD}{name}"));
    let is_a = NamedNode::from(rdf::TYPE);
    let [service, dataset, graph] = ["service", "dataset", "graph"].map(BlankNode::new_unchecked);
    let mut all = vec![
        Triple::new(service.clone(), is_a.clone(), sd("Service")),
        // Relative: wherever the client asked.
        Triple::new(service.clone(), sd("supportedLanguage"), sd("SPARQL11Query")),
        Triple::new(service.clone(), sd("defaultDataset"), dataset.clone()),
        Triple::new(dataset.clone(), is_a.clone(), sd("Dataset")),
        Triple::new(dataset, sd("defaultGraph"), graph.clone()),
        Triple::new(graph.clone(), is_a.clone(), sd("Graph")),
        Triple::new(
            graph,
            NamedNode::new_unchecked(format!("{VOID}triples")),
            Literal::from(i64::try_from(store.len()).unwrap_or(i64::MAX)),
        ),
    ];
    for format in negotiate::result_formats() {
        all.push(Triple::new(service.clone(), sd("resultFormat"), NamedNodeRef::new_unchecked(format)));
    }
    for (name, _) in geo::functions() {
        let function = NamedNode::new_unchecked(format!("{}{name}", geo::NAMESPACE));
        all.push(Triple::new(service.clone(), sd("extensionFunction"), Term::from(function.clone())));
        all.push(Triple::new(function, is_a.clone(), sd("Function")));
    }
    all
}
