//! Parses the parameters of `/search`, `/lookup` and `/reverse`, as in Nominatim's documentation.

use std::num::IntErrorKind;

use axum::http::HeaderMap;

use super::place::{Extras, PlaceFormat, PlaceResult, ShapeOptions, code_id, place_id, reference};
use crate::accept;
use crate::request::is_function;
use terrapin_geocoder::{AddressQuery, Details, PlaceElement, PlaceLayer, PlaceQuery, PlaceSpot, coord};
use terrapin_osm::{BoundingBox, Coord, ElementType};

/// Maximum number of elements in one `/lookup`.
const MOST_IDS: usize = 50;
/// Maximum and default number of places of one `/search`.
const MOST: usize = 40;
const USUAL: usize = 10;

/// The parameters of a request; if a name is repeated, the first value counts.
pub struct PlaceParameters {
    all: Vec<(String, String)>,
    /// The value of the header `Accept-Language`; the parameter of the same name takes precedence.
    languages: Option<String>,
}

/// The error message for wrong parameters.
pub type Wrong = String;

/// A parsed search request.
pub struct SearchRequest {
    pub question: PlaceQuery,
    pub typing: bool,
    pub limit: usize,
    pub near: Option<BoundingBox>,
    pub bounded: bool,
    pub countries: Vec<String>,
    pub layers: Option<Vec<PlaceLayer>>,
    /// The first and the last accepted rank.
    pub ranks: Option<(u8, u8)>,
    /// Ids of excluded places.
    pub without: Vec<i64>,
    /// Excluded postal codes.
    pub without_codes: Vec<String>,
    /// Whether several elements of one place are merged into one result.
    pub once: bool,
    /// The excluded places, as in the request.
    excluded: Vec<String>,
    /// The corners of the box, as in the request.
    pub viewbox: Option<String>,
    /// The request's query string, without excluded places and format.
    address: String,
    format: Option<String>,
}

impl SearchRequest {
    /// Returns whether a place passes the filters of the request.
    pub fn wants(&self, element: Option<PlaceElement>, details: &Details, spot: &PlaceSpot) -> bool {
        let rank = details.rank();
        let layer = details.layer();
        let is_without = match element {
            Some(element) => self.without.contains(&place_id(element)),
            None => {
                let code = details.name_in(&[]).unwrap_or_default();
                self.without.contains(&code_id(code, spot.at)) || self.without_codes.iter().any(|other| other == code)
            }
        };
        self.layers.as_ref().is_none_or(|layers| layers.contains(&layer))
            && self.ranks.is_none_or(|(from, to)| (from..=to).contains(&rank) && layer == PlaceLayer::Address)
            && !is_without
    }

    /// Returns the ids of the places that were found or already excluded, and the request that finds further places.
    pub fn more(&self, found: &[PlaceResult]) -> (String, String) {
        let ids: Vec<String> = self.excluded.iter().cloned().chain(found.iter().map(PlaceResult::reference)).collect();
        let ids = ids.join(",");
        let mut address = form_urlencoded::Serializer::new(self.address.clone());
        if !ids.is_empty() {
            address.append_pair("exclude_place_ids", &ids);
        }
        if let Some(format) = &self.format {
            address.append_pair("format", format);
        }
        (ids, format!("/search?{}", address.finish()))
    }
}

/// A parsed reverse geocoding request.
pub struct PointRequest {
    /// `None` if it is not on the globe.
    pub at: Option<Coord>,
    /// The point as written in the request.
    pub text: String,
    pub zoom: u8,
    pub layers: Vec<PlaceLayer>,
}

impl PlaceParameters {
    /// Parses the parameters of a request.
    pub fn of(query: Option<&str>, headers: &HeaderMap) -> PlaceParameters {
        let all = form_urlencoded::parse(query.unwrap_or_default().as_bytes()).into_owned().collect();
        PlaceParameters { all, languages: accept::language(headers) }
    }

    fn get(&self, wanted: &str) -> Option<&str> {
        self.all.iter().find(|(name, _)| name == wanted).map(|(_, value)| value.as_str())
    }

    fn text(&self, wanted: &str) -> &str {
        self.get(wanted).unwrap_or_default().trim()
    }

    fn is_set(&self, wanted: &str) -> bool {
        self.get(wanted).is_some_and(|value| !["0", ""].contains(&value))
    }

    /// Returns the format of the answer; `usual` if the request names none.
    pub fn format(&self, usual: PlaceFormat) -> Result<PlaceFormat, Wrong> {
        match self.get("format").unwrap_or_default() {
            "" => Ok(usual),
            "json" => Ok(PlaceFormat::Json),
            "jsonv2" => Ok(PlaceFormat::JsonV2),
            "geojson" => Ok(PlaceFormat::GeoJson),
            "geocodejson" => Ok(PlaceFormat::GeocodeJson),
            "xml" => Ok(PlaceFormat::Xml),
            _ => Err("Parameter 'format' must be one of: json, jsonv2, geojson, geocodejson, xml".to_owned()),
        }
    }

    /// Returns the JavaScript function to call with the answer (JSONP).
    pub fn callback(&self) -> Result<Option<String>, Wrong> {
        match self.get("json_callback").unwrap_or_default() {
            "" => Ok(None),
            name if is_function(name) => Ok(Some(name.to_owned())),
            _ => Err("Invalid json_callback value".to_owned()),
        }
    }

    /// Returns the optional parts to include. `address` is the default for `addressdetails`.
    pub fn extras(&self, address: bool) -> Result<Extras, Wrong> {
        let threshold = match self.text("polygon_threshold") {
            "" => 0.0,
            text => text
                .parse::<f64>()
                .ok()
                .filter(|degrees| degrees.is_finite())
                .ok_or("Parameter 'polygon_threshold' must be a number of degrees")?
                .max(0.0),
        };
        Ok(Extras {
            shapes: ShapeOptions {
                geojson: self.is_set("polygon_geojson"),
                text: self.is_set("polygon_text"),
                kml: self.is_set("polygon_kml"),
                svg: self.is_set("polygon_svg"),
                threshold,
            },
            names: self.is_set("namedetails"),
            tags: self.is_set("extratags"),
            entrances: self.is_set("entrances"),
            address: if self.get("addressdetails").is_some() { self.is_set("addressdetails") } else { address },
            languages: self.languages(),
        })
    }

    /// Returns the requested languages, by descending preference.
    fn languages(&self) -> Vec<String> {
        accept::languages(self.get("accept-language").or(self.languages.as_deref()).unwrap_or_default())
    }

    /// Parses a search request.
    pub fn search(&self) -> Result<SearchRequest, Wrong> {
        let text = |name: &str| self.text(name).to_owned();
        let parts = AddressQuery {
            amenity: text("amenity"),
            street: text("street"),
            city: text("city"),
            county: text("county"),
            state: text("state"),
            country: text("country"),
            postcode: text("postalcode"),
        };
        let question = match self.get("q") {
            Some(_) if !parts.is_empty() => {
                return Err("Parameter 'q' cannot be given with parts of an address ('street', 'city', ...)".to_owned());
            }
            Some(text) => PlaceQuery::Text(text.trim().to_owned()),
            None if parts.is_empty() => {
                return Err("Nothing to search for: the parameter 'q' is missing".to_owned());
            }
            None => PlaceQuery::Parts(parts),
        };
        let limit = match self.get("limit").map(str::trim).filter(|limit| !limit.is_empty()) {
            None => USUAL,
            Some(limit) => integer(limit)
                .and_then(|limit| usize::try_from(limit).ok())
                .ok_or("Parameter 'limit' must be a number")?
                .clamp(1, MOST),
        };
        let ranks = match self.text("featureType") {
            "" => self.text("featuretype"),
            text => text,
        };
        let ranks = match ranks {
            "" => None,
            "country" => Some((0, 4)),
            "state" => Some((5, 9)),
            "city" => Some((10, 18)),
            "settlement" => Some((5, 22)),
            _ => return Err("Parameter 'featureType' must be one of: country, state, city, settlement".to_owned()),
        };
        let countries = self.text("countrycodes").split(',').map(|code| code.trim().to_lowercase());
        let is_code = |code: &String| code.len() == 2 && code.bytes().all(|b| b.is_ascii_lowercase());
        let countries: Vec<String> = countries.filter(is_code).collect();
        let given = self.text("exclude_place_ids").split(',').map(str::trim).filter(|id| !id.is_empty());
        let mut excluded_ids = Vec::new();
        for id in given {
            if excluded(id).is_none() && excluded_code(id).is_none() {
                return Err(format!("Invalid exclude ID: {id}"));
            }
            let is_element = excluded_code(id).is_none();
            excluded_ids.push(if is_element { id.to_uppercase() } else { id.to_owned() });
        }
        let mut address = form_urlencoded::Serializer::new(String::new());
        for (name, value) in &self.all {
            match name.as_str() {
                "exclude_place_ids" | "format" => continue,
                "countrycodes" => address.append_pair(name, &countries.join(",")),
                _ => address.append_pair(name, value),
            };
        }
        let address = address.finish();
        let viewbox = [self.text("viewbox"), self.text("viewboxlbrt")].into_iter().find(|text| !text.is_empty());
        let viewbox = viewbox.map(str::to_owned);
        Ok(SearchRequest {
            question,
            typing: self.is_set("typing"),
            limit,
            near: self.viewbox()?,
            bounded: self.is_set("bounded"),
            countries,
            layers: self.layers()?,
            ranks,
            without: excluded_ids.iter().filter_map(|id| excluded(id)).collect(),
            without_codes: excluded_ids.iter().filter_map(|id| excluded_code(id)).collect(),
            excluded: excluded_ids,
            viewbox,
            format: self.get("format").map(str::to_owned),
            once: self.get("dedupe").is_none_or(|_| self.is_set("dedupe")),
            address,
        })
    }

    /// Parses the elements of a lookup request.
    pub fn elements(&self) -> Result<Vec<PlaceElement>, Wrong> {
        let ids = self.get("osm_ids").ok_or("Nothing to look up: the parameter 'osm_ids' is missing")?;
        // Invalid ids are skipped.
        let ids: Vec<&str> = ids.split(',').map(str::trim).filter(|id| !id.is_empty()).collect();
        if ids.len() > MOST_IDS {
            return Err("Too many object IDs.".to_owned());
        }
        Ok(ids.into_iter().filter_map(element).collect())
    }

    /// Parses a reverse geocoding request.
    pub fn point(&self) -> Result<PointRequest, Wrong> {
        let number = |name: &str| {
            let text = self.get(name).ok_or_else(|| format!("Parameter '{name}' is missing"))?;
            let number = text.trim().parse::<f64>().ok().filter(|number| number.is_finite());
            number.ok_or_else(|| format!("Parameter '{name}' must be a number"))
        };
        let at = coord(number("lat")?, number("lon")?);
        let zoom = match self.get("zoom").map(str::trim).filter(|zoom| !zoom.is_empty()) {
            None => 18,
            // Maps have more zoom levels than there are here.
            Some(zoom) => integer(zoom).ok_or("Parameter 'zoom' must be a number, 0 to 18")?.clamp(0, 18) as u8,
        };
        Ok(PointRequest {
            at,
            text: format!("lat={}&lon={}", self.text("lat"), self.text("lon")),
            zoom,
            layers: self.layers()?.unwrap_or_else(|| vec![PlaceLayer::Address, PlaceLayer::Poi]),
        })
    }

    fn layers(&self) -> Result<Option<Vec<PlaceLayer>>, Wrong> {
        let text = self.text("layer");
        if text.is_empty() {
            return Ok(None);
        }
        let layer = |name: &str| match name.trim() {
            "address" => Ok(PlaceLayer::Address),
            "poi" => Ok(PlaceLayer::Poi),
            "railway" => Ok(PlaceLayer::Railway),
            "natural" => Ok(PlaceLayer::Natural),
            "manmade" => Ok(PlaceLayer::ManMade),
            _ => Err("Parameter 'layer' must have some of: address, poi, railway, natural, manmade".to_owned()),
        };
        text.split(',').map(layer).collect::<Result<_, _>>().map(Some)
    }

    /// Parses the box from two corners, longitude before latitude. If the first is more than half of the globe east of
    /// the other, the box crosses the antimeridian.
    fn viewbox(&self) -> Result<Option<BoundingBox>, Wrong> {
        let name = if self.text("viewbox").is_empty() { "viewboxlbrt" } else { "viewbox" };
        let text = self.text(name);
        if text.is_empty() {
            return Ok(None);
        }
        let numbers: Option<Vec<f64>> = text.split(',').map(|side| side.trim().parse().ok()).collect();
        let corners = match numbers.as_deref() {
            Some(&[x1, y1, x2, y2]) => coord(y1, x1).zip(coord(y2, x2)),
            _ => None,
        };
        let (a, b) = corners
            .ok_or_else(|| format!("Parameter '{name}' must be four numbers: longitude and latitude of two corners"))?;
        if a.lat == b.lat || a.lon == b.lon {
            return Err(format!("Parameter '{name}' must be a box: its corners differ in longitude and latitude"));
        }
        let (south, north) = (a.lat.min(b.lat), a.lat.max(b.lat));
        let is_across = i64::from(a.lon) - i64::from(b.lon) > 1_800_000_000;
        let (west, east) = if is_across { (a.lon, b.lon) } else { (a.lon.min(b.lon), a.lon.max(b.lon)) };
        Ok(Some(BoundingBox { south, west, north, east }))
    }
}

/// Parses an integer; one beyond 64 bits becomes the nearest of these.
fn integer(text: &str) -> Option<i64> {
    match text.parse() {
        Ok(number) => Some(number),
        Err(wrong) if *wrong.kind() == IntErrorKind::PosOverflow => Some(i64::MAX),
        Err(wrong) if *wrong.kind() == IntErrorKind::NegOverflow => Some(i64::MIN),
        Err(_) => None,
    }
}

/// Parses an element such as `R123`, a relation.
fn element(text: &str) -> Option<PlaceElement> {
    let kind = match text.chars().next()? {
        'N' | 'n' => ElementType::Node,
        'W' | 'w' => ElementType::Way,
        'R' | 'r' => ElementType::Relation,
        _ => return None,
    };
    Some(PlaceElement { kind, id: text.get(1..)?.parse().ok()? })
}

/// Returns elements in the notation of lookup requests.
pub fn named(elements: &[PlaceElement]) -> String {
    elements.iter().map(|element| reference(*element)).collect::<Vec<_>>().join(",")
}

/// Parses the id of an excluded place: a place id, or an element.
fn excluded(text: &str) -> Option<i64> {
    let number = text.bytes().all(|b| b.is_ascii_digit()).then(|| text.parse().ok()).flatten();
    number.or_else(|| element(text).map(place_id))
}

/// Parses an excluded postal code: `Pgb:EH4_7EA`.
fn excluded_code(text: &str) -> Option<String> {
    let (_, code) = text.strip_prefix(['P', 'p'])?.split_once(':')?;
    Some(code.replace('_', " "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_that_are_not_wanted_are_named_in_three_ways() {
        assert_eq!([excluded("127"), excluded("R31"), excluded("Pgb:EH4_7EA")], [Some(127), Some(127), None]);
        assert_eq!(excluded_code("Pgb:EH4_7EA").as_deref(), Some("EH4 7EA"));
        assert_eq!(named(&[PlaceElement { kind: ElementType::Way, id: 5 }]), "W5");
    }

    fn parameters(query: &str) -> PlaceParameters {
        PlaceParameters::of(Some(query), &HeaderMap::new())
    }

    #[test]
    fn elements_are_named_by_a_letter_and_a_number() {
        let parsed = ["R31", "w5", "N-1"].map(|text| element(text).map(|element| (element.kind, element.id)));
        let expected = [(ElementType::Relation, 31), (ElementType::Way, 5), (ElementType::Node, -1)].map(Some);
        assert_eq!(parsed, expected);
        assert!(["", "31", "R", "X1", "R1x", "é1"].iter().all(|text| element(text).is_none()));
    }

    #[test]
    fn languages_are_ordered_by_what_is_said_of_them() {
        let languages = |query: &str| parameters(query).languages().join(" ");
        assert_eq!(languages("accept-language=de-CH,en;q=0.3,fr;q=0.7,*;q=0.1"), "de-CH de fr en");
        assert_eq!(languages("accept-language="), "");
    }

    #[test]
    fn what_is_wrong_is_said() {
        for wrong in [
            "q=a&city=b",
            "limit=5",
            "q=a&limit=x",
            "q=a&layer=x",
            "q=a&viewbox=1,2,3",
            "q=a&featureType=x",
            "q=a&viewbox=1,34,1,34",
            "q=a&viewboxlbrt=1,2",
            "q=a&exclude_place_ids=12,abc",
        ] {
            assert!(parameters(wrong).search().is_err(), "{wrong}");
        }
        for wrong in ["lat=1", "lat=x&lon=1", "lat=inf&lon=0", "lat=nan&lon=0", "lat=1&lon=2&zoom=x"] {
            assert!(parameters(wrong).point().is_err(), "{wrong}");
        }
        let zoom = |zoom: &str| parameters(&format!("lat=1&lon=2&zoom={zoom}")).point().map(|point| point.zoom);
        assert_eq!([zoom("19"), zoom("-1"), zoom("")], [Ok(18), Ok(0), Ok(18)]);
        assert_eq!([zoom("99999999999999999999"), zoom("-99999999999999999999")], [Ok(18), Ok(0)]);
        let limit = |limit: &str| parameters(&format!("q=a&limit={limit}")).search().map(|search| search.limit).ok();
        assert_eq!(
            [limit("0"), limit("41"), limit("99999999999999999999"), limit("-1")],
            [Some(1), Some(40), Some(40), None]
        );
        for wrong in ["polygon_threshold=1m", "polygon_threshold=x", "polygon_threshold=inf"] {
            assert!(parameters(wrong).extras(false).is_err(), "{wrong}");
        }
        for wrong in ["json_callback=alert(1)", "json_callback=a%20b"] {
            assert!(parameters(wrong).callback().is_err(), "{wrong}");
        }
        // As in Nominatim, a position off the globe finds no place, but is not an error.
        assert!(parameters("lat=91&lon=0").point().is_ok_and(|point| point.at.is_none()));
        let elements = parameters("osm_ids=N1,,X9,nN2,ABC,w3").elements().unwrap();
        assert_eq!(named(&elements), "N1,W3");
        assert!(parameters(&format!("osm_ids={}", "N1,".repeat(51))).elements().is_err());
        let across = parameters("q=a&viewbox=177,-16,-178,-19").search().unwrap().near.unwrap();
        assert_eq!((across.west, across.east), (1_770_000_000, -1_780_000_000));
        let codes = parameters("q=a&countrycodes=pl,1,,invalid,bo").search().unwrap().countries;
        assert_eq!(codes, ["pl", "bo"]);
        let box_of = |query: &str| parameters(query).search().unwrap().near.unwrap();
        assert_eq!(box_of("q=a&viewbox=14.5,36,14.2,35.8"), box_of("q=a&viewbox=14.2,35.8,14.5,36"));
    }
}
