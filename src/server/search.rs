//! `/search` and `/lookup`: where a name leads and what an element is, as Nominatim answers it. What a client finds here
//! is what `{{geocodeArea:...}}` finds in a query: among the snapshot's own areas, the same every day. How each field is
//! made that another geocoder would take from elsewhere is in `docs/clients.md`.

use std::sync::Arc;

use axum::Extension;
use axum::extract::{RawQuery, State};
use axum::http::StatusCode;
use axum::response::Response;
use serde_json::json;

use super::App;
use super::context::Context;
use super::gate::Refusal;
use super::job::{Job, Lane};
use super::json::{self, JSON};
use super::outcome::Outcome;
use super::place::{Extras, Format, Found};
use super::service::{self, Refused, Wording};
use crate::budget::{self, Budget, Stopped};
use crate::geocoder::{Areas, Element, Places};
use crate::osm::{ElementType, Osm};

/// The most elements of one `/lookup`.
const MOST: usize = 50;

/// Looks a name up: the parameter `q`. At most one place.
pub async fn search(
    State(app): State<Arc<App>>,
    Extension(context): Extension<Arc<Context>>,
    RawQuery(query): RawQuery,
) -> Result<Response, Refused> {
    answer(app, context, query, "search", |parameters| {
        let name = parameters.get("q").ok_or("Nothing to search for: the parameter 'q' is missing")?;
        Ok(Wanted::Name(name.trim().to_owned()))
    })
    .await
}

/// Looks elements up: the parameter `osm_ids`.
pub async fn lookup(
    State(app): State<Arc<App>>,
    Extension(context): Extension<Arc<Context>>,
    RawQuery(query): RawQuery,
) -> Result<Response, Refused> {
    answer(app, context, query, "lookup", |parameters| {
        let ids = parameters.get("osm_ids").ok_or("Nothing to look up: the parameter 'osm_ids' is missing")?;
        let elements: Vec<Element> = ids
            .split(',')
            .map(|id| element(id.trim()).ok_or("Parameter 'osm_ids' must be like: R123,W123,N123"))
            .collect::<Result<_, _>>()?;
        if elements.len() > MOST {
            Err("Parameter 'osm_ids' must have at most 50 elements")
        } else {
            Ok(Wanted::Elements(elements))
        }
    })
    .await
}

/// What a request asks for.
enum Wanted {
    Name(String),
    Elements(Vec<Element>),
}

impl Wanted {
    fn find(&self, osm: &Osm, extras: Extras) -> Vec<Found> {
        match self {
            Wanted::Name(name) => {
                let place = Areas::new(osm).find(name);
                let element = place.and_then(|place| place.element.value().copied());
                element.and_then(|element| Found::of(osm, element, Some(name), extras)).into_iter().collect()
            }
            Wanted::Elements(all) => all.iter().filter_map(|element| Found::of(osm, *element, None, extras)).collect(),
        }
    }

    /// As it was asked.
    fn text(&self) -> &str {
        match self {
            Wanted::Name(name) => name,
            Wanted::Elements(_) => "",
        }
    }
}

/// `R123`: a relation.
fn element(text: &str) -> Option<Element> {
    let kind = match text.chars().next()? {
        'N' | 'n' => ElementType::Node,
        'W' | 'w' => ElementType::Way,
        'R' | 'r' => ElementType::Relation,
        _ => return None,
    };
    Some(Element { kind, id: text.get(1..)?.parse().ok()? })
}

/// The parameters of a request; of several with one name the first counts.
struct Parameters(Vec<(String, String)>);

impl Parameters {
    fn get(&self, wanted: &str) -> Option<&str> {
        self.0.iter().find(|(name, _)| name == wanted).map(|(_, value)| value.as_str())
    }

    fn is_set(&self, wanted: &str) -> bool {
        self.get(wanted).is_some_and(|value| value != "0")
    }

    fn format(&self) -> Result<Format, &'static str> {
        match self.get("format").unwrap_or("jsonv2") {
            "json" => Ok(Format::Json),
            "jsonv2" => Ok(Format::JsonV2),
            "geojson" => Ok(Format::GeoJson),
            "geocodejson" => Ok(Format::GeocodeJson),
            _ => Err("Parameter 'format' must be one of: json, jsonv2, geojson, geocodejson"),
        }
    }

    fn extras(&self) -> Result<Extras, &'static str> {
        if ["polygon_kml", "polygon_svg"].iter().any(|name| self.is_set(name)) {
            return Err("Polygons are given as GeoJSON and as WKT: 'polygon_geojson=1' or 'polygon_text=1'");
        }
        Ok(Extras {
            outline: self.is_set("polygon_geojson"),
            text: self.is_set("polygon_text"),
            names: self.is_set("namedetails"),
            tags: self.is_set("extratags"),
        })
    }
}

async fn answer(
    app: Arc<App>,
    context: Arc<Context>,
    query: Option<String>,
    what: &'static str,
    wanted: impl FnOnce(&Parameters) -> Result<Wanted, &'static str> + Send + 'static,
) -> Result<Response, Refused> {
    let work = move |job: Job| {
        let parsed = form_urlencoded::parse(query.as_deref().unwrap_or_default().as_bytes()).into_owned().collect();
        let parameters = Parameters(parsed);
        let read = || Ok((parameters.format()?, parameters.extras()?, wanted(&parameters)?));
        match read() {
            Ok((format, extras, wanted)) => work(job, what, format, extras, &wanted),
            Err(message) => job.refuse(Nominatim.refusal(StatusCode::BAD_REQUEST, message)),
        }
    };
    let answer = service::run(&app, &context, Lane::Search, &Nominatim, work).await?;
    Ok(answer.into_response(&app))
}

fn work(job: Job, what: &'static str, format: Format, extras: Extras, wanted: &Wanted) {
    let (time, memory) = (job.app().settings.max_time, job.memory());
    let (run, sink) = job.begin(time, memory, JSON);
    let budget = Arc::new(Budget::new(run.limits()));
    let found = budget::watched(&budget, || {
        let found = wanted.find(&run.app().osm, extras);
        (format.of(&found, wanted.text()), found.len())
    });
    let Some((run, sink)) = service::sound(run, sink, &Nominatim, what) else { return };
    let (outcome, message) = match found {
        Ok((found, count)) => return json::write(run, sink, what, &found, count as u64),
        Err(Stopped::Exceeded(exceeded)) => (Outcome::from(exceeded), exceeded.to_string()),
        Err(Stopped::Panicked(panic)) => {
            tracing::error!(panic, "a search ended by a fault of the program");
            (Outcome::Broken, "A fault of the program: see the server's log".to_owned())
        }
    };
    run.refused(sink, what, outcome, Nominatim.refusal(outcome.status(), &message));
}

/// Nominatim's wording.
#[derive(Debug, Clone, Copy)]
struct Nominatim;

impl Wording for Nominatim {
    fn names_snapshot(&self) -> bool {
        true
    }

    fn late(&self) -> StatusCode {
        StatusCode::SERVICE_UNAVAILABLE
    }

    fn refusal(&self, status: StatusCode, message: &str) -> Response {
        json::refusal(status, &json!({ "error": { "code": status.as_u16(), "message": message } }))
    }

    fn busy(&self, refusal: Refusal) -> &'static str {
        match refusal {
            Refusal::Full => "Too many requests wait already",
            Refusal::TooLong => "The server is too busy",
            Refusal::Closed => "The server is going down",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_are_named_by_a_letter_and_a_number() {
        let parsed = ["R31", "w5", "N-1"].map(|text| element(text).map(|element| (element.kind, element.id)));
        let expected = [(ElementType::Relation, 31), (ElementType::Way, 5), (ElementType::Node, -1)].map(Some);
        assert_eq!(parsed, expected);
        assert!(["", "31", "R", "X1", "R1x", "é1"].iter().all(|text| element(text).is_none()));
    }
}
