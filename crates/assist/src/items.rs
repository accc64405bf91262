//! The items of Wikidata that features tell of beside their tags (`--with-wikidata`): what joins the writer of GeoJSON, which
//! knows no triples, with what tells of items.

use terrapin_entities::{Linked, Properties};
use terrapin_overpass::output;
use terrapin_triples::Store;

/// What tells of the items of a snapshot.
#[derive(Debug)]
pub struct Items<'a>(Linked<'a>);

impl<'a> Items<'a> {
    /// Tells of these properties, with labels in the first of the languages that has one.
    pub fn new(store: &'a Store, properties: &Properties, languages: Vec<String>) -> Items<'a> {
        Items(Linked::new(store, properties, languages))
    }

    /// The properties by which nothing is said in the whole snapshot.
    pub fn unknown(&self) -> Vec<String> {
        self.0.unknown().map(|id| id.to_string()).collect()
    }
}

impl output::Items for Items<'_> {
    fn put_item(&self, tag: &str, out: &mut Vec<u8>) -> bool {
        self.0.put_item(tag, out)
    }
}
