//! Places of a text, by the areas of the snapshot and the geocoder.

use terrapin_engine::Engine;
use terrapin_geocoder::{AreaLookup, Hit, PlaceElement, PlacePosition, PlaceQuery, PlaceSearch, PlaceSource, search};
use terrapin_osm::ElementType;
use terrapin_triples::{EntityId, sitelinks};

use super::WordsChoice;
use super::request::WordsPlace;
use super::text::fold;

/// The most alternatives of a name.
const ALTERNATIVES: usize = 6;

/// A place with its choice for chips.
#[derive(Debug, Clone)]
pub struct FoundPlace {
    pub place: WordsPlace,
    pub choice: WordsChoice,
}

/// Finds places.
pub struct PlaceFinder<'a> {
    engine: &'a Engine,
    areas: AreaLookup<'a>,
    languages: Vec<String>,
}

impl<'a> PlaceFinder<'a> {
    pub fn new(engine: &'a Engine, language: &str) -> PlaceFinder<'a> {
        PlaceFinder { engine, areas: AreaLookup::new(engine.osm()), languages: vec![language.to_owned()] }
    }

    /// Returns the element that a text such as `relation/12` names.
    pub fn by_id(&self, text: &str) -> Option<FoundPlace> {
        let (kind, id) = text.split_once('/')?;
        let kind = match kind.to_ascii_lowercase().as_str() {
            "node" => ElementType::Node,
            "way" => ElementType::Way,
            "relation" => ElementType::Relation,
            _ => return None,
        };
        self.of(PlaceElement { kind, id: id.parse().ok()? }, None)
    }

    /// Returns the area with exactly this name, as `{{geocodeArea:NAME}}` finds it.
    pub fn area(&self, name: &str) -> Option<FoundPlace> {
        let element = *self.areas.find(name)?.element.value()?;
        let found = self.of(element, Some(name))?;
        let own = [found.place.name.as_str(), name];
        let is_same = fold(own[0]) == fold(own[1]) || self.tags_contain(element, name);
        is_same.then_some(found)
    }

    /// Returns whether any name of an element equals a text except for case and accents.
    fn tags_contain(&self, element: PlaceElement, name: &str) -> bool {
        let wanted = fold(name);
        Hit::of(self.engine.osm(), element, &|_| None).is_some_and(|hit| {
            hit.details.tags.iter().any(|(key, value)| key.contains("name") && fold(value) == wanted)
        })
    }

    fn of(&self, element: PlaceElement, shortcut: Option<&str>) -> Option<FoundPlace> {
        let hit = Hit::of(self.engine.osm(), element, &|_| None)?;
        Some(self.found(&hit, shortcut))
    }

    fn found(&self, hit: &Hit, shortcut: Option<&str>) -> FoundPlace {
        let osm = self.engine.osm();
        let is_area = hit.element.is_some_and(|element| match element.kind {
            ElementType::Node => false,
            ElementType::Way => {
                osm.find(element.kind, element.id).is_some_and(|way| terrapin_osm::areas::is_closed(&osm.way(way).0))
            }
            ElementType::Relation => {
                osm.find(element.kind, element.id).is_some_and(|relation| osm.areas().of_relation(relation).is_some())
            }
        });
        let name = hit.name(&[]).to_owned();
        let is_plain = |name: &&str| !name.contains(['{', '}', ';', '\n', '\r', ':']);
        let shortcut = shortcut.filter(|_| is_area).filter(is_plain).map(str::to_owned);
        let words = match hit.element {
            Some(element) => format!("{}/{}", element.kind.name(), element.id),
            None => name.clone(),
        };
        let label = hit.label(&self.languages);
        let (key, value) = hit.details.category();
        let tags = Some(format!("{key}={value}"));
        FoundPlace {
            choice: WordsChoice { label, words, tags, id: None, count: None },
            place: WordsPlace {
                shortcut,
                name,
                element: hit.element,
                is_area,
                at: PlacePosition::of(hit.spot.at),
                item: hit.details.tag("wikidata").and_then(EntityId::parse).map(|item| item.to_string()),
            },
        }
    }

    /// Returns the places whose name begins with a text, best first.
    pub fn beginning(&self, name: &str) -> Vec<FoundPlace> {
        let question = PlaceQuery::Text(name.to_owned());
        let search_all = PlaceSearch { typing: true, ..PlaceSearch::of(&question, ALTERNATIVES, &|_| None) };
        let mut found: Vec<FoundPlace> =
            search(self.engine.osm(), &search_all).iter().map(|hit| self.found(hit, None)).collect();
        found.sort_by_key(|found| !found.place.is_area);
        found
    }

    /// Returns the places with a name, best first. Areas come first if `wants_area`.
    pub fn places(&self, name: &str, wants_area: bool) -> Vec<FoundPlace> {
        let mut found: Vec<FoundPlace> = Vec::new();
        if wants_area {
            found.extend(self.area(name));
        }
        let articles = |item: &str| self.engine.triples().and_then(|triples| sitelinks(&triples.store, item));
        let question = PlaceQuery::Text(name.to_owned());
        let hits = search(self.engine.osm(), &PlaceSearch::of(&question, ALTERNATIVES, &articles));
        let mut others: Vec<FoundPlace> = hits.iter().map(|hit| self.found(hit, None)).collect();
        if wants_area {
            others.sort_by_key(|other| !other.place.is_area);
        }
        for mut other in others {
            if found.iter().any(|known| known.place.element == other.place.element) {
                continue;
            }
            if let Some(area) = self.area(&other.place.name).filter(|area| area.place.element == other.place.element) {
                other.place.shortcut = area.place.shortcut;
            }
            found.push(other);
        }
        found.truncate(ALTERNATIVES);
        found
    }
}
