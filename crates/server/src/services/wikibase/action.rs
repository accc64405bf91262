//! `/w/api.php`: `wbsearchentities` and `wbgetentities` in the format of MediaWiki's action API on Wikidata. Errors
//! have status 200, a header and an object. Unknown values in lists are skipped with a warning.

use std::sync::Arc;

use axum::Extension;
use axum::extract::{RawQuery, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use axum::response::Response;
use serde_json::{Map, Value, json};

use super::answer::{EntityAnswer, answer};
use super::parameters::ActionParameters;
use super::wording::WikibaseWording;
use crate::body::Received;
use crate::context::HttpRequestContext;
use crate::reply::Reply;
use crate::route::{Parameter, Schema, query};
use crate::service::Wording;
use crate::{App, json};
use terrapin_entities::json::{LanguageFilter, Props, entity, lexeme_part, page};
use terrapin_entities::{
    EntityId, EntityKind, EntityMatch, EntityName, EntityQuery, EntityRecord, Languages, Lookup, MatchKind, chain,
    description, find, is_language_code, is_site, label,
};
use terrapin_triples::Store;

/// The header by which clients recognize an error.
const ERROR: HeaderName = HeaderName::from_static("mediawiki-api-error");
/// Maximum number of values in a list, and of results.
const MOST: usize = 50;
/// Default number of results.
const LIMIT: usize = 7;
/// Maximum of `continue`.
const MOST_BEFORE: usize = 10_000;

/// The parameters. Values that are not known are answered with an error in an object, and with status 200.
pub const PARAMETERS: &[Parameter] = &[
    query("action", Schema::Text, "wbsearchentities or wbgetentities"),
    query("search", Schema::Text, "wbsearchentities: a name or its prefix"),
    query("language", Schema::Text, "wbsearchentities: the language of the search, such as en"),
    query("uselang", Schema::Text, "wbsearchentities: the language of labels and descriptions. Default: `language`"),
    query("strictlanguage", Schema::Text, "wbsearchentities: present: no fallback languages"),
    query("type", Schema::Text, "wbsearchentities: item (default), property, lexeme, form, sense or entity-schema"),
    query("limit", Schema::Text, "wbsearchentities: maximum number of results, at most 50, or max. Default: 7"),
    query("continue", Schema::Text, "wbsearchentities: number of results to skip, at most 10000, or max. Default: 0"),
    query("ids", Schema::Text, "wbgetentities: at most 50 entities, such as Q42|P31"),
    query("sites", Schema::Text, "wbgetentities: sites of `titles`, such as enwiki"),
    query("titles", Schema::Text, "wbgetentities: titles of pages at one site, or one title at several sites"),
    query("props", Schema::Text, "wbgetentities: parts of the entities, such as labels|claims; wbsearchentities: url"),
    query("languages", Schema::Text, "wbgetentities: languages, such as en|de"),
    query("languagefallback", Schema::Text, "wbgetentities: present: also fallback languages"),
    query("sitefilter", Schema::Text, "wbgetentities: sites of the sitelinks to return, such as enwiki|dewiki"),
    query("redirects", Schema::Text, "wbgetentities: no: a redirect is missing. Default: yes"),
    query("formatversion", Schema::Text, "2 or latest: flags are `true` and warnings a text. Default: 1"),
    query("format", Schema::Text, "json (default) or jsonfm"),
];

/// Answers a request of either action.
pub async fn action(
    State(app): State<Arc<App>>,
    Extension(context): Extension<Arc<HttpRequestContext>>,
    RawQuery(query): RawQuery,
    headers: HeaderMap,
    body: Received,
) -> Reply {
    let kind = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let is_form = kind.is_empty() || kind.to_ascii_lowercase().starts_with("application/x-www-form-urlencoded");
    let parameters = move || {
        let form = body.decoded().map_err(|why| ACTION_WORDING.rejected(&why).into_owned())?;
        ActionParameters::of(query.as_deref(), if is_form { &form } else { b"" })
    };
    answer(&app, &context, "entities", &ACTION_WORDING, parameters, give).await
}

/// An error: its code, its text, and the identifier that it concerns.
struct ActionError(&'static str, String, Option<String>);

impl ActionError {
    fn new(code: &'static str, info: impl Into<String>) -> ActionError {
        ActionError(code, info.into(), None)
    }

    fn value(name: &str, value: &str) -> ActionError {
        ActionError::new("badvalue", format!("Unrecognized value for parameter \"{name}\": {value}."))
    }

    fn response(self) -> Response {
        let ActionError(code, info, id) = self;
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

/// The warnings of a request.
#[derive(Default)]
struct Warnings(Vec<String>);

impl Warnings {
    /// Returns the values of a list parameter that `is_known` accepts, and adds a warning about the others. Returns
    /// `None` if the request does not have the parameter.
    fn known<'p>(
        &mut self,
        parameters: &'p ActionParameters,
        name: &str,
        is_known: impl Fn(&str) -> bool,
    ) -> Option<Vec<&'p str>> {
        let (known, unknown): (Vec<&str>, Vec<&str>) =
            parameters.list(name)?.into_iter().partition(|value| is_known(value));
        if !unknown.is_empty() {
            let values = if unknown.len() == 1 { "value" } else { "values" };
            let text = format!("Unrecognized {values} for parameter \"{name}\": {}.", unknown.join(", "));
            self.0.push(text);
        }
        Some(known)
    }

    /// Adds the warnings to an answer, in the member that its format version prescribes.
    fn add_to(self, answer: &mut Value, action: &str, parameters: &ActionParameters) {
        if !self.0.is_empty() {
            let member = if is_second_version(parameters) { "warnings" } else { "*" };
            answer["warnings"] = json!({ action: { member: self.0.join("\n") } });
        }
    }
}

fn is_second_version(parameters: &ActionParameters) -> bool {
    matches!(parameters.get("formatversion"), Some("2" | "latest"))
}

fn give(store: &Store, parameters: &ActionParameters) -> EntityAnswer {
    let mut warnings = Warnings::default();
    let action = parameters.get("action").unwrap_or_default();
    let result = checked(parameters).and_then(|()| match action {
        "wbsearchentities" => search(store, parameters, &mut warnings),
        "wbgetentities" => entities(store, parameters, &mut warnings),
        "" => Err(missing("action")),
        other => Err(ActionError::value("action", other)),
    });
    match result {
        Ok((mut object, count)) => {
            warnings.add_to(&mut object, action, parameters);
            Ok((object, count))
        }
        Err(wrong) => Err(Box::new(wrong.response())),
    }
}

fn checked(parameters: &ActionParameters) -> Result<(), ActionError> {
    match parameters.get("format") {
        None | Some("json" | "jsonfm") => Ok(()),
        Some(other) => Err(ActionError::value("format", other)),
    }
}

fn missing(name: &str) -> ActionError {
    ActionError::new("missingparam", format!("The \"{name}\" parameter must be set."))
}

fn needed<'p>(parameters: &'p ActionParameters, name: &str) -> Result<&'p str, ActionError> {
    parameters.get(name).map(str::trim).filter(|value| !value.is_empty()).ok_or_else(|| missing(name))
}

fn language<'p>(name: &str, code: &'p str) -> Result<&'p str, ActionError> {
    if is_language_code(code) { Ok(code) } else { Err(ActionError::value(name, code)) }
}

/// Parses a number; values above `most` become `most`, as in MediaWiki.
fn number(
    parameters: &ActionParameters,
    name: &str,
    ordinary: usize,
    least: usize,
    most: usize,
) -> Result<usize, ActionError> {
    let Some(text) = parameters.get(name) else { return Ok(ordinary) };
    if text == "max" {
        return Ok(most);
    }
    let number: i64 = text.trim().parse().map_err(|_| {
        ActionError::new("badinteger", format!("Invalid value \"{text}\" for integer parameter \"{name}\"."))
    })?;
    match usize::try_from(number) {
        Ok(number) if number >= least => Ok(number.min(most)),
        _ => Err(ActionError::new(
            "outofrange",
            format!("The value for parameter \"{name}\" must be between {least} and {most}."),
        )),
    }
}

fn search(store: &Store, parameters: &ActionParameters, warnings: &mut Warnings) -> Result<(Value, u64), ActionError> {
    let text = needed(parameters, "search")?;
    let asked = language("language", needed(parameters, "language")?)?;
    let shown = language("uselang", parameters.get("uselang").filter(|code| *code != "user").unwrap_or(asked))?;
    let kind = match parameters.get("type").unwrap_or("item") {
        "item" => Some(EntityKind::Item),
        "property" => Some(EntityKind::Property),
        "lexeme" => Some(EntityKind::Lexeme),
        // The index only has labels of items, properties and lexemes.
        "form" | "sense" | "entity-schema" => None,
        other => return Err(ActionError::value("type", other)),
    };
    let limit = number(parameters, "limit", LIMIT, 1, MOST)?;
    let before = number(parameters, "continue", 0, 0, MOST_BEFORE)?;
    let strict = parameters.has("strictlanguage");
    let languages = if strict { vec![asked.to_ascii_lowercase()] } else { chain(asked) };
    let matches = kind.map(|kind| {
        let languages = Languages::These(&languages);
        find(store, &EntityQuery { text, kind, languages, limit: before + limit + 1, descriptions: true, slips: false })
    });
    let matches = matches.unwrap_or_default();
    let urls = warnings.known(parameters, "props", |prop| prop == "url").is_none_or(|props| !props.is_empty());
    let shown = chain(shown);
    let told: Vec<Value> = matches.iter().skip(before).take(limit).map(|one| hit(store, one, &shown, urls)).collect();
    let count = told.len() as u64;
    let mut answer = json!({ "searchinfo": { "search": text }, "search": told, "success": 1 });
    if matches.len() > before + limit && before + limit <= MOST_BEFORE {
        answer["search-continue"] = json!(before + limit);
    }
    Ok((answer, count))
}

fn hit(store: &Store, found: &EntityMatch, languages: &[String], urls: bool) -> Value {
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
    if !found.is_label && found.found != MatchKind::Description {
        put("aliases", json!([found.text]));
    }
    if let Some(datatype) = EntityRecord::datatype_of(store, id) {
        put("datatype", json!(datatype));
    }
    Value::Object(all)
}

/// Returns the text of an entity that matched, and its kind: id, label, alias or description.
pub(super) fn matched(found: &EntityMatch) -> Value {
    let kind = match found.found {
        MatchKind::Id => return json!({ "type": "entityId", "text": found.text }),
        MatchKind::Description => "description",
        _ if found.is_label => "label",
        _ => "alias",
    };
    json!({ "type": kind, "language": found.language, "text": found.text })
}

fn entities(
    store: &Store,
    parameters: &ActionParameters,
    warnings: &mut Warnings,
) -> Result<(Value, u64), ActionError> {
    let ids = parameters.list("ids").unwrap_or_default();
    let sites = warnings.known(parameters, "sites", is_site).unwrap_or_default();
    let titles = parameters.list("titles").unwrap_or_default();
    for (name, list) in [("ids", &ids), ("sites", &sites), ("titles", &titles)] {
        if list.len() > MOST {
            let info = format!("Too many values supplied for parameter \"{name}\". The limit is {MOST}.");
            return Err(ActionError::new("toomanyvalues", info));
        }
    }
    if ids.is_empty() && (sites.is_empty() || titles.is_empty() || (sites.len() > 1 && titles.len() > 1)) {
        let info = "Either provide the Item \"ids\" or pairs of \"sites\" and \"titles\" for corresponding pages";
        return Err(ActionError::new("param-missing", info));
    }
    let props = props(parameters, warnings);
    let chains = languages(parameters, warnings);
    let wanted = chains.as_deref().map_or(LanguageFilter::All, LanguageFilter::These);
    let filter = warnings.known(parameters, "sitefilter", is_site);
    let follow = match parameters.get("redirects") {
        None | Some("yes") => true,
        Some("no") => false,
        Some(other) => return Err(ActionError::value("redirects", other)),
    };
    // A flag is an empty text in the first format version and `true` in the second.
    let absent = || if is_second_version(parameters) { json!(true) } else { json!("") };
    let mut told = Map::new();
    let part = |name: &EntityName| {
        let lexeme = EntityRecord::of(store, name.entity)?;
        Some(lexeme_part(&lexeme, lexeme.lexeme_part(&name.to_string())?, props))
    };
    let tell = |id: EntityId, from: Option<EntityId>| {
        let found = EntityRecord::of(store, id)?;
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
        let Some(name) = EntityName::parse(text.trim()) else {
            let info = format!("Could not find an entity with the ID \"{text}\".");
            return Err(ActionError("no-such-entity", info, Some(text.to_owned())));
        };
        let object = match EntityRecord::lookup(store, name.entity) {
            Lookup::Here if name.is_part() => part(&name),
            Lookup::Here => tell(name.entity, None),
            Lookup::Redirect(to) if follow && !name.is_part() => tell(to, Some(name.entity)),
            _ => None,
        };
        let name = name.to_string();
        told.insert(name.clone(), object.unwrap_or_else(|| json!({ "id": name, "missing": absent() })));
    }
    let pairs = sites.iter().flat_map(|site| titles.iter().map(move |title| (*site, *title)));
    for (number, (site, title)) in (1..).zip(pairs) {
        let found = EntityRecord::about(store, site, title);
        match found.and_then(|id| Some((id, tell(id, None)?))) {
            Some((id, object)) => told.insert(id.to_string(), object),
            None => told.insert(format!("-{number}"), json!({ "site": site, "title": title, "missing": absent() })),
        };
    }
    let count = told.len() as u64;
    Ok((json!({ "entities": told, "success": 1 }), count))
}

/// The values of `props` of `wbgetentities`.
const PROPS: [&str; 8] =
    ["info", "sitelinks", "sitelinks/urls", "aliases", "labels", "descriptions", "claims", "datatype"];

fn props(parameters: &ActionParameters, warnings: &mut Warnings) -> Props {
    let Some(list) = warnings.known(parameters, "props", |prop| PROPS.contains(&prop)) else { return Props::ALL };
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
            _ => {}
        }
    }
    props
}

/// Returns the requested languages, each with its fallbacks if these are requested; `None` for all languages.
fn languages(parameters: &ActionParameters, warnings: &mut Warnings) -> Option<Vec<Vec<String>>> {
    if parameters.list("languages").is_none_or(|list| list.is_empty() || list == ["*"]) {
        return None;
    }
    let falls_back = parameters.has("languagefallback");
    let list = warnings.known(parameters, "languages", is_language_code)?;
    let chain_of = |code: &str| if falls_back { chain(code) } else { vec![code.to_ascii_lowercase()] };
    Some(list.into_iter().map(chain_of).collect())
}

/// The error format of MediaWiki's action API.
pub static ACTION_WORDING: WikibaseWording = WikibaseWording {
    rate_limit: "ratelimited",
    denied: "readapidenied",
    bad_request: "badrequest",
    not_found: "no-such-entity",
    other: "internal_api_error",
    write: |status, code, message| error(status, code, message, None),
};
