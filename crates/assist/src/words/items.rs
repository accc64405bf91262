//! Classes and properties of Wikidata for phrases.

use oxrdf::NamedNodeRef;
use terrapin_engine::Engine;
use terrapin_entities::{self as entities, EntityId, EntityKind, EntityQuery, Languages, MatchKind, chain, find};
use terrapin_triples::Store;

use super::WordsChoice;

const DIRECT: &str = "http://www.wikidata.org/prop/direct/";
/// The most alternatives of a phrase.
const ALTERNATIVES: usize = 6;

/// Finds classes and properties in the triples of a snapshot.
pub struct ItemFinder<'a> {
    store: &'a Store,
    languages: Vec<String>,
}

impl<'a> ItemFinder<'a> {
    /// Returns `None` if the snapshot has no triples.
    pub fn new(engine: &'a Engine, language: &str) -> Option<ItemFinder<'a>> {
        let store = &engine.triples()?.store;
        Some(ItemFinder { store, languages: chain(language) })
    }

    /// Returns the number of entities with a value of a property.
    fn uses(&self, property: &str, value: Option<EntityId>) -> u64 {
        let iri = format!("{DIRECT}{property}");
        let Some(predicate) = self.store.id(NamedNodeRef::new_unchecked(&iri).into()) else { return 0 };
        let object = match value {
            Some(value) => match value.term(self.store) {
                Some(term) => Some(term),
                None => return 0,
            },
            None => None,
        };
        self.store.count(None, Some(predicate), object)
    }

    fn search(&self, text: &str, kind: EntityKind, count: &dyn Fn(EntityId) -> u64) -> Vec<WordsChoice> {
        let query = EntityQuery {
            text,
            kind,
            languages: Languages::These(&self.languages),
            limit: 20,
            descriptions: false,
            slips: false,
        };
        let mut found: Vec<(EntityId, u64)> = Vec::new();
        for one in find(self.store, &query) {
            let count = count(one.id);
            if one.found <= MatchKind::LikeAlias && count > 0 {
                found.push((one.id, count));
            }
        }
        found.sort_by(|a, b| b.1.cmp(&a.1).then(a.0.to_string().cmp(&b.0.to_string())));
        found.truncate(ALTERNATIVES);
        let choice = |(id, count): (EntityId, u64)| WordsChoice {
            label: entities::label(self.store, id, &self.languages).map_or_else(|| id.to_string(), |label| label.value),
            words: id.to_string(),
            tags: None,
            id: Some(id.to_string()),
            count: Some(count),
        };
        found.into_iter().map(choice).collect()
    }

    /// Returns the classes with a name that have instances, the most frequent first.
    pub fn classes(&self, text: &str) -> Vec<WordsChoice> {
        self.search(text, EntityKind::Item, &|id| self.uses("P31", Some(id)))
    }

    /// Returns the properties with a name that occur, the most frequent first.
    pub fn properties(&self, text: &str) -> Vec<WordsChoice> {
        self.search(text, EntityKind::Property, &|id| self.uses(&id.to_string(), None))
    }

    /// Returns whether items have this item as their country.
    pub fn is_country(&self, item: &str) -> bool {
        EntityId::parse(item).is_some_and(|id| self.uses("P17", Some(id)) > 0)
    }

    /// Returns the items with a name that other items lie in, the most frequent first.
    pub fn places(&self, text: &str) -> Vec<WordsChoice> {
        self.search(text, EntityKind::Item, &|id| self.uses("P17", Some(id)) + self.uses("P131", Some(id)))
    }
}
