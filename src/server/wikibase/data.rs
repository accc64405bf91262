//! `/wiki/Special:EntityData/Q42.json`: all that is said of an entity, as Wikidata's linked data has it.

use std::sync::Arc;

use axum::Extension;
use axum::extract::{OriginalUri, Path, RawQuery, Request, State};
use axum::http::{StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use serde_json::json;

use super::super::App;
use super::super::accept::{self, Accept};
use super::super::context::Context;
use super::super::json::Json;
use super::super::service::{Refused, Wording};
use super::parameters::Parameters;
use super::{Told, elsewhere};
use crate::entities::json::{Props, Wanted, entity};
use crate::entities::{Entity, EntityId, Lookup};
use crate::rdf::Store;

/// How the path begins.
const DATA: &str = "/wiki/Special:EntityData/";

/// Answers a request.
pub async fn data(
    State(app): State<Arc<App>>,
    Extension(context): Extension<Arc<Context>>,
    Path(page): Path<String>,
    RawQuery(query): RawQuery,
) -> Result<Response, Refused> {
    let parameters = move || Parameters::of(query.as_deref(), b"");
    super::answer(&app, &context, "entity data", &Json, parameters, move |store, parameters| {
        give(store, &page, parameters.get("format"))
    })
    .await
}

fn refusal(status: StatusCode, message: &str) -> Told {
    Told::Instead(Json.refusal(status, message))
}

fn give(store: &Store, page: &str, format: Option<&str>) -> Told {
    let (name, ending) = page.rsplit_once('.').map_or((page, None), |(name, ending)| (name, Some(ending)));
    let Some(id) = EntityId::parse(name) else {
        return refusal(StatusCode::BAD_REQUEST, &format!("Invalid ID: {name}."));
    };
    if let Some(other) = ending.or(format).filter(|format| *format != "json") {
        let message = format!("the data format {other} is not here: ask for .json, or DESCRIBE wd:{id} at /sparql");
        return refusal(StatusCode::UNSUPPORTED_MEDIA_TYPE, &message);
    }
    match Entity::lookup(store, id) {
        Lookup::Redirect(to) => Told::Instead(elsewhere(StatusCode::SEE_OTHER, &format!("{DATA}{to}.json"))),
        Lookup::Missing => refusal(StatusCode::NOT_FOUND, &format!("No entity with ID {id} was found.")),
        Lookup::Here => match Entity::of(store, id) {
            Some(found) => {
                let name = id.to_string();
                let object = entity(&found, Props { urls: true, ..Props::ALL }, Wanted::All);
                Told::Found(json!({ "entities": { name: object } }), 1)
            }
            None => refusal(StatusCode::NOT_FOUND, &format!("No entity with ID {id} was found.")),
        },
    }
}

/// Around `/entity/{id}`: programs that want data are told where it is, as Wikidata tells them; all others get the page.
pub async fn moved(OriginalUri(uri): OriginalUri, request: Request, next: Next) -> Response {
    let name = uri.path().rsplit('/').next().unwrap_or_default();
    let (id, ending) = name.rsplit_once('.').map_or((name, None), |(id, ending)| (id, Some(ending)));
    let wants_data = ending == Some("json")
        || accept::text(request.headers()).is_some_and(|text| {
            let accept = Accept::of(&text);
            accept.quality("application/json") > accept.quality("text/html")
        });
    let mut answer = match EntityId::parse(id).filter(|_| wants_data) {
        Some(id) => elsewhere(StatusCode::SEE_OTHER, &format!("{DATA}{id}.json")).into_response(),
        None => next.run(request).await,
    };
    answer.headers_mut().append(header::VARY, axum::http::HeaderValue::from_static("accept"));
    answer
}
