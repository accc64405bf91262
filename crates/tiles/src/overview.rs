//! The source of tiles at low zooms: the land, the borders of countries and the names of countries and states of the
//! whole world, in units of zoom [`ZOOM`]. Such a tile shows a large share of the world; reading that share of the
//! snapshot for each tile would be slow. The overview is read once, in small steps, when the first such tile is
//! requested. A tile that runs out of time leaves its progress to the next tile.
//!
//! Land is the built-in outline of the Earth together with the islands of the snapshot. Other coasts of the snapshot
//! are not used, because an extract cuts them.

use std::sync::{Arc, Mutex, OnceLock, PoisonError, TryLockError};
use std::thread;
use std::time::Duration;

use rayon::prelude::*;
use terrapin_budget as budget;
use terrapin_osm::{ElementType, Ordinal, Osm, PairId};

use super::borders::{self, BorderAttributes, BorderMembership, RegionName};
use super::geometry::{extremes, simplify, twice_area};
use super::land;
use super::lines::LineProjector;
use super::ocean::join;
use super::place::{BUFFER, EXTENT, TileId, TilePoint};
use super::select::spans;

/// The deepest zoom that uses the overview.
pub const ZOOM: u8 = 6;

/// Tolerance of simplification in units: half of a tile's tolerance.
const TOLERANCE: i32 = 2;
/// Number of ways that a thread reads and joins.
const AT_ONCE: usize = 512;
/// Number of ways that are read before other work gets a turn.
const PIECE: usize = 8 * AT_ONCE;
/// Number of names that are read before other work gets a turn.
const NAMES: usize = 16;
/// Pause of a tile while another one reads.
const WAIT: Duration = Duration::from_millis(1);
/// Number of steps that makes a budget check its limits.
const LOOK: usize = 1 << 16;

/// The map of the whole world, read on first use.
#[derive(Default)]
pub struct Overview {
    map: OnceLock<OverviewMap>,
    reading: Mutex<Option<OverviewReader>>,
}

/// Land, borders and names of the whole world.
#[derive(Default)]
pub struct OverviewMap {
    /// Rings with land on their left; they may overlap.
    land: Vec<OverviewLine>,
    borders: Vec<(BorderAttributes, OverviewLine)>,
    names: Vec<RegionName>,
}

/// A line in units of the whole world, with its bounding box.
struct OverviewLine {
    low: TilePoint,
    high: TilePoint,
    points: Box<[TilePoint]>,
}

/// The elements to read, and how many of each kind were read.
struct OverviewReader {
    coastlines: Arc<[Ordinal]>,
    borders: Vec<(Ordinal, BorderMembership)>,
    names: Vec<(Ordinal, u64)>,
    done: [usize; 3],
    coasts: Vec<Vec<TilePoint>>,
    map: OverviewMap,
}

impl Overview {
    /// Returns the map; reads it on first use.
    pub fn map(&self, osm: &Osm, tags: &borders::BorderTags) -> &OverviewMap {
        loop {
            if let Some(map) = self.map.get() {
                return map;
            }
            let mut reading = match self.reading.try_lock() {
                Ok(reading) => reading,
                // A step adds its results at its end.
                Err(TryLockError::Poisoned(poisoned)) => PoisonError::into_inner(poisoned),
                Err(TryLockError::WouldBlock) => {
                    thread::sleep(WAIT);
                    budget::checkpoints(LOOK);
                    continue;
                }
            };
            if self.map.get().is_some() {
                continue;
            }
            // The map outlives this tile, so it is not charged to its budget. A step is short.
            budget::unwatched(|| {
                let reader = reading.get_or_insert_with(|| OverviewReader::new(osm, tags));
                if !reader.read_some(osm, tags)
                    && let Some(reader) = reading.take()
                {
                    self.map.get_or_init(|| reader.finish());
                }
            });
            drop(reading);
            budget::checkpoints(LOOK);
        }
    }
}

impl OverviewReader {
    fn new(osm: &Osm, tags: &borders::BorderTags) -> OverviewReader {
        let all = |pair: PairId| osm.postings(ElementType::Way, pair).all();
        let everywhere = 0..osm.count(ElementType::Relation);
        let everywhere = std::slice::from_ref(&everywhere);
        let names = borders::relations(osm, tags, everywhere);
        let countries: Vec<(Ordinal, u64)> = names.iter().copied().filter(|(_, level)| *level == 2).collect();
        let borders = borders::parts(osm, tags, &countries, everywhere);
        let coastlines = tags.coastline().map_or_else(|| [].into(), all);
        OverviewReader { coastlines, borders, names, done: [0; 3], coasts: Vec::new(), map: OverviewMap::default() }
    }

    /// Reads some elements. Returns `false` if all were read.
    fn read_some(&mut self, osm: &Osm, tags: &borders::BorderTags) -> bool {
        let [coastlines, borders, names] = self.done;
        if let rest @ [_, ..] = &self.coastlines[coastlines..] {
            let some = &rest[..rest.len().min(PIECE)];
            self.coasts.extend(by_threads(some, AT_ONCE, |ways| read_coasts(osm, ways)));
            self.done[0] += some.len();
        } else if let rest @ [_, ..] = &self.borders[borders..] {
            let some = &rest[..rest.len().min(PIECE)];
            self.map.borders.extend(by_threads(some, AT_ONCE, |parts| read_borders(osm, tags, parts)));
            self.done[1] += some.len();
        } else if let rest @ [_, ..] = &self.names[names..] {
            let some = &rest[..rest.len().min(NAMES)];
            let name = |some: &[(Ordinal, u64)]| -> Vec<RegionName> {
                some.iter().filter_map(|(relation, level)| borders::name(osm, WHOLE, *relation, *level)).collect()
            };
            self.map.names.extend(by_threads(some, 1, name));
            self.done[2] += some.len();
        } else {
            return false;
        }
        true
    }

    fn finish(self) -> OverviewMap {
        let closed = join(self.coasts).into_iter().filter(|coast| coast.first() == coast.last());
        let rings = land::rings(WHOLE).into_iter().chain(closed);
        OverviewMap { land: rings.filter_map(OverviewLine::new).collect(), ..self.map }
    }
}

/// The tile with its corner at the origin of all positions.
const WHOLE: TileId = TileId::first(ZOOM);

/// Runs `make` on chunks of `at_once` items in parallel. Returns the results in order.
fn by_threads<T: Sync, U: Send>(all: &[T], at_once: usize, make: impl Fn(&[T]) -> Vec<U> + Sync) -> Vec<U> {
    let current = budget::current();
    let made: Vec<Vec<U>> = all.par_chunks(at_once).map(|some| current.share(|| make(some))).collect();
    made.into_iter().flatten().collect()
}

/// Returns the line of a way, or `None` if it is a single point.
fn read_line(osm: &Osm, lines: &mut LineProjector<'_>, way: Ordinal) -> Option<Vec<TilePoint>> {
    budget::checkpoint();
    let (page, slot) = osm.place(ElementType::Way, way);
    // All ways of a page that is smaller than a unit are points.
    if !spans(osm, ElementType::Way, page, lines.tile(), 1) {
        return None;
    }
    let points = lines.points(osm.way_nodes(page).nodes(slot));
    (points.len() > 1).then_some(points)
}

fn read_coasts(osm: &Osm, ways: &[Ordinal]) -> Vec<Vec<TilePoint>> {
    let mut lines = LineProjector::new(osm, WHOLE);
    let pieces = ways.iter().filter_map(|way| read_line(osm, &mut lines, *way)).collect();
    join(pieces).into_iter().map(|points| simplify(points, TOLERANCE)).collect()
}

fn read_borders(
    osm: &Osm,
    tags: &borders::BorderTags,
    parts: &[(Ordinal, BorderMembership)],
) -> Vec<(BorderAttributes, OverviewLine)> {
    let mut lines = LineProjector::new(osm, WHOLE);
    let drawn = parts.iter().filter_map(|(way, part)| {
        let line = OverviewLine::new(read_line(osm, &mut lines, *way)?)?;
        Some((part.border(osm, tags, *way), line))
    });
    drawn.collect()
}

impl OverviewLine {
    /// Returns `None` for a ring without an area.
    fn new(points: Vec<TilePoint>) -> Option<OverviewLine> {
        let points = simplify(points, TOLERANCE);
        if points.len() < 2 || points.first() == points.last() && twice_area(&points) == 0 {
            return None;
        }
        let (low, high) = extremes(&points);
        Some(OverviewLine { low, high, points: points.into() })
    }

    /// Returns the line in units of a tile, or `None` if it is further from the tile than its margin.
    fn in_tile(&self, tile: TileId) -> Option<Vec<TilePoint>> {
        let (low, high) = (scaled(self.low, tile), scaled(self.high, tile));
        let end = EXTENT + BUFFER;
        if low.x > end || low.y > end || high.x < -BUFFER || high.y < -BUFFER {
            return None;
        }
        budget::checkpoints(1 + self.points.len() / 8);
        let mut points: Vec<TilePoint> = self.points.iter().map(|point| scaled(*point, tile)).collect();
        points.dedup();
        Some(points)
    }
}

/// Converts a point of the overview to units of a tile.
fn scaled(point: TilePoint, tile: TileId) -> TilePoint {
    let shift = ZOOM - tile.zoom();
    let half = (1 << shift) >> 1;
    let corner = tile.corner();
    TilePoint { x: ((point.x + half) >> shift) - corner.x, y: ((point.y + half) >> shift) - corner.y }
}

impl OverviewMap {
    /// Returns the rings of land near a tile, land on their left.
    pub fn land(&self, tile: TileId) -> impl Iterator<Item = Vec<TilePoint>> {
        self.land.iter().filter_map(move |ring| ring.in_tile(tile))
    }

    /// Returns the borders near a tile.
    pub fn borders(&self, tile: TileId) -> impl Iterator<Item = (&BorderAttributes, Vec<TilePoint>)> {
        self.borders.iter().filter_map(move |(border, line)| Some((border, line.in_tile(tile)?)))
    }

    /// Returns all names, each with its position in units of a tile.
    pub fn names(&self, tile: TileId) -> impl Iterator<Item = (&RegionName, TilePoint)> {
        self.names.iter().map(move |name| (name, scaled(name.middle, tile)))
    }
}
