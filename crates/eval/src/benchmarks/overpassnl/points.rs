//! Locates a sample of results for a map.

use crate::metrics::execution::{ResultElement, ResultSides};
use crate::record::{MapPoint, MapPoints};
use terrapin_osm::{ElementType, Osm};
use terrapin_overpass::reader::StoreReader;

/// The maximum number of located elements of each kind.
const SHOWN: usize = 60;

/// Locates elements.
pub struct MapOf<'a> {
    reader: StoreReader<'a>,
}

impl<'a> MapOf<'a> {
    /// Returns a locator for this data.
    pub fn new(osm: &'a Osm) -> Self {
        MapOf { reader: StoreReader::new(osm) }
    }

    /// Locates a sample of the common, missing and extra elements of two ascending lists, evenly spread over each.
    pub fn points(&mut self, gold: &[ResultElement], pred: &[ResultElement]) -> MapPoints {
        let sides = ResultSides::of(gold, pred);
        let missing = self.some(&sides.missing);
        let extra = self.some(&sides.extra);
        let common: Vec<&ResultElement> = gold.chunk_by(|a, b| a == b).filter_map(|run| run.first()).collect();
        let common: Vec<&ResultElement> =
            common.into_iter().filter(|key| sides.missing.binary_search(key).is_err()).collect();
        MapPoints { common: self.some(&common), missing, extra }
    }

    fn some(&mut self, keys: &[&ResultElement]) -> Vec<MapPoint> {
        let shown = keys.len().min(SHOWN);
        (0..shown).filter_map(|i| keys.get(i * keys.len() / shown)).filter_map(|key| self.point(key)).collect()
    }

    fn point(&mut self, key: &ResultElement) -> Option<MapPoint> {
        Some(MapPoint { place: self.position(key)?, element: key.to_string() })
    }

    /// Returns the middle of an element's bounding box.
    fn position(&mut self, key: &ResultElement) -> Option<[f64; 2]> {
        let kind = ElementType::ALL.into_iter().find(|kind| kind.name() == key.kind)?;
        let ordinal = self.reader.osm().find(kind, key.id)?;
        let bounds = self.reader.extent(kind, ordinal).plain()?;
        let middle = |low: i32, high: i32| (f64::from(low) + f64::from(high)) / 2.0;
        let degrees = |units: f64| (units / 100.0).round() / 1e5;
        Some([degrees(middle(bounds.south, bounds.north)), degrees(middle(bounds.west, bounds.east))])
    }
}
