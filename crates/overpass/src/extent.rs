//! Bounding boxes of positions, computed like the reference. It has three variants, which differ across the
//! antimeridian.

use terrapin_osm::{BoundingBox, Coord};

/// Half the globe, in 1e-7 degrees.
const HALF: i64 = 1_800_000_000;

/// The smallest box around the positions added so far.
#[derive(Debug, Clone, Copy)]
pub struct ExtentBuilder {
    bounds: BoundingBox,
    /// The westernmost position at or east of Greenwich.
    east_half: i32,
    /// The easternmost position west of Greenwich.
    west_half: i32,
    /// Whether a node without a position in the data was added.
    unknown: bool,
}

impl ExtentBuilder {
    /// The extent without positions.
    pub const EMPTY: ExtentBuilder = ExtentBuilder {
        bounds: BoundingBox { south: 1_000_000_000, west: 2_000_000_000, north: -1_000_000_000, east: -2_000_000_000 },
        east_half: 2_000_000_000,
        west_half: -2_000_000_000,
        unknown: false,
    };

    /// The position that the reference uses for a node that it does not show.
    pub const NULL: Coord = Coord { lat: -910_000_000, lon: i32::MIN };

    /// The box around [`Extent::NULL`] alone.
    pub const NOWHERE: BoundingBox =
        BoundingBox { south: -910_000_000, west: i32::MIN, north: -910_000_000, east: i32::MIN };

    /// Adds a position. Ignores missing positions.
    pub fn add(&mut self, c: Coord) {
        if c.is_missing() {
            return;
        }
        self.bounds.south = self.bounds.south.min(c.lat);
        self.bounds.north = self.bounds.north.max(c.lat);
        self.bounds.west = self.bounds.west.min(c.lon);
        self.bounds.east = self.bounds.east.max(c.lon);
        if c.lon >= 0 {
            self.east_half = self.east_half.min(c.lon);
        } else {
            self.west_half = self.west_half.max(c.lon);
        }
    }

    /// Adds a node without a position in the data. The reference places it in the far south-west, which makes the box
    /// of all other nodes meaningless. In boxes it has an effect here only if there are no other nodes.
    pub fn add_unknown(&mut self) {
        self.unknown = true;
    }

    /// Returns the box without regard to the antimeridian: for the boxes and centers of ways.
    pub fn plain(&self) -> Option<BoundingBox> {
        (self.bounds.south <= self.bounds.north).then_some(self.bounds)
    }

    /// Returns the box across the antimeridian if the plain box is half the globe wide: for the boxes and centers of
    /// relations.
    pub fn turned(&self) -> Option<BoundingBox> {
        let bounds = self.plain()?;
        let wide = i64::from(bounds.east) - i64::from(bounds.west) >= HALF;
        Some(if wide { BoundingBox { west: self.east_half, east: self.west_half, ..bounds } } else { bounds })
    }

    /// Like [`Extent::turned`], but returns a box in the far south-west if all nodes lack a position in the data.
    pub fn turned_or_unknown(&self) -> Option<BoundingBox> {
        let mut unknown = ExtentBuilder::EMPTY;
        unknown.add(ExtentBuilder::NULL);
        self.turned().or(unknown.turned().filter(|_| self.unknown))
    }

    /// Returns the box that goes the shorter way round the globe; the whole globe if neither way is shorter than half
    /// of it. For the boxes of geometries.
    pub fn around(&self) -> Option<BoundingBox> {
        let bounds = self.plain()?;
        if i64::from(bounds.east) - i64::from(bounds.west) <= HALF {
            return Some(bounds);
        }
        let across = i64::from(self.west_half) + 2 * HALF - i64::from(self.east_half);
        let (west, east) = if across < HALF { (self.east_half, self.west_half) } else { (-(HALF as i32), HALF as i32) };
        Some(BoundingBox { west, east, ..bounds })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn extent(longitudes: &[f64]) -> ExtentBuilder {
        let mut extent = ExtentBuilder::EMPTY;
        for (lat, lon) in longitudes.iter().enumerate() {
            extent.add(Coord { lat: lat as i32, lon: libm::round(lon * 1e7) as i32 });
        }
        extent
    }

    fn sides(bounds: Option<BoundingBox>) -> (f64, f64) {
        bounds.map_or((0.0, 0.0), |b| (f64::from(b.west) / 1e7, f64::from(b.east) / 1e7))
    }

    #[test]
    fn the_antimeridian_as_observed() {
        for (longitudes, turned, around) in [
            (&[179.0, -178.5][..], (179.0, -178.5), (179.0, -178.5)),
            (&[-100.0, 85.0], (85.0, -100.0), (85.0, -100.0)),
            (&[179.0, -178.5, -100.0], (179.0, -100.0), (179.0, -100.0)),
            (&[90.0, -90.0], (90.0, -90.0), (-90.0, 90.0)),
            (&[90.0000001, -90.0], (90.0000001, -90.0), (90.0000001, -90.0)),
            (&[179.0, 0.0, -179.9], (0.0, -179.9), (-180.0, 180.0)),
            (&[-179.9, 0.0], (-179.9, 0.0), (-179.9, 0.0)),
            (&[-180.0, 0.0], (0.0, -180.0), (-180.0, 0.0)),
            (&[180.0, -180.0], (180.0, -180.0), (180.0, -180.0)),
            (&[0.0, 180.0, -180.0], (0.0, -180.0), (-180.0, 180.0)),
        ] {
            assert_eq!(sides(extent(longitudes).turned()), turned, "{longitudes:?}");
            assert_eq!(sides(extent(longitudes).around()), around, "{longitudes:?}");
        }
        assert_eq!(extent(&[]).around(), None);
    }

    #[test]
    fn a_node_that_is_not_shown_turns_the_box() {
        let mut extent = extent(&[20.0]);
        extent.add(ExtentBuilder::NULL);
        assert_eq!(sides(extent.turned()), (20.0, -200.0));
    }

    /// The reference's box of a relation without any member in the data. If a member exists, it alone determines the
    /// box.
    #[test]
    fn a_node_that_is_not_known_is_nowhere_if_it_is_alone() {
        let mut alone = ExtentBuilder::EMPTY;
        assert_eq!(alone.turned_or_unknown(), None);
        alone.add_unknown();
        assert_eq!(sides(alone.turned_or_unknown()), (-214.7483648, -200.0));
        let mut with_another = extent(&[20.0]);
        with_another.add_unknown();
        assert_eq!(sides(with_another.turned_or_unknown()), (20.0, 20.0));
    }
}
