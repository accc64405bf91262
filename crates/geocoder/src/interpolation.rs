//! Locates houses on ways with `addr:interpolation`.

use terrapin_osm::geometry::metres;
use terrapin_osm::{Coord, ElementRef, ElementType, Ordinal, Osm, PairId};

use super::Details;
use super::house::NumberRange;
use super::nearby::{find_pair, pairs_of};
use super::spot::PlaceSpot;

/// The houses on a way with `addr:interpolation`.
#[derive(Debug, Clone)]
pub struct Interpolation {
    /// The street of the way, or of the houses at its nodes.
    pub street: Option<String>,
    /// The pieces between two houses: the line, and the numbers at its ends.
    parts: Vec<(Vec<Coord>, [u32; 2])>,
    steps: String,
    postcode: Option<String>,
}

impl Interpolation {
    /// Reads a way; `None` without the tag or without numbers at its nodes.
    pub fn of(osm: &Osm, way: Ordinal) -> Option<Interpolation> {
        let own = Details::of(osm, ElementType::Way, way);
        let steps = own.tag("addr:interpolation")?.to_owned();
        let (nodes, line) = osm.way(way);
        let numbers = pairs_of(osm, "addr:housenumber");
        let street_of =
            |details: &Details| details.tag("addr:street").or_else(|| details.tag("addr:place")).map(str::to_owned);
        let code_of = |details: &Details| details.tag("addr:postcode").map(str::to_owned);
        let (mut street, mut postcode) = (street_of(&own), code_of(&own));
        let mut parts: Vec<(Vec<Coord>, [u32; 2])> = Vec::new();
        let mut last: Option<(usize, u32)> = None;
        for (at, node) in nodes.iter().enumerate() {
            let Some((number, details)) = numbered(osm, node, &numbers) else { continue };
            street = street.or_else(|| street_of(&details));
            postcode = postcode.or_else(|| code_of(&details));
            if let Some((from, first)) = last
                && let Some(piece) = line.get(from..=at)
            {
                parts.push((piece.iter().copied().filter(|at| !at.is_missing()).collect(), [first, number]));
            }
            last = Some((at, number));
        }
        (!parts.is_empty()).then_some(Interpolation { street, parts, steps, postcode })
    }

    /// Returns the position of a house; `None` if the number is not interpolated.
    pub fn house(&self, number: u32) -> Option<PlaceSpot> {
        self.parts.iter().find_map(|(line, [a, b])| {
            let has = NumberRange::new(*a, *b, &self.steps)?.has(number) && number != *a && number != *b;
            let part = (f64::from(number) - f64::from(*a)) / (f64::from(*b) - f64::from(*a));
            has.then(|| along(line, part)).flatten()
        })
    }

    /// Returns number and position of the interpolated house nearest to a point.
    pub fn nearest(&self, at: Coord) -> Option<(u32, PlaceSpot)> {
        let mut best: Option<(f64, u32, PlaceSpot)> = None;
        for (line, [a, b]) in &self.parts {
            let Some(range) = NumberRange::new(*a, *b, &self.steps) else { continue };
            let number = f64::from(*a) + project(line, at) * (f64::from(*b) - f64::from(*a));
            let Some(number) = range.nearest(libm::round(number.max(0.0)) as u32) else { continue };
            let Some(spot) = self.house(number) else { continue };
            let away = metres(at.into(), spot.at.into());
            if best.as_ref().is_none_or(|(nearest, ..)| away < *nearest) {
                best = Some((away, number, spot));
            }
        }
        best.map(|(_, number, spot)| (number, spot))
    }

    /// Returns the tags of an interpolated house, in byte order.
    pub fn details(&self, number: u32) -> Details {
        let mut tags = vec![("addr:housenumber".to_owned(), number.to_string())];
        tags.extend(self.postcode.clone().map(|code| ("addr:postcode".to_owned(), code)));
        tags.extend(self.street.clone().map(|street| ("addr:street".to_owned(), street)));
        Details { tags }
    }
}

/// Returns the house number of a node, if it has only digits.
fn numbered(osm: &Osm, node: &ElementRef, numbers: &std::ops::Range<PairId>) -> Option<(u32, Details)> {
    let ordinal = node.ordinal()?;
    let (page, slot) = osm.place(ElementType::Node, ordinal);
    let page = osm.tag_page(ElementType::Node, page);
    let pair = find_pair(page.tags(slot), numbers)?;
    let number = osm.with_value(pair, |value| value.trim().parse().ok())?;
    Some((number, Details::of(osm, ElementType::Node, ordinal)))
}

/// Returns the distance of two points on a plane of degrees, in 1e-7 degrees. Nominatim places interpolated houses by
/// this measure.
fn degrees(a: Coord, b: Coord) -> f64 {
    libm::hypot(f64::from(b.lon) - f64::from(a.lon), f64::from(b.lat) - f64::from(a.lat))
}

/// Returns the point at a fraction of a line's length, from 0 to 1.
fn along(line: &[Coord], part: f64) -> Option<PlaceSpot> {
    let lengths: Vec<f64> = line.windows(2).map(|side| degrees(side[0], side[1])).collect();
    let mut left = lengths.iter().sum::<f64>() * part.clamp(0.0, 1.0);
    for (side, length) in line.windows(2).zip(&lengths) {
        if left <= *length {
            let part = if *length > 0.0 { left / length } else { 0.0 };
            let between = |a: i32, b: i32| libm::round(f64::from(a) + (f64::from(b) - f64::from(a)) * part) as i32;
            let at = Coord { lat: between(side[0].lat, side[1].lat), lon: between(side[0].lon, side[1].lon) };
            return Some(PlaceSpot::of_point(at));
        }
        left -= length;
    }
    line.last().map(|&at| PlaceSpot::of_point(at))
}

/// Returns the point of a line that is nearest to another point.
pub fn nearest_on(line: &[Coord], at: Coord) -> Option<Coord> {
    along(line, project(line, at)).map(|spot| spot.at)
}

/// Returns the fraction of a line's length nearest to a point, from 0 to 1.
fn project(line: &[Coord], at: Coord) -> f64 {
    let narrow = libm::cos(f64::from(at.lat) / 1e7 * std::f64::consts::PI / 180.0);
    let flat = |c: Coord| (f64::from(c.lon) * narrow, f64::from(c.lat));
    let (x, y) = flat(at);
    let (mut walked, mut nearest, mut place) = (0.0, f64::INFINITY, 0.0);
    for side in line.windows(2) {
        let ((ax, ay), (bx, by)) = (flat(side[0]), flat(side[1]));
        let (dx, dy) = (bx - ax, by - ay);
        let square = dx * dx + dy * dy;
        let part = if square > 0.0 { (((x - ax) * dx + (y - ay) * dy) / square).clamp(0.0, 1.0) } else { 0.0 };
        let (px, py) = (ax + dx * part - x, ay + dy * part - y);
        let length = degrees(side[0], side[1]);
        if px * px + py * py < nearest {
            (nearest, place) = (px * px + py * py, walked + length * part);
        }
        walked += length;
    }
    if walked > 0.0 { place / walked } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Nominatim's scenario "Find interpolations with multiple numbers": 2 and 18 at the ends, 10 in the middle.
    #[test]
    fn houses_stand_between_others() {
        let line = [(0, 0), (0, 100), (0, 400)].map(|(lat, lon)| Coord { lat, lon }).to_vec();
        let houses =
            Interpolation { street: None, parts: vec![(line, [2, 18])], steps: "even".to_owned(), postcode: None };
        let at = |number| houses.house(number).map(|spot| spot.at);
        assert_eq!(at(10), Some(Coord { lat: 0, lon: 200 }));
        assert_eq!([at(2), at(18), at(11), at(20)], [None; 4]);
        let near = |lon| houses.nearest(Coord { lat: 50, lon }).map(|(number, _)| number);
        assert_eq!([near(200), near(160)], [Some(10), Some(8)]);
    }
}
