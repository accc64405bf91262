//! Parses requests to `/sparql`: the query operation of the SPARQL 1.1 Protocol (section 2.1), by GET and by both forms
//! of POST.

use std::borrow::Cow;
use std::time::Duration;

use axum::http::{Method, StatusCode};
use oxrdf::NamedNode;

use crate::{form, route};
use terrapin_sparql::{Dialect, Entailment};

/// A query operation.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct QueryOperation {
    /// The query. `None` if the request has none, which by GET requests the service description.
    pub query: Option<String>,
    /// `default-graph-uri`, in order.
    pub default_graphs: Vec<NamedNode>,
    /// `named-graph-uri`, in order.
    pub named_graphs: Vec<NamedNode>,
    /// `timeout`, which can only shorten the server's limit.
    pub timeout: Option<Duration>,
    /// `dialect`: the dialect in which the query is parsed.
    pub dialect: Option<Dialect>,
    /// `entailment`: the entailment regimes.
    pub entailment: Entailment,
    /// `send`: the maximum number of rows in QLever's JSON.
    pub send: Option<u64>,
    /// `format`: a media type or a short name, which takes precedence over the header `Accept`.
    pub format: Option<String>,
}

/// The error for a request that is not a query operation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BadRequest {
    /// The HTTP status.
    pub status: StatusCode,
    /// A message that explains the problem and how to fix it.
    pub message: Cow<'static, str>,
}

impl BadRequest {
    fn new(status: StatusCode, message: impl Into<Cow<'static, str>>) -> Self {
        BadRequest { status, message: message.into() }
    }
}

const FORM: &str = "application/x-www-form-urlencoded";
const DIRECT: &str = "application/sparql-query";

impl QueryOperation {
    /// Parses a request. `content_type` is the header of that name.
    pub fn read(
        method: &Method,
        in_address: &str,
        content_type: Option<&str>,
        body: &[u8],
    ) -> Result<QueryOperation, BadRequest> {
        let mut operation = QueryOperation::default();
        operation.take(in_address.as_bytes())?;
        // Some clients send the query of a POST in the URL alone, with any content type or none.
        if method != Method::POST || (body.is_empty() && operation.query.is_some()) {
            return Ok(operation);
        }
        let charset =
            content_type.and_then(|t| t.split_once("charset=")).map(|(_, name)| name.trim_matches([' ', '"']));
        if let Some(charset) =
            charset.filter(|name| !["utf-8", "utf8", "us-ascii"].contains(&&*name.to_ascii_lowercase()))
        {
            let message = format!("send text in UTF-8, not in {charset:?}");
            return Err(BadRequest::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, message));
        }
        let media_type = content_type.and_then(|t| t.split(';').next()).map(str::trim).unwrap_or_default();
        if media_type.eq_ignore_ascii_case(FORM) {
            operation.take(body)?;
        } else if media_type.eq_ignore_ascii_case(DIRECT) {
            let text = std::str::from_utf8(body).map_err(not_utf8)?;
            operation.set_query(text.to_string())?;
        } else if media_type.eq_ignore_ascii_case("application/sparql-update") {
            return Err(read_only());
        } else {
            let message = format!("send a query as {FORM} or {DIRECT}, not as {media_type:?}");
            return Err(BadRequest::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, message));
        }
        match operation.query {
            Some(_) => Ok(operation),
            None => Err(BadRequest::new(StatusCode::BAD_REQUEST, "no query: send it as the parameter \"query\"")),
        }
    }

    fn take(&mut self, encoded: &[u8]) -> Result<(), BadRequest> {
        for (name, value) in form::pairs(encoded) {
            let value = form::decoded(value).map_err(not_utf8)?;
            match form::decoded(name).map_err(not_utf8)?.as_str() {
                "query" => self.set_query(value)?,
                "update" => return Err(read_only()),
                "default-graph-uri" => self.default_graphs.push(graph(value)?),
                "named-graph-uri" => self.named_graphs.push(graph(value)?),
                "timeout" | "dialect" | "entailment" | "format" | "send" if value.is_empty() => {}
                "timeout" => self.timeout = Some(seconds(&value)?),
                "dialect" => self.dialect = Some(dialect(&value)?),
                "entailment" => {
                    let wrong = |message: String| BadRequest::new(StatusCode::BAD_REQUEST, message);
                    self.entailment = value.parse().map_err(wrong)?;
                }
                "format" => self.format = Some(value),
                "send" => self.send = Some(rows(&value)?),
                // Clients send parameters of other services; the protocol allows them.
                _ => {}
            }
        }
        Ok(())
    }

    fn set_query(&mut self, query: String) -> Result<(), BadRequest> {
        if self.query.replace(query).is_some() {
            return Err(BadRequest::new(StatusCode::BAD_REQUEST, "more than one query in one request"));
        }
        Ok(())
    }
}

fn seconds(value: &str) -> Result<Duration, BadRequest> {
    let wrong = || BadRequest::new(StatusCode::BAD_REQUEST, "\"timeout\" is a number of seconds, from 0.001 to 1e9");
    value.parse().ok().and_then(route::timeout).ok_or_else(wrong)
}

fn rows(value: &str) -> Result<u64, BadRequest> {
    value.parse().map_err(|_| BadRequest::new(StatusCode::BAD_REQUEST, "\"send\" is a number of rows, from 0"))
}

fn dialect(name: &str) -> Result<Dialect, BadRequest> {
    Dialect::named(name).ok_or_else(|| {
        let known = Dialect::ALL.map(Dialect::name).join(", ");
        BadRequest::new(StatusCode::BAD_REQUEST, format!("unknown dialect {name:?}: known are {known}"))
    })
}

fn graph(name: String) -> Result<NamedNode, BadRequest> {
    NamedNode::new(&name).map_err(|error| {
        BadRequest::new(StatusCode::BAD_REQUEST, format!("the graph name {name:?} is not a valid IRI: {error}"))
    })
}

fn read_only() -> BadRequest {
    BadRequest::new(StatusCode::FORBIDDEN, "a snapshot never changes: this endpoint takes queries, not updates")
}

fn not_utf8<E>(_: E) -> BadRequest {
    BadRequest::new(StatusCode::BAD_REQUEST, "the query is not in UTF-8")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn get(address: &str) -> Result<QueryOperation, BadRequest> {
        QueryOperation::read(&Method::GET, address, None, b"")
    }

    fn post(content_type: &str, body: &[u8]) -> Result<QueryOperation, BadRequest> {
        QueryOperation::read(&Method::POST, "", Some(content_type), body)
    }

    #[test]
    fn a_query_comes_in_three_ways() {
        let ask = Some("ASK {}".to_string());
        assert_eq!(get("query=ASK+%7B%7D").unwrap().query, ask);
        assert_eq!(post("application/x-www-form-urlencoded; charset=utf-8", b"query=ASK%20%7B%7D").unwrap().query, ask);
        assert_eq!(post(DIRECT, b"ASK {}").unwrap().query, ask);
        assert_eq!(get("").unwrap().query, None);
        let in_address = |content_type| QueryOperation::read(&Method::POST, "query=ASK+%7B%7D", content_type, b"");
        assert_eq!(in_address(None).unwrap().query, ask);
        assert_eq!(in_address(Some("application/json")).unwrap().query, ask);
    }

    #[test]
    fn graphs_and_limits_come_beside_it() {
        let operation =
            get("query=q&default-graph-uri=u:a&default-graph-uri=u:b&named-graph-uri=u:c&timeout=1.5").unwrap();
        let names = |nodes: &[NamedNode]| nodes.iter().map(|n| n.as_str().to_owned()).collect::<Vec<_>>();
        assert_eq!(names(&operation.default_graphs), ["u:a", "u:b"]);
        assert_eq!(names(&operation.named_graphs), ["u:c"]);
        assert_eq!(operation.timeout, Some(Duration::from_millis(1500)));
    }

    #[test]
    fn what_is_no_query_operation_says_why() {
        let status = |r: Result<QueryOperation, BadRequest>| r.unwrap_err().status;
        assert_eq!(status(get("query=a&query=b")), StatusCode::BAD_REQUEST);
        assert_eq!(status(get("query=%FF")), StatusCode::BAD_REQUEST);
        assert_eq!(status(get("query=a&timeout=-1")), StatusCode::BAD_REQUEST);
        assert_eq!(status(get("query=a&timeout=1e99")), StatusCode::BAD_REQUEST);
        assert_eq!(status(get("query=a&default-graph-uri=no+iri")), StatusCode::BAD_REQUEST);
        let direct = "application/sparql-query; charset=UTF-16";
        assert_eq!(status(post(direct, b"ASK {}")), StatusCode::UNSUPPORTED_MEDIA_TYPE);
        assert_eq!(status(post("text/plain", b"ASK {}")), StatusCode::UNSUPPORTED_MEDIA_TYPE);
        assert_eq!(status(post(DIRECT, b"ASK {} # \xFF")), StatusCode::BAD_REQUEST);
        assert_eq!(status(post(FORM, b"update=CLEAR+ALL")), StatusCode::FORBIDDEN);
        assert_eq!(status(post("application/sparql-update", b"CLEAR ALL")), StatusCode::FORBIDDEN);
        assert_eq!(status(post(FORM, b"x=y")), StatusCode::BAD_REQUEST);
        assert_eq!(
            status(QueryOperation::read(&Method::POST, "", None, b"query=ASK")),
            StatusCode::UNSUPPORTED_MEDIA_TYPE
        );
        assert_eq!(status(QueryOperation::read(&Method::POST, "", None, b"")), StatusCode::UNSUPPORTED_MEDIA_TYPE);
    }
}
