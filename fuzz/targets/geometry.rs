//! Literals of WKT, GML and GeoJSON: parsed, written, measured, and passed to every function of GeoSPARQL that accepts them.

use oxrdf::{Literal, NamedNode, Term};
use terrapin::sparql::geo::{self, LocatedGeometry};

pub const WORDS: &[&str] = &[
    "POINT(1 2)",
    "LINESTRING(",
    "POLYGON((",
    "MULTIPOLYGON(((",
    "GEOMETRYCOLLECTION(",
    "EMPTY",
    " Z ",
    " M ",
    "<http://www.opengis.net/def/crs/EPSG/0/4326>",
    "<http://www.opengis.net/def/crs/OGC/1.3/CRS84>",
    "))",
    ",",
    "1e308",
    "-1e-308",
    "NaN",
    "inf",
    "180",
    "-90",
    "{\"type\":\"Point\",\"coordinates\":[1,2]}",
    "\"type\":\"GeometryCollection\",\"geometries\":[",
    "\"coordinates\":[[",
    "]]",
    "\"bbox\":[",
    "\"crs\":{",
    "<gml:Polygon xmlns:gml=\"http://www.opengis.net/gml/3.2\">",
    "<gml:exterior><gml:LinearRing>",
    "<gml:posList srsDimension=\"3\">",
    "</gml:posList>",
];

pub fn seeds() -> Vec<Vec<u8>> {
    super::texts(&[
        "Point(20.01 10.01)",
        "<http://www.opengis.net/def/crs/EPSG/0/4326> LINESTRING(0 0, 10 10, 20 0)",
        "POLYGON((0 0,10 0,10 10,0 10,0 0),(2 2,2 4,4 4,4 2,2 2))",
        "MULTIPOLYGON(((0 0,1 0,1 1,0 0)),((5 5,6 5,6 6,5 5)))",
        "GEOMETRYCOLLECTION(POINT(1 1),LINESTRING(0 0,1 1),POLYGON((0 0,1 0,1 1,0 0)))",
        "MULTIPOINT((1 1),(2 2))",
        "POINT Z(1 2 3)",
        "POLYGON EMPTY",
        "<gml:Point><gml:pos>1 2</gml:pos></gml:Point>",
        "<gml:MultiCurve><gml:curveMember><gml:LineString><gml:posList>1 2 3 4</gml:posList></gml:LineString></gml:curveMember></gml:MultiCurve>",
        "{\"type\":\"Polygon\",\"coordinates\":[[[0,0],[10,0],[10,10],[0,0]]]}",
        "{\"type\":\"GeometryCollection\",\"geometries\":[{\"type\":\"Point\",\"coordinates\":[1,2]},{\"type\":\"MultiLineString\",\"coordinates\":[[[0,0],[1,1]]]}]}",
    ])
}

pub fn check(input: &[u8]) {
    let text = String::from_utf8_lossy(input);
    let datatype = match text.trim_start().as_bytes() {
        [b'{', ..] => "geoJSONLiteral",
        [b'<', next, ..] if text.contains("</") || *next == b'g' => "gmlLiteral",
        _ => "wktLiteral",
    };
    let datatype = NamedNode::new_unchecked(format!("http://www.opengis.net/ont/geosparql#{datatype}"));
    let term = Term::from(Literal::new_typed_literal(text.as_ref(), datatype));
    let Some(located) = LocatedGeometry::from_term(&term) else { return };
    if let Some(again) = located.to_term() {
        assert!(LocatedGeometry::from_term(&again).is_some(), "{again} cannot be read again");
    }
    let wkt = NamedNode::new_unchecked("http://www.opengis.net/ont/geosparql#wktLiteral");
    let other = Term::from(Literal::new_typed_literal("POLYGON((0 0,3 0,3 3,0 3,0 0))", wkt));
    let metre = Term::from(NamedNode::new_unchecked("http://www.opengis.net/def/uom/OGC/1.0/metre"));
    let number = Term::from(Literal::from(1.0));
    // The time of some functions for geometries with many corners is limited by the query, not by the parser.
    if text.len() > 2000 {
        return;
    }
    for (_, function) in geo::functions() {
        let all = [&[term.clone()][..], &[term.clone(), other.clone()], &[term.clone(), number.clone(), metre.clone()]];
        for arguments in all.into_iter().chain([&[term.clone(), other.clone(), metre.clone()][..]]) {
            let _ = geo::call(function, arguments);
        }
    }
}
