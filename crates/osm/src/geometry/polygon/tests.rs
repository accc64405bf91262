use super::*;

/// The kind of border without a tolerance, apart from segments that fall eastwards.
const BORDER: BorderRule = BorderRule::Relation;

fn ring(border: BorderRule, points: &[Coord]) -> Polygon {
    let n = points.len();
    Polygon::new(border, (0..n).map(|i| Segment { a: points[i], b: points[(i + 1) % n] }))
}

/// A small generator with a fixed seed.
struct PolygonTestRandom(u64);

impl PolygonTestRandom {
    fn below(&mut self, n: i32) -> i32 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) % n as u64) as i32
    }
    fn coord(&mut self, n: i32) -> Coord {
        Coord { lat: self.below(n), lon: self.below(n) }
    }
}

/// Counts crossings over all segments; the point in parts of a step.
fn naive(segments: &[Segment], lat: i64, lon: i64, scale: i64) -> PolygonLocation {
    let mut inside = false;
    for s in segments {
        let [ay, ax, by, bx] = [s.a.lat, s.a.lon, s.b.lat, s.b.lon].map(|v| i64::from(v) * scale);
        let cross = (bx - ax) * (lat - ay) - (by - ay) * (lon - ax);
        let within = lat >= ay.min(by) && lat <= ay.max(by) && lon >= ax.min(bx) && lon <= ax.max(bx);
        if cross == 0 && within {
            return PolygonLocation::Border;
        }
        if (ay > lat) != (by > lat) && (cross > 0) == (by > ay) {
            inside = !inside;
        }
    }
    if inside { PolygonLocation::Inside } else { PolygonLocation::Outside }
}

fn random_polygon(r: &mut PolygonTestRandom, size: i32) -> Polygon {
    let mut segments = Vec::new();
    for _ in 0..1 + r.below(3) {
        let ring: Vec<Coord> = (0..3 + r.below(60)).map(|_| r.coord(size)).collect();
        segments.extend((0..ring.len()).map(|i| Segment { a: ring[i], b: ring[(i + 1) % ring.len()] }));
    }
    Polygon::new(BORDER, segments)
}

/// A ring around the middle of a grid of 13, with a hole: no border crosses another.
fn random_star(r: &mut PolygonTestRandom) -> Polygon {
    let rays = [(6, 0), (6, 3), (6, 6), (3, 6), (0, 6), (-3, 6), (-6, 6), (-6, 3)];
    let rays: Vec<(i32, i32)> = rays.into_iter().chain(rays.into_iter().map(|(y, x)| (-y, -x))).collect();
    let mut segments = Vec::new();
    for (least, most) in [(4, 6), (1, 3)] {
        let ring: Vec<Coord> = rays
            .iter()
            .map(|&(y, x)| (least + r.below(most - least + 1), y, x))
            .map(|(k, y, x)| Coord { lat: 6 + y * k / 6, lon: 6 + x * k / 6 })
            .collect();
        segments.extend((0..ring.len()).map(|i| Segment { a: ring[i], b: ring[(i + 1) % ring.len()] }));
    }
    Polygon::new(BORDER, segments)
}

#[test]
fn locating_agrees_with_counting_all_crossings() {
    let mut r = PolygonTestRandom(1);
    for _ in 0..60 {
        let polygon = random_polygon(&mut r, 30);
        for lat in -1..31 {
            for lon in -1..31 {
                let expected = naive(polygon.segments(), i64::from(lat), i64::from(lon), 1);
                assert_eq!(polygon.locate_exactly(Coord { lat, lon }), expected);
            }
        }
    }
}

#[test]
fn boxes_agree_with_every_point_in_them() {
    let mut r = PolygonTestRandom(2);
    let mut seen = [0; 3];
    for _ in 0..200 {
        let polygon = random_polygon(&mut r, 40);
        for _ in 0..20 {
            let (south, west) = (r.below(40), r.below(40));
            let area = BoundingBox { south, west, north: south + r.below(6), east: west + r.below(6) };
            let relation = polygon.relate(&area);
            seen[relation as usize] += 1;
            let mut all = Vec::new();
            for lat in 2 * area.south..=2 * area.north {
                for lon in 2 * area.west..=2 * area.east {
                    all.push(naive(polygon.segments(), i64::from(lat), i64::from(lon), 2));
                }
            }
            match relation {
                BoxRelation::Inside => assert!(all.iter().all(|&l| l == PolygonLocation::Inside)),
                BoxRelation::Outside => assert!(all.iter().all(|&l| l == PolygonLocation::Outside)),
                BoxRelation::Mixed => {
                    let wider = BoundingBox {
                        south: area.south - 1,
                        west: area.west - 1,
                        north: area.north + 1,
                        east: area.east + 1,
                    };
                    assert!(polygon.segments().iter().any(|&s| segment_meets_box(s, &wider)));
                }
            }
        }
    }
    assert!(seen.iter().all(|&n| n > 10), "{seen:?}");
}

#[test]
fn lines_agree_with_a_fine_walk_along_them() {
    let mut r = PolygonTestRandom(3);
    let (mut met, mut missed) = (0, 0);
    for _ in 0..40 {
        let polygon = random_star(&mut r);
        for _ in 0..20 {
            let (a, b) = (r.coord(14), r.coord(14));
            // Between crossings with lines through points of a small grid there is always one of these steps.
            let steps = 2048;
            let (dy, dx) = (i64::from(b.lat - a.lat), i64::from(b.lon - a.lon));
            let walked = (0..=steps).any(|k| {
                let (lat, lon) = (i64::from(a.lat) * steps + dy * k, i64::from(a.lon) * steps + dx * k);
                naive(polygon.segments(), lat, lon, steps) == PolygonLocation::Inside
            });
            let s = Segment { a, b };
            let touches =
                |t: &Segment| [t.a, t.b].iter().any(|&c| on_segment(s, c)) || on_segment(*t, a) || on_segment(*t, b);
            if polygon.segments().iter().any(touches) {
                continue;
            }
            // Large enough that no coordinate is rounded.
            let large = |c: Coord| Coord { lat: c.lat * 1000, lon: c.lon * 1000 };
            let enlarged = polygon.segments().iter().map(|t| Segment { a: large(t.a), b: large(t.b) });
            let meets = Polygon::new(BORDER, enlarged).meets_line(&[large(a), large(b)]);
            assert!(walked || !meets, "{a:?} {b:?} {:?}", polygon.segments());
            // Not every crossing counts.
            let counts = |t: &Segment| segments_meet(s, *t) && crossing_counts(s, *t);
            assert!(meets || !walked || !polygon.segments().iter().all(counts), "{a:?} {b:?}");
            if meets { met += 1 } else { missed += 1 }
        }
    }
    assert!(met > 20 && missed > 20, "{met} {missed}");
}

#[test]
fn lines_on_the_border_do_not_meet() {
    let c = |lat, lon| Coord { lat, lon };
    let square = ring(BORDER, &[c(0, 0), c(0, 10), c(10, 10), c(10, 0)]);
    assert!(!square.meets_line(&[c(0, -5), c(0, 15)]), "along an edge");
    assert!(!square.meets_line(&[c(-5, 5), c(0, 5)]), "up to an edge");
    assert!(!square.meets_line(&[c(-5, 5), c(5, -5)]), "past a corner");
    assert!(square.meets_line(&[c(0, 0), c(10, 10)]), "between corners");
    assert!(square.meets_line(&[c(0, 5), c(10, 5)]), "between edges");
    assert!(square.meets_line(&[c(3, 3), c(4, 4)]), "inside");
    assert!(!square.meets_line(&[c(-5, 5), Coord::MISSING, c(15, 5)]), "a missing node breaks the line");
}

#[test]
fn common_edges_and_nothing_at_all() {
    let c = |lat, lon| Coord { lat, lon };
    let (left, right) = ([c(0, 0), c(0, 10), c(10, 10), c(10, 0)], [c(0, 10), c(0, 20), c(10, 20), c(10, 10)]);
    let both = Polygon::new(
        BORDER,
        [left, right].iter().flat_map(|ring| (0..4).map(|i| Segment { a: ring[i], b: ring[(i + 1) % 4] })),
    );
    assert_eq!(both.locate(c(5, 10)), PolygonLocation::Border, "the common edge");
    assert_eq!([9, 11].map(|lon| both.locate(c(5, lon))), [PolygonLocation::Inside; 2]);
    assert!(!both.meets_line(&[c(0, 10), c(10, 10)]), "along the common edge");
    assert_eq!(Polygon::new(BORDER, [Segment { a: c(1, 1), b: c(1, 1) }]).locate(c(1, 1)), PolygonLocation::Border);
    let nothing = Polygon::new(BORDER, []);
    assert_eq!(nothing.locate(c(0, 0)), PolygonLocation::Outside);
    assert_eq!(nothing.relate(&BoundingBox { south: -1, west: -1, north: 1, east: 1 }), BoxRelation::Outside);
    assert!(!nothing.meets_line(&[c(0, 0), c(1, 1)]));
}

/// As observed in the reference: which nodes next to a sloping segment are on it.
#[test]
fn nearly_on_the_border() {
    let c = |lat, lon| Coord { lat, lon };
    // The areas above a segment that falls eastwards and below one that rises. At longitude 10 the first segment is at
    // 13⅓, the second at 6⅔ steps.
    let (falls, rises) = ([c(20, 0), c(0, 30), c(90, 30)], [c(0, 0), c(20, 30), c(-90, 30)]);
    let turned = |[a, b, c]: [Coord; 3]| [c, b, a];
    for (border, falls, rises, expected_falling, expected_rising) in [
        (BorderRule::Relation, falls, rises, [false, true, true, true], [true, true, true, false]),
        (BorderRule::Relation, turned(falls), turned(rises), [false, false, true, true], [true, true, false, false]),
        (BorderRule::ClosedWay, falls, rises, [false, true, true, true], [true, true, true, false]),
        (BorderRule::ClosedWay, turned(falls), turned(rises), [false, true, true, true], [true, true, true, false]),
    ] {
        let at = |points: &[Coord], lats: [i32; 4]| lats.map(|lat| ring(border, points).covers(c(lat, 10)));
        assert_eq!(at(&falls, [12, 13, 14, 15]), expected_falling, "{border:?}");
        assert_eq!(at(&rises, [5, 6, 7, 8]), expected_rising, "{border:?}");
    }
    // At longitude 5 the first is at 16⅔.
    assert_eq!(ring(BorderRule::Relation, &falls).locate(c(16, 5)), PolygonLocation::Border);
    assert_eq!(ring(BorderRule::ClosedWay, &falls).locate(c(16, 5)), PolygonLocation::Outside);
}

/// As observed in the reference: the northernmost nodes in the area below a segment, at some longitudes.
#[test]
fn long_segments_are_cut_into_tiles() {
    let c = |lat, lon| Coord { lat, lon };
    let borders = [
        (
            c(-439_906_210, -999_731_674),
            c(-445_138_889, -999_260_486),
            false,
            [(-999_512_959, -442_335_092), (-999_577_753, -441_615_542), (-999_285_617, -444_859_802)],
        ),
        (
            c(-679_751_200, -1_500_307_677),
            c(-689_625_762, -1_496_937_563),
            true,
            [(-1_498_667_787, -684_556_136), (-1_499_741_394, -681_410_429), (-1_497_366_528, -688_368_878)],
        ),
        (
            c(279_227_974, -1_299_217_250),
            c(275_338_764, -1_297_005_195),
            true,
            [(-1_298_539_643, 278_036_616), (-1_298_096_476, 277_257_443), (-1_297_088_508, 275_485_244)],
        ),
        (
            c(39_741_890, -1_200_049_306),
            c(37_235_207, -1_197_295_683),
            false,
            [(-1_198_250_273, 38_104_193), (-1_199_792_301, 39_507_932), (-1_199_847_373, 39_558_066)],
        ),
    ];
    for (a, b, turned, tops) in borders {
        let base = a.lat.min(b.lat) - 70_000;
        let mut points = [a, b, c(base, b.lon), c(base, a.lon)];
        if turned {
            points.reverse();
        }
        for border in [BorderRule::Relation, BorderRule::Drawn] {
            let area = ring(border, &points);
            for (lon, top) in tops {
                let covered = [top, top + 1].map(|lat| area.covers(c(lat, lon)));
                assert_eq!(covered, [true, false], "{a:?} {b:?} {turned} at {lon}");
            }
        }
    }
}

/// Ways of two nodes, of which the reference finds some because it looks at each tile on its own.
#[test]
fn lines_are_cut_into_tiles() {
    let c = |lat, lon| Coord { lat, lon };
    /// The corners of an area, and ways with whether the reference finds them in it.
    type Found<'a> = (&'a [Coord], &'a [(Coord, Coord, bool)]);
    let areas: [Found<'_>; 2] = [
        (
            &[
                c(299_932_205, 110_048_542),
                c(300_036_003, 109_990_372),
                c(300_068_843, 110_101_704),
                c(299_984_023, 110_123_986),
            ],
            &[(c(299_993_969, 110_179_836), c(300_069_019, 110_090_792), true)],
        ),
        (
            &[c(299_953_330, 120_631_742), c(299_997_364, 120_657_528), c(300_002_400, 120_559_822)],
            &[
                (c(299_865_823, 120_759_793), c(300_123_616, 120_482_218), false),
                (c(299_835_220, 120_686_575), c(300_110_406, 120_575_675), false),
                (c(299_923_884, 120_641_299), c(300_108_159, 120_634_007), true),
            ],
        ),
    ];
    for (points, lines) in areas {
        for border in [BorderRule::Relation, BorderRule::Drawn] {
            let area = ring(border, points);
            for &(from, to, expected) in lines {
                assert_eq!(area.meets_line(&[from, to]), expected, "{from:?} {to:?}");
                assert_eq!(area.meets_line(&[to, from]), expected, "{to:?} {from:?}");
            }
        }
    }
}

/// As observed in the reference, which has some closed ways among the ways in themselves and others not.
#[test]
fn closed_ways_in_themselves() {
    let ways: [(bool, &[(i32, i32)]); 4] = [
        (
            true,
            &[
                (-556_880_895, -620_739_020),
                (-556_881_226, -620_740_064),
                (-556_881_458, -620_740_229),
                (-556_882_392, -620_738_222),
            ],
        ),
        (
            true,
            &[
                (582_778_861, 1_435_442_262),
                (582_779_145, 1_435_440_325),
                (582_778_515, 1_435_439_714),
                (582_776_232, 1_435_440_730),
                (582_776_210, 1_435_440_830),
                (582_777_153, 1_435_442_573),
            ],
        ),
        (
            false,
            &[
                (-538_855_479, 1_309_204_871),
                (-538_856_137, 1_309_203_094),
                (-538_857_126, 1_309_203_211),
                (-538_857_593, 1_309_203_733),
                (-538_857_675, 1_309_204_505),
            ],
        ),
        (
            false,
            &[
                (550_900_939, -670_443_654),
                (550_902_391, -670_444_089),
                (550_905_003, -670_448_096),
                (550_905_005, -670_448_136),
            ],
        ),
    ];
    for (expected, points) in ways {
        let mut line: Vec<Coord> = points.iter().map(|&(lat, lon)| Coord { lat, lon }).collect();
        let [way, relation, drawn] =
            [BorderRule::ClosedWay, BorderRule::Relation, BorderRule::Drawn].map(|border| ring(border, &line));
        line.push(line[0]);
        assert_eq!(way.meets_line(&line), expected);
        assert!(!relation.meets_line(&line));
        assert!(drawn.meets_line(&line));
    }
}

/// Ways of two nodes across strips, as the reference answers `way(area)` and `way(poly)`.
#[test]
fn crossings_count_where_the_border_begins_north_of_the_line() {
    let c = |lat, lon| Coord { lat, lon };
    let lines = [
        [c(10_000, 20_000), c(40_000, 20_000)],
        [c(40_000, 20_000), c(10_000, 30_000)],
        [c(10_000, 20_000), c(40_000, 30_000)],
    ];
    for (west, east, expected) in [
        (21_000, 21_000, [true, false, true]),
        (6_000, 36_000, [true, false, false]),
        (36_000, 6_000, [true, false, true]),
        (51_000, -9_000, [true, true, true]),
    ] {
        let strip = [c(west, 5_000), c(west + 500, 5_000), c(east + 500, 45_000), c(east, 45_000)];
        for border in [BorderRule::Relation, BorderRule::Drawn] {
            let strip = ring(border, &strip);
            assert_eq!(lines.map(|line| strip.meets_line(&line)), expected, "{border:?} {west} {east}");
        }
        assert!(lines.iter().all(|line| ring(BorderRule::ClosedWay, &strip).meets_line(line)), "{west} {east}");
    }
    // An end inside is enough.
    let square = [c(0, 0), c(0, 22_000), c(100_000, 35_000), c(100_000, 0)];
    for border in [BorderRule::Relation, BorderRule::Drawn] {
        assert!(lines.iter().all(|line| ring(border, &square).meets_line(line)), "{border:?}");
    }
}

/// Long lines look for leaves of the tree by parts. Some run along the border, some near it, some across half of it.
#[test]
fn parts_of_lines_agree_with_single_segments() {
    let mut r = PolygonTestRandom(4);
    let mut met = [0; 2];
    let mut has_too_many = false;
    for round in 0..40 {
        let ring: Vec<Coord> = (0..2_000)
            .map(|k| {
                let angle = f64::from(k) / 2_000.0 * std::f64::consts::TAU;
                let radius = f64::from(2_000_000 + r.below(20_000));
                Coord { lat: (radius * angle.sin()) as i32, lon: (radius * angle.cos()) as i32 }
            })
            .collect();
        let segments: Vec<Segment> =
            (0..ring.len()).map(|i| Segment { a: ring[i], b: ring[(i + 1) % 2_000] }).collect();
        for border in [BorderRule::Relation, BorderRule::Drawn, BorderRule::ClosedWay] {
            let polygon = Polygon::new(border, segments.iter().copied());
            let from = r.below(1_200) as usize;
            let (shift, every) = ([0, 0, 25_000, -1][round % 4], [1, 1, 1, 40][round % 4]);
            let mut line: Vec<Coord> = ring[from..from + 800].iter().copied().step_by(every).collect();
            line.iter_mut().for_each(|c| c.lon += shift);
            if round % 3 == 0 {
                line.reverse();
            }
            let one_by_one = line.windows(2).any(|w| {
                let whole = LineSegment { ends: [w[0], w[1]], alone: line.len() == 2, near: None };
                matches!(polygon.pass(Segment { a: w[0], b: w[1] }, whole, None), SegmentPass::Inside)
            });
            has_too_many |= line.chunks(TOGETHER).any(|part| !polygon.find_leaves(part, &mut Vec::new()));
            assert_eq!(polygon.meets_line(&line), one_by_one, "round {round}, {border:?}");
            met[usize::from(one_by_one)] += 1;
        }
    }
    assert!(met.iter().all(|&n| n > 15) && has_too_many, "{met:?} {has_too_many}");
}
