//! Compares borders with the results expected by osm-testdata (<https://github.com/osmcode/osm-testdata>, its grid of
//! multipolygons, by number), and tests the other rules. Coordinates are in small units; the expected rings may begin
//! anywhere.

use super::*;
use crate::geometry::planar::is_counterclockwise;
use crate::geometry::{PolygonLocation, Segment};

type Points = &'static [(i32, i32)];

/// The number of a case, its lines, and the rings of its polygons.
type Case = (u32, &'static [Points], &'static [&'static [Points]]);

fn line(points: &[(i32, i32)]) -> Line {
    points.iter().map(|&(lon, lat)| Coord { lat, lon }).collect()
}

fn border(lines: &[Points]) -> OutlineBorder {
    let mut border = OutlineBorder::default();
    lines.iter().for_each(|points| border.add(&line(points), false));
    border
}

/// Normalizes a ring: it begins with its least point, and points straight between two others are removed.
fn normal(ring: &[Coord]) -> Line {
    let mut points = ring[..ring.len() - 1].to_vec();
    let straight = |at: usize, points: &[Coord]| {
        let (a, b) = (points[(at + points.len() - 1) % points.len()], points[(at + 1) % points.len()]);
        crate::geometry::on_segment(Segment { a, b }, points[at])
    };
    while let Some(at) = (0..points.len()).find(|&at| straight(at, &points)) {
        points.remove(at);
    }
    let least = (0..points.len()).min_by_key(|&at| points[at]).unwrap();
    points.rotate_left(least);
    points
}

fn normal_of(polygons: &[Polygon]) -> Vec<Vec<Line>> {
    let rings = |polygon: &Polygon| {
        let mut rings: Vec<Line> = polygon.iter().map(|ring| normal(ring)).collect();
        rings[1..].sort();
        rings
    };
    let mut all: Vec<Vec<Line>> = polygons.iter().map(rings).collect();
    all.sort();
    all
}

/// The expected polygons, their rings turned as they are to be.
fn expected(polygons: &[&[Points]]) -> Vec<Vec<Line>> {
    let turned = |at: usize, points: &Points| {
        let mut ring = line(points);
        if is_counterclockwise(&ring) != (at == 0) {
            ring.reverse();
        }
        ring
    };
    let polygon = |rings: &&[Points]| rings.iter().enumerate().map(|(at, ring)| turned(at, ring)).collect();
    normal_of(&polygons.iter().map(polygon).collect::<Vec<Polygon>>())
}

const FRAME: Points = &[(1, 1), (1, 9), (9, 9), (9, 1), (1, 1)];

#[test]
fn borders_have_the_polygons_of_osm_testdata() {
    let cases: &[Case] = &[
        (
            711,
            &[&[(1, 1), (1, 4), (4, 4)], &[(1, 4), (4, 4), (4, 1), (1, 1)]],
            &[&[&[(1, 1), (1, 4), (4, 4), (4, 1), (1, 1)]]],
        ),
        (
            742,
            &[&[(1, 1), (1, 3), (1, 5)], &[(1, 5), (1, 3), (3, 3), (3, 1), (1, 1)]],
            &[&[&[(1, 1), (1, 3), (3, 3), (3, 1), (1, 1)]]],
        ),
        (
            750,
            &[
                &[(1, 1), (1, 7), (6, 7), (6, 1), (1, 1)],
                &[(2, 2), (2, 5), (4, 5), (4, 4), (3, 4), (3, 2), (2, 2)],
                &[(3, 2), (3, 4), (4, 4), (4, 5), (5, 5), (5, 2), (3, 2)],
            ],
            &[&[&[(1, 1), (1, 7), (6, 7), (6, 1), (1, 1)], &[(2, 2), (2, 5), (5, 5), (5, 2), (2, 2)]]],
        ),
        (
            757,
            &[&[(7, 1), (1, 1), (1, 7), (7, 7), (7, 5), (7, 3), (7, 1)], &[(5, 5), (7, 5), (7, 3), (5, 3), (5, 5)]],
            &[&[&[(7, 1), (1, 1), (1, 7), (7, 7), (7, 5), (5, 5), (5, 3), (7, 3), (7, 1)]]],
        ),
        (
            759,
            &[&[(1, 3), (1, 7), (4, 9), (6, 5), (4, 7), (2, 5), (4, 3), (6, 5), (4, 1), (1, 3)]],
            &[&[&[(1, 3), (1, 7), (4, 9), (6, 5), (4, 1), (1, 3)], &[(6, 5), (4, 3), (2, 5), (4, 7), (6, 5)]]],
        ),
        (
            760,
            &[&[
                (1, 7),
                (7, 7),
                (7, 4),
                (5, 4),
                (5, 5),
                (3, 5),
                (3, 3),
                (5, 3),
                (5, 4),
                (7, 4),
                (7, 1),
                (1, 1),
                (1, 7),
            ]],
            &[&[&[(1, 7), (7, 7), (7, 1), (1, 1), (1, 7)], &[(5, 5), (3, 5), (3, 3), (5, 3), (5, 5)]]],
        ),
        (
            766,
            &[&[(7, 6), (5, 8), (3, 6), (5, 4), (5, 3), (8, 3), (8, 2), (2, 2), (2, 3), (5, 3), (5, 4), (7, 6)], FRAME],
            &[&[FRAME, &[(7, 6), (5, 8), (3, 6), (5, 4), (7, 6)], &[(5, 3), (8, 3), (8, 2), (2, 2), (2, 3), (5, 3)]]],
        ),
        (
            767,
            &[&[(7, 6), (5, 8), (3, 6), (5, 4), (5, 3), (8, 3), (8, 2), (2, 2), (2, 3), (5, 3), (5, 4), (7, 6)]],
            &[&[&[(7, 6), (5, 8), (3, 6), (5, 4), (7, 6)]], &[&[(5, 3), (8, 3), (8, 2), (2, 2), (2, 3), (5, 3)]]],
        ),
        (
            778,
            &[
                &[(2, 3), (2, 5), (4, 5), (5, 5), (5, 3), (4, 3), (2, 3)],
                &[(4, 6), (7, 6), (7, 2), (4, 2), (4, 3), (4, 5), (4, 6)],
                &[(1, 1), (1, 7), (8, 7), (8, 1), (1, 1)],
            ],
            &[
                &[
                    &[(1, 1), (8, 1), (8, 7), (1, 7), (1, 1)],
                    &[(2, 3), (2, 5), (4, 5), (4, 6), (7, 6), (7, 2), (4, 2), (4, 3), (2, 3)],
                ],
                &[&[(4, 3), (5, 3), (5, 5), (4, 5), (4, 3)]],
            ],
        ),
        (
            783,
            &[
                &[(2, 1), (5, 1), (6, 7), (3, 7), (1, 4), (2, 1)],
                &[(2, 4), (4, 2), (4, 5), (2, 4)],
                &[(2, 4), (3, 6), (4, 5), (2, 4)],
                &[(3, 6), (5, 5), (4, 5), (3, 6)],
                &[(5, 5), (4, 2), (4, 5), (5, 5)],
            ],
            &[&[&[(2, 1), (5, 1), (6, 7), (3, 7), (1, 4), (2, 1)], &[(2, 4), (4, 2), (5, 5), (3, 6), (2, 4)]]],
        ),
        (
            785,
            &[
                &[(1, 1), (1, 6), (6, 6), (6, 1), (1, 1)],
                &[(2, 2), (2, 5), (4, 5), (4, 4), (3, 4), (3, 3), (4, 3), (4, 2), (2, 2)],
                &[(4, 5), (5, 5), (5, 2), (4, 2), (4, 3), (4, 4), (4, 5)],
            ],
            &[
                &[&[(1, 1), (6, 1), (6, 6), (1, 6), (1, 1)], &[(2, 2), (5, 2), (5, 5), (2, 5), (2, 2)]],
                &[&[(3, 3), (4, 3), (4, 4), (3, 4), (3, 3)]],
            ],
        ),
        (
            792,
            &[&[(5, 5), (5, 1), (1, 1), (1, 5), (5, 5)], &[(5, 1), (1, 1), (1, 5), (5, 5), (5, 1)]],
            &[&[&[(5, 5), (5, 1), (1, 1), (1, 5), (5, 5)]]],
        ),
        (
            793,
            &[&[(5, 5), (5, 1), (1, 1), (1, 5), (5, 5)], &[(5, 5), (5, 1), (1, 1), (1, 5)]],
            &[&[&[(5, 5), (5, 1), (1, 1), (1, 5), (5, 5)]]],
        ),
    ];
    for (number, lines, polygons) in cases {
        let found = border(lines).polygons().unwrap_or_else(|flaw| panic!("{number}: {flaw:?}"));
        assert_eq!(normal_of(&found), expected(polygons), "{number}");
    }
}

#[test]
fn borders_without_polygons_in_osm_testdata_have_none() {
    let cases: &[(u32, &[Points], Flaw)] = &[
        (
            710,
            &[&[(1, 4), (2, 6), (5, 5), (3, 2), (1, 4)], &[(3, 3), (7, 3), (7, 1)], &[(7, 1), (3, 1), (3, 3)]],
            Flaw::Crossing,
        ),
        (740, &[&[(1, 1), (5, 1), (1, 5)], &[(1, 5), (5, 5), (1, 1)]], Flaw::Crossing),
        (741, &[&[(3, 1), (3, 5)], &[(3, 5), (3, 1)]], Flaw::Open),
        (744, &[&[(1, 1), (1, 3)], &[(1, 3), (3, 3), (3, 1)]], Flaw::Open),
        (
            745,
            &[&[(3, 2), (2, 1), (1, 2), (1, 4), (2, 5), (3, 4), (3, 2), (4, 1), (5, 2), (5, 4), (4, 5), (3, 4)]],
            Flaw::Open,
        ),
        (
            768,
            &[&[(1, 1), (1, 4), (4, 4), (4, 1), (1, 1)], &[(4, 4), (7, 4), (7, 1), (4, 1), (4, 2), (4, 4)]],
            Flaw::Crossing,
        ),
        (771, &[&[(6, 2), (2, 2), (2, 4), (6, 4), (6, 2)], &[(4, 4), (6, 6), (4, 8), (2, 6), (4, 4)]], Flaw::Crossing),
    ];
    for (number, lines, flaw) in cases {
        assert_eq!(border(lines).polygons(), Err(*flaw), "{number}");
    }
    // For case 740 the two triangles are drawn, for 744 nothing.
    let drawn = border(cases[1].1).drawable();
    assert_eq!(
        normal_of(&drawn),
        expected(&[&[&[(1, 1), (5, 1), (3, 3), (1, 1)]], &[&[(3, 3), (5, 5), (1, 5), (3, 3)]]])
    );
    assert!(border(cases[3].1).drawable().is_empty());
}

#[test]
fn rings_begin_with_their_first_point_and_keep_the_order_of_the_members() {
    let square = |x: i32, side: i32| [(x, x), (x + side, x), (x + side, x + side), (x, x + side), (x, x)];
    let mut all = OutlineBorder::default();
    for (at, side) in [(40, 10), (0, 100), (20, 60), (200, 5)] {
        let points = square(at, side);
        all.add(&line(&[points[2], points[3], points[4]]), false);
        all.add(&line(&[points[2], points[1], points[0]]), true);
    }
    let polygons = all.polygons().unwrap();
    let begin = |x: i32| Coord { lat: x, lon: x };
    let begins: Vec<Vec<Coord>> = polygons.iter().map(|p| p.iter().map(|ring| ring[0]).collect()).collect();
    assert_eq!(begins, [vec![begin(50)], vec![begin(100), begin(80)], vec![begin(205)]]);
    assert!(polygons.iter().flatten().all(|ring| ring.first() == ring.last() && ring.len() == 5));
    assert!(polygons.iter().all(|p| is_counterclockwise(&p[0]) && !p[1..].iter().any(|r| is_counterclockwise(r))));
}

#[test]
fn at_the_edge_of_an_extract_closed_rings_count_but_no_lone_holes() {
    let mut cut = OutlineBorder::default();
    cut.add(&line(&[(0, 0), (20, 0), (20, 20)]), false);
    cut.add(&line(&[(4, 4), (4, 8), (8, 8), (8, 4), (4, 4)]), true);
    assert_eq!(cut.polygons(), Err(Flaw::Open));
    assert!(cut.drawable().is_empty(), "a hole in nothing");
    cut.add_missing();
    assert_eq!(cut.polygons(), Err(Flaw::Open));
    cut.add(&line(&[(30, 30), (30, 40), (40, 40), (40, 30), (30, 30)]), false);
    cut.add(&line(&[(32, 32), (32, 34), (34, 34), (32, 32)]), true);
    let found = cut.polygons().unwrap();
    assert_eq!(found.iter().map(Vec::len).collect::<Vec<_>>(), [2]);
    // A missing node breaks the ring.
    let mut ring = line(FRAME);
    ring[2] = Coord::MISSING;
    let mut broken = OutlineBorder::default();
    broken.add(&ring, false);
    assert!(broken.is_incomplete());
    assert_eq!(broken.polygons(), Err(Flaw::Open));
}

#[test]
fn what_crosses_180_degrees_is_cut_there() {
    let degrees = |lon: i32, lat: i32| Coord { lat: lat * 10_000_000, lon: lon * 10_000_000 };
    let ring = vec![degrees(170, -20), degrees(-170, -20), degrees(-170, -10), degrees(170, -10), degrees(170, -20)];
    let mut border = OutlineBorder::default();
    border.add(&ring, false);
    let polygons = border.polygons().unwrap();
    assert_eq!(polygons.len(), 2);
    for (polygon, west) in polygons.iter().zip([170, -180]) {
        let bounds = Outline::Polygons(vec![polygon.clone()]).bounds();
        assert_eq!((bounds.west, bounds.east), (west * 10_000_000, (west + 10) * 10_000_000));
        assert_eq!(polygon[0].len(), 5);
    }
    let pieces = cut_at_180(&[degrees(179, 0), degrees(-179, 2), degrees(-178, 2)]);
    assert_eq!(
        pieces,
        [vec![degrees(179, 0), degrees(180, 1)], vec![degrees(-180, 1), degrees(-179, 2), degrees(-178, 2)]]
    );
    // Nodes on the meridian itself.
    let pieces = cut_at_180(&[degrees(179, 0), degrees(180, 1), degrees(-179, 2)]);
    assert_eq!(pieces, [vec![degrees(179, 0), degrees(180, 1)], vec![degrees(-180, 1), degrees(-179, 2)]]);
    assert_eq!(cut_at_180(&[degrees(1, 1)]), [vec![degrees(1, 1)]]);
}

/// Random borders: a point is inside the polygons exactly if the even-odd rule says so for the segments, and the
/// polygons are valid.
#[test]
fn random_borders_keep_their_inside() {
    let mut seed = 7_u64;
    let mut random = |below: u64| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((seed >> 33) % below) as i32
    };
    let (mut sound, mut repaired) = (0, 0);
    for _ in 0..3_000 {
        let mut border = OutlineBorder::default();
        let mut segments = Vec::new();
        for _ in 0..1 + random(4) {
            // Squares and triangles on a coarse grid touch and cross in every way.
            let (x, y, side) = (random(6), random(6), 1 + random(3));
            let ring = match random(3) {
                0 => vec![(x, y), (x + side, y), (x + side, y + side), (x, y + side), (x, y)],
                1 => vec![(x, y), (x + side, y), (x, y + side), (x, y)],
                _ => (0..5).map(|_| (random(7), random(7))).collect(),
            };
            let mut ring = line(&ring);
            ring.iter_mut().for_each(|c| *c = Coord { lat: c.lat * 840, lon: c.lon * 840 });
            if ring.first() != ring.last() {
                ring.push(ring[0]);
            }
            segments.extend(ring.windows(2).map(|side| Segment { a: side[0], b: side[1] }));
            border.add(&ring, false);
        }
        // A ring that is drawn twice counts once, which crossings do not know of.
        let mut unique: Vec<Segment> = segments.iter().map(|s| Segment::undirected(s.a, s.b)).collect();
        unique.sort_unstable();
        unique.dedup();
        if unique.len() < segments.len() {
            continue;
        }
        let polygons = match border.polygons() {
            Ok(polygons) => {
                sound += 1;
                polygons
            }
            Err(flaw) => {
                assert_ne!(flaw, Flaw::Open);
                repaired += 1;
                border.drawable()
            }
        };
        let edges =
            |all: &[Segment]| crate::geometry::Polygon::new(crate::geometry::BorderRule::ClosedWay, all.to_vec());
        let sides: Vec<Segment> = polygons
            .iter()
            .flatten()
            .flat_map(|ring| ring.windows(2))
            .map(|side| Segment { a: side[0], b: side[1] })
            .collect();
        let (drawn, found) = (edges(&segments), edges(&sides));
        for _ in 0..40 {
            let at = Coord { lat: random(7 * 840), lon: random(7 * 840) };
            // New points are rounded to whole steps, which moves the border: points right next to it are not compared.
            let far = [(-2, 0), (2, 0), (0, -2), (0, 2)].iter().all(|(y, x)| {
                drawn.locate_exactly(Coord { lat: at.lat + y, lon: at.lon + x }) == drawn.locate_exactly(at)
            });
            if far && drawn.locate_exactly(at) != PolygonLocation::Border {
                assert_eq!(found.locate_exactly(at), drawn.locate_exactly(at), "{segments:?} {at:?}");
            }
        }
        let rings: Vec<Line> = polygons.iter().flatten().cloned().collect();
        assert!(polygons.is_empty() || is_sound(&rings, polygons.len()), "{segments:?} {polygons:?}");
    }
    assert!(sound > 300 && repaired > 300, "{sound} {repaired}");
}
