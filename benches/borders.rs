//! Measures tests of lines against an area with a border of a million segments: `cargo bench --bench borders`.
//!
//! The border is artificial: a ring with waves of two lengths, in 500 lines of 2,000 segments. The lines are those of
//! the border, then the same moved a tenth of a segment and 10 km to the north. Prints the median of five runs.

use std::time::Instant;

use terrapin::osm::Coord;
use terrapin::osm::geometry::{BorderRule, Polygon, Segment};

const LINES: usize = 500;
const SEGMENTS: usize = 2_000;
/// Distances of the lines from the border, in 1e-7 degrees.
const MOVED: [i32; 3] = [0, 50, 900_000];

fn ring() -> Vec<Coord> {
    let n = LINES * SEGMENTS;
    let at = |i: usize| {
        let angle = i as f64 / n as f64 * std::f64::consts::TAU;
        let radius = 5e7 * (1.0 + 0.05 * (angle * 40.0).sin() + 2e-4 * (angle * 9_000.0).sin());
        let (lat, lon) = (450_000_000.0 + radius * angle.sin(), 100_000_000.0 + 1.4 * radius * angle.cos());
        Coord { lat: lat as i32, lon: lon as i32 }
    };
    (0..n).map(at).collect()
}

fn main() {
    let mut ring = ring();
    ring.push(ring[0]);
    let segments = ring.windows(2).map(|ends| Segment { a: ends[0], b: ends[1] });
    let polygon = Polygon::new(BorderRule::Relation, segments);
    for moved in MOVED {
        let line =
            |i: usize| ring[i * SEGMENTS..=(i + 1) * SEGMENTS].iter().map(|&c| Coord { lat: c.lat + moved, ..c });
        let lines: Vec<Vec<Coord>> = (0..LINES).map(|i| line(i).collect()).collect();
        let mut times: Vec<f64> = Vec::new();
        let mut met = 0;
        for _ in 0..5 {
            let started = Instant::now();
            met = lines.iter().filter(|line| polygon.meets_line(line)).count();
            times.push(started.elapsed().as_secs_f64() * 1e3);
        }
        times.sort_by(f64::total_cmp);
        println!("moved {moved:7} steps: {met:3} of {LINES} lines meet the area, {:8.1} ms", times[2]);
    }
}
