//! Tags of elements, and their matching with the rules. Rules are compiled once to ids of the snapshot's tags.

use std::ops::Range;
use std::sync::Arc;

use rustc_hash::FxHashMap;
use terrapin_osm::{ElementType, Osm, PairId, ValuePage};

use super::rules::{FeatureShape, RULES, Rule};

/// The rules, by the ids of the snapshot's tags.
pub struct Rules {
    /// Tags with the rules that they match, in order.
    by_pair: FxHashMap<PairId, Vec<usize>>,
    /// Keys with any value.
    by_key: Vec<(Range<PairId>, usize)>,
    /// `building=no`, which excludes an element.
    pub not_building: Option<PairId>,
    /// `area=no` and `area=yes`.
    pub not_area: Option<PairId>,
    /// See above.
    pub is_area: Option<PairId>,
    /// `type=multipolygon`.
    pub multipolygon: Option<PairId>,
}

impl Rules {
    /// Compiles the rules for a snapshot.
    pub fn of(osm: &Osm) -> Rules {
        let mut by_pair: FxHashMap<PairId, Vec<usize>> = FxHashMap::default();
        let mut by_key = Vec::new();
        for (at, rule) in RULES.iter().enumerate() {
            if rule.values.is_empty() {
                by_key.extend(osm.key(rule.key).map(|key| (osm.pairs_of(key), at)));
            }
            for pair in rule.values.iter().filter_map(|value| osm.pair(rule.key, value)) {
                by_pair.entry(pair).or_default().push(at);
            }
        }
        Rules {
            by_pair,
            by_key,
            not_building: osm.pair("building", "no"),
            not_area: osm.pair("area", "no"),
            is_area: osm.pair("area", "yes"),
            multipolygon: osm.pair("type", "multipolygon"),
        }
    }

    /// Writes the rules of a zoom that match an element with these tags to `found`, in order.
    pub fn fitting(&self, tags: &[PairId], zoom: u8, found: &mut Vec<&'static Rule>) {
        found.clear();
        let mut places: Vec<usize> = Vec::new();
        for pair in tags {
            places.extend(self.by_pair.get(pair).into_iter().flatten());
            places.extend(self.by_key.iter().filter(|(pairs, _)| pairs.contains(pair)).map(|(_, at)| at));
        }
        if places.is_empty() {
            return;
        }
        places.sort_unstable();
        found.extend(places.into_iter().map(|at| &RULES[at]).filter(|rule| rule.from <= zoom));
        if self.not_building.is_some_and(|pair| tags.contains(&pair)) {
            found.retain(|rule| rule.key != "building");
        }
    }

    /// Returns the tags that put elements of a type into a layer of a zoom, each list ascending: first the tags of
    /// lines and points, then those of areas only.
    pub fn pairs(&self, kind: ElementType, zoom: u8) -> (Vec<PairId>, Vec<PairId>) {
        let fits = |at: usize| {
            let rule = &RULES[at];
            let can = match rule.shape {
                FeatureShape::Node => kind == ElementType::Node,
                FeatureShape::Spot => true,
                FeatureShape::Line => kind == ElementType::Way,
                FeatureShape::Area | FeatureShape::AreaOrLine => kind != ElementType::Node,
            };
            can && rule.from <= zoom
        };
        let only_areas = |at: usize| kind == ElementType::Relation || RULES[at].shape == FeatureShape::Area;
        let (mut lines, mut areas) = (Vec::new(), Vec::new());
        for (pair, rules) in &self.by_pair {
            let mut rules = rules.iter().copied().filter(|at| fits(*at)).peekable();
            if rules.peek().is_some() {
                if rules.all(only_areas) { areas.push(*pair) } else { lines.push(*pair) }
            }
        }
        lines.sort_unstable();
        areas.sort_unstable();
        (lines, areas)
    }
}

/// Reads the texts of tags, with a cache of pages of values.
pub struct TagTexts<'o> {
    osm: &'o Osm,
    pages: FxHashMap<u32, Arc<ValuePage>>,
}

impl<'o> TagTexts<'o> {
    /// Returns a reader with an empty cache.
    pub fn new(osm: &'o Osm) -> TagTexts<'o> {
        TagTexts { osm, pages: FxHashMap::default() }
    }

    /// Returns the tags of an element.
    pub fn of(&mut self, tags: &[PairId]) -> ElementTags<'o> {
        let osm = self.osm;
        ElementTags(
            tags.iter()
                .map(|pair| {
                    let number = u64::from(*pair) / Osm::VALUES_ON_PAGE;
                    let slot = (u64::from(*pair) % Osm::VALUES_ON_PAGE) as usize;
                    let page = self.pages.entry(number as u32).or_insert_with_key(|page| osm.value_page(*page));
                    (osm.key_name(page.key(slot)), page.get(slot).to_owned())
                })
                .collect(),
        )
    }
}

/// The tags of an element.
pub struct ElementTags<'o>(Vec<(&'o str, String)>);

impl ElementTags<'_> {
    /// Returns the value of a key.
    pub fn get(&self, key: &str) -> Option<&str> {
        self.0.iter().find(|(known, _)| *known == key).map(|(_, value)| value.as_str())
    }

    /// Returns whether a key has one of these values.
    pub fn is(&self, key: &str, values: &[&str]) -> bool {
        self.get(key).is_some_and(|value| values.contains(&value))
    }
}
