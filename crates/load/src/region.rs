//! Parses regions: a box, or a file of polygons in Osmosis' format (`.poly`) or GeoJSON.

use std::path::Path;

use geojson::{GeoJson, Geometry, GeometryValue};
use terrapin_osm::geometry::{BorderRule, Polygon, Segment};
use terrapin_osm::{BoundingBox, Coord};

use super::extract::ExtractRegion;

/// A ring of positions; the last is connected to the first.
type Ring = Vec<Coord>;

/// Parses a box west,south,east,north in degrees, as osmium does. If west is greater than east, the box crosses the
/// antimeridian.
///
/// # Errors
/// Returns a description of the mistake.
pub fn bbox(text: &str) -> Result<BoundingBox, String> {
    let sides: Vec<&str> = text.split(',').map(str::trim).collect();
    let [west, south, east, north] = sides[..] else {
        return Err("expected four numbers: west,south,east,north".to_owned());
    };
    let wrong = |error: &dyn std::fmt::Display| format!("{error}; expected west,south,east,north in degrees");
    let found = format!("{south},{west},{north},{east}").parse::<BoundingBox>();
    found.map_err(|error| match text.contains(|c: char| c.is_alphabetic()) {
        true => wrong(&"not four numbers"),
        false => wrong(&error.to_string().replace(": south,west,north,east", "")),
    })
}

/// Parses the polygons of a file with the even-odd rule: an area within two rings is outside.
///
/// # Errors
/// Returns a description of the mistake and its position.
pub fn polygons(path: &Path) -> Result<ExtractRegion, String> {
    let text = std::fs::read_to_string(path).map_err(|e| format!("{}: {e}", path.display()))?;
    let rings = if text.trim_start().starts_with('{') { of_geojson(&text) } else { of_poly(&text) };
    let rings = rings.map_err(|e| format!("{}: {e}", path.display()))?;
    if rings.is_empty() {
        return Err(format!("{}: no polygon in it", path.display()));
    }
    let segments = rings.iter().flat_map(|ring| {
        let next = ring.iter().cycle().skip(1);
        ring.iter().zip(next).filter(|(a, b)| a != b).map(|(&a, &b)| Segment { a, b })
    });
    Ok(ExtractRegion::Polygon(Polygon::new(BorderRule::ClosedWay, segments)))
}

/// Checks and converts a position.
fn position(lon: f64, lat: f64) -> Result<Coord, String> {
    if !(-180.0..=180.0).contains(&lon) || !(-90.0..=90.0).contains(&lat) {
        return Err(format!("{lon}, {lat} is out of range: write the longitude first, then the latitude"));
    }
    Ok(Coord { lat: (lat * 1e7).round() as i32, lon: (lon * 1e7).round() as i32 })
}

fn closed(ring: Ring) -> Result<Ring, String> {
    let distinct = ring.windows(2).filter(|pair| pair[0] != pair[1]).count();
    if distinct < 2 { Err("a ring of fewer than three positions".to_owned()) } else { Ok(ring) }
}

/// Parses the .poly format: a name; rings, each with a name, one position per line, and END; then END. A name with !
/// marks a hole, which the even-odd rule finds anyway.
fn of_poly(text: &str) -> Result<Vec<Ring>, String> {
    let (mut rings, mut ring, mut ended) = (Vec::new(), None::<Ring>, false);
    let mut lines = (1..).zip(text.lines().map(str::trim)).filter(|(_, line)| !line.is_empty());
    lines.next().ok_or("it is empty")?;
    for (number, line) in lines {
        let at = |error: String| format!("line {number}: {error}");
        let words: Vec<&str> = line.split_whitespace().collect();
        match (&mut ring, &words[..]) {
            _ if ended => return Err(at("unexpected text after the last END".to_owned())),
            (Some(_), ["END"]) => rings.push(closed(ring.take().unwrap_or_default()).map_err(at)?),
            (None, ["END"]) => ended = true,
            (Some(ring), [lon, lat, ..]) => {
                let number = |text: &str| text.parse().map_err(|_| format!("{text} is not a number"));
                ring.push(number(lon).and_then(|lon| position(lon, number(lat)?)).map_err(at)?);
            }
            (Some(_), _) => return Err(at("expected longitude and latitude, or END".to_owned())),
            (None, _) => ring = Some(Ring::new()),
        }
    }
    match ended {
        true => Ok(rings),
        false => Err("neither GeoJSON nor a complete .poly file: the closing END is missing".to_owned()),
    }
}

fn of_geojson(text: &str) -> Result<Vec<Ring>, String> {
    let mut geometries: Vec<Geometry> = match text.parse::<GeoJson>().map_err(|e| e.to_string())? {
        GeoJson::Geometry(geometry) => vec![geometry],
        GeoJson::Feature(feature) => feature.geometry.into_iter().collect(),
        GeoJson::FeatureCollection(all) => all.features.into_iter().filter_map(|feature| feature.geometry).collect(),
    };
    let mut rings = Vec::new();
    while let Some(geometry) = geometries.pop() {
        let polygons = match geometry.value {
            GeometryValue::Polygon { coordinates } => vec![coordinates],
            GeometryValue::MultiPolygon { coordinates } => coordinates,
            GeometryValue::GeometryCollection { geometries: more } => {
                geometries.extend(more);
                continue;
            }
            other => return Err(format!("a {}, but only polygons are supported", other.type_name())),
        };
        for ring in polygons.into_iter().flatten() {
            let position = |at: &geojson::Position| match at.as_slice() {
                [lon, lat, ..] => position(*lon, *lat),
                _ => Err("a position without two numbers".to_owned()),
            };
            rings.push(closed(ring.iter().map(position).collect::<Result<_, _>>()?)?);
        }
    }
    Ok(rings)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wrong(name: &str, text: &str) -> String {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join(name), text).unwrap();
        polygons(&folder.path().join(name)).unwrap_err()
    }

    #[test]
    fn boxes_are_as_osmium_has_them() {
        let malta = bbox("14.1,35.8, 14.6,36.1").unwrap();
        assert_eq!((malta.south, malta.west), (358_000_000, 141_000_000));
        assert!(bbox("178,-17,-179,-16").is_ok(), "across the antimeridian");
        for text in ["14,35,15", "14,35,15,x", "14,36,15,35", "14,35,15,95", "190,35,15,36"] {
            assert!(bbox(text).unwrap_err().contains("west,south,east,north"), "{text}");
        }
    }

    #[test]
    fn files_of_polygons_are_read() {
        let folder = tempfile::tempdir().unwrap();
        let square = "square\n1\n 0 0\n 1.0E+01 0\n 10 10\n 0 10\n 0 0\nEND\n!2\n 4 4\n 6 4\n 6 6\n 4 6\nEND\nEND\n";
        let geojson = r#"{"type": "FeatureCollection", "features": [{"type": "Feature", "properties": {}, "geometry":
            {"type": "Polygon", "coordinates": [[[0,0],[10,0],[10,10],[0,10],[0,0]],[[4,4],[6,4],[6,6],[4,6],[4,4]]]}}]}"#;
        for (name, text) in [("a.poly", square), ("a.geojson", geojson)] {
            std::fs::write(folder.path().join(name), text).unwrap();
            let ExtractRegion::Polygon(polygon) = polygons(&folder.path().join(name)).unwrap() else {
                panic!("a polygon")
            };
            let inside = |lon, lat| polygon.covers(position(lon, lat).unwrap());
            assert!(inside(1.0, 1.0) && inside(9.5, 5.0), "{name}");
            assert!(!inside(5.0, 5.0) && !inside(11.0, 5.0), "{name}");
        }
    }

    #[test]
    fn what_is_wrong_with_them_is_said() {
        assert!(wrong("a.poly", "").contains("it is empty"));
        assert!(wrong("a.poly", "a\n1\n 0 0\n 1 x\nEND\nEND\n").contains("line 4: x is not a number"));
        assert!(wrong("a.poly", "a\n1\n 0 0\n 1 91\nEND\nEND\n").contains("line 4: 1, 91 is out of range"));
        assert!(wrong("a.poly", "a\n1\n 0 0\n 1 1\nEND\nEND\n").contains("line 5: a ring of fewer than three"));
        assert!(wrong("a.poly", "a\n1\n 0 0\n 1 1\n 0 1\n").contains("neither GeoJSON nor a complete .poly file"));
        assert!(wrong("a.poly", "a\nEND\n").contains("no polygon in it"));
        assert!(wrong("a.json", "{\"type\": \"Point\", \"coordinates\": [1, 2]}").contains("a Point"));
        assert!(wrong("a.json", "{").contains("a.json"));
    }
}
