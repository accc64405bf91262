//! The Wikidata items that features contain next to their tags (`--with-wikidata`). Connects the GeoJSON writer, which
//! does not know triples, with the reader of items.

use terrapin_entities::{Linked, Properties};
use terrapin_overpass::output;
use terrapin_triples::Store;

/// A reader of the items of a snapshot.
#[derive(Debug)]
pub struct ItemDescriptions<'a>(Linked<'a>);

impl<'a> ItemDescriptions<'a> {
    /// Creates a reader of these properties, with labels in the first of the languages that has one.
    pub fn new(store: &'a Store, properties: &Properties, languages: Vec<String>) -> ItemDescriptions<'a> {
        ItemDescriptions(Linked::new(store, properties, languages))
    }

    /// Returns the requested properties that do not occur in the snapshot.
    pub fn unknown(&self) -> Vec<String> {
        self.0.unknown().map(|id| id.to_string()).collect()
    }
}

impl output::ItemSource for ItemDescriptions<'_> {
    fn put_item(&self, tag: &str, out: &mut Vec<u8>) -> bool {
        self.0.put_item(tag, out)
    }
}
