//! Measures how often the search for tags finds the tag that a question needs: `cargo bench --bench tags -- SNAPSHOT
//! [--others] [--docs FILE]`.
//!
//! The questions are those of OverpassNL's train split, in TERRAPIN_SHARED (default `../shared`), unchanged, including
//! names of places. A question is used if its gold query has only tag filters with the same `key=value`, not counting
//! the areas that it looks up, and if the snapshot has this tag. Each pair of question and tag is used once. The pairs
//! are sorted by the SHA-256 of question, key and value, separated by tabs. The first 300 are measured. The weights of
//! the search were chosen on the others; `--others` measures these. A search counts as correct if the gold tag is among
//! the first five.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use quick_xml::Reader;
use quick_xml::events::{BytesStart, Event};
use sha2::{Digest, Sha256};
use terrapin::geocoder::{NamedPlace, PlaceBounds, PlaceElement, PlacePosition, PlaceSource, SourceFact};
use terrapin::osm::{BoundingBox, ElementType, Osm};
use terrapin::overpass::convert::{ConversionForm, convert};
use terrapin::overpass::turbo::{self, ShortcutValues};
use terrapin::snapshot::Snapshot;
use terrapin::tags::{Docs, TagStatistics};

/// The number of pairs to measure.
const MEASURED: usize = 300;
/// The number of results among which the gold tag must be.
const FIRST: usize = 5;
/// The maximum number of misses to print.
const SHOWN: usize = 40;

/// A geocoder that returns the same place for every name: the location does not matter here.
struct Somewhere;

impl PlaceSource for Somewhere {
    fn find(&self, _: &str) -> Option<NamedPlace> {
        let zero = || "0".to_owned();
        Some(NamedPlace {
            element: SourceFact::Is(PlaceElement { kind: ElementType::Relation, id: 1 }),
            center: SourceFact::Is(PlacePosition { lat: zero(), lon: zero() }),
            bounds: SourceFact::Is(PlaceBounds { south: zero(), north: zero(), west: zero(), east: zero() }),
        })
    }
}

/// Returns the tag of a query, if it has exactly one.
fn tag_of(query: &str) -> Option<(String, String)> {
    let bbox = Some(BoundingBox { south: 0, west: 0, north: 1, east: 1 });
    let plain = turbo::expand(query, &ShortcutValues { bbox, now: 0, places: &Somewhere }).ok()?;
    let xml = convert(&plain, ConversionForm::Xml).ok().filter(|converted| converted.problems.is_none())?.text;
    let mut reader = Reader::from_str(&xml);
    let attribute = |element: &BytesStart<'_>, name: &str| {
        let found = element.try_get_attribute(name).ok().flatten()?;
        Some(found.normalized_value(quick_xml::XmlVersion::Implicit1_0).ok()?.into_owned())
    };
    let (mut of_area, mut tags) = (false, BTreeSet::new());
    loop {
        let element = match reader.read_event().ok()? {
            Event::Eof => break,
            Event::Start(element) | Event::Empty(element) => element,
            _ => continue,
        };
        match element.name().as_ref() {
            "query" => of_area = attribute(&element, "type").as_deref() == Some("area"),
            "has-kv" if !of_area => {
                let tag = attribute(&element, "k").zip(attribute(&element, "v"));
                let is_plain = ["modv", "regv", "regk"]
                    .iter()
                    .all(|name| attribute(&element, name).unwrap_or_default().is_empty());
                tags.insert(tag.filter(|_| is_plain)?);
            }
            _ => {}
        }
    }
    tags.pop_first().filter(|_| tags.is_empty())
}

type Pair = (String, String, String);

fn pairs(folder: &Path, tags: &TagStatistics) -> Vec<Pair> {
    let read = |name: &str| {
        let path = folder.join("data/overpassnl").join(name);
        std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
    };
    let (questions, queries) = (read("dataset.train.nl"), read("dataset.train.query"));
    let all: BTreeSet<Pair> = questions
        .lines()
        .zip(queries.lines())
        .filter_map(|(question, query)| tag_of(query).map(|(key, value)| (question.to_owned(), key, value)))
        .filter(|(_, key, value)| tags.tag_counts(key, value).all() > 0)
        .collect();
    let mut all: Vec<Pair> = all.into_iter().collect();
    all.sort_by_cached_key(|(question, key, value)| Sha256::digest(format!("{question}\t{key}\t{value}")));
    all
}

fn main() {
    let mut arguments = std::env::args().skip(1).filter(|argument| argument != "--bench");
    let (mut snapshot, mut docs, mut others) = (None, Docs::default(), false);
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--others" => others = true,
            "--docs" => {
                let file = arguments.next().expect("a file after --docs");
                docs = Docs::read(Path::new(&file)).unwrap_or_else(|error| panic!("{error}"));
            }
            _ => snapshot = Some(argument),
        }
    }
    let Some(snapshot) = snapshot else { return eprintln!("skipped: name a snapshot") };
    let shared = std::env::var("TERRAPIN_SHARED").unwrap_or_else(|_| "../shared".to_owned());
    let opened = Arc::new(Snapshot::open(Path::new(&snapshot)).expect("a snapshot"));
    let tags = TagStatistics::new(Arc::new(Osm::open(opened).expect("elements")), docs);

    let mut all = pairs(Path::new(&shared), &tags);
    let rest = all.split_off(MEASURED.min(all.len()));
    println!("{} pairs measured, {} others", all.len(), rest.len());
    let measured = if others { rest } else { all };
    let started = Instant::now();
    tags.search("anything", 1);
    println!("index: {:.0} ms", started.elapsed().as_secs_f64() * 1e3);
    let (mut first, mut found, mut misses, mut times) = (0, 0, Vec::new(), Vec::new());
    for (question, key, value) in &measured {
        let started = Instant::now();
        let best = tags.search(question, FIRST).tags;
        times.push(started.elapsed());
        let place = best.iter().position(|best| best.tag.key == *key && best.tag.value == *value);
        first += usize::from(place == Some(0));
        found += usize::from(place.is_some());
        if place.is_none() {
            let best: Vec<String> = best.iter().map(|best| format!("{}={}", best.tag.key, best.tag.value)).collect();
            misses.push(format!("{question}\n  {key}={value}, not {}", best.join(", ")));
        }
    }
    misses.iter().take(SHOWN).for_each(|miss| println!("{miss}"));
    times.sort_unstable();
    let at = |part: usize| times.get(times.len() * part / 100).copied().unwrap_or(Duration::ZERO).as_secs_f64() * 1e3;
    let part = |n: usize| 100.0 * n as f64 / measured.len().max(1) as f64;
    println!("first {:.1} %, among the first {FIRST} {:.1} %", part(first), part(found));
    println!("a search takes {:.2} ms (median), {:.2} ms (99 of 100)", at(50), at(99));
}
