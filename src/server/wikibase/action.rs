//! `/w/api.php`: `wbsearchentities` and `wbgetentities` as MediaWiki's action API answers them on Wikidata, errors
//! included: status 200, a header, and an object that says what is wrong.

use std::sync::Arc;

use axum::Extension;
use axum::extract::{RawQuery, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use axum::response::Response;
use serde_json::{Map, Value, json};

use super::super::App;
use super::super::body::{Received, Unreadable};
use super::super::context::Context;
use super::super::json;
use super::super::service::{self, Refused, Wording};
use super::Told;
use super::parameters::{Parameters, is_language};
use crate::entities::json::{Props, Wanted, entity, page};
use crate::entities::{
    Entity, EntityId, EntityKind, Found, Languages, Lookup, Match, Search, chain, description, find, label,
};
use crate::rdf::Store;

/// The header that tells clients of an error.
const ERROR: HeaderName = HeaderName::from_static("mediawiki-api-error");
/// Entities that are told at once, at most.
const MOST: usize = 50;
/// How many are found where nothing is said.
const LIMIT: usize = 7;
/// Results that may be left out before the first.
const MOST_BEFORE: usize = 10_000;

/// Answers a request.
pub async fn action(
    State(app): State<Arc<App>>,
    Extension(context): Extension<Arc<Context>>,
    RawQuery(query): RawQuery,
    headers: HeaderMap,
    body: Result<Received, Unreadable>,
) -> Result<Response, Refused> {
    let body = service::body(&app, &Action, body)?;
    let kind = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let is_form = kind.is_empty() || kind.to_ascii_lowercase().starts_with("application/x-www-form-urlencoded");
    let parameters = move || {
        let form = body.decoded().map_err(|why| Action.unreadable(&why))?;
        Parameters::of(query.as_deref(), if is_form { &form } else { b"" })
    };
    super::answer(&app, &context, "entities", &Action, parameters, give).await
}

/// What is wrong with a request: a code and a text, and the identifier that it is about.
struct Wrong(&'static str, String, Option<String>);

impl Wrong {
    fn new(code: &'static str, info: impl Into<String>) -> Wrong {
        Wrong(code, info.into(), None)
    }

    fn value(name: &str, value: &str) -> Wrong {
        Wrong::new("badvalue", format!("Unrecognized value for parameter \"{name}\": {value}."))
    }

    fn response(self) -> Response {
        let Wrong(code, info, id) = self;
        error(StatusCode::OK, code, &info, id.as_deref())
    }
}

fn error(status: StatusCode, code: &'static str, info: &str, id: Option<&str>) -> Response {
    let mut told = json!({ "error": { "code": code, "info": info } });
    if let Some(id) = id {
        told["error"]["id"] = json!(id);
    }
    let mut response = json::refusal(status, &told);
    response.headers_mut().insert(ERROR, HeaderValue::from_static(code));
    response
}

fn give(store: &Store, parameters: &Parameters) -> Told {
    let told = checked(parameters).and_then(|()| match parameters.get("action") {
        Some("wbsearchentities") => search(store, parameters),
        Some("wbgetentities") => entities(store, parameters),
        Some(other) => Err(Wrong::value("action", other)),
        None => Err(missing("action")),
    });
    match told {
        Ok((object, count)) => Told::Found(object, count),
        Err(wrong) => Told::Instead(wrong.response()),
    }
}

fn checked(parameters: &Parameters) -> Result<(), Wrong> {
    match parameters.get("format") {
        None | Some("json" | "jsonfm") => Ok(()),
        Some(other) => Err(Wrong::value("format", other)),
    }
}

fn missing(name: &str) -> Wrong {
    Wrong::new("missingparam", format!("The \"{name}\" parameter must be set."))
}

fn needed<'p>(parameters: &'p Parameters, name: &str) -> Result<&'p str, Wrong> {
    parameters.get(name).map(str::trim).filter(|value| !value.is_empty()).ok_or_else(|| missing(name))
}

fn language<'p>(name: &str, code: &'p str) -> Result<&'p str, Wrong> {
    if is_language(code) { Ok(code) } else { Err(Wrong::value(name, code)) }
}

/// A number up to a bound; what is more is the bound, as MediaWiki has it.
fn number(parameters: &Parameters, name: &str, ordinary: usize, least: usize, most: usize) -> Result<usize, Wrong> {
    let Some(text) = parameters.get(name) else { return Ok(ordinary) };
    if text == "max" {
        return Ok(most);
    }
    let number: i64 = text
        .trim()
        .parse()
        .map_err(|_| Wrong::new("badinteger", format!("Invalid value \"{text}\" for integer parameter \"{name}\".")))?;
    match usize::try_from(number) {
        Ok(number) if number >= least => Ok(number.min(most)),
        _ => Err(Wrong::new(
            "outofrange",
            format!("The value for parameter \"{name}\" must be between {least} and {most}."),
        )),
    }
}

fn search(store: &Store, parameters: &Parameters) -> Result<(Value, u64), Wrong> {
    let text = needed(parameters, "search")?;
    let asked = language("language", needed(parameters, "language")?)?;
    let shown = language("uselang", parameters.get("uselang").filter(|code| *code != "user").unwrap_or(asked))?;
    let kind = match parameters.get("type").unwrap_or("item") {
        "item" => Some(EntityKind::Item),
        "property" => Some(EntityKind::Property),
        "lexeme" => Some(EntityKind::Lexeme),
        // There are none that could be found.
        "form" | "sense" | "entity-schema" => None,
        other => return Err(Wrong::value("type", other)),
    };
    let limit = number(parameters, "limit", LIMIT, 1, MOST)?;
    let before = number(parameters, "continue", 0, 0, MOST_BEFORE)?;
    let strict = parameters.has("strictlanguage");
    let languages = if strict { vec![asked.to_ascii_lowercase()] } else { chain(asked) };
    let matches = kind.map(|kind| {
        let languages = Languages::These(&languages);
        find(store, &Search { text, kind, languages, limit: before + limit + 1, descriptions: true, slips: false })
    });
    let matches = matches.unwrap_or_default();
    let urls = parameters.list("props").is_none_or(|props| props.contains(&"url"));
    let shown = chain(shown);
    let told: Vec<Value> = matches.iter().skip(before).take(limit).map(|one| hit(store, one, &shown, urls)).collect();
    let count = told.len() as u64;
    let mut answer = json!({ "searchinfo": { "search": text }, "search": told, "success": 1 });
    if matches.len() > before + limit && before + limit <= MOST_BEFORE {
        answer["search-continue"] = json!(before + limit);
    }
    Ok((answer, count))
}

fn hit(store: &Store, found: &Match, languages: &[String], urls: bool) -> Value {
    let id = found.id;
    let (_, title) = page(id);
    let mut all = Map::new();
    let mut put = |name: &str, value: Value| all.insert(name.to_owned(), value);
    let mut display = Map::new();
    for (name, text) in [("label", label(store, id, languages)), ("description", description(store, id, languages))] {
        if let Some(text) = text {
            put(name, json!(text.value));
            display.insert(name.to_owned(), json!({ "value": text.value, "language": text.language }));
        }
    }
    put("display", Value::Object(display));
    put("id", json!(id.to_string()));
    put("repository", json!("wikidata"));
    put("concepturi", json!(id.iri().as_str()));
    if urls {
        put("url", json!(format!("//www.wikidata.org/wiki/{title}")));
    }
    put("title", json!(title));
    put("match", matched(found));
    if !found.is_label && found.found != Found::Description {
        put("aliases", json!([found.text]));
    }
    if let Some(datatype) = Entity::datatype_of(store, id) {
        put("datatype", json!(datatype));
    }
    Value::Object(all)
}

/// What of an entity was found.
pub(super) fn matched(found: &Match) -> Value {
    let kind = match found.found {
        Found::Id => return json!({ "type": "entityId", "text": found.text }),
        Found::Description => "description",
        _ if found.is_label => "label",
        _ => "alias",
    };
    json!({ "type": kind, "language": found.language, "text": found.text })
}

fn entities(store: &Store, parameters: &Parameters) -> Result<(Value, u64), Wrong> {
    let ids = parameters.list("ids").unwrap_or_default();
    let (sites, titles) = (parameters.list("sites").unwrap_or_default(), parameters.list("titles").unwrap_or_default());
    for (name, list) in [("ids", &ids), ("sites", &sites), ("titles", &titles)] {
        if list.len() > MOST {
            let info = format!("Too many values supplied for parameter \"{name}\". The limit is {MOST}.");
            return Err(Wrong::new("toomanyvalues", info));
        }
    }
    if ids.is_empty() && (sites.is_empty() || titles.is_empty() || (sites.len() > 1 && titles.len() > 1)) {
        let info = "Either provide the Item \"ids\" or pairs of \"sites\" and \"titles\" for corresponding pages";
        return Err(Wrong::new("param-missing", info));
    }
    let props = props(parameters)?;
    let chains = languages(parameters)?;
    let wanted = chains.as_deref().map_or(Wanted::All, Wanted::These);
    let filter = parameters.list("sitefilter");
    let follow = parameters.get("redirects").is_none_or(|redirects| redirects != "no");
    // What is not there is said by an empty text, in the newer format by a truth.
    let absent = || if parameters.get("formatversion") == Some("2") { json!(true) } else { json!("") };
    let mut told = Map::new();
    let tell = |id: EntityId, from: Option<EntityId>| {
        let found = Entity::of(store, id)?;
        let mut object = entity(&found, props, wanted);
        if let (Some(filter), Some(Value::Object(links))) = (&filter, object.get_mut("sitelinks")) {
            links.retain(|site, _| filter.contains(&site.as_str()));
        }
        if let Some(from) = from {
            object["redirects"] = json!({ "from": from.to_string(), "to": id.to_string() });
        }
        Some(object)
    };
    for text in ids {
        let Some(id) = EntityId::parse(text.trim()) else {
            let info = format!("Could not find an entity with the ID \"{text}\".");
            return Err(Wrong("no-such-entity", info, Some(text.to_owned())));
        };
        let object = match Entity::lookup(store, id) {
            Lookup::Redirect(to) if follow => tell(to, Some(id)),
            Lookup::Here => tell(id, None),
            _ => None,
        };
        let name = id.to_string();
        told.insert(name.clone(), object.unwrap_or_else(|| json!({ "id": name, "missing": absent() })));
    }
    let pairs = sites.iter().flat_map(|site| titles.iter().map(move |title| (*site, *title)));
    for (number, (site, title)) in (1..).zip(pairs) {
        let found = Entity::about(store, site, title);
        match found.and_then(|id| Some((id, tell(id, None)?))) {
            Some((id, object)) => told.insert(id.to_string(), object),
            None => told.insert(format!("-{number}"), json!({ "site": site, "title": title, "missing": absent() })),
        };
    }
    let count = told.len() as u64;
    Ok((json!({ "entities": told, "success": 1 }), count))
}

fn props(parameters: &Parameters) -> Result<Props, Wrong> {
    let Some(list) = parameters.list("props") else { return Ok(Props::ALL) };
    let mut props = Props {
        info: false,
        labels: false,
        descriptions: false,
        aliases: false,
        claims: false,
        datatype: false,
        sitelinks: false,
        urls: false,
    };
    for name in list {
        match name {
            "info" => props.info = true,
            "labels" => props.labels = true,
            "descriptions" => props.descriptions = true,
            "aliases" => props.aliases = true,
            "claims" => props.claims = true,
            "datatype" => props.datatype = true,
            "sitelinks" => props.sitelinks = true,
            "sitelinks/urls" => (props.sitelinks, props.urls) = (true, true),
            other => return Err(Wrong::value("props", other)),
        }
    }
    Ok(props)
}

/// The languages that are asked for, each with those that may stand in for it; `None` for all.
fn languages(parameters: &Parameters) -> Result<Option<Vec<Vec<String>>>, Wrong> {
    let Some(list) = parameters.list("languages").filter(|list| !list.is_empty() && *list != ["*"]) else {
        return Ok(None);
    };
    let falls_back = parameters.has("languagefallback");
    let chains = list.into_iter().map(|code| {
        let code = language("languages", code)?;
        Ok(if falls_back { chain(code) } else { vec![code.to_ascii_lowercase()] })
    });
    chains.collect::<Result<_, Wrong>>().map(Some)
}

/// MediaWiki's wording.
#[derive(Debug, Clone, Copy)]
pub struct Action;

impl Wording for Action {
    fn names_snapshot(&self) -> bool {
        true
    }

    fn late(&self) -> StatusCode {
        StatusCode::SERVICE_UNAVAILABLE
    }

    fn refusal(&self, status: StatusCode, message: &str) -> Response {
        let code = match status {
            StatusCode::TOO_MANY_REQUESTS => "ratelimited",
            StatusCode::UNAUTHORIZED => "readapidenied",
            StatusCode::BAD_REQUEST => "badrequest",
            StatusCode::NOT_FOUND => "no-such-entity",
            _ => "internal_api_error",
        };
        error(status, code, message, None)
    }
}
