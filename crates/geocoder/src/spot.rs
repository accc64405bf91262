//! Where an element is: its box, and a point of it that addresses and borders are asked about.

use terrapin_osm::{BoundingBox, Coord, ElementType, Ordinal, Osm};

/// Where an element is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Spot {
    /// The box around it.
    pub bounds: BoundingBox,
    /// A node's position; of an open way a point on it; else the middle of the box.
    pub at: Coord,
}

impl Spot {
    /// Of an element; `None` where it has no place, or is a relation and no area.
    pub fn of(osm: &Osm, kind: ElementType, ordinal: Ordinal) -> Option<Spot> {
        match kind {
            ElementType::Node => {
                let at = osm.coords(&[ordinal]).first().copied().filter(|at| !at.is_missing())?;
                Some(Spot { bounds: point(at), at })
            }
            ElementType::Way => {
                let (page, slot) = osm.place(kind, ordinal);
                let page = osm.way_page(page);
                let line: Vec<Coord> = page.coords(slot).iter().copied().filter(|at| !at.is_missing()).collect();
                let mut bounds = BoundingBox::EMPTY;
                line.iter().for_each(|at| bounds.extend(*at));
                let closed = line.len() > 3 && line.first() == line.last();
                let at = if closed { middle(&bounds) } else { *line.get(line.len() / 2)? };
                Some(Spot { bounds, at })
            }
            ElementType::Relation => {
                let areas = osm.areas();
                let bounds = areas.bbox(areas.of_relation(ordinal)?);
                Some(Spot { bounds, at: middle(&bounds) })
            }
        }
    }
}

/// The box of a point.
pub fn point(at: Coord) -> BoundingBox {
    BoundingBox { south: at.lat, west: at.lon, north: at.lat, east: at.lon }
}

/// The middle of a box that does not cross the antimeridian.
fn middle(bounds: &BoundingBox) -> Coord {
    let half = |low: i32, high: i32| ((i64::from(low) + i64::from(high)).div_euclid(2)) as i32;
    Coord { lat: half(bounds.south, bounds.north), lon: half(bounds.west, bounds.east) }
}
