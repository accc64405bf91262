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

/// The parameters of the order of rows.
macro_rules! sorted {
    ($($name:literal),+) => {
        &[
            query("sortname", Schema::OneOf(&[$($name),+]), "The column to sort by"),
            query("sortorder", Schema::OneOf(&["asc", "desc"]), "Default: numbers descending, texts ascending"),
        ]
    };
}

use std::sync::Arc;

use axum::Extension;
use axum::extract::{OriginalUri, RawQuery, State};
use axum::http::{HeaderMap, StatusCode, Uri};
use axum::response::Response;
use axum::routing::{MethodFilter, MethodRouter, on};
use serde::Serialize;
use serde::ser::{SerializeSeq, Serializer};
use serde_json::Value;

use super::status::iso;
use crate::App;
use crate::context::HttpRequestContext;
use crate::job::{Job, Lane};
use crate::json::{JSON, JsonWording};
use crate::outcome::Outcome;
use crate::route::{Access, Handler, Parameter, Route, Schema, query, required};
use crate::service::{self, Wording};
use crate::site_url::site_url;
use parameters::TaginfoParameters;
use terrapin_budget::{self as budget, ExceededLimit};
use terrapin_tags::{Listed, TagStatistics, TypeCounts};

/// The content type of rows with commas.
const CSV: &str = "text/csv; charset=utf-8";

/// The text of an answer and the number of its rows, or the error in the request.
type ServiceAnswer = Result<(String, u64), String>;

/// The work of a service.
type Answering = fn(&TaginfoRequest<'_>) -> ServiceAnswer;

/// The routes.
pub const ROUTES: &[Route] = &[
    get("/api/4/keys/all", "Keys with the number of their elements", |_, methods| quick(methods, keys::answer_all))
        .takes(&[
            QUERY,
            &[
                query(
                    "filter",
                    Schema::Pattern(KEY_FILTERS),
                    "Only keys that pass these filters: all, in_wiki, not_in_db, characters_...",
                ),
                query(
                    "include",
                    Schema::OneOf(&["prevalent_values"]),
                    "Adds the values of at least 1 % of a key's elements",
                ),
            ],
            PAGE,
            FORMAT,
            sorted!(
                "key",
                "count_all",
                "count_nodes",
                "count_ways",
                "count_relations",
                "values_all",
                "in_wiki",
                "length"
            ),
        ]),
    get("/api/4/keys/without_wiki_page", "Frequent keys without a description", |_, methods| {
        slow(methods, keys::answer_undescribed)
    })
    .takes(&[
        &[
            query("min_count", Schema::Integer(0, i64::MAX, Some(10_000)), "Minimum number of elements"),
            query("english", Schema::OneOf(&["0", "1"]), "1: without a description in English, as always here"),
        ],
        QUERY,
        PAGE,
        NESTED,
        sorted!("key", "count_all", "values_all"),
    ]),
    get("/api/4/key/values", "Values of a key", |_, methods| quick(methods, keys::answer_values)).takes(&[
        KEY,
        QUERY,
        FILTER,
        PAGE,
        FORMAT,
        sorted!("value", "count", "count_all", "count_nodes", "count_ways", "count_relations", "in_wiki"),
    ]),
    get("/api/4/key/stats", "Number of elements with a key, by type", |_, methods| quick(methods, keys::answer_stats))
        .takes(&[KEY, FORMAT]),
    get("/api/4/key/overview", "Counts, prevalent values and description of a key", |_, methods| {
        quick(methods, keys::answer_overview)
    })
    .takes(&[KEY, NESTED]),
    get("/api/4/key/prevalent_values", "The most frequent values of a key", |_, methods| {
        quick(methods, keys::answer_prevalent_values)
    })
    .takes(&[KEY, &[MIN_FRACTION], FILTER, FORMAT]),
    get("/api/4/key/combinations", "Keys of elements with a key", |_, methods| {
        slow(methods, keys::answer_combinations)
    })
    .takes(&[
        KEY,
        QUERY,
        FILTER,
        PAGE,
        FORMAT,
        sorted!("together_count", "other_key", "to_fraction", "from_fraction"),
    ]),
    get("/api/4/tag/stats", "Number of elements with a tag, by type", |_, methods| quick(methods, tags::answer_stats))
        .takes(&[TAG, FORMAT]),
    get("/api/4/tag/overview", "Counts and description of a tag", |_, methods| quick(methods, tags::answer_overview))
        .takes(&[TAG, NESTED]),
    get("/api/4/tag/combinations", "Keys and tags of elements with a tag", |_, methods| {
        slow(methods, tags::answer_combinations)
    })
    .takes(&[
        TAG,
        QUERY,
        FILTER,
        PAGE,
        FORMAT,
        sorted!("together_count", "other_tag", "to_fraction", "from_fraction"),
    ]),
    get("/api/4/tags/popular", "The most frequent tags", |_, methods| slow(methods, tags::answer_popular)).takes(&[
        QUERY,
        PAGE,
        FORMAT,
        sorted!("tag", "count_all", "count_nodes", "count_ways", "count_relations"),
    ]),
    get("/api/4/tags/list", "Named tags, or the described ones of a key", |_, methods| {
        quick(methods, tags::answer_list)
    })
    .takes(&[
        &[query("tags", Schema::Text, "Tags: key=value,value,key=value"), query("key", Schema::Text, "A key")],
        PAGE,
        FORMAT,
    ]),
    get("/api/4/relation/roles", "Roles in relations of a type", |_, methods| {
        slow(methods, relations::answer_roles_of_type)
    })
    .takes(&[
        RTYPE,
        QUERY,
        &[MIN_FRACTION],
        PAGE,
        FORMAT,
        sorted!("role", "count_all_members", "count_node_members", "count_way_members", "count_relation_members"),
    ]),
    get("/api/4/relation/stats", "Number of members in relations of a type, by type", |_, methods| {
        slow(methods, relations::answer_stats)
    })
    .takes(&[RTYPE, FORMAT]),
    get("/api/4/relations/all", "Relation types with their prevalent roles", |_, methods| {
        slow(methods, relations::answer_types)
    })
    .takes(&[QUERY, PAGE, NESTED, sorted!("rtype", "count")]),
    get("/api/4/relations/roles", "Roles by relation type", |_, methods| slow(methods, relations::answer_roles)).takes(
        &[QUERY, PAGE, FORMAT, sorted!("role", "rtype", "count_all", "count_nodes", "count_ways", "count_relations")],
    ),
    get("/api/4/search/by_value", "Tags by a part of their value", |_, methods| slow(methods, search::answer_value))
        .takes(&[WANTED, PAGE, FORMAT, sorted!("count_all", "key", "value")]),
    get("/api/4/search/by_key_and_value", "Tags by parts of key and value", |_, methods| {
        slow(methods, search::answer_key_and_value)
    })
    .takes(&[
        &[required("query", Schema::Pattern("="), "Parts of key and value: key=value")],
        PAGE,
        FORMAT,
        sorted!("count_all", "key", "value"),
    ]),
    get("/api/4/search/by_role", "Roles by a part of their text", |_, methods| slow(methods, search::answer_role))
        .takes(&[WANTED, PAGE, FORMAT, sorted!("count_all", "rtype", "role")]),
    get("/api/4/search/by_keyword", "Tags for a description in words, best first", |_, methods| {
        slow(methods, search::answer_keyword)
    })
    .takes(&[WANTED, PAGE, FORMAT, sorted!("key", "value")]),
    get("/api/4/site/info", "Description of this site", |_, methods| quick(methods, site::answer_info))
        .takes(&[NESTED]),
    get("/api/4/site/sources", "The source of the data", |_, methods| quick(methods, site::answer_sources))
        .takes(&[NESTED]),
];

const fn get(path: &'static str, summary: &'static str, handler: Handler) -> Route {
    Route::get(path, summary, handler).answers(&["application/json", "text/csv"]).access(Access::Query)
}

const KEY: &[Parameter] = &[required("key", Schema::Text, "The key")];
const TAG: &[Parameter] = &[required("key", Schema::Text, "The key"), required("value", Schema::Text, "The value")];
const RTYPE: &[Parameter] = &[required("rtype", Schema::Text, "The relation type: the value of the tag `type`")];
const QUERY: &[Parameter] = &[query("query", Schema::Text, "Only rows with this text")];
const WANTED: &[Parameter] = &[required("query", Schema::Text, "The text to search for")];
const MIN_FRACTION: Parameter = query("min_fraction", Schema::Number(0.0, 1.0), "Minimum share of a row");
const KEY_FILTERS: &str = "^,*((all|in_wiki|not_in_db|characters_(plain|colon|letters|space|problem|rest)),*)*$";
const FILTER: &[Parameter] =
    &[query("filter", Schema::OneOf(&["all", "nodes", "ways", "relations"]), "Only elements of this type")];
/// The format of an answer with nested fields.
const NESTED: &[Parameter] = &[query("format", Schema::OneOf(&["json", "json_pretty"]), "Default: json")];
const FORMAT: &[Parameter] = &[query("format", Schema::OneOf(&["json", "json_pretty", "csv"]), "Default: json")];
const PAGE: &[Parameter] = &[
    query("page", Schema::Integer(1, i64::MAX, Some(1)), "Page"),
    query("rp", Schema::Integer(0, i64::MAX, Some(0)), "Rows of a page; 0 is all rows"),
];

/// Returns the handler of a service that reads counts only.
fn quick(methods: MethodFilter, answering: Answering) -> MethodRouter<Arc<App>> {
    handler(methods, Lane::Search, answering)
}

/// Returns the handler of a service that may have to read many elements or values.
fn slow(methods: MethodFilter, answering: Answering) -> MethodRouter<Arc<App>> {
    handler(methods, Lane::Query, answering)
}

fn handler(methods: MethodFilter, lane: Lane, answering: Answering) -> MethodRouter<Arc<App>> {
    let handler = move |State(app): State<Arc<App>>,
                        Extension(context): Extension<Arc<HttpRequestContext>>,
                        OriginalUri(uri): OriginalUri,
                        RawQuery(query): RawQuery,
                        headers: HeaderMap| async move {
        // Clients parse `url`, so that a path is not enough.
        let site = site_url(&headers, &uri).unwrap_or_default();
        let work = move |job: Job| run(job, answering, &site, &uri, &query.unwrap_or_default());
        service::run(&app, &context, lane, &TaginfoWording, work).await
    };
    on(methods, handler)
}

fn run(job: Job, answering: Answering, site: &str, uri: &Uri, query: &str) {
    let parameters = TaginfoParameters::parse(query);
    let format = parameters.as_ref().map_err(Clone::clone).and_then(TaginfoFormat::parse);
    let content_type = if format == Ok(TaginfoFormat::Csv) { CSV } else { JSON };
    let (time, memory) = (job.app().settings.max_time, job.memory());
    let (run, sink) = job.begin(time, memory, content_type);
    let answer = run.work(|app| {
        let (parameters, format) = (parameters?, format?);
        let path = uri.path_and_query().map_or("", |path| path.as_str());
        answering(&TaginfoRequest { app, tags: app.engine.tags(), site, path, parameters, format })
    });
    let answer = match answer {
        Ok(answer) => answer.map_err(|message| (Outcome::Refused, message)),
        Err(stop) => Err(service::stopped(&TaginfoWording, stop)),
    };
    service::end(run, sink, &TaginfoWording, "taginfo", answer);
}

/// The error format: as that of our own services, with advice for requests that reach a limit.
struct TaginfoWording;

impl Wording for TaginfoWording {
    fn names_snapshot(&self) -> bool {
        JsonWording.names_snapshot()
    }

    fn refusal(&self, status: StatusCode, message: &str) -> Response {
        JsonWording.refusal(status, message)
    }

    fn exceeded(&self, exceeded: ExceededLimit) -> String {
        format!("{exceeded}; ask for less with rp")
    }
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
    tags: &'a TagStatistics,
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
    fn elements(&self) -> TypeCounts {
        TypeCounts::elements(self.tags.osm())
    }
}

/// The error for a nested answer as CSV.
const NO_CSV: &str = "format: expected json or json_pretty, because the answer is nested";

/// Returns rows as CSV (RFC 4180, with line feeds as Ruby's CSV writes them) under a line with the names of the
/// columns. What is missing is an empty field.
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
