//! Reads GML.

use geo::{Coord, Geometry, GeometryCollection, LineString, MultiLineString, MultiPoint, MultiPolygon, Point, Polygon};

use super::namespace::GmlNamespace;
use super::tree::GmlElement;

/// A parsed literal.
pub(in super::super) struct GmlDocument {
    /// The geometry, with coordinates in the order of the text.
    pub geometry: Geometry<f64>,
    /// The IRI of the reference system, if the literal names one.
    pub system: Option<String>,
    /// The namespace of the elements.
    pub namespace: GmlNamespace,
}

/// Parses a literal; returns `None` if it is not a geometry, has several reference systems, or curved edges. An empty
/// literal is an empty geometry (GeoSPARQL 1.0, requirement 16).
pub(in super::super) fn read(text: &str) -> Option<GmlDocument> {
    let text = text.trim();
    if text.is_empty() {
        return Some(GmlDocument { geometry: nothing(), system: None, namespace: GmlNamespace::Gml32 });
    }
    let root = GmlElement::parse(text)?;
    let namespace = root.namespace.as_deref().and_then(GmlNamespace::from_iri).unwrap_or(GmlNamespace::Gml32);
    let system = one_system(&root, None).ok()?.map(str::to_owned);
    Some(GmlDocument { geometry: geometry(&root, root.dimension)?, system, namespace })
}

/// Returns the reference system that an element and those in it have; an error if they have several.
fn one_system<'a>(element: &'a GmlElement, outer: Option<&'a str>) -> Result<Option<&'a str>, ()> {
    let mut system = outer;
    if let Some(own) = element.system.as_deref() {
        if outer.is_some_and(|outer| outer != own) {
            return Err(());
        }
        system = Some(own);
    }
    for child in &element.children {
        system = one_system(child, system)?;
    }
    Ok(system)
}

fn nothing() -> Geometry {
    Geometry::GeometryCollection(GeometryCollection(Vec::new()))
}

/// Converts an element to a geometry. `dimension` is the number of coordinates of a position, if an outer element
/// defines it.
fn geometry(element: &GmlElement, dimension: Option<usize>) -> Option<Geometry> {
    let dimension = element.dimension.or(dimension);
    Some(match element.name.as_str() {
        "Point" => match positions(element, dimension)?.as_slice() {
            // `geo` has no empty point; an empty multipoint behaves like one.
            [] => MultiPoint(Vec::new()).into(),
            [one] => Point(*one).into(),
            _ => return None,
        },
        "LineString" | "LinearRing" | "Curve" | "Ring" => line(element, dimension)?.into(),
        "Polygon" | "PolygonPatch" | "Triangle" | "Rectangle" => polygon(element, dimension)?.into(),
        "Surface" | "PolyhedralSurface" | "TriangulatedSurface" | "Tin" => {
            let patches = patches(element, dimension)?;
            match <[Polygon; 1]>::try_from(patches) {
                Ok([only]) => only.into(),
                Err(patches) => MultiPolygon(patches).into(),
            }
        }
        "MultiPoint" => {
            let points = members(element, dimension, &["pointMember", "pointMembers"])?;
            let points = points.into_iter().map(Point::try_from).collect::<Result<_, _>>().ok()?;
            MultiPoint(points).into()
        }
        "MultiLineString" | "MultiCurve" => {
            let lines = members(element, dimension, &["lineStringMember", "curveMember", "curveMembers"])?;
            let lines = lines.into_iter().map(LineString::try_from).collect::<Result<_, _>>().ok()?;
            MultiLineString(lines).into()
        }
        "MultiPolygon" | "MultiSurface" | "CompositeSurface" => {
            let mut all = Vec::new();
            for area in members(element, dimension, &["polygonMember", "surfaceMember", "surfaceMembers"])? {
                match area {
                    Geometry::Polygon(one) => all.push(one),
                    Geometry::MultiPolygon(several) => all.extend(several.0),
                    _ => return None,
                }
            }
            MultiPolygon(all).into()
        }
        "MultiGeometry" | "GeometryCollection" => {
            Geometry::GeometryCollection(members(element, dimension, &["geometryMember", "geometryMembers"])?.into())
        }
        "Envelope" | "Box" => {
            let corners = positions(element, dimension)?;
            let [a, b] = corners.as_slice() else { return None };
            geo::Rect::new(*a, *b).to_polygon().into()
        }
        _ => return None,
    })
}

/// Returns the geometries in the members of an element.
fn members(element: &GmlElement, dimension: Option<usize>, names: &[&str]) -> Option<Vec<Geometry>> {
    element.named(names).flat_map(|member| &member.children).map(|part| geometry(part, dimension)).collect()
}

/// Returns the line of a ring, a line string or a curve of straight segments.
fn line(element: &GmlElement, dimension: Option<usize>) -> Option<LineString> {
    let parts: Vec<_> = match element.name.as_str() {
        "Curve" => element.named(&["segments"]).flat_map(|segments| &segments.children).collect(),
        "Ring" => element.named(&["curveMember"]).map(GmlElement::only).collect::<Option<_>>()?,
        "LineString" | "LinearRing" | "LineStringSegment" => {
            return Some(LineString(positions(element, element.dimension.or(dimension))?));
        }
        _ => return None,
    };
    let mut all: Vec<Coord> = Vec::new();
    for part in parts {
        let mut next = line(part, element.dimension.or(dimension))?.0;
        // Each segment begins where the one before ends.
        if all.last().is_some() && all.last() == next.first() {
            next.remove(0);
        }
        all.append(&mut next);
    }
    Some(LineString(all))
}

/// Returns a polygon or a patch.
fn polygon(element: &GmlElement, dimension: Option<usize>) -> Option<Polygon> {
    let dimension = element.dimension.or(dimension);
    let ring = |side: &GmlElement| line(side.only()?, dimension);
    let mut outer = element.named(&["exterior", "outerBoundaryIs"]);
    let exterior = outer.next().map_or_else(|| Some(LineString(Vec::new())), ring)?;
    if outer.next().is_some() {
        return None;
    }
    let interiors = element.named(&["interior", "innerBoundaryIs"]).map(ring).collect::<Option<_>>()?;
    Some(Polygon::new(exterior, interiors))
}

/// Returns the patches of a surface.
fn patches(element: &GmlElement, dimension: Option<usize>) -> Option<Vec<Polygon>> {
    let lists = element.named(&["patches", "polygonPatches", "trianglePatches"]);
    let patch = |patch: &GmlElement| match patch.name.as_str() {
        "PolygonPatch" | "Triangle" | "Rectangle" => polygon(patch, dimension),
        _ => None,
    };
    lists.flat_map(|list| &list.children).map(patch).collect()
}

/// Returns the positions that an element lists, in the plane: a third coordinate is left out.
fn positions(element: &GmlElement, dimension: Option<usize>) -> Option<Vec<Coord>> {
    let mut all = Vec::new();
    for child in &element.children {
        let dimension = child.dimension.or(dimension);
        match child.name.as_str() {
            "posList" => add(&mut all, &numbers(&child.text)?, dimension.unwrap_or(2))?,
            "pos" | "lowerCorner" | "upperCorner" => {
                let numbers = numbers(&child.text)?;
                add(&mut all, &numbers, dimension.unwrap_or(numbers.len()))?;
            }
            "coordinates" => {
                for tuple in child.text.split_ascii_whitespace() {
                    let numbers: Vec<f64> = tuple.split(',').map(str::parse).collect::<Result<_, _>>().ok()?;
                    add(&mut all, &numbers, numbers.len())?;
                }
            }
            "coord" => {
                let number = |name| child.named(&[name]).next()?.text.trim().parse().ok();
                all.push(Coord { x: number("X")?, y: number("Y")? });
            }
            "pointProperty" | "pointMember" => all.extend(positions(child.only()?, dimension)?),
            _ => return None,
        }
    }
    Some(all)
}

fn numbers(text: &str) -> Option<Vec<f64>> {
    text.split_ascii_whitespace().map(|number| number.parse().ok()).collect()
}

/// Adds positions of `dimension` coordinates each.
fn add(all: &mut Vec<Coord>, numbers: &[f64], dimension: usize) -> Option<()> {
    if numbers.is_empty() {
        return Some(());
    }
    if !(2..=3).contains(&dimension) || !numbers.len().is_multiple_of(dimension) {
        return None;
    }
    all.extend(numbers.chunks_exact(dimension).filter_map(|position| match position {
        [x, y, ..] => Some(Coord { x: *x, y: *y }),
        _ => None,
    }));
    Some(())
}
