use geo::{CoordsIter, Geometry};
use oxrdf::{Literal, NamedNode, Term};

use super::super::geometry::tests::wkt;
use super::super::{Crs, GeometryFormat, LocatedGeometry, call, functions};
use super::GmlNamespace;

fn gml(text: &str) -> Term {
    let datatype = NamedNode::new_unchecked("http://www.opengis.net/ont/geosparql#gmlLiteral");
    Literal::new_typed_literal(text, datatype).into()
}

/// Returns the WKT of a GML literal.
fn as_wkt(text: &str) -> Option<String> {
    let located = LocatedGeometry::from_term(&gml(text))?;
    match (LocatedGeometry { format: GeometryFormat::Wkt, ..located }).to_term()? {
        Term::Literal(literal) => Some(literal.value().to_owned()),
        other => panic!("{other}"),
    }
}

const XMLNS: &str = "xmlns:gml=\"http://www.opengis.net/gml/3.2\"";

/// The examples of the elements in GML 3.2.1 (OGC 07-036, 10 and 11), its simple features profile (OGC 10-100r3) and,
/// for the older elements, GML 2.1.2 (OGC 02-069, 4.3).
#[test]
fn elements_of_all_versions() {
    let ring = "<gml:LinearRing><gml:posList>0 0 4 0 4 4 0 0</gml:posList></gml:LinearRing>";
    let hole = "<gml:LinearRing><gml:pos>2 1</gml:pos><gml:pos>3 1</gml:pos><gml:pos>3 2</gml:pos><gml:pos>2 1</gml:pos>\
                </gml:LinearRing>";
    let old = "<gml:LinearRing><gml:coordinates>0,0 4,0 4,4 0,0</gml:coordinates></gml:LinearRing>";
    let area = format!("<gml:Polygon><gml:exterior>{ring}</gml:exterior></gml:Polygon>");
    for (body, expected) in [
        ("<gml:Point><gml:pos>1 2</gml:pos></gml:Point>".to_owned(), "POINT(1 2)"),
        ("<gml:Point srsDimension='3'><gml:pos>1 2 3</gml:pos></gml:Point>".to_owned(), "POINT(1 2)"),
        ("<gml:Point><gml:coordinates>1.5,-2e1</gml:coordinates></gml:Point>".to_owned(), "POINT(1.5 -20)"),
        ("<gml:Point><gml:coord><gml:X>1</gml:X><gml:Y>2</gml:Y></gml:coord></gml:Point>".to_owned(), "POINT(1 2)"),
        ("<gml:LineString><gml:posList>1 2 3 4</gml:posList></gml:LineString>".to_owned(), "LINESTRING(1 2,3 4)"),
        (
            "<gml:LineString><gml:posList srsDimension='3'>1 2 0 3 4 0</gml:posList></gml:LineString>".to_owned(),
            "LINESTRING(1 2,3 4)",
        ),
        (
            "<gml:Curve><gml:segments><gml:LineStringSegment><gml:posList>1 2 3 4</gml:posList></gml:LineStringSegment>\
             <gml:LineStringSegment><gml:posList>3 4 5 6</gml:posList></gml:LineStringSegment></gml:segments></gml:Curve>"
                .to_owned(),
            "LINESTRING(1 2,3 4,5 6)",
        ),
        (area.clone(), "POLYGON((0 0,4 0,4 4,0 0))"),
        (
            format!(
                "<gml:Polygon><gml:exterior>{ring}</gml:exterior><gml:interior>{hole}</gml:interior></gml:Polygon>"
            ),
            "POLYGON((0 0,4 0,4 4,0 0),(2 1,3 1,3 2,2 1))",
        ),
        (
            format!("<gml:Polygon><gml:outerBoundaryIs>{old}</gml:outerBoundaryIs></gml:Polygon>"),
            "POLYGON((0 0,4 0,4 4,0 0))",
        ),
        (
            format!(
                "<gml:Surface><gml:patches><gml:PolygonPatch><gml:exterior>{ring}</gml:exterior></gml:PolygonPatch>\
                 </gml:patches></gml:Surface>"
            ),
            "POLYGON((0 0,4 0,4 4,0 0))",
        ),
        (
            "<gml:MultiPoint><gml:pointMember><gml:Point><gml:pos>1 2</gml:pos></gml:Point></gml:pointMember>\
             <gml:pointMembers><gml:Point><gml:pos>3 4</gml:pos></gml:Point></gml:pointMembers></gml:MultiPoint>"
                .to_owned(),
            "MULTIPOINT((1 2),(3 4))",
        ),
        (
            "<gml:MultiCurve><gml:curveMember><gml:LineString><gml:posList>1 2 3 4</gml:posList></gml:LineString>\
             </gml:curveMember></gml:MultiCurve>"
                .to_owned(),
            "MULTILINESTRING((1 2,3 4))",
        ),
        (
            format!("<gml:MultiSurface><gml:surfaceMember>{area}</gml:surfaceMember></gml:MultiSurface>"),
            "MULTIPOLYGON(((0 0,4 0,4 4,0 0)))",
        ),
        (
            format!("<gml:MultiGeometry><gml:geometryMember>{area}</gml:geometryMember></gml:MultiGeometry>"),
            "GEOMETRYCOLLECTION(POLYGON((0 0,4 0,4 4,0 0)))",
        ),
        (
            "<gml:Envelope><gml:lowerCorner>1 2</gml:lowerCorner><gml:upperCorner>3 4</gml:upperCorner></gml:Envelope>"
                .to_owned(),
            "POLYGON((3 2,3 4,1 4,1 2,3 2))",
        ),
    ] {
        assert_eq!(as_wkt(&body).as_deref(), Some(expected), "{body}");
        // What is written is read as the same.
        let located = LocatedGeometry::from_term(&gml(&body)).unwrap();
        let again = LocatedGeometry::from_term(&located.to_term().unwrap()).unwrap();
        assert_eq!(again.geometry, located.geometry, "{body}");
    }
}

/// GeoSPARQL 1.0 (OGC 11-052r4), requirements 12 and 16, and the names of OGC 07-092r3.
#[test]
fn systems_and_empty_geometries() {
    let point =
        |system: &str| format!("<gml:Point {XMLNS} srsName=\"{system}\"><gml:pos>35.9 14.5</gml:pos></gml:Point>");
    for system in ["http://www.opengis.net/def/crs/EPSG/0/4326", "urn:ogc:def:crs:EPSG::4326"] {
        let located = LocatedGeometry::from_term(&gml(&point(system))).unwrap();
        assert_eq!(located.crs, Crs::Epsg4326);
        assert_eq!(located.geometry, Geometry::Point(geo::Point::new(14.5, 35.9)));
    }
    assert_eq!(as_wkt(&point("urn:ogc:def:crs:OGC:1.3:CRS84")).unwrap(), "POINT(35.9 14.5)");
    assert_eq!(as_wkt(&point("urn:x")).unwrap(), "<urn:x> POINT(35.9 14.5)");
    for empty in
        ["", "  \n", "<Point><posList></posList></Point>", "<LineString><posList/></LineString>", "<MultiGeometry/>"]
    {
        let located = LocatedGeometry::from_term(&gml(empty)).unwrap_or_else(|| panic!("{empty}"));
        assert_eq!(located.geometry.coords_count(), 0, "{empty}");
        let (_, equals) = functions().find(|(name, _)| *name == "sfDisjoint").unwrap();
        assert_eq!(call(equals, &[gml(empty), wkt("POINT(1 2)")]), Some(Literal::from(true).into()), "{empty}");
    }
}

#[test]
fn what_is_no_gml_geometry_is_refused() {
    let member = "<gml:pointMember><gml:Point srsName='urn:b'><gml:pos>1 2</gml:pos></gml:Point></gml:pointMember>";
    for text in [
        "hello".to_owned(),
        "<gml:Point><gml:pos>1</gml:pos></gml:Point>".to_owned(),
        "<gml:Point><gml:pos>1 x</gml:pos></gml:Point>".to_owned(),
        "<gml:Point><gml:pos>1 2</gml:pos>".to_owned(),
        "<gml:Point><gml:pos>1 2</gml:pos></gml:Point><gml:Point/>".to_owned(),
        "<gml:LineString><gml:posList>1 2 3</gml:posList></gml:LineString>".to_owned(),
        "<gml:Point><gml:pos>1 NaN</gml:pos></gml:Point>".to_owned(),
        "<gml:Curve><gml:segments><gml:Arc><gml:posList>0 0 1 1 2 0</gml:posList></gml:Arc></gml:segments></gml:Curve>"
            .to_owned(),
        "<!DOCTYPE a [<!ENTITY e '1 2'>]><gml:Point><gml:pos>&e;</gml:pos></gml:Point>".to_owned(),
        format!("<gml:MultiPoint srsName='urn:a'>{member}</gml:MultiPoint>"),
        "<gml:MultiGeometry><gml:geometryMember>".repeat(100_000),
    ] {
        assert_eq!(LocatedGeometry::from_term(&gml(&text)), None, "{}", &text[..text.len().min(80)]);
    }
}

/// The mixed calls of WKT and GML: the result has the format and the system of the first argument.
#[test]
fn formats_mix() {
    let square = "<gml:Polygon xmlns:gml=\"http://www.opengis.net/ont/gml\" srsName=\"http://www.opengis.net/def/crs/OGC/1.3/CRS84\">\
                  <gml:exterior><gml:LinearRing><gml:posList>0 0 4 0 4 4 0 4 0 0</gml:posList></gml:LinearRing></gml:exterior>\
                  </gml:Polygon>";
    let called = |name: &str, arguments: &[Term]| {
        let (_, function) = functions().find(|(known, _)| *known == name).unwrap();
        call(function, arguments)
    };
    let same = Some(Literal::from(true).into());
    let polygon = wkt("POLYGON((0 0,4 0,4 4,0 4,0 0))");
    for name in ["sfEquals", "ehEquals", "rcc8eq"] {
        assert_eq!(called(name, &[gml(square), polygon.clone()]), same, "{name}");
        assert_eq!(called(name, &[polygon.clone(), gml(square)]), same, "{name}");
    }
    let boundary = "<gml:LineString xmlns:gml=\"http://www.opengis.net/ont/gml\" \
                    srsName=\"http://www.opengis.net/def/crs/OGC/1.3/CRS84\">\
                    <gml:posList>0 0 4 0 4 4 0 4 0 0</gml:posList></gml:LineString>";
    assert_eq!(called("boundary", &[gml(square)]), Some(gml(boundary)));
    assert_eq!(called("asWKT", &[gml(square)]), Some(polygon.clone()));
    let written = called("asGML", &[polygon.clone(), Literal::from("http://www.opengis.net/ont/gml").into()]);
    assert_eq!(written, Some(gml(square)));
    assert_eq!(called("asGML", &[polygon, Literal::from("GML 4").into()]), None);
    assert_eq!(GmlNamespace::from_iri("http://www.opengis.net/gml"), Some(GmlNamespace::Gml31));
}
