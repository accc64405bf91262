//! Functions that measure a geometry or return one of its properties.

use std::borrow::Cow;

use geo::algorithm::line_measures::{Distance, Euclidean, Length};
use geo::{
    Area, BoundingRect, Coord, CoordsIter, Geometry, HasDimensions, LinesIter, MapCoords, dimensions::Dimensions,
};
use oxrdf::{Literal, Term};

use super::Function;
use super::geometry::{LocatedGeometry, any_uri, iri, one, pair};
use super::units::{LocalPlane, Unit, equal_area, great_circle};

pub(super) const FUNCTIONS: &[(&str, Function)] = &[
    ("area", |a| area(&one(a)?, unit(a, 1)?)),
    ("coordinateDimension", |a| one(a).map(|_| Literal::from(2).into())),
    ("dimension", dimension),
    ("distance", |a| distance(a, unit(a, 2)?)),
    ("geometryType", geometry_type),
    ("getSRID", |a| Some(any_uri(one(a)?.crs.iri()))),
    ("is3D", |a| one(a).map(|_| Literal::from(false).into())),
    ("isEmpty", |a| Some(Literal::from(one(a)?.geometry.is_empty()).into())),
    ("isMeasured", |a| one(a).map(|_| Literal::from(false).into())),
    ("length", |a| length(&one(a)?, unit(a, 1)?)),
    ("maxX", |a| corner(a, |b| b.max().x)),
    ("maxY", |a| corner(a, |b| b.max().y)),
    ("metricArea", |a| area(&one(a)?, Unit::Metres(1.0))),
    ("metricDistance", |a| distance(a, Unit::Metres(1.0))),
    ("metricLength", |a| length(&one(a)?, Unit::Metres(1.0))),
    ("metricPerimeter", |a| perimeter(&one(a)?, Unit::Metres(1.0))),
    ("minX", |a| corner(a, |b| b.min().x)),
    ("minY", |a| corner(a, |b| b.min().y)),
    ("numGeometries", num_geometries),
    ("perimeter", |a| perimeter(&one(a)?, unit(a, 1)?)),
    ("spatialDimension", |a| one(a).map(|_| Literal::from(2).into())),
];

fn double(value: f64) -> Option<Term> {
    value.is_finite().then(|| Literal::from(value).into())
}

/// Returns the unit in the last argument, which must be at position `at`.
fn unit(arguments: &[Term], at: usize) -> Option<Unit> {
    if arguments.len() > at + 1 {
        return None;
    }
    Unit::from_iri(iri(arguments.get(at)?)?)
}

/// Returns the distance between the nearest points of two geometries.
fn distance(arguments: &[Term], unit: Unit) -> Option<Term> {
    let (a, b) = pair(arguments)?;
    if a.geometry.is_empty() || b.geometry.is_empty() {
        return None;
    }
    let geographic = a.crs.is_geographic();
    let planar = |a: &Geometry, b: &Geometry| Euclidean.distance(a, b);
    double(match unit {
        Unit::Metres(m) if geographic => match (&a.geometry, &b.geometry) {
            (Geometry::Point(p), Geometry::Point(q)) => great_circle(p.0, q.0) / m,
            (g, h) => {
                let plane = LocalPlane::around([g, h])?;
                planar(&plane.flatten(g), &plane.flatten(&turned(g, h))) / m
            }
        },
        Unit::Degrees(d) if geographic => planar(&a.geometry, &b.geometry) / d,
        // Points on another globe, which Wikidata writes before the coordinates.
        Unit::Metres(m) => match (&a.geometry, &b.geometry) {
            (Geometry::Point(p), Geometry::Point(q)) => great_circle(p.0, q.0) * a.crs.relative_radius()? / m,
            _ => return None,
        },
        Unit::Own => planar(&a.geometry, &b.geometry),
        _ => return None,
    })
}

/// Returns `h` with its longitudes shifted by 360 degrees if it is nearer to `g` across the antimeridian. Both are in
/// degrees.
fn turned<'g>(g: &Geometry, h: &'g Geometry) -> Cow<'g, Geometry> {
    let (Some(a), Some(b)) = (g.bounding_rect(), h.bounding_rect()) else { return Cow::Borrowed(h) };
    let gap = |turn: f64| (b.min().x + turn - a.max().x).max(a.min().x - b.max().x - turn).max(0.0);
    let turns = [-360.0, 360.0].into_iter().filter(|turn| gap(*turn) < gap(0.0));
    match turns.min_by(|a, b| gap(*a).total_cmp(&gap(*b))) {
        Some(turn) => Cow::Owned(h.map_coords(|c| Coord { x: c.x + turn, y: c.y })),
        None => Cow::Borrowed(h),
    }
}

/// Returns the area in square metres of a geometry in degrees.
pub(crate) fn square_metres(geometry: &Geometry) -> f64 {
    equal_area(geometry).unsigned_area()
}

/// Returns the length in metres of the lines of a geometry in degrees.
pub(crate) fn metres(geometry: &Geometry) -> Option<f64> {
    sum(lines(geometry), true, Unit::Metres(1.0))
}

fn area(g: &LocatedGeometry, unit: Unit) -> Option<Term> {
    double(match unit {
        Unit::Metres(m) if g.crs.is_geographic() => square_metres(&g.geometry) / (m * m),
        Unit::Degrees(d) if g.crs.is_geographic() => g.geometry.unsigned_area() / (d * d),
        Unit::Own => g.geometry.unsigned_area(),
        _ => return None,
    })
}

/// Returns the length of lines, or of an area's boundary.
fn length(g: &LocatedGeometry, unit: Unit) -> Option<Term> {
    if g.geometry.dimensions() == Dimensions::TwoDimensional {
        return perimeter(g, unit);
    }
    double(sum(lines(&g.geometry), g.crs.is_geographic(), unit)?)
}

/// Returns the length of an area's boundary; 0 for other geometries.
fn perimeter(g: &LocatedGeometry, unit: Unit) -> Option<Term> {
    if g.geometry.dimensions() != Dimensions::TwoDimensional {
        return double(0.0);
    }
    double(sum(lines(&g.geometry), g.crs.is_geographic(), unit)?)
}

fn lines(geometry: &Geometry) -> Vec<geo::Line> {
    match geometry {
        Geometry::Point(_) | Geometry::MultiPoint(_) => Vec::new(),
        Geometry::Line(line) => vec![*line],
        Geometry::LineString(g) => g.lines_iter().collect(),
        Geometry::MultiLineString(g) => g.lines_iter().collect(),
        Geometry::Polygon(g) => g.lines_iter().collect(),
        Geometry::MultiPolygon(g) => g.lines_iter().collect(),
        Geometry::Rect(g) => g.lines_iter().collect(),
        Geometry::Triangle(g) => g.lines_iter().collect(),
        Geometry::GeometryCollection(g) => g.iter().flat_map(lines).collect(),
    }
}

/// Adds the lengths in the order of the segments, so that rounding is reproducible.
fn sum(lines: Vec<geo::Line>, geographic: bool, unit: Unit) -> Option<f64> {
    let planar = |lines: &[geo::Line]| lines.iter().map(|line| Euclidean.length(line)).sum::<f64>();
    Some(match unit {
        Unit::Metres(m) if geographic => lines.iter().map(|line| great_circle(line.start, line.end)).sum::<f64>() / m,
        Unit::Degrees(d) if geographic => planar(&lines) / d,
        Unit::Own => planar(&lines),
        _ => return None,
    })
}

/// Returns a side of the bounding box. Here, x is the first coordinate in the literal's own system.
fn corner(arguments: &[Term], side: fn(&geo::Rect) -> f64) -> Option<Term> {
    let g = one(arguments)?;
    let geometry = if g.crs == super::Crs::Epsg4326 {
        use geo::MapCoords;
        g.geometry.map_coords(|c| geo::Coord { x: c.y, y: c.x })
    } else {
        g.geometry
    };
    double(side(&geometry.bounding_rect()?))
}

fn dimension(arguments: &[Term]) -> Option<Term> {
    let dimension = match one(arguments)?.geometry.dimensions() {
        Dimensions::Empty => return None,
        Dimensions::ZeroDimensional => 0,
        Dimensions::OneDimensional => 1,
        Dimensions::TwoDimensional => 2,
    };
    Some(Literal::from(dimension).into())
}

fn geometry_type(arguments: &[Term]) -> Option<Term> {
    let name = match one(arguments)?.geometry {
        Geometry::Point(_) => "Point",
        Geometry::Line(_) | Geometry::LineString(_) => "LineString",
        Geometry::Polygon(_) | Geometry::Rect(_) => "Polygon",
        Geometry::MultiPoint(_) => "MultiPoint",
        Geometry::MultiLineString(_) => "MultiLineString",
        Geometry::MultiPolygon(_) => "MultiPolygon",
        Geometry::GeometryCollection(_) => "GeometryCollection",
        Geometry::Triangle(_) => "Triangle",
    };
    Some(any_uri(&format!("http://www.opengis.net/ont/sf#{name}")))
}

fn num_geometries(arguments: &[Term]) -> Option<Term> {
    let geometry = one(arguments)?.geometry;
    let count = match &geometry {
        Geometry::MultiPoint(g) => g.0.len(),
        Geometry::MultiLineString(g) => g.0.len(),
        Geometry::MultiPolygon(g) => g.0.len(),
        Geometry::GeometryCollection(g) => g.0.len(),
        _ => usize::from(geometry.coords_count() > 0),
    };
    Some(Literal::from(count as i64).into())
}

#[cfg(test)]
mod tests {
    use oxrdf::NamedNode;

    use super::super::geometry::tests::wkt;
    use super::super::{call, functions};
    use super::*;

    fn number(name: &str, arguments: &[Term]) -> f64 {
        let (_, function) = functions().find(|(n, _)| *n == name).unwrap();
        match call(function, arguments) {
            Some(Term::Literal(literal)) => literal.value().parse().unwrap(),
            other => panic!("{name}: {other:?}"),
        }
    }

    fn metre() -> Term {
        NamedNode::new_unchecked("http://www.opengis.net/def/uom/OGC/1.0/metre").into()
    }

    #[test]
    fn metres_on_the_sphere() {
        // A degree of the equator is 111,195 m on a sphere of 6,371,008.8 m.
        let degree = number("distance", &[wkt("POINT(0 0)"), wkt("POINT(1 0)"), metre()]);
        assert!((degree - 111_195.08).abs() < 0.01, "{degree}");
        let from_line = number("metricDistance", &[wkt("POINT(0 0)"), wkt("LINESTRING(0.01 -1,0.01 1)")]);
        assert!((from_line - 1_111.95).abs() < 0.01, "{from_line}");
        // Across the antimeridian, in both orders of the arguments.
        let (west, east) = (wkt("POINT(179.995 0)"), wkt("LINESTRING(-179.995 -1,-179.995 1)"));
        for pair in [[west.clone(), east.clone()], [east, west]] {
            let across = number("metricDistance", &pair);
            assert!((across - 1_111.95).abs() < 0.01, "{across}");
        }
        let length = number("metricLength", &[wkt("LINESTRING(0 0,1 0,1 1)")]);
        assert!((length - 2.0 * degree).abs() < 0.01, "{length}");
        let square = "POLYGON((14 35,14.01 35,14.01 35.01,14 35.01,14 35))";
        let area = number("metricArea", &[wkt(square)]);
        let side = degree / 100.0;
        assert!((area / (side * side * libm::cos(35.005_f64.to_radians())) - 1.0).abs() < 1e-6, "{area}");
        let around = number("metricPerimeter", &[wkt(square)]);
        assert!((around / (side * (2.0 + 2.0 * libm::cos(35.005_f64.to_radians()))) - 1.0).abs() < 1e-6, "{around}");
    }

    #[test]
    fn counts_and_kinds() {
        assert_eq!(number("numGeometries", &[wkt("MULTIPOINT((1 2),(3 4))")]), 2.0);
        assert_eq!(number("dimension", &[wkt("LINESTRING(1 2,3 4)")]), 1.0);
        assert_eq!(number("maxY", &[wkt("LINESTRING(1 2,3 4)")]), 4.0);
        assert_eq!(call(geometry_type, &[wkt("POINT(1 2)")]), Some(any_uri("http://www.opengis.net/ont/sf#Point")));
        assert_eq!(call(dimension, &[wkt("")]), None);
    }

    #[test]
    fn a_unit_must_be_known_and_fit() {
        let points = [wkt("POINT(0 0)"), wkt("POINT(1 0)")];
        let in_unit = |unit: &str| distance(&points, Unit::from_iri(unit)?);
        assert_eq!(in_unit("http://www.opengis.net/def/uom/OGC/1.0/degree"), Some(Literal::from(1.0).into()));
        assert_eq!(in_unit("http://www.opengis.net/def/uom/OGC/1.0/parsec"), None);
        let planar = "<http://www.opengis.net/def/crs/EPSG/0/3857> POINT(0 0)";
        assert_eq!(distance(&[wkt(planar), wkt(planar)], Unit::Metres(1.0)), None);
        assert_eq!(distance(&[wkt(planar), wkt("POINT(0 0)")], Unit::Own), None);
    }
}
