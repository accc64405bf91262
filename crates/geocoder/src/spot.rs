//! Locates an element: its box, and the point for its address.

use terrapin_budget as budget;
use terrapin_osm::outline::{Line, Outline};
use terrapin_osm::{BoundingBox, Coord, ElementType, Ordinal, Osm};

/// Half of a full circle, and a full circle, in 1e-7 degrees.
const HALF: i64 = 1_800_000_000;
const TURN: i64 = 2 * HALF;

/// The position of an element.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PlaceSpot {
    /// The box around it; west is more than east if it crosses the antimeridian.
    pub bounds: BoundingBox,
    /// A node's position; of an open way a point on it; else the centroid, or a point inside if that is outside.
    pub at: Coord,
}

impl PlaceSpot {
    /// Locates an element; `None` for a node without coordinates, and for a relation without an area that is not a
    /// river.
    pub fn of(osm: &Osm, kind: ElementType, ordinal: Ordinal) -> Option<PlaceSpot> {
        match kind {
            ElementType::Node => {
                let at = osm.coords(&[ordinal]).first().copied().filter(|at| !at.is_missing())?;
                Some(PlaceSpot::of_point(at))
            }
            ElementType::Way => {
                let (page, slot) = osm.place(kind, ordinal);
                let page = osm.way_page(page);
                let line: Vec<Coord> = page.coords(slot).iter().copied().filter(|at| !at.is_missing()).collect();
                let bounds = bounds_of(line.iter());
                let closed = line.len() > 3 && line.first() == line.last();
                let on_line = *line.get(line.len() / 2)?;
                let at = if closed { inner_point(&[vec![line]]).unwrap_or_else(|| middle(&bounds)) } else { on_line };
                Some(PlaceSpot { bounds, at })
            }
            ElementType::Relation => {
                let areas = osm.areas();
                let Some(area) = areas.of_relation(ordinal) else { return waterway(osm, ordinal) };
                let bounds = areas.bbox(area);
                if i64::from(bounds.east) - i64::from(bounds.west) > HALF {
                    // The box of an area across the antimeridian goes around the world.
                    return PlaceSpot::inside(osm, kind, ordinal);
                }
                Some(PlaceSpot { bounds, at: middle(&bounds) })
            }
        }
    }

    /// Locates an element; the point of an area is inside of it.
    pub fn inside(osm: &Osm, kind: ElementType, ordinal: Ordinal) -> Option<PlaceSpot> {
        let polygons = match Outline::of(osm, kind, ordinal) {
            Some(Outline::Polygons(polygons)) if !polygons.is_empty() => polygons,
            _ => {
                return if kind == ElementType::Relation {
                    plain(osm, ordinal)
                } else {
                    PlaceSpot::of(osm, kind, ordinal)
                };
            }
        };
        budget::checkpoints(polygons.iter().flatten().map(Vec::len).sum::<usize>() >> 6);
        let bounds = bounds_of(polygons.iter().flatten().flatten());
        Some(PlaceSpot { bounds, at: inner_point(&polygons).unwrap_or_else(|| middle(&bounds)) })
    }

    /// Locates a point.
    pub fn of_point(at: Coord) -> PlaceSpot {
        PlaceSpot { bounds: point(at), at }
    }
}

/// Returns the centroid of polygons if it is inside of one, else a point inside of the largest.
fn inner_point(polygons: &[Vec<Line>]) -> Option<Coord> {
    if let Some(centroid) = centroid(polygons) {
        let is_in = |polygon: &Vec<Line>| inside_of(polygon, centroid.lat, i64::from(centroid.lon));
        if polygons.iter().any(is_in) {
            return Some(centroid);
        }
    }
    let size = |polygon: &&Vec<Line>| polygon.first().map_or(0, |ring| extent(&bounds_of(ring.iter())));
    interior(polygons.iter().max_by_key(size)?)
}

/// Returns the centroid of polygons on a plane of degrees, holes taken off; `None` if they have no area.
fn centroid(polygons: &[Vec<Line>]) -> Option<Coord> {
    let first = *polygons.first()?.first()?.first()?;
    // Relative to one point, so that digits remain, and across the antimeridian.
    let flat = |at: &Coord| {
        let lon = i64::from(at.lon) - i64::from(first.lon);
        let lon = if lon > HALF {
            lon - TURN
        } else if lon < -HALF {
            lon + TURN
        } else {
            lon
        };
        (lon as f64, (i64::from(at.lat) - i64::from(first.lat)) as f64)
    };
    let (mut area, mut x, mut y) = (0.0, 0.0, 0.0);
    for polygon in polygons {
        for (number, ring) in polygon.iter().enumerate() {
            let (mut own, mut own_x, mut own_y) = (0.0, 0.0, 0.0);
            for side in ring.windows(2) {
                let ((ax, ay), (bx, by)) = (flat(&side[0]), flat(&side[1]));
                let cross = ax * by - bx * ay;
                own += cross;
                own_x += (ax + bx) * cross;
                own_y += (ay + by) * cross;
            }
            let is_hole = number > 0;
            let sign = if (own < 0.0) == is_hole { 1.0 } else { -1.0 };
            area += sign * own;
            x += sign * own_x;
            y += sign * own_y;
        }
    }
    if area <= 0.0 {
        return None;
    }
    let lon = i64::from(first.lon) + libm::round(x / (3.0 * area)) as i64;
    let lat = i64::from(first.lat) + libm::round(y / (3.0 * area)) as i64;
    let lon = if lon < -HALF { lon + TURN } else { lon };
    Some(Coord { lat: i32::try_from(lat).ok()?, lon: wrapped(lon) })
}

/// Locates a relation by its box.
fn plain(osm: &Osm, relation: Ordinal) -> Option<PlaceSpot> {
    let Some(area) = osm.areas().of_relation(relation) else { return waterway(osm, relation) };
    let bounds = osm.areas().bbox(area);
    Some(PlaceSpot { bounds, at: middle(&bounds) })
}

/// Maximum number of ways of a river to read.
const WAYS: usize = 4096;

/// Locates a river, which is a relation without an area: the box around its ways, and a point of the middle one.
fn waterway(osm: &Osm, relation: Ordinal) -> Option<PlaceSpot> {
    let river = osm.pair("type", "waterway")?;
    let (page, slot) = osm.place(ElementType::Relation, relation);
    if !osm.tag_page(ElementType::Relation, page).tags(slot).contains(&river) {
        return None;
    }
    let page = osm.relation_page(page);
    let ways = page.members(slot).iter().filter(|member| member.kind == ElementType::Way);
    let ways: Vec<Ordinal> = ways.filter_map(|member| member.element.ordinal()).take(WAYS).collect();
    budget::checkpoints(ways.len());
    let spots: Vec<PlaceSpot> = ways.iter().filter_map(|&way| PlaceSpot::of(osm, ElementType::Way, way)).collect();
    let at = spots.get(spots.len() / 2)?.at;
    let corners: Vec<Coord> = spots
        .iter()
        .flat_map(|spot| {
            let BoundingBox { south, west, north, east } = spot.bounds;
            [Coord { lat: south, lon: west }, Coord { lat: north, lon: east }]
        })
        .collect();
    Some(PlaceSpot { bounds: bounds_of(corners.iter()), at })
}

/// Returns the box of a point.
pub fn point(at: Coord) -> BoundingBox {
    BoundingBox { south: at.lat, west: at.lon, north: at.lat, east: at.lon }
}

/// Returns the size of a box, for comparison.
pub fn extent(bounds: &BoundingBox) -> i64 {
    let (west, mut east) = (i64::from(bounds.west), i64::from(bounds.east));
    if west > east {
        east += TURN;
    }
    (i64::from(bounds.north) - i64::from(bounds.south)).saturating_mul(east - west)
}

/// Returns the narrower box around points, across the antimeridian or not.
fn bounds_of<'a>(points: impl Iterator<Item = &'a Coord> + Clone) -> BoundingBox {
    let mut bounds = BoundingBox::EMPTY;
    points.clone().for_each(|at| bounds.extend(*at));
    if bounds.is_empty() || i64::from(bounds.east) - i64::from(bounds.west) <= HALF {
        return bounds;
    }
    let (mut west, mut east) = (i32::MAX, i32::MIN);
    for at in points.filter(|at| !at.is_missing()) {
        if at.lon > 0 {
            west = west.min(at.lon);
        } else {
            east = east.max(at.lon);
        }
    }
    let turned = i64::from(east) + TURN - i64::from(west);
    if west <= east || turned >= i64::from(bounds.east) - i64::from(bounds.west) {
        return bounds;
    }
    BoundingBox { west, east, ..bounds }
}

/// Returns the middle of a box.
fn middle(bounds: &BoundingBox) -> Coord {
    let half = |low: i64, high: i64| (low + high).div_euclid(2);
    let (west, mut east) = (i64::from(bounds.west), i64::from(bounds.east));
    if west > east {
        east += TURN;
    }
    let lat = half(bounds.south.into(), bounds.north.into());
    Coord { lat: i32::try_from(lat).unwrap_or_default(), lon: wrapped(half(west, east)) }
}

/// Wraps a longitude.
fn wrapped(lon: i64) -> i32 {
    let lon = if lon > HALF { lon - TURN } else { lon };
    i32::try_from(lon).unwrap_or_default()
}

/// Returns the longitudes at which the rings of a polygon cross a parallel, ascending. Across the antimeridian they
/// exceed 180 degrees.
fn crossings(polygon: &[Line], lat: i32) -> Vec<i64> {
    let turned = polygon
        .iter()
        .flatten()
        .map(|at| at.lon)
        .fold((i32::MAX, i32::MIN), |(west, east), lon| (west.min(lon), east.max(lon)));
    let is_across = i64::from(turned.1) - i64::from(turned.0) > HALF;
    let lon = |at: &Coord| i64::from(at.lon) + if is_across && at.lon < 0 { TURN } else { 0 };
    let mut all: Vec<i64> = Vec::new();
    for ring in polygon {
        for side in ring.windows(2) {
            let (a, b) = (&side[0], &side[1]);
            if (a.lat > lat) == (b.lat > lat) {
                continue;
            }
            let part = (f64::from(lat) - f64::from(a.lat)) / (f64::from(b.lat) - f64::from(a.lat));
            all.push(lon(a) + ((lon(b) - lon(a)) as f64 * part) as i64);
        }
    }
    all.sort_unstable();
    all
}

fn inside_of(polygon: &[Line], lat: i32, lon: i64) -> bool {
    let crossings = crossings(polygon, lat);
    let west_of = |lon: i64| crossings.iter().filter(|crossing| **crossing <= lon).count() % 2 == 1;
    west_of(lon) || west_of(lon + TURN)
}

/// Returns a point inside of a polygon: the middle of the longest piece of a parallel in it.
fn interior(polygon: &[Line]) -> Option<Coord> {
    let bounds = bounds_of(polygon.first()?.iter());
    let (south, north) = (i64::from(bounds.south), i64::from(bounds.north));
    [8, 5, 11, 3, 13].into_iter().find_map(|part| {
        let lat = i32::try_from(south + (north - south) * part / 16).ok()?;
        let crossings = crossings(polygon, lat);
        let widest = crossings.chunks_exact(2).max_by_key(|piece| piece[1] - piece[0])?;
        Some(Coord { lat, lon: wrapped((widest[0] + widest[1]).div_euclid(2)) })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(points: &[(i32, i32)]) -> Line {
        points.iter().map(|&(lat, lon)| Coord { lat, lon }).collect()
    }

    #[test]
    fn a_point_lies_inside() {
        // A horseshoe, open to the east; its middle is outside.
        let shoe =
            vec![line(&[(0, 0), (0, 100), (20, 100), (20, 10), (80, 10), (80, 100), (100, 100), (100, 0), (0, 0)])];
        assert!(!inside_of(&shoe, 50, 50));
        let at = interior(&shoe).unwrap();
        assert!(inside_of(&shoe, at.lat, at.lon.into()), "{at:?}");
    }

    /// The centroids that PostGIS's documentation of ST_Centroid defines: weighted by area, a hole taken off.
    #[test]
    fn centroids_are_weighted_by_area() {
        let square =
            |at: i32, side: i32| line(&[(at, at), (at, at + side), (at + side, at + side), (at + side, at), (at, at)]);
        let of = |polygons: &[Vec<Line>]| centroid(polygons).map(|at| (at.lat, at.lon));
        assert_eq!(of(&[vec![square(0, 100)]]), Some((50, 50)));
        // Of 10,000 and 400 square units.
        assert_eq!(of(&[vec![square(0, 100)], vec![square(200, 20)]]), Some((56, 56)));
        assert_eq!(of(&[vec![square(0, 100), square(0, 50)]]), Some((58, 58)));
        let reversed: Line = square(0, 100).into_iter().rev().collect();
        assert_eq!(of(&[vec![reversed]]), Some((50, 50)));
        let across = line(&[
            (0, 1_799_999_000),
            (0, -1_799_998_000),
            (1000, -1_799_998_000),
            (1000, 1_799_999_000),
            (0, 1_799_999_000),
        ]);
        assert_eq!(of(&[vec![across]]), Some((500, -1_799_999_500)));
        assert_eq!((of(&[]), of(&[vec![line(&[(0, 0), (5, 5), (0, 0)])]])), (None, None));
    }

    #[test]
    fn boxes_cross_the_antimeridian() {
        let fiji =
            line(&[(-180_000_000, 1_770_000_000), (-160_000_000, -1_780_000_000), (-170_000_000, 1_790_000_000)]);
        let bounds = bounds_of(fiji.iter());
        assert_eq!((bounds.west, bounds.east), (1_770_000_000, -1_780_000_000));
        assert_eq!(middle(&bounds).lon, 1_795_000_000);
        assert!(inside_of(&[[fiji.clone(), vec![fiji[0]]].concat()], -170_000_000, 1_792_000_000));
        let world = line(&[(0, -1_790_000_000), (0, 0), (0, 1_790_000_000)]);
        let bounds = bounds_of(world.iter());
        assert!(world.iter().all(|at| bounds.contains(*at)), "{bounds:?}");
    }
}
