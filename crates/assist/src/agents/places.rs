//! The tools `geocode` and `reverse`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Limits, Tool, Trouble};
use terrapin_engine::Engine;
use terrapin_geocoder::{
    AreaLookup, Hit, PlaceBounds, PlaceElement, PlaceLayer, PlacePosition, PlaceQuery, PlaceSearch, PlaceSource,
    ReverseQuery, coord, nearest, search,
};
use terrapin_osm::ElementType;
use terrapin_triples::sitelinks;

/// Default and maximum number of other places.
const PLACES: (usize, usize) = (5, 20);

/// Finds places by name.
pub struct Geocode;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PlaceNameRequest {
    /// The name of a country, a town, a street, a house or anything else, in any language, followed by the places that
    /// contain it, after commas: "Valletta", "12 Republic Street, Valletta, Malta".
    name: String,
    /// Maximum number of other places with this name; default: 5, at most 20.
    limit: Option<usize>,
    /// The language of names in the answer, such as "en"; default: the local names.
    language: Option<String>,
}

/// A place.
#[derive(Serialize, JsonSchema)]
pub struct PlaceSummary {
    name: String,
    /// Name and address on one line.
    display_name: String,
    /// node, way or relation; a postal code may have no element.
    #[serde(skip_serializing_if = "Option::is_none")]
    osm_type: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    osm_id: Option<i64>,
    /// The main tag, such as boundary=administrative.
    category: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    admin_level: Option<String>,
    /// Its area id in Overpass queries.
    #[serde(skip_serializing_if = "Option::is_none")]
    area_id: Option<i64>,
    /// The center of its bounding box in degrees: latitude, longitude.
    center: [String; 2],
    /// The bounding box in degrees: south, west, north, east.
    bbox: [String; 4],
}

#[derive(Serialize, JsonSchema)]
pub struct PlaceToolAnswer {
    #[serde(flatten)]
    place: PlaceSummary,
    /// Other places with this name.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    others: Vec<PlaceSummary>,
    /// How to use it in an Overpass query.
    hint: String,
}

impl PlaceSummary {
    fn of(engine: &Engine, hit: &Hit, languages: &[String]) -> PlaceSummary {
        let osm = engine.osm();
        let (key, value) = hit.details.category();
        let is_area = |element: &PlaceElement| match element.kind {
            ElementType::Node => false,
            ElementType::Way => {
                osm.find(element.kind, element.id).is_some_and(|way| terrapin_osm::areas::is_closed(&osm.way(way).0))
            }
            ElementType::Relation => true,
        };
        let PlaceBounds { south, north, west, east } = PlaceBounds::of(&hit.spot.bounds);
        let PlacePosition { lat, lon } = PlacePosition::middle_of(&hit.spot.bounds);
        PlaceSummary {
            name: hit.name(languages).to_owned(),
            display_name: hit.label(languages),
            osm_type: hit.element.map(|element| element.kind.name()),
            osm_id: hit.element.map(|element| element.id),
            category: format!("{key}={value}"),
            admin_level: hit.details.tag("admin_level").map(str::to_owned),
            area_id: hit.element.filter(is_area).and_then(PlaceElement::area_id),
            center: [lat, lon],
            bbox: [south, west, north, east],
        }
    }

    fn hint(&self) -> String {
        match self.area_id {
            Some(id) => format!("area({id})->.a; nwr[...](area.a); out center 20;"),
            None => format!("nwr[...](around:500,{},{}); out center 20;", self.center[0], self.center[1]),
        }
    }
}

impl Tool for Geocode {
    const NAME: &'static str = "geocode";
    const TITLE: &'static str = "Find a place by name";
    const DESCRIPTION: &'static str = "Find what a name stands for in this data (country, region, town, street, house, park, \
        restaurant): its element, its id as an area for Overpass queries, its address, middle and box. Typing errors and \
        other languages are understood.";
    type Input = PlaceNameRequest;
    type Output = PlaceToolAnswer;

    fn run(engine: &Engine, input: PlaceNameRequest, _: &Limits) -> Result<PlaceToolAnswer, Trouble> {
        let (name, osm) = (input.name.trim(), engine.osm());
        let languages: Vec<String> = input.language.into_iter().collect();
        let others = input.limit.unwrap_or(PLACES.0).min(PLACES.1);
        let articles = |item: &str| engine.triples().and_then(|triples| sitelinks(&triples.store, item));
        let question = PlaceQuery::Text(name.to_owned());
        let mut hits = search(osm, &PlaceSearch::of(&question, others + 1, &articles));
        if hits.is_empty() {
            let element = AreaLookup::new(osm).find(name).and_then(|place| place.element.value().copied());
            hits.extend(element.and_then(|element| Hit::of(osm, element, &articles)));
        }
        let mut places = hits.iter().map(|hit| PlaceSummary::of(engine, hit, &languages));
        let Some(place) = places.next() else {
            return Err(Trouble::new(format!("no place is called {name:?} here")).hint(
                "write the name as the map has it, with what it lies in after a comma, or less of it; by parts of names ask \
                 query_overpass: nwr[\"name\"~\"...\",i];out center 10;",
            ));
        };
        let hint = place.hint();
        Ok(PlaceToolAnswer { place, others: places.collect(), hint })
    }
}

/// Finds the place at a point.
pub struct Reverse;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ReverseRequest {
    /// Latitude in degrees, -90 to 90.
    lat: f64,
    /// Longitude in degrees, -180 to 180.
    lon: f64,
    /// The level of detail: 3 is the country, 5 the state, 10 the city, 14 the quarter, 16 the street, 18 the house or
    /// shop; default: 18.
    zoom: Option<u8>,
    /// The language of names in the answer, such as "en"; default: the local names.
    language: Option<String>,
}

impl Tool for Reverse {
    const NAME: &'static str = "reverse";
    const TITLE: &'static str = "Find what is at a point";
    const DESCRIPTION: &'static str = "Find the house, shop, street, town or country at a point in this data, with its address \
        and its element.";
    type Input = ReverseRequest;
    type Output = PlaceSummary;

    fn run(engine: &Engine, input: ReverseRequest, _: &Limits) -> Result<PlaceSummary, Trouble> {
        let at = coord(input.lat, input.lon).ok_or_else(|| {
            Trouble::new("no such place on the globe").hint("lat is from -90 to 90, lon from -180 to 180")
        })?;
        let languages: Vec<String> = input.language.into_iter().collect();
        let articles = |item: &str| engine.triples().and_then(|triples| sitelinks(&triples.store, item));
        let near = ReverseQuery {
            at,
            zoom: input.zoom.unwrap_or(18),
            layers: &[PlaceLayer::Address, PlaceLayer::Poi],
            articles: &articles,
        };
        match nearest(engine.osm(), &near) {
            Some(hit) => Ok(PlaceSummary::of(engine, &hit, &languages)),
            None => Err(Trouble::new("nothing is near this point in this data")
                .hint("terrapin://manifest says which box the data is of")),
        }
    }
}
