//! Formats the shape of a place as GeoJSON, WKT, KML or the path of an SVG, optionally simplified.

use std::fmt::Write;

use serde_json::{Value, json};

use terrapin_budget as budget;
use terrapin_osm::Coord;
use terrapin_osm::outline::{Line, Outline};

/// The requested forms of a shape, and the threshold for its simplification.
#[derive(Debug, Clone, Copy, Default)]
pub struct ShapeOptions {
    pub geojson: bool,
    pub text: bool,
    pub kml: bool,
    pub svg: bool,
    /// In degrees; 0 keeps all points.
    pub threshold: f64,
}

impl ShapeOptions {
    /// Returns whether no form is requested.
    pub fn is_empty(&self) -> bool {
        !(self.geojson || self.text || self.kml || self.svg)
    }
}

/// A shape in the requested forms.
#[derive(Debug, Default)]
pub struct PlaceShape {
    pub geojson: Option<Value>,
    pub text: Option<String>,
    pub kml: Option<String>,
    pub svg: Option<String>,
}

impl PlaceShape {
    /// Simplifies an outline and formats it.
    pub fn of(mut outline: Outline, shapes: &ShapeOptions) -> PlaceShape {
        if shapes.threshold > 0.0 {
            simplify(&mut outline, shapes.threshold);
        }
        let told = |is_told: bool, form: fn(&Outline) -> String| is_told.then(|| form(&outline));
        PlaceShape {
            geojson: shapes.geojson.then(|| geojson(&outline)),
            text: told(shapes.text, wkt),
            kml: told(shapes.kml, kml),
            svg: told(shapes.svg, svg),
        }
    }
}

/// Returns longitude and latitude in degrees.
pub fn position(c: Coord) -> [f64; 2] {
    [f64::from(c.lon) / 1e7, f64::from(c.lat) / 1e7]
}

fn geojson(outline: &Outline) -> Value {
    let line = |line: &Line| {
        budget::checkpoints(line.len() * 4);
        Value::Array(line.iter().map(|c| json!(position(*c))).collect())
    };
    let polygon = |rings: &Vec<Line>| Value::Array(rings.iter().map(line).collect());
    match outline {
        Outline::Point(c) => json!({ "type": "Point", "coordinates": position(*c) }),
        Outline::Lines(all) => match all.as_slice() {
            [one] => json!({ "type": "LineString", "coordinates": line(one) }),
            all => json!({ "type": "MultiLineString", "coordinates": all.iter().map(line).collect::<Vec<_>>() }),
        },
        Outline::Polygons(all) => match all.as_slice() {
            [one] => json!({ "type": "Polygon", "coordinates": polygon(one) }),
            all => json!({ "type": "MultiPolygon", "coordinates": all.iter().map(polygon).collect::<Vec<_>>() }),
        },
    }
}

/// Formats positions: `each` writes one, and `between` is the separator.
fn row(line: &[Coord], between: &str, each: fn(&mut String, [f64; 2])) -> String {
    budget::checkpoints(line.len() * 2);
    let mut out = String::new();
    for (at, c) in line.iter().enumerate() {
        if at > 0 {
            out.push_str(between);
        }
        each(&mut out, position(*c));
    }
    out
}

fn wkt(outline: &Outline) -> String {
    let pairs = |line: &[Coord]| {
        row(line, ",", |out, [x, y]| {
            let _ = write!(out, "{x} {y}");
        })
    };
    let list = |parts: Vec<String>| format!("({})", parts.join(","));
    let polygon = |rings: &Vec<Line>| list(rings.iter().map(|ring| format!("({})", pairs(ring))).collect());
    match outline {
        Outline::Point(c) => format!("POINT({})", pairs(&[*c])),
        Outline::Lines(all) => match all.as_slice() {
            [one] => format!("LINESTRING({})", pairs(one)),
            all => format!("MULTILINESTRING{}", list(all.iter().map(|line| list(vec![pairs(line)])).collect())),
        },
        Outline::Polygons(all) => match all.as_slice() {
            [one] => format!("POLYGON{}", polygon(one)),
            all => format!("MULTIPOLYGON{}", list(all.iter().map(polygon).collect())),
        },
    }
}

fn kml(outline: &Outline) -> String {
    let coordinates = |line: &[Coord]| {
        let pairs = row(line, " ", |out, [x, y]| {
            let _ = write!(out, "{x},{y}");
        });
        format!("<coordinates>{pairs}</coordinates>")
    };
    let ring = |name: &str, line: &Line| format!("<{name}><LinearRing>{}</LinearRing></{name}>", coordinates(line));
    let polygon = |rings: &Vec<Line>| {
        let names = std::iter::once("outerBoundaryIs").chain(std::iter::repeat("innerBoundaryIs"));
        let rings: String = names.zip(rings).map(|(name, line)| ring(name, line)).collect();
        format!("<Polygon>{rings}</Polygon>")
    };
    match outline {
        Outline::Point(c) => format!("<Point>{}</Point>", coordinates(&[*c])),
        Outline::Lines(all) => {
            let line = |line: &Line| format!("<LineString>{}</LineString>", coordinates(line));
            match all.as_slice() {
                [one] => line(one),
                all => format!("<MultiGeometry>{}</MultiGeometry>", all.iter().map(line).collect::<String>()),
            }
        }
        Outline::Polygons(all) => match all.as_slice() {
            [one] => polygon(one),
            all => format!("<MultiGeometry>{}</MultiGeometry>", all.iter().map(polygon).collect::<String>()),
        },
    }
}

/// Returns the data of an SVG path, with north up; for a point, the center of a circle.
fn svg(outline: &Outline) -> String {
    fn pair(out: &mut String, [x, y]: [f64; 2]) {
        // Avoids `-0`.
        let _ = write!(out, "{x} {}", 0.0 - y);
    }
    let path = |line: &[Coord], end: &str| match line.split_first() {
        Some((first, rest)) => format!("M {} L {}{end}", row(&[*first], "", pair), row(rest, " ", pair)),
        None => String::new(),
    };
    match outline {
        Outline::Point(c) => {
            let [x, y] = position(*c);
            format!("cx=\"{x}\" cy=\"{}\"", 0.0 - y)
        }
        Outline::Lines(all) => all.iter().map(|line| path(line, "")).collect::<Vec<_>>().join(" "),
        Outline::Polygons(all) => {
            // `Z` closes the path: the last point is omitted.
            let rings = all.iter().flatten().map(|ring| path(&ring[..ring.len().saturating_sub(1)], " Z"));
            rings.collect::<Vec<_>>().join(" ")
        }
    }
}

/// Removes points by the Douglas-Peucker algorithm: no removed point is farther than `threshold` degrees from the
/// simplified line. Rings stay rings.
fn simplify(outline: &mut Outline, threshold: f64) {
    match outline {
        Outline::Point(_) => {}
        Outline::Lines(all) => {
            for line in all {
                let ends = [0, line.len().saturating_sub(1)];
                simplify_line(line, &ends, threshold);
            }
        }
        Outline::Polygons(all) => {
            for ring in all.iter_mut().flatten().filter(|ring| ring.len() > 4) {
                // At least three points of a ring are kept, so that it has an interior.
                let last = ring.len() - 1;
                let second = farthest(ring, 0, last).0;
                let [first, third] = [farthest(ring, 0, second), farthest(ring, second, last)];
                let middle = if first.1 > third.1 { first.0 } else { third.0 };
                let mut stays = [0, second, middle, last];
                stays.sort_unstable();
                simplify_line(ring, &stays, threshold);
            }
        }
    }
}

fn simplify_line(line: &mut Line, stays: &[usize], threshold: f64) {
    if line.len() < 3 {
        return;
    }
    let mut keep = vec![false; line.len()];
    stays.iter().for_each(|at| keep[*at] = true);
    let mut parts: Vec<(usize, usize)> = stays.windows(2).map(|ends| (ends[0], ends[1])).collect();
    while let Some((from, to)) = parts.pop() {
        let (at, distance) = farthest(line, from, to);
        if distance > threshold {
            keep[at] = true;
            parts.extend([(from, at), (at, to)]);
        }
    }
    let mut kept = keep.iter();
    line.retain(|_| kept.next().copied().unwrap_or(true));
}

/// Returns the point between two others that is farthest from the segment between them, with its distance in degrees.
fn farthest(line: &[Coord], from: usize, to: usize) -> (usize, f64) {
    budget::checkpoints(1 + to.saturating_sub(from));
    let ([ax, ay], [bx, by]) = (position(line[from]), position(line[to]));
    let (dx, dy) = (bx - ax, by - ay);
    let length = dx * dx + dy * dy;
    let mut found = (from, 0.0);
    for (at, &point) in line.iter().enumerate().take(to).skip(from + 1) {
        let [x, y] = position(point);
        let (px, py) = (x - ax, y - ay);
        let along = if length > 0.0 { ((px * dx + py * dy) / length).clamp(0.0, 1.0) } else { 0.0 };
        let (off_x, off_y) = (px - along * dx, py - along * dy);
        // A square root, unlike other functions, is identical on every machine.
        let distance = (off_x * off_x + off_y * off_y).sqrt();
        if distance > found.1 {
            found = (at, distance);
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(points: &[(i32, i32)]) -> Line {
        points.iter().map(|&(lat, lon)| Coord { lat: lat * 10_000_000, lon: lon * 10_000_000 }).collect()
    }

    fn square() -> Outline {
        let outer = line(&[(0, 0), (0, 5), (0, 10), (10, 10), (10, 0), (0, 0)]);
        let hole = line(&[(4, 4), (5, 4), (5, 5), (4, 5), (4, 4)]);
        Outline::Polygons(vec![vec![outer, hole]])
    }

    #[test]
    fn shapes_in_four_forms() {
        let way = Outline::Lines(vec![line(&[(1, 2), (3, 4), (0, 5)])]);
        assert_eq!(wkt(&way), "LINESTRING(2 1,4 3,5 0)");
        assert_eq!(kml(&way), "<LineString><coordinates>2,1 4,3 5,0</coordinates></LineString>");
        assert_eq!(svg(&way), "M 2 -1 L 4 -3 5 0");
        let point = Outline::Point(line(&[(1, 2)])[0]);
        assert_eq!(
            (kml(&point).as_str(), svg(&point).as_str()),
            ("<Point><coordinates>2,1</coordinates></Point>", "cx=\"2\" cy=\"-1\"")
        );
        assert_eq!(svg(&square()), "M 0 0 L 5 0 10 0 10 -10 0 -10 Z M 4 -4 L 4 -5 5 -5 5 -4 Z");
        assert!(kml(&square()).starts_with("<Polygon><outerBoundaryIs><LinearRing><coordinates>0,0 5,0 "));
        assert!(kml(&square()).contains("</outerBoundaryIs><innerBoundaryIs>"));
        let Outline::Polygons(mut all) = square() else { unreachable!() };
        all.push(all[0].clone());
        assert!(kml(&Outline::Polygons(all)).starts_with("<MultiGeometry><Polygon>"));
    }

    #[test]
    fn points_that_do_not_matter_are_left_out() {
        let simplified = |mut outline: Outline, threshold| {
            simplify(&mut outline, threshold);
            wkt(&outline)
        };
        assert_eq!(simplified(square(), 0.5), "POLYGON((0 0,10 0,10 10,0 10,0 0),(4 4,4 5,5 5,5 4,4 4))");
        // Three points stay, even with a very large threshold.
        let Outline::Polygons(all) = ({
            let mut outline = square();
            simplify(&mut outline, 1000.0);
            outline
        }) else {
            unreachable!()
        };
        assert!(all[0].iter().all(|ring| ring.len() >= 4 && ring.first() == ring.last()), "{all:?}");
        let bent = Outline::Lines(vec![line(&[(0, 0), (1, 1), (0, 2), (5, 3), (0, 4)])]);
        assert_eq!(simplified(bent.clone(), 2.0), "LINESTRING(0 0,3 5,4 0)");
        assert_eq!(simplified(bent, 100.0), "LINESTRING(0 0,4 0)");
    }
}
