//! Parses and formats geometry literals: WKT, GML and GeoJSON, with their reference systems and axis orders.

use geo::{CoordsIter, Geometry, MapCoords};
use oxrdf::vocab::xsd;
use oxrdf::{Literal, NamedNode, NamedNodeRef, Term};
use wkt::{ToWkt, TryFromWkt};

use super::effort;
use super::gml::{self, GmlNamespace};
use terrapin_budget as budget;

const WKT: NamedNodeRef<'_> = NamedNodeRef::new_unchecked("http://www.opengis.net/ont/geosparql#wktLiteral");
const GML: NamedNodeRef<'_> = NamedNodeRef::new_unchecked("http://www.opengis.net/ont/geosparql#gmlLiteral");
const GEOJSON: NamedNodeRef<'_> = NamedNodeRef::new_unchecked("http://www.opengis.net/ont/geosparql#geoJSONLiteral");
const CRS84: &str = "http://www.opengis.net/def/crs/OGC/1.3/CRS84";
const EPSG_4326: &str = "http://www.opengis.net/def/crs/EPSG/0/4326";

/// The Earth's mean radius (IUGG) in kilometres.
const EARTH_RADIUS: f64 = 6371.0088;

/// Maximum depth of brackets in a literal, because the parser recurses. A collection of collections of polygons has
/// six.
const MAX_DEPTH: usize = 32;

/// A coordinate reference system. Both known systems are WGS 84 in degrees; they differ in the order of their axes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Crs {
    /// Longitude, then latitude: the default for literals without a system.
    Crs84,
    /// Latitude, then longitude.
    Epsg4326,
    /// Any other system, by its IRI: planar, in its own units. Only distances of points on a globe of Wikidata can be
    /// in metres.
    Other(String),
}

impl Crs {
    /// Returns the system of an IRI.
    pub fn from_iri(iri: &str) -> Crs {
        match iri.replacen("https://", "http://", 1).as_str() {
            // Wikidata may write the item of the Earth before a point.
            CRS84 | "http://www.wikidata.org/entity/Q2" => Crs::Crs84,
            // The forms of the OGC's names for GML (OGC 07-092r3).
            "urn:ogc:def:crs:OGC:1.3:CRS84" | "urn:ogc:def:crs:OGC::CRS84" => Crs::Crs84,
            EPSG_4326 | "urn:ogc:def:crs:EPSG::4326" => Crs::Epsg4326,
            _ => Crs::Other(iri.to_string()),
        }
    }

    /// Returns the system's IRI.
    pub fn iri(&self) -> &str {
        match self {
            Crs::Crs84 => CRS84,
            Crs::Epsg4326 => EPSG_4326,
            Crs::Other(iri) => iri,
        }
    }

    /// Returns the radius of the system's globe, if Wikidata names one, relative to that of the Earth.
    pub fn relative_radius(&self) -> Option<f64> {
        match self {
            Crs::Crs84 | Crs::Epsg4326 => Some(1.0),
            Crs::Other(iri) => Some(terrapin_triples::radius(iri)? / EARTH_RADIUS),
        }
    }

    /// Returns whether coordinates are degrees of longitude and latitude.
    pub fn is_geographic(&self) -> bool {
        !matches!(self, Crs::Other(_))
    }
}

/// The text format of a geometry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GeometryFormat {
    /// Well-known text.
    Wkt,
    /// GeoJSON (RFC 7946), always in CRS84.
    GeoJson,
    /// GML, with elements in a namespace.
    Gml(GmlNamespace),
}

/// Returns whether every position of a GeoJSON geometry has at least two numbers; otherwise, its library panics.
fn has_coordinates(value: &geojson::GeometryValue) -> bool {
    use geojson::GeometryValue as Value;
    let line = |line: &[geojson::Position]| line.iter().all(|position| position.as_slice().len() >= 2);
    match value {
        Value::Point { coordinates } => coordinates.as_slice().len() >= 2,
        Value::MultiPoint { coordinates } | Value::LineString { coordinates } => line(coordinates),
        Value::MultiLineString { coordinates } | Value::Polygon { coordinates } => coordinates.iter().all(|l| line(l)),
        Value::MultiPolygon { coordinates } => coordinates.iter().flatten().all(|l| line(l)),
        Value::GeometryCollection { geometries } => geometries.iter().all(|one| has_coordinates(&one.value)),
    }
}

/// A geometry with its reference system and format.
#[derive(Debug, Clone, PartialEq)]
pub struct LocatedGeometry {
    /// The geometry. In a geographic system, x is the longitude and y the latitude in degrees, regardless of the axis
    /// order.
    pub geometry: Geometry<f64>,
    /// The reference system.
    pub crs: Crs,
    /// The format of the literal, also used for geometries derived from it.
    pub format: GeometryFormat,
}

impl LocatedGeometry {
    /// Parses the geometry of a literal.
    pub fn from_term(term: &Term) -> Option<LocatedGeometry> {
        let Term::Literal(literal) = term else { return None };
        // Parsing takes some tens of nanoseconds per byte, and several times the literal's memory.
        budget::charge(8 * literal.value().len() as u64);
        let located = if literal.datatype() == WKT {
            from_wkt(literal.value())?
        } else if literal.datatype() == GEOJSON {
            let geojson: geojson::Geometry = serde_json::from_str(literal.value()).ok()?;
            if !has_coordinates(&geojson.value) {
                return None;
            }
            LocatedGeometry {
                geometry: Geometry::try_from(geojson).ok()?,
                crs: Crs::Crs84,
                format: GeometryFormat::GeoJson,
            }
        } else if literal.datatype() == GML {
            from_gml(literal.value())?
        } else {
            return None;
        };
        let finite = located.geometry.coords_iter().all(|c| c.x.is_finite() && c.y.is_finite());
        finite.then_some(located)
    }

    /// Returns another geometry with the same system and format.
    pub fn with(&self, geometry: Geometry<f64>) -> LocatedGeometry {
        LocatedGeometry { geometry, crs: self.crs.clone(), format: self.format }
    }

    /// Converts the geometry to the system of another one; returns `None` if that is not possible.
    pub fn to_system_of(self, other: &LocatedGeometry) -> Option<LocatedGeometry> {
        let reachable = self.crs == other.crs || (self.crs.is_geographic() && other.crs.is_geographic());
        reachable.then(|| LocatedGeometry { crs: other.crs.clone(), ..self })
    }

    /// Formats the geometry as a literal.
    pub fn to_term(&self) -> Option<Term> {
        // Each position has two numbers of about twenty characters, which are copied once more when they are joined.
        budget::charge(80 * self.geometry.coords_count() as u64);
        let literal = match self.format {
            GeometryFormat::Wkt => {
                let text = match &self.crs {
                    Crs::Crs84 => self.geometry.wkt_string(),
                    Crs::Epsg4326 => format!("<{EPSG_4326}> {}", swapped(&self.geometry).wkt_string()),
                    Crs::Other(iri) => format!("<{iri}> {}", self.geometry.wkt_string()),
                };
                Literal::new_typed_literal(text, WKT)
            }
            GeometryFormat::GeoJson => {
                let geometry = geojson::Geometry::from(&self.geometry);
                Literal::new_typed_literal(serde_json::to_string(&geometry).ok()?, GEOJSON)
            }
            GeometryFormat::Gml(namespace) => {
                let swapped = (self.crs == Crs::Epsg4326).then(|| swapped(&self.geometry));
                let text = gml::write(swapped.as_ref().unwrap_or(&self.geometry), self.crs.iri(), namespace);
                Literal::new_typed_literal(text, GML)
            }
        };
        Some(literal.into())
    }
}

fn from_gml(text: &str) -> Option<LocatedGeometry> {
    // An element takes some hundred bytes, and at least eight characters.
    budget::charge(32 * text.len() as u64);
    let gml::GmlDocument { geometry, system, namespace } = gml::read(text)?;
    let crs = system.map_or(Crs::Crs84, |iri| Crs::from_iri(&iri));
    let geometry = if crs == Crs::Epsg4326 { swapped(&geometry) } else { geometry };
    Some(LocatedGeometry { geometry, crs, format: GeometryFormat::Gml(namespace) })
}

fn from_wkt(text: &str) -> Option<LocatedGeometry> {
    let text = text.trim();
    let (crs, text) = match text.strip_prefix('<') {
        Some(rest) => {
            let (iri, rest) = rest.split_once('>')?;
            (Crs::from_iri(iri), rest.trim_start())
        }
        None => (Crs::Crs84, text),
    };
    if depth(text) > MAX_DEPTH {
        return None;
    }
    // In GeoSPARQL, an empty literal is an empty geometry.
    let text = if text.is_empty() { "GEOMETRYCOLLECTION EMPTY" } else { text };
    let text = &without_empty_members(text);
    let geometry = match Geometry::try_from_wkt_str(text) {
        Ok(geometry) => geometry,
        // `geo` has no empty point; an empty multipoint behaves like one.
        Err(_) if is_empty_point(text) => Geometry::MultiPoint(geo::MultiPoint(Vec::new())),
        Err(_) => return None,
    };
    let geometry = if crs == Crs::Epsg4326 { swapped(&geometry) } else { geometry };
    Some(LocatedGeometry { geometry, crs, format: GeometryFormat::Wkt })
}

/// Removes `EMPTY` members from lists, because the parser does not support them: `MULTIPOINT(EMPTY,(1 2))`.
fn without_empty_members(text: &str) -> String {
    let mut kept = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.char_indices().map(|(at, _)| at).find(|&at| is_empty_word(&rest[at..])) {
        kept.push_str(&rest[..at]);
        rest = &rest[at + EMPTY.len()..];
        let is_last = rest.trim_start().starts_with(')');
        match kept.trim_end().chars().next_back() {
            // It is the only member of its list.
            Some('(') if is_last => {
                kept.truncate(kept.trim_end().len() - 1);
                kept.push_str(" EMPTY");
                rest = &rest.trim_start()[1..];
            }
            Some('(') => rest = rest.trim_start().strip_prefix(',').unwrap_or(rest),
            Some(',') => kept.truncate(kept.trim_end().len() - 1),
            _ => kept.push_str(EMPTY),
        }
    }
    kept.push_str(rest);
    kept
}

const EMPTY: &str = "EMPTY";

fn is_empty_word(text: &str) -> bool {
    text.get(..EMPTY.len()).is_some_and(|word| word.eq_ignore_ascii_case(EMPTY))
}

fn is_empty_point(text: &str) -> bool {
    let words: Vec<_> = text.split_ascii_whitespace().collect();
    matches!(words.as_slice(), [first, .., last] if first.eq_ignore_ascii_case("point") && last.eq_ignore_ascii_case("empty"))
}

fn depth(text: &str) -> usize {
    let (mut depth, mut deepest) = (0_usize, 0);
    for b in text.bytes() {
        match b {
            b'(' => depth += 1,
            b')' => depth = depth.saturating_sub(1),
            _ => {}
        }
        deepest = deepest.max(depth);
    }
    deepest
}

fn swapped(geometry: &Geometry<f64>) -> Geometry<f64> {
    geometry.map_coords(|c| geo::Coord { x: c.y, y: c.x })
}

/// Returns the geometries of the first two arguments, the second converted to the system of the first.
pub(super) fn pair(arguments: &[Term]) -> Option<(LocatedGeometry, LocatedGeometry)> {
    let [a, b, ..] = arguments else { return None };
    let a = LocatedGeometry::from_term(a)?;
    let b = LocatedGeometry::from_term(b)?.to_system_of(&a)?;
    effort::of_two(&a.geometry, &b.geometry)?;
    Some((a, b))
}

/// Returns the geometry of the first argument.
pub(super) fn one(arguments: &[Term]) -> Option<LocatedGeometry> {
    LocatedGeometry::from_term(arguments.first()?)
}

/// Returns the IRI in an argument: an IRI, or a literal of type `xsd:anyURI` or string.
pub(super) fn iri(term: &Term) -> Option<&str> {
    match term {
        Term::NamedNode(node) => Some(node.as_str()),
        Term::Literal(literal) if literal.datatype() == xsd::ANY_URI || literal.datatype() == xsd::STRING => {
            Some(literal.value())
        }
        _ => None,
    }
}

/// Converts an IRI to a literal of type `xsd:anyURI`, the result type in the standard.
pub(super) fn any_uri(iri: &str) -> Term {
    Literal::new_typed_literal(iri, NamedNode::from(xsd::ANY_URI)).into()
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    pub(in super::super) fn wkt(text: &str) -> Term {
        Literal::new_typed_literal(text, WKT).into()
    }

    #[test]
    fn axes_follow_the_system() {
        let lon_lat = LocatedGeometry::from_term(&wkt("POINT(14.5 35.9)")).unwrap();
        let lat_lon = LocatedGeometry::from_term(&wkt(&format!("<{EPSG_4326}> POINT(35.9 14.5)"))).unwrap();
        assert_eq!(lon_lat.geometry, lat_lon.geometry);
        assert_eq!(lat_lon.to_term().unwrap(), wkt(&format!("<{EPSG_4326}> POINT(35.9 14.5)")));
        assert_eq!(lon_lat.with(lat_lon.geometry.clone()).to_term().unwrap(), wkt("POINT(14.5 35.9)"));
    }

    #[test]
    fn geojson_without_coordinates_is_no_geometry() {
        let read = |text: &str| LocatedGeometry::from_term(&Literal::new_typed_literal(text, GEOJSON).into());
        for text in [
            r#"{"type":"Point","coordinates":[1]}"#,
            r#"{"type":"Polygon","coordinates":[[[0,0],[1],[1,1],[0,0]]]}"#,
            r#"{"type":"GeometryCollection","geometries":[{"type":"MultiPoint","coordinates":[[]]}]}"#,
        ] {
            assert!(read(text).is_none(), "{text}");
        }
    }

    #[test]
    fn geojson_goes_through() {
        let text = r#"{"type":"Point","coordinates":[14.5,35.9]}"#;
        let located = LocatedGeometry::from_term(&Literal::new_typed_literal(text, GEOJSON).into()).unwrap();
        assert!(matches!(located.geometry, Geometry::Point(_)));
        assert_eq!(located.to_term().unwrap(), Literal::new_typed_literal(text, GEOJSON).into());
    }

    #[test]
    fn what_is_no_geometry_is_refused() {
        for text in ["POINT(1)", "POINT(NaN 1)", "POINT(1 2", "<x POINT(1 2)", "hello", "POINT(inf 1)"] {
            assert_eq!(LocatedGeometry::from_term(&wkt(text)), None, "{text}");
        }
        let deep = format!("{}POINT(1 2){}", "GEOMETRYCOLLECTION(".repeat(100_000), ")".repeat(100_000));
        assert_eq!(LocatedGeometry::from_term(&wkt(&deep)), None);
        assert_eq!(LocatedGeometry::from_term(&Literal::new_simple_literal("POINT(1 2)").into()), None);
    }

    #[test]
    fn nothing_is_a_geometry_too() {
        // JTS's TestRelatePA and TestRelateGC.
        for (text, points) in [
            ("MULTIPOINT(EMPTY,(0 0))", 1),
            ("MULTIPOINT ((1 2), empty , (3 4))", 2),
            ("MULTIPOINT((1 2),EMPTY)", 1),
            ("MULTIPOINT (EMPTY, EMPTY)", 0),
            ("GEOMETRYCOLLECTION (MULTIPOINT (EMPTY, (5 5)), POINT EMPTY, LINESTRING (1 9, 4 9))", 3),
        ] {
            let located = LocatedGeometry::from_term(&wkt(text)).unwrap_or_else(|| panic!("{text}"));
            assert_eq!(located.geometry.coords_count(), points, "{text}");
        }
        for text in ["", "POINT EMPTY", "POLYGON EMPTY", "GEOMETRYCOLLECTION EMPTY", "Point Z EMPTY"] {
            let located = LocatedGeometry::from_term(&wkt(text)).unwrap_or_else(|| panic!("{text}"));
            assert_eq!(located.geometry.coords_count(), 0, "{text}");
        }
    }
}
