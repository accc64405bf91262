//! A place in the shapes that Nominatim's documentation describes: JSON, JSONv2, GeoJSON, GeocodeJSON. `place_xml.rs` has
//! them as XML.

use serde_json::{Map, Value, json};

use crate::geocoder::{Bounds, Details, Element, Hit, Position};
use crate::osm::outline::{Line, Outline};
use crate::osm::{Coord, ElementType, Osm};

pub(super) const LICENCE: &str = "Data © OpenStreetMap contributors, ODbL 1.0. http://osm.org/copyright";

/// What of a place is told only where it is asked for, and in which languages.
#[derive(Debug, Clone, Default)]
pub struct Extras {
    /// Its shape as GeoJSON.
    pub outline: bool,
    /// Its shape as WKT.
    pub text: bool,
    /// All of its names.
    pub names: bool,
    /// All other tags.
    pub tags: bool,
    /// Its address in parts.
    pub address: bool,
    /// Languages of names, the most wanted first.
    pub languages: Vec<String>,
}

/// A format of answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Format {
    Json,
    JsonV2,
    GeoJson,
    GeocodeJson,
    Xml,
}

impl Format {
    /// These places as the answer to a search in this format, any but XML; `query` is what was searched for.
    pub fn of(self, places: &[Found], query: &str) -> Value {
        let all = |one: &dyn Fn(&Found) -> Value| Value::Array(places.iter().map(one).collect());
        match self {
            Format::Json => all(&|place| place.json("class")),
            Format::JsonV2 | Format::Xml => all(&|place| place.json("category")),
            Format::GeoJson => json!({
                "type": "FeatureCollection",
                "licence": LICENCE,
                "features": all(&|place| place.feature(Value::Object(place.properties("category")))),
            }),
            Format::GeocodeJson => json!({
                "type": "FeatureCollection",
                "geocoding": { "version": "0.1.0", "attribution": LICENCE, "licence": "ODbL", "query": query },
                "features": all(&|place| place.feature(place.geocoding())),
            }),
        }
    }

    /// What is at a point, in this format, any but XML.
    pub fn of_point(self, place: Option<&Found>, query: &str) -> Value {
        match (self, place) {
            (_, None) => json!({ "error": "Unable to geocode" }),
            (Format::Json, Some(place)) => place.json("class"),
            (Format::JsonV2 | Format::Xml, Some(place)) => place.json("category"),
            (_, Some(place)) => self.of(std::slice::from_ref(place), query),
        }
    }
}

/// A place.
#[derive(Debug)]
pub struct Found {
    hit: Hit,
    name: String,
    center: Position,
    bounds: Bounds,
    /// In degrees: west, south, east, north.
    bbox: [f64; 4],
    outline: Option<Value>,
    text: Option<String>,
    extras: Extras,
}

impl Found {
    /// A place as it is told.
    pub fn of(osm: &Osm, hit: Hit, extras: &Extras) -> Found {
        let shape = (extras.outline || extras.text).then(|| Outline::of(osm, hit.element.kind, hit.ordinal)).flatten();
        let bounds = hit.spot.bounds;
        let corner = |lat, lon| position(Coord { lat, lon });
        let ([west, south], [east, north]) = (corner(bounds.south, bounds.west), corner(bounds.north, bounds.east));
        Found {
            name: hit.name(&extras.languages).to_owned(),
            center: Position::middle_of(&bounds),
            bounds: Bounds::of(&bounds),
            bbox: [west, south, east, north],
            outline: shape.as_ref().filter(|_| extras.outline).map(geojson),
            text: shape.as_ref().filter(|_| extras.text).map(wkt),
            extras: extras.clone(),
            hit,
        }
    }

    fn details(&self) -> &Details {
        &self.hit.details
    }

    /// An object of JSON or JSONv2, which call the main key differently.
    fn json(&self, category: &str) -> Value {
        let mut all = self.properties(category);
        let Bounds { south, north, west, east } = &self.bounds;
        all.extend([
            ("licence".to_owned(), json!(LICENCE)),
            ("lat".to_owned(), json!(self.center.lat)),
            ("lon".to_owned(), json!(self.center.lon)),
            ("boundingbox".to_owned(), json!([south, north, west, east])),
        ]);
        if let Some(outline) = &self.outline {
            all.insert("geojson".to_owned(), outline.clone());
        }
        if let Some(text) = &self.text {
            all.insert("geotext".to_owned(), json!(text));
        }
        Value::Object(all)
    }

    /// What all formats but GeocodeJSON say.
    pub(super) fn properties(&self, category: &str) -> Map<String, Value> {
        let (key, value) = self.details().category();
        let mut all = Map::new();
        let mut put = |name: &str, value: Value| all.insert(name.to_owned(), value);
        put("place_id", json!(place_id(self.hit.element)));
        put("osm_type", json!(self.hit.element.kind.name()));
        put("osm_id", json!(self.hit.element.id));
        put(category, json!(key));
        put("type", json!(value));
        put("place_rank", json!(self.details().rank()));
        put("importance", json!(self.hit.importance));
        put("addresstype", json!(self.details().address_type()));
        put("name", json!(self.name));
        put("display_name", json!(self.label()));
        if self.extras.address {
            let address = self.address().into_iter().map(|(label, text)| (label, json!(text)));
            put("address", Value::Object(address.collect()));
        }
        if self.extras.names {
            put("namedetails", self.tags(is_name));
        }
        if self.extras.tags {
            put("extratags", self.tags(|key| !is_name(key)));
        }
        all
    }

    fn geocoding(&self) -> Value {
        let mut all = json!({
            "place_id": place_id(self.hit.element),
            "osm_type": self.hit.element.kind.name(),
            "osm_id": self.hit.element.id,
            "osm_key": self.details().category().0,
            "osm_value": self.details().category().1,
            "type": self.details().address_type(),
            "label": self.label(),
            "name": self.name,
        });
        let address = &self.hit.address;
        let said = [("housenumber", &address.house), ("street", &address.road), ("postcode", &address.postcode)];
        for (name, value) in said.into_iter().filter(|_| self.extras.address) {
            if let Some(value) = value {
                all[name] = json!(value);
            }
        }
        for (label, text) in self.address().into_iter().filter(|_| self.extras.address) {
            let name = match label.as_str() {
                "city" | "town" | "village" | "hamlet" => "city",
                "suburb" | "quarter" | "neighbourhood" | "city_district" => "district",
                "county" | "state" | "country" | "country_code" => &label,
                _ => continue,
            };
            if all.get(name).is_none() {
                all[name] = json!(text);
            }
        }
        json!({ "geocoding": all })
    }

    fn feature(&self, properties: Value) -> Value {
        let middle = || {
            let number = |text: &str| text.parse::<f64>().unwrap_or_default();
            json!({ "type": "Point", "coordinates": [number(&self.center.lon), number(&self.center.lat)] })
        };
        json!({
            "type": "Feature",
            "properties": properties,
            "bbox": self.bbox,
            "geometry": self.outline.clone().unwrap_or_else(middle),
        })
    }

    /// Name and address on a line.
    pub(super) fn label(&self) -> String {
        self.hit.label(&self.extras.languages)
    }

    /// The parts of the address, each once, the smallest first.
    pub(super) fn address(&self) -> Vec<(String, String)> {
        let address = &self.hit.address;
        let mut all: Vec<(String, String)> = Vec::new();
        let mut put = |label: &str, text: Option<&str>| {
            if let Some(text) = text.filter(|text| !text.is_empty())
                && !all.iter().any(|(other, _)| other == label)
            {
                all.push((label.to_owned(), text.to_owned()));
            }
        };
        let own = match self.details().category() {
            ("highway", _) => "road",
            ("boundary" | "place", _) => self.details().address_type(),
            (key, _) => key,
        };
        put(own, Some(self.name.as_str()));
        put("house_number", address.house.as_deref());
        put("road", address.road.as_deref());
        let (countries, parts): (Vec<_>, Vec<_>) = address.parts.iter().partition(|part| part.label == "country");
        let regions = |details: &Details| {
            let code = details.tag("ISO3166-2").map(str::to_owned);
            Some((format!("ISO3166-2-lvl{}", details.level()?), code?))
        };
        for part in parts {
            put(&part.label, part.details.name_in(&self.extras.languages));
            if let Some((label, code)) = regions(&part.details) {
                put(&label, Some(&code));
            }
        }
        if let Some((label, code)) = regions(self.details()) {
            put(&label, Some(&code));
        }
        put("postcode", address.postcode.as_deref());
        countries.iter().for_each(|part| put("country", part.details.name_in(&self.extras.languages)));
        put("country_code", address.country(self.details()).as_deref());
        all
    }

    fn tags(&self, wanted: impl Fn(&str) -> bool) -> Value {
        let tags = self.details().tags.iter().filter(|(key, _)| wanted(key));
        Value::Object(tags.map(|(key, value)| (key.clone(), json!(value))).collect())
    }

    /// What XML says beside: latitude, longitude, and south, north, west, east.
    pub(super) fn position(&self) -> (&Position, &Bounds) {
        (&self.center, &self.bounds)
    }

    /// Its shape as it is asked for, as JSON and as WKT.
    pub(super) fn shape(&self) -> (Option<&Value>, Option<&str>) {
        (self.outline.as_ref(), self.text.as_deref())
    }
}

/// Made from type and id, so that it is the same in every snapshot.
pub fn place_id(element: Element) -> i64 {
    let kind = match element.kind {
        ElementType::Node => 1,
        ElementType::Way => 2,
        ElementType::Relation => 3,
    };
    element.id.saturating_mul(4).saturating_add(kind)
}

fn is_name(key: &str) -> bool {
    let key = key.split(':').next().unwrap_or_default();
    key == "name" || key == "ref" || key.ends_with("_name")
}

fn position(c: Coord) -> [f64; 2] {
    [f64::from(c.lon) / 1e7, f64::from(c.lat) / 1e7]
}

fn geojson(outline: &Outline) -> Value {
    let line = |line: &Line| Value::Array(line.iter().map(|c| json!(position(*c))).collect());
    let polygon = |rings: &Vec<Line>| Value::Array(rings.iter().map(line).collect());
    match outline {
        Outline::Point(c) => json!({ "type": "Point", "coordinates": position(*c) }),
        Outline::Line(all) => json!({ "type": "LineString", "coordinates": line(all) }),
        Outline::Polygons(all) => match all.as_slice() {
            [one] => json!({ "type": "Polygon", "coordinates": polygon(one) }),
            all => json!({ "type": "MultiPolygon", "coordinates": all.iter().map(polygon).collect::<Vec<_>>() }),
        },
    }
}

fn wkt(outline: &Outline) -> String {
    let pair = |c: &Coord| {
        let [x, y] = position(*c);
        format!("{x} {y}")
    };
    let list = |parts: Vec<String>| format!("({})", parts.join(","));
    let line = |line: &Line| list(line.iter().map(pair).collect());
    let polygon = |rings: &Vec<Line>| list(rings.iter().map(line).collect());
    match outline {
        Outline::Point(c) => format!("POINT({})", pair(c)),
        Outline::Line(all) => format!("LINESTRING{}", line(all)),
        Outline::Polygons(all) => match all.as_slice() {
            [one] => format!("POLYGON{}", polygon(one)),
            all => format!("MULTIPOLYGON{}", list(all.iter().map(polygon).collect())),
        },
    }
}
