//! `/w/rest.php/wikibase/v1/...`: items and properties with their parts, and their search, in the format of Wikibase's
//! REST API.

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::Extension;
use axum::extract::{Path, RawQuery, State};
use axum::http::StatusCode;
use axum::response::Response;
use serde_json::{Value, json};

use super::action::matched;
use super::answer::{EntityAnswer, answer, elsewhere};
use super::openapi;
use super::parameters::ActionParameters;
use super::wording::WikibaseWording;
use crate::context::HttpRequestContext;
use crate::reply::Reply;
use crate::{App, json};
use terrapin_entities::{
    EntityId, EntityKind, EntityQuery, EntityRecord, Languages, Lookup, chain, description, find, is_language_code,
    label, rest,
};
use terrapin_triples::Store;

/// Default and maximum number of results.
const LIMIT: (usize, usize) = (10, 500);
/// Maximum of `offset`.
const MOST_BEFORE: usize = 10_000;

/// Answers a request for any route of the API.
pub async fn rest(
    State(app): State<Arc<App>>,
    Extension(context): Extension<Arc<HttpRequestContext>>,
    Path((version, path)): Path<(String, String)>,
    RawQuery(query): RawQuery,
) -> Reply {
    let parameters = move || ActionParameters::of(query.as_deref(), b"");
    let has_tokens = app.tokens.is_some();
    answer(&app, &context, "entities", &REST_WORDING, parameters, move |store, parameters| {
        let parts: Vec<&str> = path.split('/').collect();
        if let ("v0" | "v1", ["openapi.json"]) = (version.as_str(), parts.as_slice()) {
            return Ok((openapi::description(&version, has_tokens), 1));
        }
        given(store, &version, &parts, parameters)
    })
    .await
}

fn wrong(status: StatusCode, code: &str, message: &str, context: Value) -> Box<Response> {
    let mut told = json!({ "code": code, "message": message });
    if !context.is_null() {
        told["context"] = context;
    }
    Box::new(json::refusal(status, &told))
}

fn wrong_path(parameter: &str) -> Box<Response> {
    let message = format!("Invalid path parameter: '{parameter}'");
    wrong(StatusCode::BAD_REQUEST, "invalid-path-parameter", &message, json!({ "parameter": parameter }))
}

fn wrong_query(parameter: &str) -> Box<Response> {
    let message = format!("Invalid query parameter: '{parameter}'");
    wrong(StatusCode::BAD_REQUEST, "invalid-query-parameter", &message, json!({ "parameter": parameter }))
}

fn missing(what: &str) -> Box<Response> {
    let message = "The requested resource does not exist";
    wrong(StatusCode::NOT_FOUND, "resource-not-found", message, json!({ "resource_type": what }))
}

fn no_route() -> Box<Response> {
    let message = "The requested relative path did not match any known handler";
    wrong(StatusCode::NOT_FOUND, "rest-no-match", message, Value::Null)
}

fn given(store: &Store, version: &str, parts: &[&str], parameters: &ActionParameters) -> EntityAnswer {
    if !["v0", "v1"].contains(&version) {
        return Err(no_route());
    }
    let kind = |name: &str| match name {
        "items" => Ok(EntityKind::Item),
        "properties" => Ok(EntityKind::Property),
        _ => Err(no_route()),
    };
    match parts {
        ["property-data-types"] => Ok((rest::property_data_types(), 1)),
        ["search", what] => search(store, kind(what)?, parameters, true),
        ["suggest", what] => search(store, kind(what)?, parameters, false),
        ["statements", id] => {
            let subject = id.split_once('$').and_then(|(subject, _)| EntityId::parse(subject));
            let subject = subject.ok_or_else(|| wrong_path("statement_id"))?;
            let entity = EntityRecord::of(store, subject).ok_or_else(|| missing("statement"))?;
            statement(&entity, id)
        }
        ["entities", what, id, rest @ ..] => {
            let kind = kind(what)?;
            let entity = entity(store, kind, id, &format!("/w/rest.php/wikibase/{version}/entities/{what}/"), rest)?;
            part(&entity, rest, parameters).map(|object| (object, 1))
        }
        _ => Err(no_route()),
    }
}

fn entity(
    store: &Store,
    kind: EntityKind,
    id: &str,
    start: &str,
    rest: &[&str],
) -> Result<EntityRecord, Box<Response>> {
    let id = EntityId::parse(id).filter(|id| id.kind == kind);
    let id = id.ok_or_else(|| wrong_path(&format!("{}_id", kind.name())))?;
    match EntityRecord::lookup(store, id) {
        Lookup::Here => EntityRecord::of(store, id).ok_or_else(|| missing(kind.name())),
        Lookup::Redirect(to) => {
            let rest: String = rest.iter().map(|part| format!("/{part}")).collect();
            Err(Box::new(elsewhere(StatusCode::PERMANENT_REDIRECT, &format!("{start}{to}{rest}"))))
        }
        Lookup::Missing => Err(missing(kind.name())),
    }
}

/// Returns the part of an entity that the path selects.
fn part(entity: &EntityRecord, path: &[&str], parameters: &ActionParameters) -> Result<Value, Box<Response>> {
    let terms = &entity.terms;
    let is_item = entity.id.kind == EntityKind::Item;
    Ok(match path {
        [] => fields(rest::entity(entity), parameters)?,
        ["labels"] => rest::texts(&terms.labels),
        ["descriptions"] => rest::texts(&terms.descriptions),
        ["aliases"] => rest::texts(&terms.aliases),
        ["sitelinks"] if is_item => rest::sitelinks(entity),
        ["statements"] => {
            let property = parameters.get("property").filter(|text| !text.is_empty()).map(EntityId::parse);
            let property = match property {
                None => None,
                Some(Some(id)) if id.kind == EntityKind::Property => Some(id.number),
                Some(_) => return Err(wrong_query("property")),
            };
            rest::statements(entity, property)
        }
        ["labels", language] => json!(one(&terms.labels, language, "label", false)?),
        ["descriptions", language] => json!(one(&terms.descriptions, language, "description", false)?),
        ["aliases", language] => json!(one(&terms.aliases, language, "aliases", false)?),
        ["labels_with_language_fallback", language] => json!(one(&terms.labels, language, "label", true)?),
        ["descriptions_with_language_fallback", language] => {
            json!(one(&terms.descriptions, language, "description", true)?)
        }
        ["sitelinks", site] if is_item => {
            let mut links = rest::sitelinks(entity);
            let link = links.as_object_mut().and_then(|links| links.remove(*site));
            link.ok_or_else(|| missing("sitelink"))?
        }
        ["statements", id] => statement(entity, id)?.0,
        _ => return Err(no_route()),
    })
}

fn one<'e, T>(
    texts: &'e BTreeMap<String, T>,
    language: &str,
    what: &str,
    falls_back: bool,
) -> Result<&'e T, Box<Response>> {
    if !is_language_code(language) {
        return Err(wrong_path("language_code"));
    }
    let languages = if falls_back { chain(language) } else { vec![language.to_ascii_lowercase()] };
    languages.iter().find_map(|language| texts.get(language)).ok_or_else(|| missing(what))
}

fn statement(entity: &EntityRecord, id: &str) -> EntityAnswer {
    let all = entity.statements.values().flatten();
    let mut same = all.filter(|statement| statement.id.eq_ignore_ascii_case(id));
    let found = same.next().ok_or_else(|| missing("statement"))?;
    Ok((rest::statement(entity, found), 1))
}

/// Removes all parts that `_fields` does not name, except the identifier.
fn fields(mut all: Value, parameters: &ActionParameters) -> Result<Value, Box<Response>> {
    let (Some(wanted), Some(object)) =
        (parameters.get("_fields").filter(|names| !names.is_empty()), all.as_object_mut())
    else {
        return Ok(all);
    };
    let wanted: Vec<&str> = wanted.split(',').filter(|name| !name.is_empty()).collect();
    if wanted.iter().any(|name| !object.contains_key(*name)) {
        return Err(wrong_query("_fields"));
    }
    object.retain(|name, _| name == "id" || wanted.contains(&name.as_str()));
    Ok(all)
}

fn search(store: &Store, kind: EntityKind, parameters: &ActionParameters, descriptions: bool) -> EntityAnswer {
    let text = parameters.get("q").filter(|text| !text.trim().is_empty()).ok_or_else(|| wrong_query("q"))?;
    let language = parameters.get("language").filter(|code| is_language_code(code) && *code != "mul");
    let language = language.ok_or_else(|| wrong_query("language"))?;
    let number = |name, ordinary, least, most| match parameters
        .get(name)
        .filter(|text| !text.is_empty())
        .map(str::parse::<usize>)
    {
        None => Ok(ordinary),
        Some(Ok(number)) if (least..=most).contains(&number) => Ok(number),
        Some(_) => Err(wrong_query(name)),
    };
    let limit = number("limit", LIMIT.0, 1, LIMIT.1)?;
    let before = number("offset", 0, 0, MOST_BEFORE)?;
    let languages = chain(language);
    let asked = EntityQuery {
        text,
        kind,
        languages: Languages::These(&languages),
        limit: before + limit,
        descriptions,
        slips: false,
    };
    let found = find(store, &asked);
    let told: Vec<Value> = found
        .iter()
        .skip(before)
        .map(|one| {
            let text = |text: Option<terrapin_entities::LanguageText>| {
                text.map(|text| json!({ "language": text.language, "value": text.value }))
            };
            json!({
                "id": one.id.to_string(),
                "display-label": text(label(store, one.id, &languages)),
                "description": text(description(store, one.id, &languages)),
                "match": matched(one),
            })
        })
        .collect();
    let count = told.len() as u64;
    Ok((json!({ "results": told }), count))
}

/// The error format of Wikibase's REST API.
pub static REST_WORDING: WikibaseWording = WikibaseWording {
    rate_limit: "request-limit-reached",
    denied: "permission-denied",
    bad_request: "invalid-query-parameter",
    not_found: "resource-not-found",
    other: "unexpected-error",
    write: |status, code, message| *wrong(status, code, message, Value::Null),
};
