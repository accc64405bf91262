//! `/wiki/Special:EntityData/Q42.json`: an entity with all its parts, in the format of Wikidata's linked data
//! interface, and `/entity/Q42`, which redirects to it.

use std::sync::Arc;

use axum::Extension;
use axum::extract::{OriginalUri, Path, RawQuery, Request, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use serde_json::json;

use super::answer::{EntityAnswer, answer, elsewhere};
use super::parameters::ActionParameters;
use crate::App;
use crate::accept::{self, AcceptHeader};
use crate::context::HttpRequestContext;
use crate::json::JsonWording;
use crate::service::Wording;
use terrapin_entities::json::{LanguageFilter, Props, entity, lexeme_part};
use terrapin_entities::{EntityName, EntityRecord, Lookup};
use terrapin_triples::Store;

/// The path of an entity's data, without its name.
const DATA: &str = "/wiki/Special:EntityData/";
/// The path of an entity's page, without its name.
const PAGE: &str = "/entity/";

/// Returns an entity's data, or a redirect to it.
pub async fn data(
    State(app): State<Arc<App>>,
    Extension(context): Extension<Arc<HttpRequestContext>>,
    Path(page): Path<String>,
    RawQuery(query): RawQuery,
    headers: HeaderMap,
) -> Response {
    let accept = accept::text(&headers);
    let parameters = move || ActionParameters::of(query.as_deref(), b"");
    let answer = answer(&app, &context, "entity data", &JsonWording, parameters, move |store, parameters| {
        give(store, &page, parameters.get("format").filter(|format| !format.is_empty()), accept.as_deref())
    })
    .await;
    let mut response = answer.into_response();
    response.headers_mut().append(header::VARY, HeaderValue::from_static("accept"));
    response
}

fn refusal(status: StatusCode, message: &str) -> EntityAnswer {
    Err(Box::new(JsonWording.refusal(status, message)))
}

/// The RDF formats that `/sparql` writes, by the endings of Wikidata's data pages, with their media types.
const RDF: [(&str, &[&str]); 4] = [
    ("ttl", &["text/turtle", "application/x-turtle"]),
    ("nt", &["application/n-triples", "text/n-triples"]),
    ("rdf", &["application/rdf+xml", "application/xml", "text/xml"]),
    ("n3", &["text/n3", "text/rdf+n3"]),
];

fn give(store: &Store, page: &str, format: Option<&str>, accept: Option<&str>) -> EntityAnswer {
    let (text, ending) = page.rsplit_once('.').map_or((page, None), |(name, ending)| (name, Some(ending)));
    let Some(name) = EntityName::parse(text) else {
        return refusal(StatusCode::BAD_REQUEST, &format!("Invalid ID: {text}."));
    };
    let see = |address: &str| Err(Box::new(elsewhere(StatusCode::SEE_OTHER, address)));
    let missing = || refusal(StatusCode::NOT_FOUND, &format!("No entity with ID {name} was found."));
    let ending = ending.or(format).unwrap_or_else(|| preferred(accept));
    let is_rdf = RDF.iter().any(|(known, _)| *known == ending);
    if ending != "json" && ending != "html" && !is_rdf {
        let message = format!("unknown data format {ending:?}: use json, html, ttl, nt, n3 or rdf");
        return refusal(StatusCode::UNSUPPORTED_MEDIA_TYPE, &message);
    }
    match EntityRecord::lookup(store, name.entity) {
        Lookup::Redirect(to) if !name.is_part() => return see(&format!("{DATA}{to}.{ending}")),
        Lookup::Redirect(_) | Lookup::Missing => return missing(),
        Lookup::Here => {}
    }
    let Some(found) = EntityRecord::of(store, name.entity) else { return missing() };
    let part = found.lexeme_part(&name.to_string());
    if name.is_part() && part.is_none() {
        return missing();
    }
    let name = name.to_string();
    if is_rdf {
        let query = format!("DESCRIBE%20%3Chttp://www.wikidata.org/entity/{name}%3E");
        return see(&format!("/sparql?query={query}&format={ending}"));
    }
    if ending == "html" {
        return see(&format!("{PAGE}{name}"));
    }
    let props = Props { urls: true, ..Props::ALL };
    let object = match part {
        Some(part) => lexeme_part(&found, part, props),
        None => entity(&found, props, LanguageFilter::All),
    };
    Ok((json!({ "entities": { name: object } }), 1))
}

/// Returns the ending of the format that a header `Accept` prefers: JSON unless it ranks another format higher.
fn preferred(accept: Option<&str>) -> &'static str {
    let Some(accept) = accept.map(AcceptHeader::of) else { return "json" };
    let quality = |types: &[&str]| types.iter().map(|name| accept.quality(name)).max().unwrap_or(0);
    let others = RDF.iter().map(|(ending, types)| (quality(types), *ending));
    let all = [(quality(&["application/json"]), "json"), (quality(&["text/html"]), "html")].into_iter().chain(others);
    let mut best = (0, "json");
    for candidate in all {
        // The first of equally accepted formats is kept.
        if candidate.0 > best.0 {
            best = candidate;
        }
    }
    best.1
}

/// Handles `/entity/{id}`, the IRI of an entity, before the page does. A client that prefers HTML gets the page. Any
/// other is redirected to the data, as Wikidata does for the IRIs of its entities.
pub async fn moved(OriginalUri(uri): OriginalUri, request: Request, next: Next) -> Response {
    let text = uri.path().rsplit('/').next().unwrap_or_default();
    let (id, ending) = text.rsplit_once('.').map_or((text, None), |(id, ending)| (id, Some(ending)));
    let ending = ending.unwrap_or_else(|| preferred(accept::text(request.headers()).as_deref()));
    let mut answer = match EntityName::parse(id) {
        Some(name) if ending != "html" => {
            elsewhere(StatusCode::SEE_OTHER, &format!("{DATA}{name}.{ending}")).into_response()
        }
        _ => next.run(request).await,
    };
    answer.headers_mut().append(header::VARY, HeaderValue::from_static("accept"));
    answer
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_follow_accept() {
        let browser = "text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,*/*;q=0.8";
        for (accept, ending) in [
            (browser, "html"),
            ("text/html", "html"),
            ("*/*", "json"),
            ("application/json", "json"),
            ("application/json, text/html", "json"),
            ("text/turtle", "ttl"),
            ("application/rdf+xml, text/turtle;q=0.5", "rdf"),
            ("application/n-triples", "nt"),
            ("text/n3", "n3"),
            ("image/png", "json"),
        ] {
            assert_eq!(preferred(Some(accept)), ending, "{accept}");
        }
        assert_eq!(preferred(None), "json");
    }
}
