//! Perturbs the elements of a snapshot: drops, retags and moves some of them, so that queries with equal answers on the
//! snapshot by chance differ on the copy. The suites of databases of Zhong, Yu and Klein (2020, "Semantic Evaluation for
//! Text-to-SQL with Distilled Test Suites") have the same aim.
//!
//! What happens to an element depends on the seed, its type, its id and its tags only, so that memory is bounded and the
//! result does not depend on threads. Geometry that others share stays: nodes of ways do not move, and elements with
//! parents lose their tags instead of being dropped. Borders and places stay unchanged, so that queries for an area find
//! it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicU64, Ordering};

use terrapin_loaders::{
    BlockBuilder, ElementBlock, LoaderError, NO_COORDINATE, SourceElement, SourceElementType, SourceMeta,
};
use terrapin_osm::{ElementType, Ordinal, Osm};

/// Maximum number of values per key that replace others.
const VALUES: usize = 40;
/// Maximum number of tags at which the changes are aimed.
pub const AIMS: usize = 10_000;
/// How many times more often an element with an aimed tag is changed.
const AIMED: f64 = 3.0;
/// Maximum rate, also of elements with an aimed tag: each of three kinds of change has this share.
pub const MOST_RATE: f64 = 0.3;
/// Share of changed elements, without aimed tags, that get one, relative to the rate.
const GIVEN: f64 = 0.5;
/// The shortest and the longest distance by which nodes move, in 1e-7 degrees: some 100 m and 10 km.
const DISTANCE: (f64, f64) = (9_000.0, 900_000.0);
/// Keys of elements that stay unchanged.
const KEPT: [&str; 4] = ["boundary", "admin_level", "place", "postal_code"];
/// Keys whose values describe the structure of an element.
const STRUCTURE: [&str; 2] = ["type", "area"];

/// Settings of a perturbation.
#[derive(Debug, Clone, PartialEq)]
pub struct PerturbationOptions {
    /// The seed.
    pub seed: u64,
    /// The number of the copy, which is a part of the seed.
    pub copy: u32,
    /// The share of tagged elements that are dropped, the same share that are retagged, and that of lone nodes that move;
    /// from 0 to [`MOST_RATE`].
    pub rate: f64,
    /// Tags that are changed more often, and given to elements that lack them.
    pub aims: BTreeSet<(String, Option<String>)>,
}

/// A perturbation, with counts of its changes.
#[derive(Debug)]
pub struct Perturbation {
    options: PerturbationOptions,
    keys: BTreeSet<String>,
    /// Aimed tags with a value.
    pairs: Vec<(String, String)>,
    dropped: AtomicU64,
    emptied: AtomicU64,
    retagged: AtomicU64,
    moved: AtomicU64,
}

/// What happens to an element.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Change {
    None,
    Drop,
    Retag,
    Move,
    Give,
}

impl Perturbation {
    /// Creates a perturbation.
    pub fn new(options: PerturbationOptions) -> Perturbation {
        let pairs = options.aims.iter().filter_map(|(key, value)| Some((key.clone(), value.clone()?)));
        let pairs = pairs.filter(|(key, _)| is_free(key)).collect();
        let keys = options.aims.iter().map(|(key, _)| key.clone()).collect();
        let zero = || AtomicU64::new(0);
        Perturbation { options, keys, pairs, dropped: zero(), emptied: zero(), retagged: zero(), moved: zero() }
    }

    /// Returns the description for the manifest, with the counts of the changes so far.
    pub(super) fn told(&self) -> String {
        let PerturbationOptions { seed, copy, rate, aims } = &self.options;
        let count = |number: &AtomicU64| number.load(Ordering::Relaxed);
        let aimed = if aims.is_empty() { String::new() } else { format!(", aimed at {} tags", aims.len()) };
        format!(
            "copy {copy}, seed {seed}, rate {rate}{aimed}: {} elements dropped, {} without their tags, {} retagged, {} moved; \
             this is no state of OpenStreetMap",
            count(&self.dropped),
            count(&self.emptied),
            count(&self.retagged),
            count(&self.moved)
        )
    }

    /// Perturbs a block of elements of the snapshot.
    pub(super) fn apply(
        &self,
        block: &ElementBlock,
        osm: &Osm,
        values: &ValueLists,
    ) -> Result<ElementBlock, LoaderError> {
        let mut out = BlockBuilder::default();
        block.for_each(|element| self.element(&element, osm, values, &mut out))?;
        Ok(out.finish())
    }

    fn element(&self, element: &SourceElement<'_>, osm: &Osm, values: &ValueLists, out: &mut BlockBuilder) {
        let (kind, id, tags) = match element {
            SourceElement::Node(node) => (ElementType::Node, node.id, node.tags),
            SourceElement::Way(way) => (ElementType::Way, way.id, way.tags),
            SourceElement::Relation(relation) => (ElementType::Relation, relation.id, relation.tags),
        };
        let mut draw = ElementDraw::new(self.options.seed, self.options.copy, kind, id);
        let change = self.change(kind, tags, &mut draw);
        let is_used = || osm.find(kind, id).is_none_or(|ordinal| is_used(osm, kind, ordinal));
        let count = |counter: &AtomicU64| counter.fetch_add(1, Ordering::Relaxed);
        let mut kept: Vec<(String, String)> = tags.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect();
        let mut position = match element {
            SourceElement::Node(node) => (node.lat, node.lon),
            _ => (0, 0),
        };
        match change {
            Change::Drop if is_used() => {
                kept.retain(|(key, _)| STRUCTURE.contains(&key.as_str()));
                count(&self.emptied);
            }
            Change::Drop => {
                count(&self.dropped);
                return;
            }
            Change::Retag if self.retag(&mut kept, values, &mut draw) => drop(count(&self.retagged)),
            Change::Give if self.give(&mut kept, &mut draw) => drop(count(&self.retagged)),
            Change::Move if position.0 != NO_COORDINATE && !is_used() => {
                position = moved(position, &mut draw);
                count(&self.moved);
            }
            _ => {}
        }
        kept.iter().for_each(|(key, value)| out.tag(key, value));
        write(element, position, out);
    }

    /// Decides what happens to an element.
    fn change(&self, kind: ElementType, tags: &[(&str, &str)], draw: &mut ElementDraw) -> Change {
        if tags.is_empty() || tags.iter().any(|(key, _)| KEPT.contains(key) || key.starts_with("ISO3166")) {
            return Change::None;
        }
        let is_aimed = tags.iter().any(|(key, _)| self.keys.contains(*key));
        let rate = if is_aimed { (self.options.rate * AIMED).min(MOST_RATE) } else { self.options.rate };
        let share = draw.share();
        if share < rate {
            Change::Drop
        } else if share < 2.0 * rate {
            Change::Retag
        } else if share < 3.0 * rate && kind == ElementType::Node {
            Change::Move
        } else if share > 1.0 - GIVEN * self.options.rate && !self.pairs.is_empty() {
            Change::Give
        } else {
            Change::None
        }
    }

    /// Removes a tag, or replaces its value by another of the same key: an aimed one if there is one.
    fn retag(&self, tags: &mut Vec<(String, String)>, values: &ValueLists, draw: &mut ElementDraw) -> bool {
        let free: Vec<usize> =
            (0..tags.len()).filter(|at| tags.get(*at).is_some_and(|(key, _)| is_free(key))).collect();
        let aimed: Vec<usize> =
            free.iter().copied().filter(|at| tags.get(*at).is_some_and(|(key, _)| self.keys.contains(key))).collect();
        let from = if aimed.is_empty() { free } else { aimed };
        let Some(at) = from.get(draw.below(from.len())).copied() else { return false };
        let Some((key, value)) = tags.get_mut(at) else { return false };
        let others: Vec<&String> = values.of_key(key).iter().filter(|other| *other != value).collect();
        // Half of the tags go: filters that repeat each other differ then.
        match others.get(draw.below(others.len() * 2)) {
            Some(other) => *value = (*other).clone(),
            None => drop(tags.remove(at)),
        }
        true
    }

    /// Gives an element an aimed tag whose key it lacks.
    fn give(&self, tags: &mut Vec<(String, String)>, draw: &mut ElementDraw) -> bool {
        let Some((key, value)) = self.pairs.get(draw.below(self.pairs.len())) else { return false };
        let lacks = tags.iter().all(|(own, _)| own != key);
        if lacks {
            tags.push((key.clone(), value.clone()));
        }
        lacks
    }
}

/// Returns whether the values of a key may change.
fn is_free(key: &str) -> bool {
    !STRUCTURE.contains(&key) && !KEPT.contains(&key)
}

/// Returns whether another element contains this one.
fn is_used(osm: &Osm, kind: ElementType, ordinal: Ordinal) -> bool {
    kind == ElementType::Node && !osm.ways_of_nodes(&[ordinal]).is_empty()
        || !osm.relations_of(kind, &[ordinal]).is_empty()
}

/// Moves a position in a random direction.
fn moved((lat, lon): (i32, i32), draw: &mut ElementDraw) -> (i32, i32) {
    let (near, far) = DISTANCE;
    let distance = near + (far - near) * draw.share() * draw.share();
    // A square instead of a circle: its sides need no functions whose last digit depends on the machine.
    let along = (draw.share() * 2.0 - 1.0) * distance;
    let across = if draw.below(2) == 0 { distance } else { -distance };
    let (north, east) = if draw.below(2) == 0 { (along, across) } else { (across, along) };
    let shifted = |value: i32, by: f64, limit: i32| {
        let sum = f64::from(value) + by;
        if sum.abs() > f64::from(limit) { value } else { sum as i32 }
    };
    (shifted(lat, north, 900_000_000), shifted(lon, east, 1_800_000_000))
}

/// Writes an element whose tags have been added.
fn write(element: &SourceElement<'_>, position: (i32, i32), out: &mut BlockBuilder) {
    let end = |out: &mut BlockBuilder, kind, id, meta: Option<SourceMeta<'_>>| out.end(kind, id, position, meta);
    match element {
        SourceElement::Node(node) => end(out, SourceElementType::Node, node.id, node.meta),
        SourceElement::Way(way) => {
            way.refs.iter().for_each(|id| out.node(*id));
            end(out, SourceElementType::Way, way.id, way.meta);
        }
        SourceElement::Relation(relation) => {
            relation.members.iter().for_each(|member| out.member(member.kind, member.id, member.role));
            end(out, SourceElementType::Relation, relation.id, relation.meta);
        }
    }
}

/// The most frequent values of each key.
#[derive(Debug, Default)]
pub(super) struct ValueLists(BTreeMap<String, Vec<String>>);

impl ValueLists {
    /// Reads the values of a snapshot, without keys that have a single value.
    pub fn of(osm: &Osm) -> ValueLists {
        let mut lists = BTreeMap::new();
        for key in 0..osm.key_count() {
            let name = osm.key_name(key);
            let mut counts: Vec<(u64, u32)> = Vec::new();
            osm.for_counts(osm.pairs_of(key), |pair, of| {
                counts.push((of.iter().sum(), pair));
                // Keys such as names have millions of values.
                if counts.len() >= VALUES * 100 {
                    counts.sort_unstable_by(|a, b| b.0.cmp(&a.0).then(a.1.cmp(&b.1)));
                    counts.truncate(VALUES);
                }
            });
            counts.sort_unstable_by(|a, b| b.0.cmp(&a.0).then(a.1.cmp(&b.1)));
            counts.truncate(VALUES);
            if is_free(name) && counts.len() > 1 {
                let values = counts.iter().map(|(_, pair)| osm.with_value(*pair, str::to_owned)).collect();
                lists.insert(name.to_owned(), values);
            }
        }
        ValueLists(lists)
    }

    fn of_key(&self, key: &str) -> &[String] {
        self.0.get(key).map(Vec::as_slice).unwrap_or_default()
    }
}

/// Random numbers for one element: SplitMix64 from a mix of the seed, the copy, the type and the id.
struct ElementDraw(u64);

impl ElementDraw {
    fn new(seed: u64, copy: u32, kind: ElementType, id: i64) -> ElementDraw {
        let mut draw = ElementDraw(seed);
        for part in [u64::from(copy), kind as u64, id.cast_unsigned()] {
            draw.0 = draw.next() ^ part;
        }
        draw
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// Returns a number from 0 to below 1.
    fn share(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// Returns a number below `n`; 0 if `n` is 0.
    fn below(&mut self, n: usize) -> usize {
        usize::try_from(self.next() % (n.max(1) as u64)).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn perturbation(rate: f64, aims: &[(&str, Option<&str>)]) -> Perturbation {
        let aims = aims.iter().map(|(key, value)| ((*key).to_owned(), value.map(str::to_owned))).collect();
        Perturbation::new(PerturbationOptions { seed: 1, copy: 1, rate, aims })
    }

    fn changes(perturbation: &Perturbation, tags: &[(&str, &str)]) -> [usize; 5] {
        let mut counts = [0; 5];
        for id in 0..10_000 {
            let mut draw = ElementDraw::new(1, 1, ElementType::Node, id);
            counts[perturbation.change(ElementType::Node, tags, &mut draw) as usize] += 1;
        }
        counts
    }

    #[test]
    fn elements_change_at_the_rate() {
        let cafe = [("amenity", "cafe")];
        let [none, dropped, retagged, moved, given] = changes(&perturbation(0.1, &[]), &cafe);
        for count in [dropped, retagged, moved] {
            assert!((900..1_100).contains(&count), "{count}");
        }
        assert_eq!((given, none), (0, 10_000 - dropped - retagged - moved));
        // Three times as often if the key is aimed at; others may get its tag.
        let aimed = perturbation(0.1, &[("amenity", Some("cafe"))]);
        let [_, dropped, retagged, moved, _] = changes(&aimed, &cafe);
        assert!([dropped, retagged, moved].iter().all(|count| (2_850..3_150).contains(count)));
        assert!((400..600).contains(&changes(&aimed, &[("shop", "yes")])[Change::Give as usize]));
        // Also at the highest rate, each kind of change has its share.
        let [none, dropped, retagged, moved, _] = changes(&perturbation(0.3, &[("amenity", Some("cafe"))]), &cafe);
        assert!([dropped, retagged, moved].iter().all(|count| (2_850..3_150).contains(count)));
        assert!(none < 1_100);
    }

    #[test]
    fn borders_and_untagged_elements_stay() {
        for tags in
            [&[][..], &[("place", "city"), ("name", "A")], &[("boundary", "administrative")], &[("ISO3166-1", "MT")]]
        {
            assert_eq!(changes(&perturbation(0.3, &[]), tags)[0], 10_000);
        }
    }

    #[test]
    fn tags_are_replaced_by_values_of_the_same_key_or_removed() {
        let lists = ValueLists([("amenity".to_owned(), vec!["bar".to_owned(), "cafe".to_owned()])].into());
        let perturbation = perturbation(0.1, &[("amenity", None)]);
        let mut seen = BTreeSet::new();
        for id in 0..100 {
            let mut tags = vec![("type".to_owned(), "x".to_owned()), ("amenity".to_owned(), "cafe".to_owned())];
            assert!(perturbation.retag(&mut tags, &lists, &mut ElementDraw::new(1, 1, ElementType::Way, id)));
            seen.insert(tags.into_iter().map(|(k, v)| format!("{k}={v}")).collect::<Vec<_>>().join(" "));
        }
        assert_eq!(seen.into_iter().collect::<Vec<_>>(), ["type=x", "type=x amenity=bar"]);
    }

    #[test]
    fn moved_nodes_stay_on_the_globe() {
        for id in 0..1_000 {
            let (lat, lon) = moved((899_999_999, -1_799_999_999), &mut ElementDraw::new(1, 1, ElementType::Node, id));
            assert!(lat.abs() <= 900_000_000 && lon.abs() <= 1_800_000_000);
        }
    }
}
