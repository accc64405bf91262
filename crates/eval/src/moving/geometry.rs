//! Moves coordinates into a box: all coordinates of a query by the same shift and scale, so that their relations stay.

use terrapin_osm::{BoundingBox, Coord};

/// The box around coordinates, in degrees.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct DegreeBox {
    pub south: f64,
    pub west: f64,
    pub north: f64,
    pub east: f64,
}

/// How far a box is enlarged.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Growth {
    /// It keeps its size, if it fits.
    Keep,
    /// Its sides are at least this share of the target's.
    AtLeast(f64),
}

impl DegreeBox {
    /// Returns the box around latitudes and longitudes; `None` if one of them is missing.
    pub fn around(lats: &[f64], lons: &[f64]) -> Option<DegreeBox> {
        let low = |values: &[f64]| values.iter().copied().reduce(f64::min);
        let high = |values: &[f64]| values.iter().copied().reduce(f64::max);
        Some(DegreeBox { south: low(lats)?, west: low(lons)?, north: high(lats)?, east: high(lons)? })
    }

    /// Converts a box of 1e-7 degrees.
    pub fn of(bbox: &BoundingBox) -> DegreeBox {
        let [south, west, north, east] =
            [bbox.south, bbox.west, bbox.north, bbox.east].map(|side| f64::from(side) / 1e7);
        DegreeBox { south, west, north, east }
    }

    /// Returns whether the boxes share a point.
    pub fn intersects(&self, other: &DegreeBox) -> bool {
        self.south <= other.north && other.south <= self.north && self.west <= other.east && other.west <= self.east
    }

    /// Returns `south,west,north,east`.
    pub fn text(&self) -> String {
        [self.south, self.west, self.north, self.east].map(degrees).join(",")
    }
}

/// A shift and scale of both axes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Shift {
    lat: (f64, f64),
    lon: (f64, f64),
}

impl Shift {
    /// Returns the shift that moves `old` into `target`, its centre as near to `anchor` as possible. A box larger than the
    /// target is shrunk.
    pub fn into(old: &DegreeBox, target: &DegreeBox, anchor: Coord, growth: Growth) -> Shift {
        let (lat, lon) = (f64::from(anchor.lat) / 1e7, f64::from(anchor.lon) / 1e7);
        Shift {
            lat: axis((old.south, old.north), (target.south, target.north), lat, growth),
            lon: axis((old.west, old.east), (target.west, target.east), lon, growth),
        }
    }

    /// Moves a latitude.
    pub fn lat(&self, value: f64) -> f64 {
        value.mul_add(self.lat.0, self.lat.1)
    }

    /// Moves a longitude.
    pub fn lon(&self, value: f64) -> f64 {
        value.mul_add(self.lon.0, self.lon.1)
    }

    /// Moves a box.
    pub fn of_box(&self, old: &DegreeBox) -> DegreeBox {
        DegreeBox {
            south: self.lat(old.south),
            west: self.lon(old.west),
            north: self.lat(old.north),
            east: self.lon(old.east),
        }
    }
}

/// Returns factor and summand of an axis.
fn axis(old: (f64, f64), target: (f64, f64), anchor: f64, growth: Growth) -> (f64, f64) {
    let (size, room) = (old.1 - old.0, target.1 - target.0);
    let wanted = match growth {
        Growth::Keep => size,
        Growth::AtLeast(share) => size.max(room * share),
    };
    let factor = if size > 0.0 { wanted.min(room) / size } else { 1.0 };
    let half = size * factor / 2.0;
    let middle = anchor.max(target.0 + half).min(target.1 - half);
    (factor, f64::midpoint(old.0, old.1).mul_add(-factor, middle))
}

/// Formats degrees with at most six decimals: 0.1 m.
pub(crate) fn degrees(value: f64) -> String {
    let text = format!("{value:.6}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    if text == "-0" { "0".to_owned() } else { text.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TARGET: DegreeBox = DegreeBox { south: 35.0, west: 14.0, north: 36.0, east: 15.0 };

    fn moved(old: [f64; 4], growth: Growth) -> String {
        let [south, west, north, east] = old;
        let old = DegreeBox { south, west, north, east };
        Shift::into(&old, &TARGET, Coord { lat: 355_000_000, lon: 149_900_000 }, growth).of_box(&old).text()
    }

    #[test]
    fn boxes_keep_their_size_and_stay_inside() {
        assert_eq!(moved([50.0, 7.0, 50.25, 7.5], Growth::Keep), "35.375,14.5,35.625,15");
        assert_eq!(moved([50.0, 7.0, 50.0, 7.0], Growth::Keep), "35.5,14.99,35.5,14.99");
        assert_eq!(moved([-50.0, -70.0, 50.0, 70.0], Growth::Keep), "35,14,36,15");
        assert_eq!(moved([50.0, 7.0, 50.25, 7.5], Growth::AtLeast(1.0)), "35,14,36,15");
        assert_eq!(moved([50.0, 7.0, 50.1, 7.6], Growth::AtLeast(0.5)), "35.25,14.4,35.75,15");
    }

    #[test]
    fn degrees_are_short() {
        assert_eq!([14.5, -0.000_000_1, 35.123_456_78].map(degrees), ["14.5", "0", "35.123457"]);
    }
}
