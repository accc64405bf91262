//! Formats a place as in Nominatim's documentation: JSON, JSONv2, GeoJSON, GeocodeJSON. `place_xml.rs` writes XML.

use serde_json::{Map, Value, json};

use super::place_shape::{PlaceShape, position};
use terrapin_geocoder::{Details, Entrance, Hit, LINKED, PlaceBounds, PlaceElement, PlacePosition, entrances};
use terrapin_osm::outline::Outline;
use terrapin_osm::{Coord, ElementType, Osm};

pub use super::place_shape::ShapeOptions;

pub(super) const LICENCE: &str = "Data © OpenStreetMap contributors, ODbL 1.0. http://osm.org/copyright";

/// The optional parts of a place in an answer, and the languages of its names.
#[derive(Debug, Clone, Default)]
pub struct Extras {
    /// Its shape.
    pub shapes: ShapeOptions,
    /// Whether to include all of its names.
    pub names: bool,
    /// Whether to include all other tags.
    pub tags: bool,
    /// Whether to include the entrances of a building.
    pub entrances: bool,
    /// Whether to include the parts of its address.
    pub address: bool,
    /// Languages of names, by descending preference.
    pub languages: Vec<String>,
}

/// A format of answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum PlaceFormat {
    Json,
    JsonV2,
    GeoJson,
    GeocodeJson,
    Xml,
}

impl PlaceFormat {
    /// Returns the answer to the search `query` in this format. For XML, see `place_xml.rs`.
    pub fn of(self, places: &[PlaceResult], query: &str) -> Value {
        let all = |one: &dyn Fn(&PlaceResult) -> Value| Value::Array(places.iter().map(one).collect());
        match self {
            PlaceFormat::Json => all(&|place| place.json("class")),
            PlaceFormat::JsonV2 | PlaceFormat::Xml => all(&|place| place.json("category")),
            PlaceFormat::GeoJson => json!({
                "type": "FeatureCollection",
                "licence": LICENCE,
                "features": all(&|place| place.feature(Value::Object(place.properties("category")), true)),
            }),
            PlaceFormat::GeocodeJson => json!({
                "type": "FeatureCollection",
                "geocoding": { "version": "0.1.0", "attribution": LICENCE, "licence": "ODbL", "query": query },
                "features": all(&|place| place.feature(place.geocoding(), false)),
            }),
        }
    }

    /// Returns the answer to a reverse geocoding request in this format. For XML, see `place_xml.rs`.
    pub fn of_point(self, place: Option<&PlaceResult>, query: &str) -> Value {
        match (self, place) {
            (_, None) => json!({ "error": "Unable to geocode" }),
            (PlaceFormat::Json, Some(place)) => place.json("class"),
            (PlaceFormat::JsonV2 | PlaceFormat::Xml, Some(place)) => place.json("category"),
            (_, Some(place)) => self.of(std::slice::from_ref(place), query),
        }
    }
}

/// A place with all data that its answer contains.
#[derive(Debug)]
pub struct PlaceResult {
    hit: Hit,
    name: String,
    center: PlacePosition,
    bounds: PlaceBounds,
    /// In degrees: west, south, east, north.
    bbox: [f64; 4],
    shape: PlaceShape,
    entrances: Vec<Entrance>,
    extras: Extras,
}

impl PlaceResult {
    /// Collects the data of a place for its answer.
    pub fn of(osm: &Osm, hit: Hit, extras: &Extras) -> PlaceResult {
        let shapes = &extras.shapes;
        let outline = |hit: &Hit| match hit.element {
            Some(element) => Outline::of(osm, element.kind, osm.find(element.kind, element.id)?),
            None => Some(Outline::Point(hit.spot.at)),
        };
        let shape = (!shapes.is_empty()).then(|| outline(&hit)).flatten();
        let entrances = hit.element.filter(|_| extras.entrances).map(|element| entrances(osm, element, &hit.details));
        let bounds = hit.bounds();
        let corner = |lat, lon| position(Coord { lat, lon });
        let ([west, south], [east, north]) = (corner(bounds.south, bounds.west), corner(bounds.north, bounds.east));
        PlaceResult {
            name: hit.name(&extras.languages).to_owned(),
            center: PlacePosition::of(hit.spot.at),
            bounds: PlaceBounds::of(&bounds),
            bbox: [west, south, east, north],
            shape: shape.map(|outline| PlaceShape::of(outline, shapes)).unwrap_or_default(),
            entrances: entrances.unwrap_or_default(),
            extras: extras.clone(),
            hit,
        }
    }

    fn details(&self) -> &Details {
        &self.hit.details
    }

    /// Returns the place as an object of JSON or JSONv2, which use different names for the main key.
    fn json(&self, category: &str) -> Value {
        let mut all = self.properties(category);
        let PlaceBounds { south, north, west, east } = &self.bounds;
        all.extend([
            ("licence".to_owned(), json!(LICENCE)),
            ("lat".to_owned(), json!(self.center.lat)),
            ("lon".to_owned(), json!(self.center.lon)),
            ("boundingbox".to_owned(), json!([south, north, west, east])),
        ]);
        let PlaceShape { geojson, text, kml, svg } = &self.shape;
        if let Some(geojson) = geojson {
            all.insert("geojson".to_owned(), geojson.clone());
        }
        for (name, text) in [("geotext", text), ("geokml", kml), ("svg", svg)] {
            if let Some(text) = text {
                all.insert(name.to_owned(), json!(text));
            }
        }
        Value::Object(all)
    }

    /// Returns the fields that all formats except GeocodeJSON share.
    pub(super) fn properties(&self, category: &str) -> Map<String, Value> {
        let (key, value) = self.details().category();
        let mut all = Map::new();
        let mut put = |name: &str, value: Value| all.insert(name.to_owned(), value);
        put("place_id", json!(self.id()));
        if let Some(element) = self.hit.element {
            put("osm_type", json!(element.kind.name()));
            put("osm_id", json!(element.id));
        }
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
        if self.extras.entrances {
            put("entrances", self.doors());
        }
        all
    }

    /// Returns the entrances, or null if there are none.
    fn doors(&self) -> Value {
        let door = |entrance: &Entrance| {
            let PlacePosition { lat, lon } = PlacePosition::of(entrance.at);
            let tags: Map<String, Value> =
                entrance.tags.iter().map(|(key, value)| (key.clone(), json!(value))).collect();
            json!({ "osm_id": entrance.id, "type": entrance.kind, "lat": lat, "lon": lon, "extratags": tags })
        };
        match self.entrances.as_slice() {
            [] => Value::Null,
            all => all.iter().map(door).collect(),
        }
    }

    /// Returns the place's id: see [`place_id`] and [`code_id`].
    fn id(&self) -> i64 {
        self.hit.element.map_or_else(|| code_id(&self.name, self.hit.spot.at), place_id)
    }

    /// Returns the reference that excludes the place from a later search: `R31`, `Pgb:EH4_7EA`.
    pub fn reference(&self) -> String {
        match self.hit.element {
            Some(element) => reference(element),
            None => {
                let country = self.hit.address.country(self.details()).unwrap_or_default();
                format!("P{country}:{}", self.name.replace(' ', "_"))
            }
        }
    }

    fn geocoding(&self) -> Value {
        let (key, value) = self.details().category();
        let mut all = json!({
            "place_id": self.id(),
            "osm_key": key,
            "osm_value": value,
            "type": self.level(),
            "label": self.label(),
        });
        if !self.name.is_empty() {
            all["name"] = json!(self.name);
        }
        if let Some(element) = self.hit.element {
            all["osm_type"] = json!(element.kind.name());
            all["osm_id"] = json!(element.id);
        }
        if self.extras.tags {
            all["extra"] = self.tags(|key| !is_name(key));
        }
        if self.extras.entrances {
            all["entrances"] = self.doors();
        }
        if !self.extras.address {
            return json!({ "geocoding": all });
        }
        let address = &self.hit.address;
        let road = address.road.as_ref().and_then(|road| road.name_in(&self.extras.languages)).map(str::to_owned);
        let said = [("housenumber", &address.house), ("street", &road), ("postcode", &address.postcode)];
        for (name, value) in said {
            if let Some(value) = value {
                all[name] = json!(value);
            }
        }
        let parts = self.address();
        // A village within a town counts as a district of it.
        let is_town = parts.iter().any(|(label, _)| ["city", "town", "municipality"].contains(&label.as_str()));
        for (label, text) in parts {
            let name = match label.as_str() {
                "village" | "hamlet" if is_town => "district",
                "city" | "town" | "village" | "hamlet" | "municipality" => "city",
                "suburb" | "quarter" | "neighbourhood" | "city_district" | "borough" => "district",
                "locality" | "isolated_dwelling" | "farm" | "island" | "islet" => "locality",
                "county" | "state" | "country" | "country_code" => &label,
                _ => continue,
            };
            if all.get(name).is_none() {
                all[name] = json!(text);
            }
        }
        let parts = address.parts.iter().map(|part| &part.details).chain([self.details()]);
        let borders = parts.filter_map(|details| {
            let name = details.name_in(&self.extras.languages)?;
            Some((format!("level{}", details.level()?), json!(name)))
        });
        all["admin"] = Value::Object(borders.collect());
        json!({ "geocoding": all })
    }

    /// Returns the address level, as GeocodeJSON names it: `house`, `street`, `district`, `city`, `county`, `state`,
    /// `country` or `locality`.
    fn level(&self) -> &'static str {
        match self.details().tag("place").or_else(|| self.details().tag(LINKED)) {
            Some("city" | "town" | "village" | "hamlet" | "municipality") => return "city",
            Some("suburb" | "borough" | "quarter" | "neighbourhood" | "city_block") => return "district",
            _ => {}
        }
        match self.details().rank() {
            0..=4 => "country",
            5..=9 => "state",
            10..=13 => "county",
            14..=16 => "city",
            17..=20 if self.details().level().is_some() => "district",
            17..=25 => "locality",
            26 | 27 => "street",
            _ => "house",
        }
    }

    fn feature(&self, properties: Value, has_box: bool) -> Value {
        let middle = || {
            let number = |text: &str| text.parse::<f64>().unwrap_or_default();
            json!({ "type": "Point", "coordinates": [number(&self.center.lon), number(&self.center.lat)] })
        };
        let geometry = self.shape.geojson.clone().unwrap_or_else(middle);
        let mut feature = json!({ "type": "Feature", "properties": properties, "geometry": geometry });
        // GeocodeJSON has no bounding boxes.
        if has_box {
            feature["bbox"] = json!(self.bbox);
        }
        feature
    }

    /// Returns name and address on one line.
    pub(super) fn label(&self) -> String {
        self.hit.label(&self.extras.languages)
    }

    /// Returns the parts of the address with their labels, each label once, smallest part first.
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
        put("road", address.road.as_ref().and_then(|road| road.name_in(&self.extras.languages)));
        put("place", address.place.as_deref());
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
        put("country", address.territory.map(|territory| territory.name(&self.extras.languages)));
        put("country_code", address.country(self.details()).as_deref());
        all
    }

    fn tags(&self, wanted: impl Fn(&str) -> bool) -> Value {
        let tags = self.details().tags.iter().filter(|(key, _)| wanted(key));
        Value::Object(tags.map(|(key, value)| (key.clone(), json!(value))).collect())
    }

    /// Returns the center and the bounding box (south, north, west, east), which XML has as attributes.
    pub(super) fn position(&self) -> (&PlacePosition, &PlaceBounds) {
        (&self.center, &self.bounds)
    }

    /// Returns its shape in the requested forms.
    pub(super) fn shape(&self) -> &PlaceShape {
        &self.shape
    }

    /// Returns its name, or else the value of its tag `ref`.
    pub(super) fn title(&self) -> Option<&str> {
        Some(self.name.as_str()).filter(|name| !name.is_empty()).or_else(|| self.details().tag("ref"))
    }

    /// Returns its entrances.
    pub(super) fn entrances(&self) -> &[Entrance] {
        &self.entrances
    }
}

/// Returns the place id of an element. It is computed from type and id, and therefore equal in every snapshot.
pub fn place_id(element: PlaceElement) -> i64 {
    let kind = match element.kind {
        ElementType::Node => 1,
        ElementType::Way => 2,
        ElementType::Relation => 3,
    };
    element.id.saturating_mul(4).saturating_add(kind)
}

/// Returns the place id of a postal code without an element: a hash of its text and its position, always a multiple of
/// four.
pub fn code_id(code: &str, at: Coord) -> i64 {
    let bytes = code.bytes().chain(at.lat.to_le_bytes()).chain(at.lon.to_le_bytes());
    let hash = bytes
        .fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3));
    // 52 bits, so that JavaScript's numbers represent it exactly.
    (hash >> 12) as i64 & !3
}

/// Returns an element in the notation of requests: `R31`.
pub fn reference(PlaceElement { kind, id }: PlaceElement) -> String {
    let letter = match kind {
        ElementType::Node => 'N',
        ElementType::Way => 'W',
        ElementType::Relation => 'R',
    };
    format!("{letter}{id}")
}

fn is_name(key: &str) -> bool {
    let key = key.split(':').next().unwrap_or_default();
    key == "name" || key == "ref" || key.ends_with("_name")
}
