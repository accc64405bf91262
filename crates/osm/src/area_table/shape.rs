//! The shape of an area: decides which elements are in the area and which intersect it.

use crate::geometry::{
    BorderRule, BoxRelation, Polygon, PolygonLocation, Segment, ring_along_great_circles, split_at_antimeridian,
};
use crate::{BoundingBox, Coord};

/// The shape of an area.
///
/// The shape of an area. A node is in the area if it lies inside or on the border, a way if a piece of it lies inside.
/// [`BorderRule`] defines the tolerance of the border and the treatment of ways that run along it.
#[derive(Debug, Clone)]
pub struct AreaShape {
    polygon: Polygon,
}

impl AreaShape {
    /// Creates the area of a relation with these segments as its border, in any order and direction.
    pub fn new(segments: impl IntoIterator<Item = Segment>) -> AreaShape {
        AreaShape::of(BorderRule::Relation, segments.into_iter().collect())
    }

    /// Creates the area within a line given in a query; the last point may repeat the first.
    pub fn from_closed_line(line: &[Coord]) -> AreaShape {
        AreaShape::of(BorderRule::Drawn, ring(line))
    }

    /// Creates the area within a closed way with these nodes; missing nodes are skipped. Long edges follow great
    /// circles.
    pub fn of_way(line: &[Coord]) -> AreaShape {
        let known: Vec<Coord> = line.iter().copied().filter(|c| !c.is_missing()).collect();
        AreaShape::of(BorderRule::ClosedWay, ring(&ring_along_great_circles(known)))
    }

    fn of(border: BorderRule, segments: Vec<Segment>) -> AreaShape {
        AreaShape { polygon: Polygon::new(border, split_at_antimeridian(segments)) }
    }

    /// Returns the bounding box; empty for an area without a border.
    pub fn bbox(&self) -> &BoundingBox {
        self.polygon.bbox()
    }

    /// Returns whether a point is inside, outside or on the border.
    pub fn locate(&self, c: Coord) -> PolygonLocation {
        self.polygon.locate(c)
    }

    /// Returns whether a point is inside, outside or on the border, without a tolerance.
    pub fn locate_exactly(&self, c: Coord) -> PolygonLocation {
        self.polygon.locate_exactly(c)
    }

    /// Returns whether a node at this position is in the area: inside or on the border.
    pub fn covers(&self, c: Coord) -> bool {
        self.polygon.covers(c)
    }

    /// Returns whether relations with a node at this position are in the area.
    pub fn counts_for_relations(&self, c: Coord) -> bool {
        self.polygon.counts_for_relations(c)
    }

    /// Returns whether a way with these nodes is in the area.
    pub fn meets_line(&self, line: &[Coord]) -> bool {
        self.polygon.meets_line(line)
    }

    /// Returns the relation of a box to the area: one test for a whole page of elements.
    pub fn relate(&self, area: &BoundingBox) -> BoxRelation {
        self.polygon.relate(area)
    }

    /// Bytes of memory that it takes, for bounding caches.
    pub fn weight(&self) -> usize {
        self.polygon.weight()
    }
}

fn ring(line: &[Coord]) -> Vec<Segment> {
    (0..line.len()).map(|i| Segment { a: line[i], b: line[(i + 1) % line.len()] }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The reference's answers for two buildings of Valletta that share a wall, each compared with the other and with
    /// itself.
    #[test]
    fn closed_ways_and_their_neighbours() {
        let line = |points: &[(i32, i32)]| points.iter().map(|&(lat, lon)| Coord { lat, lon }).collect::<Vec<_>>();
        let b = line(&[
            (359_137_557, 144_945_619),
            (359_136_748, 144_947_776),
            (359_134_180, 144_946_307),
            (359_134_989, 144_944_150),
            (359_137_557, 144_945_619),
        ]);
        let c = line(&[
            (359_139_507, 144_946_735),
            (359_137_557, 144_945_619),
            (359_136_748, 144_947_776),
            (359_138_711, 144_948_882),
            (359_139_507, 144_946_735),
        ]);
        let area = AreaShape::of_way(&b);
        assert!(area.meets_line(&b) && area.meets_line(&c));
        assert!(!AreaShape::new(ring(&b)).meets_line(&c), "as the area of a relation");
    }

    /// A road of Malta that begins a fifth of a step within a closed way, by its steep border: the reference finds it.
    #[test]
    fn a_line_that_begins_just_within_a_closed_way() {
        let c = |lat, lon| Coord { lat, lon };
        let west = [c(358_845_803, 144_900_000), c(358_842_784, 144_900_000)];
        let area = AreaShape::of_way(&[
            c(358_842_784, 144_902_978),
            c(358_845_803, 144_903_849),
            west[0],
            west[1],
            c(358_842_784, 144_902_978),
        ]);
        assert!(area.meets_line(&[c(358_843_003, 144_903_041), c(358_842_328, 144_908_261)]));
        assert!(!area.meets_line(&[c(358_843_003, 144_903_042), c(358_842_328, 144_908_261)]));
    }

    /// A node a hundredth of a step outside a relation's border, which leads there from the south-east.
    #[test]
    fn nearly_on_the_border() {
        let shape = AreaShape::new(ring(&[
            Coord { lat: 359_004_518, lon: 145_089_461 },
            Coord { lat: 359_005_568, lon: 145_086_248 },
            Coord { lat: 359_000_000, lon: 145_086_248 },
        ]));
        let at = |lat| shape.locate(Coord { lat, lon: 145_088_745 });
        assert_eq!(
            (at(359_004_751), at(359_004_752), at(359_004_753)),
            (PolygonLocation::Inside, PolygonLocation::Border, PolygonLocation::Outside)
        );
    }

    /// The reference's answers for quadrangles below long edges: the northernmost nodes in them, at some longitudes.
    #[test]
    fn long_edges_of_closed_ways() {
        let c = |lat, lon| Coord { lat, lon };
        for (a, b, tops) in [
            (
                c(974_860, -1_299_357_317),
                c(882_838, -1_299_156_743),
                [(-1_299_303_162, 950_015), (-1_299_186_830, 896_642), (-1_299_257_030, 928_849)],
            ),
            (
                c(320_626_184, -1_299_549_902),
                c(320_701_464, -1_299_455_737),
                [(-1_299_514_120, 320_654_793), (-1_299_457_622, 320_699_956), (-1_299_469_863, 320_690_171)],
            ),
            (
                c(-639_703_464, -1_499_912_334),
                c(-639_465_211, -1_499_910_733),
                [(-1_499_912_062, -639_663_106), (-1_499_912_206, -639_684_474), (-1_499_912_333, -639_703_316)],
            ),
            (
                c(159_962, 700_712_371),
                c(-50_282, 700_716_456),
                [(700_714_780, 35_933), (700_713_515, 101_058), (700_712_372, 159_911)],
            ),
            (
                c(640_820_012, 900_341_009),
                c(640_766_610, 900_567_587),
                [(900_465_626, 640_790_648), (900_384_059, 640_809_870), (900_343_275, 640_819_478)],
            ),
        ] {
            let base = a.lat.min(b.lat) - 30_000;
            let area = AreaShape::of_way(&[a, b, c(base, b.lon), c(base, a.lon), a]);
            for (lon, top) in tops {
                let covered = [top, top + 1].map(|lat| area.covers(c(lat, lon)));
                assert_eq!(covered, [true, false], "{a:?} {b:?} at {lon}");
            }
        }
    }
}
