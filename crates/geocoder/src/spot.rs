//! Where an element is: its box, and a point of it that addresses and borders are asked about.

use terrapin_budget as budget;
use terrapin_osm::outline::{Line, Outline};
use terrapin_osm::{BoundingBox, Coord, ElementType, Ordinal, Osm};

/// Half of a turn, and a whole one, in 1e-7 degrees.
const HALF: i64 = 1_800_000_000;
const TURN: i64 = 2 * HALF;

/// Where an element is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Spot {
    /// The box around it; west is more than east if it crosses the antimeridian.
    pub bounds: BoundingBox,
    /// A node's position; of an open way a point on it; else the middle of the box, or a point inside.
    pub at: Coord,
}

impl Spot {
    /// Of an element; `None` where it has no place, or is a relation and no area.
    pub fn of(osm: &Osm, kind: ElementType, ordinal: Ordinal) -> Option<Spot> {
        match kind {
            ElementType::Node => {
                let at = osm.coords(&[ordinal]).first().copied().filter(|at| !at.is_missing())?;
                Some(Spot::of_point(at))
            }
            ElementType::Way => {
                let (page, slot) = osm.place(kind, ordinal);
                let page = osm.way_page(page);
                let line: Vec<Coord> = page.coords(slot).iter().copied().filter(|at| !at.is_missing()).collect();
                let bounds = bounds_of(line.iter());
                let closed = line.len() > 3 && line.first() == line.last();
                let at = if closed { middle(&bounds) } else { *line.get(line.len() / 2)? };
                Some(Spot { bounds, at })
            }
            ElementType::Relation => {
                let areas = osm.areas();
                let Some(area) = areas.of_relation(ordinal) else { return waterway(osm, ordinal) };
                let bounds = areas.bbox(area);
                if i64::from(bounds.east) - i64::from(bounds.west) > HALF {
                    // The box of what crosses the antimeridian goes around the world.
                    return Spot::inside(osm, kind, ordinal);
                }
                Some(Spot { bounds, at: middle(&bounds) })
            }
        }
    }

    /// Of an element, with a point inside of an area whose middle is not.
    pub fn inside(osm: &Osm, kind: ElementType, ordinal: Ordinal) -> Option<Spot> {
        let polygons = match Outline::of(osm, kind, ordinal) {
            Some(Outline::Polygons(polygons)) if !polygons.is_empty() => polygons,
            _ => return if kind == ElementType::Relation { plain(osm, ordinal) } else { Spot::of(osm, kind, ordinal) },
        };
        budget::checkpoints(polygons.iter().flatten().map(Vec::len).sum::<usize>() >> 6);
        let bounds = bounds_of(polygons.iter().flatten().flatten());
        let point = middle(&bounds);
        let is_in = |polygon: &Vec<Line>| inside_of(polygon, point.lat, i64::from(point.lon));
        if polygons.iter().any(is_in) {
            return Some(Spot { bounds, at: point });
        }
        let size = |polygon: &&Vec<Line>| polygon.first().map_or(0, |ring| extent(&bounds_of(ring.iter())));
        let largest = polygons.iter().max_by_key(size)?;
        Some(Spot { bounds, at: interior(largest).unwrap_or(point) })
    }

    /// A point.
    pub fn of_point(at: Coord) -> Spot {
        Spot { bounds: point(at), at }
    }
}

/// Of a relation, by its box alone.
fn plain(osm: &Osm, relation: Ordinal) -> Option<Spot> {
    let Some(area) = osm.areas().of_relation(relation) else { return waterway(osm, relation) };
    let bounds = osm.areas().bbox(area);
    Some(Spot { bounds, at: middle(&bounds) })
}

/// Ways of a river that are read.
const WAYS: usize = 4096;

/// Of a river, whose relation is no area: the box around its ways, and a point of the middle one.
fn waterway(osm: &Osm, relation: Ordinal) -> Option<Spot> {
    let river = osm.pair("type", "waterway")?;
    let (page, slot) = osm.place(ElementType::Relation, relation);
    if !osm.tag_page(ElementType::Relation, page).tags(slot).contains(&river) {
        return None;
    }
    let page = osm.relation_page(page);
    let ways = page.members(slot).iter().filter(|member| member.kind == ElementType::Way);
    let ways: Vec<Ordinal> = ways.filter_map(|member| member.element.ordinal()).take(WAYS).collect();
    budget::checkpoints(ways.len());
    let spots: Vec<Spot> = ways.iter().filter_map(|&way| Spot::of(osm, ElementType::Way, way)).collect();
    let at = spots.get(spots.len() / 2)?.at;
    let corners: Vec<Coord> = spots
        .iter()
        .flat_map(|spot| {
            let BoundingBox { south, west, north, east } = spot.bounds;
            [Coord { lat: south, lon: west }, Coord { lat: north, lon: east }]
        })
        .collect();
    Some(Spot { bounds: bounds_of(corners.iter()), at })
}

/// The box of a point.
pub fn point(at: Coord) -> BoundingBox {
    BoundingBox { south: at.lat, west: at.lon, north: at.lat, east: at.lon }
}

/// How large a box is, to compare it with others.
pub fn extent(bounds: &BoundingBox) -> i64 {
    let (west, mut east) = (i64::from(bounds.west), i64::from(bounds.east));
    if west > east {
        east += TURN;
    }
    (i64::from(bounds.north) - i64::from(bounds.south)).saturating_mul(east - west)
}

/// The box around points, the narrower one of those that cross the antimeridian and that do not.
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

/// The middle of a box.
fn middle(bounds: &BoundingBox) -> Coord {
    let half = |low: i64, high: i64| (low + high).div_euclid(2);
    let (west, mut east) = (i64::from(bounds.west), i64::from(bounds.east));
    if west > east {
        east += TURN;
    }
    let lat = half(bounds.south.into(), bounds.north.into());
    Coord { lat: i32::try_from(lat).unwrap_or_default(), lon: wrapped(half(west, east)) }
}

/// A longitude within the globe.
fn wrapped(lon: i64) -> i32 {
    let lon = if lon > HALF { lon - TURN } else { lon };
    i32::try_from(lon).unwrap_or_default()
}

/// Where the rings of a polygon cross a parallel, ascending; longitudes east of the antimeridian go on beyond it.
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

/// A point inside of a polygon: in the middle of the longest piece of a parallel in it.
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
        // A horseshoe that is open to the east, whose middle is outside.
        let shoe =
            vec![line(&[(0, 0), (0, 100), (20, 100), (20, 10), (80, 10), (80, 100), (100, 100), (100, 0), (0, 0)])];
        assert!(!inside_of(&shoe, 50, 50));
        let at = interior(&shoe).unwrap();
        assert!(inside_of(&shoe, at.lat, at.lon.into()), "{at:?}");
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
