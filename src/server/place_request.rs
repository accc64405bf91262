//! What a request to `/search`, `/lookup` or `/reverse` asks for: parameters as Nominatim's documentation has them.

use axum::http::HeaderMap;

use super::accept;
use super::place::{Extras, Format, place_id};
use crate::geocoder::{Details, Element, Layer, Parts, Question, coord};
use crate::osm::{BoundingBox, Coord, ElementType};

/// The most elements of one `/lookup`.
const MOST_IDS: usize = 50;
/// The most places of one `/search`, and how many without a word.
const MOST: usize = 40;
const USUAL: usize = 10;

/// The parameters of a request; of several with one name the first counts.
pub struct Parameters {
    all: Vec<(String, String)>,
    /// What the header says of languages, which the parameter of the same name does, too.
    languages: Option<String>,
}

/// What is wrong with them.
pub type Wrong = String;

/// A search.
pub struct SearchRequest {
    pub question: Question,
    pub typing: bool,
    pub limit: usize,
    pub near: Option<BoundingBox>,
    pub bounded: bool,
    pub countries: Vec<String>,
    pub layers: Option<Vec<Layer>>,
    /// Ranks that are wanted, from one to another.
    pub ranks: Option<(u8, u8)>,
    /// Places that are not.
    pub without: Vec<i64>,
}

impl SearchRequest {
    /// Whether a place is wanted.
    pub fn wants(&self, element: Element, details: &Details) -> bool {
        let rank = details.rank();
        self.layers.as_ref().is_none_or(|layers| layers.contains(&details.layer()))
            && self.ranks.is_none_or(|(from, to)| (from..=to).contains(&rank))
            && !self.without.contains(&place_id(element))
    }
}

/// A point.
pub struct PointRequest {
    pub at: Coord,
    /// As it was written.
    pub text: String,
    pub zoom: u8,
    pub layers: Vec<Layer>,
}

impl Parameters {
    /// Of a request.
    pub fn of(query: Option<&str>, headers: &HeaderMap) -> Parameters {
        let all = form_urlencoded::parse(query.unwrap_or_default().as_bytes()).into_owned().collect();
        Parameters { all, languages: accept::language(headers) }
    }

    fn get(&self, wanted: &str) -> Option<&str> {
        self.all.iter().find(|(name, _)| name == wanted).map(|(_, value)| value.as_str())
    }

    fn text(&self, wanted: &str) -> &str {
        self.get(wanted).unwrap_or_default().trim()
    }

    fn is_set(&self, wanted: &str) -> bool {
        self.get(wanted).is_some_and(|value| !["0", "", "false"].contains(&value))
    }

    /// The format of the answer.
    pub fn format(&self) -> Result<Format, Wrong> {
        match self.get("format").unwrap_or("jsonv2") {
            "json" => Ok(Format::Json),
            "jsonv2" => Ok(Format::JsonV2),
            "geojson" => Ok(Format::GeoJson),
            "geocodejson" => Ok(Format::GeocodeJson),
            "xml" => Ok(Format::Xml),
            _ => Err("Parameter 'format' must be one of: json, jsonv2, geojson, geocodejson, xml".to_owned()),
        }
    }

    /// What is told beside; the address as `address` says where nothing else is said.
    pub fn extras(&self, address: bool) -> Result<Extras, Wrong> {
        if ["polygon_kml", "polygon_svg"].iter().any(|name| self.is_set(name)) {
            return Err("Polygons are given as GeoJSON and as WKT: 'polygon_geojson=1' or 'polygon_text=1'".to_owned());
        }
        Ok(Extras {
            outline: self.is_set("polygon_geojson"),
            text: self.is_set("polygon_text"),
            names: self.is_set("namedetails"),
            tags: self.is_set("extratags"),
            address: if self.get("addressdetails").is_some() { self.is_set("addressdetails") } else { address },
            languages: self.languages(),
        })
    }

    /// The languages that are wanted, in their order.
    fn languages(&self) -> Vec<String> {
        accept::languages(self.get("accept-language").or(self.languages.as_deref()).unwrap_or_default())
    }

    /// A search.
    pub fn search(&self) -> Result<SearchRequest, Wrong> {
        let text = |name: &str| self.text(name).to_owned();
        let parts = Parts {
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
            Some(text) => Question::Text(text.trim().to_owned()),
            None if parts.is_empty() => {
                return Err("Nothing to search for: the parameter 'q' is missing".to_owned());
            }
            None => Question::Parts(parts),
        };
        let limit = match self.get("limit").map(str::trim).filter(|limit| !limit.is_empty()) {
            None => USUAL,
            Some(limit) => limit.parse::<usize>().map_err(|_| "Parameter 'limit' must be a number")?.clamp(1, MOST),
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
        Ok(SearchRequest {
            question,
            typing: self.is_set("typing"),
            limit,
            near: self.viewbox()?,
            bounded: self.is_set("bounded"),
            countries: countries.filter(|code| code.len() == 2).collect(),
            layers: self.layers()?,
            ranks,
            without: self.text("exclude_place_ids").split(',').filter_map(excluded).collect(),
        })
    }

    /// The elements of a look-up.
    pub fn elements(&self) -> Result<Vec<Element>, Wrong> {
        let ids = self.get("osm_ids").ok_or("Nothing to look up: the parameter 'osm_ids' is missing")?;
        let ids = ids.split(',').map(str::trim).filter(|id| !id.is_empty());
        let elements: Option<Vec<Element>> = ids.map(element).collect();
        let elements = elements.ok_or("Parameter 'osm_ids' must be like: R123,W123,N123")?;
        match elements.len() {
            0 => Err("Parameter 'osm_ids' must be like: R123,W123,N123".to_owned()),
            1..=MOST_IDS => Ok(elements),
            _ => Err("Parameter 'osm_ids' must have at most 50 elements".to_owned()),
        }
    }

    /// A point.
    pub fn point(&self) -> Result<PointRequest, Wrong> {
        let number = |name: &str| {
            let text = self.get(name).ok_or_else(|| format!("Parameter '{name}' is missing"))?;
            text.trim().parse::<f64>().map_err(|_| format!("Parameter '{name}' must be a number"))
        };
        let at = coord(number("lat")?, number("lon")?);
        let zoom = match self.get("zoom").map(str::trim).filter(|zoom| !zoom.is_empty()) {
            None => 18,
            Some(zoom) => {
                zoom.parse::<u8>().ok().filter(|zoom| *zoom <= 18).ok_or("Parameter 'zoom' must be from 0 to 18")?
            }
        };
        Ok(PointRequest {
            at: at.ok_or("Parameters 'lat' and 'lon' must be a place: -90 to 90 and -180 to 180")?,
            text: format!("lat={}&lon={}", self.text("lat"), self.text("lon")),
            zoom,
            layers: self.layers()?.unwrap_or_else(|| vec![Layer::Address, Layer::Poi]),
        })
    }

    fn layers(&self) -> Result<Option<Vec<Layer>>, Wrong> {
        let text = self.text("layer");
        if text.is_empty() {
            return Ok(None);
        }
        let layer = |name: &str| match name.trim() {
            "address" => Ok(Layer::Address),
            "poi" => Ok(Layer::Poi),
            "railway" => Ok(Layer::Railway),
            "natural" => Ok(Layer::Natural),
            "manmade" => Ok(Layer::ManMade),
            _ => Err("Parameter 'layer' must have some of: address, poi, railway, natural, manmade".to_owned()),
        };
        text.split(',').map(layer).collect::<Result<_, _>>().map(Some)
    }

    /// Two corners, longitude before latitude.
    fn viewbox(&self) -> Result<Option<BoundingBox>, Wrong> {
        let text = self.text("viewbox");
        if text.is_empty() {
            return Ok(None);
        }
        let numbers: Option<Vec<f64>> = text.split(',').map(|side| side.trim().parse().ok()).collect();
        let corners = match numbers.as_deref() {
            Some(&[x1, y1, x2, y2]) => coord(y1, x1).zip(coord(y2, x2)),
            _ => None,
        };
        let (a, b) =
            corners.ok_or("Parameter 'viewbox' must be four numbers: longitude and latitude of two corners")?;
        let (south, north) = (a.lat.min(b.lat), a.lat.max(b.lat));
        Ok(Some(BoundingBox { south, west: a.lon.min(b.lon), north, east: a.lon.max(b.lon) }))
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

/// The id of a place that is not wanted, as answers have it or as an element.
fn excluded(text: &str) -> Option<i64> {
    let text = text.trim();
    text.parse().ok().or_else(|| element(text).map(place_id))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parameters(query: &str) -> Parameters {
        Parameters::of(Some(query), &HeaderMap::new())
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
        for wrong in ["q=a&city=b", "limit=5", "q=a&limit=x", "q=a&layer=x", "q=a&viewbox=1,2,3", "q=a&featureType=x"] {
            assert!(parameters(wrong).search().is_err(), "{wrong}");
        }
        for wrong in ["lat=1", "lat=x&lon=1", "lat=91&lon=0", "lat=1&lon=2&zoom=99"] {
            assert!(parameters(wrong).point().is_err(), "{wrong}");
        }
        let box_of = |query: &str| parameters(query).search().unwrap().near.unwrap();
        assert_eq!(box_of("q=a&viewbox=14.5,36,14.2,35.8"), box_of("q=a&viewbox=14.2,35.8,14.5,36"));
    }
}
