//! Functions that construct geometries from others.

use geo::{
    BoundingRect, Buffer, Centroid, ConvexHull, CoordsIter, Geometry, GeometryCollection, LineString, MultiLineString,
    MultiPoint, Point,
};
use oxrdf::{Literal, Term};
use oxsdatatypes::Double;

use super::geometry::{Crs, GeometryFormat, LocatedGeometry, iri, one, pair};
use super::gml::GmlNamespace;
use super::overlay::OverlayOperation;
use super::units::{LocalPlane, Unit};
use super::{Function, effort};

pub(super) const FUNCTIONS: &[(&str, Function)] = &[
    ("asGeoJSON", as_geojson),
    ("asGML", as_gml),
    ("asWKT", |a| LocatedGeometry { format: GeometryFormat::Wkt, ..one(a)? }.to_term()),
    ("boundary", |a| of_one(a, boundary)),
    ("buffer", |a| buffer(a, Unit::from_iri(iri(a.get(2)?)?)?)),
    ("centroid", |a| of_one(a, |g| Some(g.centroid().map_or_else(nothing, Geometry::from)))),
    ("convexHull", |a| of_one(a, convex_hull)),
    ("difference", |a| of_two(a, OverlayOperation::Difference)),
    ("envelope", |a| of_one(a, envelope)),
    ("geometryN", geometry_n),
    ("intersection", |a| of_two(a, OverlayOperation::Intersection)),
    ("metricBuffer", |a| buffer(a, Unit::Metres(1.0))),
    ("symDifference", |a| of_two(a, OverlayOperation::SymDifference)),
    ("transform", transform),
    ("union", |a| of_two(a, OverlayOperation::Union)),
];

fn of_one(arguments: &[Term], make: fn(&Geometry) -> Option<Geometry>) -> Option<Term> {
    let g = one(arguments)?;
    g.with(make(&g.geometry)?).to_term()
}

fn of_two(arguments: &[Term], operation: OverlayOperation) -> Option<Term> {
    let (a, b) = pair(arguments)?;
    a.with(operation.of(&a.geometry, &b.geometry)?).to_term()
}

fn nothing() -> Geometry {
    Geometry::GeometryCollection(GeometryCollection(Vec::new()))
}

fn as_geojson(arguments: &[Term]) -> Option<Term> {
    let g = one(arguments)?;
    let known = g.crs.is_geographic();
    known.then_some(LocatedGeometry { format: GeometryFormat::GeoJson, crs: Crs::Crs84, ..g })?.to_term()
}

/// Evaluates `geof:asGML(geometry, profile)`. The profile is the namespace of a version of GML; default: GML 3.2.
fn as_gml(arguments: &[Term]) -> Option<Term> {
    let namespace = match arguments {
        [_] => GmlNamespace::Gml32,
        [_, profile] => GmlNamespace::from_iri(iri(profile)?)?,
        _ => return None,
    };
    LocatedGeometry { format: GeometryFormat::Gml(namespace), ..one(arguments)? }.to_term()
}

fn transform(arguments: &[Term]) -> Option<Term> {
    let [_, system] = arguments else { return None };
    let g = one(arguments)?;
    let target = LocatedGeometry { crs: Crs::from_iri(iri(system)?), ..g.clone() };
    g.to_system_of(&target)?.to_term()
}

pub(super) fn envelope(g: &Geometry) -> Option<Geometry> {
    Some(match g.bounding_rect() {
        Some(rect) if rect.width() == 0.0 && rect.height() == 0.0 => Point(rect.min()).into(),
        Some(rect) if rect.width() == 0.0 || rect.height() == 0.0 => LineString(vec![rect.min(), rect.max()]).into(),
        Some(rect) => rect.to_polygon().into(),
        None => nothing(),
    })
}

pub(super) fn convex_hull(g: &Geometry) -> Option<Geometry> {
    let hull = g.convex_hull();
    // If all points are on one line, the hull is a line or a point. The library returns a flat polygon for these.
    let mut corners: Vec<_> = hull.exterior().coords().copied().collect();
    corners.sort_by(|a, b| a.x.total_cmp(&b.x).then(a.y.total_cmp(&b.y)));
    corners.dedup();
    Some(match corners.as_slice() {
        [] => nothing(),
        [a] => Point(*a).into(),
        [a, b] => LineString(vec![*a, *b]).into(),
        _ => hull.into(),
    })
}

/// Returns the boundary: the ends of lines (by the mod-2 rule), the rings of areas. For points, it is empty.
fn boundary(g: &Geometry) -> Option<Geometry> {
    let rings = |polygons: &[geo::Polygon]| -> Geometry {
        let mut rings: Vec<LineString> =
            polygons.iter().flat_map(|p| std::iter::once(p.exterior()).chain(p.interiors())).cloned().collect();
        if rings.len() == 1 { rings.remove(0).into() } else { MultiLineString(rings).into() }
    };
    Some(match g {
        Geometry::Point(_) | Geometry::MultiPoint(_) => nothing(),
        Geometry::Line(line) => ends(&[LineString::from(*line)]),
        Geometry::LineString(line) => ends(std::slice::from_ref(line)),
        Geometry::MultiLineString(lines) => ends(&lines.0),
        Geometry::Polygon(polygon) => rings(std::slice::from_ref(polygon)),
        Geometry::MultiPolygon(polygons) => rings(&polygons.0),
        Geometry::Rect(rect) => rings(&[rect.to_polygon()]),
        Geometry::Triangle(triangle) => rings(&[triangle.to_polygon()]),
        // The standard does not define it.
        Geometry::GeometryCollection(_) => return None,
    })
}

fn ends(lines: &[LineString]) -> Geometry {
    let mut ends: Vec<_> = lines.iter().flat_map(|l| [l.0.first(), l.0.last()]).flatten().copied().collect();
    ends.sort_by(|a, b| a.x.total_cmp(&b.x).then(a.y.total_cmp(&b.y)));
    let odd: Vec<Point> = ends
        .chunk_by(|a, b| a == b)
        .filter(|c| c.len() % 2 == 1)
        .filter_map(|c| c.first())
        .map(|&c| Point(c))
        .collect();
    if odd.is_empty() { nothing() } else { MultiPoint(odd).into() }
}

/// Evaluates `geof:buffer(geometry, radius, unit)`.
fn buffer(arguments: &[Term], unit: Unit) -> Option<Term> {
    let g = one(arguments)?;
    let Some(Term::Literal(radius)) = arguments.get(1) else { return None };
    let radius = f64::from(radius.value().parse::<Double>().ok()?);
    if !radius.is_finite() {
        return None;
    }
    if g.geometry.coords_count() == 0 {
        return g.with(nothing()).to_term();
    }
    let made: Geometry = match unit {
        Unit::Metres(m) if g.crs.is_geographic() => {
            let plane = LocalPlane::around([&g.geometry])?;
            plane.unflatten(&widened(&plane.flatten(&g.geometry), radius * m)?)
        }
        Unit::Degrees(d) if g.crs.is_geographic() => widened(&g.geometry, radius * d)?,
        Unit::Own => widened(&g.geometry, radius)?,
        _ => return None,
    };
    g.with(made).to_term()
}

/// Returns the buffer of a geometry by a distance in its own units.
fn widened(g: &Geometry, distance: f64) -> Option<Geometry> {
    effort::of_buffer(g, distance)?;
    Some(simplest(g.buffer(distance)))
}

fn simplest(mut areas: geo::MultiPolygon) -> Geometry {
    match areas.0.len() {
        0 => nothing(),
        1 => areas.0.remove(0).into(),
        _ => areas.into(),
    }
}

/// Evaluates `geof:geometryN(geometry, n)`; the first geometry is 1.
fn geometry_n(arguments: &[Term]) -> Option<Term> {
    let [_, Term::Literal(n)] = arguments else { return None };
    let g = one(arguments)?;
    let at = literal_index(n)?;
    let part: Geometry = match &g.geometry {
        Geometry::MultiPoint(all) => (*all.0.get(at)?).into(),
        Geometry::MultiLineString(all) => all.0.get(at)?.clone().into(),
        Geometry::MultiPolygon(all) => all.0.get(at)?.clone().into(),
        Geometry::GeometryCollection(all) => all.0.get(at)?.clone(),
        single => (at == 0).then(|| single.clone())?,
    };
    g.with(part).to_term()
}

fn literal_index(n: &Literal) -> Option<usize> {
    n.value().parse::<usize>().ok()?.checked_sub(1)
}

#[cfg(test)]
mod tests {
    use oxrdf::NamedNode;

    use super::super::geometry::tests::wkt;
    use super::super::{call, functions};
    use super::*;

    fn made(name: &str, arguments: &[Term]) -> Option<String> {
        let (_, function) = functions().find(|(n, _)| *n == name).unwrap();
        match call(function, arguments)? {
            Term::Literal(literal) => Some(literal.value().to_string()),
            other => panic!("{name}: {other}"),
        }
    }

    #[test]
    fn shapes_of_one_geometry() {
        let line = [wkt("LINESTRING(0 0,2 0,2 2)")];
        assert_eq!(made("boundary", &line).unwrap(), "MULTIPOINT((0 0),(2 2))");
        assert_eq!(made("envelope", &line).unwrap(), "POLYGON((2 0,2 2,0 2,0 0,2 0))");
        assert_eq!(made("convexHull", &line).unwrap(), "POLYGON((0 0,2 0,2 2,0 0))");
        assert_eq!(made("centroid", &line).unwrap(), "POINT(1.5 0.5)");
        // JTS's TestCentroid: the centroid of an empty geometry is empty.
        assert_eq!(made("centroid", &[wkt("POLYGON EMPTY")]).unwrap(), "GEOMETRYCOLLECTION EMPTY");
        assert_eq!(made("boundary", &[wkt("LINESTRING(0 0,2 0,2 2,0 0)")]).unwrap(), "GEOMETRYCOLLECTION EMPTY");
        assert_eq!(made("convexHull", &[wkt("MULTIPOINT((0 0),(0 0))")]).unwrap(), "POINT(0 0)");
        assert_eq!(
            made("geometryN", &[wkt("MULTIPOINT((1 2),(3 4))"), Literal::from(2).into()]).unwrap(),
            "POINT(3 4)"
        );
        assert_eq!(made("geometryN", &[wkt("POINT(3 4)"), Literal::from(2).into()]), None);
    }

    #[test]
    fn a_buffer_is_as_wide_as_it_says() {
        let metre = NamedNode::new_unchecked("http://www.opengis.net/def/uom/OGC/1.0/metre");
        let point = wkt("POINT(14.5 60)");
        let circle = made("buffer", &[point.clone(), Literal::from(1000).into(), metre.clone().into()]).unwrap();
        let (_, area) = functions().find(|(n, _)| *n == "metricArea").unwrap();
        let Some(Term::Literal(area)) = area(&[wkt(&circle)]) else { panic!() };
        let area: f64 = area.value().parse().unwrap();
        assert!((area / (1e6 * std::f64::consts::PI) - 1.0).abs() < 0.02, "{area}");
        assert_eq!(made("buffer", &[point, Literal::from("wide").into(), metre.into()]), None);
    }

    #[test]
    fn systems_and_forms() {
        let system = NamedNode::new_unchecked("http://www.opengis.net/def/crs/EPSG/0/4326");
        assert_eq!(
            made("transform", &[wkt("POINT(14.5 35.9)"), system.into()]).unwrap(),
            "<http://www.opengis.net/def/crs/EPSG/0/4326> POINT(35.9 14.5)"
        );
        assert_eq!(made("asGeoJSON", &[wkt("POINT(1 2)")]).unwrap(), r#"{"type":"Point","coordinates":[1.0,2.0]}"#);
    }
}
