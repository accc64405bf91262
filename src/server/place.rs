//! A place in the shapes that Nominatim's documentation describes: JSON, JSONv2, GeoJSON, GeocodeJSON.

use serde_json::{Map, Value, json};

use crate::geocoder::{Bounds, Details, Element, Position};
use crate::osm::outline::{Line, Outline};
use crate::osm::{Coord, ElementType, Osm};

const LICENCE: &str = "Data © OpenStreetMap contributors, ODbL 1.0. http://osm.org/copyright";

/// What of a place is told only where it is asked for.
#[derive(Debug, Clone, Copy, Default)]
pub struct Extras {
    /// Its shape as GeoJSON.
    pub outline: bool,
    /// Its shape as WKT.
    pub text: bool,
    /// All of its names.
    pub names: bool,
    /// All other tags.
    pub tags: bool,
}

/// A format of answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Format {
    Json,
    JsonV2,
    GeoJson,
    GeocodeJson,
}

impl Format {
    /// These places in this format; `query` is what was searched for.
    pub fn of(self, places: &[Found], query: &str) -> Value {
        let all = |one: &dyn Fn(&Found) -> Value| Value::Array(places.iter().map(one).collect());
        match self {
            Format::Json => all(&|place| place.json("class")),
            Format::JsonV2 => all(&|place| place.json("category")),
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
}

/// A place.
#[derive(Debug)]
pub struct Found {
    element: Element,
    details: Details,
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
    /// An element as a place; `None` where the snapshot does not have it or it lies nowhere. One without a name is called
    /// by what was searched for.
    pub fn of(osm: &Osm, element: Element, query: Option<&str>, extras: Extras) -> Option<Found> {
        let Element { kind, id } = element;
        let ordinal = osm.find(kind, id)?;
        let details = Details::of(osm, kind, ordinal);
        let outline = Outline::of(osm, kind, ordinal)?;
        let bounds = outline.bounds();
        if bounds.is_empty() {
            return None;
        }
        let corner = |lat, lon| position(Coord { lat, lon });
        let ([west, south], [east, north]) = (corner(bounds.south, bounds.west), corner(bounds.north, bounds.east));
        Some(Found {
            element,
            name: details.tag("name").or(query).unwrap_or_default().to_owned(),
            details,
            center: Position::middle_of(&bounds),
            bounds: Bounds::of(&bounds),
            bbox: [west, south, east, north],
            outline: extras.outline.then(|| geojson(&outline)),
            text: extras.text.then(|| wkt(&outline)),
            extras,
        })
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
    fn properties(&self, category: &str) -> Map<String, Value> {
        let (key, value) = self.details.category();
        let mut all = Map::new();
        let mut put = |name: &str, value: Value| all.insert(name.to_owned(), value);
        put("place_id", json!(self.place_id()));
        put("osm_type", json!(self.element.kind.name()));
        put("osm_id", json!(self.element.id));
        put(category, json!(key));
        put("type", json!(value));
        put("place_rank", json!(self.details.rank()));
        put("importance", json!(self.details.importance()));
        put("addresstype", json!(self.details.address_type()));
        put("name", json!(self.name));
        put("display_name", json!(self.name));
        if self.extras.names {
            put("namedetails", self.tags(is_name));
        }
        if self.extras.tags {
            put("extratags", self.tags(|key| !is_name(key)));
        }
        all
    }

    fn geocoding(&self) -> Value {
        json!({ "geocoding": {
            "place_id": self.place_id(),
            "osm_type": self.element.kind.name(),
            "osm_id": self.element.id,
            "osm_key": self.details.category().0,
            "osm_value": self.details.category().1,
            "type": self.details.address_type(),
            "label": self.name,
            "name": self.name,
        } })
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

    /// Made from type and id, so that it is the same in every snapshot.
    fn place_id(&self) -> i64 {
        let kind = match self.element.kind {
            ElementType::Node => 1,
            ElementType::Way => 2,
            ElementType::Relation => 3,
        };
        self.element.id.saturating_mul(4).saturating_add(kind)
    }

    fn tags(&self, wanted: impl Fn(&str) -> bool) -> Value {
        let tags = self.details.tags.iter().filter(|(key, _)| wanted(key));
        Value::Object(tags.map(|(key, value)| (key.clone(), json!(value))).collect())
    }
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
