//! `/search`, `/lookup`, `/reverse`, `/status`: a geocoder with Nominatim's interface. It finds places by name,
//! elements by id, and the place at a point. It reads the snapshot alone, and therefore gives equal answers every day.
//! `docs/reference/geocoder.md` describes how fields are computed for which other geocoders use further sources.

use std::borrow::Cow;
use std::sync::Arc;

use axum::Extension;
use axum::extract::{RawQuery, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::on;
use serde_json::json;

use super::place::{Extras, PlaceFormat, PlaceResult};
use super::place_request::{self, PlaceParameters, PointRequest, SearchRequest, Wrong};
use super::place_xml;
use crate::App;
use crate::context::HttpRequestContext;
use crate::job::{Job, Lane};
use crate::rejected::Rejected;
use crate::reply::Reply;
use crate::route::{Access, Parameter, Route, Schema, query, required};
use crate::service::{self, Wording};
use terrapin_geocoder::{
    self as geocoder, AreaLookup, Details, Hit, PlaceElement, PlaceQuery, PlaceSearch, PlaceSource, PlaceSpot,
    ReverseQuery, nearest,
};
use terrapin_osm::Coord;
use terrapin_triples as rdf;

/// The routes of the geocoder.
pub const ROUTES: &[Route] = &[
    Route::get("/search", "Find places by name or address, as Nominatim does", |_, methods| on(methods, search))
        .aliases(&["/search.php"])
        .details("Either `q` or parts of an address.")
        .takes(&[SEARCH, OUTPUT])
        .answers(ANSWERS)
        .access(Access::Query)
        .worded(&Nominatim::JSON),
    Route::get("/lookup", "Return elements as places, as Nominatim does", |_, methods| on(methods, lookup))
        .aliases(&["/lookup.php"])
        .takes(&[&[required("osm_ids", Schema::Text, "At most 50 elements: R123,W123,N123")], OUTPUT])
        .answers(ANSWERS)
        .access(Access::Query)
        .worded(&Nominatim::JSON),
    Route::get("/reverse", "Find the place at a point, as Nominatim does", |_, methods| on(methods, reverse))
        .aliases(&["/reverse.php"])
        .details("The default format is XML.")
        .takes(&[POINT, OUTPUT])
        .answers(ANSWERS)
        .access(Access::Query)
        .worded(&Nominatim::JSON),
    Route::get("/status", "State of the geocoder and time of its data, as Nominatim reports it", |_, methods| {
        on(methods, status)
    })
    .aliases(&["/status.php"])
    .takes(&[&[query("format", Schema::OneOf(&["text", "json"]), "Default: text")]])
    .answers(&["text/plain", "application/json"])
    .worded(&Nominatim::JSON),
];

const ANSWERS: &[&str] = &["application/json", "text/xml", "application/javascript"];
const LAYERS: &str = "^ *(address|poi|railway|natural|manmade) *(, *(address|poi|railway|natural|manmade) *)*$";
/// Place ids, elements and postal codes: 127,R31,Pgb:EH4_7EA.
const EXCLUDED: &str = "^ *(([0-9]{1,18}|[NWRnwr]-?[0-9]{1,18}|[Pp][^,:\\s]*:[^,\\s]*)? *(, *|$))*$";

const LEVELS: Schema = Schema::OneOf(&["country", "state", "city", "settlement"]);

/// The parameters of a search.
const SEARCH: &[Parameter] = &[
    query(
        "q",
        Schema::Text,
        "A name, with the areas around it after commas: Sliema, Malta; a category: pubs in Sliema; a position",
    ),
    query("amenity", Schema::Text, "Name or category of a point of interest, such as pub"),
    query("street", Schema::Text, "A street, with or without a house number"),
    query("city", Schema::Text, "A city, town or village"),
    query("county", Schema::Text, "A county"),
    query("state", Schema::Text, "A state"),
    query("country", Schema::Text, "A country"),
    query("postalcode", Schema::Text, "A postal code"),
    query("typing", Schema::Text, "1: the last word may be a prefix"),
    query("limit", Schema::Integer(0, i64::MAX, Some(10)), "Maximum number of places. 0 is 1, above 40 is 40"),
    query(
        "viewbox",
        Schema::Pattern(super::interpreter::BOX),
        "Places in this box come first: longitude and latitude of two corners",
    ),
    query("viewboxlbrt", Schema::Pattern(super::interpreter::BOX), "The same as `viewbox`, which takes precedence"),
    query("bounded", Schema::Text, "1: only places in the box"),
    query("countrycodes", Schema::Text, "Only these countries: mt,it"),
    query("layer", Schema::Pattern(LAYERS), "Only these layers: address, poi, railway, natural, manmade"),
    query("featureType", LEVELS, "Only places of this level"),
    query("featuretype", LEVELS, "The same as `featureType`, which takes precedence"),
    query("exclude_place_ids", Schema::Pattern(EXCLUDED), "Places to leave out: place ids, elements, postal codes"),
    query("dedupe", Schema::Text, "0: return all elements of one place"),
];

/// The parameters of a position.
const POINT: &[Parameter] = &[
    required("lat", Schema::AnyNumber, "Latitude in degrees"),
    required("lon", Schema::AnyNumber, "Longitude in degrees"),
    query(
        "zoom",
        Schema::Integer(i64::MIN, i64::MAX, Some(18)),
        "Level of detail: 3 is a country, 10 a city, 16 a street, 18 a house. Below 0 is 0, above 18 is 18",
    ),
    query("layer", Schema::Pattern(LAYERS), "Only these layers. Default: address,poi"),
];

/// The parameters of answers.
const OUTPUT: &[Parameter] = &[
    query(
        "format",
        Schema::OneOf(&["json", "jsonv2", "geojson", "geocodejson", "xml"]),
        "Default: jsonv2; of /reverse: xml",
    ),
    query("accept-language", Schema::Text, "Languages of names, such as de,en. Default: the header `Accept-Language`"),
    query("addressdetails", Schema::Text, "1: with the parts of the address"),
    query("extratags", Schema::Text, "1: with further tags"),
    query("namedetails", Schema::Text, "1: with all names"),
    query("entrances", Schema::Text, "1: with the entrances of a building"),
    query("polygon_geojson", Schema::Text, "1: with the shape as GeoJSON"),
    query("polygon_text", Schema::Text, "1: with the shape as WKT"),
    query("polygon_kml", Schema::Text, "1: with the shape as KML"),
    query("polygon_svg", Schema::Text, "1: with the shape as an SVG path"),
    query("polygon_threshold", Schema::AnyNumber, "Tolerance of the shape's simplification in degrees"),
    query(
        "json_callback",
        Schema::Pattern(super::interpreter::FUNCTION),
        "A JavaScript function to call with the answer",
    ),
];

/// Finds places by name: the parameter `q`, or the parts of an address.
pub async fn search(
    State(app): State<Arc<App>>,
    Extension(context): Extension<Arc<HttpRequestContext>>,
    headers: HeaderMap,
    RawQuery(query): RawQuery,
) -> Reply {
    answer(app, context, query, headers, "search", |parameters| {
        parameters.search().map(Box::new).map(SearchTarget::Name)
    })
    .await
}

/// Returns elements as places: the parameter `osm_ids`.
pub async fn lookup(
    State(app): State<Arc<App>>,
    Extension(context): Extension<Arc<HttpRequestContext>>,
    headers: HeaderMap,
    RawQuery(query): RawQuery,
) -> Reply {
    answer(app, context, query, headers, "lookup", |parameters| parameters.elements().map(SearchTarget::Elements)).await
}

/// Returns the place at a point: the parameters `lat` and `lon`.
pub async fn reverse(
    State(app): State<Arc<App>>,
    Extension(context): Extension<Arc<HttpRequestContext>>,
    headers: HeaderMap,
    RawQuery(query): RawQuery,
) -> Reply {
    answer(app, context, query, headers, "reverse", |parameters| parameters.point().map(SearchTarget::Point)).await
}

/// Reports that the geocoder works, and the time of its data.
pub async fn status(State(app): State<Arc<App>>, RawQuery(query): RawQuery) -> Response {
    let format = form_urlencoded::parse(query.as_deref().unwrap_or_default().as_bytes())
        .find_map(|(name, value)| (name == "format").then(|| value.into_owned()));
    match format.as_deref().filter(|format| !format.is_empty()).unwrap_or("text") {
        "json" => {
            let told = json!({
                "status": 0,
                "message": "OK",
                "data_updated": iso(&app),
                "software_version": env!("CARGO_PKG_VERSION"),
                "database_version": app.engine.digest(),
            });
            ([(header::CONTENT_TYPE, JSON)], told.to_string()).into_response()
        }
        "text" => "OK".into_response(),
        _ => Nominatim::JSON.refusal(StatusCode::BAD_REQUEST, "Parameter 'format' must be one of: text, json"),
    }
}

/// Returns the time of the data in Nominatim's notation.
fn iso(app: &App) -> String {
    let time = terrapin_snapshot::facts::time(app.engine.manifest().data_timestamp).unwrap_or_default();
    time.strip_suffix('Z').map_or(time.clone(), |time| format!("{time}+00:00"))
}

/// The subject of a request.
enum SearchTarget {
    Name(Box<SearchRequest>),
    Elements(Vec<PlaceElement>),
    Point(PointRequest),
}

impl SearchTarget {
    fn find(&self, app: &App) -> Vec<Hit> {
        let osm = app.engine.osm();
        let store = app.engine.triples().map(|triples| &triples.store);
        let articles = |item: &str| store.and_then(|store| rdf::sitelinks(store, item));
        match self {
            SearchTarget::Name(request) => by_name(app, request, &articles),
            SearchTarget::Elements(all) => all.iter().filter_map(|element| Hit::of(osm, *element, &articles)).collect(),
            SearchTarget::Point(PointRequest { at, zoom, layers, .. }) => {
                let near = |at: Coord| ReverseQuery { at, zoom: *zoom, layers, articles: &articles };
                at.and_then(|at| nearest(osm, &near(at))).into_iter().collect()
            }
        }
    }

    /// Returns the answer in a format.
    fn told(&self, found: &[PlaceResult], format: PlaceFormat, time: &str) -> String {
        let asked = match self {
            SearchTarget::Name(request) => request.question.text(),
            SearchTarget::Elements(all) => place_request::named(all),
            SearchTarget::Point(point) => point.text.clone(),
        };
        let is_point = matches!(self, SearchTarget::Point(_));
        match (format, is_point) {
            (PlaceFormat::Xml, true) => place_xml::point(found.first(), &asked, time),
            (PlaceFormat::Xml, false) => {
                let more = match self {
                    SearchTarget::Name(request) => {
                        let (ids, address) = request.more(found);
                        Some(place_xml::More { ids, address, viewbox: request.viewbox.clone() })
                    }
                    _ => None,
                };
                place_xml::search(found, &asked, more, time)
            }
            (_, false) => format.of(found, &asked).to_string(),
            (_, true) => format.of_point(found.first(), &asked).to_string(),
        }
    }
}

const XML: &str = "text/xml; charset=utf-8";
/// With a charset, because some clients assume Latin-1 without one.
const JSON: &str = "application/json; charset=utf-8";
const JAVASCRIPT: &str = "application/javascript; charset=utf-8";

/// Finds places in the index of names. If it finds none, or if the snapshot has no such index, looks for an area of
/// that name, as queries do.
fn by_name(app: &App, request: &SearchRequest, articles: &dyn Fn(&str) -> Option<u64>) -> Vec<Hit> {
    let osm = app.engine.osm();
    let wanted =
        |element: Option<PlaceElement>, details: &Details, spot: &PlaceSpot| request.wants(element, details, spot);
    let found = geocoder::search(
        osm,
        &PlaceSearch {
            question: &request.question,
            typing: request.typing,
            limit: request.limit,
            near: request.near,
            bounded: request.bounded,
            countries: &request.countries,
            once: request.once,
            wanted: &wanted,
            articles,
        },
    );
    let is_plain = request.near.is_none() && request.countries.is_empty() && !request.typing;
    match &request.question {
        PlaceQuery::Text(text) if found.is_empty() && is_plain => {
            let place = AreaLookup::new(osm).find(text);
            let element = place.and_then(|place| place.element.value().copied());
            let hit = element.and_then(|element| Hit::of(osm, element, articles));
            hit.into_iter().filter(|hit| request.wants(hit.element, &hit.details, &hit.spot)).collect()
        }
        _ => found,
    }
}

async fn answer(
    app: Arc<App>,
    context: Arc<HttpRequestContext>,
    query: Option<String>,
    headers: HeaderMap,
    what: &'static str,
    wanted: impl FnOnce(&PlaceParameters) -> Result<SearchTarget, Wrong> + Send + 'static,
) -> Reply {
    // XML is the default of `/reverse`.
    let usual = if what == "reverse" { PlaceFormat::Xml } else { PlaceFormat::JsonV2 };
    let is_xml = PlaceParameters::of(query.as_deref(), &headers).format(usual) == Ok(PlaceFormat::Xml);
    let wording: &'static Nominatim = if is_xml { &Nominatim::XML } else { &Nominatim::JSON };
    let work = move |job: Job| {
        let parameters = PlaceParameters::of(query.as_deref(), &headers);
        let read = || {
            let format = parameters.format(usual)?;
            let callback = if format == PlaceFormat::Xml { None } else { parameters.callback()? };
            let form = SearchResponseFormat { format, callback };
            Ok((form, parameters.extras(what != "search")?, wanted(&parameters)?))
        };
        match read() {
            Ok((form, extras, wanted)) => work(job, what, wording, &form, &extras, &wanted),
            Err::<_, Wrong>(message) => job.refuse(wording.refusal(StatusCode::BAD_REQUEST, &message)),
        }
    };
    service::run(&app, &context, Lane::Search, wording, work).await
}

/// The format of an answer.
struct SearchResponseFormat {
    format: PlaceFormat,
    /// A JavaScript function to call with the answer (JSONP).
    callback: Option<String>,
}

impl SearchResponseFormat {
    fn content_type(&self) -> &'static str {
        match (self.format, &self.callback) {
            (PlaceFormat::Xml, _) => XML,
            (_, Some(_)) => JAVASCRIPT,
            (_, None) => JSON,
        }
    }

    fn written(&self, text: String) -> String {
        match &self.callback {
            Some(name) if self.format != PlaceFormat::Xml => format!("{name}({text})"),
            _ => text,
        }
    }
}

fn work(
    job: Job,
    what: &'static str,
    wording: &'static Nominatim,
    form: &SearchResponseFormat,
    extras: &Extras,
    wanted: &SearchTarget,
) {
    let (time, memory) = (job.app().settings.max_time, job.memory());
    let content_type = form.content_type();
    let (run, sink) = job.begin(time, memory, content_type);
    let found = run.work(|app| {
        let found: Vec<PlaceResult> =
            wanted.find(app).into_iter().map(|hit| PlaceResult::of(app.engine.osm(), hit, extras)).collect();
        (form.written(wanted.told(&found, form.format, &iso(app))), found.len() as u64)
    });
    service::end(run, sink, wording, what, found.map_err(|stop| service::stopped(wording, stop)));
}

/// Nominatim's error format.
#[derive(Debug, Clone, Copy)]
struct Nominatim {
    is_xml: bool,
}

impl Nominatim {
    const JSON: Nominatim = Nominatim { is_xml: false };
    const XML: Nominatim = Nominatim { is_xml: true };
}

impl Wording for Nominatim {
    fn media_types(&self) -> &'static [&'static str] {
        &["application/json", "text/xml"]
    }

    fn names_snapshot(&self) -> bool {
        true
    }

    fn late(&self) -> StatusCode {
        StatusCode::SERVICE_UNAVAILABLE
    }

    fn refusal(&self, status: StatusCode, message: &str) -> Response {
        if self.is_xml {
            let text = place_xml::error(status.as_u16(), message);
            return (status, [(header::CONTENT_TYPE, XML)], text).into_response();
        }
        let object = json!({ "error": { "code": status.as_u16(), "message": message } });
        (status, [(header::CONTENT_TYPE, JSON)], object.to_string()).into_response()
    }

    fn rejected(&self, why: &Rejected) -> Cow<'static, str> {
        match why {
            Rejected::QueueFull => "Too many requests wait already".into(),
            Rejected::QueueTimeout => "The server is too busy".into(),
            Rejected::GoingDown => "The server is going down".into(),
            other => other.message("the request"),
        }
    }

    fn panicked(&self) -> &'static str {
        "A fault of the program: see the server's log"
    }
}
