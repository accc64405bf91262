//! Writes GML, with the elements that 3.1 and 3.2 share.

use std::fmt::Write;

use geo::{Coord, Geometry, LineString, Point, Polygon};
use quick_xml::escape::escape;

use super::namespace::GmlNamespace;

/// Writes a geometry. Coordinates are written in their order in the geometry.
pub(in super::super) fn write(geometry: &Geometry, system: &str, namespace: GmlNamespace) -> String {
    let mut writer = GmlWriter { text: String::new() };
    let head = format!(" xmlns:gml=\"{}\" srsName=\"{}\"", namespace.iri(), escape(system));
    writer.geometry(geometry, &head);
    writer.text
}

struct GmlWriter {
    text: String,
}

impl GmlWriter {
    /// Writes an element. `attributes` begins with a space or is empty.
    fn element(&mut self, name: &str, attributes: &str, content: impl FnOnce(&mut Self)) {
        self.put(format_args!("<gml:{name}{attributes}>"));
        content(self);
        self.put(format_args!("</gml:{name}>"));
    }

    fn put(&mut self, text: std::fmt::Arguments<'_>) {
        // Writing to a string cannot fail.
        let _ = self.text.write_fmt(text);
    }

    fn geometry(&mut self, geometry: &Geometry, attributes: &str) {
        match geometry {
            Geometry::Point(point) => self.point(point, attributes),
            Geometry::Line(line) => self.line(&LineString::from(*line), attributes),
            Geometry::LineString(line) => self.line(line, attributes),
            Geometry::Polygon(polygon) => self.polygon(polygon, attributes),
            Geometry::Rect(rect) => self.polygon(&rect.to_polygon(), attributes),
            Geometry::Triangle(triangle) => self.polygon(&triangle.to_polygon(), attributes),
            Geometry::MultiPoint(all) => self.members("MultiPoint", "pointMember", attributes, &all.0, Self::point),
            Geometry::MultiLineString(all) => self.members("MultiCurve", "curveMember", attributes, &all.0, Self::line),
            Geometry::MultiPolygon(all) => {
                self.members("MultiSurface", "surfaceMember", attributes, &all.0, Self::polygon);
            }
            Geometry::GeometryCollection(all) => {
                self.members("MultiGeometry", "geometryMember", attributes, &all.0, Self::geometry);
            }
        }
    }

    fn members<T>(&mut self, name: &str, member: &str, attributes: &str, all: &[T], write: fn(&mut Self, &T, &str)) {
        self.element(name, attributes, |writer| {
            for one in all {
                writer.element(member, "", |writer| write(writer, one, ""));
            }
        });
    }

    fn point(&mut self, point: &Point, attributes: &str) {
        self.element("Point", attributes, |writer| writer.list("pos", std::slice::from_ref(&point.0)));
    }

    fn line(&mut self, line: &LineString, attributes: &str) {
        self.element("LineString", attributes, |writer| writer.list("posList", &line.0));
    }

    fn polygon(&mut self, polygon: &Polygon, attributes: &str) {
        self.element("Polygon", attributes, |writer| {
            let exterior = (!polygon.exterior().0.is_empty()).then_some(("exterior", polygon.exterior()));
            for (side, ring) in exterior.into_iter().chain(polygon.interiors().iter().map(|ring| ("interior", ring))) {
                writer.element(side, "", |writer| {
                    writer.element("LinearRing", "", |writer| writer.list("posList", &ring.0));
                });
            }
        });
    }

    fn list(&mut self, name: &str, positions: &[Coord]) {
        self.element(name, "", |writer| {
            for (at, position) in positions.iter().enumerate() {
                let space = if at > 0 { " " } else { "" };
                writer.put(format_args!("{space}{} {}", position.x, position.y));
            }
        });
    }
}
