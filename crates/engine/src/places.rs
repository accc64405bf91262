//! Places by name, for the shortcuts of Overpass Turbo.

use terrapin_geocoder::{AreaLookup, Chain, NamedPlace, PlaceSource, PlaceTable};
use terrapin_osm::Osm;

/// Geocoded places of a client, and the areas of a snapshot.
pub struct PlaceSources<'a> {
    table: Option<&'a PlaceTable>,
    areas: AreaLookup<'a>,
}

impl<'a> PlaceSources<'a> {
    pub(crate) fn new(table: Option<&'a PlaceTable>, osm: &'a Osm) -> PlaceSources<'a> {
        PlaceSources { table, areas: AreaLookup::new(osm) }
    }
}

impl PlaceSource for PlaceSources<'_> {
    fn find(&self, name: &str) -> Option<NamedPlace> {
        let table = self.table.map(|table| table as &dyn PlaceSource);
        Chain(table.into_iter().chain([&self.areas as &dyn PlaceSource]).collect()).find(name)
    }
}
