//! Sends the requests of the suite's protocol tests to a server.

use std::path::Path;

use oxrdf::{Graph, NamedNode, NamedOrBlankNodeRef, TermRef};

use super::manifest;
use crate::common::Town;
use crate::common::server::{HttpAnswer, TestServer};

const MF: &str = "http://www.w3.org/2001/sw/DataAccess/tests/test-manifest#";
const HT: &str = "http://www.w3.org/2011/http#";
const CNT: &str = "http://www.w3.org/2011/content#";
const RDF: &str = "http://www.w3.org/1999/02/22-rdf-syntax-ns#";

/// A request with the expected response.
#[derive(Debug)]
struct ProtocolRequest {
    method: String,
    path: String,
    headers: String,
    body: String,
    /// The expected classes of statuses, such as 2.
    statuses: Vec<u16>,
    boolean: Option<bool>,
    /// `boolean`, `tabular` or `RDF`.
    format: Option<String>,
}

/// A protocol test.
pub struct ProtocolTest {
    pub name: String,
    requests: Vec<ProtocolRequest>,
}

/// Returns the protocol tests of a folder.
pub fn tests(folder: &Path) -> Vec<ProtocolTest> {
    let manifest = ProtocolManifest(manifest::graph(&folder.join("manifest.ttl")));
    let class = NamedNode::new_unchecked(format!("{MF}ProtocolTest"));
    let is_a = NamedNode::new_unchecked(format!("{RDF}type"));
    let subjects = manifest.0.subjects_for_predicate_object(&is_a, &class);
    let mut tests: Vec<ProtocolTest> = subjects.filter_map(|subject| manifest.test(subject)).collect();
    tests.sort_by(|a, b| a.name.cmp(&b.name));
    tests
}

/// Starts a server over the data of the tests: three documents, each in a graph of its own.
pub fn server(folder: &Path) -> TestServer {
    let quads: String = (1..=3)
        .map(|n| {
            let text = std::fs::read_to_string(folder.join(format!("data{n}.nt"))).expect("the suite's data");
            let graph = format!("<http://kasei.us/2009/09/sparql/data/data{n}.rdf> .");
            let quad = |line: &str| format!("{} {graph}\n", line.trim_end().trim_end_matches('.').trim_end());
            text.lines().filter(|line| !line.trim().is_empty()).map(quad).collect::<String>()
        })
        .collect();
    TestServer::over(Town::with_quads(&quads), &[])
}

struct ProtocolManifest(Graph);

impl ProtocolManifest {
    fn object<'a>(&'a self, subject: NamedOrBlankNodeRef<'a>, name: &str) -> Option<TermRef<'a>> {
        self.0.object_for_subject_predicate(subject, &NamedNode::new_unchecked(name))
    }

    fn text(&self, subject: NamedOrBlankNodeRef<'_>, name: &str) -> Option<String> {
        match self.object(subject, name)? {
            TermRef::Literal(literal) => Some(literal.value().to_owned()),
            _ => None,
        }
    }

    fn node<'a>(&'a self, subject: NamedOrBlankNodeRef<'a>, name: &str) -> Option<NamedOrBlankNodeRef<'a>> {
        match self.object(subject, name)? {
            TermRef::NamedNode(node) => Some(node.into()),
            TermRef::BlankNode(node) => Some(node.into()),
            TermRef::Literal(_) | TermRef::Triple(_) => None,
        }
    }

    fn list<'a>(&'a self, subject: NamedOrBlankNodeRef<'a>, name: &str) -> Vec<NamedOrBlankNodeRef<'a>> {
        let mut items = Vec::new();
        let mut next = self.node(subject, name);
        while let Some(node) = next {
            let Some(item) = self.node(node, &format!("{RDF}first")) else { break };
            items.push(item);
            next = self.node(node, &format!("{RDF}rest"));
        }
        items
    }

    fn test(&self, subject: NamedOrBlankNodeRef<'_>) -> Option<ProtocolTest> {
        let name = subject.to_string().rsplit('#').next()?.trim_end_matches('>').to_owned();
        let connection = self.node(subject, &format!("{MF}action"))?;
        let requests = self.list(connection, &format!("{HT}requests"));
        let requests = requests.into_iter().map(|request| self.request(request)).collect::<Option<_>>()?;
        Some(ProtocolTest { name, requests })
    }

    fn request(&self, request: NamedOrBlankNodeRef<'_>) -> Option<ProtocolRequest> {
        let ht = |name: &str| format!("{HT}{name}");
        let headers = self.list(request, &ht("headers"));
        let header = |header| {
            let (name, value) = (self.text(header, &ht("fieldName"))?, self.text(header, &ht("fieldValue"))?);
            Some(format!("{name}: {value}\r\n"))
        };
        let headers: String = headers.into_iter().filter_map(header).collect();
        let body = self.node(request, &ht("body"));
        let text = body.and_then(|body| self.text(body, &format!("{CNT}chars"))).unwrap_or_default();
        let encoding = body.and_then(|body| self.text(body, &format!("{CNT}characterEncoding")));
        let body = match encoding.as_deref() {
            Some(name) if name.eq_ignore_ascii_case("UTF-16") => text.chars().flat_map(|c| ['\0', c]).collect(),
            _ => text,
        };
        let response = self.node(request, &ht("resp"))?;
        let statuses = NamedNode::new_unchecked(format!("{MF}expectedStatus"));
        let class = |status: TermRef<'_>| {
            let status = status.to_string();
            status.rsplit("StatusCode").next()?.chars().next()?.to_digit(10).map(|class| class as u16)
        };
        Some(ProtocolRequest {
            method: self.text(request, &ht("methodName"))?,
            path: self.text(request, &ht("absolutePath"))?,
            headers,
            body,
            statuses: self.0.objects_for_subject_predicate(response, &statuses).filter_map(class).collect(),
            boolean: self.text(response, &format!("{MF}expectedBoolean")).map(|text| text == "true"),
            format: self.text(response, &format!("{MF}expectedFormat")),
        })
    }
}

impl ProtocolTest {
    /// Returns whether a request of the test is an update that must succeed.
    pub fn updates(&self) -> bool {
        let is_update = |r: &ProtocolRequest| r.body.contains("update=") || r.headers.contains("sparql-update");
        self.requests.iter().any(|request| is_update(request) && request.statuses.contains(&2))
    }

    /// Sends the requests and compares the responses.
    pub fn passes(&self, server: &TestServer) -> Result<(), String> {
        for request in &self.requests {
            let answer = server.ask(&request.method, &request.path, &request.headers, &request.body);
            request.fits(&answer).map_err(|why| format!("{why}: {request:?}\n{} {}", answer.status, answer.text()))?;
        }
        Ok(())
    }

    /// Sends the updates; each must be refused with status 403.
    pub fn is_refused(&self, server: &TestServer) -> bool {
        let first = &self.requests[0];
        server.ask(&first.method, &first.path, &first.headers, &first.body).status == 403
    }
}

impl ProtocolRequest {
    fn fits(&self, answer: &HttpAnswer) -> Result<(), String> {
        if !self.statuses.contains(&(answer.status / 100)) {
            return Err(format!("status {}, not {:?}xx", answer.status, self.statuses));
        }
        if answer.status >= 400 {
            return Ok(());
        }
        let content_type = answer.header("content-type").unwrap_or_default().to_owned();
        let tables = ["sparql-results+xml", "sparql-results+json", "text/csv", "text/tab-separated-values"];
        let allowed: &[&str] = match self.format.as_deref() {
            Some("boolean") => &tables[..2],
            Some("tabular") => &tables,
            Some("RDF") => &["application/rdf+xml", "text/turtle", "application/n-triples"],
            _ => return Ok(()),
        };
        if !allowed.iter().any(|allowed| content_type.contains(allowed)) {
            return Err(format!("has the type {content_type}"));
        }
        match self.boolean {
            Some(value) if !answer.text().contains(&format!("\"boolean\":{value}")) => Err("another answer".to_owned()),
            _ => Ok(()),
        }
    }
}
