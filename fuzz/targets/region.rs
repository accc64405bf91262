//! Regions for extracts: boxes, polygons in Osmosis' format and GeoJSON.

use terrapin::load::extract::ExtractRegion;
use terrapin::load::region;

pub const WORDS: &[&str] = &[
    "END\n",
    "!2\n",
    " 1.0E+01 2\n",
    "-180",
    "90",
    "NaN",
    "1e400",
    "{\"type\":\"Polygon\",\"coordinates\":[[",
    "{\"type\":\"GeometryCollection\",\"geometries\":[",
    "{\"type\":\"FeatureCollection\",\"features\":[",
    "[0,0],",
    "]]}",
    "null",
];

pub fn seeds() -> Vec<Vec<u8>> {
    super::texts(&[
        "a\n1\n 0 0\n 10 0\n 10 10\nEND\n!2\n 4 4\n 6 4\n 6 6\nEND\nEND\n",
        "{\"type\":\"Feature\",\"properties\":{},\"geometry\":{\"type\":\"MultiPolygon\",\"coordinates\":[[[[0,0],[1,0],[1,1],[0,0]]]]}}",
        "14.1,35.8,14.6,36.1",
    ])
}

pub fn check(input: &[u8]) {
    if let Ok(text) = std::str::from_utf8(input) {
        let _ = region::bbox(text);
    }
    if let Ok(ExtractRegion::Polygon(polygon)) = region::polygons(&super::town::file("input.poly", input)) {
        assert!(!polygon.is_empty());
    }
}
