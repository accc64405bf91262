//! Vector tiles made from a snapshot on request, in the layers of Shortbread (`schema.rs`). Neighbouring tiles agree at
//! their seam: positions are whole units from the corner of the world (`place.rs`), lines are simplified as a whole and
//! clipped afterwards, with a margin (`geometry.rs`). The same snapshot gives the same bytes.
//!
//! May use `osm`; does not know HTTP. The cache has a fixed size in bytes. Long computations check the current budget.
//!
//! ```text
//! select.rs      the elements that may be in a tile; tags.rs: matching of their tags with the rules (rules.rs)
//! lines.rs       ways as lines in units
//! elements.rs    from elements to features; attributes.rs: the attributes of features
//! borders.rs, ocean.rs   the layers that are assembled from several elements
//! overview.rs    their source at low zooms, read once for all tiles; land.rs: the built-in outline of the Earth's land
//! encode.rs      features as bytes
//! ```

mod attributes;
mod borders;
mod elements;
mod encode;
mod geometry;
mod land;
mod lines;
mod ocean;
mod overview;
mod place;
mod rules;
mod schema;
mod select;
mod tags;

use std::io::Write;
use std::sync::{Arc, OnceLock};

use flate2::Compression;
use flate2::write::GzEncoder;
use quick_cache::Weighter;
use quick_cache::sync::Cache;
use rayon::prelude::*;
use rustc_hash::FxHashMap;
use terrapin_budget as budget;
use terrapin_osm::outline::{self, Line};
use terrapin_osm::{ElementType, Ordinal, Osm};

pub use place::{DEEPEST, TileId};

use elements::{Maker, TileFeature, TileGeometry};
use encode::{Attributes, Drawing, TileEncoder};
use geometry::project;
use lines::LineProjector;
use overview::Overview;
use schema::{LAYERS, TileLayer};
use select::PageSelection;
use tags::Rules;

/// The deepest zoom at which lines with the same attributes are merged into one feature.
const MERGED_TO: u8 = 12;
/// The part of the cache for assembled areas is one divided by this.
const AREAS: u64 = 4;
/// Number of parts of pages that a thread takes at once.
const AT_ONCE: usize = 4;

/// The tiles of a snapshot, with a cache of bounded size.
pub struct TileCache {
    made: Cache<TileId, Arc<[u8]>, TileWeigher>,
    areas: Cache<Ordinal, Arc<[Vec<Line>]>, TileWeigher>,
    rules: OnceLock<(Rules, borders::BorderTags)>,
    overview: Overview,
}

#[derive(Clone)]
struct TileWeigher;

impl Weighter<TileId, Arc<[u8]>> for TileWeigher {
    fn weight(&self, _: &TileId, tile: &Arc<[u8]>) -> u64 {
        tile.len() as u64 + 64
    }
}

impl Weighter<Ordinal, Arc<[Vec<Line>]>> for TileWeigher {
    fn weight(&self, _: &Ordinal, polygons: &Arc<[Vec<Line>]>) -> u64 {
        let ring = |ring: &Line| 8 * ring.len() as u64 + 32;
        polygons.iter().flatten().map(ring).sum::<u64>() + 64
    }
}

impl TileCache {
    /// Returns an empty cache of at most this number of bytes.
    pub fn new(bytes: u64) -> TileCache {
        let areas = bytes / AREAS;
        TileCache {
            made: Cache::with_weighter(1 << 10, bytes - areas, TileWeigher),
            areas: Cache::with_weighter(1 << 8, areas, TileWeigher),
            rules: OnceLock::new(),
            overview: Overview::default(),
        }
    }

    /// Returns a cached tile, compressed.
    pub fn kept(&self, place: TileId) -> Option<Arc<[u8]>> {
        self.made.get(&place)
    }

    /// Adds a tile to the cache.
    pub fn keep(&self, place: TileId, tile: &Arc<[u8]>) {
        self.made.insert(place, Arc::clone(tile));
    }

    /// Makes a Mapbox Vector Tile, compressed with gzip. The caller checks whether the snapshot is damaged.
    pub fn make(&self, osm: &Osm, place: TileId) -> Arc<[u8]> {
        let (rules, borders) = budget::once(&self.rules, || (Rules::of(osm), borders::BorderTags::of(osm)));
        let parts = select::parts(osm, rules, place);
        let current = budget::current();
        let made: Vec<Vec<TileFeature>> = parts
            .par_chunks(AT_ONCE)
            .map(|parts| {
                current.share(|| {
                    let (mut maker, mut lines) = (Maker::new(osm, rules, place), LineProjector::new(osm, place));
                    parts.iter().for_each(|part| self.part(osm, rules, part, &mut maker, &mut lines));
                    maker.features
                })
            })
            .collect();
        let mut features: Vec<TileFeature> = made.into_iter().flatten().collect();
        let tolerance = Maker::new(osm, rules, place).tolerance();
        if place.zoom() <= overview::ZOOM {
            let map = self.overview.map(osm, borders);
            borders::add_low(map.borders(place), map.names(place), place, tolerance, &mut features);
            ocean::add_low(map.land(place), tolerance, &mut features);
        } else {
            let polygons = |relation| self.polygons(osm, relation);
            borders::add(osm, borders, place, tolerance, &polygons, &mut features);
            ocean::add(osm, borders.coastline(), place, tolerance, &mut features);
        }
        packed(&encoded(features, place))
    }

    /// Adds the features of some elements of a page.
    fn part(
        &self,
        osm: &Osm,
        rules: &Rules,
        part: &PageSelection,
        maker: &mut Maker<'_>,
        lines: &mut LineProjector<'_>,
    ) {
        let tags = osm.tag_page(part.kind, part.page);
        let all = 0..osm.page_size(part.kind) as usize;
        let slots: Vec<usize> = if part.slots.is_empty() { all.collect() } else { part.slots.clone() };
        // Most pages of nodes have no matching tags; their positions are not read.
        let wanted: Vec<usize> = slots.into_iter().filter(|slot| maker.fits(tags.tags(*slot))).collect();
        if wanted.is_empty() {
            return;
        }
        match part.kind {
            ElementType::Node => {
                let page = osm.node_page(part.page);
                for slot in wanted {
                    let Some(at) = page.coords.get(slot) else { continue };
                    if maker.fits(tags.tags(slot)) {
                        maker.node(*at, tags.tags(slot));
                    }
                }
            }
            // A page that is read as a whole is likely read again for the next tile, so its geometry is cached.
            ElementType::Way if part.slots.is_empty() => {
                let page = osm.way_page(part.page);
                for slot in wanted {
                    if maker.fits(tags.tags(slot)) {
                        maker.way(page.nodes(slot), project(lines.tile(), page.coords(slot)), tags.tags(slot));
                    }
                }
            }
            ElementType::Way => {
                let page = osm.way_nodes(part.page);
                for slot in wanted {
                    if maker.fits(tags.tags(slot)) {
                        maker.way(page.nodes(slot), lines.points(page.nodes(slot)), tags.tags(slot));
                    }
                }
            }
            ElementType::Relation => {
                let first = u64::from(part.page) * osm.page_size(part.kind);
                for slot in wanted {
                    let is_area = rules.multipolygon.is_some_and(|pair| tags.tags(slot).contains(&pair));
                    if is_area && maker.fits(tags.tags(slot)) && maker.has_shapes() {
                        maker.multipolygon(&self.polygons(osm, first + slot as u64), tags.tags(slot));
                    }
                }
            }
        }
    }

    /// Returns the polygons of a relation from the cache, or assembles them.
    fn polygons(&self, osm: &Osm, relation: Ordinal) -> Arc<[Vec<Line>]> {
        self.areas.get(&relation).unwrap_or_else(|| {
            let made: Arc<[Vec<Line>]> = outline::border_of(osm, relation).drawable().into();
            // The cache outlives this tile, so it is not charged to its budget.
            let kept = budget::unwatched(|| Arc::<[Vec<Line>]>::from(made.to_vec()));
            self.areas.insert(relation, Arc::clone(&kept));
            kept
        })
    }
}

/// Returns the layers for TileJSON: name, first zoom, fields with their types.
pub fn layers() -> impl Iterator<Item = (&'static str, u8, &'static [(&'static str, &'static str)])> {
    LAYERS.iter().map(|told| (told.name, told.from, told.fields))
}

/// Returns the bytes of a tile.
fn encoded(mut features: Vec<TileFeature>, place: TileId) -> Vec<u8> {
    budget::checkpoints(features.len());
    // The sort is stable: features of one rank stay in the order of the elements.
    features.sort_by_key(|feature| (feature.layer, feature.rank));
    if place.zoom() <= MERGED_TO {
        features = merged(features);
    }
    let mut tile = TileEncoder::new();
    for TileFeature { layer, geometry, attributes, .. } in features {
        budget::checkpoint();
        let drawing = match geometry {
            TileGeometry::Point(at) => Drawing::point(at),
            TileGeometry::Lines(lines) => Drawing::lines(&lines),
            TileGeometry::Rings(rings) => Drawing::rings(&rings),
        };
        tile.add(layer as usize, drawing, attributes);
    }
    tile.bytes()
}

/// Merges lines with the same layer, rank and attributes into one feature.
fn merged(features: Vec<TileFeature>) -> Vec<TileFeature> {
    let mut kept: Vec<TileFeature> = Vec::with_capacity(features.len());
    let mut places: FxHashMap<(TileLayer, i64, Attributes), usize> = FxHashMap::default();
    for feature in features {
        budget::checkpoint();
        let TileGeometry::Lines(lines) = feature.geometry else {
            kept.push(feature);
            continue;
        };
        let key = (feature.layer, feature.rank, feature.attributes);
        let known = places.get(&key).and_then(|place| kept.get_mut(*place));
        if let Some(TileFeature { geometry: TileGeometry::Lines(all), .. }) = known {
            all.extend(lines);
            continue;
        }
        let (layer, rank, attributes) = key.clone();
        places.insert(key, kept.len());
        kept.push(TileFeature { layer, rank, geometry: TileGeometry::Lines(lines), attributes });
    }
    kept
}

/// Compresses a tile with gzip.
fn packed(tile: &[u8]) -> Arc<[u8]> {
    let mut packer = GzEncoder::new(Vec::new(), Compression::new(4));
    // Writing into memory does not fail.
    let _ = packer.write_all(tile);
    packer.finish().unwrap_or_default().into()
}
