//! `/api/4/...`: statistics of keys, tags, relation types and roles, with the paths, parameters and fields of taginfo's
//! API. What a snapshot does not have (projects, wiki pages, maps) is left out.

mod combinations;
mod keys;
mod parameters;
mod relations;
mod rows;
mod search;
mod site;
mod tags;

use std::io::Write;
use std::sync::Arc;

use axum::extract::{OriginalUri, RawQuery, State};
use axum::http::{HeaderMap, StatusCode, Uri, header};
use axum::routing::get;
use axum::{Extension, Router};
use serde::Serialize;
use serde::ser::{SerializeSeq, Serializer};
use serde_json::Value;

use super::App;
use super::context::Context;
use super::job::{Job, Lane};
use super::json::{JSON, Json};
use super::outcome::Outcome;
use super::service::{self, Wording};
use super::status::iso;
use parameters::TaginfoParameters;
use terrapin_budget::{self as budget, Budget, Stopped};
use terrapin_tags::{Counts, Listed, Tags};

/// The content type of rows with commas.
const CSV: &str = "text/csv; charset=utf-8";

/// The text of an answer and the number of its rows, or the error in the request.
type ServiceAnswer = Result<(String, u64), String>;

/// A service of the API.
pub struct Service {
    /// Its path.
    pub path: &'static str,
    /// What it gives.
    pub summary: &'static str,
    /// The required parameters.
    pub needed: &'static [&'static str],
    /// The optional parameters, besides `format`.
    pub optional: &'static [&'static str],
    lane: Lane,
    give: fn(&TaginfoRequest<'_>) -> ServiceAnswer,
}

/// A service that reads counts only.
const fn quick(path: &'static str, summary: &'static str, give: fn(&TaginfoRequest<'_>) -> ServiceAnswer) -> Service {
    Service { path, summary, needed: &[], optional: &[], lane: Lane::Search, give }
}

/// A service that may have to read many elements or values.
const fn slow(path: &'static str, summary: &'static str, give: fn(&TaginfoRequest<'_>) -> ServiceAnswer) -> Service {
    Service { lane: Lane::Query, ..quick(path, summary, give) }
}

impl Service {
    const fn needs(self, needed: &'static [&'static str]) -> Service {
        Service { needed, ..self }
    }

    const fn takes(self, optional: &'static [&'static str]) -> Service {
        Service { optional, ..self }
    }
}

const KEY: &[&str] = &["key"];
const TAG: &[&str] = &["key", "value"];
const QUERY: &[&str] = &["query"];
const RTYPE: &[&str] = &["rtype"];
/// The parameters of every list.
const LIST: &[&str] = &["page", "rp", "sortname", "sortorder"];
/// The parameters of a list with a search.
const SEARCHED: &[&str] = &["query", "page", "rp", "sortname", "sortorder"];
/// The parameters of a list with a search and a filter.
const FILTERED: &[&str] = &["query", "filter", "page", "rp", "sortname", "sortorder"];

/// All services.
pub static SERVICES: [Service; 22] = [
    quick("/api/4/keys/all", "Keys and how many elements have them", keys::answer_all).takes(&[
        "query",
        "filter",
        "include",
        "page",
        "rp",
        "sortname",
        "sortorder",
    ]),
    slow("/api/4/keys/without_wiki_page", "Frequent keys without a description", keys::answer_undescribed).takes(&[
        "min_count",
        "english",
        "query",
        "page",
        "rp",
        "sortname",
        "sortorder",
    ]),
    quick("/api/4/key/values", "The values of a key", keys::answer_values).needs(KEY).takes(FILTERED),
    quick("/api/4/key/stats", "How many elements have a key, by type", keys::answer_stats).needs(KEY),
    quick("/api/4/key/overview", "Counts, prevalent values and description of a key", keys::answer_overview).needs(KEY),
    quick("/api/4/key/prevalent_values", "The most frequent values of a key", keys::answer_prevalent_values)
        .needs(KEY)
        .takes(&["min_fraction", "filter"]),
    slow("/api/4/key/combinations", "Keys found together with a key", keys::answer_combinations)
        .needs(KEY)
        .takes(FILTERED),
    quick("/api/4/tag/stats", "How many elements have a tag, by type", tags::answer_stats).needs(TAG),
    quick("/api/4/tag/overview", "Counts and description of a tag", tags::answer_overview).needs(TAG),
    slow("/api/4/tag/combinations", "Keys and tags found together with a tag", tags::answer_combinations)
        .needs(TAG)
        .takes(FILTERED),
    slow("/api/4/tags/popular", "The most frequent tags", tags::answer_popular).takes(SEARCHED),
    quick("/api/4/tags/list", "Named tags, or the described ones of a key", tags::answer_list)
        .takes(&["tags", "key", "page", "rp"]),
    slow("/api/4/relation/roles", "The roles in relations of a type", relations::answer_roles_of_type)
        .needs(RTYPE)
        .takes(&["query", "min_fraction", "page", "rp", "sortname", "sortorder"]),
    slow("/api/4/relation/stats", "How many members relations of a type have, by type", relations::answer_stats)
        .needs(RTYPE),
    slow("/api/4/relations/all", "Relation types with their prevalent roles", relations::answer_types).takes(SEARCHED),
    slow("/api/4/relations/roles", "Roles by relation type", relations::answer_roles).takes(SEARCHED),
    slow("/api/4/search/by_value", "Tags by a part of their value", search::answer_value).needs(QUERY).takes(LIST),
    slow("/api/4/search/by_key_and_value", "Tags by parts of key and value: key=value", search::answer_key_and_value)
        .needs(QUERY)
        .takes(LIST),
    slow("/api/4/search/by_role", "Roles by a part of their text", search::answer_role).needs(QUERY).takes(LIST),
    slow("/api/4/search/by_keyword", "Tags that a question in words is about, the best first", search::answer_keyword)
        .needs(QUERY)
        .takes(LIST),
    quick("/api/4/site/info", "What these services are about", site::answer_info),
    quick("/api/4/site/sources", "The source of the data", site::answer_sources),
];

/// Returns the routes.
pub fn routes() -> Router<Arc<App>> {
    SERVICES.iter().fold(Router::new(), |router, service| {
        let handler = move |State(app): State<Arc<App>>,
                            Extension(context): Extension<Arc<Context>>,
                            OriginalUri(uri): OriginalUri,
                            RawQuery(query): RawQuery,
                            headers: HeaderMap| async move {
            let site = site_url(&headers, &uri);
            let work = move |job: Job| run(job, service, &site, &uri, &query.unwrap_or_default());
            let answer = service::run(&app, &context, service.lane, &Json, work).await;
            answer.map(|answer| answer.into_response(&app))
        };
        router.route(service.path, get(handler))
    })
}

/// Returns the URL of the server by the name that the client knows it by; empty if the request has no name. Clients
/// parse `url`, so that a path is not enough.
fn site_url(headers: &HeaderMap, uri: &Uri) -> String {
    let text = |name| headers.get(name).and_then(|value| value.to_str().ok());
    let is_secure = text("x-forwarded-proto").is_some_and(|scheme| scheme.eq_ignore_ascii_case("https"));
    let host = uri.authority().map(|host| host.as_str()).or_else(|| text(header::HOST.as_str()));
    host.map_or_else(String::new, |host| format!("{}://{host}", if is_secure { "https" } else { "http" }))
}

fn run(job: Job, service: &Service, site: &str, uri: &Uri, query: &str) {
    let parameters = TaginfoParameters::parse(query);
    let format = parameters.as_ref().map_err(Clone::clone).and_then(TaginfoFormat::parse);
    let content_type = if format == Ok(TaginfoFormat::Csv) { CSV } else { JSON };
    let (time, memory) = (job.app().settings.max_time, job.memory());
    let (run, sink) = job.begin(time, memory, content_type);
    let budget = Arc::new(Budget::new(run.limits()));
    let answer = budget::watched(&budget, || {
        let (app, parameters, format) = (run.app(), parameters?, format?);
        let path = uri.path_and_query().map_or(service.path, |path| path.as_str());
        (service.give)(&TaginfoRequest { app, tags: app.engine.tags(), site, path, parameters, format })
    });
    let what = "taginfo";
    let Some((run, mut sink)) = service::sound(run, sink, &Json, what) else { return };
    let (outcome, message) = match answer {
        Ok(Ok((text, rows))) => {
            return match sink.write_all(text.as_bytes()) {
                Ok(()) => run.answered(sink, what, rows),
                Err(_) => {
                    run.refused(sink, what, Outcome::Abandoned, Json.refusal(StatusCode::SERVICE_UNAVAILABLE, ""))
                }
            };
        }
        Ok(Err(message)) => (Outcome::Refused, message),
        Err(Stopped::Exceeded(exceeded)) => (Outcome::from(exceeded), format!("{exceeded}; ask for less with rp")),
        Err(Stopped::Panicked(panic)) => {
            tracing::error!(panic, "tags could not be listed: a fault of the program");
            (Outcome::Broken, "a fault of the program: see the server's log".to_owned())
        }
    };
    run.refused(sink, what, outcome, Json.refusal(outcome.status(), &message));
}

/// The form of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum TaginfoFormat {
    Json,
    PrettyJson,
    Csv,
}

impl TaginfoFormat {
    fn parse(parameters: &TaginfoParameters) -> Result<TaginfoFormat, String> {
        match parameters.get("format").unwrap_or_default() {
            "" | "json" => Ok(TaginfoFormat::Json),
            "json_pretty" => Ok(TaginfoFormat::PrettyJson),
            "csv" => Ok(TaginfoFormat::Csv),
            _ => Err("format: expected one of json, json_pretty, csv".to_owned()),
        }
    }
}

/// A row of a list.
trait TaginfoRow: Serialize {
    /// The columns of the row as CSV; empty if the row has nested fields and therefore no form as CSV.
    const COLUMNS: &'static [&'static str];
}

/// A request to one of the services.
struct TaginfoRequest<'a> {
    app: &'a App,
    tags: &'a Tags,
    /// The URL of the server.
    site: &'a str,
    path: &'a str,
    parameters: TaginfoParameters,
    format: TaginfoFormat,
}

/// The fields around the rows.
#[derive(Serialize)]
struct TaginfoEnvelope<'a, T> {
    url: String,
    data_until: String,
    /// The page and the number of its rows, if the request has them.
    #[serde(skip_serializing_if = "Option::is_none")]
    page: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    rp: Option<usize>,
    total: u64,
    data: &'a T,
}

/// Rows that are serialized within the budget of the request.
struct MeteredRows<'a, R>(&'a [R]);

impl<R: Serialize> Serialize for MeteredRows<'_, R> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut rows = serializer.serialize_seq(Some(self.0.len()))?;
        for row in self.0 {
            budget::checkpoints(ROW_STEPS);
            rows.serialize_element(row)?;
        }
        rows.end()
    }
}

/// The steps that writing one row counts for in the budget.
const ROW_STEPS: usize = 16;

impl TaginfoRequest<'_> {
    /// Answers with a page of a list.
    fn answer_page<T, R: TaginfoRow>(&self, listed: Listed<T>, mut row: impl FnMut(T) -> R) -> ServiceAnswer {
        let listed = listed.map(|found| {
            budget::checkpoint();
            row(found)
        });
        self.answer_rows(listed.total, &listed.rows, self.parameters.page()?)
    }

    /// Answers with a list that has no pages.
    fn answer_whole<R: TaginfoRow>(&self, rows: &[R]) -> ServiceAnswer {
        self.answer_rows(rows.len() as u64, rows, (1, None))
    }

    /// Answers with rows, which are those of a page if the request has pages.
    fn answer_rows<R: TaginfoRow>(&self, total: u64, rows: &[R], (page, rp): (usize, Option<usize>)) -> ServiceAnswer {
        let text = if self.format == TaginfoFormat::Csv {
            csv_text(rows)?
        } else {
            let (url, data_until) = (self.url(), self.data_until());
            let page = rp.map(|_| page);
            self.json_text(&TaginfoEnvelope { url, data_until, page, rp, total, data: &MeteredRows(rows) })?
        };
        Ok((text, rows.len() as u64))
    }

    /// Answers with one object, which is the only result.
    fn answer_object<T: Serialize>(&self, data: &T) -> ServiceAnswer {
        let (url, data_until) = (self.url(), self.data_until());
        self.answer_bare(&TaginfoEnvelope { url, data_until, page: None, rp: None, total: 1, data })
    }

    /// Answers with a value that has no fields around it.
    fn answer_bare<T: Serialize>(&self, value: &T) -> ServiceAnswer {
        Ok((self.json_text(value)?, 1))
    }

    fn json_text<T: Serialize>(&self, value: &T) -> Result<String, String> {
        let text = match self.format {
            TaginfoFormat::Json => serde_json::to_string(value),
            TaginfoFormat::PrettyJson => serde_json::to_string_pretty(value),
            TaginfoFormat::Csv => return Err(NO_CSV.to_owned()),
        };
        text.map_err(|error| error.to_string())
    }

    fn url(&self) -> String {
        format!("{}{}", self.site, self.path)
    }

    fn data_until(&self) -> String {
        iso(self.app.engine.manifest().data_timestamp)
    }

    /// Returns the numbers of all elements.
    fn elements(&self) -> Counts {
        Counts::elements(self.tags.osm())
    }
}

/// The error for a nested answer as CSV.
const NO_CSV: &str = "format: expected json or json_pretty, because the answer is nested";

/// Returns rows as CSV (RFC 4180, with line feeds as Ruby's CSV writes them) under a line with the names of the columns.
/// What is missing is an empty field.
fn csv_text<R: TaginfoRow>(rows: &[R]) -> Result<String, String> {
    if R::COLUMNS.is_empty() {
        return Err(NO_CSV.to_owned());
    }
    let mut writer = csv::Writer::from_writer(Vec::new());
    writer.write_record(R::COLUMNS).map_err(|error| error.to_string())?;
    for row in rows {
        budget::checkpoints(ROW_STEPS);
        let fields = serde_json::to_value(row).map_err(|error| error.to_string())?;
        let field = |column: &&str| match fields.get(column) {
            None | Some(Value::Null) => String::new(),
            Some(Value::String(text)) => text.clone(),
            Some(value) => value.to_string(),
        };
        writer.write_record(R::COLUMNS.iter().map(field)).map_err(|error| error.to_string())?;
    }
    let bytes = writer.into_inner().map_err(|error| error.to_string())?;
    String::from_utf8(bytes).map_err(|error| error.to_string())
}
