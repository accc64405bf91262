//! The data of the snapshot to which a benchmark is moved: its places, its box, its edits, its tags.

use std::collections::{BTreeMap, BTreeSet};

use terrapin_geocoder::{AreaLookup, PlaceSource};
use terrapin_osm::areas::RELATION_AREAS;
use terrapin_osm::{BoundingBox, Coord, ElementType, KeyId, Ordinal, Osm, PairId};
use terrapin_overpass::syntax::{Tag, posix};

use super::draw::Draw;
use super::parts::{QueryTags, tag_text};

/// Maximum number of areas that are places.
const PLACES: usize = 20_000;
/// Maximum number of pages of each type whose edits are read.
const EDIT_PAGES: u32 = 2_000;
/// Maximum number of values of a key that are tried.
const VALUES: usize = 60;
/// Number of values among which one is drawn.
const DRAWN_VALUES: usize = 20;
/// Number of elements drawn for an id.
const DRAWN_IDS: usize = 64;
/// Maximum length of a list of elements that is compared with others.
const LIST: u64 = 2_000_000;

/// A place to which a query is moved.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct TargetPlace {
    /// The id of its area in OverpassQL.
    pub area: i64,
    /// The relation.
    pub relation: i64,
    /// `name`.
    pub name: String,
    /// `name:en`, else `name`.
    pub english: String,
    /// Its names in other languages by key; with at least `name`.
    pub others: BTreeMap<String, String>,
    /// `admin_level`.
    pub admin_level: Option<String>,
    /// The box around it.
    pub bounds: BoundingBox,
}

/// The time and the author of an element's newest version.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Edit {
    /// Seconds since 1970.
    pub at: i64,
    /// The user's number in the snapshot.
    pub user: u32,
    /// The user's id; 0 if unknown.
    pub uid: i64,
}

/// The snapshot to which a benchmark is moved.
pub(crate) struct Target<'a> {
    pub osm: &'a Osm,
    /// The places, the largest box first.
    pub places: Vec<TargetPlace>,
    /// The box around most nodes.
    pub bounds: BoundingBox,
    /// Edits in the order of time, a sample if there are many.
    pub edits: Vec<Edit>,
}

impl<'a> Target<'a> {
    /// Reads the data of a snapshot.
    pub fn new(osm: &'a Osm) -> Target<'a> {
        Target { osm, places: places(osm), bounds: bounds(osm), edits: edits(osm) }
    }

    /// Returns the number of elements with a tag.
    fn count(&self, pair: PairId) -> u64 {
        ElementType::ALL.iter().map(|kind| self.osm.posting_len(*kind, pair)).sum()
    }

    /// Returns whether an element of any type has the key, or the value, of a tag filter.
    pub fn has(&self, tag: &Tag) -> bool {
        match tag {
            Tag::Equals { key, value } => self.osm.pair(key, value).is_some(),
            Tag::HasKey { key } => self.osm.key(key).is_some(),
            Tag::Matches { key, value } => {
                let Some(key) = self.osm.key(key) else { return false };
                let Ok(pattern) = posix::compile(&value.pattern, value.ignore_case) else { return true };
                let found = self.osm.try_for_values(key, |_, value| match pattern.is_match(value) {
                    true => std::ops::ControlFlow::Break(()),
                    false => std::ops::ControlFlow::Continue(()),
                });
                found.is_break()
            }
            _ => true,
        }
    }

    /// Returns whether an element of some types has the key, or the value, of a tag filter. Regular expressions are
    /// searched in the values of all types.
    pub fn has_of(&self, tag: &Tag, kinds: &[ElementType]) -> bool {
        match tag {
            Tag::Equals { key, value } => {
                let pair = self.osm.pair(key, value);
                pair.is_some_and(|pair| kinds.iter().any(|kind| self.osm.posting_len(*kind, pair) > 0))
            }
            _ => self.has(tag),
        }
    }

    /// Returns the values of the key of a tag filter, the most frequent first, at most [`VALUES`].
    fn values(&self, key: KeyId) -> Vec<(PairId, String)> {
        let mut counts: Vec<(u64, PairId)> = Vec::new();
        self.osm.for_counts(self.osm.pairs_of(key), |pair, of| counts.push((of.iter().sum(), pair)));
        counts.sort_unstable_by(|a, b| b.0.cmp(&a.0).then(a.1.cmp(&b.1)));
        let values = counts.into_iter().take(VALUES);
        values.map(|(_, pair)| (pair, self.osm.with_value(pair, str::to_owned))).collect()
    }

    /// Draws a value for a filter of a query: one that occurs on an element that passes the query's other filters, if there
    /// is one.
    pub fn value(&self, query: &QueryTags, filter: usize, draw: &mut Draw) -> Option<String> {
        let (key, old, _) = tag_text(query.tags.get(filter)?)?;
        let values = self.values(self.osm.key(key)?);
        let fits =
            |value: &str| !value.is_empty() && value != old && !value.contains(['"', '\\', '\n']) && value.len() < 60;
        let values: Vec<(PairId, String)> = values.into_iter().filter(|(_, value)| fits(value)).collect();
        let others: Vec<&Tag> = query
            .tags
            .iter()
            .enumerate()
            .filter(|(at, tag)| *at != filter && self.has(tag))
            .map(|(_, tag)| tag)
            .collect();
        let together: Vec<&str> = values
            .iter()
            .filter(|(pair, _)| query.kinds.iter().any(|kind| self.is_with(*kind, *pair, &others)))
            .map(|(_, value)| value.as_str())
            .take(DRAWN_VALUES)
            .collect();
        let all: Vec<&str> = values.iter().map(|(_, value)| value.as_str()).take(DRAWN_VALUES).collect();
        let from = if together.is_empty() { all } else { together };
        draw.pick(&from).map(|value| (*value).to_owned())
    }

    /// Returns whether an element of a type has a tag and passes other filters.
    fn is_with(&self, kind: ElementType, pair: PairId, others: &[&Tag]) -> bool {
        let length = self.osm.posting_len(kind, pair);
        if length == 0 || length > LIST {
            return length > 0;
        }
        !self.passing(kind, self.osm.posting(kind, pair).to_vec(), others).is_empty()
    }

    /// Returns the elements of a list that pass filters for a key or a value; other filters count as passed.
    fn passing(&self, kind: ElementType, mut list: Vec<Ordinal>, tags: &[&Tag]) -> Vec<Ordinal> {
        for tag in tags {
            if list.is_empty() {
                break;
            }
            list = match tag {
                Tag::Equals { key, value } => match self.osm.pair(key, value) {
                    Some(pair) => self.osm.postings(kind, pair).among(&list, true),
                    None => Vec::new(),
                },
                Tag::HasKey { key } => match self.osm.key(key) {
                    Some(key) => self.osm.key_postings(kind, key).among(&list, true),
                    None => Vec::new(),
                },
                Tag::NotKey { key } => match self.osm.key(key) {
                    Some(key) => self.osm.key_postings(kind, key).among(&list, false),
                    None => list,
                },
                Tag::NotEquals { key, value } => match self.osm.pair(key, value) {
                    Some(pair) => self.osm.postings(kind, pair).among(&list, false),
                    None => list,
                },
                _ => list,
            };
        }
        list
    }

    /// Returns the filter to replace if no element passes all of a query's filters: that with the rarest value.
    pub fn contradiction(&self, query: &QueryTags) -> Option<usize> {
        let tags: Vec<&Tag> = query.tags.iter().collect();
        let rarest = query.tags.iter().enumerate().filter_map(|(at, tag)| match tag {
            Tag::Equals { key, value } => Some((self.count(self.osm.pair(key, value)?), at)),
            _ => None,
        });
        let (_, filter) = rarest.min()?;
        let Some(Tag::Equals { key, value }) = query.tags.get(filter) else { return None };
        let pair = self.osm.pair(key, value)?;
        let is_found = query.kinds.iter().any(|kind| {
            let length = self.osm.posting_len(*kind, pair);
            length > LIST
                || length > 0 && !self.passing(*kind, self.osm.posting(*kind, pair).to_vec(), &tags).is_empty()
        });
        (!is_found && query.tags.len() > 1).then_some(filter)
    }

    /// Draws the id of an element of a type: with a name, if one of [`DRAWN_IDS`] elements has one.
    pub fn id(&self, kind: ElementType, draw: &mut Draw) -> Option<i64> {
        let count = self.osm.count(kind);
        if count == 0 {
            return None;
        }
        let mut drawn: Vec<Ordinal> = (0..DRAWN_IDS).map(|_| draw.next() % count).collect();
        let last = drawn.last().copied();
        drawn.sort_unstable();
        drawn.dedup();
        let key = self.osm.key("name").filter(|key| self.osm.key_posting_len(kind, *key) > 0);
        let named = key.map(|key| self.osm.key_postings(kind, key).among(&drawn, true)).unwrap_or_default();
        let ordinal = draw.pick(&named).copied().or(last)?;
        self.osm.ids(kind, &[ordinal]).first().copied()
    }

    /// Returns whether an edit is between two times.
    pub fn has_edit(&self, since: i64, until: Option<i64>) -> bool {
        let from = self.edits.partition_point(|edit| edit.at < since);
        self.edits.get(from).is_some_and(|edit| until.is_none_or(|until| edit.at <= until))
    }

    /// Draws the position of an element that passes the filters of a query, else of any node.
    pub fn anchor(&self, queries: &[QueryTags], draw: &mut Draw) -> Option<Coord> {
        for query in queries {
            for kind in [ElementType::Node, ElementType::Way] {
                let tags: Vec<&Tag> = query.tags.iter().filter(|tag| self.has(tag)).collect();
                let list = match query.kinds.contains(&kind) {
                    true => self.first_list(kind, &tags).map(|list| self.passing(kind, list, &tags)),
                    false => None,
                };
                if let Some(ordinal) = list.as_ref().and_then(|list| draw.pick(list)) {
                    let coords = match kind {
                        ElementType::Node => self.osm.coords(&[*ordinal]),
                        _ => self.osm.way(*ordinal).1,
                    };
                    if let Some(at) = coords.into_iter().find(|at| !at.is_missing()) {
                        return Some(at);
                    }
                }
            }
        }
        let nodes = self.osm.count(ElementType::Node);
        if nodes == 0 { None } else { self.osm.coords(&[draw.next() % nodes]).first().copied() }
    }

    /// Returns the elements of the first filter for a value or a key; `None` without one, or if they are too many.
    fn first_list(&self, kind: ElementType, tags: &[&Tag]) -> Option<Vec<Ordinal>> {
        let list = |tag: &&Tag| match tag {
            Tag::Equals { key, value } => {
                let pair = self.osm.pair(key, value)?;
                (self.osm.posting_len(kind, pair) <= LIST).then(|| self.osm.posting(kind, pair).to_vec())
            }
            Tag::HasKey { key } | Tag::Matches { key, .. } => {
                let key = self.osm.key(key)?;
                (self.osm.key_posting_len(kind, key) <= LIST).then(|| self.osm.key_posting(kind, key).to_vec())
            }
            _ => None,
        };
        tags.iter().find_map(list)
    }

    /// Returns whether an area exists, by its id in OverpassQL.
    pub fn has_area(&self, id: i64) -> bool {
        self.osm.areas().find(self.osm, id).is_some()
    }
}

/// Returns the box around most nodes: a few are often far away, as members of ferry routes or by mistake. Uses the boxes of
/// pages, which hold equal numbers of nodes, without the outer hundredth of each side.
fn bounds(osm: &Osm) -> BoundingBox {
    let pages = osm.page_count(ElementType::Node);
    let step = pages.div_ceil(EDIT_PAGES * 10).max(1);
    let boxes: Vec<BoundingBox> =
        (0..pages).step_by(step as usize).map(|page| osm.page_box(ElementType::Node, page)).collect();
    let side = |of: fn(&BoundingBox) -> i32| {
        let mut sides: Vec<i32> = boxes.iter().map(of).collect();
        sides.sort_unstable();
        sides
    };
    let cut = boxes.len() / 100;
    let low = |of| side(of).get(cut).copied();
    let high = |of| side(of).iter().rev().nth(cut).copied();
    match (low(|b| b.south), low(|b| b.west), high(|b| b.north), high(|b| b.east)) {
        (Some(south), Some(west), Some(north), Some(east)) => BoundingBox { south, west, north, east },
        _ => BoundingBox::EMPTY,
    }
}

/// Returns the named areas of administrative boundaries, else all named areas, largest box first.
fn places(osm: &Osm) -> Vec<TargetPlace> {
    let lookup = AreaLookup::new(osm);
    let boundary = osm.pair("boundary", "administrative");
    let mut relations: Vec<Ordinal> =
        boundary.map(|pair| osm.posting(ElementType::Relation, pair).to_vec()).unwrap_or_default();
    relations.retain(|relation| osm.areas().of_relation(*relation).is_some());
    if relations.len() < 2 {
        relations = (0..osm.areas().count()).filter_map(|area| osm.areas().relation(area)).collect();
        relations.sort_unstable();
        relations.dedup();
    }
    relations.truncate(PLACES);
    let mut names = BTreeSet::new();
    let mut found: Vec<TargetPlace> = relations
        .into_iter()
        .filter_map(|relation| place(osm, &lookup, relation))
        .filter(|place| names.insert(place.name.clone()))
        .collect();
    let size = |place: &TargetPlace| {
        let BoundingBox { south, west, north, east } = place.bounds;
        (i64::from(north) - i64::from(south)) * (i64::from(east) - i64::from(west))
    };
    found.sort_by_key(|place| (-size(place), place.relation));
    found
}

/// Returns a relation as a place, if its name leads to it.
fn place(osm: &Osm, lookup: &AreaLookup<'_>, ordinal: Ordinal) -> Option<TargetPlace> {
    let kind = ElementType::Relation;
    let (page, slot) = osm.place(kind, ordinal);
    let page = osm.tag_page(kind, page);
    let tags: BTreeMap<String, String> = page
        .tags(slot)
        .iter()
        .map(|pair| (osm.key_name(osm.key_of(*pair)).to_owned(), osm.with_value(*pair, str::to_owned)))
        .collect();
    let tag = |name: &str| tags.get(name).cloned();
    let name = tag("name").filter(|name| !name.contains(['"', '\\', '{', '}', '\n']))?;
    let relation = osm.ids(kind, &[ordinal]).first().copied()?;
    let is_own = lookup.find(&name)?.element.value().is_some_and(|own| own.kind == kind && own.id == relation);
    let bounds = osm.areas().bbox(osm.areas().of_relation(ordinal)?);
    (is_own && !bounds.is_empty()).then(|| TargetPlace {
        area: relation + RELATION_AREAS,
        relation,
        english: tag("name:en").unwrap_or_else(|| name.clone()),
        name,
        admin_level: tag("admin_level"),
        others: tags.iter().filter(|(key, _)| key.contains("name")).map(|(k, v)| (k.clone(), v.clone())).collect(),
        bounds,
    })
}

/// Returns the edits of evenly distributed pages, in the order of time.
fn edits(osm: &Osm) -> Vec<Edit> {
    let mut found = Vec::new();
    for kind in ElementType::ALL {
        let pages = osm.page_count(kind);
        let step = pages.div_ceil(EDIT_PAGES).max(1);
        for page in (0..pages).step_by(step as usize) {
            let metas = osm.meta_page(kind, page);
            let size = osm.page_size(kind);
            let here = osm.count(kind).saturating_sub(u64::from(page) * size).min(size);
            for slot in 0..usize::try_from(here).unwrap_or_default() {
                let meta = metas.meta(slot);
                if meta.timestamp > 0 {
                    found.push(Edit { at: meta.timestamp, user: meta.user, uid: meta.uid });
                }
            }
        }
    }
    found.sort_unstable();
    found.dedup();
    found
}
