//! Measures tiles: `cargo bench --locked --workspace --bench tiles -- SNAPSHOT`.
//!
//! At each zoom, makes the eight tiles with the most pages of nodes. Each tile is made three times, each time from a
//! newly opened snapshot without any decoded pages, lists or areas (`cold`; the file itself is in the page cache). From
//! zoom 0 to 6, this includes reading the overview of the world. Prints the median of the eight tiles' fastest times,
//! and the slowest of them with its address. Then prints the same for the second time that a snapshot makes a tile
//! (`warm`): then its pages are cached, but not the tile. The last column is a digest of all bytes, to compare two
//! versions of this program.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use sha2::{Digest, Sha256};
use terrapin::osm::{ElementType, Osm};
use terrapin::snapshot::Snapshot;
use terrapin::tiles::{DEEPEST, TileCache, TileId};

/// The number of tiles per zoom.
const TILES: usize = 8;
/// The number of times that a tile is made.
const TIMES: usize = 3;
/// The memory limit of cached pages, in bytes.
const CACHE: u64 = 512 << 20;

fn opened(path: &Path) -> Osm {
    let snapshot = Arc::new(Snapshot::open(path).expect("a snapshot"));
    Osm::open_with(snapshot, CACHE).expect("elements")
}

/// Returns the tiles of a zoom that contain the centers of the most pages of nodes.
fn fullest(osm: &Osm, zoom: u8) -> Vec<TileId> {
    let mut pages: BTreeMap<(u32, u32), usize> = BTreeMap::new();
    for page in 0..osm.page_count(ElementType::Node) {
        let within = osm.page_box(ElementType::Node, page);
        let degrees = |low: i32, high: i32| (f64::from(low) + f64::from(high)) / 2e7;
        let (lat, lon) = (degrees(within.south, within.north), degrees(within.west, within.east));
        let size = f64::from(1_u32 << zoom);
        let north = 0.5 - lat.to_radians().tan().asinh() / std::f64::consts::TAU;
        let place = |part: f64| ((part * size).max(0.0) as u32).min((1 << zoom) - 1);
        *pages.entry((place((lon + 180.0) / 360.0), place(north))).or_default() += 1;
    }
    let mut all: Vec<_> = pages.into_iter().collect();
    all.sort_by_key(|(place, count)| (std::cmp::Reverse(*count), *place));
    all.into_iter().filter_map(|((x, y), _)| TileId::new(zoom, x, y)).take(TILES).collect()
}

fn median(times: &[Duration]) -> f64 {
    let mut times = times.to_vec();
    times.sort_unstable();
    times.get(times.len() / 2).map_or(0.0, Duration::as_secs_f64) * 1e3
}

fn main() {
    let Some(path) = std::env::args().skip(1).find(|argument| !argument.starts_with('-')) else {
        println!("tiles: skipped: give a snapshot, cargo bench --bench tiles -- SNAPSHOT");
        return;
    };
    let path = Path::new(&path);
    println!("zoom tiles   cold: median slowest   warm: median   largest   digest, slowest");
    for zoom in 0..=DEEPEST {
        let (mut cold, mut warm, mut largest) = (Vec::new(), Vec::new(), 0);
        let mut digest = Sha256::new();
        let mut slowest = (Duration::ZERO, None);
        let places = fullest(&opened(path), zoom);
        for &place in &places {
            let mut fastest = [Duration::MAX; 2];
            for time in 0..TIMES {
                let (osm, tiles) = (opened(path), TileCache::new(32 << 20));
                for fastest in &mut fastest {
                    let started = Instant::now();
                    let tile = tiles.make(&osm, place);
                    *fastest = started.elapsed().min(*fastest);
                    if time == 0 {
                        digest.update(&tile);
                        largest = largest.max(tile.len());
                    }
                }
                osm.check().expect("it is whole");
            }
            slowest = slowest.max((fastest[0], Some(format!("{place:?}"))));
            cold.push(fastest[0]);
            warm.push(fastest[1]);
        }
        println!(
            "{zoom:4} {:5} {:14.1} ms {:7.1} ms {:8.1} ms {largest:8} B   {} {}",
            places.len(),
            median(&cold),
            slowest.0.as_secs_f64() * 1e3,
            median(&warm),
            digest.finalize().iter().take(6).map(|byte| format!("{byte:02x}")).collect::<String>(),
            slowest.1.unwrap_or_default()
        );
    }
}
