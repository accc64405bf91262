//! What low zooms are drawn of: the coasts, the borders of countries and where the names of countries and states stand, of the
//! whole world, in units of zoom [`ZOOM`]. A tile of a low zoom shows a large share of the world, and to read that share of the
//! snapshot for each of them would take the longer the more there is. It is read once, a piece after the other, when the first
//! such tile is asked for; a tile whose time is over leaves what was read to the next one.

use std::sync::{Arc, Mutex, OnceLock, PoisonError, TryLockError};
use std::thread;
use std::time::Duration;

use rayon::prelude::*;
use terrapin_budget as budget;
use terrapin_osm::{ElementType, Ordinal, Osm, PairId};

use super::borders::{self, Border, Name, Part};
use super::geometry::{extremes, simplify, twice_area};
use super::lines::Lines;
use super::ocean::join;
use super::place::{EXTENT, Place, Point};
use super::select::spans;

/// The deepest zoom that is drawn of it.
pub const ZOOM: u8 = 6;

/// What is nearer to a straight line is drawn so, in units: half of what a tile straightens.
const TOLERANCE: i32 = 2;
/// Ways that a thread reads, and joins where they meet.
const AT_ONCE: usize = 512;
/// Ways that are read before other work gets a turn.
const PIECE: usize = 8 * AT_ONCE;
/// Names of which the same is true.
const NAMES: usize = 16;
/// How long a tile waits before it looks again whether another one has read a piece.
const WAIT: Duration = Duration::from_millis(1);
/// Steps after which a budget is surely looked at.
const LOOK: usize = 1 << 16;

/// The world, as soon as it is read.
#[derive(Default)]
pub struct Overview {
    world: OnceLock<World>,
    reading: Mutex<Option<Reading>>,
}

/// What was read.
#[derive(Default)]
pub struct World {
    coasts: Vec<Stretch>,
    borders: Vec<(Border, Stretch)>,
    names: Vec<Name>,
}

/// A line in units of the whole world.
struct Stretch {
    low: Point,
    high: Point,
    points: Box<[Point]>,
}

/// What is to be read, and how much of it was.
struct Reading {
    coasts: Arc<[Ordinal]>,
    borders: Vec<(Ordinal, Part)>,
    names: Vec<(Ordinal, u64)>,
    done: [usize; 3],
    world: World,
}

impl Overview {
    /// The world; reads what nobody has read.
    pub fn world(&self, osm: &Osm, tags: &borders::Tags) -> &World {
        loop {
            if let Some(world) = self.world.get() {
                return world;
            }
            let mut reading = match self.reading.try_lock() {
                Ok(reading) => reading,
                // What a piece adds it adds at its end.
                Err(TryLockError::Poisoned(poisoned)) => PoisonError::into_inner(poisoned),
                Err(TryLockError::WouldBlock) => {
                    thread::sleep(WAIT);
                    budget::checkpoints(LOOK);
                    continue;
                }
            };
            if self.world.get().is_some() {
                continue;
            }
            // What was read is nobody's, and a piece is short.
            budget::unwatched(|| {
                let at = reading.get_or_insert_with(|| Reading::begin(osm, tags));
                if !at.piece(osm, tags)
                    && let Some(read) = reading.take()
                {
                    self.world.get_or_init(|| read.world);
                }
            });
            drop(reading);
            budget::checkpoints(LOOK);
        }
    }
}

impl Reading {
    fn begin(osm: &Osm, tags: &borders::Tags) -> Reading {
        let all = |pair: PairId| osm.postings(ElementType::Way, pair).all();
        let everywhere = 0..osm.count(ElementType::Relation);
        let everywhere = std::slice::from_ref(&everywhere);
        let names = borders::relations(osm, tags, everywhere);
        let countries: Vec<(Ordinal, u64)> = names.iter().copied().filter(|(_, level)| *level == 2).collect();
        let borders = borders::parts(osm, tags, &countries, everywhere);
        let coasts = tags.coastline().map_or_else(|| [].into(), all);
        Reading { coasts, borders, names, done: [0; 3], world: World::default() }
    }

    /// Reads a piece; `false` where nothing is left.
    fn piece(&mut self, osm: &Osm, tags: &borders::Tags) -> bool {
        let [coasts, borders, names] = self.done;
        if let rest @ [_, ..] = &self.coasts[coasts..] {
            let some = &rest[..rest.len().min(PIECE)];
            self.world.coasts.extend(by_threads(some, AT_ONCE, |ways| coast(osm, ways)));
            self.done[0] += some.len();
        } else if let rest @ [_, ..] = &self.borders[borders..] {
            let some = &rest[..rest.len().min(PIECE)];
            self.world.borders.extend(by_threads(some, AT_ONCE, |parts| border(osm, tags, parts)));
            self.done[1] += some.len();
        } else if let rest @ [_, ..] = &self.names[names..] {
            let some = &rest[..rest.len().min(NAMES)];
            let name = |some: &[(Ordinal, u64)]| -> Vec<Name> {
                some.iter().filter_map(|(relation, level)| borders::name(osm, WHOLE, *relation, *level)).collect()
            };
            self.world.names.extend(by_threads(some, 1, name));
            self.done[2] += some.len();
        } else {
            return false;
        }
        true
    }
}

/// The tile from whose corner all positions are counted.
const WHOLE: Place = Place::first(ZOOM);

/// What `make` makes of so many at once, in order.
fn by_threads<T: Sync, U: Send>(all: &[T], at_once: usize, make: impl Fn(&[T]) -> Vec<U> + Sync) -> Vec<U> {
    let current = budget::current();
    let made: Vec<Vec<U>> = all.par_chunks(at_once).map(|some| current.share(|| make(some))).collect();
    made.into_iter().flatten().collect()
}

/// The line of a way; nothing where it is a point.
fn line(osm: &Osm, lines: &mut Lines<'_>, way: Ordinal) -> Option<Vec<Point>> {
    budget::checkpoint();
    let (page, slot) = osm.place(ElementType::Way, way);
    // What lies in one unit is no line.
    if !spans(osm, ElementType::Way, page, lines.tile(), 1) {
        return None;
    }
    let points = lines.points(osm.way_nodes(page).nodes(slot));
    (points.len() > 1).then_some(points)
}

fn coast(osm: &Osm, ways: &[Ordinal]) -> Vec<Stretch> {
    let mut lines = Lines::new(osm, WHOLE);
    let pieces = ways.iter().filter_map(|way| line(osm, &mut lines, *way)).collect();
    join(pieces).into_iter().filter_map(Stretch::of).collect()
}

fn border(osm: &Osm, tags: &borders::Tags, parts: &[(Ordinal, Part)]) -> Vec<(Border, Stretch)> {
    let mut lines = Lines::new(osm, WHOLE);
    let drawn = parts.iter().filter_map(|(way, part)| {
        let stretch = Stretch::of(line(osm, &mut lines, *way)?)?;
        Some((part.border(osm, tags, *way), stretch))
    });
    drawn.collect()
}

impl Stretch {
    /// Nothing where a ring has no area.
    fn of(points: Vec<Point>) -> Option<Stretch> {
        let points = simplify(points, TOLERANCE);
        if points.len() < 2 || points.first() == points.last() && twice_area(&points) == 0 {
            return None;
        }
        let (low, high) = extremes(&points);
        Some(Stretch { low, high, points: points.into() })
    }

    /// Whether it may come so near to a tile.
    fn is_near(&self, tile: Place, units: i32) -> bool {
        let (low, high) = (scaled(self.low, tile), scaled(self.high, tile));
        let end = EXTENT + units;
        low.x <= end && low.y <= end && high.x >= -units && high.y >= -units
    }

    /// In units of a tile, where it comes so near to it.
    fn seen(&self, tile: Place, units: i32) -> Option<Vec<Point>> {
        if !self.is_near(tile, units) {
            return None;
        }
        budget::checkpoints(1 + self.points.len() / 8);
        let mut points: Vec<Point> = self.points.iter().map(|point| scaled(*point, tile)).collect();
        points.dedup();
        Some(points)
    }
}

/// A point of the whole world in units of a tile.
fn scaled(point: Point, tile: Place) -> Point {
    let shift = ZOOM - tile.zoom();
    let half = (1 << shift) >> 1;
    let corner = tile.corner();
    Point { x: ((point.x + half) >> shift) - corner.x, y: ((point.y + half) >> shift) - corner.y }
}

impl World {
    /// The coasts in a tile and its neighbours, in parts of the tile's units.
    pub fn plane(&self, tile: Place) -> Vec<Vec<[f64; 2]>> {
        let (part, corner) = (f64::from(1_u32 << (ZOOM - tile.zoom())), tile.corner());
        let place =
            |p: &Point| [f64::from(p.x) / part - f64::from(corner.x), f64::from(p.y) / part - f64::from(corner.y)];
        let near = self.coasts.iter().filter(|stretch| stretch.is_near(tile, EXTENT));
        near.map(|stretch| stretch.points.iter().map(place).collect()).collect()
    }

    /// The coasts that come nearer to a tile than so many units.
    pub fn coasts(&self, tile: Place, units: i32) -> impl Iterator<Item = Vec<Point>> {
        self.coasts.iter().filter_map(move |stretch| stretch.seen(tile, units))
    }

    /// The borders that do.
    pub fn borders(&self, tile: Place, units: i32) -> impl Iterator<Item = (&Border, Vec<Point>)> {
        self.borders.iter().filter_map(move |(border, stretch)| Some((border, stretch.seen(tile, units)?)))
    }

    /// All names, each with its place in units of a tile.
    pub fn names(&self, tile: Place) -> impl Iterator<Item = (&Name, Point)> {
        self.names.iter().map(move |name| (name, scaled(name.middle, tile)))
    }
}
