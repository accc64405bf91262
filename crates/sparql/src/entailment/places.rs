//! The stored geometries of a snapshot, and an index of their bounding boxes.

use std::cell::OnceCell;

use geo::{BoundingRect, CoordsIter};
use oxrdf::NamedNode;
use rstar::primitives::{GeomWithData, Rectangle};
use rstar::{AABB, RTree};
use rustc_hash::FxHashMap;

use super::regime::GEO;
use crate::geo::LocatedGeometry;
use terrapin_triples::{ReadError, TermId, TripleView};

/// The properties of a geometry that have a serialization. The first one that can be read counts.
const SERIALIZATIONS: [&str; 4] = ["asWKT", "asGML", "asGeoJSON", "hasSerialization"];

/// Bytes for a geometry in addition to its positions, and for a position.
const GEOMETRY_BYTES: i64 = 256;
const POSITION_BYTES: i64 = 16;

type BoundingBox = GeomWithData<Rectangle<[f64; 2]>, usize>;

/// The terms that have a geometry: features with a default geometry, and geometries with a serialization.
pub(super) struct PlaceIndex {
    /// `geo:hasDefaultGeometry` and the properties that entail it.
    defaults: Vec<TermId>,
    read: OnceCell<StoredPlaces>,
}

/// The geometries, by their order of reading.
#[derive(Default)]
pub(super) struct StoredPlaces {
    geometries: Vec<LocatedGeometry>,
    /// The terms that have each geometry.
    terms: Vec<Vec<TermId>>,
    /// The geometries of each term.
    numbers: FxHashMap<TermId, Vec<usize>>,
    /// The geometries with coordinates in degrees.
    boxes: RTree<BoundingBox>,
    /// The geometries in other reference systems.
    planar: Vec<usize>,
}

impl PlaceIndex {
    /// Creates the index, which is filled on first use.
    pub(super) fn new(defaults: Vec<TermId>) -> PlaceIndex {
        PlaceIndex { defaults, read: OnceCell::new() }
    }

    /// Returns whether a snapshot has serializations of geometries.
    pub(super) fn has_serializations(view: &TripleView) -> bool {
        SERIALIZATIONS.into_iter().any(|name| view.store().predicate(geo_property(view, name)).triples > 0)
    }

    /// Returns the number of triples with serializations.
    pub(super) fn estimate(view: &TripleView) -> f64 {
        SERIALIZATIONS.into_iter().map(|name| view.store().predicate(geo_property(view, name)).triples as f64).sum()
    }

    /// Returns the geometries; reads them if this is the first call.
    ///
    /// # Errors
    /// Returns an error if a limit of the query is reached.
    pub(super) fn places(&self, view: &TripleView) -> Result<&StoredPlaces, ReadError> {
        if let Some(places) = self.read.get() {
            return Ok(places);
        }
        let places = StoredPlaces::read(view, &self.defaults)?;
        Ok(self.read.get_or_init(|| places))
    }
}

/// Returns the id of a property of GeoSPARQL.
pub(super) fn geo_property(view: &TripleView, name: &str) -> TermId {
    view.id(&NamedNode::new_unchecked(format!("{GEO}{name}")).into())
}

impl StoredPlaces {
    fn read(view: &TripleView, defaults: &[TermId]) -> Result<StoredPlaces, ReadError> {
        let mut places = StoredPlaces::default();
        for name in SERIALIZATIONS {
            for triple in view.triples(None, Some(geo_property(view, name)), None) {
                let [term, _, text] = triple?;
                if places.numbers.contains_key(&term) {
                    continue;
                }
                let Some(geometry) = LocatedGeometry::from_term(&view.term(text)?) else { continue };
                let positions = geometry.geometry.coords_count();
                view.work(1 + positions as u64 / 16)?;
                view.hold(GEOMETRY_BYTES + POSITION_BYTES * positions as i64)?;
                places.numbers.insert(term, vec![places.geometries.len()]);
                places.geometries.push(geometry);
                places.terms.push(vec![term]);
            }
        }
        for property in defaults {
            for triple in view.triples(None, Some(*property), None) {
                let [feature, _, geometry] = triple?;
                let Some(&[number]) = places.numbers.get(&geometry).map(Vec::as_slice) else { continue };
                let numbers = places.numbers.entry(feature).or_default();
                if !numbers.contains(&number) {
                    numbers.push(number);
                    view.hold(GEOMETRY_BYTES / 4)?;
                    places.terms.get_mut(number).into_iter().for_each(|terms| terms.push(feature));
                }
            }
        }
        let mut boxes = Vec::with_capacity(places.geometries.len());
        for (number, located) in places.geometries.iter().enumerate() {
            if !located.crs.is_geographic() {
                places.planar.push(number);
            } else if let Some(rect) = located.geometry.bounding_rect() {
                let rect = Rectangle::from_corners(rect.min().into(), rect.max().into());
                boxes.push(GeomWithData::new(rect, number));
            }
        }
        places.boxes = RTree::bulk_load(boxes);
        Ok(places)
    }

    /// Returns all terms with a geometry, ascending.
    pub(super) fn all(&self) -> Vec<TermId> {
        let mut terms: Vec<_> = self.numbers.keys().copied().collect();
        terms.sort_unstable();
        terms
    }

    /// Returns the geometries of a term.
    pub(super) fn of(&self, term: TermId) -> &[usize] {
        self.numbers.get(&term).map_or(&[], Vec::as_slice)
    }

    /// Returns a geometry.
    pub(super) fn geometry(&self, number: usize) -> Option<&LocatedGeometry> {
        self.geometries.get(number)
    }

    /// Returns the terms that have a geometry.
    pub(super) fn terms(&self, number: usize) -> &[TermId] {
        self.terms.get(number).map_or(&[], Vec::as_slice)
    }

    /// Returns the geometries that may meet a geometry, or all geometries if `apart` ones count.
    pub(super) fn near(&self, located: &LocatedGeometry, apart: bool) -> Vec<usize> {
        if apart {
            return (0..self.geometries.len()).collect();
        }
        if !located.crs.is_geographic() {
            return self.planar.clone();
        }
        let Some(rect) = located.geometry.bounding_rect() else { return Vec::new() };
        let within = AABB::from_corners(rect.min().into(), rect.max().into());
        let mut numbers: Vec<_> = self.boxes.locate_in_envelope_intersecting(within).map(|found| found.data).collect();
        numbers.sort_unstable();
        numbers
    }
}
