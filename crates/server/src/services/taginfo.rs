//! `/api/4/...`: which keys and tags there are, how often and together with what, as taginfo answers it: its paths, its
//! parameters, the fields of its answers. What is not in a snapshot (users, projects, distributions) is left out.

mod parameters;

/// The parameters of the order of rows.
macro_rules! sorted {
    ($($name:literal),+) => {
        &[
            query("sortname", Schema::OneOf(&[$($name),+]), "The column to sort by"),
            query("sortorder", Schema::OneOf(&["asc", "desc"]), "Default: counts descending, texts ascending"),
        ]
    };
}

use std::sync::Arc;

use axum::Extension;
use axum::extract::{OriginalUri, RawQuery, State};
use axum::http::StatusCode;
use axum::routing::{MethodFilter, MethodRouter, on};
use serde::Serialize;

use super::status::iso;
use crate::App;
use crate::context::Context;
use crate::job::{Job, Lane};
use crate::json::{JSON, Json};
use crate::outcome::Outcome;
use crate::route::{Access, Parameter, Route, Schema, query, required};
use crate::service::{self, Wording};
use parameters::Parameters;
use terrapin_budget::{self as budget, Budget, Stopped};
use terrapin_osm::ElementType;
use terrapin_tags::{
    Combination, Counts, Key, KeyFilter, KeySorting, KeysWanted, Listed, Match, Source, Tag, Tags, Value, ValueSorting,
    ValuesWanted, Which, fraction,
};

/// What a service gives: its rows as JSON, and how many there are on this page.
type Given = Result<(String, u64), String>;

/// A service's work.
type Give = fn(&Asked<'_>) -> Given;

/// The routes.
pub const ROUTES: &[Route] = &[
    get("/api/4/keys/all", "Keys with the number of their elements", |_, methods| quick(methods, keys_all)).takes(&[
        QUERY,
        &[
            query(
                "filter",
                Schema::OneOf(&["all", "in_wiki", "characters_space", "characters_problem"]),
                "Only such keys",
            ),
            query(
                "include",
                Schema::OneOf(&["prevalent_values"]),
                "Adds the values of at least 1 % of a key's elements",
            ),
        ],
        PAGE,
        sorted!("key", "count_all", "count_nodes", "count_ways", "count_relations", "values_all", "length"),
    ]),
    get("/api/4/key/values", "Values of a key", |_, methods| quick(methods, key_values)).takes(&[
        KEY,
        QUERY,
        FILTER,
        PAGE,
        sorted!("value", "count", "count_all", "count_nodes", "count_ways", "count_relations"),
    ]),
    get("/api/4/key/stats", "Number of elements with a key, by type", |_, methods| quick(methods, key_stats))
        .takes(&[KEY]),
    get("/api/4/key/overview", "The same", |_, methods| quick(methods, key_stats)).takes(&[KEY]),
    get("/api/4/key/prevalent_values", "Values that at least 1 % of a key's elements have", |_, methods| {
        quick(methods, key_prevalent_values)
    })
    .takes(&[KEY, FILTER]),
    get("/api/4/key/combinations", "Keys of elements with a key", |_, methods| slow(methods, key_combinations))
        .takes(&[KEY, QUERY, FILTER, PAGE, sorted!("together_count", "other_key", "to_fraction", "from_fraction")]),
    get("/api/4/tag/stats", "Number of elements with a tag, by type", |_, methods| quick(methods, tag_stats))
        .takes(&[TAG]),
    get("/api/4/tag/overview", "The same", |_, methods| quick(methods, tag_stats)).takes(&[TAG]),
    get("/api/4/tag/combinations", "Keys and tags of elements with a tag", |_, methods| {
        slow(methods, tag_combinations)
    })
    .takes(&[TAG, QUERY, FILTER, PAGE, sorted!("together_count", "other_tag", "to_fraction", "from_fraction")]),
    get("/api/4/tags/popular", "The most frequent tags", |_, methods| slow(methods, tags_popular)).takes(&[
        QUERY,
        PAGE,
        sorted!("tag", "count_all", "count_nodes", "count_ways", "count_relations"),
    ]),
    get("/api/4/tags/list", "Named tags, or all tags of a key", |_, methods| quick(methods, tags_list)).takes(&[
        &[query("tags", Schema::Text, "Tags: key=value,value,key=value"), query("key", Schema::Text, "A key")],
        PAGE,
    ]),
    get("/api/4/search/by_value", "Tags by a part of their value", |_, methods| slow(methods, search_by_value))
        .takes(&[WANTED, PAGE, FOUND_ORDER]),
    get("/api/4/search/by_key_and_value", "Tags by parts of key and value: key=value", |_, methods| {
        slow(methods, search_by_key_and_value)
    })
    .takes(&[&[required("query", Schema::Pattern("="), "Parts of key and value: key=value")], PAGE, FOUND_ORDER]),
    get("/api/4/search/by_keyword", "Tags for a description in words, best first", |_, methods| {
        slow(methods, search_by_keyword)
    })
    .takes(&[WANTED, PAGE]),
    get("/api/4/site/info", "Description of this site and its data", |_, methods| quick(methods, site_info)),
];

const fn get(
    path: &'static str,
    summary: &'static str,
    handler: fn(&Arc<App>, MethodFilter) -> MethodRouter<Arc<App>>,
) -> Route {
    Route::get(path, summary, handler).access(Access::Query)
}

const KEY: &[Parameter] = &[required("key", Schema::Text, "The key")];
const TAG: &[Parameter] = &[required("key", Schema::Text, "The key"), required("value", Schema::Text, "The value")];
const QUERY: &[Parameter] = &[query("query", Schema::Text, "A part of the text")];
const WANTED: &[Parameter] = &[required("query", Schema::Text, "The text to search for")];
const FILTER: &[Parameter] =
    &[query("filter", Schema::OneOf(&["all", "nodes", "ways", "relations"]), "Only elements of this type")];
const PAGE: &[Parameter] = &[
    query("page", Schema::Integer(1, 1_000_000, Some(1)), "Page, with `rp`"),
    query("rp", Schema::Integer(1, 1_000_000, None), "Rows of a page"),
    query("format", Schema::OneOf(&["json", "json_pretty"]), "Default: json"),
];
const FOUND_ORDER: &[Parameter] = sorted!("count_all", "key", "value");

/// Returns the handler of a service that reads counts.
fn quick(methods: MethodFilter, give: Give) -> MethodRouter<Arc<App>> {
    handler(methods, Lane::Search, give)
}

/// Returns the handler of a service that may have to read many elements.
fn slow(methods: MethodFilter, give: Give) -> MethodRouter<Arc<App>> {
    handler(methods, Lane::Query, give)
}

fn handler(methods: MethodFilter, lane: Lane, give: Give) -> MethodRouter<Arc<App>> {
    let handler = move |State(app): State<Arc<App>>,
                        Extension(context): Extension<Arc<Context>>,
                        OriginalUri(uri): OriginalUri,
                        RawQuery(query): RawQuery| async move {
        let work = move |job: Job| work(job, give, &uri.to_string(), &query.unwrap_or_default());
        let answer = service::run(&app, &context, lane, &Json, work).await;
        answer.map(|answer| answer.into_response(&app))
    };
    on(methods, handler)
}

fn work(job: Job, give: Give, url: &str, query: &str) {
    let (time, memory) = (job.app().settings.max_time, job.memory());
    let (run, sink) = job.begin(time, memory, JSON);
    let budget = Arc::new(Budget::new(run.limits()));
    let given = budget::watched(&budget, || {
        let parameters = Parameters::read(query)?;
        let app = run.app();
        give(&Asked { app, tags: app.engine.tags(), url, parameters })
    });
    let what = "taginfo";
    let Some((run, mut sink)) = service::sound(run, sink, &Json, what) else { return };
    let (outcome, message) = match given {
        Ok(Ok((text, rows))) => {
            return match std::io::Write::write_all(&mut sink, text.as_bytes()) {
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

/// A request to one of the services.
struct Asked<'a> {
    app: &'a App,
    tags: &'a Tags,
    url: &'a str,
    parameters: Parameters,
}

#[derive(Serialize)]
struct Envelope<'a, T> {
    url: &'a str,
    data_until: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    page: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    rp: Option<usize>,
    total: u64,
    data: T,
}

impl Asked<'_> {
    fn give<T: Serialize>(&self, total: u64, count: usize, page: Option<usize>, rp: Option<usize>, data: T) -> Given {
        let data_until = iso(self.app.engine.manifest().data_timestamp);
        let envelope = Envelope { url: self.url, data_until, page, rp, total, data };
        let text = match self.parameters.get("format").unwrap_or("json") {
            "json" => serde_json::to_string(&envelope),
            "json_pretty" => serde_json::to_string_pretty(&envelope),
            _ => return Err("format: expected json or json_pretty".to_owned()),
        };
        text.map(|text| (text, count as u64)).map_err(|error| error.to_string())
    }

    /// A page of a list.
    fn list<T, R: Serialize>(&self, listed: Listed<T>, row: impl FnMut(T) -> R) -> Given {
        let (page, rp) = self.parameters.page()?;
        let listed = listed.map(row);
        let count = listed.rows.len();
        self.give(listed.total, count, Some(page), rp.or(Some(count)), listed.rows)
    }

    /// All there is.
    fn whole<R: Serialize>(&self, rows: Vec<R>) -> Given {
        self.give(rows.len() as u64, rows.len(), None, None, rows)
    }

    fn elements(&self) -> Counts {
        Counts::elements(self.tags.osm())
    }
}

/// How many elements have something.
#[derive(Serialize)]
struct Numbers {
    count_all: u64,
    count_all_fraction: f64,
    count_nodes: u64,
    count_nodes_fraction: f64,
    count_ways: u64,
    count_ways_fraction: f64,
    count_relations: u64,
    count_relations_fraction: f64,
}

impl Numbers {
    fn of(counts: Counts, elements: Counts) -> Numbers {
        let part = |kind| fraction(counts.0[kind], elements.0[kind]);
        let [count_nodes, count_ways, count_relations] = counts.0;
        Numbers {
            count_all: counts.all(),
            count_all_fraction: fraction(counts.all(), elements.all()),
            count_nodes,
            count_nodes_fraction: part(0),
            count_ways,
            count_ways_fraction: part(1),
            count_relations,
            count_relations_fraction: part(2),
        }
    }
}

#[derive(Serialize)]
struct KeyRow {
    key: String,
    #[serde(flatten)]
    numbers: Numbers,
    values_all: u64,
    in_wiki: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    prevalent_values: Option<Vec<ValueRow>>,
}

#[derive(Serialize)]
struct ValueRow {
    value: String,
    count: u64,
    fraction: f64,
    #[serde(flatten)]
    described: Described,
}

/// What a tag means, if that is known.
#[derive(Serialize)]
struct Described {
    in_wiki: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    description: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    desclang: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    descdir: Option<&'static str>,
}

impl Described {
    fn of(tags: &Tags, key: &str, value: &str) -> Described {
        let description = tags.docs().tag(key, value).map(str::to_owned);
        let is_known = description.is_some();
        let known = |text| is_known.then_some(text);
        Described { in_wiki: is_known, description, desclang: known("en"), descdir: known("ltr") }
    }
}

impl ValueRow {
    fn of(tags: &Tags, key: &str, value: Value, which: Which, whole: u64) -> ValueRow {
        let count = value.counts.of(which);
        let described = Described::of(tags, key, &value.value);
        ValueRow { value: value.value, count, fraction: fraction(count, whole), described }
    }
}

#[derive(Serialize)]
struct TagRow {
    key: String,
    value: String,
    in_wiki: bool,
    #[serde(flatten)]
    numbers: Numbers,
}

#[derive(Serialize)]
struct FoundRow {
    key: String,
    value: String,
    count_all: u64,
}

#[derive(Serialize)]
struct KeywordRow {
    #[serde(flatten)]
    found: FoundRow,
    score: f64,
    #[serde(flatten)]
    described: Described,
    /// Elements that have it and the first one.
    #[serde(skip_serializing_if = "Option::is_none")]
    together_count: Option<u64>,
}

#[derive(Serialize)]
struct StatsRow {
    r#type: &'static str,
    count: u64,
    count_fraction: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    values: Option<u64>,
}

#[derive(Serialize)]
struct CombinationRow {
    other_key: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    other_value: Option<String>,
    together_count: u64,
    to_fraction: f64,
    from_fraction: f64,
}

const COUNTS: [(&str, Which); 4] = [
    ("count_all", Which::All),
    ("count_nodes", Which::Only(ElementType::Node)),
    ("count_ways", Which::Only(ElementType::Way)),
    ("count_relations", Which::Only(ElementType::Relation)),
];

/// What a column of [`COUNTS`] counts.
fn counted(name: &str) -> Option<Which> {
    COUNTS.iter().find(|(column, _)| *column == name).map(|(_, which)| *which)
}

fn keys_all(asked: &Asked<'_>) -> Given {
    let parameters = &asked.parameters;
    let names = ["key", "count_all", "count_nodes", "count_ways", "count_relations", "values_all", "length"];
    let (name, descending) = parameters.sorting(&names, ("", true))?;
    let sorting = match name {
        "key" => KeySorting::Key,
        "values_all" => KeySorting::Values,
        "length" => KeySorting::Length,
        name => counted(name).map_or(KeySorting::Fit, KeySorting::Count),
    };
    let filter = match parameters.get("filter").unwrap_or_default() {
        "" | "all" => None,
        "characters_space" => Some(KeyFilter::Space),
        "characters_problem" => Some(KeyFilter::Problem),
        "in_wiki" => Some(KeyFilter::Described),
        _ => return Err("filter: expected one of all, in_wiki, characters_space, characters_problem".to_owned()),
    };
    let prevalent = match parameters.get("include").unwrap_or_default() {
        "" => false,
        "prevalent_values" => true,
        _ => return Err("include: expected prevalent_values".to_owned()),
    };
    let part = parameters.part()?;
    let wanted = KeysWanted { query: parameters.query(), filter, sorting, descending, part };
    let elements = asked.elements();
    asked.list(asked.tags.keys(&wanted), |Key { key, counts, values }| {
        let prevalent_values = prevalent.then(|| prevalent_rows(asked.tags, &key, Which::All, counts));
        let in_wiki = asked.tags.docs().key(&key).is_some();
        KeyRow { in_wiki, key, numbers: Numbers::of(counts, elements), values_all: values, prevalent_values }
    })
}

fn prevalent_rows(tags: &Tags, key: &str, which: Which, counts: Counts) -> Vec<ValueRow> {
    tags.prevalent(key, which)
        .into_iter()
        .map(|value| ValueRow::of(tags, key, value, which, counts.of(which)))
        .collect()
}

fn key_values(asked: &Asked<'_>) -> Given {
    let parameters = &asked.parameters;
    let key = parameters.needed("key")?;
    let which = parameters.which()?;
    let names = ["value", "count", "count_all", "count_nodes", "count_ways", "count_relations"];
    let (name, descending) = parameters.sorting(&names, ("", true))?;
    let sorting = match name {
        "" => ValueSorting::Fit,
        "value" => ValueSorting::Value,
        _ => ValueSorting::Count,
    };
    let which = counted(name).filter(|column| *column != Which::All).unwrap_or(which);
    let part = parameters.part()?;
    let wanted = ValuesWanted { query: parameters.query(), which, sorting, descending, part };
    let whole = asked.tags.key_counts(key).of(which);
    asked.list(asked.tags.values(key, &wanted), |value| ValueRow::of(asked.tags, key, value, which, whole))
}

fn key_prevalent_values(asked: &Asked<'_>) -> Given {
    let key = asked.parameters.needed("key")?;
    let which = asked.parameters.which()?;
    asked.whole(prevalent_rows(asked.tags, key, which, asked.tags.key_counts(key)))
}

/// A row for all elements and one for each type.
fn stats(asked: &Asked<'_>, counts: Counts, values: impl Fn(Which) -> Option<u64>) -> Given {
    let elements = asked.elements();
    let types = ["all", "nodes", "ways", "relations"].into_iter().zip(COUNTS);
    let row = |(r#type, (_, which))| {
        let count = counts.of(which);
        StatsRow { r#type, count, count_fraction: fraction(count, elements.of(which)), values: values(which) }
    };
    asked.whole(types.map(row).collect())
}

fn key_stats(asked: &Asked<'_>) -> Given {
    let key = asked.parameters.needed("key")?;
    stats(asked, asked.tags.key_counts(key), |which| Some(asked.tags.key_values(key, which)))
}

fn tag_stats(asked: &Asked<'_>) -> Given {
    let (key, value) = (asked.parameters.needed("key")?, asked.parameters.needed("value")?);
    stats(asked, asked.tags.tag_counts(key, value), |_| None)
}

fn key_combinations(asked: &Asked<'_>) -> Given {
    let found = asked.tags.keys_with_key(asked.parameters.needed("key")?, asked.parameters.which()?);
    combinations(asked, found, false)
}

fn tag_combinations(asked: &Asked<'_>) -> Given {
    let (key, value) = (asked.parameters.needed("key")?, asked.parameters.needed("value")?);
    let found = asked.tags.tags_with_tag(key, value, asked.parameters.which()?);
    combinations(asked, found, true)
}

/// A page of these, which come with the most frequent first.
fn combinations(asked: &Asked<'_>, mut found: Vec<Combination>, with_values: bool) -> Given {
    let parameters = &asked.parameters;
    let other = if with_values { "other_tag" } else { "other_key" };
    let names = ["together_count", other, "to_fraction", "from_fraction"];
    let (name, descending) = parameters.sorting(&names, ("together_count", true))?;
    let query = parameters.query().to_lowercase();
    found.retain(|row| {
        let value = row.other_value.as_deref().unwrap_or_default();
        query.is_empty() || row.other_key.to_lowercase().contains(&query) || value.to_lowercase().contains(&query)
    });
    let order = |a: &Combination, b: &Combination| match name {
        "from_fraction" => a.from_fraction.total_cmp(&b.from_fraction),
        "other_key" | "other_tag" => (&a.other_key, &a.other_value).cmp(&(&b.other_key, &b.other_value)),
        _ => a.together.cmp(&b.together),
    };
    // Equals stay as they came.
    found.sort_by(|a, b| if descending { order(b, a) } else { order(a, b) });
    let (total, part) = (found.len() as u64, parameters.part()?);
    let rows = found.into_iter().skip(part.skip).take(part.take.unwrap_or(usize::MAX)).collect();
    asked.list(Listed { total, rows }, |row: Combination| CombinationRow {
        other_key: row.other_key,
        // A tag's combinations with a key, whatever its value, have an empty one.
        other_value: with_values.then(|| row.other_value.unwrap_or_default()),
        together_count: row.together,
        to_fraction: row.to_fraction,
        from_fraction: row.from_fraction,
    })
}

fn tags_popular(asked: &Asked<'_>) -> Given {
    let parameters = &asked.parameters;
    let names = ["tag", "count_all", "count_nodes", "count_ways", "count_relations"];
    let (name, descending) = parameters.sorting(&names, ("count_all", true))?;
    let (key, value) = parameters.query().split_once('=').unwrap_or((parameters.query(), ""));
    let elements = asked.elements();
    let listed = asked.tags.tags(key, value, counted(name), descending, parameters.part()?);
    asked.list(listed, |tag| tag_row(asked, tag, elements))
}

fn tag_row(asked: &Asked<'_>, tag: Tag, elements: Counts) -> TagRow {
    let in_wiki = asked.tags.docs().tag(&tag.key, &tag.value).is_some();
    TagRow { in_wiki, key: tag.key, value: tag.value, numbers: Numbers::of(tag.counts, elements) }
}

/// Tags that are named: all values of `key`, or `tags=highway=residential,primary`.
fn tags_list(asked: &Asked<'_>) -> Given {
    let parameters = &asked.parameters;
    let elements = asked.elements();
    let mut rows = Vec::new();
    if let Some(tags) = parameters.get("tags") {
        let mut key = "";
        for tag in tags.split(',') {
            let value = match tag.split_once('=') {
                Some((named, value)) => {
                    key = named;
                    value
                }
                None if key.is_empty() => return Err("tags: expected key=value,...".to_owned()),
                None => tag,
            };
            let counts = asked.tags.tag_counts(key, value);
            rows.push(tag_row(asked, Tag { key: key.to_owned(), value: value.to_owned(), counts }, elements));
        }
        return asked.whole(rows);
    }
    let key =
        parameters.needed("key").map_err(|_| "one of the parameters \"key\" and \"tags\" is needed".to_owned())?;
    let wanted = ValuesWanted {
        query: "",
        which: Which::All,
        sorting: ValueSorting::Value,
        descending: false,
        part: parameters.part()?,
    };
    asked.list(asked.tags.values(key, &wanted), |Value { value, counts }| {
        tag_row(asked, Tag { key: key.to_owned(), value, counts }, elements)
    })
}

fn search_by_value(asked: &Asked<'_>) -> Given {
    search(asked, "", asked.parameters.needed("query")?)
}

fn search_by_key_and_value(asked: &Asked<'_>) -> Given {
    let query = asked.parameters.needed("query")?;
    let (key, value) = query.split_once('=').ok_or("query: expected key=value, either of which may be cut off")?;
    search(asked, key, value)
}

fn search(asked: &Asked<'_>, key: &str, value: &str) -> Given {
    let (name, descending) = asked.parameters.sorting(&["count_all", "key", "value"], ("count_all", true))?;
    let listed = asked.tags.tags(key, value, counted(name), descending, asked.parameters.part()?);
    asked.list(listed, |Tag { key, value, counts }| FoundRow { key, value, count_all: counts.all() })
}

/// Tags that a question in words is about, the best first.
fn search_by_keyword(asked: &Asked<'_>) -> Given {
    const ROWS: usize = 20;
    const MOST: usize = 999;
    let query = asked.parameters.needed("query")?;
    let (page, rp) = asked.parameters.page()?;
    let rp = rp.unwrap_or(ROWS);
    let (skip, most) = ((page - 1).saturating_mul(rp), page.saturating_mul(rp).min(MOST));
    let found = asked.tags.search(query, most);
    let total = found.total;
    let rows: Vec<_> = found
        .tags
        .into_iter()
        .skip(skip)
        .map(|Match { tag, score, together }| KeywordRow {
            described: Described::of(asked.tags, &tag.key, &tag.value),
            found: FoundRow { key: tag.key, value: tag.value, count_all: tag.counts.all() },
            score,
            together_count: together,
        })
        .collect();
    asked.give(total, rows.len(), Some(page), Some(rp), rows)
}

fn site_info(asked: &Asked<'_>) -> Given {
    #[derive(Serialize)]
    struct Site<'a> {
        url: &'a str,
        data_until: String,
        name: &'a str,
        description: String,
        area: &'a str,
        /// The file of descriptions.
        descriptions: Option<Described<'a>>,
    }
    #[derive(Serialize)]
    struct Described<'a> {
        name: &'a str,
        sha256: &'a str,
    }
    let engine = &asked.app.engine;
    let sources: Vec<&str> = engine.manifest().sources.iter().map(|source| source.name.as_str()).collect();
    let site = Site {
        url: asked.url,
        data_until: iso(engine.manifest().data_timestamp),
        name: "Terrapin",
        description: format!("snapshot {}", engine.digest()),
        area: &sources.join(", "),
        descriptions: asked.tags.docs().source().map(|Source { name, sha256 }| Described { name, sha256 }),
    };
    serde_json::to_string(&site).map(|text| (text, 1)).map_err(|error| error.to_string())
}
